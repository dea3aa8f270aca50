//! The energy of five tokens on the circle climbs from plateau to plateau (arXiv:2410.06833, figure
//! of section 6).

use super::{FigureReference, PaperFigure, PublishedFigure, distinct, join_numbers, only, series};
use crate::attention::{Energy, EnergyScale, Spec, dynamics};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::flow::{Frame, Observer, Options, solve};
use crate::sphere::Tokens;
use crate::sphere::geometry::dist;
use crate::study::{Parameter, Part, Study, Tables, Values, table};

/// The staircase: energy along normalised gradient ascent on the circle (arXiv:2410.06833, section
/// 6 and its figure).
///
/// n = 5, the six beta of the figure.
pub static STUDY: Study = Study {
    name: "staircase",
    title: "Energy of five well-prepared tokens along normalised gradient ascent, six beta",
    citation: "arXiv:2410.06833, section 6 (energy normalised to (1/n^2) sum e^{beta (cos - 1)})",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::real(
        "beta",
        &BETAS,
        (10.0, 1e5),
        "inverse temperatures, one curve each",
    )],
    run,
};

/// The betas of the figure.
pub const BETAS: [f64; 6] = [500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0];

/// The well-prepared start, `theta = (1/2) (log beta_0 / sqrt beta_0) (0, 1/2, 2, 4, 7)` with
/// `beta_0 = 2000`.
pub fn start() -> Result<Tokens> {
    let unit = 0.5 * 2000f64.ln() / 2000f64.sqrt();
    Tokens::from_angles(&[0.0, 0.5, 2.0, 4.0, 7.0].map(|k| k * unit))
}

/// Observer of the energy and the arc length over the steps of a run.
pub struct Ascent {
    beta: f64,
    last: Option<Tokens>,
    length: f64,
    /// Rows: t, arc length over log beta (the abscissa of the figure), energy share, clusters.
    pub rows: Vec<[f64; 4]>,
}

impl Ascent {
    /// An observer for this inverse temperature.
    pub fn new(beta: f64) -> Self {
        Self { beta, last: None, length: 0.0, rows: Vec::new() }
    }
}

impl Observer for Ascent {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let x = frame.tokens;
        if let Some(before) = self.last.as_ref().filter(|b| b.n() == x.n()) {
            let n = frame.labels.len() as f64;
            // All tokens of a cluster move, so the norm of the ascent weighs a cluster by its
            // tokens.
            let square: f64 =
                (0..x.n()).map(|i| n * x.masses()[i] * dist(x.row(i), before.row(i)).powi(2)).sum();
            self.length += square.sqrt();
        }
        let energy = Energy::new(self.beta, EnergyScale::Unit).log_unit(x).exp();
        self.rows.push([frame.t, self.length / self.beta.ln(), energy, x.n() as f64]);
        self.last = Some(x.clone());
    }
}

/// The ascent to one cluster at one beta. The path of normalised gradient ascent is the path of
/// USA; tokens closer than 1e-3 kernel widths merge.
pub fn ascend(beta: f64) -> Result<Ascent> {
    let x = start()?;
    let usa = dynamics::build(
        "usa",
        false,
        &Spec { time_scale: crate::attention::TimeScale::parse("u2")?, ..Spec::new(beta, x.n()) },
    )?;
    let mut ascent = Ascent::new(beta);
    let options = Options {
        merge_radius: 1e-3 / beta.sqrt(),
        stop_at_one_cluster: true,
        ..Options::default()
    };
    solve(&usa, &x, 1e300, &options, &mut [&mut ascent])?;
    Ok(ascent)
}

fn run(values: &Values) -> Result<Tables> {
    let mut out = table(&["beta", "t", "length", "energy", "clusters"]);
    for &beta in values.list("beta")? {
        out.rows.extend(ascend(beta)?.rows.iter().map(|r| vec![beta, r[0], r[1], r[2], r[3]]));
    }
    Ok(vec![("ascent".into(), out)])
}

/// Sums of squared cluster shares of five tokens: all apart, a pair, three, three and a pair.
const LEVELS: [f64; 4] = [0.2, 0.28, 0.44, 0.52];

/// Last time shown: later merges are too far away.
const MAX_TIME: f64 = 1e140;

/// Energy for six beta; dotted: the predicted levels.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "staircase",
    title: "The energy climbs a staircase: five tokens, six beta",
    redraws: &[
        PublishedFigure {
            paper: "2410.06833",
            place: FigureReference::Unnumbered("a figure of section 6 (number not read)"),
            shows: "energy of five tokens for six beta",
            differs: "exact gradient flow in place of small normalised steps; a second panel in \
                time",
        },
        PublishedFigure {
            paper: "2512.01868",
            place: FigureReference::Unnumbered("a figure (number not read)"),
            shows: "energy of five tokens for six beta",
            differs: "exact gradient flow in place of small normalised steps; a second panel in \
                time",
        },
    ],
    study: Some(&PART),
    quick: true,
    draw: |inputs| {
        let table = inputs.table("ascent")?;
        let longest = table.column("length").into_iter().fold(0.0, f64::max);
        let mut length = Panel::new(
            "along the path",
            Axis::linear("arc length / log \u{3b2}", 0.0, 1.02 * longest),
            Axis::linear("energy", 0.0, 1.05),
        );
        let last = table.column("t").into_iter().fold(1.0, f64::max);
        // The last merge is not at the border.
        let end = (1e6 * last).min(MAX_TIME);
        let mut time = Panel::new(
            "in time (U2)",
            Axis::log("t", 1e-1, end),
            Axis::linear("energy", 0.0, 1.05),
        );
        // If clusters overlap at the start, the energy begins above the first step.
        let betas = distinct(table, "beta");
        let start = |beta: f64| {
            only(table, "beta", beta).column("energy").first().copied().unwrap_or(f64::NAN)
        };
        let (apart, overlapping): (Vec<f64>, Vec<f64>) =
            betas.iter().partition(|b| start(**b) < LEVELS[1]);
        for level in LEVELS.into_iter().filter(|_| !apart.is_empty()) {
            length.line(vec![(0.0, level), (1.02 * longest, level)], 7, Dash::Dotted, "");
            time.line(vec![(1e-1, level), (end, level)], 7, Dash::Dotted, "");
        }
        let mut notes = String::new();
        for (k, beta) in betas.iter().copied().enumerate() {
            let rows = only(table, "beta", beta);
            let dash = Dash::for_series(k);
            let course = series(&rows, "t", "energy");
            length.line(series(&rows, "length", "energy"), k, dash, format!("\u{3b2} = {beta}"));
            time.line(course.clone(), k, dash, "");
            // A curve that continues beyond the panel is labelled at the border.
            let shown = course.iter().rposition(|p| p.0 <= end);
            if let Some((_, level)) = shown.filter(|k| k + 1 < course.len()).map(|k| course[k]) {
                time.marks.push(Mark::Text {
                    at: (end, level),
                    text: format!("\u{3b2} = {beta} continues"),
                });
                notes.push_str(&format!(
                    " The curve of beta = {beta} continues beyond the right panel."
                ));
            }
            let left = rows.column("clusters").last().copied().unwrap_or(1.0);
            if left > 1.5 {
                notes.push_str(&format!(
                    " beta = {beta}: the run ends at t = 1e300 with {left} clusters, later steps \
                    are not shown."
                ));
            }
        }
        length.legend = Some(Corner::BottomRight);
        if last > MAX_TIME {
            notes.push_str(&format!(" The right panel ends at t = {MAX_TIME:e}."));
        }
        if !apart.is_empty() {
            notes.push_str(&format!(
                " Dotted: levels sum of squared cluster shares, 0.2, 0.28, 0.44, 0.52, predicted \
                if clusters do not overlap, here for beta = {}: after three tokens have merged, \
                the nearest pair are the last two.",
                join_numbers(&apart)
            ));
        }
        for beta in overlapping {
            notes.push_str(&format!(
                " beta = {beta}: tokens overlap from the start (energy {:.2}), no levels are \
                predicted.",
                start(beta)
            ));
        }
        let caption = format!(
            "Energy (1/n^2) sum exp(beta (cos - 1)) of five tokens, well prepared for beta = 2000, \
            on the circle along gradient ascent, against arc length over log beta (left) and time \
            (right).{notes}"
        );
        Ok(Picture { panels: vec![length, time], columns: 2, aspect: 0.9, caption })
    },
    ..PaperFigure::EMPTY
};

//! The staircase: energy along normalised gradient ascent on the circle (arXiv:2410.06833, section
//! 6 and its figure).

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Energy, EnergyScale, Spec, dynamics};
use crate::error::Result;
use crate::flow::{Frame, Observer, Options, solve};
use crate::sphere::{Tokens, geometry::dist};

/// n = 5, the six beta of the figure.
pub static ENTRY: Study = Study {
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

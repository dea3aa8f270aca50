//! Branches of critical points on the circle over beta.

use super::{PaperFigure, columns, distinct, groups, only, panel_per_group, series, span};
use crate::draw::{Axis, Corner, Dash, Mark, Panel, Picture};
use crate::error::Result;
use crate::flow::Table;
use crate::lab::LabelledTable;
use crate::proofs::landscape::Tokens;
use crate::proofs::landscape::branches::{Kind, followed_branches};
use crate::study::{Parameter, Part, Study, Tables, Values, table};

/// Branches of critical points on the circle over beta, with their bifurcations.
///
/// Tables: branches, bifurcations.
pub static STUDY: Study = Study {
    name: "bifurcations",
    title: "Critical points on the circle over beta: energy, unstable directions, bifurcations",
    citation: "ours: chains of boxes with one critical point each (`continue`)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[5.0, 6.0], (3.0, 7.0), "tokens, a panel for each number"),
        Parameter::real("low", &[0.195], (0.05, 10.0), "smallest inverse temperature"),
        Parameter::real("high", &[1.2], (0.1, 50.0), "largest inverse temperature"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (low, high) = (values.one("low")?, values.one("high")?);
    let columns = ["n", "branch", "name", "clusters", "beta", "energy_share", "unstable"];
    let mut branches = LabelledTable::new(&columns);
    let mut names = Vec::new();
    let mut found = table(&["n", "beta", "energy_share", "splitting", "begin"]);
    for &n in values.list("n")? {
        let tokens = Tokens::new(&vec![1.0; n as usize], (low, high))?;
        let all = followed_branches(&tokens, &|_, _| true)?;
        for (x, branch) in all.branches.iter().enumerate() {
            let (name, clusters) = (names.len() as f64, branch.clusters.len() as f64);
            names.push(sizes(&branch.clusters));
            for s in &branch.samples {
                let measured = [s.beta, s.energy_share, s.ascents as f64];
                branches.rows.push([&[n, x as f64, name, clusters], &measured[..]].concat());
            }
        }
        for b in all.bifurcations.iter().filter(|b| b.kind != Kind::Fold) {
            let beta = 0.5 * (b.beta.0 + b.beta.1);
            // The energy of the branch between its nearest points.
            let samples = &all.branches[b.branch].samples;
            let share = samples.windows(2).find(|s| s[0].beta <= beta && beta <= s[1].beta).map_or(
                f64::NAN,
                |s| {
                    let part = (beta - s[0].beta) / (s[1].beta - s[0].beta);
                    s[0].energy_share + part * (s[1].energy_share - s[0].energy_share)
                },
            );
            found.rows.push(vec![n, beta, share, b.splitting.len() as f64, b.born.len() as f64]);
        }
    }
    let branches = branches.with_labels("name", names);
    Ok(vec![("branches".into(), branches), ("bifurcations".into(), found)])
}

/// The tokens per cluster: 3+1+1.
fn sizes(clusters: &[Vec<u32>]) -> String {
    clusters.iter().map(|c| c.len().to_string()).collect::<Vec<_>>().join("+")
}

/// The energy of all branches over beta, drawn by the number of unstable directions.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "bifurcation-diagram",
    title: "Critical points on the circle over beta",
    study: Some(&PART),
    draw: |inputs| {
        let (branches, found) = (inputs.table("branches")?, inputs.table("bifurcations")?);
        let words = branches.words("name");
        // The legend names each number of unstable directions once.
        let (mut named, mut first) = (Vec::new(), true);
        let panels = panel_per_group(branches, "n", |n, rows| {
            let discs = series(&only(found, "n", n), "beta", "energy_share");
            let label = if std::mem::take(&mut first) { "bifurcations" } else { "" };
            of_tokens(n, rows, words, (discs, label), &mut named)
        })?;
        let caption = format!(
            "Critical points of the energy of n equal tokens on the circle over beta, one curve for \
            each branch up to rotations, reflections and permutations, with its tokens per cluster \
            where there is room (all are in `name` of the table): energy relative to one cluster \
            (which has 1 and is not drawn). Colours and dashes give the number of unstable \
            directions; discs are bifurcations, where two tokens of a cluster can split{}.",
            places(&distinct(found, "beta"))
        );
        let columns = panels.len().clamp(1, 2);
        Ok(Picture { panels, columns, aspect: 0.8, caption })
    },
    ..PaperFigure::EMPTY
};

/// One cluster has the energy 1 at all beta and is not drawn: the others show more without it.
const BELOW_ONE: f64 = 1.0 - 1e-12;

/// A point with a name.
type Named = ((f64, f64), String);

/// All branches of n tokens. `named` are the numbers of unstable directions that a legend names.
fn of_tokens(
    n: f64,
    rows: &Table,
    words: Option<&[String]>,
    (discs, label): (Vec<(f64, f64)>, &'static str),
    named: &mut Vec<usize>,
) -> Result<Panel> {
    let beta = span(rows.column("beta"), (0.0, 1.0));
    let below = rows.column("energy_share").into_iter().filter(|e| *e < BELOW_ONE);
    let energy = span(below, (0.0, 1.0));
    let room = 0.06 * (energy.1 - energy.0);
    let energies = Axis::linear("relative energy", energy.0 - room, energy.1 + room);
    let axes = (Axis::linear("\u{3b2}", beta.0, beta.1), energies);
    let mut panel = Panel::new(format!("n = {n}"), axes.0, axes.1);
    let (drawn, ends) = branches(rows, words)?;
    let mut labelled = draw_stretches(&mut panel, &drawn, named);
    if !discs.is_empty() {
        labelled |= !label.is_empty();
        panel.points(discs, 0, 2.6, label);
    }
    // Names of branches that end close together would cover each other.
    let apart = APART * (energy.1 - energy.0);
    let alone =
        |(at, _): &&Named| ends.iter().filter(|e| (e.0.1 - at.1).abs() < apart).count() == 1;
    let names = ends.iter().filter(alone);
    panel.marks.extend(names.map(|(at, name)| Mark::Text { at: *at, text: name.clone() }));
    panel.legend = labelled.then_some(Corner::TopRight);
    Ok(panel)
}

/// The stretches of all branches, and the last point of each with the name of its branch.
fn branches(rows: &Table, words: Option<&[String]>) -> Result<(Vec<Stretch>, Vec<Named>)> {
    let (mut drawn, mut ends) = (Vec::new(), Vec::new());
    for (_, branch) in groups(rows, "branch") {
        let own = stretches(&columns(&branch, ["beta", "energy_share", "unstable"])?);
        let end = own.last().and_then(|s| s.points.last()).filter(|p| p.1 <= BELOW_ONE);
        let name = branch.column("name").first().map(|k| *k as usize);
        let name = name.zip(words).and_then(|(k, all)| all.get(k));
        if let (Some(at), Some(name)) = (end, name) {
            ends.push((*at, name.clone()));
        }
        drawn.extend(own);
    }
    drawn.retain(|s: &Stretch| s.points.iter().any(|p| p.1 <= BELOW_ONE));
    Ok((drawn, ends))
}

/// Draws stretches by their number of unstable directions; true if one of them is in the legend.
fn draw_stretches(panel: &mut Panel, drawn: &[Stretch], named: &mut Vec<usize>) -> bool {
    let mut labelled = false;
    for stretch in drawn {
        let unstable = stretch.unstable;
        // The longest one has the name: short ones lie under the discs.
        let longest = drawn.iter().filter(|s| s.unstable == unstable).map(Stretch::length);
        let mut label = String::new();
        if stretch.length() >= longest.fold(0.0, f64::max) && !named.contains(&unstable) {
            named.push(unstable);
            labelled = true;
            label = format!("{unstable} unstable");
        }
        let dash = if unstable % 2 == 0 { Dash::Dashed } else { Dash::Solid };
        panel.line(stretch.points.clone(), unstable, dash, label);
    }
    labelled
}

/// Least distance of the ends of branches with names, relative to the range of energies.
const APART: f64 = 0.07;

/// A part of a branch with the same number of unstable directions.
struct Stretch {
    unstable: usize,
    points: Vec<(f64, f64)>,
}

impl Stretch {
    /// The length of its interval of beta.
    fn length(&self) -> f64 {
        let ends = self.points.first().zip(self.points.last());
        ends.map_or(0.0, |(a, b)| b.0 - a.0)
    }
}

/// The parts of a branch, in the order of beta; neighbours share a point.
fn stretches(rows: &[[f64; 3]]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for [beta, energy, unstable] in rows {
        let (point, unstable) = ((*beta, *energy), *unstable as usize);
        match all.last_mut() {
            Some(own) if own.unstable == unstable => own.points.push(point),
            Some(own) => {
                own.points.push(point);
                all.push(Stretch { unstable, points: vec![point] });
            }
            None => all.push(Stretch { unstable, points: vec![point] }),
        }
    }
    all
}

/// The values of beta in brackets, as text.
fn places(all: &[f64]) -> String {
    match all.len() {
        0 => String::new(),
        1..=8 => {
            let words: Vec<String> = all.iter().map(|b| format!("{b:.4}")).collect();
            format!(" (beta = {})", words.join(", "))
        }
        n => format!(" ({n} values of beta)"),
    }
}

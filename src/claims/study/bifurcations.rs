//! Branches of critical points on the circle over beta, with their bifurcations.

use super::{LabelledTable, Parameter, Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::proofs::landscape::Tokens;
use crate::proofs::landscape::branches::{Kind, followed_branches};

/// Tables: branches, bifurcations.
pub static ENTRY: Study = Study {
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

//! Modes of density estimates: certified counts of random samples against the Kac-Rice formulas
//! (arXiv:2412.09080).

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::num::{stats::mean_and_error, stream::Stream};
use crate::proofs::modes;
use crate::theory::kac_rice::{
    default_interval, expected_modes, expected_modes_circle, leading_modes,
};

/// Gaussian samples on the line for three n, uniform angles on the circle, and positions of the
/// modes.
pub static ENTRY: Study = Study {
    name: "mode-count",
    title: "Modes of kernel density estimates: certified counts and expectations",
    citation: "arXiv:2412.09080 (main theorem); Kac-Rice with the Gaussian proxy",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count(
            "n",
            &[100.0, 1000.0, 10000.0],
            (10.0, 1e5),
            "sizes of the samples on the line",
        ),
        Parameter::count("draws", &[40.0], (2.0, 1000.0), "samples for each point"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the samples"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (draws, seed) = (values.count("draws")?, values.one("seed")? as u64);
    // `constant` and `leading_constant`: the mean and the leading order, divided by sqrt(beta log
    // beta).
    let mut line = table(&[
        "n",
        "beta",
        "mean",
        "error",
        "expected",
        "inside",
        "certified",
        "constant",
        "leading_constant",
    ]);
    for n in values.list("n")?.iter().map(|n| *n as usize) {
        for k in 0..9 {
            let beta = 10f64.powf(0.5 + 0.4 * f64::from(k));
            if beta > (n * n) as f64 / 10.0 {
                continue;
            }
            let interval = default_interval(n as f64, beta)?;
            let (mut counts, mut inside) = (Vec::new(), 0usize);
            for draw in 0..draws {
                let mut samples = vec![0.0; n];
                Stream::new(seed, &["mode-count", "line", &n.to_string(), &draw.to_string()])
                    .normals(&mut samples);
                // Draws without a proof are not counted; the column `certified` is the share of
                // draws with a proof.
                if let Ok(locations) = modes::line(&samples, beta)?.locations() {
                    inside += locations.iter().filter(|m| m.abs() <= interval).count();
                    counts.push(locations.len() as f64);
                }
            }
            let (mean, error) = mean_and_error(&counts);
            let row = [
                n as f64,
                beta,
                mean,
                error,
                expected_modes(n as f64, beta, interval)?,
                inside as f64 / counts.len() as f64,
                counts.len() as f64 / draws as f64,
                mean / (beta * beta.ln()).sqrt(),
                leading_modes(n as f64, beta) / (beta * beta.ln()).sqrt(),
            ];
            line.rows.push(row.to_vec());
        }
    }
    let mut circle = table(&["beta", "mean", "error", "expected"]);
    for beta in [2.0, 5.0, 15.0, 50.0, 150.0, 400.0, 1000.0] {
        let mut counts = Vec::new();
        for draw in 0..draws {
            let mut stream = Stream::new(seed, &["mode-count", "circle", &draw.to_string()]);
            let angles: Vec<f64> =
                (0..5000).map(|_| stream.uniform_in(0.0, std::f64::consts::TAU)).collect();
            counts.push(modes::circle(&angles, beta)?.count()? as f64);
        }
        let (mean, error) = mean_and_error(&counts);
        circle.rows.push(vec![beta, mean, error, expected_modes_circle(beta)?]);
    }
    // Positions of the modes, for the belt of the main theorem: n = 10^5, beta = n.
    let mut places = table(&["location"]);
    let mut samples = vec![0.0; 100_000];
    for draw in 0..10 {
        Stream::new(seed, &["mode-count", "belt", &draw.to_string()]).normals(&mut samples);
        places.rows.extend(modes::line(&samples, 1e5)?.locations()?.iter().map(|m| vec![*m]));
    }
    Ok(vec![("line".into(), line), ("circle".into(), circle), ("places".into(), places)])
}

//! Causal attention on the circle: trajectories with their strong Renyi centres, and numbers of
//! centres against the radius (arXiv:2411.04990).

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Spec, dynamics};
use crate::clusters::centres::{find_renyi_centres, find_strong_centres};
use crate::error::Result;
use crate::flow::observable::{RunParameters, find, log_times};
use crate::flow::{Options, Recorder, solve};
use crate::num::{stats::mean_and_error, stream::Stream};
use crate::sphere::law::Law;
use crate::theory::parking::{cap_share, strong_centres};

/// n = 200, beta = 64, d = 2 for the trajectories; counts for four values of delta at d = 2 and 3.
pub static ENTRY: Study = Study {
    name: "causal-centres",
    title: "Causal attention: trajectories with strong Renyi centres, and the numbers of centres",
    citation: "arXiv:2411.04990, section 5 and Lemma C.1 (at d = 3 without the published factor 3)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[200.0], (2.0, 1000.0), "tokens of the trajectories"),
        Parameter::real("beta", &[64.0], (1.0, 1000.0), "inverse temperature of the trajectories"),
        Parameter::real("t_end", &[5000.0], (1.0, 1e5), "end of the trajectories"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of all draws"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (n, beta, end, seed) =
        (values.count("n")?, values.one("beta")?, values.one("t_end")?, values.one("seed")? as u64);
    let x = Law::parse("uniform")?.sample(n, 2, &mut Stream::new(seed, &["causal-centres"]))?;
    let csa = dynamics::build("sa", true, &Spec::new(beta, n))?;
    let setting = RunParameters { n, d: 2, beta };
    let mut recorder =
        Recorder::new(setting, log_times(0.1, end, 120), false, vec![find("positions")?]);
    solve(
        &csa,
        &x,
        end,
        &Options { rtol: 1e-7, merge_radius: 0.0, ..Options::default() },
        &mut [&mut recorder],
    )?;
    let mut paths =
        table(&["token", "t", "theta", "centre"]).with_labels("centre", ["other", "strong"]);
    let centres = find_strong_centres(&x, 4.0 / beta.sqrt());
    for i in 0..n {
        let (a, b) = (
            recorder.table.column(&format!("x_{i}_0")),
            recorder.table.column(&format!("x_{i}_1")),
        );
        let t = recorder.table.column("t");
        let is_strong = f64::from(u8::from(centres.contains(&i)));
        paths.rows.extend(
            t.iter()
                .zip(a.iter().zip(&b))
                .filter(|(t, _)| **t > 0.0)
                .map(|(t, (a, b))| vec![i as f64, *t, b.atan2(*a), is_strong]),
        );
    }
    let mut counts = table(&["d", "delta", "strong", "strong_error", "strong_expected", "greedy"]);
    for d in [2usize, 3] {
        for delta in [0.1, 0.2, 0.4, 0.8] {
            let n = (30.0 / cap_share(d, delta)?) as usize;
            let (mut all, mut greedy) = (Vec::new(), 0.0);
            for draw in 0..20 {
                let x = Law::parse("uniform")?.sample(
                    n,
                    d,
                    &mut Stream::new(seed, &["causal-centres", &d.to_string(), &draw.to_string()]),
                )?;
                all.push(find_strong_centres(&x, delta).len() as f64);
                greedy += find_renyi_centres(&x, delta).len() as f64 / 20.0;
            }
            let (mean, error) = mean_and_error(&all);
            counts.rows.push(vec![
                d as f64,
                delta,
                mean,
                error,
                strong_centres(n, d, delta)?,
                greedy,
            ]);
        }
    }
    Ok(vec![("paths".into(), paths), ("counts".into(), counts)])
}

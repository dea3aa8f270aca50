//! The number of clusters that form, compared with four square-root laws, on the circle and on S^2
//! (linear instability, modes of the initial density, Renyi centres).

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Spec, TimeScale, dynamics};
use crate::clusters::linkage::linkage;
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::{stream::Stream, threads::sequentially};
use crate::proofs::modes;
use crate::sphere::law::Law;
use crate::theory::growth::{fastest_mode, rates_sa, rates_usa};
use rayon::prelude::*;

/// n = 300 uniform tokens, beta from 4 to 400.
pub static ENTRY: Study = Study {
    name: "cluster-count",
    title: "Number of clusters that form against beta, SA and USA, with the modes of the initial \
        density of each start",
    citation: "arXiv:2410.23228 (fastest mode), arXiv:2412.09080 (modes), arXiv:2411.04990 \
        (centres)",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[300.0], (10.0, 2000.0), "tokens of every run"),
        Parameter::real(
            "beta",
            &[4.0, 9.0, 16.0, 25.0, 49.0, 100.0, 196.0, 400.0],
            (1.0, 1000.0),
            "inverse temperatures on the circle; on the sphere those up to 50",
        ),
        Parameter::count(
            "starts",
            &[8.0],
            (2.0, 1000.0),
            "starts for each beta on the circle; half as many on the sphere",
        ),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let mut runs = Vec::new();
    let (n, seed, starts) =
        (values.count("n")?, values.one("seed")? as u64, values.count("starts")?);
    for (d, starts, most) in [(2usize, starts, f64::INFINITY), (3, starts.div_ceil(2), 50.0)] {
        for &beta in values.list("beta")?.iter().filter(|b| **b <= most) {
            for usa in [false, true] {
                runs.extend((0..starts).map(|start| (d, beta, usa, start)));
            }
        }
    }
    let rows: Vec<Vec<f64>> = runs
        .par_iter()
        .with_max_len(1)
        .map(|(d, beta, usa, start)| sequentially(|| one((n, *d), *beta, *usa, (seed, *start))))
        .collect::<Result<_>>()?;
    let mut out = table(&["d", "dynamics", "beta", "start", "clusters", "modes", "time"])
        .with_labels("dynamics", ["sa", "usa"]);
    out.rows = rows;
    Ok(vec![("counts".into(), out)])
}

/// One run: the number of clusters at half a kernel width after six formation times, and the number
/// of modes of the initial density.
fn one(
    (n, d): (usize, usize),
    beta: f64,
    usa: bool,
    (seed, start): (u64, usize),
) -> Result<Vec<f64>> {
    let x = Law::parse("uniform")?.sample(
        n,
        d,
        &mut Stream::new(seed, &["cluster-count", &start.to_string()]),
    )?;
    let time = 6.0 * formation_time(n, d, beta, usa)?;
    let name = if usa { "usa" } else { "sa" };
    let flow = dynamics::build(
        name,
        false,
        &Spec { time_scale: TimeScale::parse("u2")?, accuracy: 1e-8, ..Spec::new(beta, n) },
    )?;
    let options = Options { rtol: 1e-5, merge_radius: 0.02 / beta.sqrt(), ..Options::default() };
    let end = solve(&flow, &x, time, &options, &mut [])?;
    let clusters = linkage(&end.clusters, 0.5 / beta.sqrt())?.sizes.len();
    let modes = if d == 2 { modes::circle(&x.angles(), beta)?.count()? as f64 } else { -1.0 };
    Ok(vec![d as f64, f64::from(u8::from(usa)), beta, start as f64, clusters as f64, modes, time])
}

/// `log n / (2 r_max)`: fluctuations of size `n^{-1/2}` grow to order one at the largest rate (USA
/// in U2).
pub fn formation_time(n: usize, d: usize, beta: f64, usa: bool) -> Result<f64> {
    let most = 4 + (3.0 * beta.sqrt()) as usize;
    let rates = if usa {
        rates_usa(d, beta, most, TimeScale::parse("u2")?, n)?
    } else {
        rates_sa(d, beta, most)?
    };
    Ok((n as f64).ln() / (2.0 * rates[fastest_mode(&rates)]))
}

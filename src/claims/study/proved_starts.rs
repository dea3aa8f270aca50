//! Share of starts that provably converge to one point, over the number of tokens and beta.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::{RowWeights, Variant};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::proofs::trajectory::{Cause, Neighbourhood, prove};
use crate::sphere::law::Law;
use rayon::prelude::*;

/// SA from uniform starts on the circle and the sphere.
pub static ENTRY: Study = Study {
    name: "proved-starts",
    title: "Share of uniform starts that provably converge to one point, and why the other proofs fail",
    citation: "the lemmas of `proofs::trajectory`; arXiv:2312.10794, Lemma 6.4",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("d", &[2.0, 3.0], (2.0, 8.0), "dimensions"),
        Parameter::count("n", &[4.0, 8.0], (2.0, 64.0), "tokens"),
        Parameter::real("beta", &[1.0, 4.0, 9.0, 16.0, 25.0], (0.0, 100.0), "inverse temperatures"),
        Parameter::count("starts", &[10.0], (1.0, 10000.0), "uniform starts for each"),
        Parameter::real(
            "radius",
            &[1e-5],
            (0.0, 0.1),
            "distance of each token from its start, over which the proof holds; with 0 all starts are proved",
        ),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
    ],
    run,
};

fn run(values: &Values) -> Result<Tables> {
    let (starts, radius, seed) =
        (values.count("starts")?, values.one("radius")?, values.one("seed")? as u64);
    let mut out = table(&[
        "d",
        "n",
        "beta",
        "proved",
        "growth",
        "enclosure",
        "defect",
        "steady_state",
        "limit",
    ]);
    for &d in values.list("d")? {
        for &n in values.list("n")? {
            for &beta in values.list("beta")? {
                // The same starts as `certify start --init uniform --trials`.
                let one = |k: usize| {
                    let mut stream = Stream::new(seed.wrapping_add(k as u64), &["cli", "init"]);
                    let x = Law::parse("uniform")?.sample(n as usize, d as usize, &mut stream)?;
                    let near =
                        Neighbourhood::new(Variant::mutual(RowWeights::Softmax), beta, &x, radius)?;
                    Ok(prove(&near)?.map_err(|failure| failure.cause).err())
                };
                let found: Vec<Option<Cause>> =
                    (0..starts).into_par_iter().map(one).collect::<Result<_>>()?;
                let share = |cause: Option<Cause>| {
                    found.iter().filter(|f| **f == cause).count() as f64 / starts as f64
                };
                let failures = Cause::ALL.into_iter().map(|c| share(Some(c)));
                out.rows.push([d, n, beta, share(None)].into_iter().chain(failures).collect());
            }
        }
    }
    Ok(vec![("starts".into(), out)])
}

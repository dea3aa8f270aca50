//! Maps beside attention: Lyapunov spectra, observables by layer, who hears whom.

use super::{Given, Parameter, Part, Study, Tables, table};
use crate::error::Result;
use crate::recurrent::{MapSpec, map, observe::portrait};

/// Tables: observables, spectra, mixing; a map is its number in the order of `list maps`.
pub static ENTRY: Study = Study {
    name: "flow-maps",
    title: "Maps beside attention: cosines, ranks, Lyapunov spectra, who hears whom",
    citation: "arXiv:2206.06929, 1409.0473, 1406.1078, 2312.10794 (the maps); the observables are common to all",
    parts: &[&PART],
};

/// All of it; spectra at two gains.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[6.0], (1.0, 64.0), "rows"),
        Parameter::count("d", &[8.0], (2.0, 64.0), "numbers of a row"),
        Parameter::count("layers", &[24.0], (1.0, 1000.0), "layers"),
        Parameter::real(
            "gain",
            &[0.8, 1.5],
            (0.0, 100.0),
            "sizes of the weights, entries of variance gain^2/d; the first is that of layers and mixing",
        ),
    ],
    run,
};

fn run(given: &Given) -> Result<Tables> {
    let mut observables = table(&["map", "layer", "mean_cosine", "effective_rank", "residual", "change"]);
    let mut spectra = table(&["map", "gain", "index", "exponent"]);
    let mut mixing = table(&["map", "row", "column", "share"]);
    let (n, d, layers) = (given.count("n")?, given.count("d")?, given.count("layers")?);
    for (g, gain) in given.list("gain")?.iter().enumerate() {
        for (m, named) in map::ALL.iter().enumerate() {
            let found = portrait(named, &MapSpec { n, d, layers, gain: *gain, seed: 1 }, d)?;
            let number = m as f64;
            spectra.rows.extend(found.exponents.iter().enumerate().map(|(k, e)| vec![number, *gain, 1.0 + k as f64, *e]));
            if g == 0 {
                let rows = found.layers.iter().enumerate();
                observables.rows.extend(rows.map(|(k, l)| vec![number, k as f64, l.mean_cosine, l.effective_rank, l.residual, l.change]));
                mixing.rows.extend(found.mixing.iter().enumerate().map(|(k, v)| vec![number, (k / n) as f64, (k % n) as f64, *v]));
            }
        }
    }
    Ok(vec![("observables".into(), observables), ("spectra".into(), spectra), ("mixing".into(), mixing)])
}

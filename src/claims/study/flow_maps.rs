//! Maps to compare with attention: Lyapunov spectra, observables by layer, receptive fields.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::recurrent::{MapSpec, map, observe::summarise};

/// Tables: observables, spectra, mixing.
pub static ENTRY: Study = Study {
    name: "flow-maps",
    title: "Maps to compare with attention: cosines, ranks, Lyapunov spectra, receptive fields",
    citation: "arXiv:2206.06929, 1409.0473, 1406.1078, 2312.10794 (the maps); the observables are \
        common to all",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::count("n", &[6.0], (1.0, 64.0), "rows"),
        Parameter::count("d", &[8.0], (2.0, 64.0), "dimension of a row"),
        Parameter::count("layers", &[24.0], (1.0, 1000.0), "layers"),
        Parameter::real(
            "gain",
            &[0.8, 1.5],
            (0.0, 100.0),
            "sizes of the weights, whose entries have variance gain^2/d; the first is used for \
            layers and mixing",
        ),
    ],
    run,
};

fn names() -> impl Iterator<Item = &'static str> {
    map::ALL.iter().map(|m| m.name)
}

fn run(given: &Values) -> Result<Tables> {
    let mut observables =
        table(&["map", "layer", "mean_cosine", "effective_rank", "residual", "change"])
            .with_labels("map", names());
    let mut spectra = table(&["map", "gain", "index", "exponent"]).with_labels("map", names());
    let mut mixing = table(&["map", "row", "column", "share"]).with_labels("map", names());
    let (n, d, layers) = (given.count("n")?, given.count("d")?, given.count("layers")?);
    for (g, gain) in given.list("gain")?.iter().enumerate() {
        for (m, named) in map::ALL.iter().enumerate() {
            let found = summarise(named, &MapSpec { n, d, layers, gain: *gain, seed: 1 }, d)?;
            let number = m as f64;
            spectra.rows.extend(
                found
                    .exponents
                    .iter()
                    .enumerate()
                    .map(|(k, e)| vec![number, *gain, 1.0 + k as f64, *e]),
            );
            if g == 0 {
                let rows = found.layers.iter().enumerate();
                observables.rows.extend(rows.map(|(k, l)| {
                    vec![number, k as f64, l.mean_cosine, l.effective_rank, l.residual, l.change]
                }));
                mixing.rows.extend(
                    found
                        .mixing
                        .iter()
                        .enumerate()
                        .map(|(k, v)| vec![number, (k / n) as f64, (k % n) as f64, *v]),
                );
            }
        }
    }
    Ok(vec![
        ("observables".into(), observables),
        ("spectra".into(), spectra),
        ("mixing".into(), mixing),
    ])
}

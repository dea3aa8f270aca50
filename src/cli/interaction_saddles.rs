//! `saddles --interaction`: critical points of the energy of any interaction.

use super::energy::NORMALISATION;
use super::output::{Output, finite, matrix, number};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::error::Result;
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::landscape::interaction_search::{InteractionSearch, InteractionSearchResult};
use serde_json::{Value, json};

/// What `saddles` was asked for.
pub struct Request<'a> {
    /// The text of the interaction.
    pub interaction: &'a str,
    /// The value of beta in a formula.
    pub beta: Option<f64>,
    /// Tokens and dimension.
    pub shape: (usize, usize),
    /// Random starts.
    pub starts: usize,
    /// Seed.
    pub seed: u64,
}

/// Searches and prints.
pub fn run(request: &Request, out: &Output) -> Result<i32> {
    let parameters: Vec<(&str, f64)> = request.beta.iter().map(|b| ("beta", *b)).collect();
    let energy = InteractionEnergy::new(Interaction::parse(request.interaction, &parameters)?);
    let (n, d) = request.shape;
    let search = InteractionSearch { energy, n, d, starts: request.starts, seed: request.seed };
    let found = search.run()?;
    let points: Vec<Value> =
        found.points.iter().zip(&found.hits).map(|(p, hits)| describe(p, *hits)).collect();
    let json = json!({
        "n": n, "d": d, "seed": request.seed, "beta": request.beta,
        "interaction": request.interaction, "normalisation": NORMALISATION,
        "starts": request.starts, "failed_starts": found.failed,
        "fixed_starts": found.fixed_starts, "proved_complete": false,
        "metric": "sum_i m_i |u_i|^2", "points": points,
    });
    super::cancel::work_is_over();
    out.result(&json, &text(&found, request.starts));
    Ok(match () {
        () if found.points.is_empty() => 4,
        () if found.failed > 0 => 3,
        () => 0,
    })
}

fn describe(p: &InteractionCriticalPoint, hits: usize) -> Value {
    json!({
        "clusters": p.clusters.n(), "sizes": p.sizes, "found_by_starts": hits,
        "energy": finite(p.energy), "morse_index": p.spectrum.stable,
        "unstable_directions": p.spectrum.unstable, "nullity": p.spectrum.nullity,
        "rotations": p.spectrum.rotations, "eigenvalues": p.spectrum.values,
        "eigenvalues_error": finite(p.spectrum.rounding), "residual": p.residual,
        "angles": p.angles, "points": matrix(p.clusters.coordinates(), p.clusters.d()),
    })
}

fn text(found: &InteractionSearchResult, starts: usize) -> String {
    let mut text = format!(
        "{} distinct critical points from {starts} random starts ({} did not converge) and {} fixed \
         starts\nCompleteness is not proved. A point without unstable directions is a maximum.\n  #  \
         clusters of                           energy  unstable  Morse index  residual  found by\n",
        found.points.len(),
        found.failed,
        found.fixed_starts
    );
    for (k, (p, hits)) in found.points.iter().zip(&found.hits).enumerate() {
        let sizes = p.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+");
        let mark = if p.spectrum.nullity > 0 { "  degenerate" } else { "" };
        text.push_str(&format!(
            "{k:>3}  {sizes:<20} {:>25}  {:>8}  {:>11}  {:>8.1e}  {hits:>8}{mark}\n",
            number(p.energy),
            p.spectrum.unstable,
            p.spectrum.stable,
            p.residual,
        ));
    }
    text
}

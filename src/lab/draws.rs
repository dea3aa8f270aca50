//! The random parts of an experiment, and which of them all realisations share.

use super::experiment::Experiment;
use super::model::{ModelSpec, NoiseSettings};
use super::plan::Cell;
use crate::attention::random_matrix::MatrixLaw;
use crate::error::Result;
use crate::num::stream::Stream;
use crate::sphere::mass_law::MassLaw;

/// The keys of the matrices of a head, in the order of a model.
const MATRICES: [&str; 4] = ["q", "k", "v", "o"];

/// The largest number of sentences about the matrices of one experiment.
const MAX_SENTENCES: usize = 6;

/// One sentence for each random part of an experiment except the initial tokens: random matrices,
/// random masses, noise. If there are many laws, the first few are listed.
pub fn sentences(experiment: &Experiment) -> Vec<String> {
    let mut out = Vec::new();
    let mut matrices = Vec::new();
    for model_spec in experiment.all_models() {
        for (head, slot, law) in &model_spec.model.laws {
            let key = MATRICES.get(*slot).copied().unwrap_or_default();
            let word = model_spec
                .words
                .get(key)
                .and_then(|words| words.get(*head))
                .map_or("", String::as_str);
            let sentence = matrix(key, word, law);
            if !sentence.is_empty() && !matrices.contains(&sentence) {
                matrices.push(sentence);
            }
        }
    }
    let more = matrices.len().saturating_sub(MAX_SENTENCES);
    out.extend(matrices.into_iter().take(MAX_SENTENCES));
    if more > 0 {
        out.push(format!("and {more} more laws of matrices"));
    }
    if experiment.law_of_masses().is_some_and(|law| law.is_random()) {
        out.push(format!("masses = {}: drawn anew in every realisation", experiment.mass_law));
    }
    let noises = experiment.all_models().iter().filter_map(|m| m.noise_settings);
    let mut roots: Vec<u64> = noises.map(|s| noise_root(&s, experiment.seed)).collect();
    roots.sort_unstable();
    roots.dedup();
    out.extend(
        roots
            .into_iter()
            .take(MAX_SENTENCES)
            .map(|root| format!("noise: drawn anew in every realisation, from the seed {root}")),
    );
    out
}

fn matrix(key: &str, word: &str, law: &MatrixLaw) -> String {
    match law.seed() {
        Some(seed) => format!(
            "{key} = {word}: one matrix for all realisations, that of the seed {seed} in the law"
        ),
        None if law.needs_seed() => {
            format!(
                "{key} = {word}: drawn anew in every realisation, from the seed in the column \
                matrix_seed of results.csv"
            )
        }
        None => String::new(),
    }
}

/// The seed of the noise: its own seed if it has one, otherwise that of the experiment.
pub fn noise_root(noise_settings: &NoiseSettings, seed: u64) -> u64 {
    noise_settings.seed.unwrap_or(seed)
}

/// The seed of the matrices of realisation m, below 2^53 so that a double holds it; `None` if every
/// matrix has its own seed. Like the initial tokens, it depends on the law of tokens and on the
/// shape only: a sweep over beta uses the same matrices.
pub fn matrix_seed(
    experiment: &Experiment,
    model_spec: &ModelSpec,
    cell: &Cell,
    m: usize,
) -> Option<u64> {
    let stream = || Stream::new(experiment.seed, &["matrices", &cell.stream_key(), &m.to_string()]);
    model_spec.model.needs_seed().then(|| stream().next_u64() >> 11)
}

/// The masses of realisation m of a cell, drawn from the law with this specification; not
/// normalised.
///
/// **Errors** a specification of no law (a damaged record).
pub fn masses_by_law(spec: &str, seed: u64, cell: &Cell, m: usize) -> Result<Vec<f64>> {
    let law = MassLaw::parse(spec)
        .ok_or_else(|| crate::error::Error::parameter("mass_law", spec, "a law of masses"))??;
    Ok(law.weights(cell.n, &mut Stream::new(seed, &["masses", &cell.stream_key(), &m.to_string()])))
}

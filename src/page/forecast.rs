//! Predictions of the theory for a run in the browser: from its start ([`theory`]), and for the
//! present plateau of its energy ([`plateau`]).

use crate::pair_weights::PairWeights;
use crate::settings::Settings;
use metastable::attention::interaction::{Interaction, RowSum};
use metastable::attention::{RowWeights, Variant};
use metastable::flow::clusters_within;
use metastable::prelude::*;
use metastable::sphere::geometry::dist;
use metastable::theory::{
    convergence_criteria, equiangular::Equiangular, growth, interaction, kac_rice, noise,
    two_cluster::log_merge_time, wendel,
};
use serde_json::{Value, json};

/// Number of nearest pairs of clusters whose merging times are computed.
const MAX_PAIRS: usize = 8;

/// Number of modes among which the fastest is searched.
const MAX_MODES: usize = 64;

/// Weights and time scale of mutual attraction on the sphere by `e^{beta s}`, which the closed
/// forms need.
fn mutual(s: &Settings) -> Option<(RowWeights, TimeScale)> {
    let variant = dynamics::find(&s.dynamics, false).ok()?.variant;
    let plain = s.norm.is_empty() && s.interaction.is_empty();
    let weights = variant.and_then(Variant::mutual_weights).filter(|_| plain)?;
    Some((weights, TimeScale::parse(&s.time_scale).ok()?))
}

/// The present plateau of the energy: its level, the next level, and the time of the change. The
/// time comes from the equation of two clusters, for the pair that would merge first without the
/// others.
pub fn plateau(s: &Settings, pair_weights: &PairWeights, x: &Tokens, t: f64) -> Value {
    let radius = pair_weights.cluster_radius();
    let (clusters, _) = clusters_within(x, radius);
    let energy = |x: &Tokens| pair_weights.energy(x).unwrap_or(f64::NAN);
    let mut answer = json!({"level": energy(&clusters), "clusters": clusters.n()});
    let k = clusters.n();
    let mut pairs: Vec<(f64, usize, usize)> = (0..k)
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .map(|(i, j)| (dist(clusters.row(i), clusters.row(j)), i, j))
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((weights, scale)) = mutual(s).filter(|_| s.kappa <= 0.0 && s.beta >= 0.0) else {
        return answer;
    };
    let m = clusters.masses();
    let first = pairs
        .iter()
        .take(MAX_PAIRS)
        .filter(|p| p.0 > radius && p.0 < std::f64::consts::PI - 1e-9)
        .filter_map(|&(angle, i, j)| {
            let both = m[i] + m[j];
            // The equation is for total mass 1; unnormalised weights slow the pair by its mass.
            let slowed = if weights == RowWeights::Exponential { both.ln() } else { 0.0 };
            let log =
                log_merge_time(weights, (scale, s.n), s.beta, m[i] / both, angle, radius).ok()?;
            Some((log - slowed, i, j))
        });
    if let Some((log, i, j)) = first.min_by(|a, b| a.0.total_cmp(&b.0)) {
        // log10 of t + T, also where T is beyond f64.
        let decades =
            if log < 600.0 { (t + log.exp()).log10() } else { log / std::f64::consts::LN_10 };
        answer["log10_time"] = json!(decades);
        answer["next"] = json!(energy(&merge_pair(&clusters, i, j)));
        answer["angle"] = json!(dist(clusters.row(i), clusters.row(j)));
    }
    answer
}

/// The clusters with i and j merged at their mean.
fn merge_pair(x: &Tokens, i: usize, j: usize) -> Tokens {
    let (d, m) = (x.d(), x.masses());
    let mean: Vec<f64> = x.row(i).iter().zip(x.row(j)).map(|(a, b)| m[i] * a + m[j] * b).collect();
    let rows = (0..x.n())
        .filter(|k| *k != j)
        .flat_map(|k| if k == i { mean.clone() } else { x.row(k).to_vec() })
        .collect();
    let masses: Vec<f64> =
        (0..x.n()).filter(|k| *k != j).map(|k| if k == i { m[i] + m[j] } else { m[k] }).collect();
    Tokens::normalised(d, rows).and_then(|y| y.with_masses(&masses)).unwrap_or_else(|_| x.clone())
}

/// Predictions from the start alone.
pub fn theory(s: &Settings, x: &Tokens) -> Value {
    let (n, d, beta) = (x.n(), x.d(), s.beta);
    if !s.interaction.is_empty() {
        return own(s).unwrap_or_else(|| json!({}));
    }
    let mut answer = json!({"hemisphere": wendel::probability(n, d)});
    if beta > 0.0 {
        let modes = match d {
            2 => kac_rice::expected_modes_circle(beta).ok(),
            3 => kac_rice::expected_modes_sphere(beta).ok(),
            _ => None,
        };
        answer["modes"] = json!(modes);
    }
    if let Some((weights, scale)) = mutual(s) {
        let rates = growth::rates(weights, d, beta, MAX_MODES, scale, n).ok();
        answer["mode"] = json!(rates.as_deref().map(growth::fastest_mode));
        answer["rate"] = json!(rates.map(|r| r.into_iter().fold(0.0, f64::max)));
        let equiangular =
            Equiangular::new(weights, n.max(2), beta, scale).and_then(|e| e.level_time(0.0, 0.999));
        answer["equiangular_time"] = json!(equiangular.ok().map(|t| t.value));
        if s.norm.is_empty() && s.kappa <= 0.0 {
            let holding: Vec<Value> = convergence_criteria::check_theorems(x, beta)
                .0
                .iter()
                .filter(|d| d.holds)
                .map(|d| json!({"says": d.statement, "because": d.hypothesis, "source": d.citation, "this_start": d.this_start}))
                .collect();
            answer["certain"] = json!(holding);
        }
    }
    if s.kappa > 0.0 {
        answer["kappa_threshold"] = json!(noise::threshold(d, 1, beta).ok());
    }
    answer
}

/// The fastest mode of the uniform density under an interaction.
fn own(s: &Settings) -> Option<Value> {
    let variant = dynamics::find(&s.dynamics, false).ok()?.variant;
    let row_sum = match variant.and_then(Variant::mutual_weights)? {
        RowWeights::Softmax => RowSum::Normalised,
        RowWeights::Exponential => RowSum::Plain,
        RowWeights::Sinkhorn => return None,
    };
    let phi = Interaction::parse(&s.interaction, &[("beta", s.beta)]).ok()?;
    let rates = interaction::growth_rates(&phi, row_sum, s.d, MAX_MODES).ok()?;
    let rates: Vec<f64> = rates.iter().map(|r| r.value).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    Some(json!({"mode": growth::fastest_mode(&rates), "rate": most}))
}

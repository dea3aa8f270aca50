//! What the theory says of a run: of its start, and of the plateau it is on.

use crate::settings::Settings;
use metastable::attention::{RowWeights, Variant};
use metastable::flow::clusters_within;
use metastable::prelude::*;
use metastable::sphere::geometry::dist;
use metastable::theory::{certain, equiangular::Equiangular, growth, kac_rice, noise, two_cluster::log_merge_time, wendel};
use serde_json::{Value, json};

/// Clusters of which pairs are asked for their merging times: the nearest of them, so many.
const PAIRS: usize = 8;

/// The fastest mode is looked for among so many.
const MODES: usize = 64;

/// Tokens nearer than half a kernel width are a cluster, as the observable `clusters` counts them.
pub fn radius(beta: f64) -> f64 {
    0.5 * beta.abs().max(1.0).powf(-0.5)
}

/// The weights of mutual attraction on the sphere, and the time scale: what the closed forms are about.
fn mutual(s: &Settings) -> Option<(RowWeights, TimeScale)> {
    let variant = dynamics::find(&s.dynamics, false).ok()?.variant;
    let weights = variant.and_then(Variant::mutual_weights).filter(|_| s.norm.is_empty())?;
    Some((weights, TimeScale::parse(&s.time_scale).ok()?))
}

/// The plateau: its level, and when which level comes next, by the equation of the two clusters that are the first to meet when nobody else pulls.
pub fn of(s: &Settings, x: &Tokens, t: f64) -> Value {
    let (clusters, _) = clusters_within(x, radius(s.beta));
    let energy = |x: &Tokens| Energy::new(s.beta, EnergyScale::Unit).log_value(x).map_or(f64::NAN, f64::exp);
    let mut said = json!({"level": energy(&clusters), "clusters": clusters.n()});
    let k = clusters.n();
    let mut pairs: Vec<(f64, usize, usize)> =
        (0..k).flat_map(|j| (0..j).map(move |i| (i, j))).map(|(i, j)| (dist(clusters.row(i), clusters.row(j)), i, j)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((weights, scale)) = mutual(s).filter(|_| s.kappa <= 0.0 && s.beta >= 0.0) else { return said };
    let m = clusters.masses();
    let first =
        pairs.iter().take(PAIRS).filter(|p| p.0 > radius(s.beta) && p.0 < std::f64::consts::PI - 1e-9).filter_map(|&(angle, i, j)| {
            let both = m[i] + m[j];
            // Alone in the world the two would have mass 1: without row sums their share slows them.
            let slowed = if weights == RowWeights::Exponential { both.ln() } else { 0.0 };
            let log = log_merge_time(weights, (scale, s.n), s.beta, m[i] / both, angle, radius(s.beta)).ok()?;
            Some((log - slowed, i, j))
        });
    if let Some((log, i, j)) = first.min_by(|a, b| a.0.total_cmp(&b.0)) {
        // log10 of t + T, also where T is beyond f64.
        let decades = if log < 600.0 { (t + log.exp()).log10() } else { log / std::f64::consts::LN_10 };
        said["log10_time"] = json!(decades);
        said["next"] = json!(energy(&joined(&clusters, i, j)));
        said["angle"] = json!(dist(clusters.row(i), clusters.row(j)));
    }
    said
}

/// Two of the clusters at their mean.
fn joined(x: &Tokens, i: usize, j: usize) -> Tokens {
    let (d, m) = (x.d(), x.masses());
    let mean: Vec<f64> = x.row(i).iter().zip(x.row(j)).map(|(a, b)| m[i] * a + m[j] * b).collect();
    let rows = (0..x.n()).filter(|k| *k != j).flat_map(|k| if k == i { mean.clone() } else { x.row(k).to_vec() }).collect();
    let masses: Vec<f64> = (0..x.n()).filter(|k| *k != j).map(|k| if k == i { m[i] + m[j] } else { m[k] }).collect();
    Tokens::normalised(d, rows).and_then(|y| y.with_masses(&masses)).unwrap_or_else(|_| x.clone())
}

/// What is known before the run.
pub fn theory(s: &Settings, x: &Tokens) -> Value {
    let (n, d, beta) = (x.n(), x.d(), s.beta);
    let mut said = json!({"hemisphere": wendel::probability(n, d)});
    if beta > 0.0 {
        let modes = match d {
            2 => kac_rice::expected_modes_circle(beta).ok(),
            3 => kac_rice::expected_modes_sphere(beta).ok(),
            _ => None,
        };
        said["modes"] = json!(modes);
    }
    if let Some((weights, scale)) = mutual(s) {
        let rates = growth::rates(weights, d, beta, MODES, scale, n).ok();
        said["mode"] = json!(rates.as_deref().map(growth::fastest_mode));
        said["rate"] = json!(rates.map(|r| r.into_iter().fold(0.0, f64::max)));
        let law = Equiangular::new(weights, n.max(2), beta, scale).and_then(|e| e.level_time(0.0, 0.999));
        said["equiangular_time"] = json!(law.ok().map(|t| t.value));
        if s.norm.is_empty() && s.kappa <= 0.0 {
            let sure: Vec<Value> = certain::decisions(x, beta)
                .0
                .iter()
                .filter(|d| d.holds)
                .map(|d| json!({"says": d.statement, "because": d.hypothesis, "source": d.citation, "this_start": d.this_start}))
                .collect();
            said["certain"] = json!(sure);
        }
    }
    if s.kappa > 0.0 {
        said["kappa_threshold"] = json!(noise::threshold(d, 1, beta).ok());
    }
    said
}

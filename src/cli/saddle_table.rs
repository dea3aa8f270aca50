//! The results of `saddles`: tables of critical points and of branches, as text and JSON.

use super::digits::with_error;
use super::energy::NORMALISATION;
use super::output::{all_digits, finite, matrix, number, vector};
use super::proof::{ALONE, Standing};
use crate::landscape::CriticalPoint;
use crate::landscape::branches::Branch;
use crate::landscape::connections::{Connection, DISPLACEMENT};
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::landscape::search::SearchResult;
use crate::landscape::searched::FoundPoint;
use crate::proofs::complete_list::CompleteBy;
use serde_json::{Map, Value, json};

/// A critical point in the tables.
pub trait Listed: FoundPoint {
    /// The line above the table: what its energies are.
    const ENERGY: &'static str;
    /// The metric of the eigenvalues.
    const METRIC: &'static str;
    /// The energy as text.
    fn energy(&self) -> String;
    /// Errors of the position and of the rates, if they are known.
    fn errors(&self) -> (Option<f64>, Option<f64>);
    /// Morse index, residual, symmetry.
    fn numbers(&self) -> (usize, f64, usize);
    /// A warning behind the line.
    fn mark(&self) -> &'static str;
    /// Distance from the tokens from which it was reached.
    fn distance(&self) -> f64;
    /// The keys that its kind of energy has.
    fn keys(&self) -> Value;
}

impl Listed for CriticalPoint {
    const ENERGY: &'static str =
        "energy: relative to one cluster; errors of points and rates are estimates";
    const METRIC: &'static str = "sum_i m_i |u_i|^2, scaled by exp(-|beta|)";

    fn energy(&self) -> String {
        let share = self.log_energy.exp();
        with_error(share, share * self.errors.log_energy.exp_m1())
    }

    fn errors(&self) -> (Option<f64>, Option<f64>) {
        (Some(self.errors.position), Some(self.errors.eigenvalue))
    }

    fn numbers(&self) -> (usize, f64, usize) {
        (self.spectrum.morse_index, self.residual, self.symmetry)
    }

    fn mark(&self) -> &'static str {
        if self.spectrum.is_nearly_degenerate() { "  nearly degenerate" } else { "" }
    }

    fn distance(&self) -> f64 {
        self.distance_from_start
    }

    fn keys(&self) -> Value {
        let (e, s) = (&self.errors, &self.spectrum);
        json!({
            "log_energy": finite(self.log_energy), "log_energy_error": finite(e.log_energy),
            "energy_share": finite(self.log_energy.exp()),
            "energy_share_error": finite(self.log_energy.exp() * e.log_energy.exp_m1()),
            "morse_index": s.morse_index, "unstable_directions": s.unstable, "nullity": s.nullity,
            "rotations": s.rotations, "nearly_degenerate": s.is_nearly_degenerate(),
            "rotation_defect": s.rotation_defect, "eigenvalues": s.values,
            "eigenvalues_error": finite(e.eigenvalue), "index_margin": finite(s.margin),
            "residual": self.residual, "angles": self.angles, "angles_error": finite(e.angle),
            "symmetries": self.symmetry, "points_error": finite(e.position),
        })
    }
}

impl Listed for InteractionCriticalPoint {
    const ENERGY: &'static str = "energy: (1/2) sum_ij m_i m_j W(<x_i, x_j>), W' = phi; a point \
                                  without unstable directions is a maximum";
    const METRIC: &'static str = "sum_i m_i |u_i|^2";

    fn energy(&self) -> String {
        number(self.energy)
    }

    fn errors(&self) -> (Option<f64>, Option<f64>) {
        (None, Some(self.spectrum.rounding))
    }

    fn numbers(&self) -> (usize, f64, usize) {
        (self.spectrum.stable, self.residual, self.symmetry)
    }

    fn mark(&self) -> &'static str {
        match () {
            () if self.spectrum.nullity > 0 => "  degenerate",
            () if self.is_nearly_degenerate() => "  nearly degenerate",
            () => "",
        }
    }

    fn distance(&self) -> f64 {
        self.distance_from_start
    }

    fn keys(&self) -> Value {
        let s = &self.spectrum;
        json!({
            "energy": finite(self.energy), "morse_index": s.stable,
            "unstable_directions": s.unstable, "nullity": s.nullity, "rotations": s.rotations,
            "eigenvalues": s.values, "eigenvalues_error": finite(s.rounding),
            "residual": self.residual, "angles": self.angles, "symmetries": self.symmetry,
        })
    }
}

/// The critical points of one energy.
pub struct Landscape<P> {
    pub beta: Option<f64>,
    pub found: SearchResult<P>,
    pub edges: Vec<Connection>,
    pub without_end: usize,
    pub proofs: Vec<Option<String>>,
    /// Why the list is complete, and what stands behind it.
    pub complete: Option<(CompleteBy, Standing)>,
    /// The largest number of random starts, if the search reached it before it settled.
    pub limit: Option<usize>,
}

/// Tokens of the clusters, the largest first.
pub fn sizes(p: &impl FoundPoint) -> String {
    let mut all = p.sizes().to_vec();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.iter().map(usize::to_string).collect::<Vec<_>>().join("+")
}

/// An error, or a dash.
fn optional(error: Option<f64>) -> String {
    error.map_or("-".to_owned(), |e| format!("{e:.0e}"))
}

impl<P: Listed> Landscape<P> {
    /// The keys of one landscape.
    pub fn json(&self) -> Map<String, Value> {
        let (found, points) = (&self.found, &self.found.points);
        let edge = |e: &Connection| {
            json!({
                "from": e.from, "to": e.to, "rate": e.rate,
                "rate_error": points[e.from].errors().1.and_then(|v| v.is_finite().then_some(v)),
                "t": e.t, "t_error": finite(e.t_error),
            })
        };
        let describe = |(k, p): (usize, &P)| {
            let mut all = json!({
                "clusters": p.clusters().n(), "sizes": p.sizes(),
                "tokens_per_cluster": p.sizes(), "found_by_starts": found.hits[k],
                "points": matrix(p.clusters().coordinates(), p.clusters().d()),
                "certificate": self.proofs[k],
            });
            merge(&mut all, p.keys());
            all
        };
        // A point reached from given tokens has no search statistics.
        let searched = found.starts > 0 && found.fixed_starts > 0;
        let json = json!({
            "beta": self.beta, "starts": found.starts, "failed_starts": found.failed,
            "fixed_starts": found.fixed_starts, "proved_complete": self.is_complete(),
            "complete": self.how(), "found_by_one_start": found.found_once(),
            "missing_estimate": searched.then(|| found.unseen()),
            "found_by_fixed_starts_only": searched.then(|| found.found_otherwise()),
            "visible_probability": searched.then(|| finite(found.visible_probability())),
            "new_points_per_start": searched.then(|| found.new_per_start()),
            "second_half_found_nothing_new": searched.then(|| found.is_settled()),
            "reached_largest_number_of_starts": self.limit.is_some(), "metric": P::METRIC,
            "points": points.iter().enumerate().map(describe).collect::<Vec<_>>(),
            "connections": self.edges.iter().map(edge).collect::<Vec<_>>(),
            "displacement": DISPLACEMENT, "ends_without_rest": self.without_end,
        });
        json.as_object().cloned().unwrap_or_default()
    }

    /// As text; `given` if the point was reached from given tokens, `several` for more than one
    /// beta.
    pub fn text(&self, given: bool, several: bool) -> String {
        let found = &self.found;
        let mut text = match self.beta {
            Some(beta) if several => format!("beta = {beta}\n"),
            _ => String::new(),
        };
        if given {
            text.push_str("the critical point reached from the given tokens\n");
        } else {
            text.push_str(&self.searched());
        }
        text.push_str(P::ENERGY);
        text.push_str(
            "\n  #  clusters of                           energy  points +-  rates +-  unstable  Morse index  residual  symmetries  found by\n",
        );
        for (k, p) in found.points.iter().enumerate() {
            let proof = self.proofs[k].as_ref().map(|p| format!("  {p}")).unwrap_or_default();
            let ((points, rates), (index, residual, symmetry)) = (p.errors(), p.numbers());
            text.push_str(&format!(
                "{k:>3}  {:<20} {:>25}  {:>9}  {:>8}  {:>8}  {index:>11}  {residual:>8.1e}  {symmetry:>10}  {:>8}{}{proof}\n",
                sizes(p),
                p.energy(),
                optional(points),
                optional(rates),
                p.unstable(),
                found.hits[k],
                p.mark(),
            ));
            if all_digits() {
                p.clusters()
                    .rows()
                    .for_each(|row| text.push_str(&format!("       at {}\n", vector(row))));
            }
        }
        for e in &self.edges {
            let error = found.points[e.from].errors().1.unwrap_or(f64::INFINITY);
            let (rate, t) = (with_error(e.rate, error), with_error(e.t, e.t_error));
            text.push_str(&format!("{:>3} -> {:<3} along rate {rate} in t = {t}\n", e.from, e.to));
        }
        if self.without_end > 0 {
            text.push_str(&format!(
                "{} trajectories did not reach a critical point and are left out\n",
                self.without_end
            ));
        }
        text
    }

    /// Whether the list is proved to be complete.
    pub fn is_complete(&self) -> bool {
        self.complete.as_ref().is_some_and(|(_, standing)| standing.holds())
    }

    /// Whether the list is complete, in words.
    fn how(&self) -> String {
        match &self.complete {
            Some((CompleteBy::Theorem, _)) => format!(
                "complete: proved {ALONE} (by the theorem partitions-at-large-beta, which gives \
                 as many points)"
            ),
            Some((CompleteBy::Boxes { boxes, .. }, standing)) if standing.holds() => {
                format!("complete: {} (as by `landscape`, {boxes} boxes)", standing.word())
            }
            Some((_, standing)) => format!("not proved complete: {}", standing.line().trim_end()),
            None => "not proved complete".to_owned(),
        }
    }

    /// Statistics of the search.
    fn searched(&self) -> String {
        let found = &self.found;
        let how = match &self.complete {
            None => format!("{} (`landscape` proves such lists, for few tokens)", self.how()),
            Some(_) => self.how(),
        };
        if found.starts == 0 {
            return format!(
                "{} distinct critical points from {} fixed starts and no random ones\n\
                 missing points: no estimate without random starts\n{}\n",
                found.points.len(),
                found.fixed_starts,
                how
            );
        }
        let failed = match found.failed {
            0 => "all converged".to_owned(),
            k => format!("{k} did not converge and may be near further points"),
        };
        let otherwise = match found.found_otherwise() {
            0 => String::new(),
            k => format!(", perhaps among the {k} listed ones that only fixed starts reached"),
        };
        let settled = match self.limit {
            _ if found.is_settled() => "the second half found nothing new".to_owned(),
            Some(most) => format!(
                "the second half still found new points: stopped at the largest number, {most}"
            ),
            None => "the second half still found new points".to_owned(),
        };
        // What a search cannot see does not matter if the list is proved to be complete.
        let missing = match self.is_complete() {
            true => String::new(),
            false => format!(
                "points that random starts did not see: about {:.1}{otherwise} (Chao's estimate, a lower bound on average); a further start finds {} new ones on average (Good-Turing)\n\
                 points that a random start reaches with a probability below {} may be missing: each other one is found with a probability of 95 %\n",
                found.unseen(),
                number(found.new_per_start()),
                number(found.visible_probability()),
            ),
        };
        format!(
            "{} distinct critical points from {} random starts ({failed}; {settled}) and {} fixed starts\n\
             found by: number of random starts that reached the point; {} points were reached by one start only\n\
             {missing}{}\n",
            found.points.len(),
            found.starts,
            found.fixed_starts,
            found.found_once(),
            how,
        )
    }
}

/// Adds the keys of one object to another.
pub fn merge(all: &mut Value, more: Value) {
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
}

/// The branches over several values of beta, as text.
pub fn branch_table<P: Listed>(branches: &[Branch], all: &[Landscape<P>]) -> String {
    let mut text = format!(
        "{} branches over {} values of beta (a point continues another if continuation leads from \
         each to the other)\n\
         {:>3}  {:<20} {:>25}  {:<20}  energy\n",
        branches.len(),
        all.len(),
        "#",
        "clusters of",
        "beta",
        "unstable",
    );
    let beta = |b: usize| number(all[b].beta.unwrap_or_default());
    for (k, branch) in branches.iter().enumerate() {
        let (first, last) = (branch.first, branch.first + branch.points.len() - 1);
        let point = |b: usize| &all[b].found.points[branch.points[b - first]];
        let mut unstable = point(first).unstable().to_string();
        for b in first + 1..=last {
            if point(b).unstable() != point(b - 1).unstable() {
                unstable.push_str(&format!(", {} from {}", point(b).unstable(), beta(b)));
            }
        }
        let ends =
            if first == last { beta(first) } else { format!("{}..{}", beta(first), beta(last)) };
        text.push_str(&format!(
            "{k:>3}  {:<20} {ends:>25}  {unstable:<20}  {}\n",
            sizes(point(first)),
            if first == last {
                point(first).energy()
            } else {
                format!("{} ... {}", point(first).energy(), point(last).energy())
            },
        ));
    }
    text
}

/// The branches as JSON.
pub fn branch_keys<P: Listed>(branches: &[Branch], all: &[Landscape<P>]) -> Value {
    let one = |branch: &Branch| {
        let at = |(k, p): (usize, &usize)| {
            let landscape = &all[branch.first + k];
            json!({
                "beta": landscape.beta, "point": p,
                "unstable_directions": landscape.found.points[*p].unstable(),
            })
        };
        let first = &all[branch.first].found.points[branch.points[0]];
        json!({
            "sizes": first.sizes(),
            "points": branch.points.iter().enumerate().map(at).collect::<Vec<_>>(),
        })
    };
    branches.iter().map(one).collect()
}

/// The key that names the energy of an interaction.
pub fn normalisation(interaction: &str) -> Value {
    json!({ "interaction": interaction, "normalisation": NORMALISATION })
}

//! `rates`: exits from the maxima of the energy under noise, by the law of Eyring and Kramers.

use super::cancel::cancelled;
use super::digits::with_error;
use super::input::{self, TokenArguments};
use super::output::{all_digits, note, set_all_digits, vector};
use super::saddle_table::sizes;
use super::sections::columns;
use crate::attention::interaction::InteractionEnergy;
use crate::error::{Error, Result};
use crate::flow::clusters_within;
use crate::landscape::exits::{Exit as Way, Exits, OrbitPoint, add_saddles, exits};
use crate::landscape::search::{Search, SearchResult, critical_point_near};
use crate::landscape::searched::{FoundPoint, SearchedEnergy};
use crate::landscape::{CriticalPoint, Exponential};
use crate::operation::{
    Answer, Exit, Operation, Parameters, Rows, Table, above, any, column, within,
};
use crate::parameters;
use crate::proofs::complete_list::{self, CompleteBy};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

parameters! {
    /// Parameters of `rates`.
    struct Rates {
        ..tokens: TokenArguments;
        /// Inverse temperature.
        beta: Option<f64>, within(-100.0, 100.0).unless(&["interaction"]);
        /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta,
        /// with parameters of its own after a semicolon: 's^p + a; p=3, a=1'.
        interaction: Option<String>, any().form("PHI");
        /// Inverse temperature K of the noise: dX = v dt + sqrt(2/K) dW.
        kappa: f64, above(0.0, 1e300);
        /// Number of random starts of the search for critical points, and of the search for saddles
        /// around each maximum.
        starts: usize, within(1.0, 1e6).or("200");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "rates",
    group: "Analyse",
    summary: "Rates at which noise leaves the maxima of the energy over saddles",
    notes: "Examples:
  metastable rates --n 3 --d 2 --beta -2 --kappa 45
  metastable rates --n 4 --d 3 --beta -4 --kappa 32
  metastable rates --n 4 --d 2 --beta 1 --kappa 10          (phase slips of one cluster)
  metastable rates --n 3 --d 2 --interaction 's + 2*s^3' --kappa 20

Tokens of equal masses move by dX = v dt + sqrt(2/kappa) dW, v that of usa in U1 or of an
interaction: the gradient flow of W = -n E. A maximum of E is a well of W, and as kappa grows it is
left over the saddles of index 1 around it at the rates of Eyring and Kramers, with the volumes of
the orbits under rotations. The relative error is of the order 1/(kappa barrier).

For beta > 0 one cluster is the only maximum: sets of clusters are no wells, and `predict
noisy-merge-time` says how long they live. With tokens only the maximum near them is left.",
    parameters: Rates::table,
    results: &[
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("beta", "inverse temperature"),
        column("interaction", "the interaction"),
        column("kappa", "inverse temperature of the noise"),
        column("seed", "random seed"),
        column("equation", "the equation of the tokens"),
        column("proved_complete", "whether the list of critical points is proved to be complete"),
        column("degenerate", "saddles of index 1 that are degenerate: the law does not hold there"),
        column("sides_without_end", "sides of saddles from which the flow came to no rest"),
    ],
    tables: &[
        Table {
            name: "states",
            what: "one row for each maximum of the energy and each saddle of index 1",
            rows: Rows::Objects("states"),
            columns: &[
                column("state", "its number"),
                column("sizes", "tokens per cluster"),
                column("unstable_directions", "0 for a maximum, 1 for a saddle"),
                column("potential", "W = -n E"),
                column("potential_error", "its error"),
                column("multiplicity", "labelled points up to rotation, mirror images included"),
                column("rotations", "dimension of the orbit under rotations"),
                column("log_orbit_volume", "logarithm of the volume of that orbit"),
            ],
        },
        Table {
            name: "exits",
            what: "one row for each kind of saddle around each maximum",
            rows: Rows::Objects("exits"),
            columns: &[
                column("from", "the maximum that is left"),
                column("over", "the saddle"),
                column("to", "the maximum on the other side"),
                column("slip", "whether both sides are of the same kind"),
                column("saddles", "number of such saddles around one maximum"),
                column("barrier", "difference of W"),
                column("barrier_error", "its error"),
                column("kappa_barrier", "kappa times the barrier; the law needs at least 2"),
                column("unstable_rate", "rate lambda at which the saddle is left"),
                column("orbit_dimensions", "difference k_m - k_s of the dimensions of the orbits"),
                column("log_prefactor", "logarithm of the factor of one saddle, without kappa"),
                column("log_volume_ratio", "its part from the volumes of the orbits"),
                column("least_curvature", "smallest curvature of W across an orbit"),
                column("log_rate", "logarithm of the rate over all such saddles"),
                column("meaningful", "whether kappa times the barrier is at least 2"),
            ],
        },
    ],
    exits: &[
        (Exit::Shown, "computed"),
        (Exit::Undecided, "saddles that are degenerate, or sides without an end, are left out"),
        (Exit::Failure, "no exit was found"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Rates::of(given)?.run(),
    ..Operation::EMPTY
};

/// Distance in radians within which given tokens are one cluster.
const COINCIDENT: f64 = 1e-6;

/// Smallest kappa times barrier for which the law says something.
const LEAST_DEPTH: f64 = 2.0;

/// Seconds for the proof that a list is complete: the longest estimate, and the end.
const PROOF_SECONDS: (f64, u64) = (5.0, 30);

impl Rates {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        set_all_digits(self.tokens.all_digits);
        if let Some(text) = &self.interaction {
            let energy = InteractionEnergy::new(input::interaction(text, self.beta)?);
            return self.of_energy(&energy, &|_| Ok(false));
        }
        let beta = self.beta.unwrap_or_default();
        if beta == 0.0 {
            let expected = "another value: at beta = 0 the critical points are not isolated";
            return Err(Error::parameter("beta", beta, expected));
        }
        if beta > 0.0 {
            note(
                "for beta > 0 one cluster is the only maximum of the energy: sets of clusters are \
                 not left over saddles; `predict noisy-merge-time` says how long they live",
            );
        }
        self.of_energy(&Exponential { beta }, &|found| self.is_complete(beta, found))
    }

    /// Searches, follows and prints. `prove` decides whether the list is complete.
    fn of_energy<E>(
        &self,
        energy: &E,
        prove: &dyn Fn(&mut SearchResult<E::Point>) -> Result<bool>,
    ) -> Result<Answer>
    where
        E: SearchedEnergy + 'static,
        E::Point: OrbitPoint,
    {
        let _ending = super::cancel::ends_itself();
        let seed = self.tokens.seed();
        let (mut found, only) = if self.tokens.is_given() {
            let well = self.near(energy)?;
            let (n, d) = (well.sizes().iter().sum(), well.clusters().d());
            let mut found = self.searched(energy, n, d)?;
            let (index, _) = found.add(well);
            (found, Some(index))
        } else {
            let (n, d) = self.shape()?;
            (self.searched(energy, n, d)?, None)
        };
        if !cancelled() {
            add_saddles(energy, &mut found, self.starts, seed)?;
        }
        let mut complete = !cancelled() && prove(&mut found)?;
        let listed = found.points.len();
        let mut ways = if cancelled() { Exits::default() } else { exits(energy, &mut found)? };
        complete &= found.points.len() == listed;
        ways.all.retain(|way| only.is_none_or(|k| k == way.from));
        let end = match () {
            () if cancelled() => Exit::Interrupted,
            () if ways.all.is_empty() => Exit::Failure,
            () if ways.without_end > 0 || !ways.degenerate.is_empty() => Exit::Undecided,
            () => Exit::Shown,
        };
        let (json, text) = (self.json(&found, &ways, complete), self.text(&found, &ways, complete));
        Ok(Answer::new(json, text).ended(end))
    }

    /// The number of tokens and the dimension. **Errors** one that is missing.
    fn shape(&self) -> Result<(usize, usize)> {
        self.tokens.refuse_unused("no tokens are given: the law is for equal masses")?;
        let count = |name: &str, v: Option<usize>| {
            let found = v.map_or("nothing".to_owned(), |v| v.to_string());
            let expected = "a whole number >= 2, or tokens near a maximum";
            v.filter(|v| *v >= 2).ok_or_else(|| Error::parameter(name, found, expected))
        };
        let (n, d) = self.tokens.shape();
        Ok((count("n", n)?, count("d", d)?))
    }

    fn searched<E: SearchedEnergy>(
        &self,
        energy: &E,
        n: usize,
        d: usize,
    ) -> Result<SearchResult<E::Point>> {
        let (energy, seed, starts) = (energy.clone(), self.tokens.seed(), self.starts);
        let search = Search { energy, n, d, starts, max_starts: starts, fixed: true, seed };
        search.run_with_progress(&[], &mut |k, found| {
            super::progress::report(Some(k as f64 / starts as f64), || {
                format!("random start {k}, {} critical points", found.points.len())
            });
            !cancelled()
        })
    }

    /// The maximum of the energy near the given tokens. **Errors** unequal masses; a critical point
    /// that is no maximum.
    fn near<E: SearchedEnergy>(&self, energy: &E) -> Result<E::Point>
    where
        E::Point: OrbitPoint,
    {
        let x = self.tokens.tokens()?;
        if x.uniform_mass().is_none() {
            return Err(Error::parameter("masses", "unequal ones", "equal masses"));
        }
        let (clusters, labels) = clusters_within(&x, COINCIDENT);
        let mut counts = vec![0; clusters.n()];
        labels.iter().for_each(|l| counts[*l] += 1);
        let point = critical_point_near(energy, &clusters, &counts)?;
        if point.unstable() == 0 && point.nullity() == 0 {
            return Ok(point);
        }
        let found = format!(
            "a critical point with clusters of {} tokens, {} unstable directions and {} flat ones",
            sizes(&point),
            point.unstable(),
            point.nullity()
        );
        Err(Error::parameter("tokens", found, "tokens near a maximum of the energy"))
    }

    /// Whether it is proved that the list has all critical points: on the circle, if that takes
    /// seconds.
    fn is_complete(&self, beta: f64, found: &mut SearchResult<CriticalPoint>) -> Result<bool> {
        let Some(first) = found.points.first() else { return Ok(false) };
        let (n, d) = (first.n(), first.clusters.d());
        if d != 2 {
            return Ok(false);
        }
        let (longest, end) = PROOF_SECONDS;
        let started = Instant::now();
        let proceed = |_: f64, _: u64| !cancelled() && started.elapsed() < Duration::from_secs(end);
        Ok(match complete_list::prove(beta, n, found, longest, &proceed)? {
            Some(CompleteBy::Theorem) => true,
            Some(CompleteBy::Boxes { certificate, .. }) => {
                super::proof::Standing::of(&certificate, false).holds()
            }
            None => false,
        })
    }

    fn json<P: OrbitPoint>(&self, found: &SearchResult<P>, ways: &Exits, complete: bool) -> Value {
        let shown = |p: &P| p.unstable() == 0 || p.unstable() == 1;
        let state = |(k, p): (usize, &P)| {
            json!({
                "state": k, "sizes": p.sizes(), "unstable_directions": p.unstable(),
                "potential": p.potential(), "potential_error": p.potential_error(),
                "multiplicity": p.log_multiplicity().exp().round(), "rotations": p.rotations(),
                "log_orbit_volume": p.log_orbit_volume(),
            })
        };
        let way = |w: &Way| {
            json!({
                "from": w.from, "over": w.over, "to": w.to, "slip": w.from == w.to,
                "saddles": w.saddles, "barrier": w.barrier, "barrier_error": error(found, w),
                "kappa_barrier": self.kappa * w.barrier, "unstable_rate": w.unstable_rate,
                "orbit_dimensions": w.orbit_dimensions, "log_prefactor": w.log_prefactor,
                "log_volume_ratio": w.log_volume_ratio, "least_curvature": w.least_curvature,
                "log_rate": w.log_rate(self.kappa), "meaningful": self.is_meaningful(w),
            })
        };
        let points = found.points.iter().enumerate();
        let (n, d) = found
            .points
            .first()
            .map_or((0, 0), |p| (p.sizes().iter().sum::<usize>(), p.clusters().d()));
        json!({
            "n": n, "d": d, "beta": self.beta, "interaction": self.interaction,
            "kappa": self.kappa, "seed": self.tokens.seed(),
            "equation": "dX = v dt + sqrt(2/kappa) dW, v of usa in U1 or of the interaction",
            "proved_complete": complete, "degenerate": ways.degenerate,
            "sides_without_end": ways.without_end,
            "states": points.filter(|(_, p)| shown(p)).map(state).collect::<Vec<_>>(),
            "exits": ways.all.iter().map(way).collect::<Vec<_>>(),
        })
    }

    fn is_meaningful(&self, way: &Way) -> bool {
        self.kappa * way.barrier >= LEAST_DEPTH
    }

    fn text<P: OrbitPoint>(&self, found: &SearchResult<P>, ways: &Exits, complete: bool) -> String {
        let name = |k: usize| format!("{k}: {}", sizes(&found.points[k]));
        let row = |w: &Way| {
            let remark = match (self.is_meaningful(w), w.from == w.to) {
                (false, _) => format!(
                    "not meaningful: kappa barrier = {:.2}, below {LEAST_DEPTH}",
                    self.kappa * w.barrier
                ),
                (true, true) => "a slip: both sides are of one kind".to_owned(),
                (true, false) => String::new(),
            };
            vec![
                name(w.from),
                name(w.over),
                name(w.to),
                w.saddles.to_string(),
                with_error(w.barrier, error(found, w)),
                match self.is_meaningful(w) {
                    true => format!("{:.4}", w.log_rate(self.kappa)),
                    false => "-".to_owned(),
                },
                remark,
            ]
        };
        let rows: Vec<Vec<String>> = ways.all.iter().map(row).collect();
        let head = ["from", "over", "to", "saddles", "barrier of W", "log rate", ""];
        let mut text = format!(
            "kappa = {}, W = -n E; states with the tokens of their clusters\n{}",
            self.kappa,
            columns(&head, &rows)
        );
        if rows.is_empty() {
            text.push_str("no saddle of index 1 beside a maximum was found\n");
        }
        text.push_str(match complete {
            true => {
                "The list of critical points is proved to be complete, so no exit is missing.\n"
            }
            false => "Exits may be missing: the list of critical points is not proved complete.\n",
        });
        if all_digits() {
            for (k, p) in found.points.iter().enumerate().filter(|(_, p)| p.unstable() < 2) {
                let rows: Vec<String> = p.clusters().rows().map(vector).collect();
                text.push_str(&format!("{} at {}\n", name(k), rows.join("; ")));
            }
        }
        for saddle in &ways.degenerate {
            text.push_str(&format!(
                "The saddle {} is degenerate and left out: its Hessian has zeros.\n",
                name(*saddle)
            ));
        }
        if ways.without_end > 0 {
            text.push_str(&format!(
                "From {} sides of saddles the flow came to no rest; they are left out.\n",
                ways.without_end
            ));
        }
        text
    }
}

/// Error of the barrier of an exit.
fn error<P: OrbitPoint>(found: &SearchResult<P>, way: &Way) -> f64 {
    found.points[way.from].potential_error() + found.points[way.over].potential_error()
}

//! The engine: one run, and the numbers that the page shows of it.

use crate::forecast;
use crate::pair_weights::PairWeights;
use crate::settings::Settings;
use metastable::attention::kernel::EXACT_ACCURACY;
use metastable::flow::{Run, SdeOptions, Splitting, clusters_within, start_run, start_sde};
use metastable::prelude::*;
use metastable::{Error, Result};
use serde_json::{Value, json};

/// Number of points of the curve around the circle.
const CURVE_POINTS: usize = 360;

/// The error of a request that needs a run.
fn no_run() -> Error {
    Error::Parameter {
        name: "run".into(),
        found: "nothing".into(),
        expected: "a run that was begun".into(),
    }
}

/// The current run, if one has begun.
#[derive(Default)]
pub struct Engine {
    settings: Settings,
    pair_weights: Option<PairWeights>,
    run: Option<Run<'static, 'static, 'static>>,
    /// Why the run has ended, once it has.
    ended: Option<String>,
}

impl Engine {
    /// Answers a request: `begin` with settings, `go` with a number of steps, `curve`, `velocity`,
    /// `forecast` or `theory`.
    pub fn answer(&mut self, request: &[u8], numbers: &mut Vec<f64>) -> Result<Value> {
        let invalid = |what: String| Error::Parameter {
            name: "request".into(),
            found: what,
            expected: "JSON of the page".into(),
        };
        let request: Value = serde_json::from_slice(request).map_err(|e| invalid(e.to_string()))?;
        match request["ask"].as_str() {
            Some("begin") => {
                let settings = serde_json::from_value(request["settings"].clone())
                    .map_err(|e| invalid(e.to_string()))?;
                self.begin(settings)?;
                self.frame(numbers)
            }
            Some("go") => {
                self.go(request["steps"].as_u64().unwrap_or(1))?;
                self.frame(numbers)
            }
            Some("curve") => self.curve(numbers),
            Some("velocity") => {
                let x = self.settings.start()?;
                let dynamics = self.settings.dynamics(EXACT_ACCURACY)?;
                let mut velocity = dynamics.velocity(&x);
                dynamics.keep_small_weights(&x, &mut velocity)?;
                numbers.extend(velocity);
                Ok(json!({"n": x.n(), "d": x.d()}))
            }
            Some("forecast") => {
                let run = self.run()?;
                Ok(forecast::plateau(&self.settings, self.pair_weights()?, run.tokens(), run.t()))
            }
            Some("theory") => Ok(forecast::theory(&self.settings, &self.settings.start()?)),
            other => Err(invalid(format!("{other:?}"))),
        }
    }

    fn run(&self) -> Result<&Run<'static, 'static, 'static>> {
        self.run.as_ref().ok_or_else(no_run)
    }

    fn pair_weights(&self) -> Result<&PairWeights> {
        self.pair_weights.as_ref().ok_or_else(no_run)
    }

    /// Begins a run. It borrows its dynamics, options and noise, which are leaked: some hundred
    /// bytes per run.
    fn begin(&mut self, settings: Settings) -> Result<()> {
        let start = settings.start()?;
        let dynamics = &*Box::leak(Box::new(settings.dynamics(settings.accuracy())?));
        let run = match settings.noise()? {
            Some(noise) => {
                let (noise, options) = (
                    &*Box::leak(Box::new(noise)),
                    &*Box::leak(Box::new(SdeOptions::run_options())),
                );
                let walk = SdeOptions {
                    noise,
                    step: settings.step,
                    seed: settings.seed,
                    splitting: Splitting::Strang,
                    cancel: None,
                };
                start_sde(dynamics, &start, settings.t_end, &walk, options, &mut [])?
            }
            None => {
                let options =
                    Options { rtol: settings.rtol, max_steps: 1_000_000, ..Options::default() }
                        .validated()?;
                start_run(dynamics, &start, settings.t_end, Box::leak(Box::new(options)), &mut [])?
            }
        };
        self.pair_weights = Some(settings.pair_weights()?);
        (self.settings, self.run, self.ended) = (settings, Some(run), None);
        Ok(())
    }

    fn go(&mut self, steps: u64) -> Result<()> {
        self.run()?;
        if let Some(run) = &mut self.run {
            self.ended = run.advance(steps)?.map(ToString::to_string);
        }
        Ok(())
    }

    /// The current state. Numbers: coordinates, masses, the row of every initial token, and the
    /// cluster of every row.
    fn frame(&self, numbers: &mut Vec<f64>) -> Result<Value> {
        let (run, pair_weights) = (self.run()?, self.pair_weights()?);
        let x = run.tokens();
        let (clusters, cluster_of_row) = clusters_within(x, pair_weights.cluster_radius());
        numbers.extend_from_slice(x.coordinates());
        numbers.extend_from_slice(x.masses());
        numbers.extend(run.labels().iter().map(|l| *l as f64));
        numbers.extend(cluster_of_row.iter().map(|c| *c as f64));
        let stats = run.stats();
        Ok(json!({
            "t": run.t(), "n": x.n(), "d": x.d(), "start": run.labels().len(),
            "clusters": clusters.n(),
            "energy": pair_weights.energy(x)?,
            "steps": stats.steps, "rejected": stats.rejected, "ended": self.ended,
        }))
    }

    /// The sum of weights, `sum_j m_j e^{beta (cos - 1)}` or of an interaction, of tokens on the
    /// circle, at points all around.
    /// The page requests it once per picture: it costs as much as several velocities.
    fn curve(&self, numbers: &mut Vec<f64>) -> Result<Value> {
        let (x, pair_weights) = (self.run()?.tokens(), self.pair_weights()?);
        for k in 0..if x.d() == 2 { CURVE_POINTS } else { 0 } {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / CURVE_POINTS as f64).sin_cos();
            let weight =
                |(row, m): (&[f64], &f64)| m * pair_weights.weight(cos * row[0] + sin * row[1]);
            numbers.push(x.rows().zip(x.masses()).map(weight).sum());
        }
        Ok(json!({"points": numbers.len()}))
    }
}

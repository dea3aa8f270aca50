//! The engine: one run, and what is shown of it.

use crate::forecast;
use crate::settings::Settings;
use metastable::attention::kernel::EXACT;
use metastable::flow::{Run, Splitting, Walk, begin, begin_walk, clusters_within};
use metastable::prelude::*;
use metastable::{Error, Result};
use serde_json::{Value, json};

/// Points of the curve around the circle.
const CURVE: usize = 360;

/// A run on its way, if one was begun.
#[derive(Default)]
pub struct Engine {
    settings: Settings,
    run: Option<Run<'static, 'static, 'static>>,
    /// Where clusters were counted last: the number of tokens and of steps.
    ended: Option<String>,
}

impl Engine {
    /// Answers a request: `begin` with settings, `go` with a number of steps, `curve`, `velocity`, `forecast`, `theory`.
    pub fn answer(&mut self, request: &[u8], numbers: &mut Vec<f64>) -> Result<Value> {
        let wrong = |what: String| Error::Parameter { name: "request".into(), found: what, expected: "JSON of the page".into() };
        let request: Value = serde_json::from_slice(request).map_err(|e| wrong(e.to_string()))?;
        match request["ask"].as_str() {
            Some("begin") => {
                let settings = serde_json::from_value(request["settings"].clone()).map_err(|e| wrong(e.to_string()))?;
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
                let velocity = self.settings.dynamics(EXACT)?.velocity(&x);
                numbers.extend(velocity);
                Ok(json!({"n": x.n(), "d": x.d()}))
            }
            Some("forecast") => Ok(forecast::of(&self.settings, self.run()?.tokens(), self.run()?.t())),
            Some("theory") => Ok(forecast::theory(&self.settings, &self.settings.start()?)),
            other => Err(wrong(format!("{other:?}"))),
        }
    }

    fn run(&self) -> Result<&Run<'static, 'static, 'static>> {
        let nothing = || Error::Parameter { name: "run".into(), found: "nothing".into(), expected: "a run that was begun".into() };
        self.run.as_ref().ok_or_else(nothing)
    }

    /// A run borrows its dynamics, options and noise: they stay for good, some hundred bytes a run.
    fn begin(&mut self, settings: Settings) -> Result<()> {
        let start = settings.start()?;
        let dynamics = &*Box::leak(Box::new(settings.dynamics(settings.accuracy())?));
        let run = match settings.noise()? {
            Some(noise) => {
                let (noise, options) = (&*Box::leak(Box::new(noise)), &*Box::leak(Box::new(Walk::options())));
                let walk = Walk { noise, step: settings.step, seed: settings.seed, splitting: Splitting::Strang, cancel: None };
                begin_walk(dynamics, &start, settings.t_end, &walk, options, &mut [])?
            }
            None => {
                let options = Options { rtol: settings.rtol, max_steps: 1_000_000, ..Options::default() }.validated()?;
                begin(dynamics, &start, settings.t_end, Box::leak(Box::new(options)), &mut [])?
            }
        };
        (self.settings, self.run, self.ended) = (settings, Some(run), None);
        Ok(())
    }

    fn go(&mut self, steps: u64) -> Result<()> {
        self.run()?;
        if let Some(run) = &mut self.run {
            self.ended = run.go(steps)?.map(ToString::to_string);
        }
        Ok(())
    }

    /// What is seen now. Numbers: coordinates, masses, for every initial token its row, for every row its cluster.
    fn frame(&self, numbers: &mut Vec<f64>) -> Result<Value> {
        let (run, beta) = (self.run()?, self.settings.beta);
        let x = run.tokens();
        let (clusters, map) = clusters_within(x, forecast::radius(beta));
        numbers.extend_from_slice(x.coordinates());
        numbers.extend_from_slice(x.masses());
        numbers.extend(run.labels().iter().map(|l| *l as f64));
        numbers.extend(map.iter().map(|c| *c as f64));
        let stats = run.stats();
        Ok(json!({
            "t": run.t(), "n": x.n(), "d": x.d(), "start": run.labels().len(),
            "clusters": clusters.n(),
            "energy": Energy::new(beta, EnergyScale::Unit).log_value(x)?.exp(),
            "steps": stats.steps, "rejected": stats.rejected, "ended": self.ended,
        }))
    }

    /// The field of tokens on the circle, `sum m_j e^{beta (cos - 1)}` all around: asked once a picture, since it costs as much as several velocities.
    fn curve(&self, numbers: &mut Vec<f64>) -> Result<Value> {
        let (x, beta) = (self.run()?.tokens(), self.settings.beta);
        for k in 0..if x.d() == 2 { CURVE } else { 0 } {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / CURVE as f64).sin_cos();
            let pull = |(row, m): (&[f64], &f64)| m * (beta * (cos * row[0] + sin * row[1] - 1.0)).exp();
            numbers.push(x.rows().zip(x.masses()).map(pull).sum());
        }
        Ok(json!({"points": numbers.len()}))
    }
}

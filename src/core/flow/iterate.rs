//! Layers: steps without an error, of one system or of many in lanes.

use super::clock::{Clock, StepRule};
use super::control::Options;
use super::mover::Mover;
use super::observable::{Frame, Observer, Recorder};
use super::ode_system::{OdeSystem, Steps};
use super::run::{ROUNDED, Run};
use super::stepper::Stepper;
use crate::attention::kernel::{Attention, Batch, Choice, Workspace};
use crate::attention::{Dynamics, layer::Layer};
use crate::error::{Error, Result, show};
use crate::num::aligned::Aligned;
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// Applies `layers` layers; layer k is observed at time `k * dt` (the depth itself for mean shift, `dt = 1`). Returns the last tokens
/// and the number of layers done (fewer only when cancelled).
///
/// **Errors** an algorithm of the kernel sums asked for by name that cannot do fields, or cannot keep the accuracy; a `dt` that is not positive.
pub fn iterate(
    dynamics: &Dynamics,
    start: &Tokens,
    layer: Layer,
    layers: usize,
    dt: f64,
    cancel: Option<&AtomicBool>,
    observers: &mut [&mut dyn Observer],
) -> Result<(Tokens, usize)> {
    dynamics.accepts(start)?;
    for sublayer in &dynamics.sublayers {
        sublayer.algorithm(start, dynamics.normalisation.layer_form())?;
    }
    let options = Options { merge_radius: 0.0, ..Options::default() };
    let steps =
        Steps { clock: depth(layers, dt)?, rule: StepRule::FREE, stepper: Mover::only(Box::new(Layers::new(dynamics, layer, start))) };
    let mut run = Run::new(dynamics, start, steps, &options, cancel, observers)?;
    run.begin()?;
    run.go(u64::MAX)?;
    let end = run.finish();
    Ok((end.clusters, end.stats.steps as usize))
}

/// The clock of so many layers. **Errors** a time between them that is not positive.
fn depth(layers: usize, dt: f64) -> Result<Clock> {
    if dt > 0.0 {
        return Ok(Clock::new(layers as f64 * dt, dt, &[]));
    }
    Err(Error::parameter("dt", show(dt), "a positive time between layers"))
}

/// A layer as a step: nobody asks how long it is.
struct Layers<'a> {
    dynamics: &'a Dynamics,
    layer: Layer,
    x: Tokens,
    scratch: Aligned<f64>,
    work: Workspace,
}

impl<'a> Layers<'a> {
    fn new(dynamics: &'a Dynamics, layer: Layer, start: &Tokens) -> Self {
        let mut scratch = Aligned::default();
        scratch.reset(start.coordinates().len());
        Self { dynamics, layer, x: start.clone(), scratch, work: Workspace::default() }
    }
}

impl Stepper for Layers<'_> {
    fn step(&mut self, _: &mut dyn OdeSystem, t: f64, y: &[f64], _: f64, end: &mut [f64]) -> Result<f64> {
        self.x.numbers_mut().copy_from_slice(y);
        self.layer.step(self.dynamics, t, &mut self.x, &mut self.work, &mut self.scratch);
        end.copy_from_slice(self.x.numbers());
        Ok(0.0)
    }
}

/// Systems of this dimension worth moving in one call: lanes are to be full where systems go in lanes, threads to be busy elsewhere.
pub fn together(d: usize) -> usize {
    if d <= Batch::LARGEST_D { 64 } else { 8 }
}

/// Moves many systems of the same shape through the same layers; each recorder sees its own system. Systems end as their last tokens.
/// Returns the layers done. Small systems of attention, with heads that may change from layer to layer, go in batches, one per lane: every system's
/// arithmetic is its own, so results do not depend on its companions.
///
/// **Errors** as [`iterate`].
pub fn iterate_many(
    dynamics: &Dynamics,
    systems: &mut [Tokens],
    layer: Layer,
    layers: usize,
    dt: f64,
    cancel: Option<&AtomicBool>,
    recorders: &mut [Recorder],
) -> Result<usize> {
    let suits = |a: &Attention| systems.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    // What does not know the time is looked at once.
    let depths = if dynamics.facts().autonomous { 1 } else { layers };
    let together = (0..depths).all(|k| dynamics.attention_at(k as f64 * dt).is_some_and(|a| suits(&a)));
    let first = if together { dynamics.attention_at(0.0) } else { None };
    let Some(batch) = first.and_then(|a| Batch::new(systems, a.level)) else {
        let mut least = layers;
        for (system, recorder) in systems.iter_mut().zip(recorders) {
            let (end, done) = iterate(dynamics, system, layer, layers, dt, cancel, &mut [recorder])?;
            (*system, least) = (end, least.min(done));
        }
        return Ok(least);
    };
    let labels: Vec<usize> = (0..systems[0].n()).collect();
    // Recorders of one call have the same times and observables.
    let together = recorders.first().and_then(Recorder::batched);
    let mut stack = Stack { dynamics, eta: layer.eta(), batch, systems, recorders, labels, together, values: Vec::new() };
    let mut clock = depth(layers, dt)?;
    stack.observe(0.0);
    clock.march(cancel, |t, end, _| {
        let attention = dynamics.attention_at(t);
        let attention = attention.ok_or_else(|| Error::parameter("layers", "one that is no attention", "attention in every layer"))?;
        stack.batch.layer(&attention, stack.eta);
        stack.observe(end);
        Ok(())
    })?;
    let Stack { batch, systems, .. } = stack;
    systems.iter_mut().enumerate().for_each(|(i, system)| batch.read(i, system));
    Ok(clock.stats.steps as usize)
}

/// Many systems in lanes that go through layers at one clock.
struct Stack<'a> {
    dynamics: &'a Dynamics,
    eta: f64,
    batch: Batch,
    systems: &'a mut [Tokens],
    recorders: &'a mut [Recorder],
    labels: Vec<usize>,
    together: Option<fn(&Batch, &mut Vec<f64>)>,
    values: Vec<f64>,
}

impl Stack<'_> {
    /// Shows every system to its recorder when it is due.
    fn observe(&mut self, t: f64) {
        let due = |recorder: &Recorder| recorder.next_time().is_some_and(|s| s <= t * (1.0 + ROUNDED));
        if let Some(measure) = self.together {
            if due(&self.recorders[0]) {
                self.values.clear();
                measure(&self.batch, &mut self.values);
                let columns = self.values.len() / self.batch.len();
                self.recorders.iter_mut().zip(self.values.chunks_exact(columns)).for_each(|(recorder, row)| recorder.book(t, row));
            }
            return;
        }
        let work = RefCell::new(Workspace::default());
        for (i, (system, recorder)) in self.systems.iter_mut().zip(&mut *self.recorders).enumerate().filter(|(_, (_, r))| due(r)) {
            self.batch.read(i, system);
            recorder.observe(&Frame { t, tokens: system, labels: &self.labels, dynamics: self.dynamics, work: &work, merge_radius: 0.0 });
        }
    }
}

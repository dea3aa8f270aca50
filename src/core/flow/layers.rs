//! Discrete layers as steps of given length, for one system or for many systems in lanes.

use super::integrate::{ControlledStepper, OdeSystem};
use super::observable::{Frame, Observer, Recorder};
use super::options::Options;
use super::run::{Run, TIME_ROUNDING};
use super::step_control::{ErrorControl, StepController};
use super::stepper::Stepper;
use super::stiff_switch::AutoSwitch;
use crate::attention::kernel::{Batch, BatchField, Workspace};
use crate::attention::{Dynamics, layer::Layer};
use crate::error::{Error, Result, format_number};
use crate::num::aligned::AlignedVec;
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// Applies `layers` layers. Layer k is observed at time `k * dt` (`dt = 1` for mean shift: the time
/// is then the depth). Returns the last tokens and the number of layers done, which is smaller only
/// if cancelled.
///
/// **Errors** a kernel chosen by name that cannot evaluate fields or cannot keep the accuracy; a
/// `dt` that is not positive.
pub fn apply_layers(
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
    let steps = ControlledStepper {
        controller: layer_controller(layers, dt)?,
        error_control: ErrorControl::NONE,
        stepper: AutoSwitch::explicit_only(Box::new(LayerStepper::new(dynamics, layer, start))),
    };
    let mut run = Run::new(dynamics, start, steps, &options, cancel, observers)?;
    run.start_or_resume()?;
    run.advance(u64::MAX)?;
    let end = run.finish();
    Ok((end.clusters, end.stats.steps as usize))
}

/// The step controller for `layers` layers. **Errors** a time `dt` between layers that is not
/// positive.
fn layer_controller(layers: usize, dt: f64) -> Result<StepController> {
    if dt > 0.0 {
        return Ok(StepController::new(layers as f64 * dt, dt, &[]));
    }
    Err(Error::parameter("dt", format_number(dt), "a positive time between layers"))
}

/// A layer as a step.
struct LayerStepper<'a> {
    dynamics: &'a Dynamics,
    layer: Layer,
    x: Tokens,
    scratch: AlignedVec<f64>,
    work: Workspace,
}

impl<'a> LayerStepper<'a> {
    fn new(dynamics: &'a Dynamics, layer: Layer, start: &Tokens) -> Self {
        let mut scratch = AlignedVec::default();
        scratch.reset(start.coordinates().len());
        Self { dynamics, layer, x: start.clone(), scratch, work: Workspace::default() }
    }
}

impl Stepper for LayerStepper<'_> {
    fn step(
        &mut self,
        _: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
        _: f64,
        end: &mut [f64],
    ) -> Result<f64> {
        self.x.numbers_mut().copy_from_slice(y);
        self.layer.step(self.dynamics, t, &mut self.x, &mut self.work, &mut self.scratch);
        end.copy_from_slice(self.x.numbers());
        Ok(0.0)
    }
}

/// Number of systems of this dimension that should be advanced in one call: it fills the vector
/// lanes if systems run in lanes, and keeps the threads busy otherwise.
pub fn preferred_batch(d: usize) -> usize {
    if d <= BatchField::MAX_D { 64 } else { 8 }
}

/// Applies the same layers to many systems of the same shape; each recorder sees its own system.
/// Every system is replaced by its last tokens. Returns the number of layers done.
///
/// Small systems of attention, with heads that may change from layer to layer, run in batches, one
/// system per lane. The arithmetic of every system is independent of the others, so results do not
/// depend on the batch.
///
/// **Errors** as [`apply_layers`].
pub fn apply_layers_many(
    dynamics: &Dynamics,
    systems: &mut [Tokens],
    layer: Layer,
    layers: usize,
    dt: f64,
    cancel: Option<&AtomicBool>,
    recorders: &mut [Recorder],
) -> Result<usize> {
    let shape = systems.first().map_or((0, 0), |s| (s.n(), s.d()));
    let equal_masses = systems.iter().all(|s| s.uniform_mass().is_some());
    // A dynamics that does not depend on time is examined once.
    let distinct_layers = if dynamics.properties().autonomous { 1 } else { layers };
    let field_at = |t: f64| dynamics.batch_field_at(t, shape);
    let together = equal_masses && (1..distinct_layers).all(|k| field_at(k as f64 * dt).is_some());
    let first = if together { field_at(0.0) } else { None };
    let Some(batch) = first.and_then(|f| Batch::new(systems, f.isa())) else {
        let mut least = layers;
        for (system, recorder) in systems.iter_mut().zip(recorders) {
            let (end, done) =
                apply_layers(dynamics, system, layer, layers, dt, cancel, &mut [recorder])?;
            (*system, least) = (end, least.min(done));
        }
        return Ok(least);
    };
    let labels: Vec<usize> = (0..systems[0].n()).collect();
    // All recorders of one call have the same times and observables.
    let measure = recorders.first().and_then(Recorder::batch_measure);
    let mut batch_run = LayerBatch {
        dynamics,
        eta: layer.eta(),
        batch,
        systems,
        recorders,
        labels,
        measure,
        values: Vec::new(),
    };
    let mut controller = layer_controller(layers, dt)?;
    batch_run.observe(0.0);
    controller.run_fixed_steps(cancel, |t, end, _| {
        let field = field_at(t).ok_or_else(|| {
            Error::parameter("layers", "a layer without attention", "attention in every layer")
        })?;
        batch_run.batch.apply_layer(&field, batch_run.eta);
        batch_run.observe(end);
        Ok(())
    })?;
    let LayerBatch { batch, systems, .. } = batch_run;
    systems.iter_mut().enumerate().for_each(|(i, system)| batch.read(i, system));
    Ok(controller.stats.steps as usize)
}

/// Many systems in lanes that pass through layers together.
struct LayerBatch<'a> {
    dynamics: &'a Dynamics,
    eta: f64,
    batch: Batch,
    systems: &'a mut [Tokens],
    recorders: &'a mut [Recorder],
    labels: Vec<usize>,
    measure: Option<fn(&Batch, &mut Vec<f64>)>,
    values: Vec<f64>,
}

impl LayerBatch<'_> {
    /// Shows every system to its recorder if a sample is due.
    fn observe(&mut self, t: f64) {
        let due = |recorder: &Recorder| {
            recorder.next_time().is_some_and(|s| s <= t * (1.0 + TIME_ROUNDING))
        };
        if let Some(measure) = self.measure {
            if due(&self.recorders[0]) {
                self.values.clear();
                measure(&self.batch, &mut self.values);
                let columns = self.values.len() / self.batch.len();
                self.recorders
                    .iter_mut()
                    .zip(self.values.chunks_exact(columns))
                    .for_each(|(recorder, row)| recorder.push_row(t, row));
            }
            return;
        }
        let work = RefCell::new(Workspace::default());
        for (i, (system, recorder)) in self
            .systems
            .iter_mut()
            .zip(&mut *self.recorders)
            .enumerate()
            .filter(|(_, (_, r))| due(r))
        {
            self.batch.read(i, system);
            recorder.observe(&Frame {
                t,
                tokens: system,
                labels: &self.labels,
                dynamics: self.dynamics,
                work: &work,
                merge_radius: 0.0,
            });
        }
    }
}

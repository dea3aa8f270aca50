use super::observable::{Frame, Observer, Recorder};
use crate::attention::kernel::{Attention, Batch, Choice, Workspace, in_a_row};
use crate::attention::{Dynamics, layer::Layer};
use crate::error::Result;
use crate::num::aligned::Aligned;
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Applies `layers` layers; layer k is observed at time `k * dt` (the depth itself for mean shift, `dt = 1`). Returns the last tokens
/// and the number of layers done (fewer only when cancelled).
///
/// **Errors** an algorithm of the kernel sums asked for by name that cannot do fields, or cannot keep the accuracy.
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
    Ok(in_a_row(start, || {
        let mut x = start.clone();
        let mut scratch = Aligned::default();
        scratch.reset(x.coordinates().len());
        let labels: Vec<usize> = (0..x.n()).collect();
        let work = RefCell::new(Workspace::default());
        for k in 0..=layers {
            let t = k as f64 * dt;
            for observer in observers.iter_mut() {
                // A sample is due at the first layer whose time is not before it (up to rounding of k dt).
                let due = observer.next_time().is_some_and(|s| s <= t * (1.0 + 1e-12));
                if due || observer.every_step() {
                    observer.observe(&Frame { t, tokens: &x, labels: &labels, dynamics, work: &work, merge_radius: 0.0 });
                }
            }
            if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                return (x, k);
            }
            if k < layers {
                layer.step(dynamics, t, &mut x, &mut work.borrow_mut(), &mut scratch);
            }
        }
        (x, layers)
    }))
}

/// Systems of this dimension worth moving in one call: lanes are to be full where systems go in lanes, threads to be busy elsewhere.
pub fn together(d: usize) -> usize {
    if d <= Batch::LARGEST_D { 64 } else { 8 }
}

/// Moves many systems of the same shape through the same layers; each recorder sees its own system. Systems end as their last tokens.
/// Returns the layers done. Small systems of plain attention go in batches, one per lane: every system's arithmetic is its own, so results do
/// not depend on its companions.
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
    let suits = |a: &&Attention| systems.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    let plain = dynamics.attention().filter(suits);
    let Some((attention, mut batch)) = plain.and_then(|a| Some((a, Batch::new(systems, a.level)?))) else {
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
    let mut values = Vec::new();
    let mut done = 0;
    for k in 0..=layers {
        let t = k as f64 * dt;
        if let Some(measure) = together {
            if recorders[0].next_time().is_some_and(|s| s <= t * (1.0 + 1e-12)) {
                values.clear();
                measure(&batch, &mut values);
                let columns = values.len() / batch.len();
                recorders.iter_mut().zip(values.chunks_exact(columns)).for_each(|(recorder, row)| recorder.book(t, row));
            }
        } else {
            observe_each(&batch, t, systems, recorders, &labels, dynamics);
        }
        done = k;
        if k == layers || cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            break;
        }
        batch.layer(attention, layer.eta());
    }
    systems.iter_mut().enumerate().for_each(|(i, system)| batch.read(i, system));
    Ok(done)
}

/// Shows every system to its recorder when it is due.
fn observe_each(batch: &Batch, t: f64, systems: &mut [Tokens], recorders: &mut [Recorder], labels: &[usize], dynamics: &Dynamics) {
    let work = RefCell::new(Workspace::default());
    for (i, (system, recorder)) in systems.iter_mut().zip(recorders).enumerate() {
        if recorder.next_time().is_some_and(|s| s <= t * (1.0 + 1e-12)) {
            batch.read(i, system);
            recorder.observe(&Frame { t, tokens: system, labels, dynamics, work: &work, merge_radius: 0.0 });
        }
    }
}

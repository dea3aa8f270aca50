//! Buffers that live as long as their thread, so that a step allocates nothing after the first.

use super::blocks::{Block, Blocks};
use super::choice::{Job, Kernel};
use super::fourier::Moments;
use super::gram::Gram;
use super::harmonics::Table;
use super::hessian::Buffers;
use super::panels::Panels;
use super::rows::{Images, Scratch};
use crate::num::aligned::Aligned;
use crate::num::simd::{Float, Level};
use crate::sphere::Tokens;
use std::cell::Cell;

/// What every algorithm returns: per token `z_i = sum_j m_j w_ij` with `w_ij = e^{beta G_ij - |beta|}`, and the drift.
#[derive(Default)]
pub struct Sums {
    /// `sum_j m_j w_ij x_j - sigma z_i x_i`, up to multiples of `x_i` when the job said `far`; n x d, row-major.
    pub drift: Vec<f64>,
    /// `z_i`.
    pub mass: Vec<f64>,
    /// Absolute error of a drift row (beyond its relative rounding), in units of `z_i`.
    pub per_mass: f64,
    /// Absolute error of a drift row and of a mass, in units of the total mass.
    pub absolute: f64,
    /// A mass below this may have lost its largest weights to underflow: such rows are evaluated again.
    pub floor: f64,
}

impl Sums {
    /// Error per mass, absolute error, floor.
    pub(super) fn bounds(&self) -> [f64; 3] {
        [self.per_mass, self.absolute, self.floor]
    }

    /// Room for n tokens, exact until told otherwise.
    pub(super) fn reset(&mut self, n: usize, d: usize) {
        self.drift.resize(n * d, 0.0);
        self.mass.resize(n, 0.0);
        (self.per_mass, self.absolute, self.floor) = (0.0, 0.0, 1e-200);
    }
}

/// All buffers of one thread.
#[derive(Default)]
pub struct Workspace {
    pub(super) sums: Sums,
    pub(super) images: Vec<Images>,
    pub(super) doubtful: Vec<usize>,
    /// The same of the second half of the rows.
    pub(super) more: Vec<usize>,
    pub(super) blocks: Blocks<f64>,
    pub(super) panels: Panels<f64>,
    pub(super) moments: Moments,
    pub(super) harmonic: Table,
    pub(super) gram: Gram,
    /// Inner products of a few rows.
    pub(super) strip: Aligned<f64>,
    pub(super) hessian: Buffers,
    pub(super) single: Blocks<f32>,
    pub(super) single_panels: Panels<f32>,
}

thread_local! {
    static WORKSPACE: Cell<Option<Box<Workspace>>> = const { Cell::new(None) };
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Lends this thread's workspace (a new one to a call inside a call).
pub(super) fn with_workspace<R>(work: impl FnOnce(&mut Workspace) -> R) -> R {
    let mut space = WORKSPACE.take().unwrap_or_default();
    let result = work(&mut space);
    WORKSPACE.set(Some(space));
    result
}

/// Lends this thread's row.
pub(super) fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let result = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

impl<F: Float> Blocks<F> {
    /// Writes the sums of all blocks, in units of mass.
    pub(super) fn store(&self, unit: f64, sums: &mut Sums) {
        let (d, cap) = (self.d, self.cap);
        for Block { start, len, sums: found, .. } in &self.list {
            let out = &mut sums.drift[start * d..(start + len) * d];
            for (k, column) in found.chunks_exact(cap).take(d).enumerate() {
                out.chunks_exact_mut(d).zip(column).for_each(|(row, s)| row[k] = unit * s.to_f64());
            }
            sums.mass[*start..start + len].iter_mut().zip(&found[d * cap..]).for_each(|(o, s)| *o = unit * s.to_f64());
        }
    }
}

/// The exact sums of plain attention (near and far tokens apart) for the use of energies.
pub fn unnormalised<R>(beta: f64, x: &Tokens, read: impl FnOnce(&Sums) -> R) -> R {
    with_workspace(|space| {
        let job = Job { tokens: x, beta, causal: false, far: true, level: Level::best(), accuracy: 0.0 };
        super::direct::DIRECT.sums(&job, space);
        read(&space.sums)
    })
}

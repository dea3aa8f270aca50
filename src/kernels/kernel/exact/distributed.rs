//! Distributed evaluation: blocks of target rows, each summed over all blocks of sources in a fixed
//! order. Any number of processes gets bitwise the same result.
//!
//! Every process holds all tokens, evaluates its share of the rows, and sends these rows to the
//! others. No sum is split between processes, so its order depends on n and d only.

use super::direct::Tiles;
use super::reference;
use crate::kernel::algorithm::Kernel;
use crate::kernel::epilogue::apply_epilogue_to_rows;
use crate::kernel::flagged_rows::FlaggedRows;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::{Block, Blocks, Source, layout};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::AlignedVec;
use rayon::prelude::*;
use std::ops::Range;

/// The processes that share the rows of every evaluation. All hold the same tokens.
pub trait Communicator: Send + Sync {
    /// Number of processes.
    fn size(&self) -> usize;
    /// Index of this process, from 0.
    fn rank(&self) -> usize;
    /// Completes `numbers` on every process. Process k contributes the range from `ends[k - 1]` (0
    /// for k = 0) to `ends[k]`.
    fn gather(&self, numbers: &mut [f64], ends: &[usize]);
}

/// A communicator with one process.
struct SingleProcess;

impl Communicator for SingleProcess {
    fn size(&self) -> usize {
        1
    }

    fn rank(&self) -> usize {
        0
    }

    fn gather(&self, _: &mut [f64], _: &[usize]) {}
}

/// The distributed kernel.
pub struct Distributed(&'static dyn Communicator);

impl Distributed {
    /// The kernel for these processes.
    pub fn new(communicator: &'static dyn Communicator) -> Self {
        Self(communicator)
    }
}

/// The kernel for one process, bitwise equal to that of any number of processes.
pub static SINGLE_PROCESS: Distributed = Distributed(&SingleProcess);

/// Largest number of tokens in a block.
const BLOCK: usize = 256;

impl Distributed {
    /// Row at which the share of each process ends. Shares are whole blocks. For causal sums the
    /// work grows with the row, so shares have equal areas of the triangle.
    fn share_ends(&self, problem: &KernelProblem, ends: &mut Vec<usize>) {
        let n = problem.tokens.n();
        let (count, cap) = layout(n, BLOCK, 1);
        let size = self.0.size();
        let share = |k: usize| {
            let part = k as f64 / size as f64;
            let blocks = count as f64 * if problem.causal { part.sqrt() } else { part };
            (blocks.round() as usize * cap).min(n)
        };
        ends.clear();
        ends.extend((1..=size).map(|k| if k == size { n } else { share(k) }));
    }
}

impl Kernel for Distributed {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn summary(&self) -> &'static str {
        "rows distributed over processes, bitwise the same for any number of them; n^2 exponentials"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        problem.not_exponential()
    }

    fn supports_any_heads(&self) -> bool {
        true
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        reference::ROWS.cost(problem)
    }

    fn error_bound(&self, _: &KernelProblem) -> f64 {
        0.0
    }

    fn evaluate(
        &self,
        problem: &KernelProblem,
        work: &mut Workspace,
        out: &mut [f64],
        _: &mut FlaggedRows,
    ) {
        let d = problem.tokens.d();
        let mut lists = std::mem::take(work.buffers::<Lists>());
        self.share_ends(problem, &mut lists.ends);
        let (ends, rank) = (&mut lists.ends, self.0.rank());
        let own = if rank == 0 { 0 } else { ends[rank - 1] }..ends[rank];
        let part = &mut out[own.start * d..own.end * d];
        if problem.is_plain() && d <= 4 {
            lists.flagged.clear();
            plain_rows(problem, work, own.clone(), part, (&mut lists.computed, &mut lists.flagged));
            reference::selected_rows(problem, work, &lists.flagged, &mut |i, row| {
                part[(i - own.start) * d..][..d].copy_from_slice(row)
            });
        } else {
            reference::row_range(problem, work, own, part);
        }
        ends.iter_mut().for_each(|e| *e *= d);
        self.0.gather(out, ends);
        *work.buffers() = lists;
    }
}

/// Lists reused from call to call.
#[derive(Default)]
struct Lists {
    /// Row (later: number) at which the share of each process ends.
    ends: Vec<usize>,
    /// Flagged rows.
    flagged: Vec<usize>,
    /// Blocks of this process with their sums.
    computed: Vec<(usize, AlignedVec<f64>)>,
}

/// Buffers reused from call to call.
#[derive(Default)]
struct Buffers {
    blocks: Blocks,
    sums: Sums,
}

/// Evaluates the rows `own` of a plain problem and lists those to recompute.
fn plain_rows(
    problem: &KernelProblem,
    work: &mut Workspace,
    own: Range<usize>,
    out: &mut [f64],
    (computed, flagged): (&mut Vec<(usize, AlignedVec<f64>)>, &mut Vec<usize>),
) {
    let Buffers { blocks, sums } = work.buffers();
    let (n, d) = (problem.tokens.n(), problem.tokens.d());
    blocks.load(problem.tokens, layout(n, BLOCK, 1));
    let (tiles, parallel) = (Tiles::new(problem, blocks), problem.parallel());
    let is_own = |b: &Block| b.len > 0 && own.contains(&b.start);
    computed.extend(
        blocks
            .list
            .iter_mut()
            .enumerate()
            .filter(|(_, b)| is_own(b))
            .map(|(k, b)| (k, std::mem::take(&mut b.sums))),
    );
    let list = &blocks.list;
    let one = |(k, sums): &mut (usize, AlignedVec<f64>)| {
        let target = &list[*k];
        for source in &list[..if problem.causal { *k + 1 } else { list.len() }] {
            let masked = problem.causal && source.start == target.start;
            tiles.gather(
                &target.x,
                sums,
                Source { x: &source.x, m: &source.m, len: source.len },
                masked,
            );
        }
    };
    if parallel {
        computed.par_iter_mut().for_each(one);
    } else {
        computed.iter_mut().for_each(one);
    }
    sums.reset(problem);
    for (k, computed) in computed.drain(..) {
        let block = &mut blocks.list[k];
        block.sums = computed;
        let unit = problem.tokens.uniform_mass().unwrap_or(1.0);
        block.store(
            d,
            unit,
            &mut out[(block.start - own.start) * d..],
            &mut sums.mass[block.start..],
        );
    }
    apply_epilogue_to_rows(problem, sums, own, out, flagged);
}

//! Blocks of targets, each summed over all blocks of sources in the order of their numbers: what several processes can share with equal bytes.
//!
//! Every process knows all tokens, evaluates its share of the blocks and hands its rows to the others. A sum never crosses from one process to another, so its
//! order, and with it every bit, depends on n and d alone.

use super::direct::{Source, Tiles};
use super::rows;
use crate::kernel::close::sums::close_rows;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Job, Kernel};
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::{Block, Blocks, layout};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::Aligned;
use rayon::prelude::*;
use std::ops::Range;

/// Processes that share the rows of every evaluation, all of them with the same tokens.
pub trait Company: Send + Sync {
    /// How many there are.
    fn size(&self) -> usize;
    /// The number of this one, from 0.
    fn rank(&self) -> usize;
    /// Completes `numbers`, of which process k holds those from `ends[k - 1]` (0 for the first) to `ends[k]`.
    fn gather(&self, numbers: &mut [f64], ends: &[usize]);
}

/// One process.
struct Alone;

impl Company for Alone {
    fn size(&self) -> usize {
        1
    }

    fn rank(&self) -> usize {
        0
    }

    fn gather(&self, _: &mut [f64], _: &[usize]) {}
}

/// The algorithm, for this company.
pub struct Shared(&'static dyn Company);

impl Shared {
    /// For these processes.
    pub fn among(company: &'static dyn Company) -> Self {
        Self(company)
    }
}

/// For one process alone: the bytes that any number of them makes together.
pub static ALONE: Shared = Shared(&Alone);

/// Tokens of a block.
const BLOCK: usize = 256;

impl Shared {
    /// The rows where the shares of all processes end: whole blocks; of causal sums, which grow with the row, by the areas of their triangles.
    fn ends(&self, job: &Job, ends: &mut Vec<usize>) {
        let n = job.tokens.n();
        let (count, cap) = layout(n, BLOCK, 1);
        let size = self.0.size();
        let share = |k: usize| {
            let part = k as f64 / size as f64;
            let place = count as f64 * if job.causal { part.sqrt() } else { part };
            (place.round() as usize * cap).min(n)
        };
        ends.clear();
        ends.extend((1..=size).map(|k| if k == size { n } else { share(k) }));
    }
}

impl Kernel for Shared {
    fn name(&self) -> &'static str {
        "blocks"
    }

    fn summary(&self) -> &'static str {
        "blocks of rows over blocks of sources, as several processes share them; n^2 exponentials"
    }

    fn refuses(&self, _: &Job) -> Option<&'static str> {
        None
    }

    fn any_heads(&self) -> bool {
        true
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn cost(&self, job: &Job) -> f64 {
        rows::ROWS.cost(job)
    }

    fn error(&self, _: &Job) -> f64 {
        0.0
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], _: &mut Doubtful) {
        let d = job.tokens.d();
        let mut lists = std::mem::take(work.of::<Lists>());
        self.ends(job, &mut lists.ends);
        let (ends, rank) = (&mut lists.ends, self.0.rank());
        let own = if rank == 0 { 0 } else { ends[rank - 1] }..ends[rank];
        let part = &mut out[own.start * d..own.end * d];
        if job.is_plain() && d <= 4 {
            lists.again.clear();
            tiles(job, work, own.clone(), part, (&mut lists.found, &mut lists.again));
            rows::some(job, work, &lists.again, &mut |i, row| part[(i - own.start) * d..][..d].copy_from_slice(row));
        } else {
            rows::range(job, work, own, part);
        }
        ends.iter_mut().for_each(|e| *e *= d);
        self.0.gather(out, ends);
        *work.of() = lists;
    }
}

/// Lists of an evaluation.
#[derive(Default)]
struct Lists {
    /// Where the rows of every process end.
    ends: Vec<usize>,
    /// Rows to be evaluated again.
    again: Vec<usize>,
    /// Blocks of this process with their sums.
    found: Vec<(usize, Aligned<f64>)>,
}

/// Buffers of an evaluation.
#[derive(Default)]
struct Buffers {
    blocks: Blocks,
    sums: Sums,
}

/// The rows `own` of a plain job; those that are to be evaluated again.
fn tiles(
    job: &Job,
    work: &mut Workspace,
    own: Range<usize>,
    out: &mut [f64],
    (found, again): (&mut Vec<(usize, Aligned<f64>)>, &mut Vec<usize>),
) {
    let Buffers { blocks, sums } = work.of();
    let (n, d) = (job.tokens.n(), job.tokens.d());
    blocks.load(job.tokens, layout(n, BLOCK, 1));
    let (tiles, parallel) = (Tiles::new(job, blocks), job.parallel());
    let is_own = |b: &Block| b.len > 0 && own.contains(&b.start);
    found.extend(blocks.list.iter_mut().enumerate().filter(|(_, b)| is_own(b)).map(|(k, b)| (k, std::mem::take(&mut b.sums))));
    let list = &blocks.list;
    let one = |(k, sums): &mut (usize, Aligned<f64>)| {
        let target = &list[*k];
        for source in &list[..if job.causal { *k + 1 } else { list.len() }] {
            let masked = job.causal && source.start == target.start;
            tiles.gather(&target.x, sums, Source { x: &source.x, m: &source.m, len: source.len }, masked);
        }
    };
    if parallel {
        found.par_iter_mut().for_each(one);
    } else {
        found.iter_mut().for_each(one);
    }
    sums.reset(job);
    for (k, found) in found.drain(..) {
        let block = &mut blocks.list[k];
        block.sums = found;
        let unit = job.tokens.uniform_mass().unwrap_or(1.0);
        block.store(d, unit, &mut out[(block.start - own.start) * d..], &mut sums.mass[block.start..]);
    }
    close_rows(job, sums, own, out, again);
}

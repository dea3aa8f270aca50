//! Evaluation in `f32`: the same tiles with twice the lanes and seven digits. Only by name (`--kernel single`), never chosen.

use super::products;
use crate::kernel::close::sums::close;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::exact::direct::block_sums;
use crate::kernel::job::{Job, Kernel};
use crate::kernel::sums::Sums;
use crate::kernel::tiles::{blocks::Blocks, panels::Panels};
use crate::kernel::workspace::Workspace;

/// Sums in `f32`.
pub struct Single;

impl Kernel for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn summary(&self) -> &'static str {
        "f32 tiles, error about (1 + |beta|) 1e-6 of each drift; only when asked for by name"
    }

    fn refuses(&self, job: &Job) -> Option<&'static str> {
        products::too_steep(job, 0.5 * f64::from(f32::EPSILON))
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn cost(&self, job: &Job) -> f64 {
        0.5 * products::Products.cost(job)
    }

    fn error(&self, job: &Job) -> f64 {
        products::error(job, 0.5 * f64::from(f32::EPSILON))
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let Buffers { blocks, panels, sums } = work.of();
        if job.tokens.d() > 4 {
            products::sums(job, panels, sums);
        } else {
            block_sums(job, blocks, sums);
        }
        sums.per_mass = self.error(job);
        // Weights below 2^-124 are 0 in f32.
        sums.floor = 1e-25;
        close(job, sums, out, doubtful);
    }
}

/// As for [`crate::kernel::exact::direct`], in `f32`.
#[derive(Default)]
struct Buffers {
    blocks: Blocks<f32>,
    panels: Panels<f32>,
    sums: Sums,
}

//! Evaluation in `f32`: the same tiles with twice the lanes and seven digits. Only by name (`--kernel single`), never chosen.

use super::choice::{Job, Kernel};
use super::direct::{self, Chord};
use super::products;
use super::workspace::Workspace;

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

    fn sums(&self, job: &Job, space: &mut Workspace) {
        if job.tokens.d() > 4 {
            products::sums(job, &mut space.single_panels, &mut space.sums);
        } else {
            let chord = Chord { beta: job.beta, causal: job.causal, far: job.far };
            direct::sums(&chord, job.tokens, &mut space.single, job.level, job.parallel());
            space.sums.reset(job.tokens.n(), job.tokens.d());
            space.single.store(job.tokens.uniform_mass().unwrap_or(1.0), &mut space.sums);
        }
        space.sums.per_mass = self.error(job);
        // Weights below 2^-124 are 0 in f32.
        space.sums.floor = 1e-25;
    }
}

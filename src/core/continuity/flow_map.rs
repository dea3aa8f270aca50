//! Measures on the circle by their flow map: theta(s) is the present position of the mass that
//! started at label s, `d theta/dt = v(theta)`; it carries the logarithm of the density,
//! `d log rho/dt = -div v(theta)`.
//!
//! Masses belong to labels and never change, so a concentrating density needs no extra resolution.
//! Resolution is needed where neighbours separate, between two forming clusters: there the map
//! steepens without bound on fewer and fewer labels. Labels lie on panels of Gauss-Legendre nodes.
//! A panel is halved just before its polynomials stop resolving the map, so both halves are exact
//! to the tolerance. Panels of less mass than the tolerance are not halved: their error is bounded
//! by their mass.

use super::circle::Circle;
use super::density::bump_degree;
use super::evolution::{self, DensityState, evolve};
use super::kernel_panels::KernelPanels;
use super::{
    Evolution, MeasureDynamics, check_non_negative, interpolate_linearly, positive_mass,
    reject_interaction, reject_noise, weighted_mean,
};
use crate::error::{Error, Result, in_range};
use crate::flow::OdeSystem;
use crate::num::fft::Complex64;
use crate::num::panel::{LegendrePanel, NODES, Values};
use crate::num::roots::bisect;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The labels between two angles.
#[derive(Clone, Debug, PartialEq)]
struct Panel {
    /// Angles, not reduced modulo `2 pi`.
    theta: Values,
    /// Initial density at the labels, relative to the uniform measure, times the length of the
    /// panel in turns: half of it is the mass per unit of `x` in [-1, 1].
    start: Values,
    log_density: Values,
}

impl Panel {
    fn mass(&self, rule: &LegendrePanel) -> f64 {
        self.start.iter().zip(&rule.w).map(|(v, w)| 0.5 * v * w).sum()
    }

    /// Mass of the panel times the error of the polynomials of the map and of the log density.
    fn loss(&self, rule: &LegendrePanel) -> f64 {
        self.mass(rule) * (rule.tail(&self.theta) + rule.tail(&self.log_density))
    }

    fn halves(&self, rule: &LegendrePanel) -> [Self; 2] {
        let (theta, start, log) =
            (rule.halves(&self.theta), rule.halves(&self.start), rule.halves(&self.log_density));
        // A density near zero may become negative by rounding.
        std::array::from_fn(|h| Self {
            theta: theta[h],
            start: start[h].map(|v| 0.5 * v.max(0.0)),
            log_density: log[h],
        })
    }
}

/// Resolution of a [`FlowMap`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Initial number of panels.
    pub panels: usize,
    /// A panel is halved when its mass times the error of its polynomials exceeds this.
    pub max_loss: f64,
    /// Relative and absolute tolerance of a step.
    pub tolerances: (f64, f64),
    /// Largest number of particles.
    pub max_particles: usize,
}

impl Resolution {
    /// Panels are halved at 1e-9, the tolerance of steps is 1e-11: negentropies are accurate to
    /// about 1e-8.
    pub const FINE: Self =
        Self { panels: 16, max_loss: 1e-9, tolerances: (1e-11, 1e-13), max_particles: 40_000 };

    /// Thirty times coarser, on other panels: the difference from `FINE` estimates the error of the
    /// latter.
    pub const COARSE: Self =
        Self { panels: 13, max_loss: 3e-8, tolerances: (3e-10, 3e-12), max_particles: 40_000 };
}

/// Particles, labelled by their starting angles, on panels.
pub struct FlowMap {
    panels: Vec<Panel>,
    resolution: Resolution,
    rule: Arc<LegendrePanel>,
}

/// Smallest density: its logarithm is used only in products with the mass.
const MIN_DENSITY: f64 = 1e-300;

/// Modes of the energy of an interaction with kinks.
const MAX_MODES: usize = 1024;

impl FlowMap {
    /// From a density relative to the uniform measure, by angle. Panels end at `breaks` (in
    /// `[0, 2 pi)`, ascending), where the density may have corners.
    ///
    /// **Errors** negative or non-finite values beyond rounding, no mass, a resolution without
    /// panels, a density that needs more than the largest number of particles.
    pub fn new(
        density: impl Fn(f64) -> f64,
        breaks: &[f64],
        resolution: Resolution,
    ) -> Result<Self> {
        in_range("panels", resolution.panels as f64, 1.0, 4096.0)?;
        let rule = Arc::new(LegendrePanel::default());
        let even = (0..=resolution.panels).map(|j| TAU * j as f64 / resolution.panels as f64);
        let mut edges: Vec<f64> =
            even.chain(breaks.iter().copied().filter(|b| *b > 0.0 && *b < TAU)).collect();
        edges.sort_by(f64::total_cmp);
        edges.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        let (mut todo, mut panels) =
            (edges.windows(2).rev().map(|e| (e[0], e[1])).collect::<Vec<_>>(), Vec::new());
        while let Some((from, to)) = todo.pop() {
            let panel = Self::panel(&density, from, to, &rule)?;
            // The initial density must be a polynomial on the panel too, relative to the mass 1.
            if (panel.loss(&rule) > resolution.max_loss
                || rule.tail(&panel.start) > resolution.max_loss)
                && to - from > 1e-12
            {
                let middle = 0.5 * (from + to);
                todo.extend([(middle, to), (from, middle)]);
            } else {
                panels.push(panel);
            }
            if NODES * (panels.len() + todo.len()) > resolution.max_particles {
                let expected =
                    "a density that this number of particles resolves, or more particles";
                return Err(Error::parameter("particles", resolution.max_particles, expected));
            }
        }
        let mass = positive_mass(panels.iter().map(|p| p.mass(&rule)).sum())?;
        for p in &mut panels {
            p.start.iter_mut().for_each(|v| *v /= mass);
            p.log_density.iter_mut().for_each(|v| *v -= mass.ln());
        }
        Ok(Self { panels, resolution, rule })
    }

    fn panel(
        density: &impl Fn(f64) -> f64,
        from: f64,
        to: f64,
        rule: &LegendrePanel,
    ) -> Result<Panel> {
        let theta = rule.x.map(|x| 0.5 * (from + to) + 0.5 * (to - from) * x);
        let values = theta.map(density);
        check_non_negative(&values, 1e-9, |i| format!("theta = {:.6}", theta[i]))?;
        let turns = (to - from) / TAU;
        Ok(Panel {
            theta,
            start: values.map(|v| turns * v.max(0.0)),
            log_density: values.map(|v| v.max(MIN_DENSITY).ln()),
        })
    }

    /// From a Fourier series. **Errors** as [`FlowMap::new`].
    pub fn from_series(density: &Circle, resolution: Resolution) -> Result<Self> {
        let series = density.without_negligible_modes();
        Self::new(|s| series.value_at(s), &[], resolution)
    }

    /// From linear interpolation of values on an equispaced grid that begins at angle `from`.
    /// **Errors** as [`FlowMap::new`], fewer than two values.
    pub fn from_values(values: &[f64], from: f64, resolution: Resolution) -> Result<Self> {
        let n = values.len();
        in_range("values", n as f64, 2.0, 100_000.0)?;
        let mut breaks: Vec<f64> =
            (0..n).map(|j| (from + TAU * j as f64 / n as f64).rem_euclid(TAU)).collect();
        breaks.sort_by(f64::total_cmp);
        Self::new(|s| interpolate_linearly(values, from, s), &breaks, resolution)
    }

    /// Number of particles.
    pub fn n(&self) -> usize {
        NODES * self.panels.len()
    }

    /// Angles, not reduced modulo `2 pi`.
    pub fn angles(&self) -> Vec<f64> {
        self.panels.iter().flat_map(|p| p.theta).collect()
    }

    /// Masses, of sum 1.
    pub fn masses(&self) -> Vec<f64> {
        self.panels
            .iter()
            .flat_map(|p| {
                std::array::from_fn::<f64, NODES, _>(|i| 0.5 * self.rule.w[i] * p.start[i])
            })
            .collect()
    }

    /// Logarithms of the density at the particles.
    pub fn log_density(&self) -> Vec<f64> {
        self.panels.iter().flat_map(|p| p.log_density).collect()
    }

    /// `integral rho log rho d sigma`, as the mean of `log rho` over the labels.
    pub fn negentropy(&self) -> f64 {
        weighted_mean(&self.masses(), &self.log_density())
    }

    /// Velocities and `-div v`.
    fn velocities(&self, dynamics: &MeasureDynamics) -> Result<(Vec<f64>, Vec<f64>)> {
        let mut velocities = self.rates_of_change(dynamics)?;
        let minus_divergence = velocities.split_off(self.n());
        Ok((velocities, minus_divergence))
    }

    /// Production of negentropy, the mean of `-div v`. **Errors** a Sinkhorn scaling that does not
    /// converge, an interaction of its own.
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        Ok(weighted_mean(&self.masses(), &self.velocities(dynamics)?.1))
    }

    /// Mean velocity, as [`Circle::momentum`]. **Errors** as [`FlowMap::negentropy_rate`].
    pub fn momentum(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        Ok(weighted_mean(&self.masses(), &self.velocities(dynamics)?.0))
    }

    /// The Fourier series of the measure with this number of modes. **Cost** modes per particle.
    pub fn series(&self, modes: usize) -> Circle {
        let mut c = vec![Complex64::default(); modes + 1];
        for (theta, m) in self.angles().iter().zip(self.masses()) {
            let turn = Complex64::from_polar(1.0, -theta);
            let mut wave = Complex64::new(m, 0.0);
            for c in &mut c {
                *c += wave;
                wave *= turn;
            }
        }
        Circle { c }
    }

    /// Interaction energy relative to the uniform measure, as [`Circle::energy`].
    pub fn energy(&self, dynamics: &MeasureDynamics) -> f64 {
        // The kernel has no further modes; those of one with kinks decay like k^{-2} or faster.
        let modes = match &dynamics.interaction {
            None => bump_degree(2, dynamics.beta),
            Some(own) if own.interaction().series().len() == 1 => own.interaction().terms(),
            Some(_) => MAX_MODES,
        };
        self.series(modes).energy(dynamics)
    }

    /// Rate of change of the energy, as [`Circle::energy_rate`]. **Errors** as
    /// [`FlowMap::negentropy_rate`].
    pub fn energy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        let pull = self
            .velocities(&MeasureDynamics {
                weights: crate::attention::RowWeights::Exponential,
                ..dynamics.clone()
            })?
            .0;
        let power: Vec<f64> =
            self.velocities(dynamics)?.0.iter().zip(&pull).map(|(v, p)| v * p).collect();
        Ok(weighted_mean(&self.masses(), &power))
    }

    /// Averages of the density over `n` equal volumes; volume j is `[j, j+1] 2 pi / n`. **Cost** a
    /// few hundred operations per volume and per panel.
    pub fn volume_averages(&self, n: usize) -> Vec<f64> {
        let width = TAU / n as f64;
        let is_narrow = |from: f64, to: f64| to - from <= 0.5 * f64::EPSILON;
        let mut out = vec![0.0; n];
        for p in &self.panels {
            let (map, start) = (self.rule.coefficients(&p.theta), self.rule.coefficients(&p.start));
            let (mut x, end) = (-1.0, LegendrePanel::value(&map, 1.0));
            let mut volume = (LegendrePanel::value(&map, -1.0) / width).floor();
            while x < 1.0 {
                let edge = (volume + 1.0) * width;
                let is_beyond = |x: f64| LegendrePanel::value(&map, x) >= edge;
                let next = if edge < end { bisect(is_beyond, (x, 1.0), is_narrow).1 } else { 1.0 };
                let mass = 0.5
                    * (LegendrePanel::integral(&start, next) - LegendrePanel::integral(&start, x));
                out[volume.rem_euclid(n as f64) as usize % n] += n as f64 * mass;
                (x, volume) = (next, volume + 1.0);
            }
        }
        out.iter_mut().for_each(|v| *v = v.max(0.0));
        out
    }

    /// Evolves by time `t`; `watch` sees the state after every step and returns whether to
    /// continue. If more particles are needed than the resolution allows, it ends as
    /// under-resolved.
    ///
    /// **Accuracy** that of the [`Resolution`]. **Cost** about a microsecond per particle and
    /// evaluation. **Errors** noise (the velocity would need the gradient of rho), an interaction
    /// of its own, a Sinkhorn scaling that does not converge, those of the integrator.
    pub fn evolve(
        self,
        dynamics: &MeasureDynamics,
        t: f64,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        reject_noise(dynamics)?;
        let resolution = self.resolution;
        evolve(self, dynamics, t, &resolution, watch)
    }
}

/// The system of the angles and log densities at the labels.
pub(super) struct FlowMapSystem {
    field: KernelPanels,
    dynamics: MeasureDynamics,
    masses: Vec<f64>,
}

impl OdeSystem for FlowMapSystem {
    fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        self.field.rates(&self.dynamics, &self.masses, &y[..self.masses.len()], dy)
    }

    /// The angles of a panel are a block, and so are its log densities.
    fn block(&self, _: usize) -> usize {
        NODES
    }
}

impl DensityState for FlowMap {
    type System = FlowMapSystem;

    fn system(&self, dynamics: &MeasureDynamics) -> Result<FlowMapSystem> {
        reject_interaction(dynamics)?;
        Ok(FlowMapSystem {
            field: KernelPanels::new(dynamics.beta),
            dynamics: dynamics.clone(),
            masses: self.masses(),
        })
    }

    fn coordinates(&self) -> Vec<f64> {
        [self.angles(), self.log_density()].concat()
    }

    fn with_coordinates(&self, y: &[f64]) -> Result<Self> {
        let (theta, log) = y.split_at(self.n());
        let part = |v: &[f64], k: usize| std::array::from_fn(|i| v[k * NODES + i]);
        let moved = |(k, p): (usize, &Panel)| Panel {
            theta: part(theta, k),
            start: p.start,
            log_density: part(log, k),
        };
        Ok(Self {
            panels: self.panels.iter().enumerate().map(moved).collect(),
            resolution: self.resolution,
            rule: self.rule.clone(),
        })
    }
}

/// Halves the panels that no longer resolve the map.
impl evolution::RefinementRule<FlowMap> for Resolution {
    fn tolerances(&self) -> (f64, f64) {
        self.tolerances
    }

    fn resolves(&self, map: &FlowMap) -> bool {
        map.panels.iter().all(|p| p.loss(&map.rule) <= self.max_loss)
    }

    fn refine(&self, map: &FlowMap, unresolved: Option<FlowMap>) -> Option<FlowMap> {
        let unresolved = unresolved?;
        let halved = |(p, next): (&Panel, &Panel)| {
            if next.loss(&map.rule) > self.max_loss {
                p.halves(&map.rule).to_vec()
            } else {
                vec![p.clone()]
            }
        };
        let panels: Vec<Panel> =
            map.panels.iter().zip(&unresolved.panels).flat_map(halved).collect();
        (NODES * panels.len() <= self.max_particles).then(|| FlowMap {
            panels,
            resolution: map.resolution,
            rule: map.rule.clone(),
        })
    }
}

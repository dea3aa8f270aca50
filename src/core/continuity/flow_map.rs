//! The measure on the circle by its flow map: where the mass that began at label s is now, `d theta/dt = v(theta)`, and the logarithm of the density there,
//! `d log rho/dt = -div v(theta)`.
//!
//! Masses belong to labels and never change, so a density that concentrates costs no resolution; what does is a place where neighbours part, between two clusters to be.
//! There the map steepens without bound over fewer and fewer labels. Labels are kept on panels of Gauss-Legendre nodes, and a panel whose polynomial ends to see the
//! map is halved while it still does: both halves are exact to the tolerance. Panels of less mass than the tolerance stay, for their mass is the error they make.

use super::circle::Circle;
use super::density::bump_degree;
use super::evolution::{self, Evolving, evolve};
use super::kernel_panels::KernelPanels;
use super::{Evolved, Medium, interpolated, mass, mean_over, no_noise, non_negative};
use crate::error::{Error, Result, in_range};
use crate::flow::OdeSystem;
use crate::num::fft::Complex64;
use crate::num::panel::{NODES, Rule, Values};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Labels between two angles.
#[derive(Clone, Debug, PartialEq)]
struct Panel {
    /// Angles, not reduced to one turn.
    theta: Values,
    /// Density relative to the uniform measure at the labels when they began, times the length of the panel in turns: mass per unit of `x` is half of it.
    start: Values,
    log_density: Values,
}

impl Panel {
    fn mass(&self, rule: &Rule) -> f64 {
        self.start.iter().zip(&rule.w).map(|(v, w)| 0.5 * v * w).sum()
    }

    /// The share of the mass times what the polynomials of the map and of the log density miss.
    fn loss(&self, rule: &Rule) -> f64 {
        self.mass(rule) * (rule.tail(&self.theta) + rule.tail(&self.log_density))
    }

    fn halves(&self, rule: &Rule) -> [Self; 2] {
        let (theta, start, log) = (rule.halves(&self.theta), rule.halves(&self.start), rule.halves(&self.log_density));
        // A density near zero may round below it.
        std::array::from_fn(|h| Self { theta: theta[h], start: start[h].map(|v| 0.5 * v.max(0.0)), log_density: log[h] })
    }
}

/// How finely a [`FlowMap`] is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Panels to begin with.
    pub panels: usize,
    /// Mass times error of its polynomials at which a panel is halved.
    pub loss: f64,
    /// Relative and absolute tolerance of a step.
    pub step: (f64, f64),
    /// Most particles.
    pub particles: usize,
}

impl Resolution {
    /// Halvings at 1e-9 and steps at 1e-11: negentropies right to about 1e-8.
    pub const FINE: Self = Self { panels: 16, loss: 1e-9, step: (1e-11, 1e-13), particles: 40_000 };

    /// Thirty times coarser, on other panels: the difference tells the error of the fine one.
    pub const COARSE: Self = Self { panels: 13, loss: 3e-8, step: (3e-10, 3e-12), particles: 40_000 };
}

/// Particles by label on panels.
pub struct FlowMap {
    panels: Vec<Panel>,
    resolution: Resolution,
    rule: Arc<Rule>,
}

/// Where a density that falls to zero is cut: its logarithm is used only in products with the mass.
const EMPTY: f64 = 1e-300;

impl FlowMap {
    /// From a density relative to the uniform measure, by angle; panels end at `breaks` (in `[0, 2 pi)`, ascending), where it may have corners.
    ///
    /// **Errors** negative or non-finite values beyond rounding, no mass, a resolution without panels, a density that the largest number of particles does not see.
    pub fn new(density: impl Fn(f64) -> f64, breaks: &[f64], resolution: Resolution) -> Result<Self> {
        in_range("panels", resolution.panels as f64, 1.0, 4096.0)?;
        let rule = Arc::new(Rule::default());
        let even = (0..=resolution.panels).map(|j| TAU * j as f64 / resolution.panels as f64);
        let mut edges: Vec<f64> = even.chain(breaks.iter().copied().filter(|b| *b > 0.0 && *b < TAU)).collect();
        edges.sort_by(f64::total_cmp);
        edges.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        let (mut todo, mut panels) = (edges.windows(2).rev().map(|e| (e[0], e[1])).collect::<Vec<_>>(), Vec::new());
        while let Some((from, to)) = todo.pop() {
            let panel = Self::panel(&density, from, to, &rule)?;
            // The start is a polynomial on the panel too; relative to the mass 1.
            if (panel.loss(&rule) > resolution.loss || rule.tail(&panel.start) > resolution.loss) && to - from > 1e-12 {
                let middle = 0.5 * (from + to);
                todo.extend([(middle, to), (from, middle)]);
            } else {
                panels.push(panel);
            }
            if NODES * (panels.len() + todo.len()) > resolution.particles {
                let expected = "a density that this number of particles sees, or more particles";
                return Err(Error::parameter("particles", resolution.particles, expected));
            }
        }
        let mass = mass(panels.iter().map(|p| p.mass(&rule)).sum())?;
        for p in &mut panels {
            p.start.iter_mut().for_each(|v| *v /= mass);
            p.log_density.iter_mut().for_each(|v| *v -= mass.ln());
        }
        Ok(Self { panels, resolution, rule })
    }

    fn panel(density: &impl Fn(f64) -> f64, from: f64, to: f64, rule: &Rule) -> Result<Panel> {
        let theta = rule.x.map(|x| 0.5 * (from + to) + 0.5 * (to - from) * x);
        let values = theta.map(density);
        non_negative(&values, 1e-9, |i| format!("theta = {:.6}", theta[i]))?;
        let turns = (to - from) / TAU;
        Ok(Panel { theta, start: values.map(|v| turns * v.max(0.0)), log_density: values.map(|v| v.max(EMPTY).ln()) })
    }

    /// From a Fourier series. **Errors** as [`FlowMap::new`].
    pub fn from_series(density: &Circle, resolution: Resolution) -> Result<Self> {
        let series = density.trimmed();
        Self::new(|s| series.at(s), &[], resolution)
    }

    /// From values on an equispaced grid that begins at angle `from`, joined by straight lines. **Errors** as [`FlowMap::new`], fewer than two values.
    pub fn from_values(values: &[f64], from: f64, resolution: Resolution) -> Result<Self> {
        let n = values.len();
        in_range("values", n as f64, 2.0, 100_000.0)?;
        let mut breaks: Vec<f64> = (0..n).map(|j| (from + TAU * j as f64 / n as f64).rem_euclid(TAU)).collect();
        breaks.sort_by(f64::total_cmp);
        Self::new(|s| interpolated(values, from, s), &breaks, resolution)
    }

    /// Number of particles.
    pub fn n(&self) -> usize {
        NODES * self.panels.len()
    }

    /// Angles, not reduced to one turn.
    pub fn angles(&self) -> Vec<f64> {
        self.panels.iter().flat_map(|p| p.theta).collect()
    }

    /// Masses, of sum 1.
    pub fn masses(&self) -> Vec<f64> {
        self.panels.iter().flat_map(|p| std::array::from_fn::<f64, NODES, _>(|i| 0.5 * self.rule.w[i] * p.start[i])).collect()
    }

    /// Logarithms of the density where the particles are.
    pub fn log_density(&self) -> Vec<f64> {
        self.panels.iter().flat_map(|p| p.log_density).collect()
    }

    /// `integral rho log rho d sigma`, the mean of `log rho` over the labels.
    pub fn negentropy(&self) -> f64 {
        mean_over(&self.masses(), &self.log_density())
    }

    /// Velocities and `-div v`.
    fn velocities(&self, medium: &Medium) -> Result<(Vec<f64>, Vec<f64>)> {
        let mut out = vec![0.0; 2 * self.n()];
        KernelPanels::new(medium.beta).rates(medium, &self.masses(), &self.angles(), &mut out)?;
        let fall = out.split_off(self.n());
        Ok((out, fall))
    }

    /// Production of negentropy, the mean of `-div v`. **Errors** a Sinkhorn scaling that does not converge.
    pub fn negentropy_rate(&self, medium: &Medium) -> Result<f64> {
        Ok(mean_over(&self.masses(), &self.velocities(medium)?.1))
    }

    /// Mean velocity, as [`Circle::momentum`]. **Errors** as [`FlowMap::negentropy_rate`].
    pub fn momentum(&self, medium: &Medium) -> Result<f64> {
        Ok(mean_over(&self.masses(), &self.velocities(medium)?.0))
    }

    /// The first modes of the measure. **Cost** modes per particle.
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

    /// Interaction energy above that of the uniform measure, as [`Circle::energy`].
    pub fn energy(&self, medium: &Medium) -> f64 {
        // The kernel has no more modes than that.
        self.series(bump_degree(2, medium.beta)).energy(medium)
    }

    /// Its rate of change, as [`Circle::energy_rate`]. **Errors** as [`FlowMap::negentropy_rate`].
    pub fn energy_rate(&self, medium: &Medium) -> Result<f64> {
        let pull = self.velocities(&Medium { weights: crate::attention::RowWeights::Exponential, ..*medium })?.0;
        let power: Vec<f64> = self.velocities(medium)?.0.iter().zip(&pull).map(|(v, p)| v * p).collect();
        Ok(mean_over(&self.masses(), &power))
    }

    /// Averages of the density over `n` cells, cell j being `[j, j+1] 2 pi / n`. **Cost** a few hundred operations per cell and per panel.
    pub fn cell_averages(&self, n: usize) -> Vec<f64> {
        let width = TAU / n as f64;
        let mut out = vec![0.0; n];
        for p in &self.panels {
            let (map, start) = (self.rule.coefficients(&p.theta), self.rule.coefficients(&p.start));
            let (mut x, end) = (-1.0, Rule::value(&map, 1.0));
            let mut cell = (Rule::value(&map, -1.0) / width).floor();
            while x < 1.0 {
                let edge = (cell + 1.0) * width;
                let next = if edge < end { crossing(&map, x, edge) } else { 1.0 };
                let mass = 0.5 * (Rule::integral(&start, next) - Rule::integral(&start, x));
                out[cell.rem_euclid(n as f64) as usize % n] += n as f64 * mass;
                (x, cell) = (next, cell + 1.0);
            }
        }
        out.iter_mut().for_each(|v| *v = v.max(0.0));
        out
    }

    /// Evolves by time `t`; `watch` sees the state after every leg and says whether to go on. More particles than the resolution allows end it as under-resolved.
    ///
    /// **Accuracy** that of the [`Resolution`]. **Cost** about a microsecond per particle and evaluation. **Errors** noise (the velocity would need the gradient of rho),
    /// a Sinkhorn scaling that does not converge, the integrator's.
    pub fn evolve(self, medium: &Medium, t: f64, watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        no_noise(medium)?;
        let resolution = self.resolution;
        evolve(self, medium, t, &resolution, watch)
    }
}

/// Labels in motion.
pub(super) struct Labels {
    field: KernelPanels,
    medium: Medium,
    masses: Vec<f64>,
}

impl OdeSystem for Labels {
    fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        self.field.rates(&self.medium, &self.masses, &y[..self.masses.len()], dy)
    }

    /// The angles, and the log densities, of a panel.
    fn block(&self, _: usize) -> usize {
        NODES
    }
}

impl Evolving for FlowMap {
    type System = Labels;

    fn system(&self, medium: &Medium) -> Result<Labels> {
        Ok(Labels { field: KernelPanels::new(medium.beta), medium: *medium, masses: self.masses() })
    }

    fn coordinates(&self) -> Vec<f64> {
        [self.angles(), self.log_density()].concat()
    }

    fn at(&self, y: &[f64]) -> Result<Self> {
        let (theta, log) = y.split_at(self.n());
        let part = |v: &[f64], k: usize| std::array::from_fn(|i| v[k * NODES + i]);
        let moved = |(k, p): (usize, &Panel)| Panel { theta: part(theta, k), start: p.start, log_density: part(log, k) };
        Ok(Self { panels: self.panels.iter().enumerate().map(moved).collect(), resolution: self.resolution, rule: self.rule.clone() })
    }
}

/// Halves the panels that lose sight of the map.
impl evolution::Rule<FlowMap> for Resolution {
    fn tolerances(&self) -> (f64, f64) {
        self.step
    }

    fn resolves(&self, map: &FlowMap) -> bool {
        map.panels.iter().all(|p| p.loss(&map.rule) <= self.loss)
    }

    fn refined(&self, map: &FlowMap, lost: Option<FlowMap>) -> Option<FlowMap> {
        let lost = lost?;
        let halved =
            |(p, next): (&Panel, &Panel)| if next.loss(&map.rule) > self.loss { p.halves(&map.rule).to_vec() } else { vec![p.clone()] };
        let panels: Vec<Panel> = map.panels.iter().zip(&lost.panels).flat_map(halved).collect();
        (NODES * panels.len() <= self.particles).then(|| FlowMap { panels, resolution: map.resolution, rule: map.rule.clone() })
    }
}

/// The place in `[x, 1]` where an increasing polynomial passes a value, by bisection to rounding.
fn crossing(coefficients: &Values, x: f64, value: f64) -> f64 {
    let (mut below, mut above) = (x, 1.0);
    for _ in 0..54 {
        let middle = 0.5 * (below + above);
        if Rule::value(coefficients, middle) < value { below = middle } else { above = middle }
    }
    above
}

//! Densities on S^2: spherical harmonics, or particles.

use super::outcome::{LastState, natural_rounding, table};
use super::{Evolution, Method, Pass, report_progress};
use crate::cli::cancel::cancelled;
use crate::cli::movie::density::{DensityFrame, density_frames};
use crate::continuity::{
    EvolutionEnd, Limits, MeasureDynamics, lagrangian::Lagrangian, sphere2::Sphere2, sphere2::index,
};
use crate::error::{Result, in_range};
use crate::flow::Table;
use crate::lab::arrays;

/// Degree at which `auto` changes to particles; the spectral method continues to 128.
const AUTO_DEGREE: usize = 64;

/// Number of rings of latitude of a frame.
const RINGS: usize = 48;

impl Evolution {
    fn sphere_start(&self, degree: usize) -> Result<Sphere2> {
        if let Some(path) = self.values() {
            let (rows, values) = arrays::matrix(path, None)?;
            // A row holds colatitude, azimuth and density, or one ring.
            if values.len() == 3 * rows {
                return Sphere2::from_values(
                    &values.iter().skip(2).step_by(3).copied().collect::<Vec<_>>(),
                    rings(values.len() / 3),
                );
            }
            return Sphere2::from_values(&values, rows);
        }
        if let Some(path) = &self.tokens {
            return Sphere2::from_tokens(&self.cloud(path)?, self.kernel_beta(), degree);
        }
        Sphere2::from_density(&self.density()?, degree)
    }

    pub(super) fn sphere2(&self, medium: &MeasureDynamics, pass: Pass) -> Result<LastState> {
        if pass.method == Method::Lagrangian {
            return self.by_grid(medium, pass);
        }
        let start = self.sphere_start(pass.modes(self.modes().min(32)))?;
        let late =
            pass.method == Method::Auto && medium.diffusion == 0.0 && medium.interaction.is_none();
        let most = if late { self.max_modes().min(AUTO_DEGREE) } else { self.max_modes() };
        if start.degree > pass.modes(self.max_modes()) {
            return Err(self.too_fine(start.degree));
        }
        let mut timeline =
            table(&["t", "negentropy", "negentropy_rate", "energy", "energy_rate", "mean_length"]);
        let (state, t, end) = start
            .evolve(medium, pass.t_end, pass.limits(most), |t, a| {
                if self.records(pass) {
                    // Sinkhorn attention, which has no rates, ends the evolution.
                    let rates = [
                        a.negentropy_rate(medium).unwrap_or(f64::NAN),
                        a.energy(medium),
                        a.energy_rate(medium).unwrap_or(f64::NAN),
                        a.mean_length(),
                    ];
                    timeline.rows.push([&[t, a.negentropy()], &rates[..]].concat());
                }
                report_progress(t, pass)
            })?
            .partial();
        if late && end == EvolutionEnd::UnderResolved {
            return self.by_grid(medium, pass);
        }
        let [negentropy, rate] = state.negentropy_and_rate(medium)?;
        let (energy, start) = (state.energy_with_error(medium), self.rounding_at_start());
        Ok(LastState {
            t,
            end,
            method: "spectral",
            coefficients: coefficients(&state),
            numbers: [negentropy.0, rate.0, energy.0],
            rounding: [negentropy.1, rate.1, energy.1 + 2.0 * start * energy.0.abs(), 0.25 * start],
            values: on_grid(&state),
            timeline,
        })
    }

    /// Stills of the density at equal distances in time, as long as the series resolves it.
    pub(super) fn sphere_frames(&self, medium: &MeasureDynamics) -> Result<Vec<DensityFrame>> {
        let limits =
            Limits { max_modes: self.max_modes().min(AUTO_DEGREE), tolerance_factor: 10.0 };
        let mut state = self.sphere_start(self.modes().min(32))?;
        density_frames(self.t_end, |t, dt| {
            let now = DensityFrame { t, values: state.values_on(RINGS), rings: RINGS };
            let (next, _, end) =
                state.clone().evolve(medium, dt, limits, |_, _| !cancelled())?.partial();
            state = next;
            Ok((now, end == EvolutionEnd::Reached))
        })
    }

    /// Evolves particles on a grid.
    fn by_grid(&self, medium: &MeasureDynamics, pass: Pass) -> Result<LastState> {
        let start = self.sphere_start(4)?;
        let rings = self.particles.unwrap_or(32.max(2 * start.degree).min(64));
        in_range("--particles", rings as f64, 8.0, 128.0)?;
        let mut timeline = table(&["t", "negentropy", "negentropy_rate", "energy", "mean_length"]);
        let length = |l: &Lagrangian| l.x.mean().iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut failed = None;
        let particles = Lagrangian::on_sphere2(&start, pass.half(rings))?;
        let (state, t, end) = particles
            .evolve_with_tolerances(medium, pass.t_end, pass.step(), |t, l| {
                if self.records(pass) {
                    let row = |rate| vec![t, l.negentropy(), rate, l.energy(medium), length(l)];
                    l.negentropy_rate(medium)
                        .map_or_else(|e| failed = Some(e), |rate| timeline.rows.push(row(rate)));
                }
                failed.is_none() && report_progress(t, pass)
            })?
            .partial();
        failed.map_or(Ok(()), Err)?;
        let row = |i: usize| {
            state
                .x
                .row(i)
                .iter()
                .copied()
                .chain([state.x.masses()[i], state.log_density[i]])
                .collect()
        };
        let mut coefficients = table(&["k", "cosine"]);
        for l in 0..=16usize {
            let moment = |(x, m): (&[f64], &f64)| {
                m * crate::num::gegenbauer::zonal_polynomials(3, l, x[2])[l]
            };
            let mean: f64 = state.x.rows().zip(state.x.masses()).map(moment).sum();
            coefficients.rows.push(vec![l as f64, (2 * l + 1) as f64 * mean]);
        }
        let rate = state.negentropy_rate(medium)?;
        Ok(LastState {
            t,
            end,
            method: "lagrangian",
            coefficients,
            numbers: [state.negentropy(), rate, state.energy(medium)],
            rounding: self.rounding_of_logarithms(
                &state.log_density,
                rate,
                natural_rounding(medium, 3),
            ),
            values: Table {
                rows: (0..state.x.n()).map(row).collect(),
                ..table(&["x1", "x2", "x3", "mass", "log_density"])
            },
            timeline,
        })
    }
}

/// Number of rings of a grid with this many points.
fn rings(points: usize) -> usize {
    (points as f64 / 2.0).sqrt().round() as usize
}

fn coefficients(state: &Sphere2) -> Table {
    let mut out = table(&["l", "m", "re", "im", "cosine"]);
    for (l, zonal) in state.zonal_coefficients().into_iter().enumerate() {
        for m in 0..=l {
            let a = state.a[index(l, m)];
            out.rows.push(vec![
                l as f64,
                m as f64,
                a.re,
                a.im,
                if m == 0 { zonal } else { f64::NAN },
            ]);
        }
    }
    out
}

fn on_grid(state: &Sphere2) -> Table {
    let rings = state.rings();
    let mut out = table(&["colatitude", "azimuth", "density"]);
    let nodes = crate::num::quadrature::gauss_legendre(rings);
    for (j, v) in state.values().into_iter().enumerate() {
        let azimuth = std::f64::consts::PI * (j % (2 * rings)) as f64 / rings as f64;
        out.rows.push(vec![nodes[j / (2 * rings)].0.acos(), azimuth, v]);
    }
    out
}

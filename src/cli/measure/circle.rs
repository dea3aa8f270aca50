//! Densities on the circle: Fourier series while they resolve the density, then the flow map or,
//! with noise, finite volumes.

use super::outcome::{LastState, natural_rounding, table};
use super::{Evolution, Method, Pass, report_progress};
use crate::cli::cancel::cancelled;
use crate::cli::movie::density::{DensityFrame, density_frames};
use crate::continuity::{
    EvolutionEnd, Limits, MeasureDynamics,
    circle::Circle,
    finite_volume::{self, FiniteVolume},
    flow_map::{FlowMap, Resolution},
};
use crate::error::{Result, in_range};
use crate::flow::Table;
use crate::lab::arrays;
use crate::num::panel::NODES;
use std::f64::consts::TAU;

/// Number of modes at which `auto` changes to the flow map, which is then cheaper.
const AUTO_MODES: usize = 512;

/// Columns of the time line.
const COLUMNS: [&str; 8] =
    ["t", "negentropy", "negentropy_rate", "energy", "energy_rate", "momentum", "cos_1", "sin_1"];

impl Evolution {
    /// The initial density with as many modes as it needs.
    fn start(&self, modes: usize) -> Result<Circle> {
        if let Some(path) = self.values() {
            let (from, values) = Self::profile(path)?;
            return Circle::from_values(&values, from, modes);
        }
        if let Some(path) = &self.tokens {
            return Circle::from_tokens(&arrays::list(path, None)?, self.kernel_beta(), modes);
        }
        Circle::from_density(&self.density()?, modes)
    }

    /// Averages of the density over finite volumes, on more of them than --volumes if it needs
    /// more.
    fn volumes(&self, pass: Pass) -> Result<FiniteVolume> {
        if let Some(path) = self.values() {
            let (from, values) = Self::profile(path)?;
            return FiniteVolume::from_values(
                &values,
                from,
                pass.half(self.volume_count().max(2 * values.len())),
            );
        }
        let start = self.start(self.modes())?;
        FiniteVolume::from_circle(
            &start,
            pass.half(self.volume_count().max(8 * start.without_negligible_modes().modes())),
        )
    }

    pub(super) fn on_circle(&self, medium: &MeasureDynamics, pass: Pass) -> Result<LastState> {
        let auto = pass.method == Method::Auto;
        // The flow map knows neither noise nor interactions.
        let noisy = medium.diffusion != 0.0 || medium.interaction.is_some();
        let late = |timeline: Table| {
            if noisy {
                self.by_volume(medium, pass, (self.volumes(pass)?, 0.0), timeline)
            } else {
                self.by_map(medium, pass)
            }
        };
        match pass.method {
            Method::Volume => {
                return self.by_volume(medium, pass, (self.volumes(pass)?, 0.0), table(&COLUMNS));
            }
            Method::Lagrangian => return self.by_map(medium, pass),
            Method::Auto | Method::Spectral => (),
        }
        let start = match self.start(pass.modes(self.modes())) {
            // Values with corners have no convergent series.
            Err(_) if auto && self.values.is_some() => return late(table(&COLUMNS)),
            start => start?,
        };
        let most = if auto && !noisy { self.max_modes().min(AUTO_MODES) } else { self.max_modes() };
        let needed = start.without_negligible_modes().modes();
        if needed > most {
            return if auto { late(table(&COLUMNS)) } else { Err(self.too_fine(needed)) };
        }
        let row = |t: f64, c: &Circle| {
            // A Sinkhorn scaling that does not converge leaves a gap, and ends the evolution.
            let rates = [
                c.negentropy_rate(medium).unwrap_or(f64::NAN),
                c.energy(medium),
                c.energy_rate(medium).unwrap_or(f64::NAN),
                c.momentum(medium).unwrap_or(f64::NAN),
            ];
            [&[t, c.negentropy()], &rates[..], &[2.0 * c.c[1].re, -2.0 * c.c[1].im]].concat()
        };
        let mut timeline = table(&COLUMNS);
        timeline.rows.push(row(0.0, &start));
        let (state, t, end) = start
            .evolve(medium, pass.t_end, pass.limits(most), |t, c| {
                if self.records(pass) {
                    timeline.rows.push(row(t, c));
                }
                report_progress(t, pass)
            })?
            .partial();
        if end == EvolutionEnd::UnderResolved && auto {
            let volumes = || {
                FiniteVolume::from_circle(
                    &state,
                    pass.half(self.volume_count().max(4 * state.modes())),
                )
            };
            return if noisy {
                self.by_volume(medium, pass, (volumes()?, t), timeline)
            } else {
                self.by_map(medium, pass)
            };
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
            values: on_grid(&state.values(256), 0.0),
            timeline,
        })
    }

    /// Frames of the density at equispaced times, as long as the series resolves it.
    pub(super) fn circle_frames(&self, medium: &MeasureDynamics) -> Result<Vec<DensityFrame>> {
        let limits = Limits { max_modes: self.max_modes(), tolerance_factor: 1.0 };
        let mut state = self.start(self.modes())?;
        density_frames(self.t_end, |t, dt| {
            let now = DensityFrame { t, values: state.values(360), rings: 1 };
            let (next, _, end) =
                state.clone().evolve(medium, dt, limits, |_, _| !cancelled())?.partial();
            state = next;
            Ok((now, end == EvolutionEnd::Reached))
        })
    }

    /// The flow map from the start to the end.
    fn by_map(&self, medium: &MeasureDynamics, pass: Pass) -> Result<LastState> {
        let mut resolution = if pass.second { Resolution::COARSE } else { Resolution::FINE };
        if let Some(n) = self.particles {
            in_range("--particles", n as f64, 16.0, 20_000.0)?;
            resolution.panels = (resolution.panels * n).div_ceil(NODES * Resolution::FINE.panels);
        }
        let start = match (self.start(self.modes()), self.values()) {
            (Err(_), Some(path)) => {
                let (from, values) = Self::profile(path)?;
                FlowMap::from_values(&values, from, resolution)?
            }
            (start, _) => FlowMap::from_series(&start?, resolution)?,
        };
        let (mut timeline, mut failed) = (table(&COLUMNS), None);
        let row = |t: f64, f: &FlowMap| -> Result<Vec<f64>> {
            let first = f.series(1).c[1];
            let rates = [
                f.negentropy_rate(medium)?,
                f.energy(medium),
                f.energy_rate(medium)?,
                f.momentum(medium)?,
            ];
            Ok([&[t, f.negentropy()], &rates[..], &[2.0 * first.re, -2.0 * first.im]].concat())
        };
        let (state, t, end) = start
            .evolve(medium, pass.t_end, |t, f| {
                if self.records(pass) {
                    row(t, f).map_or_else(|e| failed = Some(e), |row| timeline.rows.push(row));
                }
                failed.is_none() && report_progress(t, pass)
            })?
            .partial();
        failed.map_or(Ok(()), Err)?;
        let (angles, masses, log) = (state.angles(), state.masses(), state.log_density());
        let rows = (0..angles.len())
            .map(|i| vec![angles[i].cos(), angles[i].sin(), masses[i], log[i]])
            .collect();
        let rate = state.negentropy_rate(medium)?;
        Ok(LastState {
            t,
            end,
            method: "lagrangian (flow map)",
            coefficients: coefficients(&state.series(32)),
            numbers: [state.negentropy(), rate, state.energy(medium)],
            rounding: self.rounding_of_logarithms(&log, rate, natural_rounding(medium, 2)),
            values: Table { rows, ..table(&["x1", "x2", "mass", "log_density"]) },
            timeline,
        })
    }

    /// Finite volumes from a state at time t to the end.
    fn by_volume(
        &self,
        medium: &MeasureDynamics,
        pass: Pass,
        (volume, t): (FiniteVolume, f64),
        mut timeline: Table,
    ) -> Result<LastState> {
        let nothing = [f64::NAN; 5];
        timeline.rows.push(
            [&[t, volume.negentropy(), volume.negentropy_rate(medium)?][..], &nothing].concat(),
        );
        let (mut steps, mut last) = (0u64, (t, volume.negentropy()));
        let (volume, elapsed, end) = volume
            .evolve(medium, pass.t_end - t, |s, cells| {
                steps += 1;
                // The negentropy costs as much as a step.
                if self.records(pass) && steps.is_multiple_of(16) {
                    let h = finite_volume::negentropy(cells);
                    timeline.rows.push(
                        [&[t + s, h, (h - last.1) / (t + s - last.0)][..], &nothing].concat(),
                    );
                    last = (t + s, h);
                }
                report_progress(t + s, pass)
            })?
            .partial();
        let averaged = volume.series(512.min(volume.averages.len() / 8))?;
        Ok(LastState {
            t: if end == EvolutionEnd::Reached { pass.t_end } else { t + elapsed },
            end,
            method: if t > 0.0 { "spectral, then finite volumes" } else { "finite volumes" },
            coefficients: coefficients(&averaged),
            numbers: [
                volume.negentropy(),
                volume.negentropy_rate(medium)?,
                averaged.energy(medium),
            ],
            rounding: natural_rounding(medium, 2),
            values: on_grid(&volume.averages, 0.5),
            timeline,
        })
    }
}

fn coefficients(state: &Circle) -> Table {
    let rows = state
        .cosines()
        .into_iter()
        .zip(state.sines())
        .enumerate()
        .map(|(k, (c, s))| vec![k as f64, c, s])
        .collect();
    Table { rows, ..table(&["k", "cosine", "sine"]) }
}

/// Values at `2 pi (j + offset) / n`.
fn on_grid(values: &[f64], offset: f64) -> Table {
    let rows = values
        .iter()
        .enumerate()
        .map(|(j, v)| vec![TAU * (j as f64 + offset) / values.len() as f64, *v])
        .collect();
    Table { rows, ..table(&["theta", "density"]) }
}

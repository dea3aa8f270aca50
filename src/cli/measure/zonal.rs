//! Zonal densities: Gegenbauer polynomials while they resolve the density, then rings that carry
//! it.

use super::outcome::{LastState, dimension, natural_rounding, table};
use super::{Evolution, Method, Pass, report_progress};
use crate::continuity::{
    EvolutionEnd, MeasureDynamics, zonal::Zonal, zonal_lagrangian::ZonalLagrangian,
};
use crate::error::{Error, Result, in_range};
use crate::flow::Table;
use std::f64::consts::PI;

/// Number of modes at which `auto` changes to rings, which are then cheaper.
const AUTO_MODES: usize = 64;

impl Evolution {
    pub(super) fn zonal(
        &self,
        medium: &MeasureDynamics,
        d: usize,
        pass: Pass,
    ) -> Result<LastState> {
        if pass.method == Method::Lagrangian {
            return self.by_rings(medium, d, pass);
        }
        let late = pass.method == Method::Auto
            && self.density.is_some()
            && medium.diffusion == 0.0
            && medium.interaction.is_none();
        let most = if late { self.max_modes().min(AUTO_MODES) } else { self.max_modes() };
        if late && self.density()?.degree(d) > most {
            return self.by_rings(medium, d, pass);
        }
        let start =
            self.zonal_start(d, pass.modes(self.modes().min(if late { AUTO_MODES } else { 128 })))?;
        if start.modes() > pass.modes(self.max_modes()) {
            return Err(self.too_fine(start.modes()));
        }
        let mut timeline =
            table(&["t", "negentropy", "negentropy_rate", "energy", "energy_rate", "axis_mean"]);
        let mut failed = None;
        let (state, t, end) = start
            .evolve(medium, pass.t_end, pass.limits(most), |t, z| {
                if self.records(pass) {
                    match (z.negentropy(), z.negentropy_rate(medium), z.energy_rate(medium)) {
                        (Ok(h), Ok(r), Ok(e)) => {
                            timeline.rows.push(vec![t, h, r, z.energy(medium), e, z.axis_mean()])
                        }
                        (Err(e), _, _) | (_, Err(e), _) | (_, _, Err(e)) => failed = Some(e),
                    }
                }
                report_progress(t, pass)
            })?
            .partial();
        failed.map_or(Ok(()), Err)?;
        if late && end == EvolutionEnd::UnderResolved {
            return self.by_rings(medium, d, pass);
        }
        let coefficients =
            state.coefficients().into_iter().enumerate().map(|(k, c)| vec![k as f64, c]).collect();
        let values = state
            .values(257)
            .into_iter()
            .enumerate()
            .map(|(j, v)| vec![PI * j as f64 / 256.0, v])
            .collect();
        let [negentropy, rate] = state.negentropy_and_rate(medium)?;
        let (energy, start) = (state.energy_with_error(medium), self.rounding_at_start());
        Ok(LastState {
            t,
            end,
            method: "spectral",
            coefficients: Table { rows: coefficients, ..table(&["k", "cosine"]) },
            numbers: [negentropy.0, rate.0, energy.0],
            rounding: [negentropy.1, rate.1, energy.1 + 2.0 * start * energy.0.abs(), 0.25 * start],
            values: Table { rows: values, ..table(&["polar_angle", "density"]) },
            timeline,
        })
    }

    fn zonal_start(&self, d: usize, modes: usize) -> Result<Zonal> {
        if let Some(path) = self.values() {
            return Zonal::from_values(&Self::profile(path)?.1, d, modes);
        }
        if let Some(path) = &self.tokens {
            let x = self.cloud(path)?;
            if x.d() != d {
                return Err(Error::parameter(
                    "--d",
                    d,
                    format!("the dimension {} of the tokens", x.d()),
                ));
            }
            return Zonal::from_tokens(&x, self.kernel_beta(), modes);
        }
        Zonal::from_density(&self.density()?, d, modes)
    }

    /// Evolves rings.
    fn by_rings(&self, medium: &MeasureDynamics, d: usize, pass: Pass) -> Result<LastState> {
        let density = self.density()?;
        let n = self.particles.unwrap_or_else(|| (2 * density.degree(d)).clamp(64, 2048));
        in_range("--particles", n as f64, 8.0, 2048.0)?;
        let mut timeline =
            table(&["t", "negentropy", "negentropy_rate", "energy", "energy_rate", "axis_mean"]);
        let mut failed = None;
        let (state, t, end) = ZonalLagrangian::new(&density, d, pass.half(n))?
            .evolve_with_tolerances(medium, pass.t_end, pass.step(), |t, r| {
                if self.records(pass) {
                    match (r.negentropy_rate(medium), r.energy(medium)) {
                        (Ok(rate), Ok(energy)) => timeline.rows.push(vec![
                            t,
                            r.negentropy(),
                            rate,
                            energy,
                            f64::NAN,
                            r.axis_mean(),
                        ]),
                        (Err(e), _) | (_, Err(e)) => failed = Some(e),
                    }
                }
                report_progress(t, pass)
            })?
            .partial();
        failed.map_or(Ok(()), Err)?;
        let moments = state
            .moments(16)
            .into_iter()
            .enumerate()
            .map(|(k, m)| vec![k as f64, m * dimension(d, k)])
            .collect();
        let row = |j: usize| vec![state.theta[j], state.masses[j], state.log_density[j]];
        let rate = state.negentropy_rate(medium)?;
        Ok(LastState {
            t,
            end,
            method: "lagrangian (rings)",
            coefficients: Table { rows: moments, ..table(&["k", "cosine"]) },
            numbers: [state.negentropy(), rate, state.energy(medium)?],
            rounding: self.rounding_of_logarithms(
                &state.log_density,
                rate,
                natural_rounding(medium, d),
            ),
            values: Table {
                rows: (0..state.theta.len()).map(row).collect(),
                ..table(&["polar_angle", "mass", "log_density"])
            },
            timeline,
        })
    }
}

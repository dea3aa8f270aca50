//! Densities on the circle: Fourier series while they resolve, finite volumes after, or particles.

use super::{Arguments, Outcome, going_on, time_line};
use crate::continuity::{
    End, Medium,
    circle::Circle,
    lagrangian::Lagrangian,
    volume::{self, Volume},
};
use crate::error::{Error, Result, in_range};
use crate::flow::Table;
use crate::lab::arrays;
use std::f64::consts::TAU;

impl Arguments {
    fn start(&self) -> Result<Circle> {
        if let Some(path) = &self.values {
            return Circle::from_values(&Self::profile(path)?, self.modes);
        }
        if let Some(path) = &self.tokens {
            let angles = arrays::list(path, None)?;
            in_range("--bandwidth", self.bandwidth, 0.0, 1e5)?;
            let points = 8 * self.modes.max(64);
            let at = |j: usize| TAU * j as f64 / points as f64;
            let kernel = |t: f64| angles.iter().map(|a| (self.bandwidth * ((t - a).cos() - 1.0)).exp()).sum::<f64>();
            return Circle::from_values(&(0..points).map(|j| kernel(at(j))).collect::<Vec<_>>(), self.modes);
        }
        Circle::from_density(&self.density()?, self.modes)
    }

    pub(super) fn on_circle(&self, medium: &Medium) -> Result<Outcome> {
        let start = self.start()?;
        if self.method == "lagrangian" {
            let n = self.particles.unwrap_or(512);
            in_range("--particles", n as f64, 16.0, 20_000.0)?;
            if n < 2 * start.modes() + 2 && start.tail() > 1e-10 {
                return Err(Error::parameter("--particles", n, format!("at least {} for this density", 2 * start.modes() + 2)));
            }
            let start = start.trimmed();
            let mut end = self.by_particles(medium, Lagrangian::on_circle(&start, n)?, Lagrangian::on_circle(&start, n / 2)?)?;
            moments(&mut end);
            return Ok(end);
        }
        let mut timeline = time_line(&["t", "negentropy", "negentropy_rate", "energy", "energy_rate", "momentum", "cos_1", "sin_1"]);
        let row = |t: f64, c: &Circle| {
            let rates = [c.negentropy_rate(medium), c.energy(medium), c.energy_rate(medium), c.momentum(medium)];
            [&[t, c.negentropy()], &rates[..], &[2.0 * c.c[1].re, -2.0 * c.c[1].im]].concat()
        };
        timeline.rows.push(row(0.0, &start));
        let (state, t, end) = if self.method == "volume" {
            (start, 0.0, End::UnderResolved)
        } else {
            start.evolve(medium, self.t_end, self.max_modes, |t, c| {
                if self.keeps() {
                    timeline.rows.push(row(t, c));
                }
                going_on()
            })?
        };
        if end == End::UnderResolved && self.method != "spectral" {
            return self.by_volume(medium, &state, t, timeline);
        }
        let values = state.values(256);
        Ok(Outcome {
            t,
            end,
            method: "spectral",
            coefficients: coefficients(&state),
            negentropy: state.negentropy(),
            rate: state.negentropy_rate(medium),
            energy: state.energy(medium),
            values: on_grid(&values, 0.0),
            timeline,
            resolution_error: None,
        })
    }

    /// Finite volumes from a state at time t to the end.
    fn by_volume(&self, medium: &Medium, state: &Circle, t: f64, mut timeline: Table) -> Result<Outcome> {
        // Cell averages of the Fourier series, exactly positive from here on.
        let n = self.cells;
        let fine = state.values(16 * n);
        let per = fine.len() / n;
        let cells: Vec<f64> = (0..n).map(|j| (fine[j * per..(j + 1) * per].iter().sum::<f64>() / per as f64).max(0.0)).collect();
        let mut volume = Volume::new(cells)?;
        let mut last = (t, volume.negentropy());
        let mut rate = 0.0;
        let mut steps = 0u64;
        let (elapsed, end) = volume.evolve(medium, self.t_end - t, |s, cells| {
            steps += 1;
            // The negentropy costs as much as a step: every sixteenth, and the last ones for the rate.
            if !steps.is_multiple_of(16) && t + s < self.t_end {
                return true;
            }
            let h = volume::negentropy(cells);
            if t + s > last.0 {
                rate = (h - last.1) / (t + s - last.0);
            }
            last = (t + s, h);
            if self.keeps() {
                timeline.rows.push([&[t + s, h, rate][..], &[f64::NAN; 5]].concat());
            }
            going_on()
        })?;
        let averaged = Circle::from_values(&volume.cells, (n / 2 - 1).min(512))?;
        Ok(Outcome {
            t: if end == End::Reached { self.t_end } else { t + elapsed },
            end,
            method: if t > 0.0 { "spectral, then finite volumes" } else { "finite volumes" },
            coefficients: coefficients(&averaged),
            negentropy: volume.negentropy(),
            rate,
            energy: averaged.energy(medium),
            values: on_grid(&volume.cells, 0.5),
            timeline,
            resolution_error: None,
        })
    }
}

fn coefficients(state: &Circle) -> Table {
    let rows = state.cosines().into_iter().zip(state.sines()).enumerate().map(|(k, (c, s))| vec![k as f64, c, s]).collect();
    Table { rows, ..time_line(&["k", "cosine", "sine"]) }
}

/// Values at `2 pi (j + offset) / n`.
fn on_grid(values: &[f64], offset: f64) -> Table {
    let rows = values.iter().enumerate().map(|(j, v)| vec![TAU * (j as f64 + offset) / values.len() as f64, *v]).collect();
    Table { rows, ..time_line(&["theta", "density"]) }
}

/// Coefficients up to 32 of particles.
fn moments(end: &mut Outcome) {
    for k in 0..=32u32 {
        let (mut c, mut s) = (0.0, 0.0);
        for row in &end.values.rows {
            let (sine, cosine) = (f64::from(k) * row[1].atan2(row[0])).sin_cos();
            (c, s) = (c + row[2] * cosine, s + row[2] * sine);
        }
        let twice = if k == 0 { 1.0 } else { 2.0 };
        end.coefficients.rows.push(vec![f64::from(k), twice * c, twice * s]);
    }
}

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
    /// The density with all the modes it needs.
    fn start(&self) -> Result<Circle> {
        if let Some(path) = &self.values {
            let (from, values) = Self::profile(path)?;
            return Circle::from_values(&values, from, self.modes);
        }
        if let Some(path) = &self.tokens {
            return Circle::from_tokens(&arrays::list(path, None)?, self.bandwidth, self.modes);
        }
        Circle::from_density(&self.density()?, self.modes)
    }

    /// Cell averages of the density, on more cells than asked for if it needs them.
    fn cells(&self) -> Result<Volume> {
        if let Some(path) = &self.values {
            let (from, values) = Self::profile(path)?;
            return Volume::from_values(&values, from, self.cells.max(values.len()));
        }
        let start = self.start()?;
        Volume::of(&start, self.cells.max(4 * start.trimmed().modes()))
    }

    pub(super) fn on_circle(&self, medium: &Medium) -> Result<Outcome> {
        let mut timeline = time_line(&["t", "negentropy", "negentropy_rate", "energy", "energy_rate", "momentum", "cos_1", "sin_1"]);
        if self.method == "volume" {
            return self.by_volume(medium, self.cells()?, 0.0, timeline);
        }
        let start = match self.start() {
            // Values with corners have no series.
            Err(_) if self.method == "auto" && self.values.is_some() => return self.by_volume(medium, self.cells()?, 0.0, timeline),
            start => start?,
        };
        if self.method == "lagrangian" {
            let n = self.particles.unwrap_or(512.max(4 * start.trimmed().modes() + 4));
            in_range("--particles", n as f64, 16.0, 20_000.0)?;
            let start = start.trimmed();
            if n < 4 * start.modes() + 4 {
                return Err(Error::parameter("--particles", n, format!("at least {} for this density", 4 * start.modes() + 4)));
            }
            let mut end = self.by_particles(medium, Lagrangian::on_circle(&start, n)?, Lagrangian::on_circle(&start, n / 2)?)?;
            moments(&mut end);
            return Ok(end);
        }
        let needed = start.trimmed().modes();
        if needed > self.max_modes {
            if self.method == "auto" {
                return self.by_volume(medium, self.cells()?, 0.0, timeline);
            }
            return Err(self.too_fine(needed));
        }
        let row = |t: f64, c: &Circle| {
            let rates = [c.negentropy_rate(medium), c.energy(medium), c.energy_rate(medium), c.momentum(medium)];
            [&[t, c.negentropy()], &rates[..], &[2.0 * c.c[1].re, -2.0 * c.c[1].im]].concat()
        };
        timeline.rows.push(row(0.0, &start));
        let (state, t, end) = start.evolve(medium, self.t_end, self.max_modes, |t, c| {
            if self.keeps() {
                timeline.rows.push(row(t, c));
            }
            going_on()
        })?;
        if end == End::UnderResolved && self.method == "auto" {
            return self.by_volume(medium, Volume::of(&state, self.cells)?, t, timeline);
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
    fn by_volume(&self, medium: &Medium, mut volume: Volume, t: f64, mut timeline: Table) -> Result<Outcome> {
        let mut last = (t, volume.negentropy());
        let mut rate = volume.series(volume.cells.len() / 2)?.negentropy_rate(medium);
        timeline.rows.push([&[t, last.1, rate], &[f64::NAN; 5][..]].concat());
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
        let averaged = volume.series(512)?;
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

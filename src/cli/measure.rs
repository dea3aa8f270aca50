//! `measure`: evolve a density by the continuity equation.

use super::output::{Output, finite, note};
use crate::continuity::{End, Medium, circle::Circle, density::Density, sphere2::Sphere2, volume, volume::Volume, zonal::Zonal};
use crate::error::{Error, Result, in_range};
use crate::flow::Table;
use crate::lab::{Provenance, arrays};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `measure`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable measure --space circle --density cos:1=0.2,2=-0.1 --dynamics sa --beta 4 --t-end 1
  metastable measure --space circle --density noise:amplitude=0.01 --dynamics usa --beta 5 --t-end 0.5 --out run
  metastable measure --space zonal --d 64 --density vmf:kappa=5,at=0 --dynamics sa --beta 2 --t-end 3")]
pub struct Arguments {
    /// circle, zonal (axisymmetric on S^(d-1), with --d), or sphere2 (all of S^2).
    #[arg(long)]
    space: String,
    /// Ambient dimension of zonal densities.
    #[arg(long, default_value_t = 3, allow_hyphen_values = true)]
    d: i64,
    /// Density: uniform, cos:1=0.2,2=-0.1, sin:..., vmf:kappa=K,at=A,mass=M, noise:amplitude=A,modes=K,seed=S, joined by +.
    #[arg(long, value_name = "SPEC")]
    density: Option<String>,
    /// Circle: values of the density on an equispaced grid instead (CSV, NPY).
    #[arg(long, value_name = "FILE", conflicts_with = "density")]
    values: Option<PathBuf>,
    /// Circle: angles; the density is their estimate with kernel e^(B cos), B from --bandwidth.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["density", "values"])]
    angles: Option<PathBuf>,
    /// Inverse temperature of the kernel of --angles.
    #[arg(long, default_value_t = 100.0, allow_hyphen_values = true)]
    bandwidth: f64,
    /// sa, usa (in U1) or sinkhorn.
    #[arg(long, default_value = "sa")]
    dynamics: String,
    /// Inverse temperature, of either sign.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// End time.
    #[arg(long, allow_hyphen_values = true)]
    t_end: f64,
    /// Noise: dX = v dt + sqrt(2/kappa) dW.
    #[arg(long, value_name = "KAPPA", allow_hyphen_values = true)]
    noise: Option<f64>,
    /// spectral (ends when under-resolved), volume (finite volumes), or auto: spectral, then volume.
    #[arg(long, default_value = "auto")]
    method: String,
    /// Modes to begin with; they double as needed.
    #[arg(long, default_value_t = 64)]
    modes: usize,
    /// Most modes.
    #[arg(long, default_value_t = 2048)]
    max_modes: usize,
    /// Finite-volume cells.
    #[arg(long, default_value_t = 1024)]
    cells: usize,
    /// Write a time line (negentropy, its rate, first coefficient) and the final density into this new folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What an evolution ended with.
struct Outcome {
    t: f64,
    outcome: &'static str,
    method: &'static str,
    cosines: Vec<f64>,
    sines: Vec<f64>,
    negentropy: f64,
    rate: f64,
    values: Vec<f64>,
    timeline: Table,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let diffusion = match self.noise {
            Some(kappa) => 1.0 / in_range("--noise", kappa, 1e-6, 1e12)?,
            None => 0.0,
        };
        let medium = Medium::new(&self.dynamics, self.beta, diffusion)?;
        in_range("--t-end", self.t_end, 0.0, 1e6)?;
        if !["auto", "spectral", "volume"].contains(&self.method.as_str()) {
            return Err(Error::unknown("method", &self.method, ["auto", "spectral", "volume"]));
        }
        if !(8..=8192).contains(&self.modes) || !(self.modes..=16384).contains(&self.max_modes) || !(16..=65536).contains(&self.cells) {
            let found = format!("{} modes, at most {}, {} cells", self.modes, self.max_modes, self.cells);
            return Err(Error::parameter("--modes", found, "8 to 8192 modes, at most 16384, and 16 to 65536 cells"));
        }
        let end = match self.space.as_str() {
            "circle" => self.on_circle(&medium)?,
            "zonal" => self.zonal(&medium)?,
            "sphere2" => self.sphere2(&medium)?,
            other => return Err(Error::unknown("space", other, ["circle", "zonal", "sphere2"])),
        };
        let json = self.json(&end);
        if let Some(folder) = &self.out {
            self.write(folder, &end, &json)?;
        }
        let text = format!(
            "t = {}: {} ({})\nnegentropy {:.12}, rate {:.12}\ncoefficients {:?}",
            end.t,
            end.outcome,
            end.method,
            end.negentropy,
            end.rate,
            &end.cosines[..end.cosines.len().min(9)]
        );
        out.result(&json, &text);
        if end.outcome == "reached" {
            return Ok(0);
        }
        let hint = match self.space.as_str() {
            "circle" => "raise --max-modes, or use --method auto (finite volumes)",
            "zonal" => "at most 256 modes are used for zonal densities; end earlier",
            _ => "degree 128 is the largest on S^2; end earlier",
        };
        note(&format!("the density became finer than the modes allow at t = {}; {hint}", end.t));
        Ok(4)
    }

    fn json(&self, end: &Outcome) -> Value {
        let shown = |v: &[f64]| -> Vec<Value> { v.iter().take(257).map(|v| finite(*v)).collect() };
        json!({
            "space": self.space, "dynamics": self.dynamics, "beta": self.beta, "t": end.t, "outcome": end.outcome, "method": end.method,
            "coefficients": shown(&end.cosines), "sine_coefficients": shown(&end.sines), "modes": end.cosines.len().saturating_sub(1),
            "negentropy": finite(end.negentropy), "negentropy_rate": finite(end.rate), "d": match self.space.as_str() { "zonal" => self.d, "sphere2" => 3, _ => 2 },
            "convention": "density relative to the uniform probability measure; coefficients of cos k theta (zonal: of P_k with P_k(1) = 1), 1 first",
            "values": shown(&end.values), "time_scale": "u1",
        })
    }

    fn density(&self) -> Result<Density> {
        let text = self
            .density
            .as_deref()
            .ok_or_else(|| Error::parameter("--density", "nothing", "--density SPEC, --values FILE or --angles FILE"))?;
        Density::parse(text)
    }

    fn start(&self) -> Result<Circle> {
        if let Some(path) = &self.values {
            return Circle::from_values(&arrays::list(path, None)?, self.modes);
        }
        if let Some(path) = &self.angles {
            let angles = arrays::list(path, None)?;
            in_range("--bandwidth", self.bandwidth, 0.0, 1e5)?;
            let points = 8 * self.modes.max(64);
            let at = |j: usize| std::f64::consts::TAU * j as f64 / points as f64;
            let kernel = |t: f64| angles.iter().map(|a| (self.bandwidth * ((t - a).cos() - 1.0)).exp()).sum::<f64>();
            return Circle::from_values(&(0..points).map(|j| kernel(at(j))).collect::<Vec<_>>(), self.modes);
        }
        Circle::from_density(&self.density()?, self.modes)
    }

    fn on_circle(&self, medium: &Medium) -> Result<Outcome> {
        let start = self.start()?;
        let columns = ["t", "negentropy", "rate", "cos_1", "sin_1"].map(String::from).to_vec();
        let mut timeline = Table { columns, rows: Vec::new() };
        let keep = self.out.is_some();
        let row = |t: f64, c: &Circle| vec![t, c.negentropy(), c.negentropy_rate(medium), 2.0 * c.c[1].re, -2.0 * c.c[1].im];
        timeline.rows.push(row(0.0, &start));
        let (state, t, end) = if self.method == "volume" {
            (start, 0.0, End::UnderResolved)
        } else {
            start.evolve(medium, self.t_end, self.max_modes, |t, c| {
                if keep {
                    timeline.rows.push(row(t, c));
                }
            })?
        };
        if end == End::Reached || self.method == "spectral" {
            let (negentropy, rate) = (state.negentropy(), state.negentropy_rate(medium));
            let values = state.values(256);
            return Ok(Outcome {
                t,
                outcome: end.name(),
                method: "spectral",
                cosines: state.cosines(),
                sines: state.sines(),
                negentropy,
                rate,
                values,
                timeline,
            });
        }
        self.by_volume(medium, &state, t, timeline)
    }

    /// Finite volumes from a state at time t to the end.
    fn by_volume(&self, medium: &Medium, state: &Circle, t: f64, mut timeline: Table) -> Result<Outcome> {
        let keep = self.out.is_some();
        // Cell averages of the Fourier series, exactly positive from here on.
        let n = self.cells;
        let fine = state.values(16 * n);
        let per = fine.len() / n;
        let cells: Vec<f64> = (0..n).map(|j| (fine[j * per..(j + 1) * per].iter().sum::<f64>() / per as f64).max(0.0)).collect();
        let mut volume = Volume::new(cells)?;
        let mut last = (t, volume.negentropy());
        let mut rate = 0.0;
        let mut steps = 0u64;
        volume.evolve(medium, self.t_end - t, |s, cells| {
            steps += 1;
            // The negentropy costs as much as a step: every sixteenth, and the last ones for the rate.
            if !steps.is_multiple_of(16) && t + s < self.t_end {
                return;
            }
            let h = volume::negentropy(cells);
            if t + s > last.0 {
                rate = (h - last.1) / (t + s - last.0);
            }
            last = (t + s, h);
            if keep {
                timeline.rows.push(vec![t + s, h, rate, f64::NAN, f64::NAN]);
            }
        })?;
        let averaged = Circle::from_values(&volume.cells, (n / 2 - 1).min(512))?;
        Ok(Outcome {
            t: self.t_end,
            outcome: "reached",
            method: if t > 0.0 { "spectral, then finite volumes" } else { "finite volumes" },
            cosines: averaged.cosines(),
            sines: averaged.sines(),
            negentropy: volume.negentropy(),
            rate,
            values: volume.cells,
            timeline,
        })
    }

    fn zonal(&self, medium: &Medium) -> Result<Outcome> {
        let d = usize::try_from(self.d)
            .ok()
            .filter(|d| (2..=1024).contains(d))
            .ok_or_else(|| Error::parameter("--d", self.d, "a dimension in [2, 1024]"))?;
        let start = Zonal::from_density(&self.density()?, d, self.modes.min(128))?;
        let mut timeline = Table { columns: ["t", "negentropy", "rate", "axis_mean"].map(String::from).to_vec(), rows: Vec::new() };
        let (keep, mut failed) = (self.out.is_some(), None);
        let (state, t, end) = start.evolve(medium, self.t_end, self.max_modes, |t, z| {
            if keep {
                match (z.negentropy(), z.negentropy_rate(medium)) {
                    (Ok(h), Ok(r)) => timeline.rows.push(vec![t, h, r, z.axis_mean()]),
                    (Err(e), _) | (_, Err(e)) => failed = Some(e),
                }
            }
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
        let (negentropy, rate) = (state.negentropy()?, state.negentropy_rate(medium)?);
        Ok(Outcome {
            t,
            outcome: end.name(),
            method: "spectral",
            cosines: state.coefficients(),
            sines: Vec::new(),
            negentropy,
            rate,
            values: Vec::new(),
            timeline,
        })
    }

    fn sphere2(&self, medium: &Medium) -> Result<Outcome> {
        let start = Sphere2::from_density(&self.density()?, self.modes.min(32))?;
        let mut timeline = Table { columns: ["t", "negentropy", "rate", "mean_length"].map(String::from).to_vec(), rows: Vec::new() };
        let keep = self.out.is_some();
        let (state, t, end) = start.evolve(medium, self.t_end, self.max_modes, |t, a| {
            if keep {
                timeline.rows.push(vec![t, a.negentropy(), a.negentropy_rate(medium), a.mean_length()]);
            }
        })?;
        let (negentropy, rate, cosines) = (state.negentropy(), state.negentropy_rate(medium), state.zonal_coefficients());
        Ok(Outcome {
            t,
            outcome: end.name(),
            method: "spectral",
            cosines,
            sines: Vec::new(),
            negentropy,
            rate,
            values: Vec::new(),
            timeline,
        })
    }

    fn write(&self, folder: &std::path::Path, end: &Outcome, json: &Value) -> Result<()> {
        super::solve::create(folder)?;
        let reproduce = format!("metastable {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
        let provenance = Provenance::new("measure", &reproduce, reproduce.clone());
        let mut record = json.clone();
        record["provenance"] = serde_json::to_value(&provenance).unwrap_or_default();
        let sine = |k: usize| end.sines.get(k).copied().unwrap_or(0.0);
        let coefficients = Table {
            columns: ["k", "cosine", "sine"].map(String::from).to_vec(),
            rows: end.cosines.iter().enumerate().map(|(k, c)| vec![k as f64, *c, sine(k)]).collect(),
        };
        for (name, bytes) in [
            ("timeline.csv", arrays::csv_text(&end.timeline, &provenance.csv_header()).into_bytes()),
            ("coefficients.csv", arrays::csv_text(&coefficients, &provenance.csv_header()).into_bytes()),
            ("record.json", record.to_string().into_bytes()),
        ] {
            arrays::write_atomically(&folder.join(name), &bytes)?;
        }
        note(&format!("wrote {}", folder.display()));
        Ok(())
    }
}

//! `measure`: evolve a density by the continuity equation.

mod circle;
mod sphere2;
mod zonal;

use super::CANCEL;
use super::output::{Output, finite, note};
use crate::continuity::{End, Medium, density::Density, lagrangian::Lagrangian};
use crate::error::{Error, Result, in_range};
use crate::flow::Table;
use crate::lab::{Provenance, arrays};
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Flags of `measure`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable measure --space circle --density cos:1=0.2,2=-0.1 --dynamics sa --beta 4 --t-end 1
  metastable measure --space circle --density noise:amplitude=0.01 --dynamics usa --beta 5 --t-end 0.5 --out run
  metastable measure --space zonal --d 64 --density noise:amplitude=0.01,modes=8 --dynamics sa --beta 5 --t-end 30
  metastable measure --space sphere2 --density noise:amplitude=0.01,modes=8 --dynamics usa --beta 4 --t-end 0.1 --method lagrangian")]
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
    /// Values of the density instead (CSV, NPY): circle, equispaced angles; zonal, equispaced polar angles from 0 to pi; sphere2, a matrix as `values.csv` of --out.
    #[arg(long, value_name = "FILE", conflicts_with = "density")]
    values: Option<PathBuf>,
    /// Tokens (circle: angles): the density is their estimate with kernel e^(B <x, y>), B from --bandwidth.
    #[arg(long, visible_alias = "angles", value_name = "FILE", conflicts_with_all = ["density", "values"])]
    tokens: Option<PathBuf>,
    /// Inverse temperature of the kernel of --tokens.
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
    /// spectral (ends when under-resolved), volume (finite volumes, circle), lagrangian (particles that carry the density), or auto: spectral, then what the space has for late times.
    #[arg(long, default_value = "auto")]
    method: String,
    /// Modes to begin with; more if the density needs them, and they double as needed.
    #[arg(long, default_value_t = 64)]
    modes: usize,
    /// Most modes.
    #[arg(long, default_value_t = 2048)]
    max_modes: usize,
    /// Finite-volume cells; more if the density needs them.
    #[arg(long, default_value_t = 1024)]
    cells: usize,
    /// Particles (circle) or rings (zonal) of the Lagrangian method; on S^2 the number of latitudes, with twice as many longitudes.
    #[arg(long, value_name = "N")]
    particles: Option<usize>,
    /// Write a time line (negentropy, energy, their rates, first moments), the final coefficients and values into this new folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What an evolution ended with.
struct Outcome {
    t: f64,
    end: End,
    method: &'static str,
    /// Columns k, cosine, sine (circle), k, cosine (zonal), or l, m, re, im (S^2).
    coefficients: Table,
    negentropy: f64,
    rate: f64,
    energy: f64,
    /// Final density on a grid, or the particles with their masses and log densities.
    values: Table,
    timeline: Table,
    /// Difference of the negentropy from a run with half of the particles.
    resolution_error: Option<f64>,
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
        let methods: &[&str] =
            if self.space == "circle" { &["auto", "spectral", "volume", "lagrangian"] } else { &["auto", "spectral", "lagrangian"] };
        if !methods.contains(&self.method.as_str()) {
            return Err(Error::unknown("method", &self.method, methods.iter().copied()));
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
        out.result(&json, &text(&end));
        match end.end {
            End::Reached => Ok(0),
            End::Interrupted => Ok(130),
            End::UnderResolved => {
                note(&format!(
                    "the density became finer than the modes allow at t = {}; use --method auto or lagrangian, or raise --max-modes",
                    end.t
                ));
                Ok(4)
            }
        }
    }

    fn json(&self, end: &Outcome) -> Value {
        let column = |name: &str| -> Vec<Value> { column(&end.coefficients, name).into_iter().map(finite).collect() };
        let (cosines, sines) = (column("cosine"), column("sine"));
        let density = end.values.columns.iter().position(|c| c == "density");
        let values: Vec<Value> = density.map_or_else(Vec::new, |k| end.values.rows.iter().map(|r| finite(r[k])).collect());
        json!({
            "space": self.space, "dynamics": self.dynamics, "beta": self.beta, "t": end.t, "outcome": end.end.name(), "method": end.method,
            "modes": cosines.len().saturating_sub(1), "coefficients": cosines, "sine_coefficients": sines,
            "negentropy": finite(end.negentropy), "negentropy_rate": finite(end.rate), "energy_above_uniform": finite(end.energy),
            "d": match self.space.as_str() { "zonal" => self.d, "sphere2" => 3, _ => 2 },
            "convention": "density relative to the uniform probability measure; coefficients of cos k theta (zonal, sphere2: of P_k with P_k(1) = 1), 1 first",
            "values": values, "resolution_error": end.resolution_error.map_or(Value::Null, finite), "time_scale": "u1",
        })
    }

    fn density(&self) -> Result<Density> {
        let text = self
            .density
            .as_deref()
            .ok_or_else(|| Error::parameter("--density", "nothing", "--density SPEC, --values FILE or --tokens FILE"))?;
        Density::parse(text)
    }

    /// The tokens of `--tokens`.
    fn cloud(&self, path: &Path) -> Result<Tokens> {
        arrays::tokens(path, None, false)
    }

    /// Values on a line and the place of the first: one number a row, or place and density a row as in `values.csv` of --out.
    fn profile(path: &Path) -> Result<(f64, Vec<f64>)> {
        match arrays::matrix(path, None) {
            Ok((rows, values)) if rows > 2 && values.len() == 2 * rows => Ok((values[0], values.into_iter().skip(1).step_by(2).collect())),
            _ => Ok((0.0, arrays::list(path, None)?)),
        }
    }

    /// A density finer than the modes allowed.
    fn too_fine(&self, needed: usize) -> Error {
        Error::parameter("--max-modes", self.max_modes, format!("at least {needed}, which this density needs, or another --method"))
    }

    /// Whether to write a time line, whose rows cost as much as steps.
    fn keeps(&self) -> bool {
        self.out.is_some()
    }

    /// Evolves particles that carry the density; the same with half of them tells how well they resolve it.
    fn by_particles(&self, medium: &Medium, start: Lagrangian, half: Lagrangian) -> Result<Outcome> {
        let mut timeline = time_line(&["t", "negentropy", "negentropy_rate", "energy", "mean_length"]);
        let length = |l: &Lagrangian| l.x.mean().iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut failed = None;
        let (state, t, end) = start.evolve(medium, self.t_end, |t, l| {
            if self.keeps() {
                match l.negentropy_rate(medium) {
                    Ok(rate) => timeline.rows.push(vec![t, l.negentropy(), rate, l.energy(medium), length(l)]),
                    Err(e) => failed = Some(e),
                }
            }
            going_on()
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
        let coarse = half.evolve(medium, t, |_, _| going_on())?.0;
        let d = state.x.d();
        let columns: Vec<String> = (1..=d).map(|k| format!("x{k}")).chain(["mass".into(), "log_density".into()]).collect();
        let row = |i: usize| state.x.row(i).iter().copied().chain([state.x.masses()[i], state.log_density[i]]).collect();
        let (negentropy, rate, energy) = (state.negentropy(), state.negentropy_rate(medium)?, state.energy(medium));
        Ok(Outcome {
            t,
            end,
            method: "lagrangian",
            coefficients: time_line(&["k", "cosine", "sine"]),
            negentropy,
            rate,
            energy,
            values: Table { columns, rows: (0..state.x.n()).map(row).collect() },
            timeline,
            resolution_error: Some((coarse.negentropy() - negentropy).abs()),
        })
    }

    fn write(&self, folder: &Path, end: &Outcome, json: &Value) -> Result<()> {
        super::solve::create(folder)?;
        let reproduce = format!("metastable {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
        let provenance = Provenance::new("measure", &reproduce, reproduce.clone());
        let mut record = json.clone();
        record["provenance"] = serde_json::to_value(&provenance).unwrap_or_default();
        for (name, table) in [("timeline.csv", &end.timeline), ("coefficients.csv", &end.coefficients), ("values.csv", &end.values)] {
            arrays::write_atomically(&folder.join(name), arrays::csv_text(table, &provenance.csv_header()).as_bytes())?;
        }
        arrays::write_atomically(&folder.join("record.json"), record.to_string().as_bytes())?;
        note(&format!("wrote {}", folder.display()));
        Ok(())
    }
}

fn text(end: &Outcome) -> String {
    let cosines = column(&end.coefficients, "cosine");
    let resolution = end.resolution_error.map_or_else(String::new, |e| format!("; half of the particles change the negentropy by {e:.1e}"));
    format!(
        "t = {}: {} ({}{resolution})\nnegentropy {:.12}, rate {:.12}, energy above uniform {:.12}\ncoefficients {:?}",
        end.t,
        end.end.name(),
        end.method,
        end.negentropy,
        end.rate,
        end.energy,
        &cosines[..cosines.len().min(9)]
    )
}

/// An empty table.
fn time_line(columns: &[&str]) -> Table {
    Table { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
}

/// One column of a table without the entries that are not numbers; empty if there is none.
fn column(table: &Table, name: &str) -> Vec<f64> {
    let place = table.columns.iter().position(|c| c == name);
    place.map_or_else(Vec::new, |k| table.rows.iter().map(|r| r[k]).filter(|v| !v.is_nan()).collect())
}

/// False after Ctrl-C.
fn going_on() -> bool {
    !CANCEL.load(Ordering::Relaxed)
}

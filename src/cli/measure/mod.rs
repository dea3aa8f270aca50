//! `measure`: evolve a density by the continuity equation.

mod choice;
mod circle;
mod outcome;
mod sphere2;
mod stills;
mod zonal;

use super::cancel::cancelled;
use super::film::Reel;
use super::output::{Output, note};
use crate::continuity::{End, Limits, Medium, density::Density};
use crate::error::{Error, Result, in_range};
use crate::lab::{Provenance, arrays};
use crate::sphere::Tokens;
use choice::{Method, Place};
use outcome::{Checked, LastState};
use serde_json::Value;
use std::path::{Path, PathBuf};

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
    /// Ambient dimension of zonal densities (default 3).
    #[arg(long, allow_hyphen_values = true)]
    d: Option<i64>,
    /// Density: uniform, cos:1=0.2,2=-0.1, sin:..., vmf:kappa=K,at=A,mass=M, noise:amplitude=A,modes=K,seed=S, joined by +. On the circle cos:k=a is a cos(k theta);
    /// on zonal and sphere2 it is a P_k(cos theta), with P_k the Legendre (Gegenbauer) polynomial of degree k scaled to P_k(1) = 1, theta the angle from the pole.
    #[arg(long, value_name = "SPEC")]
    density: Option<String>,
    /// Values of the density instead (CSV, NPY): circle, equispaced angles; zonal, equispaced polar angles from 0 to pi; sphere2, a matrix as `values.csv` of --out.
    #[arg(long, value_name = "FILE", conflicts_with = "density")]
    values: Option<PathBuf>,
    /// Tokens (circle: angles): the density is their estimate with kernel e^(B <x, y>), B from --bandwidth.
    #[arg(long, visible_alias = "angles", value_name = "FILE", conflicts_with_all = ["density", "values"])]
    tokens: Option<PathBuf>,
    /// Inverse temperature of the kernel of --tokens (default 100).
    #[arg(long, allow_hyphen_values = true)]
    bandwidth: Option<f64>,
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
    /// spectral, volume (finite volumes, circle), lagrangian (particles that carry the density), or auto: spectral, and particles (with noise: finite volumes on the circle)
    /// where the density becomes too fine. Every run is made twice, in two resolutions; where they disagree it ends as under-resolved, with exit code 4.
    #[arg(long, default_value = "auto")]
    method: String,
    /// Modes to begin with; more if the density needs them, and they double as needed.
    #[arg(long, default_value_t = 64)]
    modes: usize,
    /// Most modes (default 2048).
    #[arg(long)]
    max_modes: Option<usize>,
    /// Finite-volume cells; more if the density needs them (default 1024).
    #[arg(long)]
    cells: Option<usize>,
    /// Rings (zonal) of the Lagrangian method, particles to begin with (circle: more come in where they part); on S^2 the number of latitudes, with twice as many longitudes.
    #[arg(long, value_name = "N")]
    particles: Option<usize>,
    /// Write a time line (negentropy, energy, their rates, first moments), the final coefficients and values into this new folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A film of the density (.gif, .png, .mp4, or a name that ends in / for numbered frames), on the circle and on S^2, as long as its series resolves it.
    #[arg(long, value_name = "FILE")]
    movie: Option<PathBuf>,
}

/// One of the two runs whose difference is the error.
#[derive(Clone, Copy)]
struct Pass {
    method: Method,
    t_end: f64,
    /// The second one: another resolution, coarser tolerances.
    second: bool,
}

impl Pass {
    /// Modes, a quarter more in the second run.
    fn modes(self, modes: usize) -> usize {
        if self.second { (5 * modes / 4).next_multiple_of(2) } else { modes }
    }

    fn limits(self, most: usize) -> Limits {
        Limits { modes: self.modes(most), relax: if self.second { 10.0 } else { 1.0 } }
    }

    /// Particles, cells and rings, half of them in the second run.
    fn half(self, n: usize) -> usize {
        if self.second { (n / 2).next_multiple_of(2) } else { n }
    }

    /// The tolerances of particles.
    fn step(self) -> (f64, f64) {
        if self.second { (3e-10, 3e-12) } else { (1e-11, 1e-13) }
    }
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
        let place = Place::parse(&self.space)?;
        let method = Method::parse(&self.method, place)?;
        self.check_flags(place, method)?;
        let (most, cells) = (self.max_modes(), self.cells());
        if !(8..=8192).contains(&self.modes) || !(self.modes..=16384).contains(&most) || !(32..=65536).contains(&cells) {
            let found = format!("{} modes, at most {most}, {cells} cells", self.modes);
            return Err(Error::parameter("--modes", found, "8 to 8192 modes, at most 16384, and 32 to 65536 cells"));
        }
        let d = match place {
            Place::Circle => 2,
            Place::Sphere2 => 3,
            Place::Zonal => {
                let d = self.d.unwrap_or(3);
                let whole = usize::try_from(d).ok().filter(|d| (2..=1024).contains(d));
                whole.ok_or_else(|| Error::parameter("--d", d, "a dimension in [2, 1024]"))?
            }
        };
        let reel = self.movie.as_deref().map(|path| self.reel(path, place, method)).transpose()?;
        let end = self.checked(&medium, (place, d), method)?;
        if let Some(reel) = &reel {
            let stills = if place == Place::Circle { self.circle_stills(&medium)? } else { self.sphere_stills(&medium)? };
            stills::write(&stills, reel, self.beta, self.t_end)?;
        }
        super::cancel::work_is_over();
        let json = self.json(&end, d);
        if let Some(folder) = &self.out {
            self.write(folder, &end.outcome, &json)?;
        }
        out.result(&json, &end.text());
        match end.end {
            End::Reached => Ok(0),
            End::Interrupted => Ok(130),
            End::UnderResolved => {
                let hint = if method == Method::Auto {
                    "raise --max-modes, --cells or --particles"
                } else {
                    "use --method auto, or a finer resolution"
                };
                let when = if end.outcome.end == End::UnderResolved { "after" } else { "by" };
                note(&format!("the density becomes finer than the resolution allows {when} t = {}; {hint}", end.outcome.t));
                Ok(4)
            }
        }
    }

    /// The film that is wanted.
    fn reel<'a>(&self, path: &'a Path, place: Place, method: Method) -> Result<Reel<'a>> {
        if place == Place::Zonal || !matches!(method, Method::Spectral | Method::Auto) {
            return Err(Error::parameter("--movie", path.display(), "the circle or S^2, by the spectral method or auto"));
        }
        Reel::new(path, "--movie", 110.0, 20)
    }

    fn max_modes(&self) -> usize {
        self.max_modes.unwrap_or(2048)
    }

    fn cells(&self) -> usize {
        self.cells.unwrap_or(1024)
    }

    fn bandwidth(&self) -> f64 {
        self.bandwidth.unwrap_or(100.0)
    }

    /// Flags that this space and method have no use for are refused.
    fn check_flags(&self, place: Place, method: Method) -> Result<()> {
        let (circle, noisy) = (place == Place::Circle, self.noise.is_some());
        let volumes = circle && (method == Method::Volume || method == Method::Auto && noisy);
        let particles = !noisy && (method == Method::Lagrangian || method == Method::Auto);
        let modes = matches!(method, Method::Spectral | Method::Auto);
        let refuse = |flag: &str, found: String, expected: &str| Err(Error::parameter(flag, found, expected));
        if let (Some(b), None) = (self.bandwidth, &self.tokens) {
            return refuse("--bandwidth", b.to_string(), "it with --tokens, of whose kernel it is the inverse temperature");
        }
        match (self.d, self.cells, self.particles, self.max_modes) {
            (Some(d), ..) if place != Place::Zonal => refuse("--d", d.to_string(), "it with --space zonal: the circle and S^2 have theirs"),
            (_, Some(n), ..) if !volumes => refuse("--cells", n.to_string(), "it with finite volumes, on the circle"),
            (_, _, Some(n), _) if !particles => {
                refuse("--particles", n.to_string(), "it with particles, which know no noise: --method lagrangian or auto")
            }
            (.., Some(n)) if !modes => refuse("--max-modes", n.to_string(), "it with --method spectral or auto"),
            _ => Ok(()),
        }
    }

    /// The run and a second one, whose difference is the error.
    fn checked(&self, medium: &Medium, (place, d): (Place, usize), method: Method) -> Result<Checked> {
        let run = |pass: Pass| match place {
            Place::Circle => self.on_circle(medium, pass),
            Place::Zonal => self.zonal(medium, d, pass),
            Place::Sphere2 => self.sphere2(medium, pass),
        };
        let first = run(Pass { method, t_end: self.t_end, second: false })?;
        if first.end == End::Interrupted {
            return Ok(Checked::interrupted(first));
        }
        let second = run(Pass { method, t_end: first.t, second: true })?;
        Ok(Checked::new(first, &second, medium, d))
    }

    fn json(&self, end: &Checked, d: usize) -> Value {
        let mut json = end.json();
        json["space"] = self.space.as_str().into();
        json["dynamics"] = self.dynamics.as_str().into();
        json["beta"] = self.beta.into();
        json["d"] = d.into();
        json["convention"] =
            "density relative to the uniform probability measure; coefficients of cos k theta (zonal, sphere2: of P_k with P_k(1) = 1), 1 first".into();
        json["time_scale"] = "u1".into();
        json
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
        Error::parameter("--max-modes", self.max_modes(), format!("at least {needed}, which this density needs, or another --method"))
    }

    /// Whether to write a time line, whose rows cost as much as steps.
    fn keeps(&self, pass: Pass) -> bool {
        self.out.is_some() && !pass.second
    }

    fn write(&self, folder: &Path, end: &LastState, json: &Value) -> Result<()> {
        super::recording::create(folder)?;
        let reproduce = crate::cli::command_line::line();
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

/// False after Ctrl-C. Says how far the pass is.
fn going_on(t: f64, pass: Pass) -> bool {
    super::progress::report(Some(t / pass.t_end), || {
        format!("t = {t:.4e} of {:e}{}", pass.t_end, if pass.second { ", second time, for the error" } else { "" })
    });
    !cancelled()
}

//! `measure`: evolve a density by the continuity equation.

mod choice;
mod circle;
mod outcome;
mod sphere2;
mod zonal;

use super::cancel::cancelled;
use super::movie::{density, writer::MovieWriter};
use super::output::note;
use crate::attention::interaction::Interaction;
use crate::continuity::{EvolutionEnd, Limits, MeasureDynamics, density::Density};
use crate::error::{Error, Result, in_range};
use crate::lab::{Provenance, arrays};
use crate::num::deviation::largest;
use crate::operation::{
    Answer, Exit, Operation, Parameters, Rows, Span, Table, any, at_least, column, within,
};
use crate::parameters;
use crate::sphere::Tokens;
use choice::{DensitySpace, Method};
use outcome::{CheckedOutcome, LastState};
use serde_json::Value;
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `measure`.
    struct Evolution {
        /// circle, zonal (axisymmetric on S^(d-1), with --d), or sphere2 (all of S^2).
        space: String, any().form("SPACE").check(space);
        /// Ambient dimension of zonal densities (default 3).
        d: Option<usize>, within(2.0, 1024.0);
        /// Initial density: uniform, cos:1=0.2,2=-0.1, sin:..., vmf:kappa=K,at=A,mass=M or
        /// noise:amplitude=A,modes=K,seed=S, joined by +. On the circle cos:k=a stands for a cos(k
        /// theta); on zonal and sphere2 for a P_k(cos theta), where P_k is the Legendre
        /// (Gegenbauer) polynomial of degree k with P_k(1) = 1 and theta is the angle from the
        /// pole. Or a file of its values (CSV, NPY): circle, at equispaced angles; zonal, at
        /// equispaced polar angles from 0 to pi; sphere2, a matrix as in `values.csv` of --out.
        density: Option<String>, any().form("SPEC|FILE");
        /// A file of values of the initial density.
        values: Option<PathBuf>, any().hidden().excludes(&["density"]);
        /// Tokens (circle: angles); the initial density is their estimate with kernel e^(B <x, y>),
        /// with B from --kernel-beta.
        tokens: Option<PathBuf>, any().excludes(&["density", "values"]).also(&["angles"]);
        /// Inverse temperature of the kernel of --tokens (default 100).
        kernel_beta: Option<f64>, within(0.0, 1e5).needs(&["tokens"]);
        /// sa, usa (in U1) or sinkhorn.
        dynamics: String, any().or("sa").form("NAME");
        /// Inverse temperature, of either sign.
        beta: Option<f64>, any().unless(&["interaction"]);
        /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta.
        /// For --method spectral, volume or auto, which then ends where the series does (on the
        /// circle it continues with finite volumes).
        interaction: Option<String>, any().form("PHI");
        /// End time.
        t_end: f64, within(0.0, 1e6);
        /// Noise kappa=K: dX = v dt + sqrt(2/K) dW.
        noise: Option<String>, any().form("KEYS");
        /// spectral, volume (finite volumes on the circle), lagrangian (particles that carry the
        /// density), or auto: spectral, then particles (with noise on the circle: finite volumes)
        /// once the density becomes too fine. Every run is repeated at a second resolution; if the
        /// two disagree, it ends as under-resolved.
        method: String, any().or("auto").form("METHOD");
        /// Initial number of Fourier modes, which doubles as needed, up to 2048; or the initial and
        /// the largest number: 64..4096.
        modes: Span, within(8.0, 16384.0).or("64").form("K|K..MOST");
        /// The largest number of --modes.
        max_modes: Option<usize>, within(8.0, 16384.0).hidden();
        /// Number of finite volumes; more if the density needs them (default 1024).
        volumes: Option<usize>, within(32.0, 65536.0);
        /// Lagrangian method: rings (zonal), initial particles (circle) or latitudes (sphere2).
        particles: Option<usize>, at_least(1.0);
        /// Write a time line (negentropy, energy, their rates, first moments), the final
        /// coefficients and values into this new folder.
        out: Option<PathBuf>, any().form("FOLDER");
        /// Animate the density on the circle or S^2 (.gif, .png, .mp4, or a name that ends in / for
        /// numbered frames), as long as its series resolves it.
        movie: Option<PathBuf>;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "measure",
    group: "Simulate",
    summary: "Evolve a density by the continuity equation: coefficients, negentropy and its rate",
    notes: "Examples:
  metastable measure --space circle --density cos:1=0.2,2=-0.1 --dynamics sa --beta 4 --t-end 1
  metastable measure --space circle --density noise:amplitude=0.01 --dynamics usa --beta 5 \\
      --t-end 0.5 --out run
  metastable measure --space circle --density noise:amplitude=0.01 --dynamics usa \\
      --interaction power:p=2 --t-end 4
  metastable measure --space zonal --d 64 --density noise:amplitude=0.01,modes=8 --dynamics sa \\
      --beta 5 --t-end 30
  metastable measure --space sphere2 --density noise:amplitude=0.01,modes=8 --dynamics usa \\
      --beta 4 --t-end 0.1 --method lagrangian",
    parameters: Evolution::table,
    results: &[
        column("space", "circle, zonal or sphere2"),
        column("d", "ambient dimension"),
        column("dynamics", "name of the dynamics"),
        column("beta", "inverse temperature"),
        column("interaction", "the interaction"),
        column("kernel_error", "error of its series"),
        column("convention", "what the density and its coefficients are"),
        column("time_scale", "time scale of the dynamics"),
        column("method", "the method that reached the end"),
        column("t", "time at the end"),
        column("outcome", "how the run ended"),
        column("switched_at", "time at which the method changed"),
        column("switched_to", "the method after it"),
        column("modes", "number of modes"),
        column("particles", "number of particles"),
        column("volumes", "number of finite volumes"),
        column("steps", "number of steps"),
        column("negentropy", "negentropy at the end"),
        column("negentropy_rate", "its rate"),
        column("energy", "energy at the end"),
        column("mass_error", "error of the total mass"),
    ],
    tables: &[Table {
        name: "coefficients",
        what: "one row for each coefficient at the end",
        rows: Rows::Lists,
        columns: &[
            column("coefficients", "coefficient of the cosine or of P_k"),
            column("sine_coefficients", "coefficient of the sine"),
        ],
    }],
    exits: &[
        (Exit::Shown, "the run reached its end"),
        (Exit::Failure, "the density needs a finer resolution"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Evolution::of(given)?.run(),
    ..Operation::EMPTY
};

/// One of the two runs whose difference estimates the error.
#[derive(Clone, Copy)]
struct Pass {
    method: Method,
    t_end: f64,
    /// The second run: another resolution, coarser tolerances.
    second: bool,
}

impl Pass {
    /// Number of modes, a quarter more in the second run.
    fn modes(self, modes: usize) -> usize {
        if self.second { (5 * modes / 4).next_multiple_of(2) } else { modes }
    }

    fn limits(self, most: usize) -> Limits {
        Limits {
            max_modes: self.modes(most),
            tolerance_factor: if self.second { 10.0 } else { 1.0 },
        }
    }

    /// Number of particles, volumes or rings, half in the second run.
    fn half(self, n: usize) -> usize {
        if self.second { (n / 2).next_multiple_of(2) } else { n }
    }

    /// The tolerances of particles.
    fn step(self) -> (f64, f64) {
        if self.second { (3e-10, 3e-12) } else { (1e-11, 1e-13) }
    }
}

/// **Errors** a text that is no space of densities.
fn space(name: &str) -> Result<()> {
    DensitySpace::parse(name).map(drop)
}

impl Evolution {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        let medium = self.medium()?;
        let space = DensitySpace::parse(&self.space)?;
        let method = Method::parse(&self.method, space)?;
        self.check_flags(space, method)?;
        let most = self.max_modes();
        if most < self.modes() {
            return Err(Error::parameter(
                "modes",
                most,
                format!("at most {} at the start", self.modes()),
            ));
        }
        let d = match space {
            DensitySpace::Circle => 2,
            DensitySpace::Sphere2 => 3,
            DensitySpace::Zonal => self.d.unwrap_or(3),
        };
        let reel = self.movie.as_deref().map(|path| self.reel(path, space, method)).transpose()?;
        self.out.iter().try_for_each(|folder| super::recording::create(folder))?;
        let _ending = super::cancel::ends_itself();
        let end = self.checked(&medium, (space, d), method).inspect_err(|_| {
            // The folder is removed if it is empty.
            let _ = self.out.as_ref().map(std::fs::remove_dir);
        })?;
        if let Some(reel) = &reel {
            match self.film(reel, &medium, space) {
                // What was computed is printed and written.
                Err(Error::Interrupted { resume }) => note(&format!("interrupted; {resume}")),
                made => made?,
            }
        }
        let json = self.json(&end, &medium, d)?;
        if let Some(folder) = &self.out {
            self.write(folder, &end.outcome, &json)?;
        }
        let answer = Answer::new(json, end.text());
        match end.end {
            EvolutionEnd::Reached => Ok(answer),
            EvolutionEnd::Interrupted => Ok(answer.ended(Exit::Interrupted)),
            EvolutionEnd::UnderResolved => {
                let hint = if method == Method::Auto {
                    "raise --modes, --volumes or --particles"
                } else {
                    "use --method auto, or a finer resolution"
                };
                let when =
                    if end.outcome.end == EvolutionEnd::UnderResolved { "after" } else { "by" };
                note(&format!(
                    "the density needs a finer resolution {when} t = {}; {hint}",
                    end.outcome.t
                ));
                Ok(answer.ended(Exit::Failure))
            }
        }
    }

    /// The dynamics.
    fn medium(&self) -> Result<MeasureDynamics> {
        let beta = self.beta.unwrap_or_default();
        let medium = MeasureDynamics::new(&self.dynamics, beta, self.diffusion()?)?;
        let Some(text) = &self.interaction else { return Ok(medium) };
        let parameters: Vec<(&str, f64)> = self.beta.iter().map(|b| ("beta", *b)).collect();
        medium.with_interaction(Interaction::parse(text, &parameters)?)
    }

    /// The title of pictures.
    fn title(&self) -> String {
        match (&self.interaction, self.beta) {
            (Some(phi), _) => format!("\u{3c6} = {phi}"),
            (None, beta) => format!("\u{3b2} = {}", beta.unwrap_or_default()),
        }
    }

    /// The movie of --movie.
    fn reel<'a>(
        &self,
        path: &'a Path,
        space: DensitySpace,
        method: Method,
    ) -> Result<MovieWriter<'a>> {
        if space == DensitySpace::Zonal || !matches!(method, Method::Spectral | Method::Auto) {
            return Err(Error::parameter(
                "--movie",
                path.display(),
                "the circle or S^2, by the spectral method or auto",
            ));
        }
        MovieWriter::new("movie of a density", path, "--movie", 110.0, 20)
    }

    /// Writes the movie.
    fn film(
        &self,
        reel: &MovieWriter,
        medium: &MeasureDynamics,
        space: DensitySpace,
    ) -> Result<()> {
        let frames = if space == DensitySpace::Circle {
            self.circle_frames(medium)?
        } else {
            self.sphere_frames(medium)?
        };
        density::write(&frames, reel, &self.title(), self.t_end)
    }

    /// 1/kappa; 0 without noise.
    fn diffusion(&self) -> Result<f64> {
        let Some(text) = &self.noise else { return Ok(0.0) };
        let kappa = text.strip_prefix("kappa=").and_then(|kappa| kappa.trim().parse().ok());
        let kappa =
            kappa.ok_or_else(|| Error::parameter("--noise", text, "kappa=K with a number K"))?;
        Ok(1.0 / in_range("--noise", kappa, 1e-6, 1e12)?)
    }

    fn max_modes(&self) -> usize {
        let high = self.modes.is_interval().then_some(self.modes.high as usize);
        self.max_modes.or(high).unwrap_or(2048)
    }

    /// Initial number of modes.
    fn modes(&self) -> usize {
        self.modes.low as usize
    }

    fn volume_count(&self) -> usize {
        self.volumes.unwrap_or(1024)
    }

    fn kernel_beta(&self) -> f64 {
        self.kernel_beta.unwrap_or(100.0)
    }

    /// **Errors** flags without effect for this space and method.
    fn check_flags(&self, space: DensitySpace, method: Method) -> Result<()> {
        let (circle, noisy) = (space == DensitySpace::Circle, self.noise.is_some());
        let volumes = circle && (method == Method::Volume || method == Method::Auto && noisy);
        let own = self.interaction.is_some();
        if own && circle && method == Method::Lagrangian {
            return Err(Error::parameter(
                "--method",
                "lagrangian",
                "spectral, volume or auto with an interaction of its own on the circle",
            ));
        }
        let volumes = volumes || circle && own && method == Method::Auto;
        let particles = !noisy && (method == Method::Lagrangian || !own && method == Method::Auto);
        let modes = matches!(method, Method::Spectral | Method::Auto);
        let refuse = |flag: &str, found: String, expected: &str| {
            Err(Error::parameter(flag, found, expected))
        };
        let most = self.max_modes.or(self.modes.is_interval().then(|| self.max_modes()));
        match (self.d, self.volumes, self.particles, most) {
            (Some(d), ..) if space != DensitySpace::Zonal => {
                refuse("--d", d.to_string(), "it with --space zonal only")
            }
            (_, Some(n), ..) if !volumes => {
                refuse("--volumes", n.to_string(), "it with finite volumes, on the circle")
            }
            (_, _, Some(n), _) if !particles => refuse(
                "--particles",
                n.to_string(),
                "it with --method lagrangian or auto, without noise",
            ),
            (.., Some(n)) if !modes => {
                refuse("--modes", n.to_string(), "it with --method spectral or auto")
            }
            _ => Ok(()),
        }
    }

    /// The run with its error, the difference from a second run.
    fn checked(
        &self,
        medium: &MeasureDynamics,
        (space, d): (DensitySpace, usize),
        method: Method,
    ) -> Result<CheckedOutcome> {
        let run = |pass: Pass| match space {
            DensitySpace::Circle => self.on_circle(medium, pass),
            DensitySpace::Zonal => self.zonal(medium, d, pass),
            DensitySpace::Sphere2 => self.sphere2(medium, pass),
        };
        let first = run(Pass { method, t_end: self.t_end, second: false })?;
        if first.end == EvolutionEnd::Interrupted {
            return Ok(CheckedOutcome::interrupted(first));
        }
        let second = run(Pass { method, t_end: first.t, second: true })?;
        Ok(CheckedOutcome::new(first, &second, medium, d))
    }

    fn json(&self, end: &CheckedOutcome, medium: &MeasureDynamics, d: usize) -> Result<Value> {
        let mut json = end.json();
        json["space"] = self.space.as_str().into();
        json["dynamics"] = self.dynamics.as_str().into();
        json["beta"] = self.beta.into();
        json["d"] = d.into();
        json["convention"] =
            "density relative to the uniform probability measure; coefficients of cos k theta (zonal, sphere2: of P_k with P_k(1) = 1), 1 first".into();
        json["time_scale"] = "u1".into();
        if let (Some(text), Some(own)) = (&self.interaction, &medium.interaction) {
            json["interaction"] = text.as_str().into();
            json["kernel_error"] = own.coefficients_error(d, self.modes())?.into();
        }
        Ok(json)
    }

    /// The file of values of the density, if it is given so.
    fn values(&self) -> Option<&Path> {
        let named = self.density.as_deref().map(Path::new).filter(|path| path.is_file());
        self.values.as_deref().or(named)
    }

    /// The density in words, if it is given so.
    fn spec(&self) -> Option<&str> {
        self.density.as_deref().filter(|_| self.values().is_none())
    }

    fn density(&self) -> Result<Density> {
        let text = self.spec().ok_or_else(|| {
            Error::parameter(
                "--density",
                "nothing",
                "--density SPEC, --density FILE or --tokens FILE",
            )
        })?;
        Density::parse(text)
    }

    /// Rounding error of the logarithms of the density at the start.
    fn rounding_at_start(&self) -> f64 {
        self.density().map_or(0.0, |density| density.rounding_error())
    }

    /// Rounding errors of the negentropy, its rate, the energy and coefficients of points that
    /// carry logarithms of densities: each logarithm has that of the density at the start, and that
    /// of the largest one, beside those of their natural scale.
    fn rounding_of_logarithms(&self, log: &[f64], rate: f64, natural: [f64; 4]) -> [f64; 4] {
        let sizes = log.iter().filter(|v| v.is_finite()).map(|v| v.abs());
        let logarithm = self.rounding_at_start() + 4.0 * f64::EPSILON * largest(sizes);
        let own = [logarithm, logarithm * rate.abs(), logarithm, logarithm];
        std::array::from_fn(|k| own[k] + natural[k])
    }

    /// The tokens of `--tokens`.
    fn cloud(&self, path: &Path) -> Result<Tokens> {
        arrays::tokens(path, None, false)
    }

    /// Values on a line and the coordinate of the first: one value per row, or coordinate and value
    /// per row as in `values.csv` of --out.
    fn profile(path: &Path) -> Result<(f64, Vec<f64>)> {
        match arrays::matrix(path, None) {
            Ok((rows, values)) if rows > 2 && values.len() == 2 * rows => {
                Ok((values[0], values.into_iter().skip(1).step_by(2).collect()))
            }
            _ => Ok((0.0, arrays::list(path, None)?)),
        }
    }

    /// The error for a density that needs more modes than allowed.
    fn too_fine(&self, needed: usize) -> Error {
        Error::parameter(
            "--modes",
            self.max_modes(),
            format!("at least {needed} for this density, or another --method"),
        )
    }

    /// Whether to record a time line, whose rows cost as much as steps.
    fn records(&self, pass: Pass) -> bool {
        self.out.is_some() && !pass.second
    }

    fn write(&self, folder: &Path, end: &LastState, json: &Value) -> Result<()> {
        let reproduce = crate::cli::command_line::reproduce();
        let provenance = Provenance::new("measure", &reproduce, reproduce.clone());
        let mut record = json.clone();
        record["provenance"] = serde_json::to_value(&provenance).unwrap_or_default();
        for (name, table) in [
            ("timeline.csv", &end.timeline),
            ("coefficients.csv", &end.coefficients),
            ("values.csv", &end.values),
        ] {
            arrays::write_atomically(
                &folder.join(name),
                arrays::csv_text(table, &provenance.csv_header()).as_bytes(),
            )?;
        }
        arrays::write_atomically(&folder.join("record.json"), record.to_string().as_bytes())?;
        note(&format!("wrote {}", folder.display()));
        Ok(())
    }
}

/// Reports progress; false after Ctrl-C.
fn report_progress(t: f64, pass: Pass) -> bool {
    super::progress::report(Some(t / pass.t_end), || {
        format!(
            "t = {t:.4e} of {:e}{}",
            pass.t_end,
            if pass.second { ", second run for the error" } else { "" }
        )
    });
    !cancelled()
}

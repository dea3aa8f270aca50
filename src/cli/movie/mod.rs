//! `movie`: a run on the circle or the sphere and an observable, at constant speed in log time.

pub mod density;
mod tokens;
pub mod writer;

use super::input::{self, DynamicsArguments, TokenArguments};
use super::output::note;
use super::session::CANCEL;
use crate::attention::model::Model;
use crate::attention::normalisation::Normalisation;
use crate::attention::{Dynamics, Energy, EnergyScale, Spec};
use crate::error::{Error, Result};
use crate::flow::observable::{Observable, RunParameters, find, log_times};
use crate::flow::{Observer, Options, Outcome, Recorder, solve, velocity_accuracy};
use crate::lab::snapshot::{NO_POSITIONS, position_columns, recorded_dynamics};
use crate::operation::{Answer, Exit, Operation, Parameters, above, any, at_least, column, within};
use crate::parameters;
use crate::sphere::Tokens;
use serde_json::json;
use std::path::{Path, PathBuf};
use tokens::{Frame, TokenMovie};
use writer::MovieWriter;

parameters! {
    /// Parameters of `movie`.
    struct Movie {
        ..tokens: TokenArguments;
        ..dynamics: DynamicsArguments;
        /// End time.
        t_end: Option<f64>, at_least(0.0).check(input::end_time);
        /// First time after 0; later frames are equally spaced in log time (default 0.05).
        log_from: Option<f64>, above(0.0, f64::INFINITY).form("T").also(&["t_first"]);
        /// Number of frames (default 160; with --from-run all rows).
        samples: Option<usize>, within(2.0, 2000.0).form("COUNT").also(&["frames"]);
        /// Quantity to draw next to the tokens: an observable with one column (`list observables`),
        /// energy, or none.
        observables: String, any().or("energy").form("NAME").also(&["observable"]);
        /// Frames per second.
        rate: u16, within(1.0, 1000.0).or("20");
        /// Pixels per inch.
        dpi: f64, within(20.0, 2400.0).or("110");
        /// The movie: a name that ends in .png or .apng (animated PNG), .gif, .mp4 (with ffmpeg on
        /// the path), or in / (a new folder of numbered frames).
        out: PathBuf;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "movie",
    group: "Simulate",
    summary: "Animate a run on the circle or the sphere: GIF, animated PNG, numbered frames, MP4",
    notes: "Examples:
  metastable movie --init uniform --n 32 --d 2 --beta 16 --t-end 1e8 --out run.png
  metastable movie --init uniform --n 60 --d 3 --beta 12 --t-end 1e6 --samples 200 \\
      --out sphere.gif --observables grad-norm
  metastable movie --init uniform --n 9 --d 2 --beta 1 --dynamics usa --interaction power:p=2 \\
      --t-end 1e4 --out cubes.gif
  metastable movie --from-run run/ --beta 9 --out run.gif
With --from-run the movie has the recorded positions of `solve --out` or `run`.",
    parameters: Movie::table,
    results: &[
        column("file", "the movie"),
        column("frames", "number of frames"),
        column("outcome", "how the run ended"),
        column("bytes", "size of the file"),
    ],
    exits: &[
        (Exit::Shown, "the movie was made"),
        (Exit::Failure, "the run did not reach its end"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Movie::of(given)?.run(),
    ..Operation::EMPTY
};

/// Tolerance of the run: its pictures show no smaller errors.
const RTOL: f64 = 1e-7;
/// Tokens closer than this are one point in a picture.
const MERGE_RADIUS: f64 = 1e-6;

impl Movie {
    /// Makes the movie.
    fn run(self) -> Result<Answer> {
        if self.tokens.all_digits {
            return Err(Error::parameter(
                "--all-digits",
                "--all-digits",
                "none: a movie prints no tokens",
            ));
        }
        let writer = MovieWriter::new("movie", &self.out, "--out", self.dpi, self.rate)?;
        let _ending = super::cancel::ends_itself();
        let (movie, outcome) = if self.tokens.past.folder().is_some() {
            (self.recorded_run()?, None)
        } else {
            self.simulate()?
        };
        let count = movie.frames.len();
        let bytes = writer.write(count, |k| movie.picture(k))?;
        let json = json!({"file": self.out.display().to_string(), "frames": count, "outcome": outcome.as_ref().map(Outcome::name), "bytes": bytes});
        let text = format!("{count} frames in {} ({} kB)", self.out.display(), bytes / 1000);
        let reached = outcome.is_none_or(|o| o.is_success());
        let end = if reached { Exit::Shown } else { Exit::Failure };
        Ok(Answer::new(json, text).ended(end))
    }

    /// Integrates a run and takes its frames.
    fn simulate(&self) -> Result<(TokenMovie, Option<Outcome>)> {
        let t_end = self.t_end.ok_or_else(|| {
            Error::parameter("--t-end", "nothing", "the end time, or a finished run (--from-run)")
        })?;
        let t_first = self.log_from.unwrap_or(0.05);
        if !(t_first > 0.0 && t_end.is_finite() && t_first < t_end) {
            return Err(Error::parameter("log_from", t_first, "a positive time below --t-end"));
        }
        let spec = self.dynamics.parts.model_spec()?.with_seed(self.tokens.seed());
        let model = &spec.model;
        if spec.noise_settings.is_some() || !model.scheme()?.space().is_unit() {
            return Err(Error::parameter(
                "--norm",
                "noise, or tokens of R^d",
                "tokens on the sphere, or directions, without noise",
            ));
        }
        let x = self.tokens.placed(&spec, self.dynamics.parts.radii()?.as_deref())?;
        check_size(x.n(), x.d())?;
        let options = Options {
            rtol: RTOL,
            max_steps: 1_000_000,
            merge_radius: MERGE_RADIUS,
            cancel: Some(&CANCEL),
            ..Options::default()
        };
        let (dynamics, _) = self.dynamics.build(
            model,
            &x,
            velocity_accuracy(options.rtol, self.dynamics.beta()),
        )?;
        let setting = RunParameters { n: x.n(), d: x.d(), beta: self.dynamics.beta() };
        let mut observables = vec![find("positions")?, find("clusters")?];
        let relative = dynamics.pair_energy().is_none();
        observables.extend(self.observable(&setting, relative)?);
        let width = |o: &Observable| (o.columns)(&setting).len();
        let (positions, recorded) = (x.n() * x.d(), observables.get(2).map(|o| width(o)));
        let times = log_times(t_first, t_end, self.samples.unwrap_or(160));
        let mut recorder = Recorder::new(setting, times, false, observables);
        let end = solve(&dynamics, &x, t_end, &options, &mut [&mut recorder as &mut dyn Observer])?;
        if matches!(end.outcome, Outcome::Interrupted { .. }) {
            return Err(Error::Interrupted { resume: "no movie was made".into() });
        }
        if !end.outcome.is_success() {
            note(&format!("the run did not reach the end: {}", end.outcome));
        }
        let value = |v: f64| if relative && self.observables == "energy" { v.exp() } else { v };
        let row = |r: &Vec<f64>| Frame {
            t: r[0],
            x: r[1..=positions].to_vec(),
            clusters: Some(r[positions + 1]),
            value: recorded.map(|_| value(r[positions + 2])),
        };
        let frames = recorder.table.rows.iter().map(row).collect();
        Ok((self.movie(frames, x.d(), t_first, model), Some(end.outcome)))
    }

    /// The observable to record; none with `--observable none`. The energy is `relative` to its
    /// maximum, or that of an interaction as it is.
    fn observable(
        &self,
        setting: &RunParameters,
        relative: bool,
    ) -> Result<Option<&'static Observable>> {
        let found = match self.observables.as_str() {
            "none" => return Ok(None),
            "energy" if relative => find("log-energy")?,
            name => find(name)?,
        };
        let columns = (found.columns)(setting).len();
        if columns == 1 {
            Ok(Some(found))
        } else {
            Err(Error::parameter(
                "observables",
                found.name,
                format!("one with a single column; this one has {columns}"),
            ))
        }
    }

    /// Takes the frames from a recorded run.
    fn recorded_run(&self) -> Result<TokenMovie> {
        let of_energy = ["interaction", "coupling"];
        if self.t_end.is_some()
            || self.log_from.is_some()
            || !self.dynamics.is_plain_besides(&of_energy)?
        {
            return Err(Error::parameter(
                "--from-run",
                "flags of a new run together with it",
                "--from-run, --frame, --beta, --interaction, --coupling, --samples, --observables, \
                 --rate, --dpi and --out",
            ));
        }
        let spec = self.dynamics.parts.model_spec()?;
        let model = &spec.model;
        self.check_energy_of_run(model)?;
        let folder = self.tokens.past.folder().map_or_else(PathBuf::new, Path::to_path_buf);
        let table = self.tokens.past.which()?.timeline(&folder)?;
        let missing = |what: &str| Error::File {
            path: folder.display().to_string(),
            place: String::new(),
            problem: what.into(),
        };
        let (d, columns) = position_columns(&table).ok_or_else(|| missing(NO_POSITIONS))?;
        check_size(columns.len() / d, d)?;
        let column = |name: &str| table.columns.iter().position(|c| *c == name.replace('-', "_"));
        let (t, clusters) =
            (column("t").ok_or_else(|| missing("its table has no times"))?, column("clusters"));
        let value = match self.observables.as_str() {
            "none" | "energy" => None,
            name => Some(column(name).ok_or_else(|| {
                Error::unknown("column of the run", name, table.columns.iter().map(String::as_str))
            })?),
        };
        let energy = Energy::new(self.dynamics.beta(), EnergyScale::Unit);
        let dynamics = if model.is_exponential() {
            None
        } else {
            let spec = Spec::new(self.dynamics.beta(), columns.len() / d);
            Some(model.build("usa", false, &spec, d)?)
        };
        let own = dynamics.as_ref().and_then(Dynamics::pair_energy);
        let every = table.rows.len().div_ceil(self.samples.unwrap_or(2000).max(1)).max(1);
        let frame = |r: &Vec<f64>| -> Result<Frame> {
            let x: Vec<f64> = columns.iter().map(|k| r[*k]).collect();
            let value = match value {
                Some(k) => Some(r[k]),
                None if self.observables == "energy" => {
                    let tokens = Tokens::normalised(d, x.clone())?;
                    Some(match &own {
                        Some(own) => own.value(&tokens),
                        None => energy.log_unit(&tokens).exp(),
                    })
                }
                None => None,
            };
            Ok(Frame { t: r[t], x, clusters: clusters.map(|k| r[k]), value })
        };
        let frames: Vec<Frame> =
            table.rows.iter().step_by(every).map(frame).collect::<Result<_>>()?;
        let t_first = frames
            .iter()
            .map(|r| r.t)
            .find(|t| *t > 0.0)
            .ok_or_else(|| missing("its table has no time after 0"))?;
        Ok(self.movie(frames, d, t_first, model))
    }

    /// **Errors** an energy of a run under an interaction that is not named.
    fn check_energy_of_run(&self, model: &Model) -> Result<()> {
        let made = self.tokens.past.folder().and_then(recorded_dynamics).unwrap_or_default();
        let other = made.contains("interaction=") || made.contains("coupling=");
        if self.observables != "energy" || !other || !model.is_exponential() {
            return Ok(());
        }
        let expected = format!("the interaction of the run ({made}), or another --observables");
        Err(Error::parameter("--interaction", "none", expected))
    }

    fn movie(&self, frames: Vec<Frame>, d: usize, t_first: f64, model: &Model) -> TokenMovie {
        let title = match &model.interaction {
            Some(phi) => format!("\u{3c6} = {phi}"),
            None => format!("\u{3b2} = {}", self.dynamics.beta()),
        };
        let (observable, relative) = (self.observables.clone(), model.is_exponential());
        TokenMovie { frames, d, title, t_first, observable, relative }
    }
}

/// **Errors** a dimension that cannot be drawn; too many tokens for a picture.
fn check_size(n: usize, d: usize) -> Result<()> {
    if (2..=3).contains(&d) && n <= 2000 {
        return Ok(());
    }
    Err(Error::parameter(
        "--d",
        format!("{d} (n = {n})"),
        "the circle or the sphere (d = 2 or 3), at most 2000 tokens",
    ))
}

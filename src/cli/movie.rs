//! `movie`: a run on the circle or the sphere, at constant speed in log time, with an observable beside it: animated PNG or GIF, numbered frames, MP4.

use super::cancel::CANCEL;
use super::film::Reel;
use super::input::{DynamicsArguments, TokenArguments};
use super::output::{Output, counted, note, rounded};
use crate::attention::normalisation::Normalisation;
use crate::attention::{Energy, EnergyScale};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};
use crate::error::{Error, Result};
use crate::flow::observable::{Observable, Setting, find, log_times};
use crate::flow::{Observer, Options, Outcome, Recorder, solve, velocity_accuracy};
use crate::lab::frame::{NO_POSITIONS, position_columns};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `movie`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable movie --init uniform --n 32 --d 2 --beta 16 --t-end 1e8 --out run.png
  metastable movie --init uniform --n 60 --d 3 --beta 12 --t-end 1e6 --frames 200 --out sphere.gif --observable grad-norm
  metastable movie --result run/ --beta 9 --out run.gif      (the recorded positions of `solve --out` or `run`)")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    #[command(flatten)]
    dynamics: DynamicsArguments,
    /// End time.
    #[arg(long, allow_hyphen_values = true)]
    t_end: Option<f64>,
    /// First time after 0; later frames are equally spaced in log time (default 0.05).
    #[arg(long, allow_hyphen_values = true)]
    t_first: Option<f64>,
    /// Number of frames (default 160; of --result: all rows).
    #[arg(long)]
    frames: Option<usize>,
    /// What is drawn beside the tokens: an observable with one column (see `list observables`), energy, or none.
    #[arg(long, value_name = "NAME", default_value = "energy")]
    observable: String,
    /// Frames a second.
    #[arg(long, default_value_t = 20)]
    rate: u16,
    /// Pixels per inch.
    #[arg(long, default_value_t = 110.0)]
    dpi: f64,
    /// The film: a name that ends in .png or .apng (animated PNG), .gif, .mp4 (with ffmpeg on the path), or in / (a new folder of numbered frames).
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Tolerance and merge radius of a run that is only looked at.
const LOOKED_AT: (f64, f64) = (1e-7, 1e-6);

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if self.tokens.full {
            return Err(Error::parameter("--full", "--full", "none: a movie prints no tokens"));
        }
        let reel = Reel::new(&self.out, "--out", self.dpi, self.rate)?;
        if !(2..=2000).contains(&self.frames.unwrap_or(160)) {
            return Err(Error::parameter("--frames", self.frames.unwrap_or(160), "from 2 to 2000 frames"));
        }
        let (film, outcome) = if self.tokens.past.folder().is_some() { (self.recorded()?, None) } else { self.solved()? };
        let count = film.rows.len();
        let bytes = reel.write("movie", count, |k| film.frame(k))?;
        super::cancel::work_is_over();
        let json = json!({"file": self.out.display().to_string(), "frames": count, "outcome": outcome.as_ref().map(Outcome::name), "bytes": bytes});
        out.result(&json, &format!("{count} frames in {} ({} kB)", self.out.display(), bytes / 1000));
        Ok(if outcome.is_none_or(|o| o.is_success()) { 0 } else { 4 })
    }

    /// The frames of a run that is made now.
    fn solved(&self) -> Result<(Film, Option<Outcome>)> {
        let t_end = self.t_end.ok_or_else(|| Error::parameter("--t-end", "nothing", "the end time, or --result of a finished run"))?;
        let t_first = self.t_first.unwrap_or(0.05);
        if !(t_first > 0.0 && t_end.is_finite() && t_first < t_end) {
            return Err(Error::parameter("--t-first", t_first, "a positive time below --t-end"));
        }
        let described = self.dynamics.parts.described()?.seeded(self.tokens.seed());
        let model = &described.model;
        if described.shaking.is_some() || !model.scheme()?.space().is_unit() {
            return Err(Error::parameter("--norm", "noise, or tokens of R^d", "tokens on the sphere, or directions, without noise"));
        }
        let x = self.tokens.placed(&described, self.dynamics.parts.radii()?.as_deref())?;
        fits(x.n(), x.d())?;
        let (rtol, merge_radius) = LOOKED_AT;
        let options = Options { rtol, max_steps: 1_000_000, merge_radius, cancel: Some(&CANCEL), ..Options::default() };
        let (dynamics, _) = self.dynamics.build(model, &x, velocity_accuracy(options.rtol, self.dynamics.beta))?;
        let setting = Setting { n: x.n(), d: x.d(), beta: self.dynamics.beta };
        let mut observables = vec![find("positions")?, find("clusters")?];
        observables.extend(self.beside(&setting)?);
        let width = |o: &Observable| (o.columns)(&setting).len();
        let (positions, beside) = (x.n() * x.d(), observables.get(2).map(|o| width(o)));
        let times = log_times(t_first, t_end, self.frames.unwrap_or(160));
        let mut recorder = Recorder::new(setting, times, false, observables);
        let end = solve(&dynamics, &x, t_end, &options, &mut [&mut recorder as &mut dyn Observer])?;
        if matches!(end.outcome, Outcome::Interrupted { .. }) {
            return Err(Error::Interrupted { resume: "no movie was made".into() });
        }
        if !end.outcome.is_success() {
            note(&format!("the run did not reach the end: {}", end.outcome));
        }
        let share = |v: f64| if self.observable == "energy" { v.exp() } else { v };
        let row = |r: &Vec<f64>| Shown {
            t: r[0],
            x: r[1..=positions].to_vec(),
            clusters: Some(r[positions + 1]),
            value: beside.map(|_| share(r[positions + 2])),
        };
        let rows = recorder.table.rows.iter().map(row).collect();
        Ok((self.film(rows, x.d(), t_first), Some(end.outcome)))
    }

    /// The observable that is recorded for what is drawn beside the tokens.
    fn beside(&self, setting: &Setting) -> Result<Option<&'static Observable>> {
        let found = match self.observable.as_str() {
            "none" => return Ok(None),
            "energy" => find("log-energy")?,
            name => find(name)?,
        };
        let columns = (found.columns)(setting).len();
        if columns == 1 {
            Ok(Some(found))
        } else {
            Err(Error::parameter("--observable", found.name, format!("one with a single column; this one has {columns}")))
        }
    }

    /// The frames of a run that was recorded.
    fn recorded(&self) -> Result<Film> {
        if self.t_end.is_some() || self.t_first.is_some() || !self.dynamics.is_plain()? {
            return Err(Error::parameter(
                "--result",
                "flags of a new run beside it",
                "--result, --frame, --beta, --frames, --observable, --rate, --dpi and --out",
            ));
        }
        let folder = self.tokens.past.folder().map_or_else(PathBuf::new, Path::to_path_buf);
        let table = self.tokens.past.which()?.timeline(&folder)?;
        let missing = |what: &str| Error::File { path: folder.display().to_string(), place: String::new(), problem: what.into() };
        let (d, columns) = position_columns(&table).ok_or_else(|| missing(NO_POSITIONS))?;
        fits(columns.len() / d, d)?;
        let column = |name: &str| table.columns.iter().position(|c| *c == name.replace('-', "_"));
        let (t, clusters) = (column("t").ok_or_else(|| missing("its table has no times"))?, column("clusters"));
        let value = match self.observable.as_str() {
            "none" | "energy" => None,
            name => Some(column(name).ok_or_else(|| Error::unknown("column of the run", name, table.columns.iter().map(String::as_str)))?),
        };
        let energy = Energy::new(self.dynamics.beta, EnergyScale::Unit);
        let every = table.rows.len().div_ceil(self.frames.unwrap_or(2000).max(1)).max(1);
        let shown = |r: &Vec<f64>| -> Result<Shown> {
            let x: Vec<f64> = columns.iter().map(|k| r[*k]).collect();
            let value = match value {
                Some(k) => Some(r[k]),
                None if self.observable == "energy" => Some(energy.log_unit(&Tokens::normalised(d, x.clone())?).exp()),
                None => None,
            };
            Ok(Shown { t: r[t], x, clusters: clusters.map(|k| r[k]), value })
        };
        let rows: Vec<Shown> = table.rows.iter().step_by(every).map(shown).collect::<Result<_>>()?;
        let first = rows.iter().map(|r| r.t).find(|t| *t > 0.0).ok_or_else(|| missing("its table has no time after 0"))?;
        Ok(self.film(rows, d, first))
    }

    fn film(&self, rows: Vec<Shown>, d: usize, first: f64) -> Film {
        Film { rows, d, beta: self.dynamics.beta, first, name: self.observable.clone() }
    }
}

/// The circle or the sphere, and not more tokens than can be seen.
fn fits(n: usize, d: usize) -> Result<()> {
    if (2..=3).contains(&d) && n <= 2000 {
        return Ok(());
    }
    Err(Error::parameter("--d", format!("{d} (n = {n})"), "the circle or the sphere (d = 2 or 3), at most 2000 tokens"))
}

/// One frame: time, coordinates, number of clusters and the observable, where they are known.
struct Shown {
    t: f64,
    x: Vec<f64>,
    clusters: Option<f64>,
    value: Option<f64>,
}

/// What the frames are drawn from.
struct Film {
    rows: Vec<Shown>,
    d: usize,
    beta: f64,
    first: f64,
    name: String,
}

impl Film {
    /// Tokens on the left, the observable so far on the right.
    fn frame(&self, k: usize) -> Picture {
        let shown = &self.rows[k];
        let mut panels = vec![self.ball(shown)];
        if shown.value.is_some() {
            panels.push(self.curve(k));
        }
        let columns = panels.len();
        Picture { panels, columns, aspect: 0.8, caption: String::new() }
    }

    fn ball(&self, shown: &Shown) -> Panel {
        let mut ball = Panel::new(format!("t = {}", rounded(shown.t, 4)), Axis::linear("", -1.25, 1.25), Axis::linear("", -1.25, 1.25));
        ball.bare = true;
        ball.marks.push(Mark::Circle);
        let view = |p: &[f64]| match *p {
            [x, y] => (x, y, 1.0),
            // The sphere from a little above: what lies behind is drawn open.
            [x, y, z] => (x, 0.94 * z + 0.34 * y, 0.94 * y - 0.34 * z),
            _ => (0.0, 0.0, 1.0),
        };
        let seen: Vec<(f64, f64, f64)> = shown.x.chunks(self.d).map(view).collect();
        for (front, colour) in [(false, 1), (true, 0)] {
            let points = seen.iter().filter(|p| (p.2 >= 0.0) == front).map(|p| (p.0, p.1)).collect();
            ball.marks.push(Mark::Points { points, colour, radius: 1.8, label: String::new() });
        }
        if let Some(clusters) = shown.clusters {
            let text = counted(clusters as usize, "cluster");
            ball.marks.push(if self.d == 2 { Mark::Middle(text) } else { Mark::Text { at: (-0.4, -1.22), text } });
        }
        ball
    }

    fn curve(&self, k: usize) -> Panel {
        let path: Vec<(f64, f64)> = self.rows.iter().filter(|r| r.t > 0.0).filter_map(|r| Some((r.t, r.value?))).collect();
        let done = self.rows[..=k].iter().filter(|r| r.t > 0.0).count();
        let (low, high) = if self.name == "energy" {
            (0.0, 1.05)
        } else {
            let span =
                path.iter().filter(|p| p.1.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |s, p| (s.0.min(p.1), s.1.max(p.1)));
            let room = 0.05 * (span.1 - span.0).max(1e-12 * span.1.abs()).max(1e-300);
            (span.0 - room, span.1 + room)
        };
        let label = if self.name == "energy" { "energy / maximum" } else { &self.name };
        let last = path.last().map_or(1.0, |p| p.0);
        let title = format!("\u{3b2} = {}, n = {}", self.beta, self.rows[k].x.len() / self.d);
        let mut panel = Panel::new(title, Axis::log("t", self.first, last), Axis::linear(label, low, high));
        let (past, here) = (path[..done].to_vec(), path[..done].last().copied());
        panel.line(path, 2, Dash::Dotted, "");
        panel.line(past, 0, Dash::Solid, "");
        panel.marks.extend(here.map(|p| Mark::Points { points: vec![p], colour: 1, radius: 2.5, label: String::new() }));
        panel
    }
}

//! `movie`: a run on the circle or the sphere as an animated PNG, at constant speed in log time, with its energy.

use super::cancel::CANCEL;
use super::input::{DynamicsArguments, TokenArguments};
use super::output::{Output, note};
use crate::draw::{Axis, Dash, Mark, Panel, Picture, Size, frames};
use crate::error::{Error, Result, in_range};
use crate::flow::observable::{Setting, find, log_times};
use crate::flow::{Observer, Options, Outcome, Recorder, Table, solve, velocity_accuracy};
use crate::lab::{Provenance, arrays};
use serde_json::json;
use std::path::PathBuf;

/// Flags of `movie`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable movie --init uniform --n 32 --d 2 --beta 16 --t-end 1e8 --out run.png
  metastable movie --init uniform --n 60 --d 3 --beta 12 --t-end 1e6 --frames 200 --out sphere.png")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    #[command(flatten)]
    dynamics: DynamicsArguments,
    /// End time.
    #[arg(long, allow_hyphen_values = true)]
    t_end: f64,
    /// First time after 0; later frames are equally spaced in log time.
    #[arg(long, default_value_t = 0.05, allow_hyphen_values = true)]
    t_first: f64,
    /// Number of frames.
    #[arg(long, default_value_t = 160)]
    frames: usize,
    /// Frames a second.
    #[arg(long, default_value_t = 20)]
    rate: u16,
    /// Pixels per inch.
    #[arg(long, default_value_t = 110.0)]
    dpi: f64,
    /// The file, an animated PNG.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        in_range("--dpi", self.dpi, 20.0, 600.0)?;
        let extension = self.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        if !extension.is_some_and(|e| e == "png" || e == "apng") {
            let expected = "a file named .png or .apng: the movie is an animated PNG, which ffmpeg -i turns into others";
            return Err(Error::parameter("--out", self.out.display(), expected));
        }
        if !(2..=2000).contains(&self.frames) || self.rate == 0 {
            return Err(Error::parameter("--frames", self.frames, "from 2 to 2000 frames, and a rate of at least 1 a second"));
        }
        if !(self.t_first > 0.0 && self.t_end.is_finite() && self.t_first < self.t_end) {
            return Err(Error::parameter("--t-first", self.t_first, "a positive time below --t-end"));
        }
        let described = self.dynamics.parts.described()?;
        let model = &described.model;
        if described.shaking.is_some() || !model.scheme()?.space().is_unit() {
            return Err(Error::parameter("--norm", "noise, or tokens of R^d", "tokens on the sphere, or directions, without noise"));
        }
        let x = self.tokens.placed(model, self.dynamics.parts.radii()?.as_deref())?;
        if x.d() > 3 || x.n() > 2000 {
            return Err(Error::parameter(
                "--d",
                format!("{} (n = {})", x.d(), x.n()),
                "the circle or the sphere (d = 2 or 3), at most 2000 tokens",
            ));
        }
        let options = Options { rtol: 1e-7, max_steps: 1_000_000, merge_radius: 1e-6, cancel: Some(&CANCEL), ..Options::default() };
        let dynamics = self.dynamics.build(model, x.n(), x.d(), velocity_accuracy(options.rtol, self.dynamics.beta))?;
        let setting = Setting { n: x.n(), d: x.d(), beta: self.dynamics.beta };
        let observables = ["positions", "log-energy", "clusters"].iter().map(|o| find(o)).collect::<Result<_>>()?;
        let mut recorder = Recorder::new(setting, log_times(self.t_first, self.t_end, self.frames), false, observables);
        let end = solve(&dynamics, &x, self.t_end, &options, &mut [&mut recorder as &mut dyn Observer])?;
        if matches!(end.outcome, Outcome::Interrupted { .. }) {
            return Err(Error::Interrupted { resume: "no movie was made".into() });
        }
        if !end.outcome.is_success() {
            note(&format!("the run did not reach the end: {}", end.outcome));
        }
        let reproduce = format!("metastable {}", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
        let provenance = Provenance::new("movie", &reproduce, reproduce.clone());
        let film = Film { table: &recorder.table, n: x.n(), d: x.d(), beta: self.dynamics.beta, first: self.t_first };
        let bytes = frames(recorder.table.rows.len(), |k| Ok(film.frame(k)), Size::Siam, self.dpi, &provenance.json(), self.rate)?;
        arrays::write_atomically(&self.out, &bytes)?;
        let json = json!({"file": self.out.display().to_string(), "frames": recorder.table.rows.len(), "outcome": end.outcome.name(), "bytes": bytes.len()});
        out.result(&json, &format!("{} frames in {} ({} kB)", recorder.table.rows.len(), self.out.display(), bytes.len() / 1000));
        Ok(if end.outcome.is_success() { 0 } else { 4 })
    }
}

/// What the frames are drawn from.
struct Film<'a> {
    table: &'a Table,
    n: usize,
    d: usize,
    beta: f64,
    first: f64,
}

impl Film<'_> {
    /// Tokens on the left, the energy so far on the right.
    fn frame(&self, k: usize) -> Picture {
        // Columns: t, n d positions, log energy, clusters.
        let (row, width) = (&self.table.rows[k], self.n * self.d);
        let mut ball = Panel::new(format!("t = {:.3e}", row[0]), Axis::linear("", -1.15, 1.15), Axis::linear("", -1.15, 1.15));
        ball.bare = true;
        ball.marks.push(Mark::Circle);
        let view = |p: &[f64]| match *p {
            [x, y] => (x, y, 1.0),
            // The sphere from a little above: what lies behind is drawn open.
            [x, y, z] => (x, 0.94 * z + 0.34 * y, 0.94 * y - 0.34 * z),
            _ => (0.0, 0.0, 1.0),
        };
        let seen: Vec<(f64, f64, f64)> = row[1..=width].chunks(self.d).map(view).collect();
        for (front, colour) in [(false, 1), (true, 0)] {
            let points = seen.iter().filter(|p| (p.2 >= 0.0) == front).map(|p| (p.0, p.1)).collect();
            ball.marks.push(Mark::Points { points, colour, radius: 1.8, label: String::new() });
        }
        let word = if row[width + 2] > 1.5 { "clusters" } else { "cluster" };
        ball.marks.push(Mark::Text { at: (-0.35, -1.1), text: format!("{} {word}", row[width + 2]) });
        let last = self.table.rows[self.table.rows.len() - 1][0];
        let mut energy = Panel::new(
            format!("\u{3b2} = {}, n = {}", self.beta, self.n),
            Axis::log("t", self.first, last),
            Axis::linear("energy / maximum", 0.0, 1.05),
        );
        energy.bare = false;
        let path: Vec<(f64, f64)> = self.table.rows.iter().filter(|r| r[0] > 0.0).map(|r| (r[0], r[width + 1].exp())).collect();
        energy.line(path, 2, Dash::Dotted, "");
        let done: Vec<(f64, f64)> = self.table.rows[..=k].iter().filter(|r| r[0] > 0.0).map(|r| (r[0], r[width + 1].exp())).collect();
        let here = done.last().copied();
        energy.line(done, 0, Dash::Solid, "");
        if let Some(p) = here {
            energy.marks.push(Mark::Points { points: vec![p], colour: 1, radius: 2.5, label: String::new() });
        }
        Picture { panels: vec![ball, energy], columns: 2, aspect: 0.8, caption: String::new() }
    }
}

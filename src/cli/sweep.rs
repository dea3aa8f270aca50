//! `check` with ranges: claims on a grid, with a table and a picture of the margins.

use super::figure::Style;
use super::out_file;
use super::output::{colour, note, number};
use super::verdicts::{rows_repeated_by, table_repeated_by};
use crate::draw::{self, Axis as Scale, Mark, Panel, Picture, Size};
use crate::error::{Error, Result};
use crate::lab::Provenance;
use crate::lab::replace::{self, Problem, Replace};
use crate::operation::{Answer, Exit};
use crate::theorem::{Case, Claim, Record, Region, exit_code, sweep};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The trials at one point of the grid.
struct GridPoint {
    case: Case,
    trials: usize,
    worst_margin: f64,
}

/// Claims on a grid.
pub struct Sweep<'a> {
    /// The asked ranges.
    pub region: Region,
    /// The flags of the ranges.
    pub words: String,
    /// Trials at each point.
    pub trials: usize,
    /// Root seed.
    pub seed: u64,
    /// The folder of the files.
    pub folder: Option<&'a Path>,
}

impl Sweep<'_> {
    /// Checks the claims on the grid. Each claim has its own folder of files. Claims without a
    /// point of the grid inside their hypotheses are left out, with a note.
    ///
    /// **Errors** no claim with a point of the grid inside its hypotheses.
    pub fn run(&self, claims: &[&Claim]) -> Result<Answer> {
        if self.trials == 0 {
            return Err(Error::parameter("--trials", self.trials, "at least 1"));
        }
        // All grids come before the first trial.
        let (mut swept, mut left_out) = (Vec::new(), Vec::new());
        for claim in claims {
            match self.region.grid(claim) {
                Ok((cases, outside)) => swept.push((*claim, cases, outside)),
                Err(e) => left_out.push((claim.name, e)),
            }
        }
        for (name, e) in left_out {
            if swept.is_empty() {
                return Err(e);
            }
            note(&format!("{name} is left out: {e}"));
        }
        let all = self.folder.unwrap_or(Path::new("runs/sweep"));
        // The files of all claims are checked before the first one is tested.
        for (claim, cases, _) in &swept {
            let provenance = self.provenance(claim, cases);
            for name in FILES.map(|name| all.join(claim.name).join(name)) {
                if name.exists() {
                    out_file::check_result(&name, &provenance, self.folder.is_none())?;
                }
            }
        }
        let started = Instant::now();
        let (mut records, mut text, mut grids) = (Vec::new(), String::new(), Vec::new());
        for (claim, cases, outside) in swept {
            let record = sweep(claim, &self.region, &cases, self.trials, self.seed)?;
            let points = points(&cases, &record);
            let place = (all.join(claim.name), out_file::replaced(self.folder.is_none()));
            text.push_str(&format!("{}\n", grid_table(&points)));
            text.push_str(&worst(&record, cases.len() * self.trials));
            let beyond = self.region.beyond_hypotheses;
            if outside > 0 {
                let what = if beyond {
                    "do not satisfy the hypotheses: the verdict is not about the claim as stated"
                } else {
                    "do not satisfy the hypotheses and were left out"
                };
                let hypotheses = claim.hypotheses();
                text.push_str(&format!("{outside} points of the grid {what} ({hypotheses})\n"));
            }
            let provenance = self.provenance(claim, &cases);
            let files = write(claim, &points, &provenance, place)?;
            text.push_str(&format!("wrote {}\n", files.join(", ")));
            let object = |p: &GridPoint| json!({"n": p.case.n, "d": p.case.d, "beta": p.case.beta, "dynamics": p.case.dynamics, "law": p.case.law, "trials": p.trials, "margin": super::output::finite(p.worst_margin)});
            grids.push(json!({"name": claim.name, "points": points.iter().map(object).collect::<Vec<_>>(), "outside": outside, "beyond": beyond, "files": files}));
            records.push(record);
        }
        let repeat = |r: &Record| self.repeat(r.name);
        let seconds = started.elapsed().as_secs_f64();
        let body = format!("{text}{}", table_repeated_by(&records, seconds, colour(), &repeat));
        let values = json!({
            "claims": rows_repeated_by(&records, &repeat), "grids": grids, "seed": self.seed,
            "trials": self.trials,
        });
        Ok(Answer::new(values, body).ended(Exit::of(exit_code(&records))))
    }

    /// The command that repeats the sweep of a claim.
    fn repeat(&self, name: &str) -> String {
        let Self { seed, trials, words, .. } = self;
        format!("metastable check {name} --seed {seed} --trials {trials}{words}")
    }
}

/// Where the smallest margin lies. The search comes after all trials.
fn worst(record: &Record, trials: usize) -> String {
    let (Some(margin), Some((case, trial))) = (record.margin, record.worst) else {
        return String::new();
    };
    let place = if trial < trials { "" } else { ", found by the search" };
    format!("smallest margin {} at {case}{place}\n", number(margin.value))
}

/// The worst margin at each point, in the order of the grid.
fn points(cases: &[Case], record: &Record) -> Vec<GridPoint> {
    let one = |case: &Case| {
        let here: Vec<f64> = record
            .cases
            .iter()
            .zip(&record.margins)
            .filter(|(c, _)| *c == case)
            .map(|(_, m)| *m)
            .collect();
        GridPoint {
            case: *case,
            trials: here.len(),
            worst_margin: here.iter().copied().fold(f64::INFINITY, f64::min),
        }
    };
    cases.iter().map(one).collect()
}

fn grid_table(points: &[GridPoint]) -> String {
    let mut text = format!(
        "{:>8} {:>6} {:>12} {:<14} {:<20} {:>7} {:>12}\n",
        "n", "d", "beta", "dynamics", "law", "trials", "worst margin"
    );
    for p in points {
        let worst = if p.worst_margin.is_finite() { number(p.worst_margin) } else { "none".into() };
        let c = &p.case;
        text.push_str(&format!(
            "{:>8} {:>6} {:>12} {:<14} {:<20} {:>7} {worst:>12}\n",
            c.n,
            c.d,
            crate::error::format_number(c.beta),
            c.dynamics,
            c.law,
            p.trials
        ));
    }
    text
}

/// The files of a claim.
const FILES: [&str; 3] = ["margins.csv", "margins.svg", "margins.png"];

impl Sweep<'_> {
    /// The origin of the files of a claim.
    fn provenance(&self, claim: &Claim, cases: &[Case]) -> Provenance {
        let grid: Vec<String> = cases.iter().map(ToString::to_string).collect();
        let what = format!("sweep of {}", claim.name);
        let settings = format!("{} {} {}", self.seed, self.trials, grid.join(";"));
        Provenance::new(what, &settings, self.repeat(claim.name))
    }
}

/// Writes the margins of a claim as a table and as pictures.
fn write(
    claim: &Claim,
    points: &[GridPoint],
    provenance: &Provenance,
    (folder, replaced): (PathBuf, Replace),
) -> Result<Vec<String>> {
    std::fs::create_dir_all(&folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let mut csv: String = provenance.csv_header().iter().map(|l| format!("# {l}\n")).collect();
    csv.push_str("n,d,beta,dynamics,law,trials,worst_margin\n");
    for p in points {
        let c = &p.case;
        csv.push_str(&format!(
            "{},{},{},{},\"{}\",{},{}\n",
            c.n, c.d, c.beta, c.dynamics, c.law, p.trials, p.worst_margin
        ));
    }
    let style = Style { size: Size::Siam, dpi: 200.0 };
    let picture = picture(claim, points);
    let contents = [
        csv.into_bytes(),
        draw::svg(&picture, style.size, &provenance.json())?.into_bytes(),
        draw::png(&picture, style.size, style.dpi, &provenance.json())?,
    ];
    let paths = FILES.map(|name| folder.join(name));
    let names = paths.iter().map(|path| path.display().to_string()).collect();
    let files = paths.into_iter().zip(contents).collect();
    replace::write(files, Some(&Problem::from(provenance)), replaced)?;
    Ok(names)
}

/// An axis: its name and the coordinate of a case.
type GridAxis = (&'static str, &'static dyn Fn(&Case) -> f64);

/// The worst margin over the axis with the most values, one line for each combination of the
/// others.
fn picture(claim: &Claim, points: &[GridPoint]) -> Picture {
    let values = |f: &dyn Fn(&Case) -> f64| {
        let mut all: Vec<f64> = points.iter().map(|p| f(&p.case)).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    };
    let axes: [GridAxis; 3] =
        [("beta", &|c| c.beta), ("n", &|c| c.n as f64), ("d", &|c| c.d as f64)];
    let sizes: Vec<usize> = axes.iter().map(|a| values(a.1).len()).collect();
    let main = (0..3).rev().max_by_key(|&k| sizes[k]).unwrap_or(0);
    let (name, coordinate) = axes[main];
    let all = values(coordinate);
    let (low, high) = (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(1.0));
    let x = if low > 0.0 && high / low > 8.0 {
        Scale::log(name, low / 1.2, high * 1.2)
    } else {
        Scale::linear(name, low - 0.5, high + 0.5)
    };
    let finite: Vec<f64> =
        points.iter().map(|p| p.worst_margin).filter(|w| w.is_finite()).collect();
    let least = finite.iter().copied().fold(0.0, f64::min).max(-2.0);
    let mut panel = Panel::new(
        claim.name,
        x,
        Scale::linear(
            "worst margin (shown from -2 to 2)",
            least - 0.1,
            finite.iter().copied().fold(1.0, f64::max).min(2.0) + 0.1,
        ),
    );
    panel.line(vec![(low, 0.0), (high, 0.0)], 7, draw::Dash::Dotted, "");
    let mut groups: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for p in points {
        let mut label: Vec<String> = axes
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != main && sizes[*k] > 1)
            .map(|(_, a)| format!("{} = {}", a.0, crate::error::format_number(a.1(&p.case))))
            .collect();
        label.push(p.case.dynamics.to_owned());
        let label = label.join(", ");
        let at = (coordinate(&p.case), p.worst_margin.clamp(-2.0, 2.0));
        match groups.iter_mut().find(|g| g.0 == label) {
            Some(group) => group.1.push(at),
            None => groups.push((label, vec![at])),
        }
    }
    for (k, (label, line)) in groups.into_iter().enumerate() {
        let dash = [draw::Dash::Solid, draw::Dash::Dashed, draw::Dash::Dotted][k / 6 % 3];
        panel.marks.push(Mark::Points {
            points: line.clone(),
            colour: k % 6,
            radius: 2.0,
            label: String::new(),
        });
        panel.line(line, k % 6, dash, if k < 12 { label } else { String::new() });
    }
    panel.legend = Some(draw::Corner::BottomLeft);
    let caption = format!(
        "{}. Worst margin at each point; the claim holds above 0. Hypotheses: {}.",
        claim.printed(claim.title),
        claim.hypotheses()
    );
    Picture { panels: vec![panel], columns: 1, aspect: 0.6, caption }
}

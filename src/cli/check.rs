//! `check`: verdicts on theorems; alone, `metastable` is the quick check with figures and the report.

use super::cancel::cancelled;
use super::figure::{self, Style};
use super::output::{Output, note};
use super::progress;
use super::region::Flags;
use super::sweep;
use super::verdicts::{rows, table};
use crate::draw::{Size, spark};
use crate::error::{Error, Result};
use crate::lab::{Provenance, arrays::write_atomically, report};
use crate::theorem::{ALL, Claim, Effort, Record, check, find, worst};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Flags of `check`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  metastable check --quick\n  metastable check wendel cone-rate --seed 3\n  metastable check angular-momentum --n 5,9 --d 2..64 --beta 0.1..300:log5 --trials 200"
)]
pub struct Arguments {
    /// Names (see `list theorems`); all of them when none is given.
    names: Vec<String>,
    /// First cases and fewer trials: a minute for everything.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    part: Flags,
    /// Trials of a claim; with ranges, per point of the grid (default 20, with --quick 5).
    #[arg(long, value_name = "N")]
    trials: Option<usize>,
    /// Root seed of all trials.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write report.html and verdicts.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Runs it; the exit code is the worst verdict.
    pub fn run(self, out: &Output) -> Result<i32> {
        let claims: Vec<&Claim> =
            if self.names.is_empty() { ALL.to_vec() } else { self.names.iter().map(|n| find(n)).collect::<Result<_>>()? };
        let region = self.part.region()?;
        if !region.is_whole() || region.beyond {
            let trials = self.trials.unwrap_or(if self.quick { 5 } else { 20 });
            return sweep::run(&claims, &region, trials, self.seed, self.out.as_deref(), out);
        }
        let effort = match (self.trials, self.quick) {
            (Some(n), true) => return Err(Error::parameter("--trials", n, "it without --quick, which has its own number of trials")),
            (Some(0), _) => return Err(Error::parameter("--trials", 0, "at least 1")),
            (Some(n), false) => Effort::Draws(n),
            (None, true) => Effort::Quick,
            (None, false) => Effort::Standard,
        };
        if let Some(folder) = &self.out {
            // Found out before the work, not after it.
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        }
        let (records, seconds) = verdicts(&claims, effort, self.seed, out.is_json())?;
        if let Some(folder) = &self.out {
            write_report(&records, effort, self.seed, folder, &self.names, &[], seconds)?;
        }
        finish(out, &records, word(effort), self.seed, seconds, &[])
    }
}

/// `metastable` alone: all claims, the quick figures, the report, the next command.
pub fn quick(out: &Output) -> Result<i32> {
    let (records, seconds) = verdicts(ALL, Effort::Quick, 1, out.is_json())?;
    let folder = Path::new("runs/report");
    let style = Style { size: Size::Siam, dpi: 200.0 };
    let mut figures = Vec::new();
    for entry in crate::paper_figs::ALL.iter().filter(|e| e.quick) {
        let hidden = if entry.hidden { Some(figure::built_in_model()?) } else { None };
        let files = figure::make(entry, false, hidden, &style, (Path::new("runs"), &folder.join("figures")))?;
        let svg = std::fs::read_to_string(&files[0]).map_err(|e| Error::io(files[0].display(), "read", &e))?;
        let caption = std::fs::read_to_string(&files[3]).map_err(|e| Error::io(files[3].display(), "read", &e))?;
        figures.push(report::Figure { name: entry.name, title: entry.title, svg, caption });
    }
    write_report(&records, Effort::Quick, 1, folder, &[], &figures, seconds)?;
    let next = [
        format!("wrote {} and {} figures beside it", folder.join("report.html").display(), figures.len()),
        "next: metastable run regimes   (the regimes beta < 1/n and beta > n^2, with a table)".to_owned(),
    ];
    finish(out, &records, "quick", 1, seconds, &next)
}

fn verdicts(claims: &[&'static Claim], effort: Effort, seed: u64, quiet: bool) -> Result<(Vec<Record>, f64)> {
    let started = Instant::now();
    let mut records = Vec::new();
    for (k, claim) in claims.iter().enumerate() {
        if cancelled() {
            return Err(Error::Interrupted { resume: format!("{k} of {} claims were checked", claims.len()) });
        }
        let once = Instant::now();
        progress::report(Some(k as f64 / claims.len() as f64), || format!("{} ({} of {} claims)", claim.name, k + 1, claims.len()));
        records.push(check(claim, effort, seed)?);
        if !quiet && once.elapsed().as_secs_f64() > 2.0 {
            note(&format!("[{}/{}] {} took {:.1} s", k + 1, claims.len(), claim.name, once.elapsed().as_secs_f64()));
        }
    }
    Ok((records, started.elapsed().as_secs_f64()))
}

fn word(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => "quick",
        Effort::Standard | Effort::Draws(_) => "standard",
    }
}

fn finish(out: &Output, records: &[Record], effort: &str, seed: u64, seconds: f64, notes: &[String]) -> Result<i32> {
    let mut text = table(records, seconds);
    notes.iter().for_each(|n| text.push_str(&format!("{n}\n")));
    let good = records.iter().filter(|r| r.as_expected).count();
    out.result(&json!({"claims": rows(records), "effort": effort, "seed": seed, "as_expected": good}), &text);
    Ok(worst(records))
}

fn write_report(
    records: &[Record],
    effort: Effort,
    seed: u64,
    folder: &Path,
    names: &[String],
    figures: &[report::Figure],
    seconds: f64,
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let flag = match effort {
        Effort::Quick => " --quick".to_owned(),
        Effort::Standard => String::new(),
        Effort::Draws(n) => format!(" --trials {n}"),
    };
    let named: String = names.iter().map(|n| format!(" {n}")).collect();
    let provenance = Provenance::new("check", &format!("{effort:?} {seed}"), format!("metastable check{named}{flag} --seed {seed}"));
    let sparks: Vec<String> = records.iter().map(|r| spark(&r.margins, &format!("margins of {}", r.name))).collect();
    let page = report::html(records, &sparks, figures, &provenance, &flag, seconds);
    write_atomically(&folder.join("report.html"), page.as_bytes())?;
    let json = json!({"provenance": serde_json::to_value(&provenance).unwrap_or_default(), "claims": rows(records)});
    write_atomically(&folder.join("verdicts.json"), json.to_string().as_bytes())
}

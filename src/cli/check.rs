//! `check`: verdicts on theorems; alone, `metastable` is the quick check with figures and the report.

use super::cancel::cancelled;
use super::figure::{self, Style};
use super::output::{Output, note};
use super::parts::{CheckInParts, shared};
use super::progress;
use super::region::Flags;
use super::run::PartArguments;
use super::sweep;
use super::verdicts::{rows, summary, table};
use super::{paper_page, papers};
use crate::draw::{Size, spark};
use crate::error::{Error, Result};
use crate::lab::{
    Provenance,
    arrays::write_atomically,
    report::{self, Budget, CitedPaper, Shown},
};
use crate::num::threads::spread;
use crate::theorem::{ALL, Claim, Effort, Record, check, seeds, worst};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shares of the work that claims are, before the figures of a report: the quick figures took three
/// seconds beside a minute of claims; all figures take minutes.
const CLAIMS: (f64, f64) = (0.97, 0.7);

/// How often a long check writes down what it has.
const KEEP: Duration = Duration::from_secs(1);

/// Flags of `check`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  metastable check --quick\n  metastable check wendel cone-rate --seed 3\n  metastable check seeds --quick\n  metastable check angular-momentum --n 5,9 --d 2..64 --beta 0.1..300:log5 --trials 200"
)]
pub struct Arguments {
    /// Names (see `list theorems`), `seeds` or one of its sentences (see `list seeds`); all theorems when none is given.
    names: Vec<String>,
    /// First cases and fewer trials: a minute for everything.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    part: Flags,
    /// Trials of a claim; with ranges, per point of the grid (default 20, with --quick 5).
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    trials: Option<usize>,
    /// Root seed of all trials.
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// A line for every claim; without names only a summary is printed.
    #[arg(long)]
    all: bool,
    /// Write report.html and verdicts.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    parts: PartArguments,
}

/// The claims of a paper, of a sentence of the seeds, or the one of this name.
fn named(name: &str) -> Result<Vec<&'static Claim>> {
    papers::find(name).map(|paper| paper_page::claims(paper).collect()).map_or_else(|| seeds::claims_of(name), Ok)
}

impl Arguments {
    /// Where every claim has its line anyway, `--all` would do nothing.
    fn refuse_all(&self, whole: bool) -> Result<()> {
        const WITHOUT: &str = "neither names, ranges nor parts of the work: with them every claim has its line";
        self.parts.refuse(WITHOUT)?;
        if self.names.is_empty() && whole { Ok(()) } else { Err(Error::parameter("--all", "names or ranges", WITHOUT)) }
    }

    /// Runs it; the exit code is the worst verdict.
    pub fn run(self, out: &Output) -> Result<i32> {
        let claims: Vec<&Claim> = if self.names.is_empty() {
            ALL.to_vec()
        } else {
            let mut all = self.names.iter().map(|n| named(n)).collect::<Result<Vec<_>>>()?.concat();
            let mut seen = std::collections::HashSet::new();
            all.retain(|c| seen.insert(c.name));
            all
        };
        let region = self.part.region()?;
        if self.all {
            self.refuse_all(region.is_whole() && !region.beyond)?;
        }
        if !region.is_whole() || region.beyond {
            self.parts.refuse("neither with ranges of one's own: name a part of the grid by other ranges")?;
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
        if let Some((folder, part)) = shared(self.out.as_deref(), &self.parts)? {
            let all = CheckInParts { claims: &claims, effort, seed: self.seed, folder: &folder };
            return part.map_or_else(|| all.merge(out), |part| all.run(&part, out));
        }
        if let Some(folder) = &self.out {
            // Found out before the work, not after it.
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        }
        let book = Book { claims: &claims, names: &self.names, effort, seed: self.seed, folder: self.out.as_deref(), quiet: out.is_json() };
        let drawn = self.out.is_some() && self.names.is_empty();
        let (records, seconds) = book.verdicts(if drawn { claims_share(effort) } else { 1.0 })?;
        if let Some(folder) = &self.out {
            let figures = if drawn { figures(effort, folder, out.is_json())? } else { Vec::new() };
            write_report(&records, &book.budget(seconds), folder, &figures)?;
        }
        let sheet = if self.names.iter().any(|n| n == seeds::GROUP) { super::seeds::sheet(&records) } else { Vec::new() };
        let short = self.names.is_empty() && !self.all;
        let more = if short { vec![format!("every claim: {} --all", book.budget(seconds).command())] } else { sheet };
        finish(out, &records, (word(effort), self.seed), seconds, short, &more)
    }
}

/// `metastable` alone: all claims, the quick figures, the report, the next command.
pub fn quick(out: &Output) -> Result<i32> {
    let folder = Path::new("runs/report");
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let book = Book { claims: ALL, names: &[], effort: Effort::Quick, seed: 1, folder: Some(folder), quiet: out.is_json() };
    let (records, seconds) = book.verdicts(claims_share(Effort::Quick))?;
    let figures = figures(Effort::Quick, folder, out.is_json())?;
    write_report(&records, &book.budget(seconds), folder, &figures)?;
    let here = figures.iter().filter(|f| matches!(f.drawn, Shown::Here { .. })).count();
    let next = [
        format!("wrote {} and {here} figures beside it", folder.join("report.html").display()),
        "every claim: metastable check --quick --all".to_owned(),
        "next: metastable run regimes   (the regimes beta < 1/n and beta > n^2, with a table)".to_owned(),
    ];
    finish(out, &records, ("quick", 1), seconds, true, &next)
}

/// The share of the work that the claims are.
fn claims_share(effort: Effort) -> f64 {
    if effort == Effort::Quick { CLAIMS.0 } else { CLAIMS.1 }
}

/// The figures of a report on all claims: those whose data take seconds for a quick one, all for a full one.
fn figures(effort: Effort, folder: &Path, quiet: bool) -> Result<Vec<report::Figure>> {
    // At 200 dpi a figure that goes into the page as PNG is readable at full width.
    let style = Style { size: Size::Siam, dpi: 200.0 };
    let mut figures = Vec::new();
    let _part = progress::part(claims_share(effort), 1.0);
    let wanted = |entry: &crate::paper_figs::PaperFigure| entry.quick || effort == Effort::Standard;
    let (mut done, all) = (0.0, crate::paper_figs::ALL.iter().filter(|entry| wanted(entry)).count() as f64);
    for entry in crate::paper_figs::ALL {
        let drawn = if wanted(entry) {
            let _one = progress::part(done / all, (done + 1.0) / all);
            done += 1.0;
            progress::report(Some(0.0), || format!("figure {}", entry.name));
            let started = Instant::now();
            let files = figure::make(entry, &style, (Path::new("runs"), &folder.join("figures")))?;
            let read = |extension: &str| {
                let path = files.iter().find(|f| f.extension().is_some_and(|e| e == extension)).cloned().unwrap_or_default();
                std::fs::read(&path).map_err(|e| Error::io(path.display(), "read", &e))
            };
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            if !quiet && started.elapsed().as_secs_f64() > 2.0 {
                note(&format!("figure {} took {:.1} s", entry.name, started.elapsed().as_secs_f64()));
            }
            Shown::Here { svg: text(read("svg")?), png: read("png")?, caption: text(read("txt")?) }
        } else {
            Shown::Missing("its data take longer than a quick run")
        };
        figures.push(report::Figure { name: entry.name, title: entry.title, drawn });
    }
    Ok(figures)
}

/// Claims that are checked; what is known of them is kept on the way.
struct Book<'a> {
    claims: &'a [&'static Claim],
    names: &'a [String],
    effort: Effort,
    seed: u64,
    folder: Option<&'a Path>,
    quiet: bool,
}

impl Book<'_> {
    fn budget(&self, seconds: f64) -> Budget {
        let machine = format!("{} threads", rayon::current_num_threads());
        Budget { effort: self.effort, names: self.names.to_vec(), seconds, machine, seed: self.seed }
    }

    /// All verdicts, and the seconds they took; they are this share of the work. **Errors** an
    /// interruption: `verdicts.json` has those that were ready, to a second.
    fn verdicts(&self, share: f64) -> Result<(Vec<Record>, f64)> {
        let _part = progress::part(0.0, share);
        // Each thread works on a claim, and claims take from a millisecond to half a minute: near
        // the end their number says nothing of the time.
        let last = 2 * rayon::current_num_threads();
        let (started, all, ready) = (Instant::now(), self.claims.len(), Mutex::new(Ready::default()));
        let lock = || ready.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |k: usize, claim: &&'static Claim| {
            if cancelled() {
                return Err(self.interrupted(&lock().in_order()));
            }
            let once = Instant::now();
            progress::report_all(|| {
                let there = lock().records.len();
                let words = format!("{there} of {all} claims are done; {} began last", claim.name);
                progress::Said { share: Some(there as f64 / all as f64), timed: all - there > last, words }
            });
            let record = check(claim, self.effort, self.seed)?;
            let mut ready = lock();
            ready.records.insert(k, record.clone());
            if let Some(folder) = self.folder.filter(|_| ready.kept.is_none_or(|k| k.elapsed() > KEEP)) {
                write_verdicts(&ready.in_order(), &self.budget(0.0), folder, all)?;
                ready.kept = Some(Instant::now());
            }
            if !self.quiet && once.elapsed().as_secs_f64() > 2.0 {
                note(&format!("[{}/{all}] {} took {:.1} s", k + 1, claim.name, once.elapsed().as_secs_f64()));
            }
            Ok(record)
        };
        let records = spread(self.claims, one)?;
        Ok((records, started.elapsed().as_secs_f64()))
    }

    fn interrupted(&self, records: &[Record]) -> Error {
        let there = format!("{} of {} claims were checked", records.len(), self.claims.len());
        let resume =
            match self.folder.map(|f| write_verdicts(records, &self.budget(0.0), f, self.claims.len()).map(|()| f.join("verdicts.json"))) {
                Some(Ok(path)) => format!("{there}, see {}; with --out and --cells 1/1 a check can be resumed", path.display()),
                Some(Err(e)) => format!("{there}; {e}"),
                None => there,
            };
        Error::Interrupted { resume }
    }
}

/// The verdicts that are there, by the place of their claims, and when they were kept last.
#[derive(Default)]
struct Ready {
    records: BTreeMap<usize, Record>,
    kept: Option<Instant>,
}

impl Ready {
    fn in_order(&self) -> Vec<Record> {
        self.records.values().cloned().collect()
    }
}

fn word(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => "quick",
        Effort::Standard | Effort::Draws(_) => "standard",
    }
}

/// Prints the verdicts: a summary, or a line for each.
fn finish(out: &Output, records: &[Record], how: (&str, u64), seconds: f64, short: bool, notes: &[String]) -> Result<i32> {
    let colour = out.colour();
    let mut text = if short { summary(records, &cited(), seconds, colour) + "\n" } else { table(records, seconds, colour) };
    notes.iter().for_each(|n| text.push_str(&format!("{n}\n")));
    let good = records.iter().filter(|r| r.as_expected).count();
    out.result(&json!({"claims": rows(records), "effort": how.0, "seed": how.1, "as_expected": good}), &text);
    Ok(worst(records))
}

/// The papers that claims are grouped by.
fn cited() -> Vec<CitedPaper> {
    papers::ALL.iter().map(|p| CitedPaper { id: p.id, summary: p.summary() }).collect()
}

fn write_report(records: &[Record], budget: &Budget, folder: &Path, figures: &[report::Figure]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let provenance = provenance(budget);
    let sparks: Vec<String> = records.iter().map(|r| spark(&r.margins, &format!("{} margins of {}", r.margins.len(), r.name))).collect();
    let page = report::html(records, &sparks, figures, &cited(), &provenance, budget);
    write_atomically(&folder.join("report.html"), page.as_bytes())?;
    write_atomically(&folder.join("page.html"), super::page::html()?.as_bytes())?;
    write_verdicts(records, budget, folder, records.len())
}

/// The verdicts as JSON; `of` is the number of claims that were to be checked.
fn write_verdicts(records: &[Record], budget: &Budget, folder: &Path, of: usize) -> Result<()> {
    let provenance = serde_json::to_value(provenance(budget)).unwrap_or_default();
    write_atomically(
        &folder.join("verdicts.json"),
        json!({"provenance": provenance, "claims": rows(records), "of": of}).to_string().as_bytes(),
    )
}

fn provenance(budget: &Budget) -> Provenance {
    Provenance::new("check", &format!("{:?} {}", budget.effort, budget.seed), budget.command())
}

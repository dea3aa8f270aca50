//! `check`: verdicts on theorems. `metastable` without a command is the quick check with figures
//! and a report.

use super::figure::{self, Style};
use super::grid_flags::GridFlags;
use super::output::{colour, complain, is_data, note};
use super::run::ShardArguments;
use super::shards::{ShardedCheck, shared};
use super::sweep::Sweep;
use super::verdicts::{rows, summary, table};
use super::{cancel, out_file, papers, progress, selftest};
use crate::draw::{Size, margin_strip};
use crate::error::{Error, Result};
use crate::lab::{
    Provenance,
    arrays::write_atomically,
    report::{self, Budget, CitedPaper, FigurePicture},
};
use crate::num::threads::par_map;
use crate::operation::{Answer, Exit, Operation, Parameters, Rows, Table, any, at_least, column};
use crate::parameters;
use crate::theorem::{self, ALL, Claim, Effort, Record, check, exit_code, sentences};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Fraction of the time that claims take when figures follow, in a quick and in a full check: quick
/// figures take three seconds beside half a minute of claims, all figures take minutes.
const CLAIMS: (f64, f64) = (0.97, 0.7);

/// Seconds that all claims take on one thread of the machine of benches/README.md: quick, standard.
const SECONDS: (f64, f64) = (70.0, 1400.0);

/// Time between two writes of `verdicts.json`.
const WRITE_EVERY: Duration = Duration::from_secs(1);

parameters! {
    /// Parameters of `check`.
    struct Check {
        ..range: GridFlags;
        ..shards: ShardArguments;
        /// Theorems (`list theorems`), topics (`list topics`), arXiv numbers of papers, `sentences`
        /// for sixty popular statements about attention, or `selftest` for the dynamics on this
        /// machine, with a name of one. A theorem is checked with its variants. Default: all.
        names: Vec<String>, any().positional();
        /// The theorems of these topics (`list topics`), separated by commas.
        topic: Vec<String>, any().form("TOPICS").separated().hidden();
        /// Fewer trials: about half a minute on two cores for all theorems.
        quick: bool;
        /// Trials per claim; with ranges, per point of the grid (default 20, with --quick 5).
        trials: Option<usize>, at_least(1.0).form("N");
        /// Random seed of all trials.
        seed: u64, any().or("1");
        /// Print a line for every claim; without it a check of all theorems prints a summary.
        all: bool;
        /// Write report.html and verdicts.json into this folder.
        out: Option<PathBuf>, any().form("DIR");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "check",
    group: "Theorems",
    summary: "Test theorems: verdicts, margins, controls; with ranges, a sweep over a grid",
    notes: "Examples:
  metastable check --quick
  metastable check wendel cone-speed --seed 3
  metastable check noise
  metastable check sentences --quick
  metastable check selftest usa
  metastable check angular-momentum --n 5,9 --d 2..64 --beta 0.1..300:log5 --trials 200",
    parameters: Check::table,
    results: &[
        column("effort", "quick or standard"),
        column("seed", "random seed"),
        column("trials", "trials per point of a grid"),
        column("as_expected", "number of verdicts as the literature predicts"),
        column("sentences", "the sentences with their verdicts"),
        column("grids", "the points of a sweep"),
        column("shard", "the shard that was checked"),
        column("of", "number of all claims"),
        column("failed", "checks of the dynamics that failed"),
        column("threads", "number of threads"),
    ],
    tables: &[
        Table {
            name: "claims",
            what: "one row for each claim",
            rows: Rows::Objects("claims"),
            columns: &[
                column("name", "name of the claim"),
                column("status", "status in the literature"),
                column("kind", "kind of quantity"),
                column("verdict", "the verdict"),
                column("as_expected", "whether it is as the literature predicts"),
                column("margin", "smallest margin"),
                column("trials", "number of trials"),
                column("reason", "why the verdict is what it is"),
            ],
        },
        Table {
            name: "checks",
            what: "of `selftest`: one row for each check",
            rows: Rows::Objects("checks"),
            columns: &[
                column("dynamics", "the dynamics"),
                column("check", "what is checked"),
                column("value", "the deviation"),
                column("bound", "its bound"),
                column("passed", "whether it holds"),
            ],
        },
    ],
    exits: &[
        (Exit::Shown, "as the literature predicts"),
        (Exit::Counterexample, "a theorem is violated, or a check of the dynamics failed"),
        (Exit::Undecided, "another verdict than expected, or undecided"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Check::of(given)?.run(),
    ..Operation::EMPTY
};

/// The claims of a topic, of a paper or of a sentence, or the claim of this name; each with its
/// variants.
fn named(name: &str) -> Result<Vec<&'static Claim>> {
    if let Ok(topic) = theorem::claim::find_topic(name) {
        return Ok(topic.claims.iter().flat_map(|c| c.with_variants()).collect());
    }
    let found: Vec<&'static Claim> = papers::find(name)
        .map(|paper| paper.claims().collect())
        .map_or_else(|| sentences::claims_of(name), Ok)?;
    Ok(found.into_iter().flat_map(Claim::with_variants).collect())
}

impl Check {
    /// **Errors** `--all` with arguments that already print every claim.
    fn refuse_all(&self, whole: bool) -> Result<()> {
        const WITHOUT: &str = "no names, ranges or shards: with them every claim is printed";
        self.shards.refuse(WITHOUT)?;
        if whole { Ok(()) } else { Err(Error::parameter("--all", "names or ranges", WITHOUT)) }
    }

    /// Runs it; the exit code is the worst verdict.
    fn run(self) -> Result<Answer> {
        if let [first, rest @ ..] = &self.names[..]
            && first == selftest::NAME
        {
            return selftest::run(rest.first().map(String::as_str), self.seed);
        }
        let everything = self.names.is_empty() && self.topic.is_empty();
        let claims: Vec<&Claim> = if everything {
            ALL.to_vec()
        } else {
            let mut all = self.names.iter().map(|n| named(n)).collect::<Result<Vec<_>>>()?.concat();
            for name in &self.topic {
                let topic = theorem::claim::find_topic(name)?;
                all.extend(topic.claims.iter().flat_map(|c| c.with_variants()));
            }
            let mut seen = std::collections::HashSet::new();
            all.retain(|c| seen.insert(c.name));
            all
        };
        let region = self.range.region()?;
        if self.all {
            self.refuse_all(everything && region.is_whole() && !region.beyond_hypotheses)?;
        }
        if !region.is_whole() || region.beyond_hypotheses {
            self.shards.refuse("no ranges with it: divide the grid by the ranges themselves")?;
            let trials = self.trials.unwrap_or(if self.quick { 5 } else { 20 });
            let sweep = Sweep {
                region,
                words: self.range.words(),
                trials,
                seed: self.seed,
                folder: self.out.as_deref(),
            };
            return sweep.run(&claims);
        }
        let effort = match (self.trials, self.quick) {
            (Some(n), true) => {
                return Err(Error::parameter(
                    "--trials",
                    n,
                    "it without --quick, which sets the number of trials",
                ));
            }
            (Some(n), false) => Effort::Draws(n),
            (None, true) => Effort::Quick,
            (None, false) => Effort::Standard,
        };
        if let Some((folder, shard)) = shared(self.out.as_deref(), &self.shards)? {
            let all = ShardedCheck { claims: &claims, effort, seed: self.seed, folder: &folder };
            return shard.map_or_else(|| all.merge(), |shard| all.run(&shard));
        }
        let check = CheckRun {
            claims: &claims,
            names: &self.names,
            topics: &self.topic,
            effort,
            seed: self.seed,
            folder: self.out.as_deref(),
            quiet: is_data(),
        };
        check.prepare(false)?;
        let drawn = self.out.is_some() && everything;
        let (records, each, seconds) =
            check.verdicts(if drawn { claims_share(effort) } else { 1.0 })?;
        if let Some(folder) = &self.out {
            let figures = if drawn { check.figures(folder, false)? } else { Vec::new() };
            write_report(&records, &check.budget(seconds), folder, &figures)?;
        }
        let (lines, sheet) = if self.names.iter().any(|n| n == sentences::GROUP) {
            (super::sentences::table(&records), super::sentences::rows(&records))
        } else {
            (Vec::new(), Vec::new())
        };
        let each = (everything && !self.all).then_some(&each[..]);
        let more = if each.is_some() { more(&check.budget(seconds).command()) } else { lines };
        finish(&records, (word(effort), self.seed), seconds, each, (&more[..], &sheet[..]))
    }
}

/// How to see more than the summary of `command`.
fn more(command: &str) -> Vec<String> {
    vec![
        format!("every claim: {command} --all"),
        "one topic: metastable check noise; one paper: metastable check 2410.06833".into(),
    ]
}

/// `metastable` without a command: all claims, the quick figures, the report, the next command.
pub fn quick() -> Result<Answer> {
    let folder = Path::new("runs/report");
    let check = CheckRun {
        claims: &ALL,
        names: &[],
        topics: &[],
        effort: Effort::Quick,
        seed: 1,
        folder: Some(folder),
        quiet: is_data(),
    };
    check.prepare(true)?;
    let (records, each, seconds) = check.verdicts(claims_share(Effort::Quick))?;
    let figures = check.figures(folder, true)?;
    write_report(&records, &check.budget(seconds), folder, &figures)?;
    let here = figures.iter().filter(|f| matches!(f.picture, FigurePicture::Drawn { .. })).count();
    let mut next = vec![format!(
        "wrote {} and {here} figures beside it",
        folder.join("report.html").display()
    )];
    next.extend(more("metastable check --quick"));
    next.push(
        "next: metastable run regimes   (the regimes beta < 1/n and beta > n^2, with a table)"
            .into(),
    );
    finish(&records, ("quick", 1), seconds, Some(&each), (&next[..], &[]))
}

/// Fraction of the time that the claims take.
fn claims_share(effort: Effort) -> f64 {
    if effort == Effort::Quick { CLAIMS.0 } else { CLAIMS.1 }
}

/// A check of several claims, which writes intermediate verdicts.
struct CheckRun<'a> {
    claims: &'a [&'static Claim],
    names: &'a [String],
    topics: &'a [String],
    effort: Effort,
    seed: u64,
    folder: Option<&'a Path>,
    quiet: bool,
}

impl CheckRun<'_> {
    fn budget(&self, seconds: f64) -> Budget {
        let machine = format!("{} threads", rayon::current_num_threads());
        Budget {
            effort: self.effort,
            names: self.names.to_vec(),
            topics: self.topics.to_vec(),
            seconds,
            machine,
            seed: self.seed,
        }
    }

    /// What the check will do and how long it takes, if it takes long.
    fn announce(&self) {
        let threads = rayon::current_num_threads();
        let share = self.claims.len() as f64 / ALL.len() as f64;
        let (all, trials) = match self.effort {
            Effort::Quick => (SECONDS.0, "few trials"),
            Effort::Standard | Effort::Draws(_) => (SECONDS.1, "many trials and longer searches"),
        };
        let seconds = share * all / threads as f64;
        if !self.quiet && seconds > 5.0 && self.names.is_empty() {
            let rows = self.claims.iter().filter(|c| !c.is_variant()).count();
            let time = if seconds < 90.0 {
                format!("{:.0} s", 5.0 * (seconds / 5.0).ceil())
            } else {
                format!("{:.0} minutes", (seconds / 60.0).ceil())
            };
            let threads =
                if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
            note(&format!("checking {rows} claims with {trials}: about {time} on {threads}"));
        }
    }

    /// All verdicts, the seconds of each, and the seconds of all; `share` is their fraction of the
    /// whole command. **Errors** an interruption; `verdicts.json` then holds the finished verdicts.
    fn verdicts(&self, share: f64) -> Result<(Vec<Record>, Vec<f64>, f64)> {
        self.announce();
        let _part = progress::part(0.0, share);
        // Claims take from a millisecond to some seconds, one per thread: near the end their
        // number does not predict the remaining time.
        let last = 2 * rayon::current_num_threads();
        let (started, all) = (Instant::now(), self.claims.len());
        let ready = Arc::new(Mutex::new(Finished::default()));
        let session = super::session::current();
        let lock = || ready.lock().unwrap_or_else(PoisonError::into_inner);
        // A claim takes up to minutes; a signal does not wait for it.
        let _saving = cancel::save_at_signal({
            let (ready, budget) = (ready.clone(), self.budget(0.0));
            let folder = self.folder.map(Path::to_path_buf);
            move || {
                let records = ready.lock().unwrap_or_else(PoisonError::into_inner).in_order();
                complain(&interrupted(&records, &budget, folder.as_deref(), all).nested());
            }
        });
        let one = |k: usize, claim: &&'static Claim| {
            if session.cancelled() {
                let records = lock().in_order();
                return Err(interrupted(&records, &self.budget(0.0), self.folder, all));
            }
            let once = Instant::now();
            progress::report_all(|| {
                let there = lock().records.len();
                let words =
                    format!("{there} of {all} claims are finished; {} started last", claim.name);
                progress::Status {
                    share: Some(there as f64 / all as f64),
                    timed: all - there > last,
                    words,
                }
            });
            let record = check(claim, self.effort, self.seed)?;
            let took = once.elapsed().as_secs_f64();
            let mut ready = lock();
            ready.records.insert(k, record.clone());
            if let Some(folder) =
                self.folder.filter(|_| ready.written.is_none_or(|k| k.elapsed() > WRITE_EVERY))
            {
                write_verdicts(&ready.in_order(), &self.budget(0.0), folder, all)?;
                ready.written = Some(Instant::now());
            }
            Ok((record, took))
        };
        let (records, each): (Vec<Record>, Vec<f64>) =
            par_map(self.claims, one)?.into_iter().unzip();
        let seconds = started.elapsed().as_secs_f64();
        if let Some(folder) = self.folder {
            write_verdicts(&records, &self.budget(seconds), folder, all)?;
        }
        Ok((records, each, seconds))
    }

    /// The figures of a report on all claims: in a quick check those whose data take seconds, else
    /// all.
    fn figures(&self, folder: &Path, own_folder: bool) -> Result<Vec<report::Figure>> {
        let (effort, own) = (self.effort, folder.join("figures"));
        let (folders, replaced) = ((Path::new("runs"), &*own), out_file::replaced(own_folder));
        // At 200 dpi a figure that goes into the page as PNG is readable at full width.
        let style = Style { size: Size::Siam, dpi: 200.0 };
        let mut figures = Vec::new();
        let _part = progress::part(claims_share(effort), 1.0);
        let wanted =
            |entry: &crate::paper_figs::PaperFigure| entry.quick || effort == Effort::Standard;
        let (mut done, all) =
            (0.0, crate::paper_figs::ALL.iter().filter(|entry| wanted(entry)).count() as f64);
        for entry in crate::paper_figs::ALL {
            let picture = if wanted(entry) {
                let _one = progress::part(done / all, (done + 1.0) / all);
                done += 1.0;
                progress::report(Some(0.0), || format!("figure {}", entry.name));
                let started = Instant::now();
                let files = figure::make(entry, &style, folders, replaced)?;
                let read = |extension: &str| {
                    let path = files
                        .iter()
                        .find(|f| f.extension().is_some_and(|e| e == extension))
                        .cloned()
                        .unwrap_or_default();
                    std::fs::read(&path).map_err(|e| Error::io(path.display(), "read", &e))
                };
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                if !self.quiet && started.elapsed().as_secs_f64() > 2.0 {
                    note(&format!(
                        "figure {} took {:.1} s",
                        entry.name,
                        started.elapsed().as_secs_f64()
                    ));
                }
                FigurePicture::Drawn {
                    svg: text(read("svg")?),
                    png: read("png")?,
                    caption: text(read("txt")?),
                }
            } else {
                FigurePicture::Missing("its data take longer than a quick check")
            };
            figures.push(report::Figure { name: entry.name, title: entry.title, picture });
        }
        Ok(figures)
    }

    /// Creates the folder and checks the files that will be written.
    ///
    /// **Errors** files of another check.
    fn prepare(&self, own_folder: bool) -> Result<()> {
        let Some(folder) = self.folder else { return Ok(()) };
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        let provenance = provenance(&self.budget(0.0));
        for (name, origin) in [
            (VERDICTS, &provenance),
            ("report.html", &provenance),
            ("page.html", &super::page::provenance()),
        ] {
            out_file::check_result(&folder.join(name), origin, own_folder)?;
        }
        Ok(())
    }
}

/// The file of verdicts.
const VERDICTS: &str = "verdicts.json";

/// Writes the verdicts of an interrupted check of `of` claims. Says how many there are, and where.
fn interrupted(records: &[Record], budget: &Budget, folder: Option<&Path>, of: usize) -> Error {
    let there = format!("{} of {of} claims were checked", records.len());
    let written = |f: &Path| write_verdicts(records, budget, f, of).map(|()| f.join(VERDICTS));
    let resume = match folder.map(written) {
        Some(Ok(path)) => format!(
            "{there}, see {}; a check with --out and --shard 0/1 can be resumed",
            path.display()
        ),
        Some(Err(e)) => format!("{there}; {e}"),
        None => format!("{there}; their verdicts are kept with --out only"),
    };
    Error::Interrupted { resume }
}

/// The finished verdicts by the index of their claims, and the time of the last write.
#[derive(Default)]
struct Finished {
    records: BTreeMap<usize, Record>,
    written: Option<Instant>,
}

impl Finished {
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

/// Prints the verdicts: a summary if the seconds of each claim are given, else one line per claim.
/// The last argument is what follows: lines of text, and the sentences as JSON.
fn finish(
    records: &[Record],
    how: (&str, u64),
    seconds: f64,
    each: Option<&[f64]>,
    (notes, sheet): (&[String], &[Value]),
) -> Result<Answer> {
    let colour = colour();
    let mut text = match each {
        Some(each) => summary(records, each, seconds, colour) + "\n",
        None => table(records, seconds, colour),
    };
    notes.iter().for_each(|n| text.push_str(&format!("{n}\n")));
    let good = records.iter().filter(|r| r.as_expected).count();
    let mut result =
        json!({"claims": rows(records), "effort": how.0, "seed": how.1, "as_expected": good});
    if !sheet.is_empty() {
        result["sentences"] = json!(sheet);
    }
    Ok(Answer::new(result, text).ended(Exit::of(exit_code(records))))
}

/// The papers by which the report groups claims.
fn cited() -> Vec<CitedPaper> {
    papers::ALL.iter().map(|p| CitedPaper { id: &p.id, summary: p.summary() }).collect()
}

fn write_report(
    records: &[Record],
    budget: &Budget,
    folder: &Path,
    figures: &[report::Figure],
) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
    let provenance = provenance(budget);
    let sparks: Vec<String> = records
        .iter()
        .map(|r| margin_strip(&r.margins, &format!("{} margins of {}", r.margins.len(), r.name)))
        .collect();
    let page = report::html(records, &sparks, figures, &cited(), &provenance, budget);
    write_atomically(&folder.join("report.html"), page.as_bytes())?;
    write_atomically(&folder.join("page.html"), super::page::html()?.as_bytes())?;
    write_verdicts(records, budget, folder, records.len())
}

/// Writes the verdicts as JSON; `of` is the number of all claims of the check.
fn write_verdicts(records: &[Record], budget: &Budget, folder: &Path, of: usize) -> Result<()> {
    let provenance = serde_json::to_value(provenance(budget)).unwrap_or_default();
    write_atomically(
        &folder.join(VERDICTS),
        json!({"provenance": provenance, "claims": rows(records), "of": of}).to_string().as_bytes(),
    )
}

fn provenance(budget: &Budget) -> Provenance {
    let claims = (&budget.names, &budget.topics);
    let settings = format!("{:?} {} {claims:?}", budget.effort, budget.seed);
    Provenance::new("check", &settings, budget.command())
}

//! A run that is killed at any moment loses no finished cell, and the same command then gives the
//! same bytes.

use crate::program::{Place, command, entries, tables};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Cells with large tables, which have folders of their own.
const EXPERIMENT: &str = "name = 'crash'\nn = 24\nd = [2, 3]\nbeta = \"1..12:lin12\"\nt_end = 1e9\nrealisations = 6\nsamples = 40\nlog_from = 0.1\nobservables = ['log-energy', 'positions']";

/// Many cells with small tables, which are lines of one file.
const MANY: &str = "name = 'crash'\nn = 6\nd = [2, 3]\nbeta = \"1..12:lin200\"\nt_end = 1e9\nrealisations = 4\nsamples = 20\nlog_from = 0.1";

fn start(at: &Place) -> Child {
    let mut command = command(at, "run crash.toml --out out");
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

fn top(at: &Path) -> Option<PathBuf> {
    entries(&at.join("out")).into_iter().next()
}

/// The finished cells: their folders and the complete lines of the common file.
fn finished(at: &Path) -> Vec<String> {
    let Some(top) = top(at) else { return Vec::new() };
    let folders = entries(&top.join("cells")).into_iter();
    let names = folders.filter_map(|c| Some(c.file_name()?.to_string_lossy().into_owned()));
    let lines = std::fs::read(top.join("cells.jsonl")).unwrap_or_default();
    let whole = lines.split_inclusive(|b| *b == b'\n').filter(|l| l.ends_with(b"\n"));
    let begins = whole.map(|l| String::from_utf8_lossy(&l[..l.len().min(16)]).into_owned());
    names.filter(|n| !n.starts_with('.')).chain(begins).collect()
}

/// Number of kills that must end a run after it finished a cell and before it finished all.
const HITS: usize = 5;

/// Kills runs, and says where the results of a cell are.
fn killed_and_resumed(experiment: &str, kills: u64) -> &'static str {
    let [uninterrupted, interrupted] = [(); 2].map(|()| Place::with(&[("crash.toml", experiment)]));
    assert!(start(&uninterrupted).wait().expect("runs").success());
    let all = finished(&uninterrupted).len();
    let (mut before, mut hits, mut k) = (Vec::<String>::new(), 0, 0);
    while k < kills || hits < HITS {
        assert!(k < 20 * kills, "only {hits} of {k} kills hit a cell");
        let mut child = start(&interrupted);
        // Pseudo-random moments from 1 to 60 ms, later ones where a machine is slow; `kill` is
        // SIGKILL.
        std::thread::sleep(Duration::from_millis(1 + (k * 7919) % (60 + k)));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let now = finished(&interrupted);
        assert!(before.iter().all(|c| now.contains(c)), "a finished cell was lost");
        hits += usize::from(before.len() < now.len() && now.len() < all);
        before = now;
        // Nothing is left to kill: the run begins again.
        if before.len() == all && hits < HITS {
            std::fs::remove_dir_all(interrupted.join("out")).expect("removed");
            before.clear();
        }
        k += 1;
    }
    assert!(start(&interrupted).wait().expect("runs").success());
    let [one, other] = [&uninterrupted, &interrupted].map(|at| top(at).expect("one experiment"));
    assert!(tables(&one) == tables(&other), "an interrupted run gives other bytes");
    if one.join("cells.jsonl").exists() { "cells.jsonl" } else { "cells" }
}

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    assert_eq!(killed_and_resumed(EXPERIMENT, 40), "cells");
}

#[test]
fn killed_runs_with_many_small_cells_resume_to_the_same_bytes() {
    assert_eq!(killed_and_resumed(MANY, 40), "cells.jsonl");
}

//! A run that is killed at any moment loses no finished cell, and the same command then gives the
//! same bytes.

use crate::program::{self, tables};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const EXPERIMENT: &str = "name = 'crash'\nn = 24\nd = [2, 3]\nbeta = \"1..12:lin12\"\nt_end = 1e9\nrealisations = 6\nsamples = 40\nlog_from = 0.1\nobservables = ['log-energy', 'positions']";

fn command(folder: &Path) -> Command {
    let mut command = program::command(folder, "run crash.toml --out out");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Many cells with small tables, which are lines of one file.
const MANY: &str = "name = 'crash'\nn = 6\nd = [2, 3]\nbeta = \"1..12:lin200\"\nt_end = 1e9\nrealisations = 4\nsamples = 20\nlog_from = 0.1";

fn top(folder: &Path) -> Option<std::path::PathBuf> {
    std::fs::read_dir(folder.join("out"))
        .ok()
        .and_then(|mut d| d.next())
        .and_then(|e| e.ok())
        .map(|e| e.path())
}

/// The finished cells: their folders and the complete lines of the common file.
fn finished(folder: &Path) -> Vec<String> {
    let Some(top) = top(folder) else { return Vec::new() };
    let folders = std::fs::read_dir(top.join("cells")).into_iter().flatten().flatten();
    let names = folders
        .map(|c| c.file_name().to_string_lossy().into_owned())
        .filter(|n| !n.starts_with('.'));
    let lines = std::fs::read(top.join("cells.jsonl")).unwrap_or_default();
    let whole = lines.split_inclusive(|b| *b == b'\n').filter(|l| l.ends_with(b"\n"));
    names
        .chain(whole.map(|l| String::from_utf8_lossy(&l[..l.len().min(16)]).into_owned()))
        .collect()
}

/// Number of kills that must end a run after it finished a cell and before it finished all.
const HITS: usize = 5;

fn killed_and_resumed(experiment: &str, kills: u64) -> std::path::PathBuf {
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    for folder in &folders {
        std::fs::write(folder.path().join("crash.toml"), experiment).expect("writable");
    }
    let uninterrupted = folders[0].path();
    assert!(command(uninterrupted).status().expect("runs").success());
    let interrupted = folders[1].path();
    let all = finished(uninterrupted).len();
    let (mut before, mut hits, mut k) = (Vec::<String>::new(), 0, 0);
    while k < kills || hits < HITS {
        assert!(k < 20 * kills, "only {hits} of {k} kills hit a cell");
        let mut child = command(interrupted).spawn().expect("starts");
        // Pseudo-random moments from 1 to 60 ms, later ones where a machine is slow; `kill` is
        // SIGKILL.
        std::thread::sleep(Duration::from_millis(1 + (k * 7919) % (60 + k)));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let now = finished(interrupted);
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
    assert!(command(interrupted).status().expect("runs").success());
    assert!(
        tables(&top(uninterrupted).expect("one experiment"))
            == tables(&top(interrupted).expect("one experiment")),
        "an interrupted run gives other bytes"
    );
    top(uninterrupted)
        .map(|t| if t.join("cells.jsonl").exists() { "cells.jsonl" } else { "cells" })
        .map(Into::into)
        .expect("results")
}

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    assert_eq!(killed_and_resumed(EXPERIMENT, 40), Path::new("cells"));
}

#[test]
fn killed_runs_with_many_small_cells_resume_to_the_same_bytes() {
    assert_eq!(killed_and_resumed(MANY, 40), Path::new("cells.jsonl"));
}

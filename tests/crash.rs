//! Killed at any moment, a run loses no finished cell, and the same command ends with the same bytes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const EXPERIMENT: &str = "name = 'crash'\nn = 24\nd = [2, 3]\nbeta = \"1..12:lin12\"\nt_end = 1e9\nrealisations = 6\nsamples = 40\nlog_from = 0.1\nobservables = ['log-energy', 'positions']";

fn command(folder: &Path) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_metastable"));
    c.args(["run", "crash.toml", "--out", "out"]).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    c
}

fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let top = std::fs::read_dir(folder.join("out")).expect("results").flatten().next().expect("one experiment").path();
    let mut all = vec![("results".to_owned(), std::fs::read(top.join("results.csv")).expect("collected"))];
    let mut cells: Vec<_> = std::fs::read_dir(top.join("cells")).expect("cells").flatten().map(|c| c.path()).collect();
    cells.sort();
    for cell in cells {
        for file in ["table.csv", "table.npy", "summary.csv"] {
            all.push((
                format!("{}/{file}", cell.file_name().expect("a name").to_string_lossy()),
                std::fs::read(cell.join(file)).expect("whole"),
            ));
        }
    }
    all
}

fn finished(folder: &Path) -> Vec<String> {
    let Some(top) = std::fs::read_dir(folder.join("out")).ok().and_then(|mut d| d.next()).and_then(|e| e.ok()) else { return Vec::new() };
    let Ok(cells) = std::fs::read_dir(top.path().join("cells")) else { return Vec::new() };
    cells.flatten().map(|c| c.file_name().to_string_lossy().into_owned()).filter(|n| !n.starts_with('.')).collect()
}

#[test]
fn kill_and_resume() {
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    for folder in &folders {
        std::fs::write(folder.path().join("crash.toml"), EXPERIMENT).expect("writable");
    }
    let straight = folders[0].path();
    assert!(command(straight).status().expect("runs").success());
    let broken = folders[1].path();
    let mut before: Vec<String> = Vec::new();
    for k in 0..40u64 {
        let mut child = command(broken).spawn().expect("starts");
        // Pseudo-random moments from 1 to 60 ms; `kill` is SIGKILL.
        std::thread::sleep(Duration::from_millis(1 + (k * 7919) % 60));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let now = finished(broken);
        assert!(before.iter().all(|c| now.contains(c)), "a finished cell was lost");
        before = now;
    }
    assert!(command(broken).status().expect("runs").success());
    assert!(results(straight) == results(broken), "an interrupted run ends with other bytes");
}

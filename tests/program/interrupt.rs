//! SIGTERM ends every computation within a second with exit code 130, and keeps the documented
//! partial results.

use crate::program::{alone, command, text};
use metastable::num::stream::Stream;
use metastable::sphere::law::Law;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a run that takes minutes and waits for a second and a half.
fn start(folder: &Path, line: &str) -> Child {
    let child = command(folder, &format!("{line} --format json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    std::thread::sleep(Duration::from_millis(1500));
    child
}

/// The number of finished cells of the only experiment in a folder.
fn cells(folder: &Path) -> usize {
    let Some(top) = std::fs::read_dir(folder).ok().and_then(|mut d| d.next()).and_then(|e| e.ok())
    else {
        return 0;
    };
    let Ok(cells) = std::fs::read_dir(top.path().join("cells")) else { return 0 };
    cells.flatten().filter(|c| !c.file_name().to_string_lossy().starts_with('.')).count()
}

/// Sends SIGTERM and returns the standard output. Checks the time until the run ends, and its exit
/// code.
fn end(mut child: Child, line: &str) -> String {
    assert!(
        child.try_wait().expect("a status").is_none(),
        "{line}: ended by itself: {:?}",
        child.wait_with_output()
    );
    let sent = Instant::now();
    assert!(
        Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status()
            .expect("kill")
            .success()
    );
    let out = child.wait_with_output().expect("ended");
    let seconds = sent.elapsed().as_secs_f64();
    // The program has half a second until it must end. A machine with five other jobs on every core
    // takes three times as long.
    assert!(seconds < 2.5, "{line}: took {seconds:.2} s");
    assert_eq!(out.status.code(), Some(130), "{line}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn json(stdout: &str) -> Value {
    serde_json::from_str(stdout).expect("one JSON object")
}

#[test]
fn runs_keep_the_state_they_reached() {
    // The current step ends within this half second: noise keeps the second density coarse and its
    // steps short.
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    for (line, outcome) in [
        (
            "solve --init uniform --n 1500 --d 3 --seed 1 --beta 9 --dynamics sa --t-end 1e9 --merge-radius 0",
            "outcome",
        ),
        (
            "measure --space sphere2 --density noise:amplitude=0.01,modes=8 --dynamics sa --beta 4 --noise kappa=10 --t-end 1000",
            "outcome",
        ),
    ] {
        let stdout = end(start(folder.path(), line), line);
        assert_eq!(json(&stdout)[outcome], "interrupted", "{line}: {stdout}");
    }
}

#[test]
fn searches_and_checks_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let sphere = Law::parse("uniform")
        .expect("registered")
        .sample(20_000, 3, &mut Stream::new(1, &["interrupt"]))
        .expect("valid");
    let text: String = sphere.rows().map(|r| format!("{},{},{}\n", r[0], r[1], r[2])).collect();
    std::fs::write(folder.path().join("sphere.csv"), text).expect("written");
    for line in [
        "saddles --n 40 --d 3 --beta 9 --starts 1000000",
        "landscape --n 7 --beta 0.25 --out seven.txt",
        "continue --n 6 --beta 0.3..4",
        "landscape --n 11 --beta -0.66..-0.16 --benign",
        "landscape --n 5 --d any --beta 0.2",
        "hunt gamma-bound --minutes 10 --out found.json",
        "modes --samples sphere.csv --sphere --beta 10000",
        "check",
    ] {
        end(start(folder.path(), line), line);
    }
    assert!(!folder.path().join("found.json").exists());
    // What was decided is kept, and the same command goes on.
    let kept = std::fs::read_to_string(folder.path().join("seven.txt")).expect("kept");
    assert!(kept.starts_with("metastable-landscape") && kept.contains("\nX\n"));
    let line = "landscape --n 7 --beta 0.25 --out seven.txt";
    end(start(folder.path(), line), line);
}

#[test]
fn checks_keep_their_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    // The first claim takes milliseconds, the second most of a minute.
    let line = "check softmax-jacobian wendel --trials 3000 --out kept";
    end(start(folder.path(), line), line);
    let kept =
        json(&std::fs::read_to_string(folder.path().join("kept/verdicts.json")).expect("written"));
    assert_eq!(
        (kept["claims"].as_array().map(Vec::len), kept["of"].as_u64()),
        (Some(1), Some(2)),
        "{kept}"
    );
}

#[test]
fn experiments_keep_their_finished_cells() {
    let folder = tempfile::tempdir().expect("a folder");
    let head = "title = \"t\"\nseed = 1\ndynamics = \"sa\"\ninit = \"uniform\"\nobservables = [\"clusters\"]\nd = 3\n";
    let flow =
        "name = \"flow\"\nn = [4, 1500]\nbeta = 9\nt_end = 1e5\nsamples = 3\nmerge_radius = 0\n";
    let layers = "name = \"layers\"\nn = 300\nbeta = 9\neta = 0.1\nt_end = 1e7\nsamples = 3\nstepper = \"layer\"\n";
    for (name, text) in [("flow", flow), ("layers", layers)] {
        std::fs::write(folder.path().join(format!("{name}.toml")), format!("{head}{text}"))
            .expect("written");
        let line = format!("run {name}.toml --out {name}");
        end(start(folder.path(), &line), &line);
        let kept = cells(&folder.path().join(name));
        assert_eq!(kept, usize::from(name == "flow"), "{line}");
    }
}

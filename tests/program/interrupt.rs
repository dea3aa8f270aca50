//! At SIGTERM or SIGINT a computation ends with exit code 130 and keeps what it has. No test
//! measures a time: each waits until the program shows that it works, and until it ends.

use crate::program::{Place, command, entries, items, text};
use metastable::num::stream::Stream;
use metastable::sphere::law::Law;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// A program at work, whose error stream is read.
struct Running {
    child: Child,
    line: String,
    notes: JoinHandle<String>,
}

/// Starts a run that takes minutes. It writes its progress all the time.
fn spawn(folder: &Path, line: &str) -> Child {
    command(folder, &format!("{line} --format json"))
        .env("METASTABLE_PROGRESS", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

/// Starts a run and waits for the first line that begins with the name of the command and contains
/// these words: at first such a line has the seconds, and `": "` before its status.
fn start(folder: &Path, line: &str, words: &str) -> Running {
    let mut child = spawn(folder, line);
    let mut stream = BufReader::new(child.stderr.take().expect("a pipe"));
    let name = format!("{}: ", line.split(' ').next().expect("a command"));
    let mut before = String::new();
    loop {
        let mut next = String::new();
        assert!(stream.read_line(&mut next).expect("text") > 0, "{line}: ended: {before}");
        if next.strip_prefix(&name).is_some_and(|status| status.contains(words)) {
            break;
        }
        before.push_str(&next);
    }
    running(child, line, stream)
}

/// Starts a run and waits until a condition holds.
fn start_until(folder: &Path, line: &str, ready: &dyn Fn() -> bool) -> Running {
    let mut child = spawn(folder, line);
    let stream = child.stderr.take().expect("a pipe");
    let mut running = running(child, line, stream);
    while !ready() {
        let ended = running.child.try_wait().expect("a status");
        assert!(ended.is_none(), "{line}: ended: {ended:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    running
}

fn running(child: Child, line: &str, mut stream: impl Read + Send + 'static) -> Running {
    let notes = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        text(&bytes)
    });
    Running { child, line: line.to_owned(), notes }
}

impl Running {
    /// Sends signals, all at once, and returns the standard output and the notes. Checks the exit
    /// code.
    fn end(self, signals: &[&str]) -> (String, String) {
        let id = self.child.id();
        let all: Vec<String> = signals.iter().map(|s| format!("kill -{s} {id}")).collect();
        let sent = Command::new("sh").args(["-c", &all.join("; ")]).status().expect("a shell");
        let out = self.child.wait_with_output().expect("ended");
        let notes = self.notes.join().expect("read");
        assert!(sent.success(), "{}: ended by itself: {out:?} {notes}", self.line);
        assert_eq!(out.status.code(), Some(130), "{}: {notes}", self.line);
        (text(&out.stdout), notes)
    }
}

fn json(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|e| panic!("{e}: {stdout}"))
}

/// The finished cells of the experiments in a folder.
fn cells(folder: &Path) -> Vec<PathBuf> {
    let all = entries(folder).into_iter().flat_map(|e| entries(&e.join("cells")));
    all.filter(|c| c.file_name().is_some_and(|n| !n.to_string_lossy().starts_with('.'))).collect()
}

#[test]
fn runs_keep_the_state_they_reached() {
    let at = Place::with(&[]);
    for line in [
        "solve --init uniform --n 1500 --d 3 --seed 1 --beta 9 --dynamics sa --t-end 1e9 --merge-radius 0",
        "measure --space sphere2 --density noise:amplitude=0.01,modes=8 --dynamics sa --beta 4 --noise kappa=10 --t-end 1000 --out density",
    ] {
        let (stdout, _) = start(&at, line, ": t = ").end(&["TERM"]);
        assert_eq!(json(&stdout)["outcome"], "interrupted", "{line}: {stdout}");
    }
    assert!(at.join("density/record.json").exists());
}

#[test]
fn searches_print_what_they_found() {
    let at = Place::with(&[]);
    for (line, key) in [
        ("saddles --n 40 --d 3 --beta 9 --starts 1000000", "points"),
        ("continue --n 6 --beta 0.3..4 --out six", "branches"),
        ("landscape --n 11 --beta -0.66..-0.16 --benign", "boxes"),
        ("landscape --n 5 --d any --beta 0.2", "orbits"),
        ("hunt gamma-bound --minutes 10 --out found.json", "budget"),
    ] {
        let (stdout, _) = start(&at, line, ": ").end(&["INT"]);
        assert!(json(&stdout).get(key).is_some(), "{line}: {stdout}");
    }
    assert!(!at.join("found.json").exists());
    let table = at.read("six/branches.csv");
    assert!(table.contains("\n# not complete: interrupted\n"), "{table}");
}

#[test]
fn other_work_ends_at_once() {
    let at = Place::with(&[]);
    let law = Law::parse("uniform").expect("registered");
    let sphere = law.sample(20_000, 3, &mut Stream::new(1, &["interrupt"])).expect("valid");
    let rows = sphere.rows().map(|r| format!("{},{},{}\n", r[0], r[1], r[2]));
    at.write("sphere.csv", rows.collect::<String>());
    for (line, words, notes) in [
        ("modes --samples sphere.csv --sphere --beta 10000", "", "the work in progress is lost"),
        ("check", ": ", "their verdicts are kept with --out only"),
    ] {
        let (stdout, found) = start(&at, line, words).end(&["TERM"]);
        assert!(stdout.is_empty() && found.contains(notes), "{line}: {found}");
    }
}

const SEVEN: &str = "landscape --n 7 --beta 0.25 --out seven.txt";

#[test]
fn proofs_keep_what_was_decided() {
    let at = Place::with(&[]);
    // `timeout` sends two signals, and a user may press a key twice. The same command goes on.
    for signals in [&["TERM"][..], &["TERM", "TERM"], &["INT", "INT", "INT"], &["TERM"]] {
        let (stdout, notes) = start(&at, SEVEN, ": ").end(signals);
        assert_eq!(json(&stdout)["interrupted"], true, "{stdout}");
        assert!(notes.contains("wrote seven.txt"), "{notes}");
        let kept = at.read("seven.txt");
        assert!(kept.starts_with("metastable-landscape 1\nkind complete\n"), "{kept}");
        assert!(kept.contains("\nX\n"), "{kept}");
    }
    // Another command does not replace the file.
    at.refused("landscape --n 3 --beta 2 --out seven.txt", "another problem");
    // An unfinished certificate does not replace a finished one.
    let kept = at.read("seven.txt");
    let header: String = kept.lines().take(4).map(|line| format!("{line}\n")).collect();
    at.write("seven.txt", format!("{header}end\n"));
    let (_, notes) = start(&at, SEVEN, ": ").end(&["TERM"]);
    assert!(notes.contains("finished certificate and stays"), "{notes}");
    assert_eq!(at.read("seven.txt"), format!("{header}end\n"));
}

#[test]
fn proofs_keep_what_was_decided_without_a_signal() {
    let at = Place::with(&[]);
    let file = at.join("seven.txt");
    let line = format!("{SEVEN} --keep-every 0");
    let mut running = start_until(&at, &line, &|| file.exists());
    running.child.kill().expect("killed");
    running.child.wait().expect("ended");
    let kept = at.read("seven.txt");
    assert!(kept.starts_with("metastable-landscape 1\n") && kept.contains("\nX\n"), "{kept}");
    // A search with pauses finds what one without them finds.
    let found = |more: &str| {
        let found = at.json(&format!("landscape --n 5 --beta 2 {more}"));
        assert_eq!(found["complete"], true, "{found}");
        let orbits = items(&found["orbits"]).iter();
        let mut all: Vec<String> =
            orbits.map(|o| format!("{} {}", o["sizes"], o["unstable_directions"])).collect();
        all.sort();
        all
    };
    assert_eq!(found(""), found("--out five.txt --keep-every 0"));
    at.json("certify check five.txt");
    // Boxes that stay undecided do not keep the search from its end.
    at.answer("landscape --n 4 --interaction log --out four.txt --keep-every 0", 3);
}

#[test]
fn checks_keep_their_verdicts() {
    let at = Place::with(&[]);
    let file = at.join("kept/verdicts.json");
    // The first claim takes milliseconds, the second most of a minute.
    let line = "check softmax-jacobian wendel --trials 3000 --out kept";
    let (_, notes) = start_until(&at, line, &|| file.exists()).end(&["TERM"]);
    assert!(notes.contains("error: interrupted; 1 of 2 claims were checked, see "), "{notes}");
    let kept = json(&at.read("kept/verdicts.json"));
    assert!(items(&kept["claims"]).len() == 1 && kept["of"] == 2, "{kept}");
}

#[test]
fn experiments_keep_their_finished_cells() {
    let at = Place::with(&[]);
    let head = "title = \"t\"\nseed = 1\ndynamics = \"sa\"\ninit = \"uniform\"\nobservables = [\"clusters\"]\nd = 3\n";
    let flow =
        "name = \"flow\"\nn = [4, 1500]\nbeta = 9\nt_end = 1e5\nsamples = 3\nmerge_radius = 0\n";
    let layers = "name = \"layers\"\nn = 300\nbeta = 9\neta = 0.1\nt_end = 1e7\nsamples = 3\nstepper = \"layer\"\n";
    for (name, rest, finished) in [("flow", flow, 1), ("layers", layers, 0)] {
        at.write(&format!("{name}.toml"), format!("{head}{rest}"));
        let (line, place) = (format!("run {name}.toml --out {name}"), at.join(name));
        let begun = || entries(&place).iter().any(|e| e.join("experiment.json").exists());
        let ready = || begun() && cells(&place).len() == finished;
        start_until(&at, &line, &ready).end(&["TERM"]);
        assert_eq!(cells(&place).len(), finished, "{line}");
    }
}

//! Shards of experiments, checks and hunts give the bytes of one run in any order; killed runs
//! resume to the same bytes.

use crate::program::{Place, command, contents, entries, items, number, tables, text, words};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

fn start(at: &Path, line: &str) -> Child {
    command(at, line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

/// An experiment with few cells, each in a folder, and one with many small cells, which are lines
/// of one file.
const FEW: &str =
    "name = 'few'\nn = 6\nd = [2, 3]\nbeta = [1, 4, 9]\nt_end = 1e3\nrealisations = 2\nsamples = 8";
const MANY: &str = "name = 'many'\nn = 3\nd = 2\nbeta = \"1..9:lin40\"\nt_end = 10\nsamples = 4";

pub fn folder() -> Place {
    Place::with(&[("few.toml", FEW), ("many.toml", MANY)])
}

#[test]
fn merged_shards_are_a_run_in_any_order() {
    let at = folder();
    for (name, cells) in [("few", 6), ("many", 40)] {
        at.json(&format!("run {name}.toml --out whole-{name}"));
        let call = format!("run {name}.toml --out parts-{name}");
        at.refused(&format!("{call} --merge"), "0 of");
        // Two processes for every shard at the same time lose or repeat no cell.
        let both: Vec<Child> =
            (0..6).map(|k| start(&at, &format!("{call} --shard {}/3", k % 3))).collect();
        for mut child in both {
            assert!(child.wait().expect("ends").success());
        }
        let merged = at.json(&format!("{call} --merge"));
        assert_eq!(items(&merged["cells"]).len(), cells);
        let [whole, parts] = ["whole", "parts"].map(|part| at.join(format!("{part}-{name}")));
        assert!(tables(&whole) == tables(&parts), "{name}: merged shards have other bytes");
        // No unfinished or damaged files remain.
        let files: Vec<String> = contents(&parts).keys().map(|p| p.display().to_string()).collect();
        let left = |f: &String| f.contains(".partial") || f.contains("damaged");
        assert!(!files.iter().any(left), "{files:?}");
        // A second time, nothing is run and nothing changes.
        at.json(&format!("{call} --shard 0/3"));
        at.json(&call);
        assert!(tables(&whole) == tables(&parts));
    }
}

#[test]
fn every_cell_belongs_to_one_shard() {
    let at = folder();
    let count = |k| number(&at.json(&format!("run many.toml --shard {k}/5"))["cells"]) as usize;
    let counts: Vec<usize> = (0..5).map(count).collect();
    assert!(counts.iter().sum::<usize>() == 40 && counts.iter().all(|c| *c < 40), "{counts:?}");
}

#[test]
fn a_run_and_its_shards_exclude_each_other() {
    let at = folder();
    let long = MANY.replace("t_end = 10", "t_end = 1e9\nrealisations = 3000");
    at.write("long.toml", long.replace("'many'", "'long'"));
    let mut part = start(&at, "run long.toml --shard 0/2");
    let locked = |f: &PathBuf| f.join("experiment.json").exists();
    while !entries(&at.join("runs")).iter().any(locked) {
        std::thread::sleep(Duration::from_millis(5));
    }
    at.refused("run long.toml", "a folder that another run has open");
    part.kill().expect("killed");
    part.wait().expect("ended");
}

#[test]
fn checks_and_hunts_in_shards() {
    let at = folder();
    let claims = "check wendel gamma-curve cone-speed-printed --quick --seed";
    let whole = at.json(&format!("{claims} 3"));
    at.refused(&format!("{claims} 3 --out c --merge"), "0 of 3");
    for k in 0..2 {
        at.json(&format!("{claims} 3 --out c --shard {k}/2"));
        at.run(&format!("hunt cone-speed-printed --minutes 5 --out h --shard {k}/2"));
    }
    let merged = at.json(&format!("{claims} 3 --out c --merge"));
    assert_eq!(merged["claims"], whole["claims"]);
    // Results with other settings are not merged.
    at.refused(&format!("{claims} 4 --out c --merge"), "0 of 3");
    let hunted = at.json("hunt cone-speed-printed --out h --merge");
    assert!(hunted["found"] == true && hunted["shards"] == 2, "{hunted}");
    let replayed = at.json(&format!("hunt {}", words(&hunted["file"])));
    assert_eq!(replayed["confirmed"], true);
}

#[test]
fn figures_in_shards() {
    let at = folder();
    let line = "figure circle-snapshots";
    at.json(&format!("{line} --runs whole --out whole.svg"));
    at.refused(&format!("{line} --runs parts --merge --out parts.svg"), "0 of 2");
    let count = |k| number(&at.json(&format!("{line} --runs parts --shard {k}/3"))["cells"]);
    assert!(((0..3).map(count).sum::<f64>() - 2.0).abs() < 0.5);
    at.json(&format!("{line} --runs parts --merge --out parts.svg"));
    assert!(tables(&at.join("whole")) == tables(&at.join("parts")));
    at.refused("figure growth-rates --shard 0/2", "no experiments");
}

#[test]
fn malformed_shards_are_refused() {
    folder().refuses(&[
        ("run few.toml --shard 5/4", "--shard: found 5/4, expected k/K with 0 <= k < K"),
        ("run few.toml --shard 4/4", "found 4/4"),
        ("run few.toml --shard 1", "found 1, expected k/K"),
        ("run few.toml --shard -1/4", "--shard: found -1/4, expected k/K"),
        ("run few.toml --shard a/b", "found a/b"),
        ("run few.toml --shard 0/0", "found 0/0"),
        ("run staircase --shard 0/2", "--shard"),
        ("check wendel --shard 0/2", "--out: found nothing, expected a folder"),
        ("check wendel --merge --out c --n 2..4", "no ranges"),
        ("hunt wendel --shard 0/2", "--out: found nothing"),
        ("figure gamma-curve --shard 0/2 --set n=8", "--shard"),
    ]);
}

/// A run with some thousand steps and merges, and a run with implicit steps.
const RUNS: [&str; 2] = [
    "solve --init uniform --n 24 --d 3 --seed 5 --beta 60 --t-end 1e12 --observables clusters,positions",
    "solve --init uniform --n 12 --d 3 --seed 5 --beta 40 --dynamics causal-sa --t-end 1e6",
];

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    for line in RUNS {
        let at = folder();
        at.printed(&format!("{line} --out uninterrupted"));
        // A checkpoint after every step; killed at several moments; the same command resumes.
        let interrupted = format!("{line} --out interrupted --keep-every 0");
        let checkpoint = at.join("interrupted/checkpoint.json");
        let mut went_on = 0;
        for k in [0, 2, 4] {
            let mut child = start(&at, &interrupted);
            // On a busy machine the start alone takes longer than the sleep.
            while !checkpoint.exists() && child.try_wait().expect("a child").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(40 * k));
            child.kill().expect("killed");
            child.wait().expect("ended");
            went_on += usize::from(checkpoint.exists());
        }
        assert!(went_on > 0, "{line}: too short to be killed");
        let last = at.run(&interrupted);
        // A run that ended before a kill has no checkpoint, and its folder is not written again.
        let notes = text(&last.stderr);
        let done = notes.contains("nothing is overwritten");
        assert!(last.status.success() || done, "{notes}");
        let [a, b] = ["uninterrupted", "interrupted"].map(|name| contents(&at.join(name)));
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
        for name in ["record.json", "timeline.csv", "mergers.csv", "final_tokens.csv"] {
            let [a, b] = [&a, &b].map(|files| {
                let own = "--out interrupted --keep-every 0";
                text(&files[Path::new(name)]).replace(own, "--out uninterrupted")
            });
            assert_eq!(a, b, "{line}: {name} after {went_on} checkpoints");
        }
        for name in ["timeline.npy", "mergers.npy", "final_tokens.npy"] {
            assert!(a[Path::new(name)] == b[Path::new(name)], "{line}: {name}");
        }
    }
}

#[test]
fn an_interrupted_run_resumes_and_another_one_is_refused() {
    let at = folder();
    std::fs::create_dir(at.join("kept")).expect("a folder");
    let other = r#"{"run":"x","checkpoint":{"t":[0,0],"h":0,"last_rejected":false,"nonfinite_steps":0,"stats":[0,0,0,0],"numbers":[],"masses":[],"labels":[],"merges":[],"hits":[],"events":[],"steady_state":[0,0,0,0],"stepper":[],"observers":[]}}"#;
    let line = "solve --init uniform --n 8 --d 2 --beta 4 --t-end 10 --out kept";
    for (text, why) in [("{}", "not a checkpoint"), (other, "another run or version")] {
        at.write("kept/checkpoint.json", text);
        let message = at.refused(line, why);
        assert!(text == "{}" || message.contains("another --out"), "{message}");
    }
}

//! Shards of experiments, checks and hunts give the bytes of one run in any order; killed runs
//! resume to the same bytes.

use crate::program::{command, contents, failure, json, refused, run, tables};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

fn start(folder: &Path, line: &str) -> Child {
    command(folder, line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts")
}

/// An experiment with few cells, each in a folder, and one with many small cells, which are lines
/// of one file.
const FEW: &str =
    "name = 'few'\nn = 6\nd = [2, 3]\nbeta = [1, 4, 9]\nt_end = 1e3\nrealisations = 2\nsamples = 8";
const MANY: &str = "name = 'many'\nn = 3\nd = 2\nbeta = \"1..9:lin40\"\nt_end = 10\nsamples = 4";

pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("few.toml", FEW), ("many.toml", MANY)] {
        std::fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

#[test]
fn merged_shards_are_a_run_in_any_order() {
    let folder = folder();
    for name in ["few", "many"] {
        json(folder.path(), &format!("run {name}.toml --out whole-{name}"));
        let missing =
            failure(folder.path(), &format!("run {name}.toml --out parts-{name} --merge"), 1);
        assert!(missing.contains("0 of"), "{missing}");
        // Two processes for every shard at the same time lose or repeat no cell.
        let both: Vec<Child> = (0..6)
            .map(|k| {
                start(
                    folder.path(),
                    &format!("run {name}.toml --out parts-{name} --shard {}/3", k % 3),
                )
            })
            .collect();
        for mut child in both {
            assert!(child.wait().expect("ends").success());
        }
        let merged = json(folder.path(), &format!("run {name}.toml --out parts-{name} --merge"));
        let whole = folder.path().join(format!("whole-{name}"));
        assert!(
            tables(&whole) == tables(&folder.path().join(format!("parts-{name}"))),
            "{name}: merged shards have other bytes"
        );
        assert_eq!(
            merged["cells"].as_array().map(Vec::len),
            Some(if name == "few" { 6 } else { 40 })
        );
        // No unfinished or damaged files remain.
        let all = contents(&folder.path().join(format!("parts-{name}")));
        assert!(
            all.keys().all(|p| !p.to_string_lossy().contains(".partial")
                && !p.to_string_lossy().contains("damaged")),
            "{:?}",
            all.keys()
        );
        // A second time, nothing is run and nothing changes.
        json(folder.path(), &format!("run {name}.toml --out parts-{name} --shard 0/3"));
        json(folder.path(), &format!("run {name}.toml --out parts-{name}"));
        assert!(tables(&whole) == tables(&folder.path().join(format!("parts-{name}"))));
    }
}

#[test]
fn every_cell_belongs_to_one_shard() {
    let folder = folder();
    let counts: Vec<u64> = (0..5)
        .map(|k| {
            json(folder.path(), &format!("run many.toml --shard {k}/5"))["cells"]
                .as_u64()
                .expect("a number")
        })
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 40);
    assert!(counts.iter().all(|c| *c < 40));
}

#[test]
fn a_run_and_its_shards_exclude_each_other() {
    let folder = folder();
    let long =
        MANY.replace("t_end = 10", "t_end = 1e9\nrealisations = 3000").replace("'many'", "'long'");
    std::fs::write(folder.path().join("long.toml"), long).expect("writable");
    let mut part = start(folder.path(), "run long.toml --shard 0/2");
    let lock = |f: &Path| {
        std::fs::read_dir(f)
            .ok()
            .and_then(|mut d| d.next())
            .is_some_and(|e| e.is_ok_and(|e| e.path().join("experiment.json").exists()))
    };
    while !lock(&folder.path().join("runs")) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let message = failure(folder.path(), "run long.toml", 1);
    part.kill().expect("killed");
    part.wait().expect("ended");
    assert!(message.contains("a folder that another run has open"), "{message}");
}

#[test]
fn checks_and_hunts_in_shards() {
    let folder = folder();
    let claims = "check wendel gamma-curve cone-speed-printed --quick --seed 3";
    let whole = json(folder.path(), claims);
    let missing = failure(folder.path(), &format!("{claims} --out c --merge"), 1);
    assert!(missing.contains("0 of 3"), "{missing}");
    for k in 0..2 {
        json(folder.path(), &format!("{claims} --out c --shard {k}/2"));
    }
    let merged = json(folder.path(), &format!("{claims} --out c --merge"));
    assert_eq!(merged["claims"], whole["claims"]);
    // Results with other settings are not merged.
    assert!(
        failure(
            folder.path(),
            "check wendel gamma-curve cone-speed-printed --quick --seed 4 --out c --merge",
            1
        )
        .contains("0 of 3")
    );
    for k in 0..2 {
        run(folder.path(), &format!("hunt cone-speed-printed --minutes 5 --out h --shard {k}/2"));
    }
    let hunted = json(folder.path(), "hunt cone-speed-printed --out h --merge");
    assert_eq!((hunted["found"].as_bool(), hunted["shards"].as_u64()), (Some(true), Some(2)));
    let file = hunted["file"].as_str().expect("a file");
    assert_eq!(json(folder.path(), &format!("hunt --replay {file}"))["confirmed"], true);
}

#[test]
fn figures_in_shards() {
    let folder = folder();
    let line = "figure circle-snapshots";
    json(folder.path(), &format!("{line} --runs whole --out whole.svg"));
    let early = failure(folder.path(), &format!("{line} --runs parts --merge --out parts.svg"), 1);
    assert!(early.contains("0 of 2"), "{early}");
    let counts: Vec<u64> = (0..3)
        .map(|k| {
            json(folder.path(), &format!("{line} --runs parts --shard {k}/3"))["cells"]
                .as_u64()
                .expect("a number")
        })
        .collect();
    assert_eq!(counts.iter().sum::<u64>(), 2);
    json(folder.path(), &format!("{line} --runs parts --merge --out parts.svg"));
    assert!(tables(&folder.path().join("whole")) == tables(&folder.path().join("parts")));
    refused(folder.path(), "figure growth-rates --shard 0/2", "no experiments");
}

#[test]
fn malformed_shards_are_refused() {
    let folder = folder();
    for (line, sentence) in [
        ("run few.toml --shard 5/4", "--shard: found 5/4, expected k/K with 0 <= k < K"),
        ("run few.toml --shard 4/4", "found 4/4"),
        ("run few.toml --shard 1", "found 1, expected k/K"),
        ("run few.toml --shard -1/4", "--shard: found -1/4, expected k/K"),
        ("run few.toml --shard a/b", "found a/b"),
        ("run few.toml --shard 0/0", "found 0/0"),
        ("run staircase --shard 0/2", "--shard"),
        (
            "check wendel --shard 0/2",
            "--out: found nothing, expected a folder that all machines share",
        ),
        ("check wendel --merge --out c --n 2..4", "no ranges"),
        ("hunt wendel --shard 0/2", "--out: found nothing"),
        ("figure gamma-curve --shard 0/2 --set n=8", "--shard"),
    ] {
        refused(folder.path(), line, sentence);
    }
}

/// A run with some thousand steps and merges, and a run with implicit steps.
const RUNS: [&str; 2] = [
    "solve --init uniform --n 24 --d 3 --seed 5 --beta 60 --t-end 1e12 --observables clusters,positions",
    "solve --init uniform --n 12 --d 3 --seed 5 --beta 40 --dynamics causal-sa --t-end 1e6",
];

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    for line in RUNS {
        let folder = folder();
        let uninterrupted = format!("{line} --out uninterrupted");
        assert!(run(folder.path(), &uninterrupted).status.success());
        // A checkpoint after every step; killed at several moments; the same command resumes.
        let interrupted = format!("{line} --out interrupted --keep-every 0");
        let mut went_on = 0;
        for k in [0, 2, 4] {
            let mut child = start(folder.path(), &interrupted);
            // On a busy machine the start alone takes longer than the sleep.
            let checkpoint = folder.path().join("interrupted/checkpoint.json");
            let is_running = |child: &mut Child| child.try_wait().expect("a child").is_none();
            while !checkpoint.exists() && is_running(&mut child) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(40 * k));
            child.kill().expect("killed");
            child.wait().expect("ended");
            went_on += usize::from(checkpoint.exists());
        }
        let _ = std::fs::remove_dir_all(folder.path().join("interrupted"))
            .ok()
            .filter(|()| went_on == 0);
        let last = run(folder.path(), &interrupted);
        // A run that ended before a kill has no checkpoint, and its folder is not written again.
        let done = String::from_utf8_lossy(&last.stderr).contains("nothing is overwritten");
        assert!(last.status.success() || done, "{}", String::from_utf8_lossy(&last.stderr));
        let [a, b] =
            ["uninterrupted", "interrupted"].map(|name| contents(&folder.path().join(name)));
        let text = |files: &BTreeMap<PathBuf, Vec<u8>>, name: &str| {
            String::from_utf8_lossy(&files[Path::new(name)])
                .replace("--out interrupted --keep-every 0", "--out uninterrupted")
        };
        for name in ["record.json", "timeline.csv", "mergers.csv", "final_tokens.csv"] {
            assert_eq!(
                text(&a, name),
                text(&b, name),
                "{line}: {name} after {went_on} checkpoints"
            );
        }
        for name in ["timeline.npy", "mergers.npy", "final_tokens.npy"] {
            assert!(a[Path::new(name)] == b[Path::new(name)], "{line}: {name}");
        }
        assert!(went_on > 0, "{line}: too short to be killed");
        assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    }
}

#[test]
fn an_interrupted_run_resumes_and_another_one_is_refused() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("kept")).expect("a folder");
    std::fs::write(folder.path().join("kept/checkpoint.json"), "{}").expect("writable");
    let line = "solve --init uniform --n 8 --d 2 --beta 4 --t-end 10 --out kept";
    refused(folder.path(), line, "not a checkpoint");
    let other = r#"{"run":"x","checkpoint":{"t":[0,0],"h":0,"last_rejected":false,"nonfinite_steps":0,"stats":[0,0,0,0],"numbers":[],"masses":[],"labels":[],"merges":[],"hits":[],"events":[],"steady_state":[0,0,0,0],"stepper":[],"observers":[]}}"#;
    std::fs::write(folder.path().join("kept/checkpoint.json"), other).expect("writable");
    let message = failure(folder.path(), line, 1);
    assert!(
        message.contains("another run or version") && message.contains("another --out"),
        "{message}"
    );
}

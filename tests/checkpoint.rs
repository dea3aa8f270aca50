//! Long runs that are left and taken up again end with the same bytes; so do runs that several processes share.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn metastable(arguments: &str, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metastable")).args(arguments.split_whitespace()).current_dir(folder).output().expect("starts")
}

/// What a run wrote, without the command and what depends on it.
fn written(folder: &Path) -> Vec<Vec<u8>> {
    ["final_tokens.npy", "timeline.npy", "mergers.npy"].map(|f| std::fs::read(folder.join(f)).expect("written")).to_vec()
}

fn steps(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("record.json")).expect("a record");
    serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["stats"].clone()
}

/// Kills a run as soon as it has left a checkpoint; the same command then goes on to the end of an undisturbed one.
fn left_and_taken_up(flags: &str) {
    let at = tempfile::tempdir().expect("a folder");
    let run = |out: &str, every: &str| format!("solve {flags} --out {out} --checkpoint {every}");
    assert!(metastable(&run("whole", "1000"), at.path()).status.success());
    let mut child = Command::new(env!("CARGO_BIN_EXE_metastable"))
        .args(run("left", "0").split_whitespace())
        .current_dir(at.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let checkpoint = at.path().join("left/checkpoint.json");
    while !checkpoint.is_file() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("ours");
    child.wait().expect("ours");
    assert!(checkpoint.is_file() && !at.path().join("left/record.json").exists(), "{flags}: it was over before it was killed");
    // Another run does not go on from it.
    let other = metastable(&run("left", "0").replace("--beta 4", "--beta 4.5"), at.path());
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(!other.status.success() && said.contains("`beta` is 4.0 there and 4.5 here"), "{said}");
    let again = metastable(&run("left", "1000"), at.path());
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(!checkpoint.exists(), "a finished run leaves no checkpoint");
    assert_eq!(written(&at.path().join("whole")), written(&at.path().join("left")), "{flags}");
    assert_eq!(steps(&at.path().join("whole")), steps(&at.path().join("left")), "{flags}");
}

#[test]
fn a_killed_run_goes_on_from_its_checkpoint_to_the_same_bytes() {
    left_and_taken_up("--init uniform --n 120 --d 3 --beta 4 --seed 2 --t-end 60");
}

#[test]
fn so_does_a_path_with_noise() {
    left_and_taken_up("--init uniform --n 60 --d 3 --beta 4 --seed 2 --t-end 8 --noise kappa=9,seed=3,step=0.01");
}

#[test]
fn so_does_a_causal_run() {
    left_and_taken_up("--init uniform --n 60 --d 2 --beta 4 --seed 2 --t-end 60 --dynamics causal-sa");
}

#[test]
fn a_program_without_mpi_says_so() {
    if cfg!(feature = "mpi") {
        return;
    }
    let at = tempfile::tempdir().expect("a folder");
    let out = metastable("solve --init uniform --n 8 --d 3 --beta 4 --t-end 1 --mpi", at.path());
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(1) && said.contains("--features mpi"), "{said}");
}

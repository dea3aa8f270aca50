//! The commands of the guide for computer clusters, which are those of a POSIX shell.

use crate::program::{NO_PROGRESS, tables, text};
use crate::shards::folder;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// The three command lines of the guide for computer clusters, for fewer shards and an experiment
/// of the tests.
fn recipes() -> [String; 3] {
    let lines = [
        "sbatch --array=0-63",
        "seq 0 7 | parallel",
        "metastable run my-study.toml --out runs --merge",
    ]
    .map(|begin| {
        let guide = include_str!("../../src/guide/machines.md");
        let line = guide
            .lines()
            .find(|l| l.starts_with(begin))
            .unwrap_or_else(|| panic!("the guide has no line {begin}"));
        line.split("   ")
            .next()
            .unwrap_or_default()
            .replace("0-63", "0-3")
            .replace("/64", "/4")
            .replace("0 7", "0 3")
            .replace("/8", "/4")
    });
    lines.map(|line| line.replace("my-study.toml", "few.toml"))
}

/// Runs a line in a shell, with the programs in the folder and this program on the path.
fn shell(folder: &Path, line: &str) -> Output {
    let home = Path::new(env!("CARGO_BIN_EXE_metastable")).parent().expect("a folder");
    let path = format!(
        "{}:{}:{}",
        folder.display(),
        home.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", &path)
        .env(NO_PROGRESS.0, NO_PROGRESS.1)
        .output()
        .expect("starts")
}

/// A substitute for Slurm: runs the line once for each number of the array, in parallel, with the
/// number in a variable.
const SBATCH: &str = r#"#!/bin/sh
case "$1" in --array=*-*) ;; *) echo "sbatch: no array" >&2; exit 1 ;; esac
[ "$2" = --wrap ] || exit 1
range=${1#--array=}
jobs=
for k in $(seq "${range%-*}" "${range#*-}"); do
    SLURM_ARRAY_TASK_ID=$k SLURM_ARRAY_JOB_ID=7 sh -c "$3" & jobs="$jobs $!"
done
for job in $jobs; do wait "$job" || exit 1; done
"#;

fn executable(path: &Path, text: &str) {
    std::fs::write(path, text).expect("writable");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("permitted");
}

#[test]
fn the_commands_of_the_guide_run_on_a_cluster() {
    let [array, parallel, merge] = recipes();
    let at = folder();
    at.json("run few.toml --out whole");
    executable(&at.join("sbatch"), SBATCH);
    let installed = Command::new("parallel").arg("--version").output();
    let parallel = if installed.is_ok_and(|o| text(&o.stdout).contains("GNU parallel")) {
        parallel
    } else {
        eprintln!("GNU parallel is not installed: xargs -P in its place");
        parallel.replace("parallel", "xargs -P 2 -I {}")
    };
    for line in [array, parallel] {
        let out = shell(&at, &line);
        assert!(out.status.success(), "{line}: {}", text(&out.stderr));
        assert!(shell(&at, &merge).status.success(), "{merge}");
        let same = tables(&at.join("runs")) == tables(&at.join("whole"));
        assert!(same, "{line}: other bytes than one run");
        std::fs::remove_dir_all(at.join("runs")).expect("a folder");
    }
    // Without the number of the shard, the error names the flag.
    let out = shell(&at, "metastable run few.toml --shard $SLURM_ARRAY_TASK_ID/4");
    let message = text(&out.stderr);
    assert!(out.status.code() == Some(1) && message.contains("--shard: found /4"), "{message}");
}

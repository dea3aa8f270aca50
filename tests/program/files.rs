//! Files that commands write: which existing ones they replace, devices and links, names that are
//! no text.

use crate::program::{command, contents, failure, json, run, successful, text};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Commands that write one file, with its extension.
const FILES: [(&str, &str); 12] = [
    ("landscape --n 3 --beta 2 --out", "txt"),
    ("landscape --n 3 --beta 1 --benign --out", "txt"),
    ("landscape --n 3 --d any --beta 2 --out", "txt"),
    ("certify start --tokens x.csv --beta 1 --out", "txt"),
    ("certify critical-point --tokens pair.csv --beta 3 --out", "json"),
    ("certify dwell --from 2 --to 1 --beta 3 --out", "txt"),
    ("modes --samples angles.csv --beta 3 --out", "txt"),
    ("figure saddle-kernel --dpi 40 --out", "png"),
    ("figure saddle-kernel --out", "csv"),
    ("plot run --y clusters --out", "svg"),
    ("movie --from-run run --beta 2 --dpi 30 --out", "gif"),
    ("page --out", "html"),
];

/// Commands that write files into a folder, and one of these files.
const FOLDERS: [(&str, &str); 7] = [
    ("continue --n 3 --beta 2..3 --out", "pieces.csv"),
    ("saddles --n 3 --d 2 --beta 3 --starts 6 --certificates", "saddle-1.json"),
    ("solve --tokens x.csv --beta 2 --t-end 1 --out", "final_tokens.csv"),
    ("measure --space circle --density cos:1=0.2 --beta 2 --t-end 0.1 --out", "values.csv"),
    ("check wendel --quick --out", "verdicts.json"),
    (
        "check angular-momentum --n 5 --d 2 --beta 1 --dynamics sa --law uniform --trials 4 --out",
        "angular-momentum/margins.csv",
    ),
    ("figure saddle-kernel --out", "saddle-kernel.csv"),
];

/// What a file holds that another program, or its user, wrote.
const FOREIGN: &[u8] = b"1,0\n0.6,0.8\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, rows) in
        [("x.csv", "1,0\n0.6,0.8\n0,1\n"), ("pair.csv", "1,0\n-1,0\n"), ("angles.csv", "0\n1\n3\n")]
    {
        std::fs::write(at.join(name), rows).expect("writable");
    }
    json(
        at,
        "solve --tokens x.csv --beta 2 --t-end 1 --samples 3 --observables positions,clusters --out run",
    );
    folder
}

fn written(at: &Path, line: &str) {
    successful(run(at, line), line);
}

/// The bytes of a file of the folder.
fn read(at: &Path, name: &str) -> Vec<u8> {
    std::fs::read(at.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn files_of_others_are_replaced_by_force_only() {
    let folder = folder();
    let at = folder.path();
    for (k, (line, extension)) in FILES.iter().enumerate() {
        let name = format!("{k}.{extension}");
        let line = format!("{line} {name}");
        std::fs::write(at.join(&name), FOREIGN).expect("writable");
        let before = contents(at);
        let why = failure(at, &line, 1);
        assert!(why.contains("only --force replaces it") && why.contains(&name), "{line}: {why}");
        assert!(contents(at) == before, "{line}: a refused command writes");
        written(at, &format!("{line} --force"));
        assert!(read(at, &name) != FOREIGN, "{line}: not written");
        // The same command may repeat itself, an empty file and a new name are free.
        written(at, &line);
        std::fs::write(at.join(&name), "").expect("writable");
        written(at, &line);
        assert!(!read(at, &name).is_empty(), "{line}: not written");
    }
}

#[test]
fn results_of_other_problems_are_replaced_by_force_only() {
    let folder = folder();
    let at = folder.path();
    for (first, second) in [
        ("landscape --n 3 --beta 2 --out a.txt", "landscape --n 4 --beta 2 --out a.txt"),
        ("landscape --n 3 --beta 1 --out b.txt", "landscape --n 3 --beta 1 --benign --out b.txt"),
        (
            "landscape --n 3 --d any --beta 2 --out c.txt",
            "landscape --n 3 --d any --beta 3 --out c.txt",
        ),
        (
            "certify start --tokens x.csv --beta 1 --out d.txt",
            "certify start --tokens x.csv --beta 2 --out d.txt",
        ),
        (
            "certify dwell --from 2 --to 1 --beta 3 --out e.txt",
            "certify dwell --from 2 --to 1 --beta 4 --out e.txt",
        ),
        (
            "modes --samples angles.csv --beta 3 --out f.txt",
            "certify start --tokens x.csv --beta 1 --out f.txt",
        ),
        ("figure saddle-kernel --out g.csv", "figure growth-rates --out g.csv"),
        ("figure gamma-curve --set n=8 --out h.csv", "figure gamma-curve --set n=9 --out h.csv"),
        ("plot run --y clusters --out i.csv", "plot run --y clusters --points --out i.csv"),
        ("continue --n 3 --beta 2..3 --out j", "continue --n 3 --beta 2..4 --out j"),
        ("check wendel --quick --out k", "check gamma-curve --quick --out k"),
        (
            "saddles --n 3 --d 2 --beta 3 --starts 6 --certificates l",
            "saddles --n 3 --d 2 --beta 2 --starts 6 --certificates l",
        ),
    ] {
        written(at, first);
        let before = contents(at);
        let why = failure(at, second, 1);
        assert!(why.contains("--force"), "{second}: {why}");
        assert!(contents(at) == before, "{second}: a refused command writes");
        written(at, &format!("{second} --force"));
    }
    // A picture of another size shows the same problem. Without --out, files are the program's own.
    written(at, "figure saddle-kernel --size nature1 --out g.csv --force");
    written(at, "figure saddle-kernel --out g.csv");
    written(at, "figure gamma-curve --set n=8");
    written(at, "figure gamma-curve --set n=9");
    std::fs::write(at.join("runs/figures/gamma-curve.csv"), FOREIGN).expect("writable");
    assert!(failure(at, "figure gamma-curve", 1).contains("this program did not write"));
}

#[test]
fn folders_of_others_are_not_used() {
    let folder = folder();
    let at = folder.path();
    for (k, (line, file)) in FOLDERS.iter().enumerate() {
        let place = at.join(k.to_string()).join(file);
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("writable");
        std::fs::write(&place, FOREIGN).expect("writable");
        let before = contents(at);
        let why = failure(at, &format!("{line} {k}"), 1);
        assert!(why.contains("--force"), "{line}: {why}");
        assert!(contents(at) == before, "{line}: a refused command writes");
        written(at, &format!("{line} {k} --force"));
        assert!(std::fs::read(&place).expect("a file") != FOREIGN, "{line}: not written");
    }
    // The folder of a run takes no other tables.
    for line in
        ["continue --n 3 --beta 2..3 --out run", "saddles --n 3 --d 2 --beta 3 --certificates run"]
    {
        assert!(failure(at, line, 1).contains("a new or empty folder"), "{line}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_the_work() {
    let folder = folder();
    let at = folder.path();
    for (line, extension) in FILES {
        let line = format!("{line} x.csv/none.{extension}");
        assert!(failure(at, &line, 5).contains("could not "), "{line}");
    }
    assert!(failure(at, "landscape --n 3 --beta 2 --out run", 1).contains("found a folder"));
}

#[test]
fn links_stay_and_pipes_and_devices_are_written_through() {
    let folder = folder();
    let at = folder.path();
    let line = "certify dwell --from 2 --to 1 --beta 3 --out";
    written(at, &format!("{line} plain.txt"));
    let plain = read(at, "plain.txt");
    symlink("target.txt", at.join("link.txt")).expect("writable");
    for _ in 0..2 {
        written(at, &format!("{line} link.txt"));
        assert_eq!(read(at, "target.txt"), plain);
        assert!(at.join("link.txt").is_symlink());
    }
    // A link to a file of another program is no way around.
    symlink("x.csv", at.join("tokens.txt")).expect("writable");
    failure(at, &format!("{line} tokens.txt"), 1);
    symlink("/dev/null", at.join("nothing")).expect("writable");
    written(at, &format!("{line} nothing"));
    assert!(at.join("nothing").is_symlink());
    let shell = |script: &str| {
        let program = Path::new(env!("CARGO_BIN_EXE_metastable"));
        let line = format!("{} {line}", program.display());
        let whole = script.replace("COMMAND", &line);
        let out =
            Command::new("sh").args(["-c", &whole]).current_dir(at).output().expect("a shell");
        assert!(out.status.success(), "{whole}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    let plain = text(&plain);
    let piped = shell("mkfifo pipe && { cat pipe & COMMAND pipe > /dev/null; wait; }");
    assert_eq!(piped, plain);
    // The certificate comes before the result, also if the standard output is a file.
    assert!(shell("COMMAND /dev/stdout").starts_with(&format!("{plain}proved: ")));
    shell("COMMAND /dev/stdout > both.txt");
    assert!(text(&read(at, "both.txt")).starts_with(&format!("{plain}proved: ")));
    assert!(shell("COMMAND /dev/null").starts_with("proved: "));
    // A proof neither reads from a pipe nor keeps its state in it.
    let line = "landscape --n 4 --beta 2 --keep-every 0 --out /dev/stdout";
    let shown = text(&successful(run(at, line), line).stdout);
    assert_eq!(shown.matches("metastable-landscape 1").count(), 1, "{shown}");
}

#[test]
fn names_that_are_no_text_are_names() {
    let folder = folder();
    let at = folder.path();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    if std::fs::copy(at.join("x.csv"), at.join(name(b"x\xff.csv"))).is_err() {
        // Not on this file system.
        return;
    }
    let succeeds = |words: &str, last: &'static [u8], more: &str| {
        let mut program = command(at, words);
        let out = program.arg(name(last)).args(more.split_whitespace()).output().expect("starts");
        assert!(out.status.success(), "{words} {more}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    succeeds("solve --beta 2 --t-end 1 --out told --tokens", b"x\xff.csv", "");
    let record = json(at, "explain told/record.json");
    assert_eq!(
        record["reproduce"],
        "metastable solve --beta 2 --t-end 1 --out told --tokens 'x\u{fffd}.csv'"
    );
    succeeds("solve --tokens x.csv --beta 2 --t-end 1 --out", b"run\xff", "");
    succeeds("movie --from-run run --beta 2 --dpi 30 --out", b"film\xff.gif", "--format json");
    succeeds("page --out", b"page\xff.html", "--format json");
    succeeds("landscape --n 3 --beta 2 --out", b"three\xff.txt", "--format json");
    succeeds("continue --n 3 --beta 2..3 --out", b"branches\xff", "--format json");
    succeeds("figure saddle-kernel --out", b"figures\xff", "--format json");
    // A wrong value is an error of one sentence.
    let mut call = command(at, "solve --tokens x.csv --beta 2 --t-end 1 --norm");
    let out = call.arg(name(b"\xff")).output().expect("starts");
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
}

#[test]
fn the_variable_of_progress_is_seconds_or_never() {
    let folder = folder();
    let at = folder.path();
    let with = |value: &str| {
        let mut program = command(at, "velocity --tokens x.csv --beta 2");
        program.env("METASTABLE_PROGRESS", value).output().expect("starts")
    };
    for value in ["", "0", "0.5", "never"] {
        assert!(with(value).status.success(), "{value}");
    }
    for value in ["soon", "-1", "nan", "1e9"] {
        let (out, expected) =
            (with(value), format!("METASTABLE_PROGRESS: found {value}, expected"));
        assert!(out.status.code() == Some(1) && text(&out.stderr).contains(&expected), "{value}");
    }
}

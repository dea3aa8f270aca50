//! Terminal output: only results with `--quiet`, no colours in files, no alarm if all verdicts are
//! as predicted.

use crate::program::{refused, run, text};

#[test]
fn quiet_prints_the_same_result_without_notes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (usual, quiet) = (
        run(folder.path(), "page --out page.html"),
        run(folder.path(), "page --out page.html --quiet"),
    );
    assert!(usual.status.success() && quiet.status.success());
    assert!(text(&usual.stderr).contains("wrote page.html"), "{}", text(&usual.stderr));
    assert_eq!((quiet.stdout, text(&quiet.stderr)), (usual.stdout, String::new()));
}

#[test]
fn quiet_still_prints_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in ["--quiet check wendle", "check wendle --quiet"] {
        refused(folder.path(), arguments, "did you mean `wendel`");
    }
}

#[test]
fn known_violations_raise_no_alarm_and_files_have_no_colours() {
    let folder = tempfile::tempdir().expect("a folder");
    let checked = run(folder.path(), "check cone-speed --quick");
    let output = text(&checked.stdout);
    assert!(checked.status.success() && !output.contains('\u{1b}'), "{output}");
    assert!(output.contains("violated, as known") && !output.contains('!'), "{output}");
    assert!(
        output.contains(
            "1 of 1 claims have the verdict that the literature, with its known errata, predicts, "
        ),
        "{output}"
    );
    assert!(output.lines().next().is_some_and(|l| l.contains("resolves (rel.)")), "{output}");
}

#[test]
fn the_flag_all_is_only_for_all_claims() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in
        ["check speed-bound --all", "check --all --n 5", "check --all --out parts --shard 0/2"]
    {
        refused(folder.path(), arguments, "no names, ranges or shards");
    }
}

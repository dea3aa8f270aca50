//! Terminal output: only results with `--quiet`, no colours in files, no alarm if all verdicts are
//! as predicted.

use crate::program::{Place, text};

#[test]
fn quiet_prints_the_same_result_without_notes() {
    let at = Place::with(&[]);
    let [usual, quiet] =
        ["", "--quiet"].map(|flag| at.run(&format!("page --out page.html {flag}")));
    assert!(usual.status.success() && quiet.status.success());
    assert!(text(&usual.stderr).contains("wrote page.html"), "{}", text(&usual.stderr));
    assert_eq!((quiet.stdout, text(&quiet.stderr)), (usual.stdout, String::new()));
}

#[test]
fn known_violations_raise_no_alarm_and_files_have_no_colours() {
    let output = Place::with(&[]).printed("check cone-speed --quick");
    for (part, there) in [
        ("\u{1b}", false),
        ("!", false),
        ("violated, as known", true),
        ("1 of 1 claims have the verdict that the literature", true),
    ] {
        assert_eq!(output.contains(part), there, "{part}: {output}");
    }
    assert!(output.lines().next().is_some_and(|l| l.contains("resolves (rel.)")), "{output}");
}

#[test]
fn errors_of_checks_are_printed_also_with_quiet() {
    let all = "no names, ranges or shards";
    Place::with(&[]).refuses(&[
        ("--quiet check wendle", "did you mean `wendel`"),
        ("check wendle --quiet", "did you mean `wendel`"),
        ("check speed-bound --all", all),
        ("check --all --n 5", all),
        ("check --all --out parts --shard 0/2", all),
    ]);
}

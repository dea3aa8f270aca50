//! Wrong inputs are named, with what to write; certificates say what they are.

use crate::program::{json, refused, run};
use metastable::lab::Experiment;

/// A certificate has no provenance, but its kind and its check; its sentence prints small numbers
/// with an exponent.
#[test]
fn the_kind_of_a_certificate_is_named() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    std::fs::write(at.join("pair.csv"), "1,0\n-1,0\n").expect("writable");
    for (call, kind) in [
        ("certify dwell --from 2 --to 1e-300 --beta 5 --out proof", "merge"),
        ("landscape --n 3 --beta 2 --out proof", "critical points on the circle"),
        ("certify critical-point --tokens pair.csv --beta 3 --out proof", "exists"),
    ] {
        let out = run(at, call);
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success() && !text.contains("000000000000"), "{call}: {text}");
        let found = json(at, "explain proof");
        assert!(found["certificate"].as_str().is_some_and(|k| k.contains(kind)), "{call}: {found}");
        assert_eq!(found["check"], "metastable certify check proof");
        assert!(run(at, "certify check proof").status.success(), "{call}");
        std::fs::remove_file(at.join("proof")).expect("written");
    }
    refused(at, "explain pair.csv", "holds no provenance");
}

/// Seeds of experiments are those of the command line: all numbers of 64 bits.
#[test]
fn seeds_of_experiments_have_64_bits() {
    for (seed, value) in [("18446744073709551615", u64::MAX), ("0xff", 255), ("1e3", 1000)] {
        let text = format!("name='e'\nn=4\nd=2\nbeta=1\nt_end=1\nseed={seed}\n");
        assert_eq!(Experiment::parse("e.toml", &text).expect("an experiment").seed, value);
    }
}

/// The entry, the file or the parameter that is wrong, and what to write.
#[test]
fn wrong_inputs_are_named() {
    let f = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(f.path().join(name), text).expect("writable");
    };
    write("pair.csv", "1,0\n0,1\n");
    write("rect.csv", "1,2,3\n4,5,6\n");
    let experiment = "name='e'\nn=4\nd=2\nbeta=1\n";
    write("short.toml", &format!("{experiment}t_end=1e-310\n"));
    write("seed.toml", &format!("{experiment}t_end=1\nseed=18446744073709551616\n"));
    for (call, found, expected) in [
        ("landscape --masses 1,2,x --beta 1", "`x` in 1,2,x", "numbers"),
        ("continue --masses 1,,2 --beta 1..2", "`` in 1,,2", "numbers"),
        ("landscape --masses 1,2..1 --beta 1 --benign", "`2..1`", "a <= b"),
        ("landscape --masses no.csv --beta 1", "no.csv", "no such file"),
        ("landscape --masses 1..2,1 --beta 1 --benign", "1..2 beside 1..1", "1..2,1..2"),
        ("landscape --n 4 --beta 0", "found 0,", "no 0"),
        ("predict two-cluster-time --beta 1 --from 2 --to 1 --mass 1.5", "1.5", "(0, 1)"),
        ("predict two-cluster-time --beta 1 --from 2 --to 1 --mass 1", "1", "(0, 1)"),
        ("velocity --tokens pair.csv --beta 1 --coupling rect.csv", "2 x 3", "a square matrix"),
        ("continue --n 8 --beta 0.05..50", "8 tokens: the proof would take", "fewer tokens"),
        ("continue --n 4 --beta 1..2 --d 3", "--d: found 3", "circle only"),
        ("saddles --n 4 --d 2 --beta 3 --starts -5", "-5", "a whole number"),
        ("solve --tokens pair.csv --beta 1 --t-end 1e301", "found 1e301", "1e300"),
        ("solve --tokens pair.csv --beta 1 --t-end 1e-310", "found 1e-310", "1e-300"),
        ("run short.toml", "t_end: found 1e-310", "1e-300"),
        ("run seed.toml", "seed: found 18446744073709551616", "18446744073709551615"),
        ("velocity --tokens pair.csv --beta 1 --interaction abs(s)^0.3", "s = 0:", "analytic"),
        ("figure merging-times --set alpha=0.3 --set rho=-0.9,0", "beta = 400", "rho = -0.9"),
    ] {
        assert!(refused(f.path(), call, expected).contains(found), "{call}: {found}");
    }
    // Two tables of one folder: the folder is what is plotted.
    std::fs::create_dir(f.path().join("four")).expect("writable");
    write("four/branches.csv", "beta,energy\n1,2\n");
    let call = "plot four/branches.csv --x beta --y energy";
    refused(f.path(), call, "`plot four --table branches --x beta --y energy`");
    refused(f.path(), "figure timeline --from-run four/branches.csv", "its folder, `four`");
}

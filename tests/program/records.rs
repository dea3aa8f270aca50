//! The numerical version, limits of inputs, error bounds of shares and saddles, the journal of
//! cells, digits of tables.

use crate::program::command;
use metastable::lab::{Experiment, arrays, journal::Journal, plan, provenance::NUMERICAL_VERSION};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

#[test]
fn the_numerical_version_is_the_same_everywhere() {
    let read = |name: &str| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
            .expect("a file of the project")
    };
    let cited = format!("numerical version {NUMERICAL_VERSION}}}");
    assert!(read("README.md").contains(&cited), "README.md does not say `{cited}`");
    let log = read("CHANGELOG.md");
    assert!(
        log.contains(&format!("umerical version {NUMERICAL_VERSION}")),
        "the changelog does not mention the numerical version"
    );
}

#[test]
fn archives_that_unpack_to_more_than_256_mb_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bomb.npz");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).expect("writable"));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("a.npy", options).expect("a member");
    let zeros = vec![0u8; 1 << 20];
    (0..257).for_each(|_| archive.write_all(&zeros).expect("written"));
    archive.finish().expect("written");
    let refusal = arrays::read(&path, None).expect_err("too large").to_string();
    assert!(refusal.contains("256 MB") && refusal.contains("array a"), "{refusal}");
}

#[test]
fn every_cell_is_validated_before_a_run() {
    let text = "name='late'\ninit='orthonormal'\nn=[2,3]\nd=2\nbeta='0..1:lin20001'\nt_end=1\n";
    let refusal = Experiment::parse("late.toml", text)
        .expect_err("three orthonormal tokens in the plane")
        .to_string();
    assert!(refusal.contains("orthonormal") && refusal.contains("n = 3"), "{refusal}");
    let good =
        Experiment::parse("good.toml", "name='good'\nn=4\nd=2\nbeta=1\nt_end=1\n").expect("valid");
    let mut cell = plan(&good).remove(0);
    assert!(cell.eta().is_ok_and(|eta| eta == 0.0));
    for damaged in ["", "fast", "-1", "NaN"] {
        cell.eta = damaged.into();
        assert!(cell.eta().is_err_and(|e| e.to_string().contains("eta")), "{damaged}");
    }
}

#[test]
fn shares_and_saddles_have_error_bounds() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("good.toml"),
        "name='good'\nn=4\nd=2\nbeta=1\nt_end=50\nrealisations=20\nstop_at_one_cluster=true\n",
    )
    .expect("writable");
    let run = |arguments: &str| {
        let out = command(folder.path(), arguments).output().expect("starts");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let json = |arguments: &str| -> Value {
        serde_json::from_str(&run(&format!("{arguments} --format json"))).expect("JSON")
    };
    let cell = &json("run good.toml")["cells"][0];
    // No exception in 20 trials: 1 - 0.001^(1/20).
    let bound = 1.0 - 0.001f64.powf(0.05);
    assert!(cell["one_cluster"] == 1.0 && cell["exceptions_confidence"] == 0.999);
    assert!((cell["exceptions_below"].as_f64().expect("a number") - bound).abs() < 1e-12);
    let text = run("run good.toml");
    assert!(text.contains("99.9 %") && text.contains("Clopper-Pearson"), "{text}");
    let point = &json("saddles --n 3 --d 2 --beta 8 --starts 20 --connections usa");
    for key in ["log_energy", "energy_share", "eigenvalues", "angles", "points"] {
        assert!(
            point["points"][0][format!("{key}_error")]
                .as_f64()
                .is_some_and(|e| (0.0..1e-6).contains(&e)),
            "{key}: {}",
            point["points"][0]
        );
    }
    for edge in point["connections"].as_array().expect("a list") {
        // The two unstable directions of the triangle are one eigenspace. A path from it may pass
        // near the antipodal saddle, where errors grow.
        let t = edge["t"].as_f64().expect("a number");
        assert!(
            edge["rate_error"].as_f64().is_some_and(|e| e < 1e-9)
                && edge["t_error"].as_f64().is_some_and(|e| e < 1e-3 * t),
            "{edge}"
        );
    }
    let gamma = json("predict gamma --n 8 --beta 60 --times 0,8.737075317185072e23,1e25");
    assert!(
        (gamma["gamma"][1].as_f64().expect("a number") - 0.630_687_841_235_726_7).abs() < 1e-10
    );
    assert!(
        gamma["gamma_error"][1].as_f64().is_some_and(|e| e > 0.1)
            && gamma["gamma_error"][2].as_f64().is_some_and(|e| e < 1e-14)
    );
}

#[test]
fn a_journal_reads_whole_lines_and_ignores_torn_or_changed_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cells.jsonl");
    let journal = Journal::open(path.clone()).expect("a journal");
    assert_eq!(journal.get("a"), Ok(None));
    journal.append("a", "{\"x\": 1}").expect("written");
    journal.append("b", "two words").expect("written");
    assert_eq!(journal.get("a"), Ok(Some("{\"x\": 1}".to_owned())));
    // After a kill in the middle of a line, the journal has the complete lines.
    let bytes = std::fs::read(&path).expect("bytes");
    let first = bytes.iter().position(|b| *b == b'\n').expect("a line") + 1;
    for cut in 0..bytes.len() {
        std::fs::write(&path, &bytes[..cut]).expect("cut");
        let torn = Journal::open(path.clone()).expect("a journal");
        assert_eq!(torn.get("a").expect("readable").is_some(), cut >= first, "{cut}");
        assert_eq!(torn.get("b"), Ok(None), "{cut}");
        torn.append("c", "after").expect("written");
        let again = Journal::open(path.clone()).expect("a journal");
        assert_eq!(again.get("c"), Ok(Some("after".to_owned())), "{cut}");
        // An incomplete line is dropped and its cell is run again. A complete line without line end
        // gets one.
        assert_eq!(again.get("a").is_ok_and(|a| a.is_some()), cut + 1 >= first, "{cut}");
    }
    let mut changed = bytes;
    *changed.iter_mut().rev().nth(2).expect("a byte") ^= 1;
    std::fs::write(&path, &changed).expect("changed");
    assert!(Journal::open(path).expect("a journal").get("b").is_err());
}

#[test]
fn numbers_of_tables_have_the_shortest_digits_that_round_trip() {
    let mut stream = metastable::num::stream::Stream::new(1, &["digits"]);
    let check = |v: f64| {
        let mut out = String::new();
        arrays::push_number(&mut out, v);
        let same = out.parse::<f64>().is_ok_and(|back| back.to_bits() == v.to_bits());
        // Very large and very small numbers have an exponent.
        let exponent = v.is_finite() && v.abs() > 0.0 && !(1e-7..1e21).contains(&v.abs());
        let shown = if exponent { format!("{v:e}") } else { v.to_string() };
        // Of two numbers that are equally short and near, either may be written.
        assert!(
            (out == shown || same && out.len() == shown.len()) && out.len() <= 26,
            "{out} for {v} ({:x})",
            v.to_bits()
        );
    };
    for edge in [
        1e-5,
        1e-4,
        1e-3,
        0.1,
        0.5,
        1.0,
        10.0,
        1e14,
        1e15,
        1e16,
        1e17,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
        -0.0,
        0.0,
        2f64.powi(53),
        1e23,
    ] {
        for v in [edge, edge.next_up(), edge.next_down(), -edge, 0.5 + edge, 1.0 / edge] {
            check(v);
        }
    }
    for k in 0..200_000 {
        let u = 2.0 * stream.uniform() - 1.0;
        check(if k % 2 == 0 { u } else { u * 10f64.powf(40.0 * (stream.uniform() - 0.5)) });
    }
}

#[test]
fn saddles_over_a_range_list_branches_and_what_is_proved() {
    let run = |arguments: &str| {
        let out = command(Path::new("."), arguments).output().expect("starts");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let json = |arguments: &str| -> Value {
        serde_json::from_str(&run(&format!("{arguments} --format json"))).expect("JSON")
    };
    // Five tokens on the circle: 3+1+1 begins at the pitchfork of 3+2, beta = log(3/2)/2.
    let found = json("saddles --n 5 --d 2 --beta 0.15,0.19,0.22,0.3 --starts 24");
    let branches = found["branches"].as_array().expect("a list");
    let counts = |b: &Value| b["points"].as_array().map_or(0, Vec::len);
    assert_eq!(branches.iter().filter(|b| counts(b) == 4).count(), 6, "{branches:?}");
    assert_eq!(branches.iter().filter(|b| counts(b) == 2).count(), 1, "{branches:?}");
    let landscapes = found["landscapes"].as_array().expect("a list");
    assert!(landscapes.iter().all(|l| l["proved_complete"] == true));
    // On the sphere nothing proves it; an interaction has the same keys.
    let sphere = json("saddles --n 4 --d 3 --beta 2 --starts 16");
    assert!(sphere["complete"] == "not proved complete" && sphere["proved_complete"] == false);
    let other = json("saddles --n 4 --d 3 --interaction exp:beta=2 --starts 16");
    let points = |v: &Value| v["points"].as_array().map_or(0, Vec::len);
    assert_eq!((points(&sphere), points(&other)), (6, 6));
    let text = run("saddles --n 6 --d 2 --beta 10 --starts 0");
    assert!(text.contains("complete: proved by this program alone (by the theorem"), "{text}");
}

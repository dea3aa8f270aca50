//! The numerical version, limits of inputs, error bounds of shares and saddles, the journal of
//! cells, digits of tables.

use crate::program::{Place, items, number};
use metastable::lab::{Experiment, arrays, journal::Journal, plan, provenance::NUMERICAL_VERSION};
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
    let at = Place::with(&[]);
    let path = at.join("bomb.npz");
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
    let good =
        "name='good'\nn=4\nd=2\nbeta=1\nt_end=50\nrealisations=20\nstop_at_one_cluster=true\n";
    let at = Place::with(&[("good.toml", good)]);
    let cell = &at.json("run good.toml")["cells"][0];
    // No exception in 20 trials: 1 - 0.001^(1/20).
    let bound = 1.0 - 0.001f64.powf(0.05);
    assert!(cell["one_cluster"] == 1.0 && cell["exceptions_confidence"] == 0.999, "{cell}");
    assert!((number(&cell["exceptions_below"]) - bound).abs() < 1e-12, "{cell}");
    let text = at.printed("run good.toml");
    assert!(text.contains("99.9 %") && text.contains("Clopper-Pearson"), "{text}");
    let found = at.json("saddles --n 3 --d 2 --beta 8 --starts 20 --connections usa");
    let point = &found["points"][0];
    for key in ["log_energy", "energy_share", "eigenvalues", "angles", "points"] {
        let error = number(&point[format!("{key}_error")]);
        assert!((0.0..1e-6).contains(&error), "{key}: {point}");
    }
    for edge in items(&found["connections"]) {
        // The two unstable directions of the triangle are one eigenspace. A path from it may pass
        // near the antipodal saddle, where errors grow.
        let known = number(&edge["t_error"]) < 1e-3 * number(&edge["t"]);
        assert!(known && number(&edge["rate_error"]) < 1e-9, "{edge}");
    }
    let gamma = at.json("predict gamma --n 8 --beta 60 --times 0,8.737075317185072e23,1e25");
    assert!((number(&gamma["gamma"][1]) - 0.630_687_841_235_726_7).abs() < 1e-10);
    let error = |k: usize| number(&gamma["gamma_error"][k]);
    assert!(error(1) > 0.1 && error(2) < 1e-14, "{gamma}");
}

#[test]
fn a_journal_reads_whole_lines_and_ignores_torn_or_changed_ones() {
    let at = Place::with(&[]);
    let path = at.join("cells.jsonl");
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
    let tens = [1e-5, 1e-4, 1e-3, 0.1, 1.0, 10.0, 1e14, 1e15, 1e16, 1e17, 1e23, 5e-324];
    let others = [f64::MAX, f64::INFINITY, f64::NAN, -0.0, 0.0, 0.5, 2f64.powi(53)];
    for edge in tens.into_iter().chain(others) {
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
    let at = Place::with(&[]);
    // Five tokens on the circle: 3+1+1 begins at the pitchfork of 3+2, beta = log(3/2)/2.
    let found = at.json("saddles --n 5 --d 2 --beta 0.15,0.19,0.22,0.3 --starts 24");
    let branches = items(&found["branches"]);
    let with = |n: usize| branches.iter().filter(|b| items(&b["points"]).len() == n).count();
    assert_eq!((with(4), with(2)), (6, 1), "{branches:?}");
    assert!(items(&found["landscapes"]).iter().all(|l| l["proved_complete"] == true));
    // On the sphere nothing proves it; an interaction has the same keys.
    let sphere = at.json("saddles --n 4 --d 3 --beta 2 --starts 16");
    assert!(sphere["complete"] == "not proved complete" && sphere["proved_complete"] == false);
    let other = at.json("saddles --n 4 --d 3 --interaction exp:beta=2 --starts 16");
    assert_eq!((items(&sphere["points"]).len(), items(&other["points"]).len()), (6, 6));
    let text = at.printed("saddles --n 6 --d 2 --beta 10 --starts 0");
    assert!(text.contains("complete: proved by this program alone (by the theorem"), "{text}");
}

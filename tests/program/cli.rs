//! The command line: JSON keys, malformed input, exit codes, hostile files.

use crate::program::{json, run};
use crate::snapshot;
use metastable::cli::progress::line;
use metastable::lab::{Experiment, arrays};
use metastable::num::stream::Stream;
use serde_json::Value;
use std::path::Path;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).expect("writable");
    write("tokens.csv", b"# three tokens\n1,0\n0.6,0.8\n0,-1\n");
    write("angles.csv", b"0\n1.0\n2.5\n");
    write("empty.csv", b"");
    write("ragged.csv", b"1,0\n0.6,0.8,0\n");
    write("word.csv", b"1,0\n0.6,eight\n");
    write("nan.csv", b"1,0\nNaN,0.8\n");
    write("inf.csv", b"1,0\n0.6,inf\n");
    write("zero.csv", b"1,0\n0,0\n");
    write("long.csv", b"1,0\n0.6,0.9\n");
    write("line.csv", b"1\n-1\n");
    write("one.csv", b"0,1\n");
    write("q3.csv", b"1,0,0\n0,1,0\n0,0,1\n");
    write("garbage.csv", &[0xff, 0xfe, 0x00, 0x9f]);
    write("short.npy", b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }             \n\x00\x00");
    write(
        "grid.toml",
        b"name='g'\nn='1..100000:lin100000'\nd='2..10001:lin10000'\nbeta='0..1:lin1000'\nt_end=1\n",
    );
    write("typo.toml", b"name='t'\nn=4\nd=2\nbeta=-1e400\nt_end=1\nbetta=2\ndynamics='sla'\n");
    write("good.toml", b"name='good'\nn=4\nd=2\nbeta=1\nt_end=1\n");
    folder
}

#[test]
fn every_command_has_its_keys() {
    let f = folder();
    let at = f.path();
    let v = json(at, "velocity --tokens tokens.csv --dynamics sa --beta 4");
    assert_eq!(
        (v["velocity"].as_array().map(Vec::len), v["velocity"][0].as_array().map(Vec::len)),
        (Some(3), Some(2))
    );
    assert_eq!(
        json(at, "velocity --tokens tokens.csv --dynamics sa --causal --beta 4")["velocity"][0][0]
            .as_f64(),
        Some(0.0)
    );
    let e = json(at, "energy --angles angles.csv --beta 3 --hessian");
    for key in ["energy", "log_energy", "grad_norm"] {
        assert!(e[key].as_f64().is_some_and(f64::is_finite), "{key}");
    }
    assert_eq!(e["hessian_eigenvalues"].as_array().map(Vec::len), Some(3));
    assert!(e["morse_index"].is_u64());
    let big = json(at, "energy --tokens tokens.csv --beta 1500");
    assert!(big["energy"].is_null() && big["log_energy"].as_f64().is_some_and(|l| l > 1490.0));
    let s = json(at, "solve --tokens tokens.csv --dynamics sa --beta 1 --t-end 1e6 --out result");
    assert_eq!(s["final_tokens"].as_array().map(Vec::len), Some(3));
    assert!(
        (s["final_masses"]
            .as_array()
            .expect("masses")
            .iter()
            .filter_map(Value::as_f64)
            .sum::<f64>()
            - 1.0)
            .abs()
            < 1e-12
    );
    assert_eq!((s["t"].as_f64(), s["outcome"].as_str()), (Some(1e6), Some("reached")));
    assert!(s["merges"].is_array() && s["stats"]["steps"].is_u64() && s["energy"].is_number());
    assert!(
        json(at, "explain result/record.json")["reproduce"]
            .as_str()
            .is_some_and(|r| r.contains("solve"))
    );
    assert!(
        json(at, "explain result/timeline.csv")["tool"].is_string()
            && json(at, "explain result/timeline.npy")["tool"].is_string()
    );
    assert_eq!(
        json(at, "predict gamma --n 8 --beta 1 --dynamics sa --times 0.5,1,2")["gamma"]
            .as_array()
            .map(Vec::len),
        Some(3)
    );
    assert_eq!(
        json(at, "predict growth-rates --d 3 --beta 5 --dynamics usa --modes 6")["rates"]
            .as_array()
            .map(Vec::len),
        Some(7)
    );
    assert!(
        json(at, "predict two-token-time --beta 50 --from 3 --to 0.1")["time"]
            .as_f64()
            .is_some_and(|t| t > 1e40)
    );
    assert!(
        json(at, "predict two-cluster-time --beta 5 --from 2 --to 0.1 --mass 0.3")["time"]
            .is_number()
    );
    assert!(
        json(at, "predict level-time --n 32 --beta 3 --dynamics sa --level 0.999")["time"]
            .is_number()
    );
    assert!(json(at, "predict threshold --n 8 --d 2")["sharp"].is_number());
    assert!(json(at, "predict wendel --n 8 --d 2")["probability"].as_f64() == Some(0.0625));
    assert_eq!(
        json(at, "check wendel consensus-rates --quick")["claims"].as_array().map(Vec::len),
        Some(2)
    );
    assert!(
        json(at, "bench rhs --n 64 --d 3 --beta 4 --dynamics sa --threads 2")["median_seconds"]
            .is_number()
    );
    let listed = json(at, "list")["theorems"].as_array().map(Vec::len);
    assert_eq!(listed, Some(metastable::theorem::ALL.len()));
    assert!(json(at, "explain wendel")["text"].as_str().is_some_and(|t| t.contains("Control")));
    assert_eq!(json(at, "check selftest usa")["failed"].as_i64(), Some(0));
    assert!(json(at, "run good.toml --dry-run")["cells"].as_u64() == Some(1));
    assert!(json(at, "run good.toml")["cells"].is_array());
    assert!(
        run(at, "completions bash").status.success()
            && run(at, "--help").status.success()
            && run(at, "--version").status.success()
    );
    // One token is valid input.
    assert_eq!(
        json(at, "velocity --tokens one.csv --beta 4")["velocity"][0][0].as_f64(),
        Some(0.0)
    );
}

#[test]
fn malformed_input_is_refused_in_one_sentence() {
    let f = folder();
    snapshot::refusals("cli-input", f.path(), &[]);
}

#[test]
fn all_problems_of_a_file_are_reported_and_unwritable_folders_are_refused() {
    let f = folder();
    let text = String::from_utf8_lossy(&run(f.path(), "run typo.toml").stderr).into_owned();
    assert!(
        text.contains("line 4")
            && text.contains("line 6")
            && text.contains("line 7, column 10: unknown dynamics `sla`; did you mean `sa`?"),
        "{text}"
    );
    // An output folder that cannot be created, and one that is already used.
    std::fs::write(f.path().join("file"), b"x").expect("writable");
    for line in ["solve --tokens tokens.csv --beta 1 --t-end 1", "run good.toml"] {
        let code = run(f.path(), &format!("{line} --out file/inside")).status.code();
        assert_eq!(code, Some(5), "{line}");
    }
    assert!(
        run(f.path(), "solve --tokens tokens.csv --beta 1 --t-end 1 --out once").status.success()
    );
    assert_eq!(
        run(f.path(), "solve --tokens tokens.csv --beta 1 --t-end 1 --out once").status.code(),
        Some(1)
    );
}

#[test]
fn hostile_input_found_by_fuzzing_stays_fixed() {
    let f = folder();
    let npy = |name: &str, header: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        std::fs::write(f.path().join(name), bytes).expect("writable");
    };
    npy("flat.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0, 4), }\n");
    npy("twice.npy", "{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n");
    npy("gap.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, , 4), }\n");
    npy("orders.npy", "{'descr': '<>f8', 'fortran_order': False, 'shape': (3,), }\n");
    npy(
        "deep.npy",
        &format!("{{'descr': {}, 'fortran_order': False, 'shape': (3,), }}\n", "[".repeat(30)),
    );
    std::fs::write(
        f.path().join("same.toml"),
        "name='same'\nn=[4,4]\nd=2\nbeta=1\nbeta_per_n=[4]\nt_end=1\n",
    )
    .expect("writable");
    std::fs::write(
        f.path().join("none.toml"),
        "name='none'\nn=[]\nd=2\nbeta=1\nt_end=1\nrealisations=[1,2]\n",
    )
    .expect("writable");
    std::fs::write(
        f.path().join("law.toml"),
        "name='law'\ninit='orthonormal'\nn=4\nd=2\nbeta=1\nt_end=1\n",
    )
    .expect("writable");
    snapshot::refusals("cli-hostile", f.path(), &[]);
    // Tokens from a file beside the experiment, normalised on request only.
    let with_file =
        |extra: &str| format!("name='file'\ntokens_file='long.csv'\nbeta=1\nt_end=1\n{extra}");
    std::fs::write(f.path().join("file.toml"), with_file("")).expect("writable");
    let text = String::from_utf8_lossy(&run(f.path(), "run file.toml").stderr).into_owned();
    assert!(text.contains("line 2, column 13: tokens_file: long.csv: row 2: |x| = 1.08"), "{text}");
    std::fs::write(f.path().join("file.toml"), with_file("normalise=true")).expect("writable");
    assert_eq!(json(f.path(), "run file.toml")["cells"][0]["n"].as_u64(), Some(2));
    // A point that occurs twice in the grid is one cell.
    assert_eq!(json(f.path(), "run same.toml")["cells"].as_array().map(Vec::len), Some(1));
    // Closing times at extreme angles: log(tan(from/2) / tan(to/2)) at beta = 0.
    let time = json(f.path(), "predict two-token-time --beta 0 --from 1 --to 1e-100")["time"]
        .as_f64()
        .expect("a time");
    assert!((time / (0.5f64.tan().ln() - 0.5e-100f64.ln()) - 1.0).abs() < 1e-13);
    assert!(json(f.path(), "velocity --tokens tokens.csv --beta -1e-3")["velocity"].is_array());
    // Tables written by the program are valid input.
    assert!(
        run(f.path(), "solve --tokens tokens.csv --beta 1 --t-end 1 --out own").status.success()
    );
    assert!(
        json(f.path(), "velocity --tokens own/final_tokens.csv --beta 1")["velocity"].is_array()
    );
}

#[test]
fn npz_members_are_named() {
    let f = folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/minilm_hidden_states.npz");
    std::fs::copy(source, f.path().join("model.npz")).expect("copied");
    let text = String::from_utf8_lossy(
        &run(f.path(), "figure inner-products --tokens model.npz --array hidden_state").stderr,
    )
    .into_owned();
    assert!(text.contains("did you mean `hidden_states`"), "{text}");
    let text =
        String::from_utf8_lossy(&run(f.path(), "velocity --tokens model.npz --beta 1").stderr)
            .into_owned();
    assert!(text.contains("7 x 61 x 384, expected a layer with --frame"), "{text}");
    std::fs::write(
        f.path().join("cut.npz"),
        &std::fs::read(f.path().join("model.npz")).expect("read")[..5000],
    )
    .expect("writable");
    assert_eq!(run(f.path(), "figure inner-products --tokens cut.npz").status.code(), Some(1));
}

/// Truncates, repeats, flips, inserts or removes bytes.
pub fn mutate(bytes: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=stream.index(4) {
        if out.is_empty() {
            out.push(stream.next_u64() as u8);
        }
        let at = stream.index(out.len());
        match stream.index(7) {
            0 => out.truncate(at),
            1 => out[at] ^= 1 << stream.index(8),
            2 => out.insert(at, stream.next_u64() as u8),
            3 => drop(out.remove(at)),
            4 => {
                let tokens: [&[u8]; 10] = [
                    b"NaN",
                    b"-inf",
                    b"1e308",
                    b"-1",
                    b"[",
                    b"\"",
                    b"=",
                    b"\n",
                    b"999999999999999999999",
                    b"\xf0\x9f\x92\xa5",
                ];
                let piece = tokens[stream.index(10)];
                out.splice(at..at, piece.iter().copied());
            }
            5 => {
                let copy = out[at..].to_vec();
                out.extend(copy);
            }
            _ => out[at] = b"0123456789.,-eE \t"[stream.index(17)],
        }
    }
    out
}

#[test]
fn ten_thousand_mutated_files_neither_panic_nor_hang() {
    let mut stream = Stream::new(5, &["mutate"]);
    let table = metastable::flow::Table {
        columns: vec!["x".into(), "y".into()],
        rows: vec![vec![1.0, 0.0], vec![0.6, 0.8], vec![0.0, -1.0]],
    };
    let model = std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/minilm_hidden_states.npz"),
    )
    .expect("committed");
    let originals: Vec<(&str, Vec<u8>)> = vec![
        ("t.csv", b"# tokens\n1,0\n0.6,0.8\n0,-1\n".to_vec()),
        ("t.npy", arrays::npy_bytes(&table)),
        ("t.npy", arrays::npy_table(&table)),
        ("t.npz", model[model.len() - 3000..].to_vec()),
    ];
    let experiments: Vec<&str> =
        metastable::lab::experiment::BUILT_IN.iter().map(|(_, text)| *text).collect();
    for k in 0..10_000 {
        if k % 2 == 0 {
            let (name, original) = &originals[(k / 2) % originals.len()];
            let bytes = mutate(original, &mut stream);
            let array = arrays::parse(Path::new(name), &bytes, None).ok();
            if let Some((d, data)) = array.and_then(|a| Some((*a.shape.get(1)?, a.data))) {
                let _ = metastable::sphere::Tokens::new(d, data);
            }
        } else {
            let text = mutate(experiments[(k / 2) % experiments.len()].as_bytes(), &mut stream);
            let text = String::from_utf8_lossy(&text).into_owned();
            let parsed = Experiment::parse("mutated.toml", &text);
            if let Err(e) = &parsed {
                assert!(e.to_string().contains("mutated.toml, line"), "no place in: {e}");
            }
            if let Ok(experiment) = parsed {
                assert!(
                    experiment.size().is_some_and(|s| s <= metastable::lab::experiment::MAX_CELLS)
                );
                let _ = metastable::lab::plan(&experiment).len();
            }
        }
    }
}

#[test]
fn modes_saddles_and_clusters_have_their_keys() {
    let f = folder();
    let at = f.path();
    let m = json(at, "modes --samples angles.csv --beta 10");
    assert_eq!(
        (m["modes"].as_u64(), m["certified"].as_bool(), m["locations"].as_array().map(Vec::len)),
        (Some(3), Some(true), Some(3))
    );
    assert_eq!(json(at, "modes --samples angles.csv --beta 10 --circle")["space"], "circle");
    assert_eq!(json(at, "modes --samples q3.csv --beta 20 --sphere")["modes"].as_u64(), Some(3));
    // Two samples at a distance of two kernel widths are a degenerate case: no proof, the key
    // `at_least`, exit code 3.
    std::fs::write(at.join("twins.csv"), "0\n2\n").expect("writable");
    std::fs::write(at.join("opposite.csv"), "1,0,0\n-1,0,0\n").expect("writable");
    let open = run(at, "modes --samples twins.csv --beta 1 --format json");
    let m: Value = serde_json::from_slice(&open.stdout).expect("JSON");
    assert_eq!(
        (open.status.code(), m["at_least"].as_u64(), m["certified"].as_bool()),
        (Some(3), Some(1), Some(false))
    );
    assert!(
        m.get("modes").is_none()
            && m.get("locations").is_none()
            && m["undecided"].as_array().is_some_and(|u| u.len() == 1),
        "{m}"
    );
    let open = run(at, "modes --samples twins.csv --beta 1");
    let text = String::from_utf8_lossy(&open.stdout);
    assert!(
        open.status.code() == Some(3) && text.starts_with("at least 1 mode (not proved"),
        "{text}"
    );
    // The mode is somewhere between the samples; the middle of an open interval says nothing.
    assert!(text.contains("not located: between -0.0"), "{text}");
    let proved = run(at, "modes --samples opposite.csv --beta 4 --sphere");
    assert!(
        proved.status.code() == Some(0)
            && String::from_utf8_lossy(&proved.stdout).starts_with("2 modes (proved")
    );
    let c = json(
        at,
        "measure --space circle --density cos:1=0.2,2=-0.1 --dynamics usa --beta 2 --t-end 0.1",
    );
    for key in ["negentropy", "negentropy_rate", "t"] {
        assert!(c[key].as_f64().is_some_and(f64::is_finite), "{key}");
    }
    assert!((c["coefficients"][0].as_f64().expect("a number") - 1.0).abs() < 1e-15);
    let z = json(
        at,
        "measure --space zonal --d 2 --density cos:1=0.2,2=-0.1 --dynamics usa --beta 2 --t-end 0.1",
    );
    assert!(
        (z["negentropy"].as_f64().expect("a number") - c["negentropy"].as_f64().expect("a number"))
            .abs()
            < 1e-10
    );
}

#[test]
fn measures_have_their_keys() {
    let f = folder();
    let at = f.path();
    // A narrow density gets more modes than --modes. On S^2 its negentropy is log(2 kappa) - 1.
    for space in ["zonal --d 3", "sphere2", "sphere2 --method lagrangian"] {
        let narrow = json(
            at,
            &format!("measure --space {space} --density vmf:kappa=40 --modes 8 --beta 2 --t-end 0"),
        );
        assert!(
            (narrow["negentropy"].as_f64().expect("a number") - (80f64.ln() - 1.0)).abs() < 1e-8,
            "{space}"
        );
    }
    assert_eq!(
        json(at, "measure --space sphere2 --density vmf:kappa=2,at=1 --beta 1 --t-end 0.1")["outcome"],
        "reached"
    );
    let s = json(
        at,
        "saddles --n 4 --d 2 --beta 3 --starts 60 --connections usa --certificates proofs",
    );
    let points = s["points"].as_array().expect("points");
    assert!(
        s["proved_complete"] == true
            && s["complete"].as_str().is_some_and(|c| c.starts_with("complete: proved"))
            && s["missing_estimate"].is_number()
            && s["new_points_per_start"].is_number()
            && s["reached_largest_number_of_starts"] == false
            && points[0]["found_by_starts"].as_u64() > Some(0)
    );
    assert!(points.len() >= 4 && points.iter().all(|p| p["certificate"] == "proved"));
    for k in 0..points.len() {
        assert_eq!(
            json(at, &format!("certify check proofs/saddle-{k}.json"))["accepted"].as_bool(),
            Some(true)
        );
    }
    // Failed starts are reported in the text and by the exit code.
    let failing = run(at, "saddles --n 7 --d 3 --beta 60 --starts 40 --seed 1");
    let text = String::from_utf8_lossy(&failing.stdout).into_owned();
    assert!(
        failing.status.code() == Some(3)
            && text.contains("did not converge")
            && text.contains("not proved complete"),
        "{text}"
    );
    let several = json(at, "saddles --n 4 --d 3 --beta 0.5..8:log3 --starts 10");
    let several = several["landscapes"].as_array().expect("a list");
    assert!(
        several.len() == 3
            && several.iter().all(|l| l["points"].as_array().map(Vec::len) == Some(6))
    );
    let text = std::fs::read_to_string(at.join("proofs/saddle-1.json")).expect("a certificate");
    std::fs::write(at.join("forged.json"), text.replacen("\"unstable\": 1", "\"unstable\": 2", 1))
        .expect("writable");
    assert_eq!(run(at, "certify check forged.json").status.code(), Some(1));
    let r = json(
        at,
        "solve --init uniform --n 20 --d 2 --beta 30 --t-end 1e200 --merge-radius 1e-4 --out run",
    );
    assert!(r["min_relative_gradient_norm"].as_f64().is_some());
    let t = json(at, "clusters --from-run run");
    assert_eq!(
        t["mergers"].as_array().map(Vec::len).expect("mergers")
            + t["clusters_left"].as_u64().expect("a count") as usize,
        20
    );
    assert!(
        t["plateaus"].as_array().is_some_and(|p| !p.is_empty())
            && t["newick"].as_str().is_some_and(|n| n.ends_with(';'))
    );
    assert_eq!(
        json(at, "clusters --tokens tokens.csv --linking-distance 1.0")["clusters"].as_u64(),
        Some(2)
    );
    let v = json(
        at,
        "movie --init uniform --n 8 --d 2 --beta 4 --t-end 100 --frames 5 --dpi 40 --out film.png",
    );
    assert_eq!(v["frames"].as_u64(), Some(5));
    let once = std::fs::read(at.join("film.png")).expect("a film");
    json(
        at,
        "movie --init uniform --n 8 --d 2 --beta 4 --t-end 100 --frames 5 --dpi 40 --out film.png",
    );
    assert!(
        once == std::fs::read(at.join("film.png")).expect("a film"),
        "two runs must give the same film"
    );
    json(at, "run staircase --out studies");
    assert!(at.join("studies/study-staircase/ascent.csv").exists());
}

#[test]
fn malformed_input_of_landscape_and_measure_commands_is_refused() {
    let f = folder();
    snapshot::refusals("cli-measures", f.path(), &[]);
}

#[test]
fn a_counterexample_of_hunt_can_be_evaluated_again() {
    let dir = folder();
    let at = dir.path();
    let found = json(at, "hunt cap-overlap-printed --minutes 1 --out found.json");
    assert_eq!((found["found"].as_bool(), found["confirmed"].as_bool()), (Some(true), Some(true)));
    let margin = found["margin"].as_f64().expect("a margin");
    assert!(margin < 0.0 && found["budget"]["trials"].as_u64() > Some(0));
    let again = json(at, "hunt found.json");
    assert_eq!(
        (again["margin"].as_f64(), again["confirmed"].as_bool()),
        (Some(margin), Some(true))
    );
    // A file with a changed statement is refused.
    let text = std::fs::read_to_string(at.join("found.json")).expect("written");
    std::fs::write(at.join("other.json"), text.replace("<= eps^2 + 2 eps", "<= 4 sqrt(eps)"))
        .expect("writable");
    assert_eq!(
        run(at, "hunt other.json").status.code(),
        Some(1),
        "the statement differs from that of the claim"
    );
    std::fs::write(at.join("half.json"), &text[..text.len() / 2]).expect("writable");
    assert_eq!(run(at, "hunt half.json").status.code(), Some(1));
    assert_eq!(
        run(at, "hunt nowhere.json").status.code(),
        Some(1),
        "a missing file is wrong input"
    );
    let nothing = json(at, "hunt cap-overlap --minutes 0.01");
    assert_eq!(nothing["found"].as_bool(), Some(false));
}

#[test]
fn sweeps_cover_the_given_grid() {
    let dir = folder();
    let at = dir.path();
    let swept = json(
        at,
        "check angular-momentum --n 5,9 --d 2..8:3 --beta 0.1..50:log3 --dynamics sa --law uniform --trials 4 --seed 7 --out sweep",
    );
    let points = swept["grids"][0]["points"].as_array().expect("a grid");
    assert_eq!(points.len(), 2 * 3 * 3);
    assert_eq!(points[0]["beta"].as_f64(), Some(0.1));
    assert!(points.iter().all(|p| p["trials"] == 4 && p["margin"].as_f64() > Some(0.0)));
    let claim = &swept["claims"][0];
    for key in [
        "status",
        "kind",
        "verdict",
        "margin",
        "error",
        "slack",
        "resolving_power",
        "trials",
        "held",
        "bound",
        "as_expected",
    ] {
        assert!(claim.get(key).is_some(), "{key}");
    }
    assert_eq!(claim["drawn"]["n"], serde_json::json!([5, 9]));
    for file in ["margins.csv", "margins.svg", "margins.png"] {
        assert!(at.join("sweep/angular-momentum").join(file).exists(), "{file}");
    }
    snapshot::refusals("cli-sweeps", at, &[]);
    let beyond = run(
        at,
        "check angular-momentum --beta 5000 --dynamics sa --beyond --trials 2 --out beyond --format json",
    );
    let beyond: Value = serde_json::from_slice(&beyond.stdout).expect("JSON");
    assert!(beyond["grids"][0]["outside"].as_u64() > Some(0));
}

/// A concentrating density is resolved by particles and not by finite volumes. Unresolved numbers
/// are not printed.
#[test]
fn unresolved_numbers_are_not_printed() {
    let f = folder();
    let at = f.path();
    let start =
        "measure --space circle --density noise:amplitude=0.01 --dynamics usa --beta 5 --t-end";
    let good = json(at, &format!("{start} 0.4"));
    let number = |v: &Value| v.as_f64().expect("a number");
    // Finite volumes without this check gave 4.575 and 15.4.
    assert!(
        (number(&good["negentropy"]) - 5.83).abs() < 0.02
            && (number(&good["negentropy_rate"]) - 47.9).abs() < 0.2,
        "{good}"
    );
    for name in ["negentropy", "negentropy_rate", "energy_above_uniform", "coefficients"] {
        assert!(number(&good[format!("{name}_error")]) < 1e-4, "{name}");
    }
    for method in ["volume", "spectral --max-modes 64"] {
        let out = run(at, &format!("{start} 0.4 --method {method} --format json"));
        let bad: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!(
            (out.status.code(), bad["outcome"].as_str()),
            (Some(4), Some("under-resolved")),
            "{method}"
        );
        assert!(
            bad["negentropy"].is_null()
                && bad["negentropy_rate"].is_null()
                && bad["energy_above_uniform"].is_null(),
            "{bad}"
        );
        let text =
            String::from_utf8_lossy(&run(at, &format!("{start} 0.4 --method {method}")).stdout)
                .into_owned();
        assert!(
            text.contains("under-resolved")
                && (text.contains("unresolved (") || text.contains("last resolved")),
            "{text}"
        );
    }
    // Coefficients of P_k grow like the dimension of the space of harmonics, here 10^15, and so may
    // their errors.
    let flat = json(
        at,
        "measure --space zonal --d 64 --density noise:amplitude=0.01,modes=8 --beta 5 --t-end 30",
    );
    assert!(
        (number(&flat["negentropy_rate"]) - 63.0).abs() < 1e-6
            && number(&flat["coefficients_error"]) < 1e-6,
        "{flat}"
    );
    // Finite volumes that are fine enough, with noise: the errors are those of a second-order
    // method.
    let noisy = "measure --space circle --density cos:1=0.3 --dynamics usa --beta 2 --noise kappa=2 --t-end 0.2";
    let (cells, series) =
        (json(at, &format!("{noisy} --method volume --volumes 256")), json(at, noisy));
    let gap = (number(&cells["negentropy"]) - number(&series["negentropy"])).abs();
    assert!(
        gap < 2.0 * number(&cells["negentropy_error"]) && number(&cells["negentropy_error"]) < 1e-3,
        "{gap}"
    );
    assert!(number(&series["negentropy_error"]) < 1e-9);
    let points = json(at, "saddles --n 4 --d 2 --beta 3 --starts 40");
    for p in points["points"].as_array().expect("points") {
        assert!(
            number(&p["energy_share_error"]) < 1e-12
                && number(&p["eigenvalues_error"]) < 1e-10
                && number(&p["angles_error"]) < 1e-10
        );
    }
    let lines: Vec<String> = (0..60)
        .map(|k| {
            let a = 2.4 * f64::from(k);
            format!("{},{}", a.cos(), a.sin())
        })
        .collect();
    std::fs::write(at.join("ring.csv"), lines.join("\n")).expect("writable");
    let e = json(at, "entropy --tokens ring.csv --kernel-beta 10000");
    assert!(
        number(&e["kernel_bias"][0]) < 0.0
            && number(&e["kernel_error"][0]) > 0.0
            && e["nearest_neighbour_bias"][0].is_number()
    );
    assert!(
        String::from_utf8_lossy(&run(at, "entropy --tokens ring.csv --kernel-beta 10000").stderr)
            .contains("warning: kernels")
    );
}

#[test]
fn predictions_exist_for_dynamics_beyond_the_sphere() {
    let f = folder();
    let at = f.path();
    let schemes = json(
        at,
        "predict normalisation --scheme pre --n 16 --beta 2 --r0 3 --gamma0 0 --times 1,10,100",
    );
    assert!(["gamma", "radius"].iter().all(|k| schemes[k].as_array().map(Vec::len) == Some(3)));
    let limits = json(at, "predict boolean-limit --eps 0.5,0.7,1");
    assert!(limits["limits"][2].as_f64().is_some_and(|f| (f - 0.948301957871).abs() < 1e-12));
    assert!(
        json(at, "predict antipodal-threshold --d 8")["beta"]
            .as_f64()
            .is_some_and(|b| (b - 1.238944).abs() < 1e-6)
    );
    assert!(
        json(at, "predict rank-collapse --log-size -9.7 --layers 3")["log_sizes"][3].as_f64()
            == Some(-261.9)
    );
    let blown = json(at, "predict gaussian-closure --variance 1,2 --b 0.5 --times 0.25,0.75");
    assert!(
        blown["blow_up_time"].as_f64() == Some(0.5)
            && blown["variance"][1][1].is_null()
            && blown["variance"][1][0] == 4.0
    );
    assert!(json(at, "predict long-context --d 3 --c 1 --n 1000")["participation"].is_number());
    assert!(json(at, "predict bipartite --lambda 1 --mu 0.2 --beta 2")["stable"] == true);
    assert!(
        json(at, "predict random-weights --u0 0.5 --times 1")["probability_together"].is_number()
    );
    assert!(json(at, "predict noise-step --d 3 --tau 0.01")["corrected"].is_number());
    snapshot::refusals("cli-predictions", at, &[]);
}

#[test]
fn every_flag_has_a_help_text_and_examples_fit_into_a_line() {
    fn faults(command: &clap::Command, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        // A longer line is printed as a full line and a short rest.
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let long = after.lines().filter(|l| l.chars().count() > 100);
        found.extend(long.map(|l| format!("{path}: {l}")));
        for a in command.get_arguments() {
            if a.get_help().is_none_or(|h| h.to_string().is_empty()) {
                found.push(format!("{path} {}: no help", a.get_id()));
            }
        }
        command
            .get_subcommands()
            .for_each(|c| found.extend(faults(c, &format!("{path} {}", c.get_name()))));
        found
    }
    assert_eq!(faults(&metastable::cli::command(), ""), Vec::<String>::new());
}

#[test]
fn completions_contain_the_names() {
    let f = folder();
    let script = run(f.path(), "completions bash").stdout;
    let script = String::from_utf8_lossy(&script);
    for name in ["cone-collapse", "phase-diagram", "causal-usa", "staircase"] {
        assert!(script.contains(name), "{name}");
    }
}

#[test]
fn progress_shows_elapsed_and_remaining_time_if_known() {
    let first = line("solve", 20.0, Some(0.25), None, "t = 5");
    assert_eq!(first, "solve: 20 s, about 60 s left: t = 5");
    assert_eq!(line("solve", 20.0, Some(0.001), None, ""), "solve: 20 s");
    assert_eq!(line("modes", 31.2, None, None, ""), "modes: 31 s");
    // A tenth in the last ten seconds: 75 s for the rest, 90 s by all of the work.
    let after = |before| line("run", 30.0, Some(0.25), Some(before), "");
    assert_eq!(after((20.0, 0.15)), "run: 30 s, about 75 s left");
    // Slower now than before: both estimates. No progress: none.
    assert_eq!(after((20.0, 0.225)), "run: 30 s, 90 s to 300 s left");
    assert_eq!(after((20.0, 0.25)), "run: 30 s, 25.0 % done");
    // Long estimates are printed in minutes and hours.
    let left = |seconds: f64| line("run", seconds, Some(0.5), None, "");
    assert_eq!(left(900.0), "run: 900 s, about 15 minutes left");
    assert_eq!(left(72_924.0), "run: 72924 s, about 20 hours left");
}

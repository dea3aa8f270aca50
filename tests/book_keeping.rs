//! What is said once is said everywhere: the numerical version, caps on what is read, shares with their bounds.

use metastable::lab::{Experiment, arrays, plan, provenance::NUMERICAL_VERSION};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Command;

#[test]
fn the_numerical_version_is_the_same_everywhere() {
    let read = |name: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a file of the project");
    let cited = format!("numerical version {NUMERICAL_VERSION}}}");
    assert!(read("README.md").contains(&cited), "README.md does not say `{cited}`");
    let log = read(".github/CHANGELOG.md");
    let numbers = log.split("### Numbers").nth(1).expect("a heading");
    for version in 2..=NUMERICAL_VERSION {
        assert!(numbers.contains(&format!("Numerical version {version}:")), "the changelog does not say what moved in version {version}");
    }
    let first = numbers.split("Numerical version ").nth(1).and_then(|n| n.split(':').next()?.parse::<u32>().ok());
    assert_eq!(first, Some(NUMERICAL_VERSION), "the newest numbers of the changelog are those of the declared version");
}

#[test]
fn archives_that_unpack_to_too_much_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bomb.npz");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).expect("writable"));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("a.npy", options).expect("a member");
    let zeros = vec![0u8; 1 << 20];
    (0..257).for_each(|_| archive.write_all(&zeros).expect("written"));
    archive.finish().expect("written");
    let refusal = arrays::read(&path, None).expect_err("too large").to_string();
    assert!(refusal.contains("256 MB") && refusal.contains("array a"), "{refusal}");
}

#[test]
fn every_cell_is_checked_before_anything_runs() {
    let text = "name='late'\ninit='orthonormal'\nn=[2,3]\nd=2\nbeta='0..1:lin20001'\nt_end=1\n";
    let refusal = Experiment::parse("late.toml", text).expect_err("three orthonormal tokens in the plane").to_string();
    assert!(refusal.contains("orthonormal") && refusal.contains("n = 3"), "{refusal}");
    let good = Experiment::parse("good.toml", "name='good'\nn=4\nd=2\nbeta=1\nt_end=1\n").expect("valid");
    let mut cell = plan(&good).remove(0);
    assert!(cell.eta().is_ok_and(|eta| eta == 0.0));
    for damaged in ["", "fast", "-1", "NaN"] {
        cell.eta = damaged.into();
        assert!(cell.eta().is_err_and(|e| e.to_string().contains("eta")), "{damaged}");
    }
}

#[test]
fn shares_and_saddles_come_with_their_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("good.toml"), "name='good'\nn=4\nd=2\nbeta=1\nt_end=50\nrealisations=20\nstop_at_one_cluster=true\n")
        .expect("writable");
    let run = |arguments: &str| {
        let out = Command::new(env!("CARGO_BIN_EXE_metastable"))
            .args(arguments.split_whitespace())
            .current_dir(folder.path())
            .output()
            .expect("starts");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let json = |arguments: &str| -> Value { serde_json::from_str(&run(&format!("{arguments} --format json"))).expect("JSON") };
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
            point["points"][0][format!("{key}_error")].as_f64().is_some_and(|e| (0.0..1e-6).contains(&e)),
            "{key}: {}",
            point["points"][0]
        );
    }
    for edge in point["connections"].as_array().expect("a list") {
        assert!(edge["rate_error"].as_f64().is_some_and(|e| e < 1e-9) && edge["t_error"].as_f64().is_some_and(|e| e < 1e-3), "{edge}");
    }
    let gamma = json("predict gamma --n 8 --beta 60 --times 0,8.737075317185072e23,1e25");
    assert!((gamma["gamma"][1].as_f64().expect("a number") - 0.630_687_841_235_726_7).abs() < 1e-10);
    assert!(gamma["gamma_error"][1].as_f64().is_some_and(|e| e > 0.1) && gamma["gamma_error"][2].as_f64().is_some_and(|e| e < 1e-14));
}

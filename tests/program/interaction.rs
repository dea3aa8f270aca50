//! `--interaction` on the commands that know it.

use crate::program::{json, printed, run, text};
use serde_json::Value;
use std::path::Path;

fn numbers(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

fn near(a: &Value, b: &Value, tolerance: f64) {
    let (a, b) = (numbers(a), numbers(b));
    let scale = b.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= tolerance * scale, "{a} {b}");
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "1,0,0\n0.6,0.8,0\n0,-0.6,0.8\n0,0,-1\n";
    std::fs::write(folder.path().join("x.csv"), rows).expect("writable");
    folder
}

#[test]
fn exponentials_by_name_or_formula_are_attention() {
    let folder = folder();
    let at = folder.path();
    let usa = "--tokens x.csv --dynamics usa --beta 4";
    let sa = "--tokens x.csv --dynamics sa --beta 4";
    for phi in ["exp:beta=4", "exp(beta*s)", "exp(4*s)"] {
        for dynamics in [usa, sa] {
            let known = json(at, &format!("velocity {dynamics}"));
            let found = json(at, &format!("velocity {dynamics} --interaction {phi}"));
            near(&found["velocity"], &known["velocity"], 1e-13);
            let known = json(at, &format!("solve {dynamics} --t-end 0.5"));
            let found = json(at, &format!("solve {dynamics} --t-end 0.5 --interaction {phi}"));
            near(&found["final_tokens"], &known["final_tokens"], 1e-7);
            // The potential of a formula is 0 at s = 0, that of E_beta is 1/beta: with masses of
            // sum 1 the energies differ by half of it.
            let shift = if phi.starts_with("exp:") { 0.0 } else { 0.5 / 4.0 };
            let energy = found["energy"].as_f64().map(|e| e + shift);
            near(&serde_json::json!(energy), &known["energy"], 1e-7);
        }
        let known = json(at, "energy --tokens x.csv --beta 4 --hessian");
        let found =
            json(at, &format!("energy --tokens x.csv --beta 4 --hessian --interaction {phi}"));
        near(&found["hessian_eigenvalues"], &known["hessian_eigenvalues"], 1e-12);
        near(&found["grad_norm"], &known["grad_norm"], 1e-13);
    }
}

#[test]
fn predictions_of_exponentials_are_their_closed_forms() {
    let here = Path::new(".");
    for (known, found, key) in [
        ("growth-rates --d 3 --modes 6 --beta 4", "growth-rates --d 3 --modes 6", "rates"),
        ("polygon --m 5 --beta 4", "polygon --m 5", "rates"),
        ("consensus --n 4 --d 3 --beta 4", "consensus --n 4 --d 3", "eigenvalues"),
    ] {
        for dynamics in ["sa", "usa"] {
            let known = json(here, &format!("predict {known} --dynamics {dynamics}"));
            let call = format!("predict {found} --dynamics {dynamics} --interaction exp:beta=4");
            near(&json(here, &call)[key], &known[key], 1e-12);
        }
    }
}

#[test]
fn wrong_interactions_are_refused() {
    let folder = folder();
    for (phi, reason) in [
        ("powr:p=3", "did you mean `power`?"),
        ("exp(bta*s)", "did you mean `beta`?"),
        ("1/(s-0.5)", "inf at s = 0.5"),
        ("s^3", "kappa >= 0"),
    ] {
        let call = format!("velocity --tokens x.csv --beta 4 --interaction {phi}");
        let out = run(folder.path(), &call);
        assert_eq!(out.status.code(), Some(1), "{phi}");
        assert!(text(&out.stderr).contains(reason), "{phi}: {}", text(&out.stderr));
    }
    assert!(printed(folder.path(), "explain interaction").contains("power"));
}

//! `--interaction` on the commands that know it.

use crate::program::{json, printed, run, text};
use metastable::num::vector::max_abs;
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
    let scale = max_abs(&b);
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
        // An energy takes no beta that its interaction does not use.
        let beta = if phi.contains("beta") { "--beta 4" } else { "" };
        let found =
            json(at, &format!("energy --tokens x.csv {beta} --hessian --interaction {phi}"));
        near(&found["hessian_eigenvalues"], &known["hessian_eigenvalues"], 1e-12);
        near(&found["grad_norm"], &known["grad_norm"], 1e-13);
    }
}

/// An experiment needs beta only for weights that depend on it.
#[test]
fn experiments_without_beta_have_an_interaction_without_beta() {
    let folder = folder();
    let at = folder.path();
    let toml = |model: &str| {
        let text = format!(
            "name = 'own'\nn = 5\nd = 3\ndynamics = 'usa'\nt_end = 3\nsamples = 5\n[model]\n{model}\n"
        );
        std::fs::write(at.join("e.toml"), text).expect("writable");
    };
    for phi in ["'s^3'", "'power:p=3'", "'s^p; p=3'", "['s^3', 'exp:beta=2']"] {
        toml(&format!("interaction = {phi}"));
        let cells = json(at, "run e.toml")["cells"].clone();
        assert_eq!(cells[0]["beta"], 0.0, "{phi}");
        // beta changes nothing but the accuracy of velocities.
        let again = json(at, "run e.toml --set beta=7")["cells"].clone();
        near(&cells[0]["worst_inner_min"], &again[0]["worst_inner_min"], 1e-8);
    }
    for model in [
        "interaction = 'exp(beta*s)'",
        "interaction = ['s^3', 'exp(beta*s)']",
        "interaction = 's^2'\nrow_weights = 'exp(beta*s)'",
        "mask = 'causal'",
    ] {
        toml(model);
        let out = run(at, "run e.toml");
        let error = text(&out.stderr);
        assert!(
            out.status.code() == Some(1) && error.contains("missing key `beta`"),
            "{model}: {error}"
        );
    }
}

#[test]
fn a_formula_may_begin_with_a_minus() {
    let folder = folder();
    let at = folder.path();
    for command in [
        "velocity --tokens x.csv --dynamics usa",
        "energy --tokens x.csv",
        "saddles --n 3 --d 2 --starts 5",
        "landscape --n 3",
        "predict polygon --m 5 --dynamics usa",
    ] {
        let of = |phi: &str| {
            let mut found = json(at, &format!("{command} --interaction {phi}"));
            found.as_object_mut().expect("an object").retain(|key, _| {
                ["velocity", "energy", "points", "orbits", "rates"].contains(&key.as_str())
            });
            found
        };
        let (found, same) = (of("-s^2+3"), of("3-s^2"));
        assert!(!same.as_object().expect("an object").is_empty(), "{command}");
        assert_eq!(found, same, "{command}");
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
        ("sigmoid(s)", "sigmoid:k=1"),
        ("log(s)", "expected ln"),
        ("1/(s-0.5)", "inf at s = 0.5"),
        ("s^3", "kappa >= 0"),
    ] {
        let call = format!("velocity --tokens x.csv --beta 4 --interaction {phi}");
        let out = run(folder.path(), &call);
        assert_eq!(out.status.code(), Some(1), "{phi}");
        assert!(text(&out.stderr).contains(reason), "{phi}: {}", text(&out.stderr));
    }
    let out = run(folder.path(), "velocity --tokens x.csv --dynamics usa --interaction beta*s");
    assert!(text(&out.stderr).contains("expected --beta"), "{}", text(&out.stderr));
    assert!(printed(folder.path(), "explain interaction").contains("power"));
}

/// Rows whose weights all lie below the range of doubles, or below the rounding of a series, have
/// no velocity to print.
#[test]
fn rows_without_weights_print_nothing() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("two.csv"), "0\n1.4706289056333368\n").expect("writable");
    for tokens in ["--angles two.csv", "--init cap:radius=0.3 --n 300 --d 2 --seed 1"] {
        let bump = "--dynamics sa --interaction exp(-20000*(s-0.5)^2)";
        let out = run(at, &format!("velocity {tokens} {bump}"));
        assert_eq!(out.status.code(), Some(4), "{tokens}: {}", text(&out.stderr));
        assert!(out.stdout.is_empty(), "{tokens}: {}", text(&out.stdout));
    }
}

/// A symmetric matrix, for tokens of three coordinates.
const FORM: &str = "0.5,0.2,0\n0.2,-0.4,0.1\n0,0.1,0.8\n";

#[test]
fn couplings_are_known_to_all_commands() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("d.csv"), FORM).expect("writable");
    let usa = "--tokens x.csv --dynamics usa --beta 2 --coupling d.csv";
    // The exponential with a coupling is a head with K = V = D.
    let known = json(at, "velocity --tokens x.csv --dynamics usa --beta 2 --k d.csv --v d.csv");
    near(&json(at, &format!("velocity {usa}"))["velocity"], &known["velocity"], 1e-13);
    for phi in ["power:p=3", "cosh:k=2"] {
        let energy = |tokens: &str| {
            let call = format!("energy --tokens {tokens} --interaction {phi} --coupling d.csv");
            json(at, &call)["energy"].as_f64().expect("a number")
        };
        let start = energy("x.csv");
        let end =
            json(at, &format!("solve {usa} --interaction {phi} --t-end 2 --out {}", &phi[..4]));
        assert!(end["energy"].as_f64().expect("a number") > start, "{phi}");
        assert!(end["energy_normalisation"].as_str().expect("words").contains("D x_j"));
    }
    let toml = "name = 'coupled'\nn = 5\nd = 3\nbeta = 1\ndynamics = 'usa'\nt_end = 3\nsamples = 5\n\
        observables = ['energy', 'log-energy', 'grad-norm']\n[model]\ninteraction = 'power:p=2'\n\
        coupling = 'd.csv'\n";
    std::fs::write(at.join("e.toml"), toml).expect("writable");
    assert_eq!(run(at, "run e.toml --out runs").status.code(), Some(0));
    for (matrix, reason) in [
        ("0,1,0\n2,0,0\n0,0,1\n", "a symmetric matrix D"),
        ("0,1\n1,0\n", "a 3 x 3 matrix D"),
        ("1,2,3\n", "a 1 x 3 matrix"),
    ] {
        std::fs::write(at.join("d.csv"), matrix).expect("writable");
        for call in
            [format!("velocity {usa}"), "energy --tokens x.csv --beta 2 --coupling d.csv".into()]
        {
            let out = run(at, &call);
            assert_eq!(out.status.code(), Some(1), "{call}");
            assert!(text(&out.stderr).contains(reason), "{call}: {}", text(&out.stderr));
        }
    }
    std::fs::write(at.join("d.csv"), FORM).expect("writable");
    let out = run(at, &format!("velocity {usa} --v d.csv"));
    assert!(text(&out.stderr).contains("no q, k, v, o"), "{}", text(&out.stderr));
}

#[test]
fn rows_are_divided_by_weights_of_their_own() {
    let folder = folder();
    let at = folder.path();
    let sa = "--tokens x.csv --dynamics sa --beta 2";
    // Divided by a constant they are USA; by phi itself they are SA.
    let usa = "--tokens x.csv --dynamics usa --beta 2";
    for phi in ["", "--interaction exp(beta*s)"] {
        let known = json(at, &format!("velocity {usa}"));
        let found = json(at, &format!("velocity {sa} {phi} --row-weights 1"));
        near(&found["velocity"], &known["velocity"], 1e-13);
        let known = json(at, &format!("velocity {sa}"));
        let found = json(at, &format!("velocity {sa} {phi} --row-weights exp(beta*s)"));
        near(&found["velocity"], &known["velocity"], 1e-13);
        let known = json(at, &format!("solve {sa} --t-end 0.5"));
        let found = json(at, &format!("solve {sa} {phi} --t-end 0.5 --row-weights exp:beta=2"));
        near(&found["final_tokens"], &known["final_tokens"], 1e-7);
    }
    // An interaction that changes its sign, and its energy, which rises.
    let call = "--tokens x.csv --interaction s^3 --row-weights cosh:k=2";
    let start = json(at, "energy --tokens x.csv --interaction s^3")["energy"].as_f64();
    let end = json(at, &format!("solve {call} --t-end 2"))["energy"].as_f64();
    assert!(end.expect("a number") > start.expect("a number"));
    let toml = "name = 'divided'\nn = 5\nd = 3\nbeta = 1\ndynamics = 'sa'\nt_end = 3\nsamples = 5\n\
        observables = ['energy', 'log-energy', 'grad-norm']\n[model]\ninteraction = 'power:p=3'\n\
        row_weights = ['1', 'exp(beta*s)']\n";
    std::fs::write(at.join("e.toml"), toml).expect("writable");
    assert_eq!(run(at, "run e.toml --out runs").status.code(), Some(0));
    std::fs::write(at.join("m.toml"), "row_weights = 'exp(beta*s)'\n").expect("writable");
    let known = json(at, &format!("velocity {sa}"));
    near(
        &json(at, &format!("velocity {sa} --model m.toml"))["velocity"],
        &known["velocity"],
        1e-13,
    );
    for (call, reason) in [
        (format!("velocity {usa} --row-weights 1"), "whose rows are not divided"),
        (format!("velocity {sa} --row-weights s"), "-1 at s = -1"),
        (format!("velocity {sa} --row-weights s+1"), "0 at s = -1"),
        (format!("velocity {sa} --row-weights exp(bta*s)"), "did you mean `beta`?"),
        (format!("velocity {sa} --row-weights 1 --weights sinkhorn"), "softmax or exponential"),
        ("velocity --tokens x.csv --interaction s --row-weights exp(beta*s)".into(), "beta"),
        (format!("velocity {sa} --interaction s^3"), "--row-weights"),
    ] {
        let out = run(at, &call);
        assert_eq!(out.status.code(), Some(1), "{call}");
        assert!(text(&out.stderr).contains(reason), "{call}: {}", text(&out.stderr));
    }
}

#[test]
fn modes_take_an_interaction_on_the_circle() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("a.csv"), "0\n0.4\n2\n4.5\n").expect("writable");
    let call = "modes --samples a.csv --circle";
    let known = json(at, &format!("{call} --beta 9"));
    for phi in ["--interaction exp:beta=9", "--interaction exp(beta*s) --beta 9"] {
        let found = json(at, &format!("{call} {phi}"));
        assert_eq!((&found["modes"], &found["certified"]), (&known["modes"], &Value::Bool(true)));
        near(&found["locations"], &known["locations"], 1e-10);
    }
    let found = json(at, &format!("{call} --interaction s^2"));
    assert_eq!((found["modes"].as_u64(), &found["beta"]), (Some(2), &Value::Null));
    std::fs::write(at.join("b.csv"), "0\n3.141592653589793\n").expect("writable");
    let out = run(at, "modes --samples b.csv --circle --interaction s --format json");
    assert_eq!(out.status.code(), Some(3));
    let found: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(found["at_least"].as_u64(), Some(0));
    for (call, reason) in [
        ("modes --samples a.csv --interaction s".to_owned(), "samples on the circle"),
        ("modes --samples x.csv --sphere --interaction s".into(), "points of S^2"),
        (format!("{call} --interaction relu"), "a kink at s = 0"),
        (format!("{call} --interaction exp(beta*s)"), "beta"),
        (call.into(), "--beta"),
    ] {
        let out = run(at, &call);
        assert_eq!(out.status.code(), Some(1), "{call}");
        assert!(text(&out.stderr).contains(reason), "{call}: {}", text(&out.stderr));
    }
}

#[test]
fn densities_take_an_interaction() {
    let here = Path::new(".");
    for space in ["circle", "zonal --d 5", "sphere2"] {
        let call = format!("measure --space {space} --density cos:1=0.2 --t-end 0.2 --modes 16");
        for dynamics in ["sa", "usa"] {
            let known = json(here, &format!("{call} --beta 2 --dynamics {dynamics}"));
            let found = format!("{call} --interaction exp(2*s) --dynamics {dynamics}");
            let found = json(here, &found);
            for key in ["negentropy", "negentropy_rate", "energy_above_uniform"] {
                near(&found[key], &known[key], 1e-7);
            }
            // (16 + d + modes) eps of the mean weight, 2.3, those of angles, and those of the rule:
            // its weights and their sum have sqrt(n) eps/(1 - x^2), which at n = 200 is 150 eps on
            // average on the circle, and less where the density vanishes at the poles.
            let most = if space == "circle" { 2e-13 } else { 6e-14 };
            assert!(found["kernel_error"].as_f64().expect("an error") < most);
        }
        let call = format!("{call} --dynamics usa --interaction power:p=2");
        let series = json(here, &call);
        assert_eq!(series["outcome"], "reached", "{space}");
        if space != "circle" {
            let particles = json(here, &format!("{call} --method lagrangian --particles 32"));
            for key in ["negentropy", "negentropy_rate", "energy_above_uniform"] {
                near(&particles[key], &series[key], 1e-6);
            }
        }
    }
    for (call, reason) in [
        ("--dynamics sa --interaction s^3", "not negative"),
        ("--dynamics sinkhorn --interaction cosh", "sa or usa"),
        ("--dynamics usa --interaction cosh --method lagrangian", "spectral, volume or auto"),
    ] {
        let call = format!("measure --space circle --density cos:1=0.2 --t-end 0.2 {call}");
        let out = run(here, &call);
        assert_eq!(out.status.code(), Some(1), "{call}");
        assert!(text(&out.stderr).contains(reason), "{call}: {}", text(&out.stderr));
    }
}

#[test]
fn movies_and_self_tests_know_interactions() {
    let folder = folder();
    let at = folder.path();
    let movie = "movie --dynamics usa --beta 1 --frames 3 --dpi 30";
    let new = format!("{movie} --tokens x.csv --interaction power:p=2 --t-end 10 --out film.gif");
    assert_eq!(run(at, &new).status.code(), Some(0));
    let solve = "solve --tokens x.csv --dynamics usa --beta 1 --interaction power:p=2 --t-end 10 \
                 --out run --observables positions --samples 4";
    assert_eq!(run(at, solve).status.code(), Some(0));
    let again = "movie --from-run run --beta 1 --frames 3 --dpi 30 --out again.gif --force";
    let out = run(at, again);
    assert!(text(&out.stderr).contains("the interaction of the run"), "{}", text(&out.stderr));
    for named in ["--interaction power:p=2", "--observable none"] {
        let out = run(at, &format!("{again} {named}"));
        assert_eq!(out.status.code(), Some(0), "{named}: {}", text(&out.stderr));
    }
    let found = json(at, "check selftest interaction");
    assert_eq!(found["failed"].as_i64(), Some(0), "{found}");
}

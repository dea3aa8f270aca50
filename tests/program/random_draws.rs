//! Random parts of a model: drawn anew in every realisation, or once if a seed is given. Masses by
//! law, models as an axis, overridden keys.

use crate::program::{json, printed, refused};
use crate::snapshot;
use metastable::lab::{Experiment, arrays};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Four tokens on S^2, the same in every realisation.
const TOKENS: &str = "tokens = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0]]\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn write(at: &Path, name: &str, text: &str) {
    std::fs::write(at.join(name), text).expect("writable");
}

fn place(at: &Path, ran: &Value) -> PathBuf {
    at.join(ran["folder"].as_str().expect("a folder"))
}

/// A column of the results of a run, by name.
fn column(folder: &Path, name: &str) -> Vec<f64> {
    let table = arrays::table(&folder.join("results.npy")).expect("numbers with names");
    let k = table
        .columns
        .iter()
        .position(|c| c == name)
        .unwrap_or_else(|| panic!("no column {name} in {:?}", table.columns));
    table.rows.iter().map(|row| row[k]).collect()
}

fn distinct(values: &[f64]) -> usize {
    let mut bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len()
}

fn experiment(model: &str) -> String {
    format!(
        "name = 'heads'\n{TOKENS}beta = 2\nt_end = 1\ntimes = [1]\nrealisations = 6\nobservables = ['positions']\nmerge_radius = 0\n[model]\n{model}\n"
    )
}

#[test]
fn matrices_are_drawn_in_every_realisation_unless_a_seed_is_given() {
    let f = folder();
    let at = f.path();
    write(at, "free.toml", &experiment("q = 'low-rank:rank=1'"));
    write(at, "fixed.toml", &experiment("q = 'low-rank:rank=1,seed=1'"));
    write(at, "fresh.toml", &experiment("v = 'normal:scale=0.5'\nschedule = 'redrawn'"));
    let free = place(at, &json(at, "run free.toml"));
    let seeds = column(&free, "matrix_seed");
    assert_eq!(
        (distinct(&column(&free, "inner_min")), distinct(&seeds)),
        (6, 6),
        "six realisations, six matrices"
    );
    let fixed = place(at, &json(at, "run fixed.toml"));
    assert_eq!(
        distinct(&column(&fixed, "inner_min")),
        1,
        "one matrix for all realisations, and the same tokens"
    );
    assert_eq!(distinct(&column(&place(at, &json(at, "run fresh.toml")), "inner_min")), 6);
    // The seed in the table determines the matrix: a single run with this seed gives the same
    // tokens.
    write(at, "x.csv", "1,0,0\n0,1,0\n0,0,1\n0.6,0.8,0\n");
    let own = format!(
        "solve --tokens x.csv --beta 2 --t-end 1 --merge-radius 0 --q low-rank:rank=1,seed={}",
        seeds[3]
    );
    let expected: Vec<f64> = json(at, &own)["final_tokens"]
        .as_array()
        .expect("rows")
        .iter()
        .flat_map(|r| r.as_array().expect("a row").clone())
        .map(|v| v.as_f64().expect("a number"))
        .collect();
    let cell = std::fs::read_dir(free.join("cells"))
        .expect("cells")
        .flatten()
        .next()
        .expect("a cell")
        .path();
    let table = arrays::read(&cell.join("table.npy"), None).expect("a table");
    let row: Vec<f64> = table.data.chunks(2 + 12).nth(3).expect("realisation 3")[2..].to_vec();
    // The bound is for two runs of the same equation at rtol 1e-10 over a time of 1.
    assert!(row.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-8), "{row:?} {expected:?}");
    // This is reported by the dry run, by the run, in the tables and by `explain`.
    let anew = "q = low-rank:rank=1: drawn anew in every realisation, from the seed in the column matrix_seed";
    let once = "q = low-rank:rank=1,seed=1: one matrix for all realisations, that of the seed 1 in the law";
    assert!(
        printed(at, "run free.toml --dry-run").contains(anew)
            && printed(at, "run free.toml").contains(anew)
    );
    assert!(
        printed(at, "run fixed.toml --dry-run").contains(once)
            && printed(at, "run fixed.toml").contains(once)
    );
    for file in ["results.csv", "cells.csv"] {
        assert!(
            std::fs::read_to_string(free.join(file)).expect(file).contains(&format!("\n# {anew}")),
            "{file}"
        );
        assert!(std::fs::read_to_string(fixed.join(file)).expect(file).contains(once), "{file}");
    }
    for law in ["normal", "symmetric", "low-rank", "rotation"] {
        assert!(
            printed(at, &format!("explain {law}"))
                .contains("every realisation draws another matrix"),
            "{law}"
        );
    }
    // A second run gives the same bytes; another seed of the experiment gives other matrices.
    let again = place(at, &json(at, "run free.toml --out again --threads 1"));
    assert_eq!(
        std::fs::read(again.join("results.npy")).expect("bytes"),
        std::fs::read(free.join("results.npy")).expect("bytes")
    );
    let other = place(at, &json(at, "run free.toml --set seed=2"));
    assert_eq!(distinct(&[column(&other, "matrix_seed"), seeds].concat()), 12);
}

#[test]
fn models_with_and_without_seeds_share_a_table() {
    let f = folder();
    let at = f.path();
    write(at, "both.toml", &experiment("q = [['normal:seed=1'], ['normal']]"));
    let both = place(at, &json(at, "run both.toml"));
    let seeds = column(&both, "matrix_seed");
    assert!(seeds[..6].iter().all(|s| s.is_nan()) && distinct(&seeds[6..]) == 6, "{seeds:?}");
    // A cell does not depend on the other models.
    write(at, "one.toml", &experiment("q = 'normal'"));
    let one = place(at, &json(at, "run one.toml"));
    assert_eq!(column(&one, "inner_min"), column(&both, "inner_min")[6..]);
}

#[test]
fn noise_has_the_seed_of_the_experiment_unless_one_is_given() {
    let f = folder();
    let at = f.path();
    let noisy =
        |noise: &str| experiment(&format!("noise = '{noise}'")).replace("merge_radius = 0\n", "");
    write(at, "free.toml", &noisy("kappa=4,step=0.1"));
    write(at, "fixed.toml", &noisy("kappa=4,step=0.1,seed=1"));
    let ends = |line: &str| column(&place(at, &json(at, line)), "inner_min");
    let (free, fixed) = (ends("run free.toml"), ends("run fixed.toml"));
    assert_eq!((distinct(&free), &free), (6, &fixed), "the seed of an experiment is 1");
    assert_eq!(ends("run fixed.toml --set seed=2"), fixed);
    assert_eq!(distinct(&[ends("run free.toml --set seed=2"), free].concat()), 12);
    assert!(
        printed(at, "run free.toml --set seed=2 --dry-run")
            .contains("noise: drawn anew in every realisation, from the seed 2")
    );
}

#[test]
fn one_run_draws_everything_from_its_seed() {
    let f = folder();
    let at = f.path();
    write(at, "x.csv", "1,0,0\n0,1,0\n0,0,1\n0.6,0.8,0\n");
    let velocity = |flags: &str| json(at, &format!("velocity --tokens x.csv --beta 3 {flags}"));
    let (usual, five) = (velocity("--q normal"), velocity("--q normal --seed 5"));
    assert_eq!(
        usual["velocity"],
        velocity("--q normal:seed=1")["velocity"],
        "the seed is 1 by default"
    );
    assert_eq!(five["velocity"], velocity("--q normal:seed=5")["velocity"]);
    assert_ne!(five["velocity"], usual["velocity"]);
    assert_eq!(
        (&five["model"]["seed"], &usual["model"]["seed"]),
        (&Value::from(5), &Value::from(1)),
        "it is part of the answer"
    );
    refused(
        at,
        "velocity --tokens x.csv --beta 3 --q normal:seed=1 --seed 5",
        "--seed: found --seed beside --tokens",
    );
    let walk = |flags: &str| {
        json(at, &format!("solve --tokens x.csv --beta 3 --t-end 1 {flags}"))["final_tokens"]
            .clone()
    };
    assert_eq!(walk("--noise kappa=9,step=0.1 --seed 4"), walk("--noise kappa=9,step=0.1,seed=4"));
    assert_ne!(walk("--noise kappa=9,step=0.1 --seed 4"), walk("--noise kappa=9,step=0.1"));
    // A wrong value is reported before a missing one.
    for (noise, expected) in [
        ("kappa=-1", "kappa: found -1, expected a positive finite number"),
        ("step=-1", "noise step: found -1, expected a positive finite number"),
        ("kappa=4,seed=x", "noise seed: found x"),
        ("kappa=4", "noise step: found nothing"),
    ] {
        refused(at, &format!("solve --tokens x.csv --beta 3 --t-end 1 --noise {noise}"), expected);
    }
    refused(
        at,
        "velocity --tokens x.csv --beta 3 --q normal:seed=1..3",
        "a range makes an axis in the [model] table of an experiment",
    );
}

#[test]
fn masses_by_law() {
    let f = folder();
    let at = f.path();
    write(
        at,
        "m.csv",
        &(1..=5).map(|i| format!("{}\n", f64::from(i).powf(-0.5))).collect::<String>(),
    );
    let energy = |flags: &str| {
        json(at, &format!("energy --init uniform --n 5 --d 2 --seed 3 --beta 2 {flags}"))["energy"]
            .as_f64()
            .expect("a number")
    };
    let (law, file) = (energy("--masses power:0.5"), energy("--masses m.csv"));
    // The bound is for 25 products of masses with two rounding errors each.
    assert!((law / file - 1.0).abs() < 100.0 * f64::EPSILON, "{law} {file}");
    assert_eq!(energy("--masses power:s=0.5").to_bits(), law.to_bits());
    assert_eq!(
        (energy("--masses uniform").to_bits(), energy("--masses power:0").to_bits()),
        (energy("").to_bits(), energy("").to_bits())
    );
    // Random masses are drawn from the seed, also beside a file of tokens.
    write(at, "x.csv", "1,0,0\n0,1,0\n0,0,1\n0.6,0.8,0\n");
    let drawn = |seed: u32| {
        json(at, &format!("energy --tokens x.csv --beta 2 --masses dirichlet:1 --seed {seed}"))["energy"].clone()
    };
    assert!(drawn(1) == drawn(1) && drawn(1) != drawn(2));
    for (flags, expected) in [
        (
            "--masses powr:1",
            "--masses: found powr:1, expected a file with one mass per token, or a law: dirichlet:A",
        ),
        ("--masses power:-1", "power s: found -1, expected a number in [0, 20]"),
        ("--masses missing.csv", "missing.csv: no such file"),
        ("--masses power:1 --seed 2", "--seed: found --seed beside --tokens"),
    ] {
        refused(at, &format!("energy --tokens x.csv --beta 2 {flags}"), expected);
    }
    assert!(
        printed(at, "list masses").contains("power ")
            && printed(at, "explain power").contains("--masses power:VALUE")
    );
    assert!(printed(at, "explain dirichlet").contains("Drawn anew in every realisation"));
}

#[test]
fn masses_by_law_in_an_experiment() {
    let f = folder();
    let at = f.path();
    let text = |masses: &str| {
        format!(
            "name = 'm'\ninit = 'uniform'\nn = [4, 5]\nd = 2\nbeta = 2\nt_end = 1\ntimes = [0, 1]\nrealisations = 3\nobservables = ['positions', 'masses']\nmasses = {masses}\n"
        )
    };
    write(at, "m.toml", &text("'dirichlet:2'"));
    let ran = json(at, "run m.toml");
    let folder = ran["folder"].as_str().expect("a folder").to_owned();
    let id = ran["cells"][0]["cell"].as_str().expect("an id").to_owned();
    let table = arrays::read(&at.join(&folder).join("cells").join(&id).join("table.npy"), None)
        .expect("a table");
    // Columns: realisation, t, 4 x 2 coordinates, 4 masses.
    let start = |m: usize| table.data.chunks(14).nth(2 * m).expect("a row")[2..].to_vec();
    assert!((0..3).all(|m| (start(m)[8..].iter().sum::<f64>() - 1.0).abs() < 8.0 * f64::EPSILON));
    assert_eq!(
        distinct(&[start(0)[8], start(1)[8], start(2)[8]]),
        3,
        "other masses in every realisation"
    );
    // A frame of a run has the masses of its realisation. The observable sorts them.
    let on = format!(
        "solve --from-run {folder} --frame cell={id},realisation=1,t=0 --beta 2 --t-end 1e-6"
    );
    let mut masses: Vec<f64> = json(at, &on)["final_masses"]
        .as_array()
        .expect("masses")
        .iter()
        .map(|m| m.as_f64().expect("a number"))
        .collect();
    masses.sort_by(|a, b| b.total_cmp(a));
    assert!(
        masses.iter().zip(&start(1)[8..]).all(|(a, b)| (a / b - 1.0).abs() < 4.0 * f64::EPSILON),
        "{masses:?}"
    );
    assert!(
        printed(at, "run m.toml --dry-run")
            .contains("masses = dirichlet:a=2: drawn anew in every realisation")
    );
    json(at, "run m.toml --set masses=power:0.5");
    for (masses, expected) in [
        ("['uniform', 'power:1']", "masses: found `uniform` in a list, expected one law"),
        (
            "'powr:1'",
            "masses: found \"powr:1\", expected a number for each token, or a law: dirichlet:A",
        ),
        ("'power:x'", "power s: found x, expected a number"),
        ("[1, 2]", "masses: found 2 masses, expected one for each of n = 4 tokens"),
    ] {
        write(at, "bad.toml", &text(masses));
        refused(at, "run bad.toml", expected);
    }
}

#[test]
fn ranges_and_lists_of_lists_are_axes_of_models() {
    let f = folder();
    let at = f.path();
    let models = |model: &str| {
        let text = format!("name = 'x'\nn = 4\nd = 3\nbeta = 1\nt_end = 1\n[model]\n{model}\n");
        Experiment::parse("x.toml", &text)
            .map(|e| e.all_models().iter().map(|m| m.label(&e.models)).collect::<Vec<_>>())
    };
    let three =
        ["q=low-rank:rank=1,seed=1", "q=low-rank:rank=1,seed=2", "q=low-rank:rank=1,seed=3"];
    assert_eq!(models("q = 'low-rank:rank=1,seed=1..3'").expect("valid"), three);
    assert_eq!(models("q = [['low-rank:rank=1,seed=1..3']]").expect("valid"), three);
    assert_eq!(
        models("q = ['normal:seed=1..2', 'normal:seed=1..2']").expect("valid").len(),
        4,
        "two heads, four models"
    );
    assert_eq!(
        models("norm = ['post', 'mix:tau=0.5..1:lin2']").expect("valid"),
        ["norm=post", "norm=mix:tau=0.5", "norm=mix:tau=1"]
    );
    assert_eq!(models("mask = 'window:w=1..4'").expect("valid").len(), 4);
    assert!(
        models("q = 'normal:seed=1..1000000'")
            .expect_err("too many")
            .to_string()
            .contains("line 7: q: found")
    );
    let message = models("q = 'normal:seed=3..1'").expect_err("backwards").to_string();
    assert!(message.contains("expected a number, or a range \"a..b:linK\", \"a..b:logK\" or \"a..b\" of whole numbers a < b"), "{message}");
    // Wrong forms are refused with the right form.
    let head = "name = 'x'\nn = 4\nd = 3\nbeta = 1\nt_end = 1\n";
    for (model, found) in [
        ("[[model]]\nnorm = 'pre'\n[[model]]\nnorm = 'post'\n", "list of 2 items"),
        ("model = ['a.toml', 'b.toml']\n", "list of 2 items"),
    ] {
        write(at, "x.toml", &format!("{head}{model}"));
        let message = refused(at, "run x.toml", found);
        assert!(
            message.contains("norm = [\"post\", \"pre\"]")
                && message.contains("q = [[\"a.csv\"], [\"b.csv\"]]"),
            "{message}"
        );
    }
    assert!(printed(at, "explain model").contains("q = [[\"a.csv\"], [\"b.csv\"]]"));
    assert!(printed(at, "list columns").contains("metastable explain model"));
}

#[test]
fn wrong_numbers_and_keys_are_refused_with_the_right_form() {
    let problem = |text: &str| Experiment::parse("x.toml", text).expect_err("wrong").to_string();
    let message = problem("name = 'x'\nn = 'a'\nd = 3\nbeta = 1\nt_end = 1\n");
    assert_eq!(
        message,
        "x.toml, line 2: n: found the string \"a\", expected a number, or a range \"a..b:linK\", \"a..b:logK\" or \"a..b\" of whole numbers a < b, or a list of these separated by commas"
    );
    assert!(
        problem("name = 'x'\nn = '4'\nd = 3\nbeta = 1\nt_end = 1\n")
            .contains("write numbers without quotes")
    );
    let message = problem("name = 'x'\nn = 4\nd = 3\nt_end = 1\n[model]\nnorm = 'pre'\nbeta = 2\n");
    assert!(
        message
            .contains("line 7: unknown key `beta` in [model]; it belongs above the line [model]"),
        "{message}"
    );
    let message = problem("name = 'x'\nn = 4\nd = 3\nbeta = 1\nt_end = 1\nq = 'normal'\n");
    assert!(
        message.contains("line 6: unknown key `q`; did you mean `model.q`, a key of [model]?"),
        "{message}"
    );
    let whole = Experiment::parse("x.toml", "name = 'x'\nn = '2..5'\nd = 3\nbeta = 1\nt_end = 1\n")
        .expect("valid");
    assert_eq!(whole.n, [2, 3, 4, 5]);
}

#[test]
fn every_key_can_be_overridden() {
    let f = folder();
    let at = f.path();
    let head = "name = 'x'\nn = [4,\n  6] # two\nd = 3\nbeta = 5\nt_end = 1\n";
    write(
        at,
        "table.toml",
        &format!("{head}[model]\nnorm = 'post'\nq = [\n  'normal:seed=1',\n]\n"),
    );
    write(at, "dotted.toml", &format!("{head}model.norm = 'post'\n"));
    write(at, "none.toml", head);
    write(at, "m.toml", "norm = 'pre'\n");
    write(at, "file.toml", &format!("{head}model = 'm.toml'\nobservables = ['clusters']\n"));
    let with_overrides = |file: &str, changes: &[(&str, &str)]| {
        let changes: Vec<_> =
            changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Experiment::with_overrides(&at.join(file).display().to_string(), &changes)
            .map(|e| (e.model.to_text(), e.n.clone(), e.beta.clone()))
    };
    let normal = || "norm=post; q=rotation:seed=4".to_owned();
    assert_eq!(
        with_overrides("table.toml", &[("model.q", "rotation:seed=4")]),
        Ok((normal(), vec![4, 6], vec![5.0]))
    );
    assert_eq!(
        with_overrides("dotted.toml", &[("model.q", "rotation:seed=4"), ("n", "3")]),
        Ok((normal(), vec![3], vec![5.0]))
    );
    assert_eq!(
        with_overrides("none.toml", &[("model.q", "normal"), ("beta", "1..2:lin2")]),
        Ok(("q=normal".into(), vec![4, 6], vec![1.0, 2.0]))
    );
    assert_eq!(
        with_overrides("table.toml", &[("model", "m.toml"), ("observables", "clusters")])
            .expect("valid")
            .0,
        "norm=pre"
    );
    assert_eq!(
        with_overrides("table.toml", &[("model.q", "[\"normal:seed=1\", \"normal:seed=2\"]")])
            .expect("valid")
            .0,
        "norm=post; q=normal:seed=1+normal:seed=2"
    );
    // An error names the override, or the right line of the file.
    snapshot::refusals("random_draws", at, &[]);
    write(at, "wrong.toml", &format!("{head}betta = 3\n"));
    refused(
        at,
        "run wrong.toml --set n=3",
        "wrong.toml, line 7: unknown key `betta`; did you mean `beta`?",
    );
}

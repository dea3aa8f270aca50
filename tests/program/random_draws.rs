//! Random parts of a model: drawn anew in every realisation, or once if a seed is given. Masses by
//! law, models as an axis, overridden keys.

use crate::program::{Place, entries, number, numbers, words};
use crate::snapshot;
use metastable::lab::{Experiment, arrays};
use std::path::{Path, PathBuf};

/// Four tokens on S^2, the same in every realisation.
const TOKENS: &str = "tokens = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0]]\n";

/// A folder with these tokens.
fn folder() -> Place {
    Place::with(&[("x.csv", "1,0,0\n0,1,0\n0,0,1\n0.6,0.8,0\n")])
}

/// Where the results of a call are.
fn ran(at: &Place, call: &str) -> PathBuf {
    at.results(&at.json(&format!("run {call}")))
}

/// A column of the results of a run, by name.
fn column(folder: &Path, name: &str) -> Vec<f64> {
    let table = arrays::table(&folder.join("results.npy")).expect("numbers with names");
    let known = table.columns.iter().position(|c| c == name);
    let k = known.unwrap_or_else(|| panic!("no column {name} in {:?}", table.columns));
    table.rows.iter().map(|row| row[k]).collect()
}

fn distinct(values: &[f64]) -> usize {
    let mut bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len()
}

/// Six realisations of the tokens.
fn experiment(keys: &str, model: &str) -> String {
    format!(
        "name = 'heads'\n{TOKENS}beta = 2\nt_end = 1\ntimes = [1]\nrealisations = 6\n\
         observables = ['positions']\n{keys}[model]\n{model}\n"
    )
}

#[test]
fn matrices_are_drawn_in_every_realisation_unless_a_seed_is_given() {
    let at = folder();
    for (name, model) in [
        ("free", "q = 'low-rank:rank=1'"),
        ("fixed", "q = 'low-rank:rank=1,seed=1'"),
        ("fresh", "v = 'normal:scale=0.5'\nschedule = 'redrawn'"),
    ] {
        at.write(&format!("{name}.toml"), experiment("merge_radius = 0\n", model));
    }
    let [free, fixed, fresh] =
        ["free", "fixed", "fresh"].map(|name| ran(&at, &format!("{name}.toml")));
    let counts = [&free, &fixed, &fresh].map(|folder| distinct(&column(folder, "inner_min")));
    assert_eq!(counts, [6, 1, 6], "six matrices, one matrix for all realisations, six");
    let seeds = column(&free, "matrix_seed");
    assert_eq!(distinct(&seeds), 6);
    // The seed in the table determines the matrix: a single run with this seed gives the same
    // tokens.
    let own = "solve --tokens x.csv --beta 2 --t-end 1 --merge-radius 0";
    let own = at.json(&format!("{own} --q low-rank:rank=1,seed={}", seeds[3]));
    let expected = numbers(&own["final_tokens"]);
    let cell = &entries(&free.join("cells"))[0];
    let table = arrays::read(&cell.join("table.npy"), None).expect("a table");
    let row = &table.data.chunks(2 + 12).nth(3).expect("realisation 3")[2..];
    // The bound is for two runs of the same equation at rtol 1e-10 over a time of 1.
    assert!(row.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-8), "{row:?} {expected:?}");
    // This is reported by the dry run, by the run, in the tables and by `explain`.
    for (name, folder, note) in [
        ("free", &free, "q = low-rank:rank=1: drawn anew in every realisation"),
        ("fixed", &fixed, "q = low-rank:rank=1,seed=1: one matrix for all realisations"),
    ] {
        for dry in ["", "--dry-run"] {
            assert!(at.printed(&format!("run {name}.toml {dry}")).contains(note), "{name} {dry}");
        }
        for file in ["results.csv", "cells.csv"] {
            let table = at.read(folder.join(file));
            let said = table.lines().any(|l| l.starts_with('#') && l.contains(note));
            assert!(said, "{name} {file}");
        }
    }
    for law in ["normal", "symmetric", "low-rank", "rotation"] {
        let text = at.printed(&format!("explain {law}"));
        assert!(text.contains("every realisation draws another matrix"), "{law}");
    }
    // A second run gives the same bytes; another seed of the experiment gives other matrices.
    let again = ran(&at, "free.toml --out again --threads 1");
    let bytes = |folder: &Path| std::fs::read(folder.join("results.npy")).expect("bytes");
    assert_eq!(bytes(&again), bytes(&free));
    let other = ran(&at, "free.toml --set seed=2");
    assert_eq!(distinct(&[column(&other, "matrix_seed"), seeds].concat()), 12);
}

#[test]
fn models_with_and_without_seeds_share_a_table() {
    let at = folder();
    let of = |model: &str| {
        at.write("e.toml", experiment("merge_radius = 0\n", model));
        ran(&at, "e.toml")
    };
    let both = of("q = [['normal:seed=1'], ['normal']]");
    let seeds = column(&both, "matrix_seed");
    assert!(seeds[..6].iter().all(|s| s.is_nan()) && distinct(&seeds[6..]) == 6, "{seeds:?}");
    // A cell does not depend on the other models.
    assert_eq!(column(&of("q = 'normal'"), "inner_min"), column(&both, "inner_min")[6..]);
}

#[test]
fn noise_has_the_seed_of_the_experiment_unless_one_is_given() {
    let at = folder();
    at.write("free.toml", experiment("", "noise = 'kappa=4,step=0.1'"));
    at.write("fixed.toml", experiment("", "noise = 'kappa=4,step=0.1,seed=1'"));
    let ends = |call: &str| column(&ran(&at, call), "inner_min");
    let (free, fixed) = (ends("free.toml"), ends("fixed.toml"));
    assert_eq!((distinct(&free), &free), (6, &fixed), "the seed of an experiment is 1");
    assert_eq!(ends("fixed.toml --set seed=2"), fixed);
    assert_eq!(distinct(&[ends("free.toml --set seed=2"), free].concat()), 12);
    let planned = at.printed("run free.toml --set seed=2 --dry-run");
    assert!(planned.contains("noise: drawn anew in every realisation, from the seed 2"));
}

#[test]
fn one_run_draws_everything_from_its_seed() {
    let at = folder();
    let velocity = |flags: &str| at.json(&format!("velocity --tokens x.csv --beta 3 {flags}"));
    let (usual, five) = (velocity("--q normal"), velocity("--q normal --seed 5"));
    // The seed is 1 by default, and part of the answer.
    assert_eq!(usual["velocity"], velocity("--q normal:seed=1")["velocity"]);
    assert_eq!(five["velocity"], velocity("--q normal:seed=5")["velocity"]);
    assert_ne!(five["velocity"], usual["velocity"]);
    assert!(five["model"]["seed"] == 5 && usual["model"]["seed"] == 1, "{usual}");
    let solve = |noise: &str| format!("solve --tokens x.csv --beta 3 --t-end 1 --noise {noise}");
    let walk = |noise: &str| at.json(&solve(noise))["final_tokens"].clone();
    assert_eq!(walk("kappa=9,step=0.1 --seed 4"), walk("kappa=9,step=0.1,seed=4"));
    assert_ne!(walk("kappa=9,step=0.1 --seed 4"), walk("kappa=9,step=0.1"));
    // A wrong value is reported before a missing one.
    for (noise, expected) in [
        ("kappa=-1", "kappa: found -1, expected a positive finite number"),
        ("step=-1", "noise step: found -1, expected a positive finite number"),
        ("kappa=4,seed=x", "noise seed: found x"),
        ("kappa=4", "noise step: found nothing"),
    ] {
        at.refused(&solve(noise), expected);
    }
    let call = "velocity --tokens x.csv --beta 3 --q";
    at.refused(&format!("{call} normal:seed=1 --seed 5"), "--seed: found --seed beside --tokens");
    at.refused(&format!("{call} normal:seed=1..3"), "a range makes an axis in the [model] table");
}

#[test]
fn masses_by_law() {
    let at = folder();
    let rows = (1..=5).map(|i| format!("{}\n", f64::from(i).powf(-0.5)));
    at.write("m.csv", rows.collect::<String>());
    let energy = |flags: &str| {
        let call = "energy --init uniform --n 5 --d 2 --seed 3 --beta 2";
        number(&at.json(&format!("{call} {flags}"))["energy"])
    };
    let (law, file) = (energy("--masses power:0.5"), energy("--masses m.csv"));
    // The bound is for 25 products of masses with two rounding errors each.
    assert!((law / file - 1.0).abs() < 100.0 * f64::EPSILON, "{law} {file}");
    let equal = energy("").to_bits();
    for (flags, bits) in [("power:s=0.5", law.to_bits()), ("uniform", equal), ("power:0", equal)] {
        assert_eq!(energy(&format!("--masses {flags}")).to_bits(), bits, "{flags}");
    }
    // Random masses are drawn from the seed, also beside a file of tokens.
    let call = "energy --tokens x.csv --beta 2 --masses";
    let drawn = |seed: u32| at.json(&format!("{call} dirichlet:1 --seed {seed}"))["energy"].clone();
    assert!(drawn(1) == drawn(1) && drawn(1) != drawn(2));
    for (masses, expected) in [
        (
            "powr:1",
            "--masses: found powr:1, expected a file, a list of numbers and intervals a..b, or a law: dirichlet:A",
        ),
        ("power:-1", "power s: found -1, expected a number in [0, 20]"),
        ("missing.csv", "missing.csv: no such file"),
        ("power:1 --seed 2", "--seed: found --seed beside --tokens"),
    ] {
        at.refused(&format!("{call} {masses}"), expected);
    }
    for (line, part) in [
        ("list masses", "power "),
        ("explain power", "--masses power:VALUE"),
        ("explain dirichlet", "Drawn anew in every realisation"),
    ] {
        assert!(at.printed(line).contains(part), "{line}");
    }
}

#[test]
fn masses_by_law_in_an_experiment() {
    let at = folder();
    let of = |masses: &str| {
        let text = format!(
            "name = 'm'\ninit = 'uniform'\nn = [4, 5]\nd = 2\nbeta = 2\nt_end = 1\ntimes = [0, 1]\n\
             realisations = 3\nobservables = ['positions', 'masses']\nmasses = {masses}\n"
        );
        at.write("m.toml", text);
        "run m.toml"
    };
    let ran = at.json(of("'dirichlet:2'"));
    let (folder, id) = (words(&ran["folder"]), words(&ran["cells"][0]["cell"]));
    let table = at.join(format!("{folder}/cells/{id}/table.npy"));
    let table = arrays::read(&table, None).expect("a table");
    // Columns: realisation, t, 4 x 2 coordinates, 4 masses.
    let start = |m: usize| &table.data.chunks(14).nth(2 * m).expect("a row")[10..];
    assert!((0..3).all(|m| (start(m).iter().sum::<f64>() - 1.0).abs() < 8.0 * f64::EPSILON));
    assert_eq!(distinct(&[0, 1, 2].map(|m| start(m)[0])), 3, "other masses in every realisation");
    // A frame of a run has the masses of its realisation. The observable sorts them.
    let frame = format!("--from-run {folder} --frame cell={id},realisation=1,t=0");
    let on = at.json(&format!("solve {frame} --beta 2 --t-end 1e-6"));
    let mut masses = numbers(&on["final_masses"]);
    masses.sort_by(|a, b| b.total_cmp(a));
    let near = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 4.0 * f64::EPSILON;
    assert!(masses.iter().zip(start(1)).all(near), "{masses:?}");
    let planned = at.printed("run m.toml --dry-run");
    assert!(planned.contains("masses = dirichlet:a=2: drawn anew in every realisation"));
    at.json("run m.toml --set masses=power:0.5");
    for (masses, expected) in [
        ("['uniform', 'power:1']", "masses: found `uniform` in a list, expected one law"),
        ("'powr:1'", "masses: found \"powr:1\", expected a number for each token, or a law"),
        ("'power:x'", "power s: found x, expected a number"),
        ("[1, 2]", "masses: found 2 masses, expected one for each of n = 4 tokens"),
    ] {
        at.refused(of(masses), expected);
    }
}

/// An experiment with these keys, or what is wrong.
fn parsed(text: &str) -> Result<Experiment, String> {
    Experiment::parse("x.toml", text).map_err(|e| e.to_string())
}

const HEAD: &str = "name = 'x'\nn = 4\nd = 3\nbeta = 1\nt_end = 1\n";

#[test]
fn ranges_and_lists_of_lists_are_axes_of_models() {
    let at = folder();
    let models = |model: &str| {
        parsed(&format!("{HEAD}[model]\n{model}\n"))
            .map(|e| e.all_models().iter().map(|m| m.label(&e.models)).collect::<Vec<_>>())
    };
    let three = [1, 2, 3].map(|seed| format!("q=low-rank:rank=1,seed={seed}"));
    for model in ["q = 'low-rank:rank=1,seed=1..3'", "q = [['low-rank:rank=1,seed=1..3']]"] {
        assert_eq!(models(model).expect("valid"), three);
    }
    let norms = models("norm = ['post', 'mix:tau=0.5..1:lin2']").expect("valid");
    assert_eq!(norms, ["norm=post", "norm=mix:tau=0.5", "norm=mix:tau=1"]);
    // Two heads, four models.
    for model in ["q = ['normal:seed=1..2', 'normal:seed=1..2']", "mask = 'window:w=1..4'"] {
        assert_eq!(models(model).expect("valid").len(), 4, "{model}");
    }
    let message = models("q = 'normal:seed=1..1000000'").expect_err("too many");
    assert!(message.contains("line 7, column 5: q: found"), "{message}");
    let message = models("q = 'normal:seed=3..1'").expect_err("backwards");
    assert!(message.contains("\"a..b\" of whole numbers a < b"), "{message}");
    // Wrong forms are refused with the right form.
    let right = "q = [[\"a.csv\"], [\"b.csv\"]]";
    for model in
        ["[[model]]\nnorm = 'pre'\n[[model]]\nnorm = 'post'\n", "model = ['a.toml', 'b.toml']\n"]
    {
        at.write("x.toml", format!("{HEAD}{model}"));
        let message = at.refused("run x.toml", "list of 2 items");
        let both = message.contains("norm = [\"post\", \"pre\"]") && message.contains(right);
        assert!(both, "{message}");
    }
    assert!(at.printed("explain model").contains(right));
    assert!(at.printed("list columns").contains("metastable explain model"));
}

#[test]
fn wrong_numbers_and_keys_are_refused_with_the_right_form() {
    for (text, expected) in [
        (
            HEAD.replace("n = 4", "n = 'a'"),
            "x.toml, line 2, column 5: n: found the string \"a\", expected a number, or a range \"a..b:linK\", \"a..b:logK\" or \"a..b\" of whole numbers a < b, or a list of these separated by commas",
        ),
        (HEAD.replace("n = 4", "n = '4'"), "write numbers without quotes"),
        (
            HEAD.replace("beta = 1\n", "") + "[model]\nnorm = 'pre'\nbeta = 2\n",
            "line 7, column 1: unknown key `beta` in [model]; it belongs above the line [model]",
        ),
        (
            format!("{HEAD}q = 'normal'\n"),
            "line 6, column 1: unknown key `q`; did you mean `model.q`, a key of [model]?",
        ),
    ] {
        let message = parsed(&text).expect_err("wrong");
        assert!(message.contains(expected), "{message}");
    }
    let whole = parsed(&HEAD.replace("n = 4", "n = '2..5'")).expect("valid");
    assert_eq!(whole.n, [2, 3, 4, 5]);
}

#[test]
fn every_key_can_be_overridden() {
    let at = folder();
    let head = "name = 'x'\nn = [4,\n  6] # two\nd = 3\nbeta = 5\nt_end = 1\n";
    for (name, text) in [
        ("table", "[model]\nnorm = 'post'\nq = [\n  'normal:seed=1',\n]\n"),
        ("dotted", "model.norm = 'post'\n"),
        ("none", ""),
        ("file", "model = 'm.toml'\nobservables = ['clusters']\n"),
        ("wrong", "betta = 3\n"),
    ] {
        at.write(&format!("{name}.toml"), format!("{head}{text}"));
    }
    at.write("m.toml", "norm = 'pre'\n");
    let q = ("model.q", "rotation:seed=4");
    for (file, changes, model, n, beta) in [
        ("table", &[q][..], "norm=post; q=rotation:seed=4", &[4, 6][..], &[5.0][..]),
        ("dotted", &[q, ("n", "3")], "norm=post; q=rotation:seed=4", &[3], &[5.0]),
        ("none", &[("model.q", "normal"), ("beta", "1..2:lin2")], "q=normal", &[4, 6], &[1.0, 2.0]),
        ("table", &[("model", "m.toml"), ("observables", "clusters")], "norm=pre", &[4, 6], &[5.0]),
        (
            "table",
            &[("model.q", "[\"normal:seed=1\", \"normal:seed=2\"]")],
            "norm=post; q=normal:seed=1+normal:seed=2",
            &[4, 6],
            &[5.0],
        ),
    ] {
        let changes: Vec<_> =
            changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let path = at.join(format!("{file}.toml")).display().to_string();
        let e = Experiment::with_overrides(&path, &changes).expect("valid");
        assert_eq!((&e.model.to_text()[..], &e.n[..], &e.beta[..]), (model, n, beta), "{file}");
    }
    // An error names the override, or the right line of the file.
    snapshot::refusals("random_draws", &at, &[]);
    at.refused("run wrong.toml --set n=3", "wrong.toml, line 7, column 1: unknown key `betta`");
}

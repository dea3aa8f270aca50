//! What is written: results with every axis, time lines as asked, differences of runs, provenance of figures, flags that would do nothing.

#[path = "common/program.rs"]
mod program;

use program::{json, run};
use std::path::Path;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tokens.csv"), "1,0\n0.6,0.8\n0,-1\n").expect("writable");
    folder
}

/// Exit code 1, this sentence, and nothing else.
fn refused(at: &Path, arguments: &str, expected: &str) {
    let out = run(at, arguments);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(1) && said.contains(expected) && out.stdout.is_empty(), "{arguments}: {said}");
}

#[test]
fn results_say_what_they_are() {
    let f = folder();
    let at = f.path();
    let text = "name='axes'\ndynamics=['sa','usa']\ninit=['uniform','cap:radius=0.4']\nn=[4,6]\nd=2\nbeta=1\nt_end=1e4\nrealisations=3\nobservables=['pair-share']\n";
    std::fs::write(at.join("axes.toml"), text).expect("writable");
    let ran = json(at, "run axes.toml");
    let folder = at.join(ran["folder"].as_str().expect("a folder"));
    let csv = std::fs::read_to_string(folder.join("results.csv")).expect("results");
    let lines: Vec<&str> = csv.lines().filter(|l| !l.starts_with('#')).collect();
    assert!(lines[0].starts_with("cell,dynamics,init,n,d,beta,eta,realisation,outcome,t,t_one_cluster,"), "{}", lines[0]);
    assert_eq!(lines.len(), 1 + 8 * 3);
    assert!(lines.iter().any(|l| l.contains(",usa,\"cap:radius=0.4\",6,2,1,0,2,reached,10000,")), "{csv}");
    for column in lines[0].split(',') {
        assert!(csv.contains(&format!("\n# {column}: ")), "no meaning of {column}");
        assert!(json(at, "list columns")["columns"].as_array().expect("a list").iter().any(|c| c["name"] == column), "{column}");
    }
    assert!(csv.contains("dynamics 0 = sa, 1 = usa; init 0 = uniform, 1 = cap:radius=0.4; outcome 0 = reached"));
    // Every row names its folder, and the time of the last merger is one of its own run.
    for line in &lines[1..] {
        assert!(folder.join("cells").join(line.split(',').next().expect("a cell")).is_dir());
    }
    let table = arrays_of(&folder.join("results.npy"));
    let columns = lines[0].split(',').count();
    assert_eq!(table.len(), columns * 24);
    let formed: Vec<f64> = table.chunks(columns).map(|r| r[10]).collect();
    assert!(formed.iter().all(|t| t.is_nan() || (*t > 0.0 && *t < 1e4)) && formed.iter().any(|t| t.is_finite()), "{formed:?}");
    let merged = |r: &&[f64]| r[10].is_finite();
    assert!(table.chunks(columns).filter(merged).all(|r| r[13] as usize + 1 == r[3] as usize), "one cluster is n - 1 mergers");
    let cells = std::fs::read_to_string(folder.join("cells.csv")).expect("cells");
    assert_eq!(cells.lines().filter(|l| !l.starts_with('#')).count(), 1 + 8);
    assert_eq!(ran["cells"][7]["dynamics"], "usa");
    assert!(ran["cells"][7]["cell"].as_str().is_some_and(|id| folder.join("cells").join(id).is_dir()));
    let printed = String::from_utf8_lossy(&run(at, "run axes.toml").stdout).into_owned();
    assert!(printed.contains("dynamics") && printed.contains("median t_one") && printed.contains("cap:radius=0.4"), "{printed}");
}

/// The numbers of an array, whatever they are.
fn arrays_of(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).expect("an array");
    npyz::NpyFile::new(&bytes[..]).and_then(npyz::NpyFile::into_vec).expect("an array")
}

#[test]
fn solve_writes_what_is_asked() {
    let f = folder();
    let at = f.path();
    let columns = |folder: &str| -> (String, usize) {
        let text = std::fs::read_to_string(at.join(folder).join("timeline.csv")).expect("a time line");
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        (lines[0].to_owned(), lines.len() - 1)
    };
    json(at, "solve --tokens tokens.csv --beta 1 --t-end 2 --out a --observables positions,clusters --times 0,0.5,2");
    assert_eq!(columns("a"), ("t,x_0_0,x_0_1,x_1_0,x_1_1,x_2_0,x_2_1,clusters".to_owned(), 3));
    json(at, "solve --tokens tokens.csv --beta 1 --t-end 2 --out b --samples 11");
    assert_eq!(columns("b"), ("t,log_energy,clusters,inner_min,inner_max".to_owned(), 11));
    let c = json(at, "solve --tokens tokens.csv --beta 1 --t-end 1e6 --out c");
    assert!(columns("c").1 as u64 <= c["stats"]["steps"].as_u64().expect("steps") + 1, "at ends of steps");
    let mergers = std::fs::read_to_string(at.join("c/mergers.csv")).expect("mergers");
    assert_eq!(mergers.lines().filter(|l| !l.starts_with('#')).count() - 1, c["merges"].as_array().expect("mergers").len());
    for (flags, expected) in [
        ("--out d --observables clustres", "did you mean `clusters`"),
        ("--out d --times 3", "times in [0, 2]"),
        ("--out d --times 1,0.5", "ascending"),
        ("--out d --samples 1", "from 2 to"),
        ("--samples 5", "--out"),
        ("--observables clusters", "--out"),
        ("--out d --samples 5 --log-from 3", "a positive time below"),
    ] {
        let out = run(at, &format!("solve --tokens tokens.csv --beta 1 --t-end 2 {flags}"));
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(1) && said.contains(expected), "{flags}: {said}");
        assert!(!at.join("d").exists(), "{flags} left a folder");
    }
}

#[test]
fn two_runs_side_by_side() {
    let f = folder();
    let at = f.path();
    for (name, flags) in [("a", "--beta 1"), ("b", "--beta 1"), ("c", "--beta 1.5")] {
        json(at, &format!("solve --tokens tokens.csv {flags} --t-end 2 --samples 5 --out {name}"));
    }
    let same = json(at, "diff a b");
    assert!(same["equal"] == true && same["tables"].as_array().is_some_and(|t| t.len() == 3), "{same}");
    let other = json(at, "diff a c");
    assert_eq!(other["settings"], serde_json::json!([["beta", 1.0, 1.5]]));
    let line = other["tables"].as_array().expect("tables").iter().find(|t| t["name"] == "timeline.npy").expect("a time line").clone();
    assert!(line["ulps"].as_u64().is_some_and(|u| u > 1000) && line["relative"].as_f64().is_some_and(|r| r > 1e-3), "{line}");
    assert!(String::from_utf8_lossy(&run(at, "diff a c").stdout).contains("beta: 1.0 | 1.5"));
    assert_eq!(json(at, "diff a/timeline.npy b/timeline.npy")["equal"], true);
    let wrong = run(at, "diff a .");
    assert_eq!((wrong.status.code(), String::from_utf8_lossy(&wrong.stderr).contains("expected a folder of")), (Some(1), true));
}

#[test]
fn an_experiment_runs_with_other_values_and_says_so() {
    let f = folder();
    let at = f.path();
    let own = "name = 'own'\nn = [4,\n  6]\nd = 2\nbeta = 5\nt_end = 10\nsamples = 5\nobservables = ['order-parameter']\n";
    std::fs::write(at.join("own.toml"), own).expect("written");
    let answer = json(at, "run own.toml --set n=3 --set beta=1..4:lin4 --set init=cap:radius=1");
    let cells = answer["cells"].as_array().expect("cells");
    assert_eq!(cells.iter().map(|c| c["beta"].as_f64().expect("a number")).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    assert!(cells.iter().all(|c| c["n"] == 3 && c["init"] == "cap:radius=1"), "{answer}");
    let folder = answer["folder"].as_str().expect("a folder");
    let block = json(at, &format!("whence {folder}/results.csv"));
    let line = block["reproduce"].as_str().expect("a line");
    assert_eq!(line, "metastable run own.toml --set n=3 --set beta=1..4:lin4 --set init=cap:radius=1");
    let again = json(at, &format!("{} --dry-run", line.trim_start_matches("metastable ")));
    assert_eq!((&again["finished"], &again["folder"]), (&serde_json::json!(4), &answer["folder"]), "the line that reproduces it finds it");
    for (arguments, expected) in [
        ("run own.toml --set betta=3", "unknown key `betta`; did you mean `beta`?"),
        ("run own.toml --set n", "--set: found n, expected KEY=VALUE"),
        ("run own.toml --set n=four", "own.toml, --set n=four: n: found the string"),
        ("run metastability --set n=-3", "experiments/metastability.toml, --set n=-3: n: found -3"),
    ] {
        refused(at, arguments, expected);
    }
}

#[test]
fn cells_of_another_grid_are_taken_over_and_damaged_ones_are_not() {
    let (f, g) = (folder(), folder());
    let own = "name = 'grid'\nn = 6\nd = 2\nbeta = [1, 3]\nt_end = 10\nsamples = 5\nrealisations = 3\n";
    [&f, &g].into_iter().for_each(|f| std::fs::write(f.path().join("grid.toml"), own).expect("written"));
    let said = |at: &Path, arguments: &str| {
        let out = run(at, &format!("{arguments} --format json"));
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        (at.join(answer["folder"].as_str().expect("a folder")), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (first, alone) = said(f.path(), "run grid.toml");
    assert!(!alone.contains("taken over"), "{alone}");
    // One more value: two of three cells are there, as a dry run says before.
    let planned = run(f.path(), "run grid.toml --set beta=1,2,3 --dry-run");
    let planned = String::from_utf8_lossy(&planned.stdout).into_owned();
    assert!(planned.contains("3 cells, 0 finished, 2 to take over from other runs") && planned.matches(" to do").count() == 1, "{planned}");
    let (second, note) = said(f.path(), "run grid.toml --set beta=1,2,3");
    assert!(note.contains("2 of 3 cells are taken over from runs of grid with other values on its axes"), "{note}");
    let (fresh, _) = said(g.path(), "run grid.toml --set beta=1,2,3");
    for file in ["results.csv", "results.npy", "cells.csv"] {
        assert_eq!(std::fs::read(second.join(file)).expect(file), std::fs::read(fresh.join(file)).expect(file), "{file}");
    }
    // What decides numbers is no axis: nothing is taken over.
    assert!(!said(f.path(), "run grid.toml --set seed=5").1.contains("taken over"));
    // A damaged cell is computed again.
    for folder in [&first, &second] {
        let cell = std::fs::read_dir(folder.join("cells")).expect("cells").flatten().map(|e| e.path().join("table.npy"));
        cell.for_each(|file| std::fs::write(file, b"damage").expect("written"));
    }
    let (third, note) = said(f.path(), "run grid.toml --set beta=1,2,3,4");
    assert!(!note.contains("taken over"), "{note}");
    assert!(std::fs::read_to_string(third.join("results.csv")).expect("results").lines().filter(|l| l.contains(",sa,")).count() == 12);
}

#[test]
fn figures_of_ones_own_file_name_it_and_others_take_none() {
    let f = folder();
    let at = f.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/minilm_hidden_states.npz");
    std::fs::copy(&source, at.join("model.npz")).expect("copied");
    json(at, "figure layer-entropy --tokens model.npz --array hidden_states --out figures");
    let block = json(at, "whence figures/layer-entropy.csv");
    let hash = metastable::lab::provenance::hash(std::fs::read(&source).expect("committed"));
    assert!(block["what"].as_str().is_some_and(|w| w.contains("model.npz") && w.contains("hidden_states") && w.contains(&hash)), "{block}");
    assert_ne!(block["config_hash"], metastable::lab::provenance::hash(""));
    for (arguments, expected) in [
        ("figure staircase --tokens model.npz", "--tokens: found model.npz for `staircase`"),
        ("figure staircase --tokens missing.npz", "--tokens: found"),
        ("figure layer-entropy --array hidden_states", "--array: found hidden_states"),
        ("figure saddle-kernel --out f.eps", "--out: found f.eps, expected a folder, or a file that ends in .pdf"),
        ("figure saddle-kernel --full", "--full: found --full for `saddle-kernel`"),
        ("list --markdown dynamics", "--markdown"),
        ("predict gamma --n 1e9 --beta 1 --times 1", "--n: found 1e9, expected a whole number"),
        ("energy --tokens tokens.csv --beta two", "--beta: found two, expected a number"),
        ("predict wendel --n 4 --d 2 --time-scale u2", "--time-scale: found u2, expected none"),
        ("solve --tokens tokens.csv --n 4 --beta 1 --t-end 1", "--n: found --n beside --tokens"),
    ] {
        refused(at, arguments, expected);
    }
}

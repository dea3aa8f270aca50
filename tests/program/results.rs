//! Written files: results with every axis, timelines, differences of runs, provenance, reused
//! cells.

use crate::program::{
    Place, entries, files_below, items, number, object, rows, successful, text, words,
};
use crate::snapshot;
use metastable::flow::Table;
use metastable::lab::{arrays, snapshot::FrameChoice};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> Place {
    Place::with(&[("tokens.csv", "1,0\n0.6,0.8\n0,-1\n")])
}

/// The table in a file.
fn table(path: &Path) -> Table {
    arrays::table(path).expect("a table")
}

/// A table of these columns.
fn of(columns: &[&str], rows: &[&[f64]]) -> Table {
    let columns = columns.iter().map(|c| (*c).to_owned()).collect();
    Table { columns, rows: rows.iter().map(|r| r.to_vec()).collect() }
}

#[test]
fn results_describe_their_columns() {
    let at = folder();
    at.write(
        "axes.toml",
        "name='axes'\ndynamics=['sa','usa']\ninit=['uniform','cap:radius=0.4']\nn=[4,6]\nd=2\n\
         beta=1\nt_end=1e4\nrealisations=3\nobservables=['pair-share']\n",
    );
    let ran = at.json("run axes.toml");
    let folder = at.results(&ran);
    let csv = at.read(folder.join("results.csv"));
    let lines = rows(&csv);
    let head = "cell,dynamics,init,n,d,beta,eta,realisation,outcome,t,t_one_cluster,";
    assert!(lines[0].starts_with(head), "{}", lines[0]);
    assert_eq!(lines.len(), 1 + 8 * 3);
    let row = ",usa,cap:radius=0.4,6,2,1,0,2,reached,10000,";
    assert!(lines.iter().any(|l| l.contains(row)), "{csv}");
    let known = at.json("list columns");
    for column in lines[0].split(',') {
        assert!(csv.contains(&format!("\n# {column}: ")), "no meaning of {column}");
        assert!(items(&known["columns"]).iter().any(|c| c["name"] == column), "{column}");
    }
    for code in [
        "dynamics 0 = sa, 1 = usa; ",
        "init 0 = uniform, 1 = cap:radius=0.4; ",
        "outcome 0 = reached",
    ] {
        assert!(csv.contains(code), "{code}: {csv}");
    }
    // Every row names the folder of its cell, and the time of one cluster belongs to its own run.
    for line in &lines[1..] {
        assert!(folder.join("cells").join(line.split(',').next().expect("a cell")).is_dir());
    }
    let named = table(&folder.join("results.npy"));
    assert_eq!(named.columns, lines[0].split(',').collect::<Vec<_>>());
    assert_eq!(named.rows.len(), 24);
    let formed: Vec<&Vec<f64>> = named.rows.iter().filter(|r| !r[10].is_nan()).collect();
    assert!(!formed.is_empty() && formed.iter().all(|r| r[10] > 0.0 && r[10] < 1e4), "{formed:?}");
    let merges = formed.iter().all(|r| r[13] as usize + 1 == r[3] as usize);
    assert!(merges, "one cluster needs n - 1 merges");
    assert_eq!(rows(&at.read(folder.join("cells.csv"))).len(), 1 + 8);
    let last = &ran["cells"][7];
    assert!(last["dynamics"] == "usa" && folder.join("cells").join(words(&last["cell"])).is_dir());
    let printed = at.printed("run axes.toml");
    for word in ["dynamics", "median t_one", "cap:radius=0.4"] {
        assert!(printed.contains(word), "{printed}");
    }
}

#[test]
fn tables_have_column_names_and_no_quotes() {
    let at = folder();
    at.write(
        "models.toml",
        "name='models'\nn=4\nd=2\nbeta=1\nt_end=5\nrealisations=2\nsamples=3\n\
         observables=['clusters']\n[model]\n\
         q = [[\"low-rank:rank=1,seed=1\"], [\"low-rank:rank=1,seed=2\"]]\n",
    );
    let folder = at.results(&at.json("run models.toml"));
    for file in ["results.csv", "cells.csv"] {
        let csv = at.read(folder.join(file));
        let (lines, fields) = (rows(&csv), |l: &str| l.split(',').count());
        let plain = |l: &&str| fields(l) == fields(lines[0]) && !l.contains('"');
        assert!(lines[1..].iter().all(plain), "{file}: {csv}");
        assert!(csv.contains(",q=low-rank:rank=1;seed=2"), "{file}: {csv}");
    }
    let cell = &entries(&folder.join("cells"))[0];
    assert_eq!(table(&cell.join("table.npy")).columns, ["realisation", "t", "clusters"]);
    let summary = table(&cell.join("summary.npy"));
    assert_eq!(summary.columns[..3], ["realisation", "outcome", "t"]);
    // In a run, the timeline and the merges have column names; tokens are rows of an array.
    at.json("solve --tokens tokens.csv --beta 1 --t-end 2 --samples 5 --out run");
    assert_eq!(table(&at.join("run/timeline.npy")).columns[..2], ["t", "log_energy"]);
    assert_eq!(table(&at.join("run/mergers.npy")).columns[0], "t");
    let end = at.join("run/final_tokens.npy");
    assert_eq!(arrays::read(&end, None).expect("rows").shape, [3, 2]);
    assert!(arrays::table(&end).is_err_and(|e| e.to_string().contains("expected a table")));
    at.json("run merging-times");
    let times = table(&at.join("runs/study-merging-times/times.npy"));
    assert!(times.columns.iter().any(|c| c == "beta"));
}

#[test]
fn structured_arrays_have_the_header_of_numpy_and_old_ones_are_read() {
    let own = of(&["t", "it's \\"], &[&[1.0, f64::NAN], &[2.0, -0.5]]);
    let bytes = arrays::npy_table(&own);
    // As numpy.save writes `np.zeros(2, [("t", "f8"), ("it's \\", "f8")])`, except for the choice
    // of quotes.
    let expected = b"\x93NUMPY\x01\x00v\x00{'descr': [('t', '<f8'), ('it\\'s \\\\', '<f8')], 'fortran_order': False, 'shape': (2,), }";
    assert!(bytes.starts_with(expected), "{}", String::from_utf8_lossy(&bytes));
    assert_eq!((bytes.len(), bytes[127]), (128 + 4 * 8, b'\n'));
    let at = folder();
    let path = at.join("t.npy");
    at.write("t.npy", &bytes);
    let again = table(&path);
    assert!(again.columns == own.columns && again.rows[0][1].is_nan());
    assert_eq!(again.rows[1], own.rows[1]);
    // As tokens, a NaN is refused with its position.
    let message = arrays::read(&path, None).expect_err("not finite").to_string();
    assert!(message.contains("entry 1: found NaN"), "{message}");
    // More names than fit in a header length of two bytes.
    let columns: Vec<String> = (0..5000).map(|k| format!("x_{k}_0")).collect();
    let wide = Table { columns, rows: vec![vec![0.5; 5000]] };
    at.write("t.npy", arrays::npy_table(&wide));
    assert_eq!(table(&path), wide);
    // A table with a repeated name is a plain array, as all tables were before format 3.
    let twice = of(&["t", "t"], &[&[1.0, 2.0]]);
    assert_eq!(arrays::npy_table(&twice), arrays::npy_bytes(&twice));
    let record = |name: &str, columns: &[String]| {
        let record = json!({"timeline_columns": columns, "settings": {}}).to_string();
        at.write(&format!("{name}/record.json"), record);
        FrameChoice::default().timeline(&at.join(name))
    };
    for (name, content) in [("old", arrays::npy_bytes(&own)), ("new", bytes)] {
        std::fs::create_dir(at.join(name)).expect("a folder");
        at.write(&format!("{name}/timeline.npy"), content);
        let read = record(name, &own.columns).expect(name);
        assert_eq!((&read.columns, &read.rows[1]), (&own.columns, &own.rows[1]), "{name}");
    }
    // Wrong column names are not accepted as those of the record.
    assert!(record("new", &["t".to_owned(), "energy".to_owned()]).is_err());
}

#[test]
fn solve_writes_the_requested_timelines() {
    let at = folder();
    let written = |call: &str, out: &str| {
        let answer = at.json(&format!("solve --tokens tokens.csv --beta 1 {call} --out {out}"));
        let table = at.read(format!("{out}/timeline.csv"));
        (answer, rows(&table)[0].to_owned(), rows(&table).len() - 1)
    };
    let (_, head, count) =
        written("--t-end 2 --observables positions,clusters --times 0,0.5,2", "a");
    assert_eq!((&head[..], count), ("t,x_0_0,x_0_1,x_1_0,x_1_1,x_2_0,x_2_1,clusters", 3));
    let (_, head, count) = written("--t-end 2 --samples 11", "b");
    assert_eq!((&head[..], count), ("t,log_energy,clusters,inner_min,inner_max", 11));
    let (c, _, count) = written("--t-end 1e6", "c");
    assert!(count as f64 <= number(&c["stats"]["steps"]) + 1.0, "at ends of steps");
    assert_eq!(rows(&at.read("c/mergers.csv")).len() - 1, items(&c["merges"]).len());
    snapshot::refusals("results-recording", &at, &[]);
    assert!(!at.join("d").exists(), "a refused run leaves a folder");
}

#[test]
fn differences_of_two_runs() {
    let at = folder();
    for (name, beta) in [("a", "1"), ("b", "1"), ("c", "1.5")] {
        let solve = format!("solve --tokens tokens.csv --beta {beta} --t-end 2 --samples 5");
        at.json(&format!("{solve} --out {name}"));
    }
    // Events that a run did not reach are NaN. Tables with NaN can be compared. The same numbers
    // under other names are another table.
    for (name, columns, row) in [
        ("p.npy", ["t", "formed"], [1.0, f64::NAN]),
        ("q.npy", ["t", "formed"], [1.5, f64::NAN]),
        ("r.npy", ["t", "formed"], [1.5, 3.0]),
        ("s.npy", ["formed", "t"], [1.0, f64::NAN]),
    ] {
        at.write(name, arrays::npy_table(&of(&columns, &[&[1.0, 2.0], &row])));
    }
    let same = at.json("compare a b");
    assert!(same["equal"] == true && items(&same["tables"]).len() == 3, "{same}");
    assert_eq!(at.json("compare a/timeline.npy b/timeline.npy")["equal"], true);
    let other = at.answer("compare a c", 2);
    assert_eq!(other["settings"], json!([["beta", 1.0, 1.5]]));
    let line = items(&other["tables"]).iter().find(|t| t["name"] == "timeline.npy");
    let line = line.expect("a timeline");
    assert!(number(&line["ulps"]) > 1000.0 && number(&line["relative"]) > 1e-3, "{line}");
    // Scripts use the exit code. An error has an empty standard output, a difference does not.
    for (call, code, shown) in [
        ("a b", 0, &[""][..]),
        ("a c", 2, &["beta: 1.0 | 1.5"]),
        ("a/timeline.npy c/timeline.npy", 2, &["column inner_min"]),
        ("p.npy q.npy", 2, &["1 numbers of [2, 2] differ", "(row 1, column t)"]),
        ("q.npy r.npy", 2, &["NaN in one table only (row 1, column formed)"]),
        ("p.npy p.npy", 0, &["no difference"]),
        ("p.npy s.npy", 2, &["columns t,formed | formed,t"]),
        ("--help", 0, &["Exit codes:"]),
    ] {
        let out = at.run(&format!("compare {call}"));
        let found = text(&out.stdout);
        assert!(out.status.code() == Some(code) && !found.is_empty(), "{call}: {found}");
        assert!(shown.iter().all(|s| found.contains(s)), "{call}: {found}");
    }
    at.refuses(&[("compare a missing", "missing"), ("compare a .", "expected a folder of")]);
}

#[test]
fn no_artefact_names_a_folder_of_the_machine() {
    let (at, elsewhere) = (folder(), folder());
    let (here, far) = (at.display().to_string(), elsewhere.display().to_string());
    elsewhere.write(
        "far.toml",
        "name='far'\nn=3\nd=2\nbeta=2\nt_end=4\nsamples=5\nobservables=['log-energy']\n",
    );
    elsewhere.write("q.csv", "1,0\n0,2\n");
    std::fs::create_dir(elsewhere.join("films")).expect("a folder");
    let solve = format!("solve --beta 1 --t-end 2 --tokens {far}/tokens.csv");
    let density = "measure --space circle --density cos:1=0.2 --beta 1 --t-end 1";
    let film = "movie --init uniform --n 4 --d 2 --beta 2 --t-end 10 --frames 2";
    for call in [
        format!("{solve} --out {far}/run"),
        format!("{solve} --q={far}/q.csv --samples 5 --out {far}/heads"),
        format!("run {far}/far.toml --out {far}/runs"),
        format!("{density} --out {far}/density"),
        format!("{film} --out {far}/films/run.png"),
        // The caption names the matrices.
        format!("figure timeline --from-run {far}/heads --out {far}/figures"),
        // In the working folder paths are relative to it.
        format!("solve --tokens {here}/tokens.csv --beta 1 --t-end 2 --out {here}/in/run"),
    ] {
        at.printed(&call);
    }
    let names = ["run", "runs", "density", "films", "figures"];
    let files: Vec<PathBuf> = names.iter().flat_map(|n| files_below(&elsewhere.join(n))).collect();
    assert!(files.len() > 20, "{files:?}");
    let wrong = |p: &&PathBuf| text(&std::fs::read(p).expect("written")).contains(&far);
    let wrong: Vec<&PathBuf> = files.iter().filter(wrong).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let block = |file: &str| at.json(&format!("explain {file}"));
    for (file, line) in [
        (
            format!("{far}/run/record.json"),
            "solve --beta 1 --t-end 2 --tokens tokens.csv --out run",
        ),
        (format!("{far}/figures/timeline.svg"), "figure timeline --from-run heads"),
        (
            "in/run/record.json".to_owned(),
            "solve --tokens tokens.csv --beta 1 --t-end 2 --out in/run",
        ),
    ] {
        let found = words(&block(&file)["reproduce"]).replace('\\', "/");
        assert_eq!(found, format!("metastable {line}"));
    }
    let heads = block(&format!("{far}/heads/timeline.npy"));
    assert!(words(&heads["reproduce"]).contains(" --q=q.csv "), "{heads}");
    // The commit of the build is known in every checkout, also in a second one of the same
    // repository.
    let root = env!("CARGO_MANIFEST_DIR");
    let git = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root).output();
    if git.is_ok_and(|o| o.status.success()) {
        let found = block(&format!("{far}/run/record.json"));
        let commit = words(&found["commit"]);
        assert!(commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
    }
}

#[test]
fn files_of_other_kinds_are_refused_in_plain_words() {
    let at = folder();
    at.json("solve --tokens tokens.csv --beta 1 --t-end 2 --out run");
    for (file, content, reason) in [
        ("ok.csv", "1,0\n0,1\n", ""),
        ("number.json", "1", ""),
        ("list.json", "[1,2]", ""),
        ("other.json", "{\"claim\": 3}", ""),
        ("torn.json", "{\"claim\": \"x", "JSON that ends too early"),
        ("few.json", "{}", "found no field `"),
    ] {
        at.write(file, content);
        let message = at.refused(&format!("hunt {file}"), reason);
        let kind = "expected a counterexample written by `hunt`";
        assert!(message.contains(file) && message.contains(kind), "{message}");
        for inside in ["struct", "invalid type", "f64", "sequence", "variant", "Counterexample"] {
            assert!(!message.contains(inside), "{file}: {message}");
        }
    }
    at.write("run/record.json", "not JSON");
    at.refuses(&[
        ("energy --from-run run --beta 1", "expected the record of `solve --out`"),
        ("compare run run", "found no JSON (line 1, column"),
    ]);
}

/// Folders that are specific to a machine. Each name is in two pieces, since this file is committed
/// too.
const MACHINE_FOLDERS: [[&str; 2]; 11] = [
    ["/ho", "me/"],
    ["/Us", "ers/"],
    ["/t", "mp/"],
    ["/ro", "ot/"],
    ["/wo", "rk/"],
    ["/mn", "t/"],
    ["/priv", "ate/"],
    ["/var/fol", "ders/"],
    ["/scr", "atch/"],
    [":\\Us", "ers\\"],
    [":/Us", "ers/"],
];

/// The first such folder that a text names. In `example.org/home/` and `$HOME/work/` the slash
/// follows a word.
fn machine_folder(bytes: &[u8]) -> Option<String> {
    MACHINE_FOLDERS.iter().map(|halves| halves.concat()).find(|name| {
        let found = bytes.windows(name.len()).enumerate().filter(|(_, w)| *w == name.as_bytes());
        let own = |k: usize| {
            k == 0
                || name.starts_with(':')
                || !(bytes[k - 1].is_ascii_alphanumeric() || b"._-/~)}".contains(&bytes[k - 1]))
        };
        found.map(|(k, _)| k).any(own)
    })
}

/// The text chunks of a PNG file, also those that are compressed.
fn png_texts(bytes: &[u8]) -> String {
    let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG file");
    let info = reader.info();
    let plain = info.uncompressed_latin1_text.iter().map(|c| c.text.clone());
    let packed = info.compressed_latin1_text.iter().filter_map(|c| c.get_text().ok());
    let unicode = info.utf8_text.iter().filter_map(|c| c.get_text().ok());
    plain.chain(packed).chain(unicode).collect::<Vec<_>>().join("\n")
}

#[test]
fn no_committed_file_names_a_folder_of_a_machine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let listed = listed.ok().filter(|o| o.status.success()).map(|o| text(&o.stdout));
    let names = listed.iter().flat_map(|names| names.split('\0'));
    let mut files: Vec<PathBuf> = names.filter(|n| !n.is_empty()).map(|n| root.join(n)).collect();
    if files.is_empty() {
        // Not a checkout: the files of a package.
        let folders = ["benches", "examples", "experiments", "paper_figs", "src", "tests"];
        files = folders.iter().flat_map(|n| files_below(&root.join(n))).collect();
    }
    let (mut wrong, mut blocks) = (Vec::new(), 0);
    for path in &files {
        // The file is deleted and the deletion is not committed.
        let Ok(bytes) = std::fs::read(path) else { continue };
        let mut texts = vec![bytes.clone()];
        if bytes.starts_with(b"\x89PNG") {
            texts.push(png_texts(&bytes).into_bytes());
        }
        // Provenance in several pieces, as in a GIF, is joined by the reader of the program.
        if let Ok(block) = metastable::lab::provenance::read(path) {
            blocks += 1;
            texts.push(block.json().into_bytes());
        }
        if let Some(name) = texts.iter().find_map(|t| machine_folder(t)) {
            wrong.push(format!("{}: {name}", path.display()));
        }
    }
    assert!(files.len() > 500 && blocks > 40, "{} files, {blocks} blocks", files.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The control: such folders would be found.
    let names = MACHINE_FOLDERS.map(|halves| halves.concat());
    let block = |name: &String| format!("{{\"reproduce\":\"metastable x --from-run {name}a\"}}");
    assert!(names.iter().all(|name| machine_folder(block(name).as_bytes()).is_some()));
    assert!(machine_folder(format!("https://example.org{}x", names[0]).as_bytes()).is_none());
}

#[test]
fn an_experiment_runs_with_other_values_and_records_them() {
    let at = folder();
    at.write(
        "own.toml",
        "name = 'own'\nn = [4,\n  6]\nd = 2\nbeta = 5\nt_end = 10\nsamples = 5\n\
         observables = ['order-parameter']\n",
    );
    let call = "run own.toml --set n=3 --set beta=1..4:lin4 --set init=cap:radius=1";
    let answer = at.json(call);
    let cells = items(&answer["cells"]);
    assert_eq!(cells.iter().map(|c| number(&c["beta"])).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    assert!(cells.iter().all(|c| c["n"] == 3 && c["init"] == "cap:radius=1"), "{answer}");
    let block = at.json(&format!("explain {}/results.csv", words(&answer["folder"])));
    assert_eq!(block["reproduce"], format!("metastable {call}"));
    // The command that reproduces it finds the results.
    let again = at.json(&format!("{call} --dry-run"));
    assert_eq!((&again["finished"], &again["folder"]), (&json!(4), &answer["folder"]));
    snapshot::refusals("results-changes", &at, &[]);
}

#[test]
fn cells_of_other_grids_are_reused_unless_damaged() {
    let grid = "name = 'grid'\nn = 6\nd = 2\nbeta = [1, 3]\nt_end = 10\nsamples = 5\n\
                realisations = 3\n";
    let [at, other] = [(); 2].map(|()| Place::with(&[("grid.toml", grid)]));
    let ran = |at: &Place, more: &str| {
        let line = format!("run grid.toml {more} --format json");
        let out = successful(at.run(&line), &line);
        (at.results(&object(&out, &line)), text(&out.stderr))
    };
    let (first, alone) = ran(&at, "");
    assert!(!alone.contains("reused"), "{alone}");
    // With one more value two of three cells are reused, as the dry run says.
    let planned = at.printed("run grid.toml --set beta=1,2,3 --dry-run");
    assert!(planned.contains("3 cells, 0 finished, 2 reusable"), "{planned}");
    assert_eq!(planned.matches(" to do").count(), 1, "{planned}");
    let (second, note) = ran(&at, "--set beta=1,2,3");
    assert!(note.contains("2 of 3 cells are reused from runs of grid"), "{note}");
    let (fresh, _) = ran(&other, "--set beta=1,2,3");
    for file in ["results.csv", "results.npy", "cells.csv"] {
        let [a, b] = [&second, &fresh].map(|f| std::fs::read(f.join(file)).expect(file));
        assert_eq!(a, b, "{file}");
    }
    // Nothing is reused if a setting changes that is not an axis, and a damaged cell is computed
    // again.
    assert!(!ran(&at, "--set seed=5").1.contains("reused"));
    for cell in [first, second].iter().flat_map(|folder| entries(&folder.join("cells"))) {
        std::fs::write(cell.join("table.npy"), b"damage").expect("written");
    }
    let (third, note) = ran(&at, "--set beta=1,2,3,4");
    assert!(!note.contains("reused"), "{note}");
    let table = at.read(third.join("results.csv"));
    assert_eq!(table.lines().filter(|l| l.contains(",sa,")).count(), 12);
}

#[test]
fn figures_of_user_files_name_them_and_other_figures_refuse_files() {
    let at = folder();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/minilm_hidden_states.npz");
    std::fs::copy(&source, at.join("model.npz")).expect("copied");
    at.json("figure layer-entropy --tokens model.npz --array hidden_states --out figures");
    let block = at.json("explain figures/layer-entropy.csv");
    let hash = metastable::lab::provenance::hash(std::fs::read(&source).expect("committed"));
    for part in ["model.npz", "hidden_states", &hash] {
        assert!(words(&block["what"]).contains(part), "{block}");
    }
    assert_ne!(block["config_hash"], metastable::lab::provenance::hash(""));
    snapshot::refusals("results-figures", &at, &[]);
}

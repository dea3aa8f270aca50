//! Written files: results with every axis, timelines, differences of runs, provenance, reused
//! cells.

use crate::program::{files_below, json, refused, run};
use crate::snapshot;
use metastable::flow::Table;
use metastable::lab::{arrays, snapshot::FrameChoice};
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tokens.csv"), "1,0\n0.6,0.8\n0,-1\n").expect("writable");
    folder
}

#[test]
fn results_describe_their_columns() {
    let f = folder();
    let at = f.path();
    let text = "name='axes'\ndynamics=['sa','usa']\ninit=['uniform','cap:radius=0.4']\nn=[4,6]\nd=2\nbeta=1\nt_end=1e4\nrealisations=3\nobservables=['pair-share']\n";
    std::fs::write(at.join("axes.toml"), text).expect("writable");
    let ran = json(at, "run axes.toml");
    let folder = at.join(ran["folder"].as_str().expect("a folder"));
    let csv = std::fs::read_to_string(folder.join("results.csv")).expect("results");
    let lines: Vec<&str> = csv.lines().filter(|l| !l.starts_with('#')).collect();
    assert!(
        lines[0]
            .starts_with("cell,dynamics,init,n,d,beta,eta,realisation,outcome,t,t_one_cluster,"),
        "{}",
        lines[0]
    );
    assert_eq!(lines.len(), 1 + 8 * 3);
    assert!(
        lines.iter().any(|l| l.contains(",usa,cap:radius=0.4,6,2,1,0,2,reached,10000,")),
        "{csv}"
    );
    for column in lines[0].split(',') {
        assert!(csv.contains(&format!("\n# {column}: ")), "no meaning of {column}");
        assert!(
            json(at, "list columns")["columns"]
                .as_array()
                .expect("a list")
                .iter()
                .any(|c| c["name"] == column),
            "{column}"
        );
    }
    assert!(csv.contains(
        "dynamics 0 = sa, 1 = usa; init 0 = uniform, 1 = cap:radius=0.4; outcome 0 = reached"
    ));
    // Every row names the folder of its cell, and the time of one cluster belongs to its own run.
    for line in &lines[1..] {
        assert!(folder.join("cells").join(line.split(',').next().expect("a cell")).is_dir());
    }
    let named = arrays::table(&folder.join("results.npy")).expect("a structured array");
    assert_eq!(named.columns, lines[0].split(',').collect::<Vec<_>>());
    let (columns, table) = (named.columns.len(), named.rows.concat());
    assert_eq!(table.len(), columns * 24);
    let formed: Vec<f64> = table.chunks(columns).map(|r| r[10]).collect();
    assert!(
        formed.iter().all(|t| t.is_nan() || (*t > 0.0 && *t < 1e4))
            && formed.iter().any(|t| t.is_finite()),
        "{formed:?}"
    );
    let merged = |r: &&[f64]| r[10].is_finite();
    assert!(
        table.chunks(columns).filter(merged).all(|r| r[13] as usize + 1 == r[3] as usize),
        "one cluster needs n - 1 merges"
    );
    let cells = std::fs::read_to_string(folder.join("cells.csv")).expect("cells");
    assert_eq!(cells.lines().filter(|l| !l.starts_with('#')).count(), 1 + 8);
    assert_eq!(ran["cells"][7]["dynamics"], "usa");
    assert!(
        ran["cells"][7]["cell"].as_str().is_some_and(|id| folder.join("cells").join(id).is_dir())
    );
    let printed = String::from_utf8_lossy(&run(at, "run axes.toml").stdout).into_owned();
    assert!(
        printed.contains("dynamics")
            && printed.contains("median t_one")
            && printed.contains("cap:radius=0.4"),
        "{printed}"
    );
}

#[test]
fn tables_have_column_names_and_no_quotes() {
    let f = folder();
    let at = f.path();
    let law = "q = [[\"low-rank:rank=1,seed=1\"], [\"low-rank:rank=1,seed=2\"]]\n";
    let text = format!(
        "name='models'\nn=4\nd=2\nbeta=1\nt_end=5\nrealisations=2\nsamples=3\nobservables=['clusters']\n[model]\n{law}"
    );
    std::fs::write(at.join("models.toml"), text).expect("writable");
    let folder = at.join(json(at, "run models.toml")["folder"].as_str().expect("a folder"));
    for file in ["results.csv", "cells.csv"] {
        let csv = std::fs::read_to_string(folder.join(file)).expect("written");
        let mut lines = csv.lines().filter(|l| !l.starts_with('#'));
        let head = lines.next().expect("names");
        assert!(
            lines.all(|l| l.split(',').count() == head.split(',').count() && !l.contains('"')),
            "{file}: {csv}"
        );
        assert!(csv.contains(",q=low-rank:rank=1;seed=2"), "{file}: {csv}");
    }
    let cell = std::fs::read_dir(folder.join("cells"))
        .expect("cells")
        .flatten()
        .next()
        .expect("a cell")
        .path();
    assert_eq!(
        arrays::table(&cell.join("table.npy")).expect("a table").columns,
        ["realisation", "t", "clusters"]
    );
    assert_eq!(
        arrays::table(&cell.join("summary.npy")).expect("a table").columns[..3],
        ["realisation", "outcome", "t"]
    );
    // In a run, the timeline and the merges have column names; tokens are rows of an array.
    json(at, "solve --tokens tokens.csv --beta 1 --t-end 2 --samples 5 --out run");
    assert_eq!(
        arrays::table(&at.join("run/timeline.npy")).expect("a table").columns[..2],
        ["t", "log_energy"]
    );
    assert_eq!(arrays::table(&at.join("run/mergers.npy")).expect("a table").columns[0], "t");
    assert_eq!(arrays::read(&at.join("run/final_tokens.npy"), None).expect("rows").shape, [3, 2]);
    assert!(
        arrays::table(&at.join("run/final_tokens.npy"))
            .is_err_and(|e| e.to_string().contains("expected a table"))
    );
    json(at, "run merging-times");
    assert!(
        arrays::table(&at.join("runs/study-merging-times/times.npy"))
            .is_ok_and(|t| t.columns.iter().any(|c| c == "beta"))
    );
}

#[test]
fn structured_arrays_have_the_header_of_numpy_and_old_ones_are_read() {
    let table = Table {
        columns: vec!["t".into(), "it's \\".into()],
        rows: vec![vec![1.0, f64::NAN], vec![2.0, -0.5]],
    };
    let bytes = arrays::npy_table(&table);
    // As numpy.save writes `np.zeros(2, [("t", "f8"), ("it's \\", "f8")])`, except for the choice
    // of quotes.
    let expected = b"\x93NUMPY\x01\x00v\x00{'descr': [('t', '<f8'), ('it\\'s \\\\', '<f8')], 'fortran_order': False, 'shape': (2,), }";
    assert!(bytes.starts_with(expected), "{}", String::from_utf8_lossy(&bytes));
    assert_eq!((bytes.len(), bytes[127]), (128 + 4 * 8, b'\n'));
    let f = folder();
    let path = f.path().join("t.npy");
    std::fs::write(&path, &bytes).expect("writable");
    let again = arrays::table(&path).expect("a table");
    assert!(
        again.columns == table.columns
            && again.rows[0][1].is_nan()
            && again.rows[1] == table.rows[1]
    );
    // As tokens, a NaN is refused with its position.
    let message = arrays::read(&path, None).expect_err("not finite").to_string();
    assert!(message.contains("entry 1: found NaN"), "{message}");
    // More names than fit in a header length of two bytes.
    let wide = Table {
        columns: (0..5000).map(|k| format!("x_{k}_0")).collect(),
        rows: vec![vec![0.5; 5000]],
    };
    std::fs::write(&path, arrays::npy_table(&wide)).expect("writable");
    assert_eq!(arrays::table(&path).expect("a table"), wide);
    // A table with a repeated name is a plain array, as all tables were before format 3.
    let twice = Table { columns: vec!["t".into(), "t".into()], rows: vec![vec![1.0, 2.0]] };
    assert_eq!(arrays::npy_table(&twice), arrays::npy_bytes(&twice));
    for (name, content) in [("old", arrays::npy_bytes(&table)), ("new", bytes)] {
        std::fs::create_dir(f.path().join(name)).expect("a folder");
        std::fs::write(f.path().join(name).join("timeline.npy"), content).expect("writable");
        let record = serde_json::json!({"timeline_columns": table.columns, "settings": {}});
        std::fs::write(f.path().join(name).join("record.json"), record.to_string())
            .expect("writable");
        let read = FrameChoice::default().timeline(&f.path().join(name)).expect(name);
        assert_eq!((&read.columns, &read.rows[1]), (&table.columns, &table.rows[1]), "{name}");
    }
    // Wrong column names are not accepted as those of the record.
    let record = serde_json::json!({"timeline_columns": ["t", "energy"], "settings": {}});
    std::fs::write(f.path().join("new/record.json"), record.to_string()).expect("writable");
    assert!(FrameChoice::default().timeline(&f.path().join("new")).is_err());
}

#[test]
fn solve_writes_the_requested_timelines() {
    let f = folder();
    let at = f.path();
    let columns = |folder: &str| -> (String, usize) {
        let text =
            std::fs::read_to_string(at.join(folder).join("timeline.csv")).expect("a timeline");
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        (lines[0].to_owned(), lines.len() - 1)
    };
    json(
        at,
        "solve --tokens tokens.csv --beta 1 --t-end 2 --out a --observables positions,clusters --times 0,0.5,2",
    );
    assert_eq!(columns("a"), ("t,x_0_0,x_0_1,x_1_0,x_1_1,x_2_0,x_2_1,clusters".to_owned(), 3));
    json(at, "solve --tokens tokens.csv --beta 1 --t-end 2 --out b --samples 11");
    assert_eq!(columns("b"), ("t,log_energy,clusters,inner_min,inner_max".to_owned(), 11));
    let c = json(at, "solve --tokens tokens.csv --beta 1 --t-end 1e6 --out c");
    assert!(
        columns("c").1 as u64 <= c["stats"]["steps"].as_u64().expect("steps") + 1,
        "at ends of steps"
    );
    let mergers = std::fs::read_to_string(at.join("c/mergers.csv")).expect("mergers");
    assert_eq!(
        mergers.lines().filter(|l| !l.starts_with('#')).count() - 1,
        c["merges"].as_array().expect("mergers").len()
    );
    snapshot::refusals("results-recording", at, &[]);
    assert!(!at.join("d").exists(), "a refused run leaves a folder");
}

#[test]
fn differences_of_two_runs() {
    let f = folder();
    let at = f.path();
    for (name, flags) in [("a", "--beta 1"), ("b", "--beta 1"), ("c", "--beta 1.5")] {
        json(at, &format!("solve --tokens tokens.csv {flags} --t-end 2 --samples 5 --out {name}"));
    }
    let same = json(at, "diff a b");
    assert!(
        same["equal"] == true && same["tables"].as_array().is_some_and(|t| t.len() == 3),
        "{same}"
    );
    let other: serde_json::Value =
        serde_json::from_slice(&run(at, "diff a c --format json").stdout).expect("JSON");
    assert_eq!(other["settings"], serde_json::json!([["beta", 1.0, 1.5]]));
    let line = other["tables"]
        .as_array()
        .expect("tables")
        .iter()
        .find(|t| t["name"] == "timeline.npy")
        .expect("a timeline")
        .clone();
    assert!(
        line["ulps"].as_u64().is_some_and(|u| u > 1000)
            && line["relative"].as_f64().is_some_and(|r| r > 1e-3),
        "{line}"
    );
    assert!(String::from_utf8_lossy(&run(at, "diff a c").stdout).contains("beta: 1.0 | 1.5"));
    assert_eq!(json(at, "diff a/timeline.npy b/timeline.npy")["equal"], true);
    // Scripts use the exit code. An error has an empty standard output, a difference does not.
    for (arguments, code) in [
        ("diff a b", 0),
        ("diff a c", 1),
        ("diff a/timeline.npy c/timeline.npy", 1),
        ("diff a missing", 1),
    ] {
        let out = run(at, arguments);
        assert_eq!(
            (out.status.code(), out.stdout.is_empty()),
            (Some(code), arguments.contains("missing")),
            "{arguments}"
        );
    }
    assert!(String::from_utf8_lossy(&run(at, "diff --help").stdout).contains("Exit codes:"));
    assert!(
        String::from_utf8_lossy(&run(at, "diff a/timeline.npy c/timeline.npy").stdout)
            .contains("column inner_min")
    );
    // Events that a run did not reach are NaN. Tables with NaN can be compared.
    let table = |rows: [f64; 2]| {
        arrays::npy_table(&Table {
            columns: vec!["t".into(), "formed".into()],
            rows: vec![vec![1.0, 2.0], rows.to_vec()],
        })
    };
    std::fs::write(at.join("p.npy"), table([1.0, f64::NAN])).expect("writable");
    std::fs::write(at.join("q.npy"), table([1.5, f64::NAN])).expect("writable");
    std::fs::write(at.join("r.npy"), table([1.5, 3.0])).expect("writable");
    let difference =
        |arguments: &str| String::from_utf8_lossy(&run(at, arguments).stdout).into_owned();
    assert!(
        difference("diff p.npy q.npy").contains("1 numbers of [2, 2] differ")
            && difference("diff p.npy q.npy").contains("(row 1, column t)")
    );
    assert!(
        difference("diff q.npy r.npy").contains("NaN in one table only (row 1, column formed)"),
        "{}",
        difference("diff q.npy r.npy")
    );
    assert!(difference("diff p.npy p.npy").contains("no difference"));
    // The same numbers under other names are another table.
    let renamed = Table {
        columns: vec!["formed".into(), "t".into()],
        rows: vec![vec![1.0, 2.0], vec![1.0, f64::NAN]],
    };
    std::fs::write(at.join("s.npy"), arrays::npy_table(&renamed)).expect("writable");
    assert!(
        difference("diff p.npy s.npy").contains("columns t,formed | formed,t"),
        "{}",
        difference("diff p.npy s.npy")
    );
    let wrong = run(at, "diff a .");
    assert_eq!(
        (
            wrong.status.code(),
            String::from_utf8_lossy(&wrong.stderr).contains("expected a folder of")
        ),
        (Some(1), true)
    );
}

#[test]
fn no_artefact_names_a_folder_of_the_machine() {
    let (f, elsewhere) = (folder(), folder());
    let (at, far) = (f.path(), elsewhere.path().display().to_string());
    std::fs::write(
        elsewhere.path().join("far.toml"),
        "name='far'\nn=3\nd=2\nbeta=2\nt_end=4\nsamples=5\nobservables=['log-energy']\n",
    )
    .expect("written");
    std::fs::write(elsewhere.path().join("q.csv"), "1,0\n0,2\n").expect("written");
    let ran = |arguments: &str| {
        let out = run(at, arguments);
        assert!(out.status.success(), "{arguments}: {}", String::from_utf8_lossy(&out.stderr));
    };
    ran(&format!("solve --tokens {far}/tokens.csv --beta 1 --t-end 2 --out {far}/run"));
    ran(&format!(
        "solve --tokens {far}/tokens.csv --q={far}/q.csv --beta 1 --t-end 2 --samples 5 --out {far}/heads"
    ));
    ran(&format!("run {far}/far.toml --out {far}/runs"));
    ran(&format!(
        "measure --space circle --density cos:1=0.2 --beta 1 --t-end 1 --out {far}/density"
    ));
    std::fs::create_dir(elsewhere.path().join("films")).expect("a folder");
    ran(&format!(
        "movie --init uniform --n 4 --d 2 --beta 2 --t-end 10 --frames 2 --out {far}/films/run.png"
    ));
    // The caption names the matrices.
    ran(&format!("figure timeline --from-run {far}/heads --out {far}/figures"));
    let wrong = |path: &PathBuf| {
        String::from_utf8_lossy(&std::fs::read(path).expect("written")).contains(&far)
    };
    let mut files: Vec<PathBuf> = ["run", "runs", "density", "films", "figures"]
        .iter()
        .flat_map(|n| files_below(&elsewhere.path().join(n)))
        .collect();
    assert!(files.len() > 20, "{files:?}");
    files.retain(wrong);
    assert!(files.is_empty(), "{files:?}");
    let reproduce = |file: &str| {
        json(at, &format!("provenance {far}/{file}"))["reproduce"]
            .as_str()
            .expect("a line")
            .to_owned()
    };
    assert_eq!(
        reproduce("run/record.json"),
        "metastable solve --tokens tokens.csv --beta 1 --t-end 2 --out run"
    );
    assert!(
        reproduce("heads/timeline.npy").contains(" --q=q.csv "),
        "{}",
        reproduce("heads/timeline.npy")
    );
    assert_eq!(reproduce("figures/timeline.svg"), "metastable figure timeline --from-run heads");
    // The commit of the build is known in every checkout, also in a second one of the same
    // repository.
    let git = std::process::Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    if git.is_ok_and(|o| o.status.success()) {
        let commit = json(at, &format!("provenance {far}/run/record.json"))["commit"]
            .as_str()
            .expect("a commit")
            .to_owned();
        assert!(commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
    }
    // In the working folder paths are relative to it.
    ran(&format!(
        "solve --tokens {}/tokens.csv --beta 1 --t-end 2 --out {}/in/run",
        at.display(),
        at.display()
    ));
    let line = json(at, "provenance in/run/record.json")["reproduce"]
        .as_str()
        .expect("a line")
        .replace('\\', "/");
    assert_eq!(line, "metastable solve --tokens tokens.csv --beta 1 --t-end 2 --out in/run");
}

#[test]
fn files_of_other_kinds_are_refused_in_plain_words() {
    let f = folder();
    let at = f.path();
    json(at, "solve --tokens tokens.csv --beta 1 --t-end 2 --out run");
    for (file, content) in [
        ("ok.csv", "1,0\n0,1\n"),
        ("number.json", "1"),
        ("list.json", "[1,2]"),
        ("other.json", "{\"claim\": 3}"),
        ("torn.json", "{\"claim\": \"x"),
        ("few.json", "{}"),
    ] {
        std::fs::write(at.join(file), content).expect("written");
        let out = run(at, &format!("hunt --replay {file}"));
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            out.status.code() == Some(1)
                && message.contains(file)
                && message.contains("expected a counterexample written by `hunt`"),
            "{message}"
        );
        for inside in ["struct", "invalid type", "f64", "sequence", "variant", "Counterexample"] {
            assert!(!message.contains(inside), "{file}: {message}");
        }
    }
    refused(at, "hunt --replay few.json", "found no field `");
    refused(at, "hunt --replay torn.json", "JSON that ends too early");
    std::fs::write(at.join("run/record.json"), "not JSON").expect("written");
    refused(at, "energy --from-run run --beta 1", "expected the record of `solve --out`");
    refused(at, "diff run run", "found no JSON (line 1, column");
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
    let listed = std::process::Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .ok()
        .filter(|o| o.status.success());
    let mut files: Vec<PathBuf> = listed.map_or_else(Vec::new, |o| {
        String::from_utf8_lossy(&o.stdout)
            .split('\0')
            .filter(|n| !n.is_empty())
            .map(|n| root.join(n))
            .collect()
    });
    if files.is_empty() {
        // Not a checkout: the files of a package.
        files = ["benches", "examples", "experiments", "paper_figs", "src", "tests"]
            .iter()
            .flat_map(|n| files_below(&root.join(n)))
            .collect();
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
    let block =
        |folder: &str| format!("{{\"reproduce\":\"metastable figure x --from-run {folder}a\"}}");
    assert!(
        MACHINE_FOLDERS
            .iter()
            .all(|halves| machine_folder(block(&halves.concat()).as_bytes()).is_some())
    );
    assert!(
        machine_folder(format!("https://example.org{}x", MACHINE_FOLDERS[0].concat()).as_bytes())
            .is_none()
    );
}

#[test]
fn an_experiment_runs_with_other_values_and_records_them() {
    let f = folder();
    let at = f.path();
    let own = "name = 'own'\nn = [4,\n  6]\nd = 2\nbeta = 5\nt_end = 10\nsamples = 5\nobservables = ['order-parameter']\n";
    std::fs::write(at.join("own.toml"), own).expect("written");
    let answer = json(at, "run own.toml --set n=3 --set beta=1..4:lin4 --set init=cap:radius=1");
    let cells = answer["cells"].as_array().expect("cells");
    assert_eq!(
        cells.iter().map(|c| c["beta"].as_f64().expect("a number")).collect::<Vec<_>>(),
        [1.0, 2.0, 3.0, 4.0]
    );
    assert!(cells.iter().all(|c| c["n"] == 3 && c["init"] == "cap:radius=1"), "{answer}");
    let folder = answer["folder"].as_str().expect("a folder");
    let block = json(at, &format!("provenance {folder}/results.csv"));
    let line = block["reproduce"].as_str().expect("a line");
    assert_eq!(
        line,
        "metastable run own.toml --set n=3 --set beta=1..4:lin4 --set init=cap:radius=1"
    );
    let again = json(at, &format!("{} --dry-run", line.trim_start_matches("metastable ")));
    assert_eq!(
        (&again["finished"], &again["folder"]),
        (&serde_json::json!(4), &answer["folder"]),
        "the command that reproduces it finds the results"
    );
    snapshot::refusals("results-changes", at, &[]);
}

#[test]
fn cells_of_other_grids_are_reused_unless_damaged() {
    let (f, g) = (folder(), folder());
    let own =
        "name = 'grid'\nn = 6\nd = 2\nbeta = [1, 3]\nt_end = 10\nsamples = 5\nrealisations = 3\n";
    [&f, &g]
        .into_iter()
        .for_each(|f| std::fs::write(f.path().join("grid.toml"), own).expect("written"));
    let run_with_note = |at: &Path, arguments: &str| {
        let out = run(at, &format!("{arguments} --format json"));
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        (
            at.join(answer["folder"].as_str().expect("a folder")),
            String::from_utf8_lossy(&out.stderr).into_owned(),
        )
    };
    let (first, alone) = run_with_note(f.path(), "run grid.toml");
    assert!(!alone.contains("reused"), "{alone}");
    // With one more value two of three cells are reused, as the dry run says.
    let planned = run(f.path(), "run grid.toml --set beta=1,2,3 --dry-run");
    let planned = String::from_utf8_lossy(&planned.stdout).into_owned();
    assert!(
        planned.contains("3 cells, 0 finished, 2 reusable from other runs")
            && planned.matches(" to do").count() == 1,
        "{planned}"
    );
    let (second, note) = run_with_note(f.path(), "run grid.toml --set beta=1,2,3");
    assert!(
        note.contains("2 of 3 cells are reused from runs of grid with other values on its axes"),
        "{note}"
    );
    let (fresh, _) = run_with_note(g.path(), "run grid.toml --set beta=1,2,3");
    for file in ["results.csv", "results.npy", "cells.csv"] {
        assert_eq!(
            std::fs::read(second.join(file)).expect(file),
            std::fs::read(fresh.join(file)).expect(file),
            "{file}"
        );
    }
    // Nothing is reused if a setting changes that is not an axis.
    assert!(!run_with_note(f.path(), "run grid.toml --set seed=5").1.contains("reused"));
    // A damaged cell is computed again.
    for folder in [&first, &second] {
        let cell = std::fs::read_dir(folder.join("cells"))
            .expect("cells")
            .flatten()
            .map(|e| e.path().join("table.npy"));
        cell.for_each(|file| std::fs::write(file, b"damage").expect("written"));
    }
    let (third, note) = run_with_note(f.path(), "run grid.toml --set beta=1,2,3,4");
    assert!(!note.contains("reused"), "{note}");
    assert!(
        std::fs::read_to_string(third.join("results.csv"))
            .expect("results")
            .lines()
            .filter(|l| l.contains(",sa,"))
            .count()
            == 12
    );
}

#[test]
fn figures_of_user_files_name_them_and_other_figures_refuse_files() {
    let f = folder();
    let at = f.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/minilm_hidden_states.npz");
    std::fs::copy(&source, at.join("model.npz")).expect("copied");
    json(at, "figure layer-entropy --tokens model.npz --array hidden_states --out figures");
    let block = json(at, "provenance figures/layer-entropy.csv");
    let hash = metastable::lab::provenance::hash(std::fs::read(&source).expect("committed"));
    assert!(
        block["what"].as_str().is_some_and(|w| w.contains("model.npz")
            && w.contains("hidden_states")
            && w.contains(&hash)),
        "{block}"
    );
    assert_ne!(block["config_hash"], metastable::lab::provenance::hash(""));
    snapshot::refusals("results-figures", at, &[]);
}

//! `plot`: medians and percentiles agree with the stored tables, wrong names are refused with the
//! known ones, the command in the file reproduces it.

use crate::program::{json, refused, run};
use crate::snapshot;
use metastable::lab::arrays;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const EXPERIMENT: &str = "name='grid'\ninit='uniform'\nn=6\nd=2\nbeta=[1,9]\nt_end=20\ntimes=[0,1,5,20]\nrealisations=9\nobservables=['order-parameter','clusters']\n[model]\nnorm=['post','mix:tau=1']\n";

/// A folder with an experiment that was run, and the path of its results.
fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("grid.toml"), EXPERIMENT).expect("writable");
    let ran = json(folder.path(), "run grid.toml");
    (folder, ran["folder"].as_str().expect("a folder").replace('\\', "/"))
}

/// The drawn points of a CSV file: for each mark its label and its points (x, y).
fn drawn(path: &Path) -> Vec<(String, Vec<(f64, f64)>)> {
    let text = std::fs::read_to_string(path).expect("drawn numbers");
    let mut marks: BTreeMap<usize, (String, Vec<(f64, f64)>)> = BTreeMap::new();
    for line in text.lines().filter(|l| !l.starts_with('#')).skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |k: usize| fields[k].parse::<f64>().expect("a number");
        let mark = marks.entry(fields[1].parse().expect("a mark")).or_default();
        mark.0 = fields[2].trim_matches('"').to_owned();
        mark.1.push((number(3), number(4)));
    }
    marks.into_values().collect()
}

/// The sorted values of a column at each time, over the cells with one beta.
fn stored(folder: &Path, beta: f64, column: &str) -> Vec<(f64, Vec<f64>)> {
    let mut found: Vec<(f64, Vec<f64>)> = Vec::new();
    for cell in std::fs::read_dir(folder.join("cells")).expect("cells").flatten().map(|e| e.path())
    {
        let record: serde_json::Value =
            serde_json::from_slice(&std::fs::read(cell.join("record.json")).expect("a record"))
                .expect("JSON");
        if record["cell"]["beta"].as_f64() != Some(beta) {
            continue;
        }
        let table = arrays::table(&cell.join("table.npy")).expect("a table");
        for (t, value) in table.column("t").into_iter().zip(table.column(column)) {
            match found.iter_mut().find(|f| (f.0 - t).abs() < 1e-12) {
                Some((_, values)) => values.push(value),
                None => found.push((t, vec![value])),
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.iter_mut().for_each(|f| f.1.sort_by(f64::total_cmp));
    found
}

#[test]
fn medians_and_percentiles_agree_with_the_stored_tables() {
    let (f, results) = folder();
    let at = f.path();
    let answer = json(
        at,
        &format!("plot {results} --x t --y order_parameter --by beta --band 10,90 --out plots"),
    );
    let files: Vec<PathBuf> = answer["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|p| at.join(p.as_str().expect("a path")))
        .collect();
    let endings: Vec<String> = files
        .iter()
        .map(|p| p.extension().expect("an ending").to_string_lossy().into_owned())
        .collect();
    assert_eq!(endings, ["svg", "png", "csv", "txt", "pdf"]);
    assert!(
        files.iter().all(|p| p
            .file_stem()
            .is_some_and(|s| s.to_string_lossy().ends_with("-order-parameter-over-t-by-beta"))),
        "{files:?}"
    );
    // Nine realisations of two models at four times, for each beta.
    assert_eq!(
        (answer["rows"].as_u64(), answer["curves"].as_u64(), answer["left_out"].as_u64()),
        (Some(144), Some(2), Some(0))
    );
    let marks = drawn(&files[2]);
    let labels: Vec<&str> = marks.iter().map(|m| m.0.as_str()).collect();
    assert_eq!(labels, ["", "", "β = 1", "β = 9"]);
    for (curve, beta) in [(0, 1.0), (1, 9.0)] {
        let expected = stored(&at.join(&results), beta, "order_parameter");
        assert_eq!(expected.len(), 4);
        for (k, (t, values)) in expected.iter().enumerate() {
            assert_eq!(values.len(), 18);
            // The median of 18 values is the mean of the middle two. The tenth percentile is at
            // position 1.7, the ninetieth at 15.3.
            let between = |place: usize, share: f64| {
                (1.0 - share) * values[place] + share * values[place + 1]
            };
            let band = &marks[curve].1;
            let shown = [marks[2 + curve].1[k], band[2 * k], band[2 * k + 1]];
            // Order parameters are at most 1, and an interpolation has a few rounding errors. The
            // bound 1e-12 also covers the times, which are matched by value.
            let near = |(x, y): (f64, f64), wanted: f64| {
                (x - t).abs() < 1e-12 && (y - wanted).abs() < 8.0 * f64::EPSILON
            };
            assert!(near(shown[0], between(8, 0.5)), "{shown:?} {values:?}");
            assert!(
                near(shown[1], between(1, 0.7)) && near(shown[2], between(15, 0.3)),
                "{shown:?} {values:?}"
            );
        }
    }
    let caption = std::fs::read_to_string(&files[3]).expect("a caption");
    for words in [
        "Median of order parameter over t",
        "of up to 18 values",
        "percentiles 10 and 90",
        "one curve for each β",
        "2 values of model",
        "timeline of grid-",
    ] {
        assert!(caption.contains(words), "{words}: {caption}");
    }
}

/// The numbers of one mark.
fn ys(mark: &(String, Vec<(f64, f64)>)) -> Vec<f64> {
    mark.1.iter().map(|p| p.1).collect()
}

#[test]
fn means_shares_theories_and_fits_agree_with_the_stored_tables() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    let text = "name='ends'\nn=3\nd=2\nbeta=[1,2,3,4]\nt_end=1e9\nstop_at_one_cluster=true\nrealisations=5\n";
    std::fs::write(at.join("ends.toml"), text).expect("writable");
    let results =
        json(at, "run ends.toml")["folder"].as_str().expect("a folder").replace('\\', "/");
    let rows = stored_results(&at.join(&results));
    let of = |beta: f64| rows.iter().filter(move |r| (r["beta"] - beta).abs() < 1e-12);
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let csv = |answer: &serde_json::Value| {
        let files = answer["files"].as_array().expect("files").iter();
        let mut names = files.map(|p| p.as_str().expect("a path"));
        at.join(names.find(|p| p.ends_with(".csv")).expect("numbers"))
    };

    let answer = json(
        at,
        &format!(
            "plot {results} --x beta --y t_one_cluster --mean --theory --fit exponential --out a"
        ),
    );
    let marks = drawn(&csv(&answer));
    let (bars, points) = (ys(&marks[0]), ys(&marks[1]));
    let (mut logs, mut theory) = (Vec::new(), Vec::new());
    for (k, beta) in [1.0, 2.0, 3.0, 4.0].into_iter().enumerate() {
        let times: Vec<f64> = of(beta).map(|r| r["t_one_cluster"]).collect();
        let middle = mean(times.clone());
        let error = (times.iter().map(|t| (t - middle).powi(2)).sum::<f64>() / 20.0).sqrt();
        // Sums of five numbers.
        let near = |found: f64, wanted: f64| (found - wanted).abs() < 1e-14 * wanted.abs() + 1e-14;
        assert!(near(points[k], middle), "{beta}: {} {middle}", points[k]);
        assert!(near(bars[2 * k], middle - error) && near(bars[2 * k + 1], middle + error));
        logs.push((beta, middle.ln()));
        let known: Vec<f64> = of(beta).map(|r| r["predicted_t"]).filter(|t| *t >= 0.0).collect();
        if !known.is_empty() {
            theory.push(mean(known));
        }
    }
    // The slope of four points at 1, 2, 3, 4 by hand.
    let slope = (-1.5 * logs[0].1 - 0.5 * logs[1].1 + 0.5 * logs[2].1 + 1.5 * logs[3].1) / 5.0;
    let fit = &answer["fits"][0];
    assert!((fit["slope"].as_f64().expect("a slope") - slope).abs() < 1e-13, "{fit} {slope}");
    assert!(fit["error"].as_f64().is_some_and(|e| e > 0.0));
    assert!(!theory.is_empty(), "no run has a prediction");
    assert_eq!(ys(marks.last().expect("marks")), theory);

    let shares =
        drawn(&csv(&json(at, &format!("plot {results} --x beta --y one_cluster --out b"))));
    for (k, beta) in [1.0, 2.0, 3.0, 4.0].into_iter().enumerate() {
        let hits = of(beta).filter(|r| r["t_one_cluster"].is_finite()).count();
        assert!((shares[1].1[k].1 - hits as f64 / 5.0).abs() < 1e-15);
        let [low, high] = metastable::num::stats::share_interval(hits, 5, 0.95);
        assert_eq!(ys(&shares[0])[2 * k..2 * k + 2], [low, high]);
    }
    for (line, words) in [
        ("--y t_one_cluster --mean", "--mean: found one value at every t"),
        (
            "--x beta --y one_cluster --where beta=1 --fit line",
            "--fit: found a curve with 1 points",
        ),
        ("--x beta --y evaluations --theory", "--theory: found no column"),
        ("--x beta --y t,evaluations --theory predicted_t", "--theory: found 2 columns"),
    ] {
        refused(at, &format!("plot {results} {line}"), words);
    }
}

/// The rows of results.csv: numbers by column.
fn stored_results(folder: &Path) -> Vec<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(folder.join("results.csv")).expect("results");
    let mut lines = text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(','));
    let names: Vec<String> = lines.next().expect("a head").map(str::to_owned).collect();
    let row = |line: std::str::Split<char>| {
        let numbers = line.map(|v| v.parse().unwrap_or(f64::NAN));
        names.iter().cloned().zip(numbers).collect()
    };
    lines.map(row).collect()
}

#[test]
fn the_command_in_the_file_reproduces_it_with_any_number_of_threads() {
    let (f, results) = folder();
    let at = f.path();
    let line = format!(
        "plot {results} --y clusters,order_parameter --by model --where beta=9 --band 25,75 --log x --points --size nature1 --out a"
    );
    assert!(run(at, &line).status.success());
    // The name contains folder, columns, curves and rows, so other plots do not overwrite it.
    let mut names = std::fs::read_dir(at.join("a"))
        .expect("a folder")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned());
    let stem = names.find_map(|n| n.strip_suffix(".svg").map(str::to_owned)).expect("a picture");
    assert!(
        stem.starts_with("grid-")
            && stem.ends_with("-clusters-order-parameter-over-t-by-model-beta-9"),
        "{stem}"
    );
    let svg = std::fs::read(at.join(format!("a/{stem}.svg"))).expect("drawn");
    // The caption has it from the table beside it.
    let [reproduce, again] = ["svg", "txt"].map(|ending| {
        let found = json(at, &format!("provenance a/{stem}.{ending}"));
        found["reproduce"].as_str().expect("a line").to_owned()
    });
    assert_eq!(reproduce, again);
    assert!(
        run(at, &format!("{} --threads 3 --out b", reproduce.trim_start_matches("metastable ")))
            .status
            .success(),
        "{reproduce}"
    );
    assert!(svg == std::fs::read(at.join(format!("b/{stem}.svg"))).expect("drawn"), "{reproduce}");
    // A logarithmic axis leaves out t = 0; three times remain.
    assert!(drawn(&at.join(format!("a/{stem}.csv"))).iter().all(|m| m.1.iter().all(|p| p.0 > 0.0)));
}

#[test]
fn results_runs_densities_and_studies_are_drawn_too() {
    let (f, results) = folder();
    let at = f.path();
    // A column of the results over an axis of the grid.
    let answer =
        json(at, &format!("plot {results} --x beta --y evaluations --by model --out e.csv"));
    assert_eq!((answer["table"].as_str(), answer["rows"].as_u64()), (Some("results"), Some(36)));
    let marks = drawn(&at.join("e.csv"));
    assert!(
        marks.len() == 2
            && marks.iter().all(|m| m.1.iter().map(|p| p.0).eq([1.0, 9.0]))
            && marks[1].0 == "norm=mix:tau=1",
        "{marks:?}"
    );
    json(at, "solve --init uniform --n 5 --d 2 --beta 2 --t-end 3 --samples 4 --out run");
    json(at, "plot run --y clusters --out run.svg");
    json(
        at,
        "measure --space circle --density cos:1=0.2 --dynamics sa --beta 2 --t-end 1 --out density",
    );
    json(at, "plot density --table timeline --y negentropy --out density.pdf");
    json(at, "run merging-times --set beta=5,10,20,40,80");
    let study = std::fs::read_dir(at.join("runs"))
        .expect("runs")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned());
    let study = study.into_iter().find(|n| n.starts_with("study-merging-times")).expect("a study");
    json(
        at,
        &format!(
            "plot runs/{study} --x beta --y measured,exact --by rho --where alpha=0.5 --out study.csv"
        ),
    );
    let text = std::fs::read_to_string(at.join("study.csv")).expect("drawn");
    // Three values of rho, five of beta, two panels.
    assert_eq!(text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).count(), 30);
}

#[test]
fn wrong_names_are_refused_with_the_known_ones() {
    let (f, results) = folder();
    let at = f.path();
    std::fs::create_dir(at.join("empty")).expect("a folder");
    snapshot::refusals("plot", at, &[("RESULTS", &results)]);
    // How many values differ depends on the rounding of the machine.
    let line = format!("plot {results} --y clusters --by order_parameter");
    refused(at, &line, "values, expected at most 12 curves");
    assert!(!at.join("runs/figures").exists(), "a refused plot must write nothing");
}

//! `plot`: medians and percentiles agree with the stored tables, wrong names are refused with the
//! known ones, the command in the file reproduces it.

use crate::program::{Place, entries, items, number, rows, words};
use crate::snapshot;
use metastable::lab::arrays;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const EXPERIMENT: &str = "name='grid'\ninit='uniform'\nn=6\nd=2\nbeta=[1,9]\nt_end=20\ntimes=[0,1,5,20]\nrealisations=9\nobservables=['order-parameter','clusters']\n[model]\nnorm=['post','mix:tau=1']\n";

/// A folder with an experiment that was run, and the path of its results.
fn folder(text: &str) -> (Place, String) {
    let at = Place::with(&[("grid.toml", text)]);
    let ran = at.json("run grid.toml");
    let results = words(&ran["folder"]).replace('\\', "/");
    (at, results)
}

/// The file with this ending that a plot wrote.
fn file(at: &Place, answer: &Value, ending: &str) -> PathBuf {
    let mut names = items(&answer["files"]).iter().map(words);
    at.join(names.find(|p| p.ends_with(ending)).expect("a file"))
}

/// The drawn points of a CSV file: for each mark its label and its points (x, y).
fn drawn(path: &Path) -> Vec<(String, Vec<(f64, f64)>)> {
    let text = std::fs::read_to_string(path).expect("drawn numbers");
    let mut marks: BTreeMap<usize, (String, Vec<(f64, f64)>)> = BTreeMap::new();
    for line in &rows(&text)[1..] {
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
    for cell in entries(&folder.join("cells")) {
        let record = std::fs::read(cell.join("record.json")).expect("a record");
        let record: Value = serde_json::from_slice(&record).expect("JSON");
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
    let (at, results) = folder(EXPERIMENT);
    let call = "--x t --y order_parameter --by beta --band 10,90 --out plots";
    let answer = at.json(&format!("plot {results} {call}"));
    let names = items(&answer["files"]).iter().map(words);
    let endings: Vec<&str> = names
        .filter_map(|n| n.split_once("-order-parameter-over-t-by-beta."))
        .map(|n| n.1)
        .collect();
    assert_eq!(endings, ["svg", "png", "csv", "txt", "pdf"], "{answer}");
    // Nine realisations of two models at four times, for each beta.
    for (key, count) in [("rows", 144), ("curves", 2), ("left_out", 0)] {
        assert_eq!(answer[key], count, "{key}");
    }
    let marks = drawn(&file(&at, &answer, ".csv"));
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
            for ((x, y), wanted) in [
                (marks[2 + curve].1[k], between(8, 0.5)),
                (band[2 * k], between(1, 0.7)),
                (band[2 * k + 1], between(15, 0.3)),
            ] {
                // Order parameters are at most 1, and an interpolation has a few rounding errors.
                // The bound 1e-12 also covers the times, which are matched by value.
                let near = (x - t).abs() < 1e-12 && (y - wanted).abs() < 8.0 * f64::EPSILON;
                assert!(near, "{x} {y} {wanted} {values:?}");
            }
        }
    }
    let caption = at.read(file(&at, &answer, ".txt"));
    for part in [
        "Median of order parameter over t",
        "of up to 18 values",
        "percentiles 10 and 90",
        "one curve for each β",
        "2 values of model",
        "timeline of grid-",
    ] {
        assert!(caption.contains(part), "{part}: {caption}");
    }
}

/// The numbers of one mark.
fn ys(mark: &(String, Vec<(f64, f64)>)) -> Vec<f64> {
    mark.1.iter().map(|p| p.1).collect()
}

#[test]
fn means_shares_theories_and_fits_agree_with_the_stored_tables() {
    let (at, results) = folder(
        "name='ends'\nn=3\nd=2\nbeta=[1,2,3,4]\nt_end=1e9\nstop_at_one_cluster=true\n\
         realisations=5\n",
    );
    let all = stored_results(&at.join(&results));
    let of = |beta: f64| all.iter().filter(move |r| (r["beta"] - beta).abs() < 1e-12);
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let call = "--x beta --y t_one_cluster --mean --theory --fit exponential --out a";
    let answer = at.json(&format!("plot {results} {call}"));
    let marks = drawn(&file(&at, &answer, ".csv"));
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
        logs.push(middle.ln());
        let known: Vec<f64> = of(beta).map(|r| r["predicted_t"]).filter(|t| *t >= 0.0).collect();
        if !known.is_empty() {
            theory.push(mean(known));
        }
    }
    // The slope of four points at 1, 2, 3, 4 by hand.
    let slope = (-1.5 * logs[0] - 0.5 * logs[1] + 0.5 * logs[2] + 1.5 * logs[3]) / 5.0;
    let fit = &answer["fits"][0];
    assert!((number(&fit["slope"]) - slope).abs() < 1e-13, "{fit} {slope}");
    assert!(number(&fit["error"]) > 0.0 && !theory.is_empty(), "no run has a prediction: {fit}");
    assert_eq!(ys(marks.last().expect("marks")), theory);

    let answer = at.json(&format!("plot {results} --x beta --y one_cluster --out b"));
    let shares = drawn(&file(&at, &answer, ".csv"));
    for (k, beta) in [1.0, 2.0, 3.0, 4.0].into_iter().enumerate() {
        let hits = of(beta).filter(|r| r["t_one_cluster"].is_finite()).count();
        assert!((shares[1].1[k].1 - hits as f64 / 5.0).abs() < 1e-15);
        let [low, high] = metastable::num::stats::share_interval(hits, 5, 0.95);
        assert_eq!(ys(&shares[0])[2 * k..2 * k + 2], [low, high]);
    }
    for (line, part) in [
        ("--y t_one_cluster --mean", "--mean: found one value at every t"),
        (
            "--x beta --y one_cluster --where beta=1 --fit line",
            "--fit: found a curve with 1 points",
        ),
        ("--x beta --y evaluations --theory", "--theory: found no column"),
        ("--x beta --y t,evaluations --theory predicted_t", "--theory: found 2 columns"),
    ] {
        at.refused(&format!("plot {results} {line}"), part);
    }
}

/// The rows of results.csv: numbers by column.
fn stored_results(folder: &Path) -> Vec<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(folder.join("results.csv")).expect("results");
    let lines = rows(&text);
    let row = |line: &&str| {
        let numbers = line.split(',').map(|v| v.parse().unwrap_or(f64::NAN));
        lines[0].split(',').map(str::to_owned).zip(numbers).collect()
    };
    lines[1..].iter().map(row).collect()
}

#[test]
fn the_command_in_the_file_reproduces_it_with_any_number_of_threads() {
    let (at, results) = folder(EXPERIMENT);
    let style = "--band 25,75 --log x --points --size nature1 --out a";
    let call = "--y clusters,order_parameter --by model --where beta=9";
    let answer = at.json(&format!("plot {results} {call} {style}"));
    // The name contains folder, columns, curves and rows, so other plots do not overwrite it.
    let own = items(&answer["files"]).iter().map(words).find(|n| n.ends_with(".svg"));
    let stem = own.and_then(|n| Path::new(n).file_stem()?.to_str()).expect("a picture");
    let end = "-clusters-order-parameter-over-t-by-model-beta-9";
    assert!(stem.starts_with("grid-") && stem.ends_with(end), "{stem}");
    // The caption has the command from the table beside it.
    let [reproduce, again] = ["svg", "txt"].map(|ending| {
        words(&at.json(&format!("explain a/{stem}.{ending}"))["reproduce"]).to_owned()
    });
    assert_eq!(reproduce, again);
    let line = reproduce.trim_start_matches("metastable ");
    at.printed(&format!("{line} --threads 3 --out b"));
    assert!(at.read(format!("a/{stem}.svg")) == at.read(format!("b/{stem}.svg")), "{reproduce}");
    // A logarithmic axis leaves out t = 0; three times remain.
    assert!(drawn(&at.join(format!("a/{stem}.csv"))).iter().all(|m| m.1.iter().all(|p| p.0 > 0.0)));
}

#[test]
fn results_runs_densities_and_studies_are_drawn_too() {
    let (at, results) = folder(EXPERIMENT);
    // A column of the results over an axis of the grid.
    let call = "--x beta --y evaluations --by model --out e.csv";
    let answer = at.json(&format!("plot {results} {call}"));
    assert!(answer["table"] == "results" && answer["rows"] == 36, "{answer}");
    let marks = drawn(&at.join("e.csv"));
    assert!(marks.len() == 2 && marks[1].0 == "norm=mix:tau=1", "{marks:?}");
    assert!(marks.iter().all(|m| m.1.iter().map(|p| p.0).eq([1.0, 9.0])), "{marks:?}");
    let density = "measure --space circle --density cos:1=0.2 --dynamics sa --beta 2 --t-end 1";
    for line in [
        "solve --init uniform --n 5 --d 2 --beta 2 --t-end 3 --samples 4 --out run",
        "plot run --y clusters --out run.svg",
        &format!("{density} --out density")[..],
        "plot density --table timeline --y negentropy --out density.pdf",
        "run merging-times --set beta=5,10,20,40,80",
    ] {
        at.json(line);
    }
    let mut studies = entries(&at.join("runs")).into_iter().filter_map(|p| {
        let name = p.file_name()?.to_str()?.to_owned();
        name.starts_with("study-merging-times").then_some(name)
    });
    let study = studies.next().expect("a study");
    let call = "--x beta --y measured,exact --by rho --where alpha=0.5 --out study.csv";
    at.json(&format!("plot runs/{study} {call}"));
    let text = at.read("study.csv");
    // Three values of rho, five of beta, two panels.
    assert_eq!(text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).count(), 30);
}

#[test]
fn wrong_names_are_refused_with_the_known_ones() {
    let (at, results) = folder(EXPERIMENT);
    std::fs::create_dir(at.join("empty")).expect("a folder");
    snapshot::refusals("plot", &at, &[("RESULTS", &results)]);
    // How many values differ depends on the rounding of the machine.
    let line = format!("plot {results} --y clusters --by order_parameter");
    at.refused(&line, "values, expected at most 12 curves");
    assert!(!at.join("runs/figures").exists(), "a refused plot must write nothing");
}

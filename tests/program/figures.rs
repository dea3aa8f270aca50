//! Figures: the same data give the same bytes, files need no network, the plotted numbers are
//! written with them, captions are right.

use crate::program::{Place, entries, items, words};
use crate::snapshot;
use metastable::draw::{Axis, CATEGORIES, Mark};
use metastable::paper_figs::{ALL, Inputs};
use metastable::study::Values;
use std::path::Path;

#[test]
fn figures_are_reproducible_and_self_contained() {
    let figures = "gamma-curve saddle-kernel regime-chart layer-energy metastability \
                   circle-snapshots inner-products";
    let [one, three] = [1, 3].map(|threads| {
        let at = Place::with(&[]);
        at.printed(&format!("figure {figures} --threads {threads} --dpi 100"));
        at
    });
    let files = entries(&one.join("runs/figures"));
    assert_eq!(files.len(), 7 * 5);
    for file in files {
        let name = file.strip_prefix(&*one).expect("inside");
        let first = std::fs::read(&file).expect("written");
        assert!(first == std::fs::read(three.join(name)).expect("written"), "{name:?} differs");
        let text = String::from_utf8_lossy(&first).into_owned();
        let ending = file.extension().and_then(|e| e.to_str()).expect("an ending");
        let (start, has, lacks) = match ending {
            // The font is embedded and text stays text.
            "svg" => ("", ["data:font/ttf;base64,", "<text"], "http"),
            // A date would change its bytes.
            "pdf" => ("%PDF-", ["/FontFile2", "{\"tool\":\"metastable"], "/CreationDate"),
            "csv" => ("", ["panel,mark,label,x,y,value", "\n"], "\0"),
            _ => continue,
        };
        let text = text.replace("http://www.w3.org/2000/svg", "");
        assert!(text.starts_with(start) && has.iter().all(|h| text.contains(h)), "{name:?}");
        assert!(!text.contains(lacks), "{name:?}: {lacks}");
        assert!(ending != "csv" || text.lines().count() > 10, "{name:?}");
    }
}

#[test]
fn categories_differ_for_colour_blind_readers() {
    // In deuteranopia (Vienot, Brettel, Mollon 1999, linearised) red and green look alike. The
    // first six categories must stay different.
    let perceived = |c: plotters::style::RGBColor| {
        let linear = |v: u8| (f64::from(v) / 255.0).powf(2.2);
        let (r, g, b) = (linear(c.0), linear(c.1), linear(c.2));
        let mixed = 0.292_75 * r + 0.707_25 * g;
        [mixed.powf(1.0 / 2.2), (-0.022_336 * r + 0.022_336 * g + b).max(0.0).powf(1.0 / 2.2)]
    };
    let shown: Vec<[f64; 2]> = CATEGORIES.iter().take(6).map(|c| perceived(*c)).collect();
    for i in 0..shown.len() {
        for j in 0..i {
            let gap = (shown[i][0] - shown[j][0]).hypot(shown[i][1] - shown[j][1]);
            assert!(gap > 0.08, "categories {i} and {j} are {gap} apart");
        }
    }
}

#[test]
fn one_file_of_the_given_size_is_written() {
    let at = Place::with(&[]);
    let size = "--size 84x60 --font-size 7 --theme dark --dpi 100";
    for ending in ["pdf", "svg", "png", "csv", "txt"] {
        at.printed(&format!("figure saddle-kernel {size} --out f.{ending}"));
        assert!(at.join(format!("f.{ending}")).is_file(), "f.{ending} is not a file");
    }
    // 84 and 60 mm in points.
    for (name, part) in [
        ("f.svg", "width=\"84.00mm\" height=\"60.00mm\""),
        ("f.pdf", "/MediaBox [0 0 238.11023 170.07874]"),
    ] {
        let bytes = std::fs::read(at.join(name)).expect("written");
        assert!(String::from_utf8_lossy(&bytes).contains(part), "{name}");
    }
    assert_eq!(entries(&at).len(), 5, "other files were written");
}

#[test]
fn parameters_change_figures_and_wrong_ones_are_refused() {
    let at = Place::with(&[]);
    let drawn = |flags: &str| {
        at.printed(&format!("figure gamma-curve --out g.csv --force {flags}"));
        at.read("g.csv")
    };
    let plain = drawn("");
    for set in ["--set n=16", "--set beta=1,2", "--set t_end=10"] {
        assert!(drawn(set) != plain, "{set} changes nothing");
    }
    snapshot::refusals("figures", &at, &[]);
    let text = at.printed("explain gamma-curve");
    let n = "n = 32 (whole numbers from 2 to 1000000): tokens of the curves";
    assert!(text.contains(n), "{text}");
}

/// The table of a study that was run.
fn study_table(at: &Place, call: &str, name: &str) -> String {
    let files = at.json(&format!("run {call}")).to_string();
    files.split('"').find(|w| w.ends_with(name)).expect("a table").to_owned()
}

#[test]
fn figures_of_experiments_studies_and_hidden_states_take_other_values() {
    let at = Place::with(&[]);
    let written = |call: &str, file: &str| {
        at.printed(&format!("figure {call} --out {file}"));
        at.read(file)
    };
    // The rows of the phase diagram may be given in any order.
    let grid = "--set beta=3,1..2:lin3 --set n=4 --set d=2 --set realisations=2 --set t_end=1";
    let table = written(&format!("phase-diagram {grid}"), "p.csv");
    let cells = table.lines().filter(|l| l.starts_with("0,0,"));
    let edges: std::collections::BTreeSet<&str> =
        cells.filter_map(|l| l.split(',').nth(4)).collect();
    // Edges lie half way between the inverse temperatures 1, 1.5, 2, 3. A cell is written with the
    // lower edge of its row.
    assert!(edges.iter().eq(&["1", "1.25", "1.75", "2.5"]), "{edges:?}");
    // Layers 0 and 6 of seven, compared with SA at a given inverse temperature.
    let layers = "inner-products --set every=6 --set beta=2";
    let table = written(layers, "i.csv");
    let has = |panel: &str| table.lines().any(|l| l.starts_with(panel));
    assert!(has("1,") && !has("2,"), "two panels");
    assert!(written(layers, "i.txt").contains("a given inverse temperature"));
    // A study with other values has its own folder, and its file contains the command.
    let file = study_table(&at, "merging-times --set beta=5 --set rho=0", "times.csv");
    assert!(!file.starts_with("runs/study-merging-times/"), "{file}");
    let text = at.read(&file);
    assert!(text.contains("metastable run merging-times --set beta=5 --set rho=0"), "{text}");
    assert_eq!(text.lines().filter(|l| l.starts_with("0,")).count(), 2, "two masses: {text}");
}

#[test]
fn runs_and_experiments_of_users_are_drawn() {
    let keys = "d = 2\nbeta = 5\nsamples = 20\nobservables = ['log-energy', 'clusters', \
                'order-parameter']\n";
    let one = format!("name = 'e'\nn = 6\nt_end = 100\nlog_from = 0.1\n{keys}");
    let two = format!("name = 'two'\nn = [4, 6]\nt_end = 10\n{keys}");
    let at = Place::with(&[("e.toml", &one), ("two.toml", &two)]);
    let observed = "--observables log-energy,clusters,positions --samples 60 --log-from 0.1";
    let solve = "solve --init uniform --n 8 --d 2 --beta 9 --t-end 1e4 --out mine";
    at.printed(&format!("{solve} {observed}"));
    let [own, both] = ["e", "two"].map(|name| at.json(&format!("run {name}.toml")));
    let (own, place) = (words(&own["folder"]), words(&both["folder"]));
    // If there are several cells, one must be named.
    let cell = items(&both["cells"]).iter().find(|c| c["n"] == 6).expect("a cell");
    let cell = words(&cell["cell"]);
    for (call, part) in [
        ("--from-run mine --out mine.csv", ""),
        ("--from-run mine --out mine.txt", "n = 8, d = 2, beta = 9"),
        ("--experiment e.toml --out e.svg", ""),
        (&format!("--from-run {own} --out r.svg")[..], ""),
        (&format!("--from-run {place} --cell {cell} --out c.txt")[..], "n = 6, d = 2"),
    ] {
        at.printed(&format!("figure timeline {call}"));
        let file = call.rsplit(' ').next().expect("a file");
        assert!(at.read(file).contains(part), "{call}");
    }
    // Wrong cells and folders are refused with the nearest ones.
    for (call, expected) in [
        (format!("timeline --from-run {place}"), "expected one cell (--cell ID)".to_owned()),
        (
            format!("timeline --from-run {place} --cell zz"),
            "--cell: found zz, expected the beginning of one of 2 cells".to_owned(),
        ),
        (format!("timeline --from-run {own} --cell {cell}"), format!("--cell: found {cell}")),
        ("timeline --from-run runs/two".to_owned(), format!("no such folder (nearest: {place})")),
        (format!("circle-snapshots --from-run {own}"), "a column x_0_0".to_owned()),
    ] {
        at.refused(&format!("figure {call} --out r.svg"), &expected);
    }
}

/// Captions and labels for other parameters than the defaults must not contain the defaults.
#[test]
fn captions_describe_the_drawn_parameters() {
    let at = Place::with(&[]);
    let staircase = [
        "ends at t = 1e300 with 4 clusters",
        "here for beta = 100000",
        "continues beyond the right panel",
    ];
    for (call, has, lacks) in [
        (
            "merging-times --set beta=3,9 --set rho=0.2 --set alpha=0.3",
            &["0.3, 0.7", "0.2", "beta = 3 and 9"][..],
            &["1/5", "400"][..],
        ),
        ("regime-chart --set n=3", &["is 0 here and not drawn"], &["Dashed"]),
        ("saddle-kernel --set beta=0.1,500", &["0.1 and 500"], &["["]),
        ("staircase --set beta=10", &["energy 0.71"], &["Dotted"]),
        ("staircase --set beta=100000", &staircase, &["overlap from the start"]),
        (
            "cluster-count --set n=12 --set beta=100,200 --set starts=2",
            &["12 uniform tokens"],
            &["orrelation"],
        ),
        ("inner-products --set every=4 --set beta=2", &["3 of 7 layers"], &[]),
    ] {
        let [caption, numbers] = ["f.txt", "f.csv"].map(|file| {
            at.printed(&format!("figure {call} --out {file} --force"));
            at.read(file)
        });
        assert!(has.iter().all(|h| caption.contains(h)), "{call}: {caption}");
        assert!(!lacks.iter().any(|l| caption.contains(l)), "{call}: {caption}");
        let legend = ["sharp threshold", "correlation"].iter().any(|w| numbers.contains(w));
        assert!(!legend, "{call}: in the legend");
    }
}

#[test]
fn axes_contain_the_data_at_the_ends_of_the_parameter_ranges() {
    for (name, parameter, value) in [
        ("merging-times", "beta", "2,600"),
        ("growth-rates", "beta", "0.1,100"),
        ("saddle-kernel", "beta", "0.1,500"),
    ] {
        let figure = ALL.iter().find(|f| f.name == name).expect("registered");
        let mut inputs =
            Inputs { values: Values::defaults(figure.all_parameters()), ..Inputs::default() };
        inputs.values.set(&figure.all_parameters(), parameter, value).expect("in range");
        if name == "merging-times" {
            inputs.values.set(&figure.all_parameters(), "rho", "0.5").expect("in range");
        }
        if let Some(part) = figure.study {
            inputs.tables = (part.run)(&inputs.values).expect("runs");
        }
        let picture = (figure.draw)(&inputs).expect("draws");
        for panel in &picture.panels {
            let drawn = panel.marks.iter().flat_map(|m| match m {
                Mark::Line { points, .. } | Mark::Points { points, .. } => points.clone(),
                _ => Vec::new(),
            });
            let places: Vec<[f64; 2]> = drawn
                .filter(|p| p.0.is_finite() && p.1.is_finite())
                .map(|p| [panel.x.position(p.0), panel.y.position(p.1)])
                .collect();
            let inside = places
                .iter()
                .filter(|p| p.iter().all(|s| (-1e-9..=1.0 + 1e-9).contains(s)))
                .count();
            assert!(inside > 1, "{name}: `{}` is empty", panel.title);
            // Curves of laws may leave the panel; data must be inside.
            if ["merging-times", "saddle-kernel"].contains(&name) {
                assert_eq!(inside, places.len(), "{name}: `{}` hides data", panel.title);
            }
        }
    }
    // Axes of counts have whole numbers as ticks.
    let axis = Axis::integer("k", -0.5, 2.5);
    assert!(axis.ticks(8).major.iter().all(|t| t.0.fract().abs() < 1e-12), "{:?}", axis.ticks(8));
}

#[test]
fn a_run_of_other_dynamics_is_not_called_sa() {
    let at = Place::with(&[]);
    let observed = "--observables log-energy,clusters,positions --samples 20 --log-from 0.1";
    let solve = "solve --dynamics usa --init uniform --n 6 --d 2 --beta 4 --seed 3 --t-end 10";
    at.printed(&format!("{solve} --out u {observed}"));
    for figure in ["timeline", "metastability", "circle-snapshots"] {
        at.printed(&format!("figure {figure} --from-run u --out {figure}.txt"));
        let caption = at.read(format!("{figure}.txt"));
        assert!(caption.contains("USA") && !caption.contains(" SA"), "{caption}");
        assert!(!caption.contains("uniform"), "{caption}");
    }
    // The caption of a study has the parameters of its run.
    let call = "cluster-count --set n=14 --set beta=9 --set starts=2";
    let file = study_table(&at, call, "counts.csv");
    let place = Path::new(&file).parent().expect("a folder").display();
    at.printed(&format!("figure cluster-count --from-run {place} --out c.txt"));
    assert!(at.read("c.txt").contains("14 uniform tokens"));
}

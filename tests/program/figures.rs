//! Figures: the same data give the same bytes, files need no network, the plotted numbers are
//! written with them, captions are right.

use crate::program::command;
use crate::snapshot;
use std::path::Path;

fn draw(folder: &Path, threads: &str) {
    let status = command(folder, "")
        .args([
            "figure",
            "gamma-curve",
            "saddle-kernel",
            "regime-chart",
            "layer-energy",
            "metastability",
            "circle-snapshots",
            "inner-products",
        ])
        .args(["--threads", threads, "--dpi", "100"])
        .output()
        .expect("runs");
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
}

#[test]
fn figures_are_reproducible_and_self_contained() {
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    draw(folders[0].path(), "1");
    draw(folders[1].path(), "3");
    let mut count = 0;
    for entry in
        std::fs::read_dir(folders[0].path().join("runs/figures")).expect("figures").flatten()
    {
        let name = entry.file_name();
        let first = std::fs::read(entry.path()).expect("written");
        let second =
            std::fs::read(folders[1].path().join("runs/figures").join(&name)).expect("written");
        assert!(first == second, "{name:?} differs");
        count += 1;
        let text = String::from_utf8_lossy(&first).into_owned();
        if name.to_string_lossy().ends_with(".svg") {
            let outside = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!outside.contains("http"), "{name:?} has an external address");
            assert!(
                text.contains("data:font/ttf;base64,") && text.contains("<text"),
                "{name:?}: the font is embedded and text stays text"
            );
        }
        if name.to_string_lossy().ends_with(".pdf") {
            assert!(
                text.starts_with("%PDF-")
                    && text.contains("/FontFile2")
                    && text.contains("{\"tool\":\"metastable"),
                "{name:?}"
            );
            assert!(!text.contains("/CreationDate"), "{name:?}: a date would change its bytes");
        }
        if name.to_string_lossy().ends_with(".csv") {
            assert!(
                text.lines().count() > 10 && text.contains("panel,mark,label,x,y,value"),
                "{name:?}"
            );
        }
    }
    assert_eq!(count, 7 * 5);
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
    let shown: Vec<[f64; 2]> =
        metastable::draw::CATEGORIES.iter().take(6).map(|c| perceived(*c)).collect();
    for i in 0..shown.len() {
        for j in 0..i {
            let gap = (shown[i][0] - shown[j][0]).hypot(shown[i][1] - shown[j][1]);
            assert!(gap > 0.08, "categories {i} and {j} are {gap} apart");
        }
    }
}

fn metastable(folder: &Path, arguments: &str) -> std::process::Output {
    command(folder, arguments).output().expect("runs")
}

#[test]
fn one_file_of_the_given_size_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ["pdf", "svg", "png", "csv", "txt"] {
        let out = metastable(
            folder.path(),
            &format!(
                "figure saddle-kernel --size 84x60 --font-size 7 --theme dark --dpi 100 --out f.{ending}"
            ),
        );
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        assert!(folder.path().join(format!("f.{ending}")).is_file(), "f.{ending} is not a file");
    }
    let text = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(folder.path().join(name)).expect("written"))
            .into_owned()
    };
    assert!(text("f.svg").contains("width=\"84.00mm\" height=\"60.00mm\""));
    // 84 and 60 mm in points.
    assert!(text("f.pdf").contains("/MediaBox [0 0 238.11023 170.07874]"));
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        5,
        "other files were written"
    );
}

#[test]
fn parameters_change_figures_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let drawn = |flags: &str| {
        let out = metastable(at, &format!("figure gamma-curve --out g.csv --force {flags}"));
        assert!(out.status.success(), "{flags}: {}", String::from_utf8_lossy(&out.stderr));
        std::fs::read_to_string(at.join("g.csv")).expect("written")
    };
    let plain = drawn("");
    for set in ["--set n=16", "--set beta=1,2", "--set t_end=10"] {
        assert!(drawn(set) != plain, "{set} changes nothing");
    }
    snapshot::refusals("figures", at, &[]);
    let explained = metastable(at, "explain gamma-curve");
    let text = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(
        text.contains("n = 32 (whole numbers from 2 to 1000000): tokens of the curves"),
        "{text}"
    );
}

#[test]
fn figures_of_experiments_studies_and_hidden_states_take_other_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let written = |arguments: &str, file: &str| {
        let out = metastable(at, arguments);
        assert!(out.status.success(), "{arguments}: {}", String::from_utf8_lossy(&out.stderr));
        std::fs::read_to_string(at.join(file)).expect("written")
    };
    // The rows of the phase diagram may be given in any order.
    let drawn = "figure phase-diagram --set beta=3,1..2:lin3 --set n=4 --set d=2 --set realisations=2 --set t_end=1 --out p.csv";
    let rows: std::collections::BTreeSet<String> = written(drawn, "p.csv")
        .lines()
        .filter(|l| l.starts_with("0,0,"))
        .filter_map(|l| l.split(',').nth(4).map(str::to_owned))
        .collect();
    // Edges lie half way between the inverse temperatures 1, 1.5, 2, 3. A cell is written with the
    // lower edge of its row.
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), ["1", "1.25", "1.75", "2.5"]);
    // Layers 0 and 6 of seven, compared with SA at a given inverse temperature.
    let layers = written("figure inner-products --set every=6 --set beta=2 --out i.csv", "i.csv");
    assert!(
        layers.lines().any(|l| l.starts_with("1,")) && !layers.lines().any(|l| l.starts_with("2,")),
        "two panels"
    );
    assert!(
        written("figure inner-products --set every=6 --set beta=2 --out i.txt", "i.txt")
            .contains("a given inverse temperature")
    );
    // A study with other values has its own folder, and its file contains the command.
    let out = metastable(at, "run merging-times --set beta=5 --set rho=0 --format json");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let files = String::from_utf8_lossy(&out.stdout).into_owned();
    let file = files.split('"').find(|w| w.ends_with("times.csv")).expect("a table").to_owned();
    assert!(!file.starts_with("runs/study-merging-times/"), "{file}");
    let text = std::fs::read_to_string(at.join(&file)).expect("a table");
    assert!(text.contains("metastable run merging-times --set beta=5 --set rho=0"), "{text}");
    assert!(text.lines().filter(|l| l.starts_with("0,")).count() == 2, "two masses: {text}");
}

#[test]
fn runs_and_experiments_of_users_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let solve = "solve --init uniform --n 8 --d 2 --beta 9 --t-end 1e4 --out mine --observables log-energy,clusters,positions --samples 60 --log-from 0.1";
    assert!(metastable(at, solve).status.success());
    let out = metastable(at, "figure timeline --from-run mine --out mine.csv");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let caption = metastable(at, "figure timeline --from-run mine --out mine.txt");
    assert!(caption.status.success());
    let caption = std::fs::read_to_string(at.join("mine.txt")).expect("written");
    assert!(caption.contains("n = 8, d = 2, beta = 9"), "{caption}");
    std::fs::write(
        at.join("e.toml"),
        "name = 'e'\nn = 6\nd = 2\nbeta = 5\nt_end = 100\nlog_from = 0.1\nsamples = 20\nobservables = ['log-energy', 'clusters']\n",
    )
    .expect("written");
    let out = metastable(at, "figure timeline --experiment e.toml --out e.svg");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let run = metastable(at, "run e.toml");
    let place = String::from_utf8_lossy(&run.stdout)
        .lines()
        .find_map(|l| l.strip_prefix("results in ").map(str::to_owned))
        .expect("a folder");
    assert!(
        metastable(at, &format!("figure timeline --from-run {place} --out r.svg")).status.success()
    );
    // If there are several cells, one must be named. Wrong cells and folders are refused with the
    // nearest ones.
    std::fs::write(at.join("two.toml"), "name = 'two'\nn = [4, 6]\nd = 2\nbeta = 5\nt_end = 10\nsamples = 20\nobservables = ['log-energy', 'clusters', 'order-parameter']\n")
        .expect("written");
    let both = metastable(at, "run two.toml");
    let both = String::from_utf8_lossy(&both.stdout).into_owned();
    let place_of_both = both.lines().find_map(|l| l.strip_prefix("results in ")).expect("a folder");
    let cell = both
        .lines()
        .find(|l| l.contains(" sa  6  2 "))
        .and_then(|l| l.split_whitespace().next())
        .expect("a cell");
    for (arguments, expected) in [
        (format!("--from-run {place_of_both}"), "expected one cell (--cell ID)".to_owned()),
        (
            format!("--from-run {place_of_both} --cell zz"),
            "--cell: found zz, expected the beginning of one of 2 cells".to_owned(),
        ),
        (format!("--from-run {place} --cell {cell}"), format!("--cell: found {cell}")),
        ("--from-run runs/two".to_owned(), format!("no such folder (nearest: {place_of_both})")),
    ] {
        let wrong = metastable(at, &format!("figure timeline {arguments} --out r.svg"));
        let text = String::from_utf8_lossy(&wrong.stderr).into_owned();
        assert!(wrong.status.code() == Some(1) && text.contains(&expected), "{arguments}: {text}");
    }
    assert!(
        metastable(
            at,
            &format!("figure timeline --from-run {place_of_both} --cell {cell} --out c.txt")
        )
        .status
        .success()
    );
    assert!(std::fs::read_to_string(at.join("c.txt")).expect("written").contains("n = 6, d = 2"));
    let wrong = metastable(at, &format!("figure circle-snapshots --from-run {place} --out r.svg"));
    let text = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(1) && text.contains("a column x_0_0"), "{text}");
}

/// Captions and labels for other parameters than the defaults must not contain the defaults.
#[test]
fn captions_describe_the_drawn_parameters() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let draw = |figure: &str, flags: &str| {
        for ending in ["txt", "csv"] {
            let line = format!("figure {figure} {flags} --out f.{ending} --force");
            let out = metastable(at, &line);
            assert!(
                out.status.success(),
                "{figure} {flags}: {}",
                String::from_utf8_lossy(&out.stderr)
            );
        }
        let read = |name: &str| std::fs::read_to_string(at.join(name)).expect("written");
        (read("f.txt"), read("f.csv"))
    };
    for (figure, flags, has, lacks) in [
        (
            "merging-times",
            "--set beta=3,9 --set rho=0.2 --set alpha=0.3",
            &["0.3, 0.7", "0.2", "beta = 3 and 9"][..],
            &["1/5", "400"][..],
        ),
        ("regime-chart", "--set n=3", &["is 0 here and not drawn"], &["Dashed"]),
        ("saddle-kernel", "--set beta=0.1,500", &["0.1 and 500"], &["["]),
        ("staircase", "--set beta=10", &["energy 0.71"], &["Dotted"]),
        (
            "staircase",
            "--set beta=100000",
            &[
                "ends at t = 1e300 with 4 clusters",
                "here for beta = 100000",
                "continues beyond the right panel",
            ],
            &["overlap from the start"],
        ),
        (
            "cluster-count",
            "--set n=12 --set beta=100,200 --set starts=2",
            &["12 uniform tokens"],
            &["orrelation"],
        ),
        ("inner-products", "--set every=4 --set beta=2", &["3 of 7 layers"], &[]),
    ] {
        let (caption, numbers) = draw(figure, flags);
        assert!(has.iter().all(|h| caption.contains(h)), "{figure} {flags}: {caption}");
        assert!(!lacks.iter().any(|l| caption.contains(l)), "{figure} {flags}: {caption}");
        assert!(
            !numbers.contains("sharp threshold") && !numbers.contains("correlation"),
            "{figure} {flags}: in the legend"
        );
    }
}

#[test]
fn axes_contain_the_data_at_the_ends_of_the_parameter_ranges() {
    use metastable::draw::Mark;
    use metastable::paper_figs::{ALL, Inputs};
    use metastable::study::Values;
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
    let axis = metastable::draw::Axis::integer("k", -0.5, 2.5);
    assert!(axis.ticks(8).major.iter().all(|t| t.0.fract().abs() < 1e-12), "{:?}", axis.ticks(8));
}

#[test]
fn a_run_of_other_dynamics_is_not_called_sa() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let solve = "solve --dynamics usa --init uniform --n 6 --d 2 --beta 4 --seed 3 --t-end 10 --out u --observables log-energy,clusters,positions --samples 20 --log-from 0.1";
    assert!(metastable(at, solve).status.success());
    for figure in ["timeline", "metastability", "circle-snapshots"] {
        let out = metastable(at, &format!("figure {figure} --from-run u --out {figure}.txt"));
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let caption = std::fs::read_to_string(at.join(format!("{figure}.txt"))).expect("written");
        assert!(
            caption.contains("USA") && !caption.contains(" SA") && !caption.contains("uniform"),
            "{caption}"
        );
    }
    // The caption of a study has the parameters of its run.
    let out =
        metastable(at, "run cluster-count --set n=14 --set beta=9 --set starts=2 --format json");
    let files = String::from_utf8_lossy(&out.stdout).into_owned();
    let file = files.split('"').find(|w| w.ends_with("counts.csv")).expect("a table").to_owned();
    let place = Path::new(&file).parent().expect("a folder").display().to_string();
    assert!(
        metastable(at, &format!("figure cluster-count --from-run {place} --out c.txt"))
            .status
            .success()
    );
    assert!(
        std::fs::read_to_string(at.join("c.txt")).expect("written").contains("14 uniform tokens")
    );
}

//! Notes, captions, lists and explanations agree with the numbers; parameters have an effect;
//! limits are reported.

use crate::program::{command, json, run, text};
use crate::snapshot;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("two.csv"), "1,0\n0,1\n").expect("writable");
    folder
}

#[test]
fn parameters_of_normalisations_have_an_effect() {
    let f = folder();
    let at = f.path();
    let first = |norm: &str| {
        json(at, &format!("velocity --tokens two.csv --beta 1 --norm {norm}"))["velocity"][0][1]
            .as_f64()
            .expect("a number")
    };
    assert!(
        (first("ngpt:alpha=0.5") / first("ngpt") - 0.5).abs() < 1e-15
            && first("ngpt:alpha=2") > first("ngpt")
    );
    for (tau, radius) in [("0.1", 2.529_678_508_239_008), ("1", 1.892_301_684_385_025), ("5", 1.0)]
    {
        let end =
            json(at, &format!("solve --tokens two.csv --beta 1 --t-end 2 --norm mix:tau={tau}"));
        let predicted = json(
            at,
            &format!("predict normalisation --scheme mix:tau={tau} --n 2 --beta 1 --times 2"),
        )["radius"][0]
            .clone();
        for found in [&end["final_radii"][0], &predicted] {
            assert!((found.as_f64().expect("a radius") - radius).abs() < 1e-8, "{tau}: {found}");
        }
    }
    // As an axis of an experiment, two values give two cells with different numbers.
    let text = "name = \"norms\"\ntitle = \"norms\"\ndynamics = \"sa\"\nn = 4\nd = 3\nbeta = 1\ninit = \"uniform\"\nt_end = 1\n[model]\nnorm = [\"ngpt:alpha=0.5\", \"ngpt:alpha=2\"]\n";
    std::fs::write(at.join("norms.toml"), text).expect("writable");
    let out = run(at, "run norms.toml");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let found = std::fs::read_dir(at.join("runs"))
        .expect("a folder")
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| p.join("results.csv").exists());
    let table =
        std::fs::read_to_string(found.expect("results").join("results.csv")).expect("a table");
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(',').collect()).collect();
    let inner = rows[0].iter().position(|c| c.contains("inner_min")).expect("a column");
    assert!(rows.len() == 3 && rows[1][inner] != rows[2][inner], "{table}");
}

#[test]
fn predictions_use_the_given_parameters() {
    let f = folder();
    let at = f.path();
    for scale in ["u1", "u2", "u3", "u4"] {
        let two = json(
            at,
            &format!(
                "predict two-token-time --beta 20 --from 1.5 --to 0.1 --dynamics usa --time-scale {scale}"
            ),
        );
        let ratio = two["time"].as_f64().expect("a time")
            / two["asymptotic_to_1_minus_1_over_beta"].as_f64().expect("a time");
        assert!((ratio - 1.0).abs() < 0.05, "{scale}: {two}");
    }
    let exact = json(at, "predict two-token-time --beta 0 --from 3 --to 0.1");
    assert!(exact["error"].as_f64().is_some_and(|e| e > 0.0), "{exact}");
    // The expected values 0.001006, 0.001035, 0.1003 are means over 10^5 draws of all keys.
    for (asked, drawn) in [
        ("--d 64 --c 0.5 --n 1000", 1.006e-3),
        ("--d 9 --c 0.1 --n 1000", 1.035e-3),
        ("--d 3 --c 0.01 --n 10", 0.1003),
    ] {
        let found = json(at, &format!("predict long-context {asked}"));
        assert!(
            (found["participation"].as_f64().expect("a share") / drawn - 1.0).abs() < 1e-3,
            "{asked}: {found}"
        );
    }
    for modes in [1, 3, 20] {
        assert_eq!(
            json(at, &format!("predict growth-rates --d 2 --beta 100 --modes {modes}"))["fastest"],
            14
        );
    }
}

#[test]
fn runs_report_only_what_is_known() {
    let f = folder();
    let at = f.path();
    let noisy =
        json(at, "solve --tokens two.csv --beta 20 --t-end 1 --noise kappa=2,seed=1,step=0.1");
    assert!(noisy["remaining_merger_log10_t"].is_null());
    assert!(
        json(at, "solve --tokens two.csv --beta 20 --t-end 1")["remaining_merger_log10_t"]
            .is_number()
    );
    std::fs::write(at.join("opposite.csv"), "1,0\n-1,0\n").expect("writable");
    assert!(
        String::from_utf8_lossy(&run(at, "solve --tokens opposite.csv --beta 3 --t-end 9").stderr)
            .contains("antipodal")
    );
    let apart = String::from_utf8_lossy(
        &run(at, "solve --init uniform --n 32 --d 3 --beta 2 --t-end 20").stdout,
    )
    .into_owned();
    assert!(apart.contains("32 clusters (1 if those closer than 0.35 count as one)"), "{apart}");
    // A run that starts from a run with other dynamics has a note, and other runs have none.
    assert!(
        run(at, "solve --tokens two.csv --beta 2 --t-end 1 --dynamics usa --out usa")
            .status
            .success()
    );
    let other = run(at, "solve --from-run usa --beta 2 --t-end 1");
    assert!(
        String::from_utf8_lossy(&other.stderr)
            .contains("made with dynamics usa; it is now used with dynamics sa")
    );
    assert!(
        !String::from_utf8_lossy(
            &run(at, "solve --from-run usa --beta 2 --t-end 1 --dynamics usa").stderr
        )
        .contains("made with")
    );
    for norm in ["cod", "pre", "ngpt:alpha=0.5"] {
        let end = json(
            at,
            &format!(
                "solve --tokens two.csv --beta 1 --t-end 1e12 --norm {norm} --stop-at-one-cluster"
            ),
        );
        assert_eq!(end["outcome"], "one-cluster", "{norm}: {}", end["outcome"]);
    }
}

#[test]
fn a_run_that_stops_at_one_cluster_shows_no_later_state() {
    let folder = folder();
    let at = folder.path();
    std::fs::write(at.join("one.csv"), "1,0\n").expect("writable");
    std::fs::write(at.join("turn.csv"), "0,1\n-1,0\n").expect("writable");
    // With V a single token keeps moving, so later samples are not known and not written. Without V
    // it stays, and later samples are known.
    for (v, rows) in [("--v turn.csv", 1), ("", 5)] {
        let folder = format!("run{rows}");
        json(
            at,
            &format!(
                "solve --tokens one.csv {v} --beta 1 --t-end 2 --stop-at-one-cluster --samples 5 --out {folder}"
            ),
        );
        let table = std::fs::read_to_string(at.join(folder).join("timeline.csv")).expect("a table");
        let shown: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(shown.len(), rows, "{table}");
        assert!(shown.iter().all(|row| row.ends_with(",1,1,1")), "{table}");
    }
}

#[test]
fn a_feed_forward_sublayer_runs_at_the_usual_tolerance() {
    use metastable::attention::dense::Activation;
    use metastable::attention::{
        Spec,
        model::{FeedForwardWeights, Model},
    };
    use metastable::flow::{Options, solve, velocity_accuracy};
    let d = 4;
    let numbers = |count: usize, seed: u64| -> Vec<f64> {
        let mut v = vec![0.0; count];
        metastable::num::stream::Stream::new(seed, &["units"]).normals(&mut v);
        v.iter().map(|v| 3.0 * v).collect()
    };
    let units = FeedForwardWeights {
        w1: (16, numbers(16 * d, 1)),
        b1: numbers(16, 2),
        w2: (d, numbers(16 * d, 3)),
        b2: numbers(d, 4),
        activation: Activation::Gelu,
    };
    let model = Model { feed_forward: Some(units), ..Model::default() };
    let x = metastable::sphere::law::Law::parse("uniform")
        .and_then(|l| l.sample(6, d, &mut metastable::num::stream::Stream::new(1, &["x"])))
        .expect("tokens");
    for rtol in [1e-10, 1e-6] {
        let spec = Spec { accuracy: velocity_accuracy(rtol, 2.0), ..Spec::new(2.0, 6) };
        let dynamics = model.build("sa", false, &spec, d).expect("a model");
        assert!(
            dynamics.length_scale() < 0.1,
            "the length scale is too large for this test: {}",
            dynamics.length_scale()
        );
        let end = solve(&dynamics, &x, 0.01, &Options { rtol, ..Options::default() }, &mut [])
            .expect("a tolerance that can be kept");
        assert!(end.outcome.is_success());
    }
}

#[test]
fn impossible_requests_are_refused() {
    let f = folder();
    let at = f.path();
    assert!(run(at, "solve --tokens two.csv --beta 2 --t-end 1 --out own --samples 4 --observables positions").status.success());
    snapshot::refusals("reporting", at, &[]);
}

#[test]
fn files_contain_the_command_that_reproduces_them() {
    let f = folder();
    let at = f.path();
    assert!(
        run(
            at,
            "figure regime-chart --set n=9 --size nature1 --font-size 6 --out new/folder/chart.csv"
        )
        .status
        .success()
    );
    let block = json(at, "provenance new/folder/chart.csv")["reproduce"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        block.contains("--set n=9")
            && block.contains("--size nature1")
            && block.contains("--font-size 6"),
        "{block}"
    );
    // One trial is raised to the least number of trials, and the printed command has that number.
    let drawn = String::from_utf8_lossy(&run(at, "check cone-speed --trials 1 --seed 1").stdout)
        .into_owned();
    assert!(drawn.contains("repeat: metastable check cone-speed --seed 1 --trials 9"), "{drawn}");
    for (word, part) in [
        ("window", "|i - j| < W"),
        ("alibi", "2^{-8h/H}"),
        ("u2", "e^{-beta}"),
        ("beta_per_n2", "C n^2"),
        ("diagonal", "repeated"),
    ] {
        assert!(
            String::from_utf8_lossy(&run(at, &format!("explain {word}")).stdout).contains(part),
            "{word}"
        );
    }
}

/// The printed bound of cone-speed holds up to beta = 3.6. On a grid below it no violation is
/// reported; the place of the smallest margin and the command that repeats it belong to the grid.
#[test]
fn a_violation_lies_inside_the_asked_ranges() {
    let f = folder();
    let at = f.path();
    for (beta, low, high) in [("1", 1.0, 1.0), ("1,2.5", 1.0, 2.5), ("2..3", 2.0, 3.0)] {
        let call = format!("check cone-speed-printed --n 2 --d 2 --beta {beta} --trials 5");
        let found = json(at, &call)["claims"][0].clone();
        assert_eq!(
            (found["name"].as_str(), found["verdict"].as_str(), found["as_expected"].as_bool()),
            (Some("cone-speed-printed"), Some("supported"), Some(true)),
            "{found}"
        );
        let worst = found["worst"]["beta"].as_f64().expect("a place");
        assert!((low..=high).contains(&worst), "{call}: {worst}");
        assert!(found["slack"].as_f64() > Some(1.0), "{found}");
        let repeat = format!(
            "metastable check cone-speed-printed --seed 1 --trials 5 --n 2 --d 2 --beta {beta}"
        );
        assert_eq!(found["reproduce"], repeat.as_str());
        let text = String::from_utf8_lossy(&run(at, &call).stdout).into_owned();
        let line = text.lines().find(|l| l.starts_with("smallest margin ")).expect("a place");
        assert!(line.contains(" at n = 2, d = 2, beta = ") && !text.contains("violated"), "{text}");
        let block = json(at, "provenance runs/sweep/cone-speed-printed/margins.csv");
        assert_eq!(block["reproduce"], repeat.as_str());
    }
    // Beyond it there is one, with the slack that belongs to it.
    let found = json(at, "check cone-speed-printed --n 2 --d 2 --beta 10..20 --trials 5");
    let found = &found["claims"][0];
    assert!(found["verdict"] == "violated" && found["slack"].as_f64() < Some(1.0), "{found}");
    let worst = found["worst"]["beta"].as_f64().expect("a place");
    assert!((10.0..=20.0).contains(&worst), "{worst}");
    // Grids are tested before any trial; claims outside of them are left out.
    let out = run(at, "check angular-momentum cone-speed --n 12 --d 2 --beta 1 --trials 1");
    let notes = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(notes.contains("cone-speed-printed is left out: "), "{notes}");
}

/// Every word of the table of verdicts: headers, statuses, kinds, verdicts and their remarks.
#[test]
fn every_word_of_the_table_of_verdicts_is_explained() {
    use metastable::theorem::{ALL, Verdict};
    let f = folder();
    let at = f.path();
    let table = String::from_utf8_lossy(&run(at, "check wendel cone-speed").stdout).into_owned();
    let head = table.lines().find(|l| l.starts_with("claim ")).expect("a head").to_owned();
    let mut words: std::collections::BTreeSet<String> =
        head.split_whitespace().filter(|w| !w.starts_with('(')).map(str::to_owned).collect();
    assert!(words.len() >= 8, "{head}");
    words.extend(ALL.iter().flat_map(|c| [c.status.to_string(), c.kind.to_string()]));
    let verdicts = [
        Verdict::Certified,
        Verdict::Supported,
        Verdict::Inconclusive,
        Verdict::Violated,
        Verdict::HypothesesNeverMet,
    ];
    words.extend(verdicts.iter().map(ToString::to_string));
    words.extend(
        [
            "as expected",
            "as known",
            "ok",
            "WRONG",
            "not 2x",
            "resolving power",
            "searched",
            "every draw",
        ]
        .map(str::to_owned),
    );
    for word in &words {
        let out = run(at, &format!("explain {word}"));
        let explanation = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            out.status.success() && explanation.len() > 20,
            "explain {word}: {explanation}{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
    for prediction in metastable::prediction::all() {
        let out = run(at, &format!("explain {}", prediction.name));
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let parameters = prediction.parameters.iter().map(|p| format!("--{}", p.name));
        let keys = prediction.results.iter().map(|r| r.key.to_owned());
        for part in parameters.chain(keys).chain([prediction.source.to_owned()]) {
            assert!(text.contains(&part), "{}: {part}: {text}", prediction.name);
        }
    }
    for word in ["bifurcation", "fold", "pitchfork"] {
        assert!(run(at, &format!("explain {word}")).status.success(), "{word}");
    }
    let out = run(at, "explain resolves");
    assert!(String::from_utf8_lossy(&out.stdout).contains("relative change"), "resolves");
}

#[test]
fn explanations_are_plain_text_or_markdown_on_request() {
    let f = folder();
    let at = f.path();
    let text = |arguments: &str| String::from_utf8_lossy(&run(at, arguments).stdout).into_owned();
    let plain = text("explain 2410.06833");
    assert!(!plain.contains(['\\', '`']) && !plain.contains("|---"), "{plain}");
    assert!(
        plain.contains("|grad E|^2 >= 2 kappa") && plain.lines().all(|l| l.chars().count() <= 100),
        "{plain}"
    );
    // Columns are aligned: the text of the column `what is tested` begins below its header.
    let head = plain.lines().find(|l| l.starts_with("claim")).expect("a table");
    let place = head.find("what is tested").expect("a column");
    let row = plain.lines().find(|l| l.starts_with("cap-inequality")).expect("a claim");
    assert!(row[place..].starts_with("Within a cap") && row[..place].ends_with("  "), "{row}");
    let markdown = text("explain 2410.06833 --markdown");
    assert!(markdown.contains("| `cap-inequality` | Within a cap \\|grad E\\|^2"), "{markdown}");
    let refused = run(at, "explain cone-speed --markdown");
    assert!(
        refused.status.code() == Some(1)
            && String::from_utf8_lossy(&refused.stderr).contains("the arXiv number of a paper")
    );
}

/// The printed formula is the one by which trials compute the margin, for both kinds of bounds.
#[test]
fn the_margin_of_an_inequality_is_explained_for_upper_and_lower_bounds() {
    use metastable::theorem::Finding;
    let margin = |finding| match finding {
        Finding::Margin(m) => m.value,
        other => panic!("{other:?}"),
    };
    let (value, bound) = (3.0, -2.0);
    assert!((margin(Finding::at_most(value, bound)) - (bound - value) / 2.0).abs() < 1e-15);
    assert!((margin(Finding::at_least(value, bound)) - (value - bound) / 2.0).abs() < 1e-15);
    let f = folder();
    for name in ["cone-speed", "inequality"] {
        let out = String::from_utf8_lossy(&run(f.path(), &format!("explain {name}")).stdout)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        for formula in [
            "(bound - value) / |bound| for an upper bound",
            "(value - bound) / |bound| for a lower bound",
        ] {
            assert!(out.contains(formula), "{out}");
        }
    }
}

/// Figures of papers, with the commands that redraw them.
#[test]
fn printed_figures_name_their_commands() {
    let f = folder();
    let at = f.path();
    let text = |arguments: &str| String::from_utf8_lossy(&run(at, arguments).stdout).into_owned();
    assert!(text("list figures").contains("[2312.10794, figure 3; "), "{}", text("list figures"));
    assert!(text("explain regime-chart").contains("arXiv:2312.10794, figure 2"));
    let paper = text("explain 2312.10794");
    let line =
        |start: &str| paper.lines().find(|l| l.starts_with(start)).unwrap_or_default().to_owned();
    assert!(
        line("figure 6").contains("saddle-kernel")
            && line("figure 5").contains("phase diagrams with random Q, K, V"),
        "{paper}"
    );
    let all = json(at, "list printed-figures");
    let rows = all["printed-figures"].as_array().expect("rows");
    let of = |name: &str| {
        rows.iter()
            .find(|r| r["name"] == name)
            .and_then(|r| r["summary"].as_str())
            .unwrap_or_default()
    };
    assert!(of("2312.10794, figure 3").starts_with("metastable figure phase-diagram: "), "{all}");
    assert!(
        of("2312.10794, figure 5").starts_with("not redrawn: ")
            && of("2410.06833, other figures").ends_with("not read"),
        "{all}"
    );
    assert!(run(at, "figure regime-chart --out r.txt").status.success());
    let caption = std::fs::read_to_string(at.join("r.txt")).expect("a caption");
    assert!(caption.trim_end().ends_with("After arXiv:2312.10794, figure 2."), "{caption}");
}

#[test]
fn lists_man_pages_and_threads() {
    let f = folder();
    let at = f.path();
    let wrong = run(at, "list stuff");
    let message = String::from_utf8_lossy(&wrong.stderr).into_owned();
    let kinds = json(at, "list");
    let kinds = kinds.as_object().expect("kinds");
    assert!(
        wrong.status.code() == Some(1)
            && kinds.len() > 10
            && kinds.keys().all(|k| message.contains(k.as_str())),
        "{message}"
    );
    assert!(run(at, "man pages").status.success());
    for (page, has) in [
        ("metastable.1", "metastable\\-check"),
        ("metastable-check.1", "trials"),
        ("metastable-predict-gamma.1", "beta"),
    ] {
        let text = std::fs::read_to_string(at.join("pages").join(page))
            .unwrap_or_else(|e| panic!("{page}: {e}"));
        assert!(text.contains(".TH") && text.contains(has), "{page}: {text}");
    }
    // The environment variable sets the flag, and the flag overrides it.
    let threads = |value: &str, flag: &str| {
        let words = format!("predict wendel --n 4 --d 2{flag}");
        command(at, &words).env("METASTABLE_THREADS", value).output().expect("runs")
    };
    assert!(threads("2", "").status.success() && threads("0", " --threads 1").status.success());
    // An empty variable sets nothing.
    assert!(threads("", "").status.success());
    let refused = threads("0", "");
    assert!(
        refused.status.code() == Some(1)
            && String::from_utf8_lossy(&refused.stderr).contains("[1, 256]")
    );
    let word = text(&threads("two", "").stderr);
    assert!(word.contains("METASTABLE_THREADS: found two, expected a whole number"), "{word}");
    // Parameters are shown with their values.
    let certain = String::from_utf8_lossy(
        &run(at, "certify start --criteria --init polygon --n 3 --d 2 --beta 4").stdout,
    )
    .into_owned();
    assert!(
        certain.contains(
            "holds: beta = 4 > 0 (the threshold C n^2 of Theorem 5.1 for n = 3 and d = 2"
        ),
        "{certain}"
    );
    assert!(!certain.contains("0.000000") && !certain.contains("2 and 4"), "{certain}");
}

#[test]
fn clusters_and_steady_states_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let ask = |line: &str| json(folder.path(), line);
    let causal = ask(
        "solve --init uniform --n 16 --d 2 --seed 3 --dynamics causal-sa --beta 9 --t-end 1e12",
    );
    assert_eq!(
        (causal["outcome"].as_str(), causal["clusters"].as_u64()),
        (Some("reached"), Some(1))
    );
    assert_eq!(
        (
            causal["final_masses"].as_array().map(Vec::len),
            causal["cluster_masses"].as_array().map(Vec::len)
        ),
        (Some(16), Some(1))
    );
    assert!(causal["stats"]["implicit"].as_u64() > Some(100) && causal["stationary"].is_null());
    let steady = ask(
        "solve --init uniform --n 5 --d 2 --seed 3 --dynamics repulsive-sa --beta 4 --t-end 1e12",
    );
    assert_eq!(
        (steady["outcome"].as_str(), steady["t"].as_f64()),
        (Some("stationary"), Some(1e12))
    );
    assert!(
        steady["stationary"]["remaining_distance"].as_f64().is_some_and(|left| left < 1e-10),
        "{steady}"
    );
}

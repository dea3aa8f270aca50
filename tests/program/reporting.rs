//! Notes, captions, lists and explanations agree with the numbers; parameters have an effect;
//! limits are reported.

use crate::program::{Place, command, items, number, rows, text, words};
use crate::snapshot;
use metastable::attention::Spec;
use metastable::attention::dense::Activation;
use metastable::attention::model::{FeedForwardWeights, Model};
use metastable::flow::{Options, solve, velocity_accuracy};
use metastable::num::stream::Stream;
use metastable::sphere::law::Law;
use metastable::theorem::{ALL, Finding, Verdict};

fn folder() -> Place {
    Place::with(&[("two.csv", "1,0\n0,1\n")])
}

#[test]
fn parameters_of_normalisations_have_an_effect() {
    let at = folder();
    let first = |norm: &str| {
        let found = at.json(&format!("velocity --tokens two.csv --beta 1 --norm {norm}"));
        number(&found["velocity"][0][1])
    };
    assert!((first("ngpt:alpha=0.5") / first("ngpt") - 0.5).abs() < 1e-15);
    assert!(first("ngpt:alpha=2") > first("ngpt"));
    for (tau, radius) in [("0.1", 2.529_678_508_239_008), ("1", 1.892_301_684_385_025), ("5", 1.0)]
    {
        for (line, key) in [
            ("solve --tokens two.csv --t-end 2 --norm", "final_radii"),
            ("predict normalisation --n 2 --times 2 --scheme", "radius"),
        ] {
            let found = number(&at.json(&format!("{line} mix:tau={tau} --beta 1"))[key][0]);
            assert!((found - radius).abs() < 1e-8, "{tau}: {found}");
        }
    }
    // As an axis of an experiment, two values give two cells with different numbers.
    at.write(
        "norms.toml",
        "name = \"norms\"\ntitle = \"norms\"\ndynamics = \"sa\"\nn = 4\nd = 3\nbeta = 1\nt_end = 1\n\
         init = \"uniform\"\n[model]\nnorm = [\"ngpt:alpha=0.5\", \"ngpt:alpha=2\"]\n",
    );
    let table = at.read(at.results(&at.json("run norms.toml")).join("results.csv"));
    let lines: Vec<Vec<&str>> = rows(&table).iter().map(|l| l.split(',').collect()).collect();
    let inner = lines[0].iter().position(|c| c.contains("inner_min")).expect("a column");
    assert!(lines.len() == 3 && lines[1][inner] != lines[2][inner], "{table}");
}

#[test]
fn predictions_use_the_given_parameters() {
    let at = folder();
    for scale in ["u1", "u2", "u3", "u4"] {
        let call = "predict two-token-time --beta 20 --from 1.5 --to 0.1 --dynamics usa";
        let two = at.json(&format!("{call} --time-scale {scale}"));
        let law = number(&two["asymptotic_to_1_minus_1_over_beta"]);
        assert!((number(&two["time"]) / law - 1.0).abs() < 0.05, "{scale}: {two}");
    }
    let exact = at.json("predict two-token-time --beta 0 --from 3 --to 0.1");
    assert!(number(&exact["error"]) > 0.0, "{exact}");
    // The expected values 0.001006, 0.001035, 0.1003 are means over 10^5 draws of all keys.
    for (asked, drawn) in [
        ("--d 64 --c 0.5 --n 1000", 1.006e-3),
        ("--d 9 --c 0.1 --n 1000", 1.035e-3),
        ("--d 3 --c 0.01 --n 10", 0.1003),
    ] {
        let found = at.json(&format!("predict long-context {asked}"));
        assert!((number(&found["participation"]) / drawn - 1.0).abs() < 1e-3, "{asked}: {found}");
    }
    for modes in [1, 3, 20] {
        let call = format!("predict growth-rates --d 2 --beta 100 --modes {modes}");
        assert_eq!(at.json(&call)["fastest"], 14);
    }
}

#[test]
fn runs_report_only_what_is_known() {
    let at = folder();
    let solve = "solve --tokens two.csv --beta 20 --t-end 1";
    let noisy = at.json(&format!("{solve} --noise kappa=2,seed=1,step=0.1"));
    assert!(noisy["remaining_merger_log10_t"].is_null());
    assert!(at.json(solve)["remaining_merger_log10_t"].is_number());
    at.write("opposite.csv", "1,0\n-1,0\n");
    let notes = at.notes("solve --tokens opposite.csv --beta 3 --t-end 9");
    assert!(notes.contains("antipodal"), "{notes}");
    let apart = at.printed("solve --init uniform --n 32 --d 3 --beta 2 --t-end 20");
    assert!(apart.contains("32 clusters (1 if those closer than 0.35 count as one)"), "{apart}");
    // A run that starts from a run with other dynamics has a note, and other runs have none.
    at.printed("solve --tokens two.csv --beta 2 --t-end 1 --dynamics usa --out usa");
    let notes = at.notes("solve --from-run usa --beta 2 --t-end 1");
    assert!(notes.contains("made with dynamics usa; it is now used with dynamics sa"), "{notes}");
    let notes = at.notes("solve --from-run usa --beta 2 --t-end 1 --dynamics usa");
    assert!(!notes.contains("made with"), "{notes}");
    for norm in ["cod", "pre", "ngpt:alpha=0.5"] {
        let solve = "solve --tokens two.csv --beta 1 --t-end 1e12 --stop-at-one-cluster";
        assert_eq!(at.json(&format!("{solve} --norm {norm}"))["outcome"], "one-cluster", "{norm}");
    }
}

#[test]
fn a_run_that_stops_at_one_cluster_shows_no_later_state() {
    let at = Place::with(&[("one.csv", "1,0\n"), ("turn.csv", "0,1\n-1,0\n")]);
    // With V a single token keeps moving, so later samples are not known and not written. Without V
    // it stays, and later samples are known.
    for (v, count) in [("--v turn.csv", 1), ("", 5)] {
        let solve = "solve --tokens one.csv --beta 1 --t-end 2 --stop-at-one-cluster --samples 5";
        at.json(&format!("{solve} {v} --out run{count}"));
        let table = at.read(format!("run{count}/timeline.csv"));
        let shown: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(shown.len(), count, "{table}");
        assert!(shown.iter().all(|row| row.ends_with(",1,1,1")), "{table}");
    }
}

#[test]
fn a_feed_forward_sublayer_runs_at_the_usual_tolerance() {
    let d = 4;
    let numbers = |count: usize, seed: u64| -> Vec<f64> {
        let mut v = vec![0.0; count];
        Stream::new(seed, &["units"]).normals(&mut v);
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
    let x = Law::parse("uniform")
        .and_then(|l| l.sample(6, d, &mut Stream::new(1, &["x"])))
        .expect("tokens");
    for rtol in [1e-10, 1e-6] {
        let spec = Spec { accuracy: velocity_accuracy(rtol, 2.0), ..Spec::new(2.0, 6) };
        let dynamics = model.build("sa", false, &spec, d).expect("a model");
        let scale = dynamics.length_scale();
        assert!(scale < 0.1, "the length scale is too large for this test: {scale}");
        let end = solve(&dynamics, &x, 0.01, &Options { rtol, ..Options::default() }, &mut [])
            .expect("a tolerance that can be kept");
        assert!(end.outcome.is_success());
    }
}

#[test]
fn impossible_requests_are_refused() {
    let at = folder();
    let solve = "solve --tokens two.csv --beta 2 --t-end 1 --samples 4 --observables positions";
    at.printed(&format!("{solve} --out own"));
    snapshot::refusals("reporting", &at, &[]);
}

#[test]
fn files_contain_the_command_that_reproduces_them() {
    let at = folder();
    let flags = "--set n=9 --size nature1 --font-size 6";
    at.printed(&format!("figure regime-chart {flags} --out new/folder/chart.csv"));
    let block = at.json("explain new/folder/chart.csv");
    assert!(words(&block["reproduce"]).contains(flags), "{block}");
    // One trial is raised to the least number of trials, and the printed command has that number.
    let drawn = at.shown("check cone-speed --trials 1 --seed 1");
    assert!(drawn.contains("repeat: metastable check cone-speed --seed 1 --trials 9"), "{drawn}");
}

/// The printed bound of cone-speed holds up to beta = 3.6. On a grid below it no violation is
/// reported; the place of the smallest margin and the command that repeats it belong to the grid.
#[test]
fn a_violation_lies_inside_the_asked_ranges() {
    let at = folder();
    for (beta, low, high) in [("1", 1.0, 1.0), ("1,2.5", 1.0, 2.5), ("2..3", 2.0, 3.0)] {
        let call = format!("check cone-speed-printed --n 2 --d 2 --beta {beta} --trials 5");
        let found = at.json(&call)["claims"][0].clone();
        let expected = found["verdict"] == "supported" && found["as_expected"] == true;
        assert!(found["name"] == "cone-speed-printed" && expected, "{found}");
        let worst = number(&found["worst"]["beta"]);
        assert!((low..=high).contains(&worst), "{call}: {worst}");
        assert!(number(&found["slack"]) > 1.0, "{found}");
        let repeat = format!("--seed 1 --trials 5 --n 2 --d 2 --beta {beta}");
        let repeat = format!("metastable check cone-speed-printed {repeat}");
        assert_eq!(found["reproduce"], repeat);
        let text = at.printed(&call);
        let line = text.lines().find(|l| l.starts_with("smallest margin ")).expect("a place");
        assert!(line.contains(" at n = 2, d = 2, beta = ") && !text.contains("violated"), "{text}");
        let block = at.json("explain runs/sweep/cone-speed-printed/margins.csv");
        assert_eq!(block["reproduce"], repeat);
    }
    // Beyond it there is one, with the slack that belongs to it.
    let found = at.json("check cone-speed-printed --n 2 --d 2 --beta 10..20 --trials 5");
    let found = &found["claims"][0];
    assert!(found["verdict"] == "violated" && number(&found["slack"]) < 1.0, "{found}");
    assert!((10.0..=20.0).contains(&number(&found["worst"]["beta"])), "{found}");
    // Grids are tested before any trial; claims outside of them are left out.
    let notes = at.notes("check angular-momentum cone-speed --n 12 --d 2 --beta 1 --trials 1");
    assert!(notes.contains("cone-speed-printed is left out: "), "{notes}");
}

/// Every word of the table of verdicts: headers, statuses, kinds, verdicts and their remarks.
#[test]
fn every_word_of_the_table_of_verdicts_is_explained() {
    let at = folder();
    let table = at.shown("check wendel cone-speed");
    let head = table.lines().find(|l| l.starts_with("claim ")).expect("a head");
    let mut all: std::collections::BTreeSet<String> =
        head.split_whitespace().filter(|w| !w.starts_with('(')).map(str::to_owned).collect();
    assert!(all.len() >= 8, "{head}");
    all.extend(ALL.iter().flat_map(|c| [c.status.to_string(), c.kind.to_string()]));
    let verdicts = [
        Verdict::Certified,
        Verdict::Supported,
        Verdict::Inconclusive,
        Verdict::Violated,
        Verdict::HypothesesNeverMet,
    ];
    all.extend(verdicts.iter().map(ToString::to_string));
    let remarks = "as expected,as known,ok,WRONG,not 2x,resolving power,searched,every draw,\
                   bifurcation,fold,pitchfork";
    all.extend(remarks.split(',').map(str::to_owned));
    for word in &all {
        let explanation = at.printed(&format!("explain {word}"));
        assert!(explanation.len() > 20, "explain {word}: {explanation}");
    }
    for prediction in metastable::prediction::all() {
        let text = at.printed(&format!("explain {}", prediction.name));
        let parameters = prediction.parameters.iter().filter(|p| !p.is_hidden());
        let parameters = parameters.map(|p| format!("--{}", p.name.replace('_', "-")));
        let keys = prediction.results.iter().map(|r| r.key.to_owned());
        for part in parameters.chain(keys).chain([prediction.source.to_owned()]) {
            assert!(text.contains(&part), "{}: {part}: {text}", prediction.name);
        }
    }
}

#[test]
fn explanations_are_plain_text_or_markdown_on_request() {
    let at = folder();
    let plain = at.printed("explain 2410.06833");
    assert!(!plain.contains(['\\', '`']) && !plain.contains("|---"), "{plain}");
    assert!(plain.contains("|grad E|^2 >= 2 kappa"), "{plain}");
    assert!(plain.lines().all(|l| l.chars().count() <= 100), "{plain}");
    // Columns are aligned: the text of the column `what is tested` begins below its header.
    let head = plain.lines().find(|l| l.starts_with("claim")).expect("a table");
    let place = head.find("what is tested").expect("a column");
    let row = plain.lines().find(|l| l.starts_with("cap-inequality")).expect("a claim");
    assert!(row[place..].starts_with("Within a cap") && row[..place].ends_with("  "), "{row}");
    let markdown = at.printed("explain 2410.06833 --markdown");
    assert!(markdown.contains("| `cap-inequality` | Within a cap \\|grad E\\|^2"), "{markdown}");
    at.refused("explain cone-speed --markdown", "the arXiv number of a paper");
}

/// The printed formula is the one by which trials compute the margin, for both kinds of bounds.
#[test]
fn explanations_have_their_formulas() {
    let margin = |finding| match finding {
        Finding::Margin(m) => m.value,
        other => panic!("{other:?}"),
    };
    let (value, bound) = (3.0, -2.0);
    assert!((margin(Finding::at_most(value, bound)) - (bound - value) / 2.0).abs() < 1e-15);
    assert!((margin(Finding::at_least(value, bound)) - (value - bound) / 2.0).abs() < 1e-15);
    let upper = "(bound - value) / |bound| for an upper bound";
    let lower = "(value - bound) / |bound| for a lower bound";
    let at = folder();
    for (word, part) in [
        ("cone-speed", upper),
        ("cone-speed", lower),
        ("inequality", upper),
        ("inequality", lower),
        ("window", "|i - j| < W"),
        ("alibi", "2^{-8h/H}"),
        ("u2", "e^{-beta}"),
        ("beta_per_n2", "C n^2"),
        ("diagonal", "repeated"),
        ("resolves", "relative change"),
    ] {
        let out = at.printed(&format!("explain {word}"));
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(part), "{word}: {out}");
    }
}

/// Figures of papers, with the commands that redraw them.
#[test]
fn printed_figures_name_their_commands() {
    let at = folder();
    let paper = at.printed("explain 2312.10794");
    let all = at.json("list printed-figures");
    let line = |start: &str| paper.lines().find(|l| l.starts_with(start)).unwrap_or_default();
    let of = |name: &str| {
        let row = items(&all["printed-figures"]).iter().find(|r| r["name"] == name);
        row.map_or("", |r| words(&r["summary"]))
    };
    for (found, part) in [
        (&at.printed("list figures")[..], "[2312.10794, figure 3; "),
        (&at.printed("explain regime-chart")[..], "arXiv:2312.10794, figure 2"),
        (line("figure 6"), "saddle-kernel"),
        (line("figure 5"), "phase diagrams with random Q, K, V"),
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert!(of("2312.10794, figure 3").starts_with("metastable figure phase-diagram: "), "{all}");
    assert!(of("2312.10794, figure 5").starts_with("not redrawn: "), "{all}");
    assert!(of("2410.06833, other figures").ends_with("not read"), "{all}");
    at.printed("figure regime-chart --out r.txt");
    let caption = at.read("r.txt");
    assert!(caption.trim_end().ends_with("After arXiv:2312.10794, figure 2."), "{caption}");
}

#[test]
fn lists_man_pages_and_threads() {
    let at = folder();
    let (message, kinds) = (at.refused("list stuff", ""), at.json("list"));
    let kinds = kinds.as_object().expect("kinds");
    assert!(kinds.len() > 10 && kinds.keys().all(|k| message.contains(k.as_str())), "{message}");
    at.printed("man pages");
    for (page, has) in [
        ("metastable.1", "metastable\\-check"),
        ("metastable-check.1", "trials"),
        ("metastable-predict-gamma.1", "beta"),
    ] {
        let text = at.read(format!("pages/{page}"));
        assert!(text.contains(".TH") && text.contains(has), "{page}: {text}");
    }
    // The environment variable sets the flag, and the flag overrides it. An empty variable sets
    // nothing.
    for (value, flag, code, refusal) in [
        ("2", "", 0, ""),
        ("0", "--threads 1", 0, ""),
        ("", "", 0, ""),
        ("0", "", 1, "[1, 256]"),
        ("two", "", 1, "METASTABLE_THREADS: found two, expected a whole number"),
    ] {
        let mut call = command(&at, &format!("predict wendel --n 4 --d 2 {flag}"));
        let out = call.env("METASTABLE_THREADS", value).output().expect("runs");
        let notes = text(&out.stderr);
        assert!(out.status.code() == Some(code) && notes.contains(refusal), "{value}: {notes}");
    }
    // Parameters are shown with their values.
    let certain = at.shown("certify start --criteria --init polygon --n 3 --d 2 --beta 4");
    let shown = "holds: beta = 4 > 0 (the threshold C n^2 of Theorem 5.1 for n = 3 and d = 2";
    assert!(certain.contains(shown), "{certain}");
    assert!(!certain.contains("0.000000") && !certain.contains("2 and 4"), "{certain}");
}

#[test]
fn clusters_and_steady_states_are_reported() {
    let at = folder();
    let solve = "solve --init uniform --d 2 --seed 3 --t-end 1e12";
    let causal = at.json(&format!("{solve} --n 16 --dynamics causal-sa --beta 9"));
    assert!(causal["outcome"] == "reached" && causal["clusters"] == 1, "{causal}");
    assert_eq!(items(&causal["final_masses"]).len(), 16);
    assert_eq!(items(&causal["cluster_masses"]).len(), 1);
    assert!(number(&causal["stats"]["implicit"]) > 100.0 && causal["stationary"].is_null());
    let steady = at.json(&format!("{solve} --n 5 --dynamics repulsive-sa --beta 4"));
    assert!(steady["outcome"] == "stationary" && steady["t"] == 1e12, "{steady}");
    assert!(number(&steady["stationary"]["remaining_distance"]) < 1e-10, "{steady}");
}

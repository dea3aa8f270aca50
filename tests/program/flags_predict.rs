//! Nothing is accepted in silence by `predict` and `bench`, as in `tests/flags.rs`.

use crate::flags::audit::{Audit, run, silent};

const PREDICTIONS: [Audit; 22] = [
    Audit {
        command: "predict gamma",
        base: "--n 8 --beta 1 --times 1",
        file: "",
        calls: &[
            ("n", "predict gamma --n 9 --beta 1 --times 1"),
            ("beta", "predict gamma --n 8 --beta 2 --times 1"),
            ("times", "predict gamma --n 8 --beta 1 --times 2"),
            ("dynamics", "--dynamics usa"),
            ("start", "--start 0.1"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict level-time",
        base: "--n 8 --beta 1",
        file: "",
        calls: &[
            ("n", "predict level-time --n 9 --beta 1"),
            ("beta", "predict level-time --n 8 --beta 2"),
            ("dynamics", "--dynamics usa"),
            ("start", "--start 0.1"),
            ("level", "--level 0.9"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict growth-rates",
        base: "--d 3 --beta 2 --modes 4",
        file: "",
        calls: &[
            ("d", "predict growth-rates --d 4 --beta 2 --modes 4"),
            ("beta", "predict growth-rates --d 3 --beta 3 --modes 4"),
            ("modes", "predict growth-rates --d 3 --beta 2 --modes 5"),
            ("dynamics", "--dynamics usa"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict two-token-time",
        base: "--beta 2 --from 2 --to 1",
        file: "",
        calls: &[
            ("beta", "predict two-token-time --beta 3 --from 2 --to 1"),
            ("from", "predict two-token-time --beta 2 --from 2.1 --to 1"),
            ("to", "predict two-token-time --beta 2 --from 2 --to 0.9"),
            ("dynamics", "--dynamics usa"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict two-cluster-time",
        base: "--beta 2 --from 2 --to 1",
        file: "",
        calls: &[
            ("beta", "predict two-cluster-time --beta 3 --from 2 --to 1"),
            ("from", "predict two-cluster-time --beta 2 --from 2.1 --to 1"),
            ("to", "predict two-cluster-time --beta 2 --from 2 --to 0.9"),
            ("dynamics", "--dynamics usa"),
            ("mass", "--mass 0.3"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict threshold",
        base: "--n 8 --d 2",
        file: "",
        calls: &[("n", "predict threshold --n 9 --d 2"), ("d", "predict threshold --n 8 --d 3"), ("time-scale", "--time-scale u2")],
    },
    Audit {
        command: "predict wendel",
        base: "--n 8 --d 2",
        file: "",
        calls: &[("n", "predict wendel --n 9 --d 2"), ("d", "predict wendel --n 8 --d 3"), ("time-scale", "--time-scale u2")],
    },
    Audit {
        command: "predict consensus",
        base: "--n 4 --d 3 --dynamics usa",
        file: "",
        calls: &[
            ("n", "predict consensus --n 5 --d 3 --dynamics usa"),
            ("d", "predict consensus --n 4 --d 4 --dynamics usa"),
            ("dynamics", "predict consensus --n 4 --d 3 --dynamics sa"),
            ("beta", "--beta 2"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict polygon",
        base: "--m 4 --beta 2 --dynamics usa",
        file: "",
        calls: &[
            ("m", "predict polygon --m 5 --beta 2 --dynamics usa"),
            ("beta", "predict polygon --m 4 --beta 3 --dynamics usa"),
            ("dynamics", "predict polygon --m 4 --beta 2 --dynamics sa"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict kac-rice",
        base: "--n 100 --beta 10",
        file: "",
        calls: &[
            ("n", "predict kac-rice --n 200 --beta 10"),
            ("beta", "predict kac-rice --n 100 --beta 20"),
            ("interval", "--interval 2"),
            ("circle", "predict kac-rice --beta 10 --circle"),
            ("sphere", "predict kac-rice --beta 10 --sphere"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict noise",
        base: "--d 3 --beta 2",
        file: "",
        calls: &[
            ("d", "predict noise --d 4 --beta 2"),
            ("beta", "predict noise --d 3 --beta 3"),
            ("modes", "--modes 5"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict parking",
        base: "--n 100 --d 2 --beta 50",
        file: "",
        calls: &[
            ("n", "predict parking --n 200 --d 2 --beta 50"),
            ("d", "predict parking --n 100 --d 3 --beta 50"),
            ("beta", "predict parking --n 100 --d 2 --beta 60"),
            ("c", "--c 3"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict energy-range",
        base: "--d 3 --beta 2",
        file: "",
        calls: &[
            ("d", "predict energy-range --d 4 --beta 2"),
            ("beta", "predict energy-range --d 3 --beta 3"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict normalisation",
        base: "--scheme pre --n 4 --beta 1 --times 1",
        file: "",
        calls: &[
            ("scheme", "predict normalisation --scheme post --n 4 --beta 1 --times 1"),
            ("n", "predict normalisation --scheme pre --n 5 --beta 1 --times 1"),
            ("beta", "predict normalisation --scheme pre --n 4 --beta 2 --times 1"),
            ("times", "predict normalisation --scheme pre --n 4 --beta 1 --times 2"),
            ("r0", "--r0 2"),
            ("gamma0", "--gamma0 0.1"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict boolean-limit",
        base: "--eps 1",
        file: "",
        calls: &[("eps", "predict boolean-limit --eps 2"), ("a", "--a 2"), ("time-scale", "--time-scale u2")],
    },
    Audit {
        command: "predict antipodal-threshold",
        base: "--d 4",
        file: "",
        calls: &[("d", "predict antipodal-threshold --d 5"), ("beta", "--beta 1"), ("time-scale", "--time-scale u2")],
    },
    Audit {
        command: "predict rank-collapse",
        base: "--log-size -3",
        file: "",
        calls: &[
            ("log-size", "predict rank-collapse --log-size -4"),
            ("log-factor", "--log-factor 1"),
            ("layers", "--layers 2"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict gaussian-closure",
        base: "--variance 1 --times 0.1",
        file: "",
        calls: &[
            ("variance", "predict gaussian-closure --variance 2 --times 0.1"),
            ("times", "predict gaussian-closure --variance 1 --times 0.2"),
            ("b", "--b 2"),
            ("v", "--v -1"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict long-context",
        base: "--d 3 --c 1",
        file: "",
        calls: &[
            ("d", "predict long-context --d 4 --c 1"),
            ("c", "predict long-context --d 3 --c 2"),
            ("n", "--n 100"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict bipartite",
        base: "--lambda 1 --mu 0.5 --beta 1",
        file: "",
        calls: &[
            ("mu", "predict bipartite --lambda 1 --mu 0.4 --beta 1"),
            ("beta", "predict bipartite --lambda 1 --mu 0.5 --beta 2"),
            ("lambda", "predict bipartite --lambda 2 --mu 0.5 --beta 1"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict random-weights",
        base: "--u0 0.1 --times 1",
        file: "",
        calls: &[
            ("u0", "predict random-weights --u0 0.2 --times 1"),
            ("times", "predict random-weights --u0 0.1 --times 2"),
            ("time-scale", "--time-scale u2"),
        ],
    },
    Audit {
        command: "predict noise-step",
        base: "--d 3 --tau 0.1",
        file: "",
        calls: &[
            ("d", "predict noise-step --d 4 --tau 0.1"),
            ("tau", "predict noise-step --d 3 --tau 0.2"),
            ("time-scale", "--time-scale u2"),
        ],
    },
];

const BENCHES: [Audit; 4] = [
    Audit {
        command: "bench rhs",
        base: "--n 8",
        file: "",
        calls: &[
            ("seconds", "--seconds 0"),
            ("n", "bench rhs --n 9"),
            ("d", "--d 4"),
            ("beta", "--beta 5"),
            ("dynamics", "--dynamics usa"),
            ("kernel", "--kernel nothing"),
            ("accuracy", "--accuracy 1e-6"),
            ("simd", "--simd portable"),
        ],
    },
    Audit {
        command: "bench heads",
        base: "--n 8 --d 8",
        file: "",
        calls: &[
            ("seconds", "--seconds 0"),
            ("n", "bench heads --n 9 --d 8"),
            ("memory", "--memory 5"),
            ("d", "bench heads --n 8 --d 4"),
            ("heads", "--heads 2"),
            ("causal", "--causal"),
            ("alibi", "--alibi"),
            ("f32", "--f32"),
            ("simd", "--simd portable"),
        ],
    },
    Audit {
        command: "bench sweep",
        base: "--n 4 --betas 2 --starts 2 --t-end 1",
        file: "",
        calls: &[
            ("seconds", "--seconds 0"),
            ("n", "bench sweep --n 5 --betas 2 --starts 2 --t-end 1"),
            ("d", "--d 3"),
            ("dynamics", "--dynamics usa"),
            ("betas", "bench sweep --n 4 --betas 3 --starts 2 --t-end 1"),
            ("starts", "bench sweep --n 4 --betas 2 --starts 3 --t-end 1"),
            ("t-end", "bench sweep --n 4 --betas 2 --starts 2 --t-end 2"),
            ("eta", "--eta 0.2"),
            ("rtol", "--rtol 1e-6"),
            ("merge-radius", "--merge-radius 0.1"),
            ("kernel", "--kernel nothing"),
            ("accuracy", "--accuracy 2"),
            ("simd", "--simd sse9"),
        ],
    },
    Audit { command: "bench peak", base: "", file: "", calls: &[("seconds", "--seconds 0")] },
];

#[test]
fn every_flag_of_predict_changes_something_or_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = subcommands(folder.path(), "predict");
    assert_eq!(names, PREDICTIONS.map(|a| a.command.trim_start_matches("predict ").to_owned()).into_iter().collect(), "audited");
    let silent = silent(|_, _| (), &PREDICTIONS);
    assert!(silent.is_empty(), "accepted without effect: {silent:#?}");
}

#[test]
fn every_flag_of_bench_changes_something_or_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = subcommands(folder.path(), "bench");
    assert_eq!(names, BENCHES.map(|a| a.command.trim_start_matches("bench ").to_owned()).into_iter().collect(), "audited");
    let silent = silent(|_, _| (), &BENCHES);
    assert!(silent.is_empty(), "accepted without effect: {silent:#?}");
}

/// What was given is printed back without words; every other number has them below it.
#[test]
fn every_prediction_says_what_its_numbers_are() {
    let folder = tempfile::tempdir().expect("a folder");
    for audit in &PREDICTIONS {
        let answer = run(folder.path(), &format!("{} {}", audit.command, audit.base));
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        assert!(answer.status.success() && !lines.is_empty(), "{}: {answer:?}", audit.command);
        for (k, line) in lines.iter().enumerate().filter(|(_, l)| !l.starts_with(' ')) {
            let key = line.split(':').next().unwrap_or_default();
            let given = ["times", "d", "c", "eps", "scheme"].contains(&key);
            assert!(given || lines.get(k + 1).is_some_and(|l| l.starts_with("    ")), "{}: {line}", audit.command);
        }
    }
}

/// The names under `Commands:` in the help.
fn subcommands(at: &std::path::Path, command: &str) -> std::collections::BTreeSet<String> {
    let help = run(at, &format!("{command} -h"));
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    let listed = text.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    listed
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|w| *w != "help")
        .map(str::to_owned)
        .collect()
}

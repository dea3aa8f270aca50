//! Nothing is accepted in silence: every flag of these commands, given a value, changes what comes out or is refused.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_metastable")).args(arguments.split_whitespace()).current_dir(folder).output().expect("starts")
}

/// The long flags of a command, from its help.
fn flags(folder: &Path, command: &str) -> Vec<String> {
    let help = run(folder, &format!("{command} --help"));
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    let named = text.lines().filter_map(|l| l.split_whitespace().find(|w| w.starts_with("--")).filter(|_| l.trim_start().starts_with('-')));
    named
        .map(|w| w.trim_start_matches("--").trim_end_matches(',').to_owned())
        // A line of a description may begin with the name of a flag in quotes.
        .filter(|f| f.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
        .filter(|f| !["format", "threads", "help"].contains(&f.as_str()))
        .collect()
}

/// A command, what it is called with, and for every flag a call that must differ from it: the flag's words are added, or replace the base where they
/// begin with the name of the command.
struct Audit {
    command: &'static str,
    base: &'static str,
    /// A file that is part of what comes out; none where it is empty.
    file: &'static str,
    calls: &'static [(&'static str, &'static str)],
}

const AUDITS: [Audit; 15] = [
    Audit {
        command: "velocity",
        base: "--tokens x.csv --beta 3",
        file: "",
        calls: &[
            ("tokens", "velocity --tokens y.csv --beta 3"),
            ("angles", "velocity --angles angles.csv --beta 3"),
            ("array", "--array x"),
            ("normalise", "velocity --tokens long.csv --beta 3 --normalise"),
            ("masses", "--masses masses.csv"),
            ("init", "velocity --init uniform --n 3 --d 2 --beta 3"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("dynamics", "--dynamics usa"),
            ("beta", "velocity --tokens x.csv --beta 2"),
            ("causal", "--causal"),
            ("time-scale", "--time-scale u2"),
            ("model", "--model model.toml"),
            ("space", "--space flat"),
            ("norm", "--norm none"),
            ("rescaled", "--rescaled"),
            ("radii", "--radii masses.csv"),
            ("weights", "--weights sinkhorn"),
            ("mask", "--mask window:w=2"),
            ("bias", "--bias alibi"),
            ("rotary", "--rotary base=10"),
            ("q", "--q square.csv"),
            ("k", "--k square.csv"),
            ("v", "--v square.csv"),
            ("o", "--o square.csv"),
            ("mlp", "--mlp missing.npz"),
            ("activation", "--activation relu"),
            ("noise", "--noise kappa=1,step=0.1"),
            ("kernel", "--kernel tiles"),
            ("accuracy", "--accuracy 1e-6"),
            ("simd", "--simd sse9"),
            ("result", "velocity --result run --beta 3"),
            ("frame", "velocity --result run --frame 0 --beta 3"),
            ("full", "velocity --tokens x.csv --beta 3 --full"),
        ],
    },
    Audit {
        command: "solve",
        base: "--tokens x.csv --beta 3 --t-end 1",
        file: "",
        calls: &[
            ("tokens", "solve --tokens y.csv --beta 3 --t-end 1"),
            ("angles", "solve --angles angles.csv --beta 3 --t-end 1"),
            ("array", "--array x"),
            ("normalise", "solve --tokens long.csv --beta 3 --t-end 1 --normalise"),
            ("masses", "--masses masses.csv"),
            ("init", "solve --init uniform --n 3 --d 2 --beta 3 --t-end 1"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("dynamics", "--dynamics usa"),
            ("beta", "solve --tokens x.csv --beta 2 --t-end 1"),
            ("causal", "--causal"),
            ("time-scale", "--time-scale u2"),
            ("model", "--model model.toml"),
            ("space", "--space flat"),
            ("norm", "--norm pre"),
            ("rescaled", "--rescaled"),
            ("radii", "--radii masses.csv"),
            ("weights", "--weights sinkhorn"),
            ("mask", "--mask window:w=2"),
            ("bias", "--bias alibi"),
            ("rotary", "--rotary base=10"),
            ("q", "--q square.csv"),
            ("k", "--k square.csv"),
            ("v", "--v square.csv"),
            ("o", "--o square.csv"),
            ("mlp", "--mlp missing.npz"),
            ("activation", "--activation relu"),
            ("noise", "--noise kappa=1,step=0.1"),
            ("kernel", "--kernel nothing"),
            ("accuracy", "--accuracy 1e-3"),
            ("simd", "--simd sse9"),
            ("t-end", "solve --tokens x.csv --beta 3 --t-end 2"),
            ("rtol", "--rtol 1e-6"),
            ("merge-radius", "--merge-radius 1"),
            ("integrator", "--integrator dopri5"),
            ("max-steps", "--max-steps 2"),
            ("stop-at-one-cluster", "solve --tokens x.csv --beta 3 --t-end 1e9 --stop-at-one-cluster"),
            ("out", "--out tokens-folder/inside"),
            ("observables", "--observables clusters"),
            ("times", "--times 1"),
            ("samples", "--samples 4"),
            ("log-from", "--log-from 0.1"),
            ("result", "solve --result run --beta 3 --t-end 1"),
            ("frame", "solve --result run --frame 0 --beta 3 --t-end 1"),
            ("full", "solve --tokens x.csv --beta 3 --t-end 1 --full"),
        ],
    },
    Audit {
        command: "energy",
        base: "--tokens x.csv --beta 3",
        file: "",
        calls: &[
            ("tokens", "energy --tokens y.csv --beta 3"),
            ("angles", "energy --angles angles.csv --beta 3"),
            ("array", "--array x"),
            ("normalise", "energy --tokens long.csv --beta 3 --normalise"),
            ("masses", "--masses masses.csv"),
            ("init", "energy --init uniform --n 3 --d 2 --beta 3"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("beta", "energy --tokens x.csv --beta 2"),
            ("energy-scale", "--energy-scale unit"),
            ("hessian", "--hessian"),
            ("result", "energy --result run --beta 3"),
            ("frame", "energy --result run --frame 0 --beta 3"),
            ("full", "energy --tokens x.csv --beta 3 --hessian --full"),
        ],
    },
    Audit {
        command: "clusters",
        base: "--tokens x.csv --radius 0.5",
        file: "",
        calls: &[
            ("tokens", "clusters --tokens y.csv --radius 0.5"),
            ("angles", "clusters --angles angles.csv --radius 0.5"),
            ("array", "--array x"),
            ("normalise", "clusters --tokens long.csv --radius 0.5 --normalise"),
            ("masses", "--masses masses.csv"),
            ("init", "clusters --init uniform --n 3 --d 2 --radius 0.5"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("radius", "clusters --tokens x.csv --radius 3"),
            ("beta", "--beta 3"),
            ("result", "clusters --result run"),
            ("frame", "clusters --result run --frame 0 --radius 0.5"),
            ("full", "clusters --init uniform --n 12 --d 2 --radius 0.001 --full"),
            ("plateau-tolerance", "--plateau-tolerance 1"),
            ("plateau-decades", "--plateau-decades 1"),
        ],
    },
    Audit {
        command: "is-certain",
        base: "--tokens x.csv --beta 3",
        file: "",
        calls: &[
            ("tokens", "is-certain --tokens y.csv --beta 3"),
            ("angles", "is-certain --angles angles.csv --beta 3"),
            ("array", "--array x"),
            ("normalise", "is-certain --tokens long.csv --beta 3 --normalise"),
            ("masses", "--masses masses.csv"),
            ("result", "is-certain --result run --beta 3"),
            ("frame", "is-certain --result run --frame 0 --beta 3"),
            ("init", "is-certain --init uniform --n 3 --d 2 --beta 3"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("full", "is-certain --init uniform --n 3 --d 4 --beta 3 --full"),
            ("beta", "is-certain --tokens x.csv --beta 2"),
            ("dynamics", "--dynamics usa"),
        ],
    },
    Audit {
        command: "saddles",
        base: "--tokens x.csv --beta 3",
        file: "",
        calls: &[
            ("tokens", "saddles --tokens y.csv --beta 3"),
            ("angles", "saddles --angles angles.csv --beta 3"),
            ("array", "--array x"),
            ("normalise", "saddles --tokens long.csv --beta 3 --normalise"),
            ("masses", "--masses masses.csv"),
            ("result", "saddles --result run --beta 3"),
            ("frame", "saddles --result run --frame 0 --beta 3"),
            ("init", "saddles --init uniform --n 3 --d 2 --beta 3"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("full", "saddles --tokens x.csv --beta 3 --full"),
            ("beta", "saddles --tokens x.csv --beta 2"),
            ("starts", "--starts 3"),
            ("connections", "--connections sa"),
            ("certificates", "--certificates proofs"),
        ],
    },
    Audit {
        command: "modes",
        base: "--samples angles.csv --beta 3",
        file: "",
        calls: &[
            ("samples", "modes --samples masses.csv --beta 3"),
            ("array", "--array x"),
            ("result", "modes --result run --beta 3"),
            ("frame", "--frame 0"),
            ("beta", "modes --samples angles.csv --beta 2"),
            ("circle", "--circle"),
            ("sphere", "--sphere"),
            ("full", "modes --samples spread.csv --beta 100 --full"),
        ],
    },
    Audit {
        command: "entropy",
        base: "--tokens many.csv",
        file: "",
        calls: &[
            ("tokens", "entropy --tokens many-long.csv --bandwidth 4"),
            ("array", "--array x"),
            ("result", "entropy --result run"),
            ("frame", "--frame 0"),
            ("normalise", "entropy --result run --normalise"),
            ("neighbours", "--neighbours 2"),
            ("bandwidth", "--bandwidth 9"),
        ],
    },
    Audit {
        command: "measure",
        base: "--space circle --density cos:1=0.2 --beta 2 --t-end 0.1",
        file: "",
        calls: &[
            ("space", "measure --space zonal --density cos:1=0.2 --beta 2 --t-end 0.1"),
            ("d", "--d 4"),
            ("density", "measure --space circle --density cos:1=0.1 --beta 2 --t-end 0.1"),
            ("values", "--values masses.csv"),
            ("tokens", "--tokens angles.csv"),
            ("bandwidth", "--bandwidth 4"),
            ("dynamics", "--dynamics usa"),
            ("beta", "measure --space circle --density cos:1=0.2 --beta 3 --t-end 0.1"),
            ("t-end", "measure --space circle --density cos:1=0.2 --beta 2 --t-end 0.2"),
            ("noise", "--noise 3"),
            ("method", "--method lagrangian"),
            ("modes", "--modes 16"),
            ("max-modes", "--max-modes 4"),
            ("cells", "--cells 64"),
            ("particles", "measure --space circle --density cos:1=0.2 --beta 2 --t-end 0.1 --method spectral --particles 64"),
            ("out", "--out tokens-folder/inside"),
            ("movie", "--movie film.avi"),
        ],
    },
    Audit {
        command: "check",
        base: "unit-norm --quick",
        file: "",
        calls: &[
            ("quick", "check unit-norm --quick --quick"),
            ("trials", "--trials 3"),
            ("seed", "--seed 5"),
            ("out", "--out tokens-folder/inside"),
            ("n", "--n 3"),
            ("d", "--d 3"),
            ("beta", "--beta 3"),
            ("dynamics", "--dynamics usa"),
            ("law", "--law cap:radius=0.3"),
            ("beyond", "--beyond --n 500"),
        ],
    },
    Audit {
        command: "movie",
        base: "--tokens x.csv --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.gif",
        file: "film.gif",
        calls: &[
            ("tokens", "movie --tokens y.csv --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.gif"),
            ("angles", "movie --angles angles.csv --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.gif"),
            ("array", "--array x"),
            ("normalise", "movie --tokens long.csv --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.gif --normalise"),
            ("masses", "--masses masses.csv"),
            ("result", "movie --result run --beta 3 --dpi 30 --out film.gif"),
            ("frame", "movie --result run --frame cell=1 --beta 3 --dpi 30 --out film.gif"),
            ("init", "movie --init uniform --n 3 --d 2 --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.gif"),
            ("full", "movie --tokens x.csv --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.gif --full"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("dynamics", "--dynamics usa"),
            ("beta", "movie --tokens x.csv --beta 2 --t-end 10 --frames 3 --dpi 30 --out film.gif"),
            ("causal", "--causal"),
            ("time-scale", "--time-scale u2"),
            ("model", "--model model.toml"),
            ("space", "--space flat"),
            ("norm", "--norm pre"),
            ("rescaled", "--rescaled"),
            ("radii", "--radii masses.csv"),
            ("weights", "--weights sinkhorn"),
            ("mask", "--mask window:w=2"),
            ("bias", "--bias alibi"),
            ("rotary", "--rotary base=10"),
            ("q", "--q square.csv"),
            ("k", "--k square.csv"),
            ("v", "--v square.csv"),
            ("o", "--o square.csv"),
            ("mlp", "--mlp missing.npz"),
            ("activation", "--activation relu"),
            ("noise", "--noise kappa=1,step=0.1"),
            ("kernel", "--kernel nothing"),
            ("accuracy", "--accuracy 1e-3"),
            ("simd", "--simd sse9"),
            ("t-end", "movie --tokens x.csv --beta 3 --t-end 20 --frames 3 --dpi 30 --out film.gif"),
            ("t-first", "--t-first 1"),
            ("frames", "movie --tokens x.csv --beta 3 --t-end 10 --frames 4 --dpi 30 --out film.gif"),
            ("observable", "--observable grad-norm"),
            ("rate", "--rate 5"),
            ("dpi", "movie --tokens x.csv --beta 3 --t-end 10 --frames 3 --dpi 31 --out film.gif"),
            ("out", "movie --tokens x.csv --beta 3 --t-end 10 --frames 3 --dpi 30 --out film.png"),
        ],
    },
    Audit {
        command: "figure",
        base: "saddle-kernel --out k.svg",
        file: "k.svg",
        calls: &[
            ("set", "--set beta=3"),
            ("full", "figure saddle-kernel --out k.svg --full --format json"),
            ("size", "--size nature1"),
            ("font-size", "--font-size 11"),
            ("theme", "--theme dark"),
            ("dpi", "--dpi 1e9"),
            ("out", "figure saddle-kernel --out k.pdf"),
            ("runs", "figure regime-chart --out k.svg --runs tokens-folder"),
            ("experiment", "--experiment model.toml"),
            ("result", "--result run"),
            ("tokens", "--tokens x.csv"),
            ("array", "--array x"),
        ],
    },
    Audit {
        command: "certify",
        base: "--tokens pair.csv --beta 3",
        file: "",
        calls: &[
            ("check", "certify --check model.toml"),
            ("exact", "--exact"),
            ("converges", "--converges"),
            ("dwell", "--dwell"),
            ("share", "--share 0.3"),
            ("tokens", "certify --tokens y.csv --beta 3"),
            ("angles", "certify --angles angles.csv --beta 3"),
            ("array", "--array x"),
            ("normalise", "certify --tokens long.csv --beta 3 --normalise"),
            ("masses", "--masses masses.csv"),
            ("result", "certify --result run --beta 3"),
            ("frame", "--frame 0"),
            ("init", "certify --init uniform --n 3 --d 2 --beta 3"),
            ("n", "--n 5"),
            ("d", "--d 5"),
            ("seed", "--seed 5"),
            ("full", "certify --tokens pair.csv --beta 3 --full"),
            ("dynamics", "--dynamics usa"),
            ("sizes", "--sizes 1,2"),
            ("beta", "certify --tokens pair.csv --beta 2"),
            ("radius", "--radius 9"),
            ("anywhere", "--anywhere --radius 1"),
            ("out", "--out tokens-folder/inside"),
        ],
    },
    Audit { command: "doctor", base: "sa", file: "", calls: &[("seed", "--seed 5")] },
    Audit { command: "list", base: "laws", file: "", calls: &[("markdown", "--markdown")] },
];

#[test]
fn every_flag_changes_something_or_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, text) in [
        ("x.csv", "1,0\n0.6,0.8\n0,-1\n"),
        ("y.csv", "1,0\n0.8,0.6\n0,-1\n"),
        ("long.csv", "2,0\n0.6,0.9\n0,-1\n"),
        ("angles.csv", "0\n1\n2\n"),
        ("masses.csv", "1\n2\n3\n"),
        ("square.csv", "1,2\n-1,0.5\n"),
        ("model.toml", "mask = 'causal'\n"),
        ("tokens-folder", "a file"),
        ("pair.csv", "1,0\n-1,0\n"),
    ] {
        std::fs::write(at.join(name), text).expect("writable");
    }
    let angles: Vec<f64> = (0..40).map(|k| 0.7 * f64::from(k) + 0.1 * f64::from(k * k % 7)).collect();
    let table = |r: f64| angles.iter().map(|a| format!("{},{}\n", r * a.cos(), r * a.sin())).collect::<String>();
    std::fs::write(at.join("many.csv"), table(1.0)).expect("writable");
    std::fs::write(at.join("many-long.csv"), table(2.0)).expect("writable");
    std::fs::write(at.join("spread.csv"), angles.iter().map(|a| format!("{a}\n")).collect::<String>()).expect("writable");
    let made = run(at, "solve --init uniform --n 20 --d 2 --beta 2 --t-end 1 --out run --observables positions,log-energy --samples 3");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut silent = Vec::new();
    for Audit { command, base, file, calls } in AUDITS {
        let written = || std::fs::read(at.join(file)).unwrap_or_default();
        let known = flags(at, command);
        assert!(!known.is_empty(), "no flags of {command}");
        for flag in &known {
            assert!(calls.iter().any(|(name, _)| name == flag), "{command} --{flag} is not audited");
        }
        let usual = run(at, &format!("{command} {base} --format json"));
        assert!(usual.status.success(), "{command} {base}: {}", String::from_utf8_lossy(&usual.stderr));
        let film = written();
        for (flag, words) in calls {
            assert!(known.iter().any(|f| f == flag), "{command} has no --{flag}");
            let whole = if words.starts_with(command) { (*words).to_owned() } else { format!("{command} {base} {words}") };
            if *flag == "full" && !["movie", "figure", "certify"].contains(&command) {
                // What is printed for people, with and without it.
                let without = run(at, &whole.replace(" --full", ""));
                let with = run(at, &whole);
                assert!(with.status.code() == without.status.code(), "{whole}: {}", String::from_utf8_lossy(&with.stderr));
                if with.stdout == without.stdout {
                    silent.push(whole);
                }
                continue;
            }
            let found = run(at, &format!("{whole} --format json"));
            let refused = matches!(found.status.code(), Some(1 | 5));
            if !refused && found.stdout == usual.stdout && written() == film {
                silent.push(whole);
            }
        }
    }
    assert!(silent.is_empty(), "accepted without effect: {silent:#?}");
}

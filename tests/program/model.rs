//! Models from the command line and from files: every flag agrees with the library, and a wrong
//! value gives an error of one sentence.

use crate::program::{json, run};
use crate::snapshot;
use metastable::Result;
use metastable::attention::dense::{Activation, Linear};
use metastable::attention::feed_forward::Mlp;
use metastable::attention::hardmax::Hardmax;
use metastable::attention::kernel::{Attention, Weights};
use metastable::attention::multi_head::MultiHead;
use metastable::attention::noise::Isotropic;
use metastable::attention::normalisation::{Pre, Unnormalised};
use metastable::attention::pattern::{
    Alibi, BiasTable, Causal, CombinedPattern, Pairs, Rotary, Window,
};
use metastable::attention::sinkhorn::Sinkhorn;
use metastable::attention::{Dynamics, Head};
use metastable::flow::{Options, SdeOptions, Splitting, solve, solve_sde, velocity_accuracy};
use metastable::lab::arrays;
use metastable::num::{stats::nan_max, stream::Stream, vector::max_abs};
use metastable::sphere::{Tokens, law::Law};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

const N: usize = 6;
const D: usize = 4;

fn normals(count: usize, name: &str) -> Vec<f64> {
    let mut out = vec![0.0; count];
    Stream::new(11, &["model", name]).normals(&mut out);
    out
}

fn csv(rows: &[f64], width: usize) -> String {
    rows.chunks(width)
        .map(|r| r.iter().map(ToString::to_string).collect::<Vec<_>>().join(",") + "\n")
        .collect()
}

fn tokens() -> Tokens {
    Law::parse("uniform")
        .and_then(|l| l.sample(N, D, &mut Stream::new(2, &["model"])))
        .expect("tokens")
}

fn table(columns: usize, data: &[f64]) -> Vec<u8> {
    let rows = data.chunks(columns).map(<[f64]>::to_vec).collect();
    arrays::npy_bytes(&metastable::flow::Table { columns: vec![String::new(); columns], rows })
}

const MASK: [usize; N * N] = [
    0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0,
    0, 0, 0, 1,
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("x.csv", &csv(tokens().coordinates(), D));
    write("points.csv", &csv(&normals(N * D, "points"), D));
    for (name, rows, width) in
        [("q", 3, D), ("k", 3, D), ("v", 2, D), ("o", D, 2), ("square", D, D)]
    {
        write(&format!("{name}.csv"), &csv(&normals(rows * width, name), width));
    }
    write("mask.csv", &csv(&MASK.map(|m| m as f64), N));
    write("bias.csv", &csv(&normals(N * N, "bias"), N));
    write("small.csv", "1,0\n0,1\n");
    write("half.csv", &csv(&[0.5; N * N], N));
    write("radii.csv", "1\n2\n0.5\n1\n3\n1\n");
    write("bad-radii.csv", "1\n2\n0\n1\n3\n1\n");
    write("origin.csv", "1,0,0,0\n0,0,0,0\n");
    write("model.toml", "mask = ['causal', 'window:w=2']\nq = 'q.csv'\nk = 'k.csv'\n");
    write("typo.toml", "mask = 'casual'\nwieghts = 'softmax'\nnorm = 'prf'\n");
    let archive = |name: &str, members: &[(&str, usize, usize)]| {
        let mut zip =
            zip::ZipWriter::new(std::fs::File::create(folder.path().join(name)).expect("writable"));
        for (member, rows, columns) in members {
            zip.start_file(format!("{member}.npy"), zip::write::SimpleFileOptions::default())
                .expect("a member");
            zip.write_all(&table(*columns, &normals(rows * columns, member))).expect("written");
        }
        zip.finish().expect("closed");
    };
    archive("mlp.npz", &[("w1", 5, D), ("b1", 5, 1), ("w2", D, 5), ("b2", D, 1)]);
    archive("turned.npz", &[("w1", D, 5), ("b1", 5, 1), ("w2", D, 5), ("b2", D, 1)]);
    archive("partly.npz", &[("w1", 5, D), ("b1", 5, 1)]);
    folder
}

fn numbers(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        v => vec![v.as_f64().expect("a number")],
    }
}

fn velocity(at: &Path, flags: &str) -> Vec<f64> {
    numbers(&json(at, &format!("velocity --tokens x.csv --beta 3 {flags}"))["velocity"])
}

/// Asserts equality up to rounding: the kernels may differ.
fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let size = nan_max(1.0, max_abs(expected));
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13 * size),
        "{what}: {found:?} {expected:?}"
    );
}

fn matrix(name: &str, rows: usize, width: usize) -> Option<(usize, Vec<f64>)> {
    Some((rows, normals(rows * width, name)))
}

fn heads(more: bool) -> Result<Vec<Head>> {
    let first = Head::with_output(
        D,
        matrix("q", 3, D),
        matrix("k", 3, D),
        matrix("v", 2, D),
        (D, normals(D * 2, "o")),
    )?;
    Ok(if more { vec![first.clone(), first] } else { vec![first] })
}

#[test]
fn masks_biases_positions_and_heads_are_those_of_the_library() -> Result<()> {
    let (f, x) = (folder(), tokens());
    let at = f.path();
    let plain = || MultiHead::new(3.0, vec![Head::default()]);
    let velocity_of = |sublayer: MultiHead| Dynamics::single(sublayer).velocity(&x);
    assert_eq!(velocity(at, "--mask causal"), velocity(at, "--causal"));
    assert_close(
        &velocity(at, "--mask window:w=2"),
        &velocity_of(plain()?.with_pattern(Window::new(2)?)),
        "window",
    );
    let both = CombinedPattern::new(vec![Box::new(Causal), Box::new(Window::new(2)?)]);
    assert_close(
        &velocity(at, "--mask causal --mask window:w=2"),
        &velocity_of(plain()?.with_pattern(both)),
        "two masks",
    );
    let visible = MASK.map(|m| m == 1);
    assert_close(
        &velocity(at, "--mask mask.csv"),
        &velocity_of(plain()?.with_pattern(BiasTable::mask(N, N, &visible)?)),
        "mask file",
    );
    assert_close(
        &velocity(at, "--bias alibi"),
        &velocity_of(plain()?.with_pattern(Alibi::new(1)?)),
        "alibi",
    );
    assert_close(
        &velocity(at, "--bias bias.csv"),
        &velocity_of(plain()?.with_pattern(BiasTable::biases(N, N, normals(N * N, "bias"))?)),
        "bias file",
    );
    let exponential = Weights::Exponential { log_factor: -3.0 };
    assert_close(
        &velocity(at, "--bias alibi --dynamics usa --time-scale u2"),
        &velocity_of(plain()?.with_pattern(Alibi::new(1)?).with_weights(exponential)),
        "alibi of usa",
    );
    for (word, pairs) in [("adjacent", Pairs::Adjacent), ("halves", Pairs::Halves)] {
        let rotary = Rotary::new(100.0, pairs, D)?;
        assert_close(
            &velocity(at, &format!("--rotary base=100,pairs={word}")),
            &velocity_of(plain()?.with_pattern(rotary)),
            word,
        );
    }
    let one = Attention { heads: heads(false)?, ..Attention::new(3.0) };
    assert_close(
        &velocity(at, "--q q.csv --k k.csv --v v.csv --o o.csv"),
        &Dynamics::single(one).velocity(&x),
        "a head with an output matrix",
    );
    let two = "--q q.csv --q q.csv --k k.csv --k k.csv --v v.csv --v v.csv --o o.csv --o o.csv";
    assert_close(
        &velocity(at, &format!("{two} --bias alibi")),
        &velocity_of(MultiHead::new(3.0, heads(true)?)?.with_pattern(Alibi::new(2)?)),
        "two heads",
    );
    // Repulsive attention with a bias is the negative of attractive attention.
    let minus: Vec<f64> = velocity(at, "--bias alibi").iter().map(|v| -v).collect();
    assert_close(&velocity(at, "--bias alibi --dynamics repulsive-sa"), &minus, "repulsion");
    let head = Head::new(D, matrix("q", 3, D), matrix("k", 3, D), None)?;
    let file = MultiHead::new(3.0, vec![head])?
        .with_pattern(CombinedPattern::new(vec![Box::new(Causal), Box::new(Window::new(2)?)]));
    assert_close(&velocity(at, "--model model.toml"), &velocity_of(file), "a file");
    Ok(())
}

#[test]
fn weights_and_sublayers_are_those_of_the_library() -> Result<()> {
    let (f, x) = (folder(), tokens());
    let at = f.path();
    assert_eq!(velocity(at, "--weights softmax"), velocity(at, ""));
    assert_eq!(velocity(at, "--weights exponential"), velocity(at, "--dynamics usa"));
    assert_close(
        &velocity(at, "--weights sinkhorn"),
        &Dynamics::single(Sinkhorn::new(3.0, 1e-13)?).velocity(&x),
        "sinkhorn",
    );
    assert_close(
        &velocity(at, "--weights hardmax"),
        &Dynamics::single(Hardmax::new(None, 1e-12)?).velocity(&x),
        "hardmax",
    );
    // <Q x, K y> = <K^T Q x, y>.
    let (q, k) = (normals(3 * D, "q"), normals(3 * D, "k"));
    let form =
        (0..D * D).map(|e| (0..3).map(|r| k[r * D + e / D] * q[r * D + e % D]).sum()).collect();
    let expected = Dynamics::single(Hardmax::new(Some(form), 1e-12)?).velocity(&x);
    assert_close(
        &velocity(at, "--weights hardmax --q q.csv --k k.csv"),
        &expected,
        "hardmax of Q and K",
    );
    for (word, activation) in [
        ("", Activation::Gelu),
        ("--activation relu", Activation::Relu),
        ("--activation gelu-tanh", Activation::GeluTanh),
    ] {
        let [w1, b1, w2, b2] = [("w1", 5 * D), ("b1", 5), ("w2", 5 * D), ("b2", D)]
            .map(|(name, count)| normals(count, name));
        let mlp = Mlp::new(
            "mlp",
            Linear::new("W_1", D, w1, b1)?,
            None,
            Linear::new("W_2", 5, w2, b2)?,
            activation,
        )?;
        let expected = Dynamics::single(Attention::new(3.0)).with_sublayer(mlp).velocity(&x);
        assert_close(&velocity(at, &format!("--mlp mlp.npz {word}")), &expected, word);
    }
    Ok(())
}

#[test]
fn normalisations_and_spaces_are_those_of_the_library() -> Result<()> {
    let f = folder();
    let at = f.path();
    let points = normals(N * D, "points");
    let lengths: Vec<f64> =
        points.chunks(D).map(|r| r.iter().map(|v| v * v).sum::<f64>().sqrt()).collect();
    let attention = || Attention { accuracy: velocity_accuracy(1e-10, 2.0), ..Attention::new(2.0) };
    let start = Tokens::normalised(D, points.clone())?.polar(&lengths)?;
    let expected = solve(
        &Dynamics::single(attention()).with_normalisation(Pre),
        &start,
        1.5,
        &Options::default(),
        &mut [],
    )?
    .clusters;
    let found = json(at, "solve --tokens points.csv --beta 2 --t-end 1.5 --norm pre");
    assert_close(&numbers(&found["final_radii"]), expected.extra_numbers(), "radii");
    assert_close(&numbers(&found["final_tokens"]), expected.coordinates(), "directions");
    // Directions and radii from files. With a law, all radii start at 1.
    let started = tokens().polar(&[1.0, 2.0, 0.5, 1.0, 3.0, 1.0])?;
    let expected = solve(
        &Dynamics::single(attention()).with_normalisation(Pre),
        &started,
        1.5,
        &Options::default(),
        &mut [],
    )?
    .clusters;
    let found = json(at, "solve --tokens x.csv --radii radii.csv --beta 2 --t-end 1.5 --norm pre");
    assert_close(&numbers(&found["final_radii"]), expected.extra_numbers(), "given radii");
    let v = json(at, "velocity --init uniform --n 3 --d 3 --beta 0 --norm pre");
    assert_eq!(v["radial_velocity"].as_array().map(Vec::len), Some(3));
    // R^d.
    let flat = Tokens::flat(D, points)?;
    let expected = solve(
        &Dynamics::single(attention()).with_normalisation(Unnormalised),
        &flat,
        0.5,
        &Options::default(),
        &mut [],
    )?
    .clusters;
    for flags in ["--norm none", "--space flat", "--space flat --norm none"] {
        let found = json(at, &format!("solve --tokens points.csv --beta 2 --t-end 0.5 {flags}"));
        assert_close(&numbers(&found["final_tokens"]), expected.coordinates(), flags);
        assert!(found["final_radii"].is_null() && found["energy"].is_null());
    }
    Ok(())
}

#[test]
fn rescaled_tokens_are_tokens_of_rd_times_the_exponential() {
    let f = folder();
    let at = f.path();
    // V = I: z = e^{-t} x.
    let x = numbers(
        &json(at, "solve --tokens points.csv --beta 1 --t-end 0.8 --norm none")["final_tokens"],
    );
    let z = numbers(
        &json(at, "solve --tokens points.csv --beta 1 --t-end 0.8 --rescaled")["final_tokens"],
    );
    // The bound is for two integrations with local errors of 1e-10 over some ten steps.
    assert!(x.iter().zip(&z).all(|(x, z)| ((-0.8f64).exp() * x - z).abs() < 1e-8), "{x:?} {z:?}");
    let masked = numbers(
        &json(at, "solve --tokens points.csv --beta 1 --t-end 0.8 --rescaled --bias alibi")["final_tokens"],
    );
    let bare = numbers(
        &json(at, "solve --tokens points.csv --beta 1 --t-end 0.8 --norm none --bias alibi")["final_tokens"],
    );
    assert!(bare.iter().zip(&masked).all(|(x, z)| ((-0.8f64).exp() * x - z).abs() < 1e-8));
    assert!(z.iter().zip(&masked).any(|(a, b)| (a - b).abs() > 1e-3), "the bias has an effect");
}

#[test]
fn noise_agrees_with_the_library_and_depends_on_the_seed() -> Result<()> {
    let f = folder();
    let at = f.path();
    let solve = |seed: u64| {
        numbers(
            &json(
                at,
                &format!(
                    "solve --tokens x.csv --beta 2 --t-end 1 --noise kappa=5,seed={seed},step=0.05"
                ),
            )["final_tokens"],
        )
    };
    let noise = Isotropic::new(5.0)?;
    let attention = Attention { accuracy: velocity_accuracy(1e-10, 2.0), ..Attention::new(2.0) };
    let plan = SdeOptions {
        noise: &noise,
        step: 0.05,
        seed: 7,
        splitting: Splitting::Strang,
        cancel: None,
    };
    let (expected, _) = solve_sde(&Dynamics::single(attention), &tokens(), 1.0, &plan, &mut [])?;
    assert_close(&solve(7), expected.coordinates(), "a path");
    assert_eq!(solve(7), solve(7));
    assert!(solve(7).iter().zip(&solve(8)).any(|(a, b)| (a - b).abs() > 1e-3));
    Ok(())
}

#[test]
fn a_token_without_visible_keys_has_velocity_zero_and_is_counted() {
    let f = folder();
    let v = json(f.path(), "velocity --tokens x.csv --beta 3 --mask mask.csv");
    assert_eq!(v["tokens_without_keys"], 1);
    assert!(numbers(&v["velocity"][0]).iter().all(|v| *v == 0.0));
    let s = json(f.path(), "solve --tokens x.csv --beta 3 --t-end 1 --mask mask.csv");
    assert_eq!(s["stats"]["tokens_without_keys"], 1);
    assert_close(&numbers(&s["final_tokens"][0]), tokens().row(0), "it does not move");
    let out = run(f.path(), "solve --tokens x.csv --beta 3 --t-end 1 --mask mask.csv");
    assert!(String::from_utf8_lossy(&out.stderr).contains("1 of 6 tokens see no key"));
}

#[test]
fn a_token_without_visible_keys_stays_under_every_normalisation() {
    let f = folder();
    for norm in ["post", "pre", "peri", "mix:tau=0.5", "ngpt:alpha=1", "cod", "ln-scaling", "none"]
    {
        let v = json(
            f.path(),
            &format!("velocity --tokens x.csv --beta 3 --mask mask.csv --norm {norm}"),
        );
        assert_eq!(v["tokens_without_keys"], 1, "{norm}");
        assert!(numbers(&v["velocity"][0]).iter().all(|v| *v == 0.0), "{norm}");
        assert!(v["radial_velocity"].is_null() || v["radial_velocity"][0] == 0.0, "{norm}");
        let s = json(
            f.path(),
            &format!("solve --tokens x.csv --beta 3 --t-end 1 --mask mask.csv --norm {norm}"),
        );
        assert_eq!(
            (&s["outcome"], &s["stats"]["tokens_without_keys"]),
            (&"reached".into(), &1.into()),
            "{norm}"
        );
        assert_close(&numbers(&s["final_tokens"][0]), tokens().row(0), norm);
    }
    // The causal mask of the dynamics counts, too: this mask shows token 0 only the last token,
    // which comes after it.
    let mut later = [0.0; N * N];
    (1..N).for_each(|i| later[i * N + i] = 1.0);
    later[N - 1] = 1.0;
    std::fs::write(f.path().join("later.csv"), csv(&later, N)).expect("writable");
    let count = |dynamics: &str| {
        json(f.path(), &format!("velocity --tokens x.csv --beta 3 --mask later.csv {dynamics}"))["tokens_without_keys"].clone()
    };
    assert_eq!(
        (count(""), count("--causal"), count("--dynamics causal-usa")),
        (0.into(), 1.into(), 1.into())
    );
}

#[test]
fn a_named_kernel_uses_the_accuracy_that_it_reaches() {
    let f = folder();
    let message = |line: &str| String::from_utf8_lossy(&run(f.path(), line).stderr).into_owned();
    for line in [
        "velocity --init uniform --n 20 --d 2 --beta 4 --kernel fourier",
        "solve --init uniform --n 20 --d 2 --beta 4 --t-end 1 --kernel fourier",
    ] {
        let answer = json(f.path(), line);
        let stats = if answer["stats"].is_null() { &answer } else { &answer["stats"] };
        // Four times the accuracy of a typical row at n = 20 and beta = 4, 4 (2e-15 + 1.1e-16 (16 +
        // 8 sqrt 4)) / 1e-2, plus 5 % before rounding to two digits. No row is flagged.
        assert_eq!(stats["accuracy_of_kernel"], 2.3e-12, "{line}");
        assert!(!message(line).contains("did not reach"), "{line}: {}", message(line));
        assert!(
            message(line).contains(
                "the kernel `fourier` reaches an accuracy of 2.3e-12, used here instead of"
            ),
            "{line}: {}",
            message(line)
        );
        // --accuracy is refused if the kernel cannot reach it, and otherwise used without a note.
        assert!(
            message(&format!("{line} --accuracy 1e-13"))
                .contains("--accuracy: found 1e-13, expected at least 5.8e-13"),
            "{line}"
        );
        let loose = json(f.path(), &format!("{line} --accuracy 6e-13"));
        assert!(
            loose["stats"]["accuracy_of_kernel"].is_null() && loose["accuracy_of_kernel"].is_null(),
            "{line}"
        );
    }
    // A kernel that cannot compute this at all is refused.
    assert!(
        message("velocity --tokens x.csv --beta 4 --kernel fourier")
            .contains("--kernel: found fourier")
    );
}

#[test]
fn a_merge_radius_without_effect_is_noted() {
    let f = folder();
    let line = "solve --tokens x.csv --beta 3 --t-end 1 --merge-radius 0.01";
    let note = "tokens of this dynamics never merge";
    for (dynamics, ignored) in [("--causal", true), ("--mask mask.csv", true), ("", false)] {
        let line = format!("{line} {dynamics}");
        assert_eq!(json(f.path(), &line)["stats"]["merging_ignored"], ignored, "{line}");
        assert_eq!(
            String::from_utf8_lossy(&run(f.path(), &line).stderr).contains(note),
            ignored,
            "{line}"
        );
    }
    // No note without the flag.
    let plain = run(f.path(), "solve --tokens x.csv --beta 3 --t-end 1 --causal");
    assert!(!String::from_utf8_lossy(&plain.stderr).contains(note));
}

#[test]
fn provenance_contains_the_whole_model() {
    let f = folder();
    let at = f.path();
    json(at, "solve --tokens x.csv --beta 2 --t-end 1 --q q.csv --k k.csv --mask causal --out run");
    let record: Value =
        serde_json::from_slice(&std::fs::read(at.join("run/record.json")).expect("a record"))
            .expect("JSON");
    let settings = &record["settings"];
    assert_eq!(settings["model"]["words"]["mask"][0], "causal");
    let file = std::fs::read(at.join("q.csv")).expect("a matrix");
    assert_eq!(settings["model"]["files"]["q.csv"], metastable::lab::provenance::hash(file));
    for key in ["tokens", "masses", "rtol", "merge_radius", "integrator", "dynamics", "beta"] {
        assert!(!settings[key].is_null(), "{key}");
    }
    // Another matrix under the same name is another configuration.
    std::fs::write(at.join("q.csv"), csv(&normals(3 * D, "other"), D)).expect("writable");
    json(
        at,
        "solve --tokens x.csv --beta 2 --t-end 1 --q q.csv --k k.csv --mask causal --out other",
    );
    let hash =
        |folder: &str| json(at, &format!("provenance {folder}/record.json"))["config_hash"].clone();
    assert_ne!(hash("run"), hash("other"));
}

#[test]
fn experiments_use_models() -> Result<()> {
    let f = folder();
    let at = f.path();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("writable");
    let head = "name = 'pre'\ntokens_file = 'points.csv'\nbeta = [1, 2]\nt_end = 1.5\nobservables = ['positions']\ntimes = [1.5]\n";
    write(
        "pre.toml",
        &format!("{head}[model]\nnorm = 'pre'\nmask = 'causal'\nq = 'q.csv'\nk = 'k.csv'\n"),
    );
    let ran = json(at, "run pre.toml --out runs");
    assert_eq!(ran["cells"].as_array().map(Vec::len), Some(2));
    let folder = at.join(ran["folder"].as_str().expect("a folder"));
    let found = std::fs::read_dir(folder.join("cells")).expect("cells").count();
    assert_eq!(found, 2);
    let expected = numbers(
        &json(
            at,
            "solve --tokens points.csv --beta 2 --t-end 1.5 --norm pre --mask causal --q q.csv --k k.csv",
        )["final_tokens"],
    );
    let ends: Vec<Vec<f64>> = std::fs::read_dir(folder.join("cells"))
        .expect("cells")
        .flatten()
        .map(|c| arrays::read(&c.path().join("table.npy"), None).map(|a| a.data[2..].to_vec()))
        .collect::<Result<_>>()?;
    // The same equation, sampled at its end.
    assert!(
        ends.iter().any(|e| e.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9)),
        "{ends:?} {expected:?}"
    );
    // A model file; noise; laws.
    let shared = "name = 'noisy'\nn = 6\nd = 4\nbeta = 1\nt_end = 1\nrealisations = 2\nmodel = 'noise.toml'\n";
    write("noisy.toml", shared);
    write("noise.toml", "noise = 'kappa=4,step=0.1'\n");
    let first = json(at, "run noisy.toml --out once");
    let again = json(at, "run noisy.toml --out twice");
    let results = |v: &Value| {
        std::fs::read(at.join(v["folder"].as_str().expect("a folder")).join("results.npy"))
            .expect("results")
    };
    assert_eq!(results(&first), results(&again));
    for (text, expected) in [
        ("[model]\nmask = 'casual'\n", "line 8: mask: pattern: found casual, expected `causal`"),
        ("[model]\nnorn = 'pre'\n", "line 8: unknown key `norn`; did you mean `norm`?"),
        (
            "[model]\nmask = 'small.csv'\n",
            "found 2 queries and 2 sources, expected 6 queries and 6 sources",
        ),
        ("rtol = 1e-9\n[model]\nnoise = 'kappa=4,step=0.1'\n", "rtol: found together with noise"),
        ("[model]\nnorm = 'none'\n", "observables: found `log-energy`"),
        ("model = 'missing.toml'\n", "no such file"),
        ("model = 3\n", "expected a table"),
    ] {
        write(
            "wrong.toml",
            &format!("name = 'wrong'\nn = 6\nd = 4\nbeta = 1\nt_end = 1\nrealisations = 2\n{text}"),
        );
        let out = run(at, "run wrong.toml");
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(1) && message.contains(expected), "{text}: {message}");
    }
    Ok(())
}

#[test]
fn models_are_axes_of_the_grid() {
    let f = folder();
    let at = f.path();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("written");
    let head = "name = 'axes'\nn = 6\nd = 4\nbeta = [1, 2]\nt_end = 0.5\nsamples = 3\nobservables = ['mean-cosine', 'residual', 'attention-entropy', 'hull-support', 'head-energy']\n";
    let grid = "[model]\nnorm = ['post', 'cod']\nv = [['normal:seed=1'], ['normal:seed=2'], ['low-rank:rank=1']]\nq = 'rotation:seed=4'\n";
    write("axes.toml", &format!("{head}{grid}"));
    let ran = json(at, "run axes.toml --out runs");
    let cells = ran["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 12);
    let labels: Vec<&str> = cells.iter().map(|c| c["model"].as_str().expect("a label")).collect();
    assert!(
        labels.contains(&"norm=post; v=normal:seed=1")
            && labels.contains(&"norm=cod; v=low-rank:rank=1"),
        "{labels:?}"
    );
    let folder = at.join(ran["folder"].as_str().expect("a folder"));
    let text = std::fs::read_to_string(folder.join("results.csv")).expect("results");
    assert!(text.contains("cell,dynamics,init,n,d,beta,eta,model,realisation"), "{text}");
    // A further value of an axis does not change the other cells.
    let more = grid.replace("'post', 'cod'", "'post', 'cod', 'ngpt:alpha=2'");
    write("axes.toml", &format!("{head}{more}"));
    let ids = |v: &Value| {
        v["cells"]
            .as_array()
            .expect("cells")
            .iter()
            .map(|c| c["cell"].as_str().expect("an id").to_owned())
            .collect::<Vec<_>>()
    };
    let longer = json(at, "run axes.toml --out runs");
    assert!(ids(&ran).iter().all(|id| ids(&longer).contains(id)) && ids(&longer).len() == 18);
    // A model gives the same bytes alone and in a grid.
    let alone = "[model]\nnorm = 'post'\nv = 'normal:seed=1'\nq = 'rotation:seed=4'\n";
    write("alone.toml", &format!("{}{alone}", head.replace("[1, 2]", "1")));
    let one = json(at, "run alone.toml --out runs");
    let inner_min =
        |v: &Value, k: usize| v["cells"][k]["worst_inner_min"].as_f64().expect("a number");
    let same = labels.iter().position(|l| *l == "norm=post; v=normal:seed=1").expect("there");
    assert_eq!(inner_min(&one, 0).to_bits(), inner_min(&ran, same).to_bits());
    // `fresh` draws new matrices in every layer: the result differs from that of constant ones.
    let layers = "name = 'deep'\nn = 5\nd = 3\nbeta = 1\nstepper = 'layer'\nlayers = 4\nrealisations = 20\nmean = true\nband = 0.9\nobservables = ['mean-cosine']\n";
    write("deep.toml", &format!("{layers}[model]\nv = 'normal'\nschedule = 'redrawn'\n"));
    write("still.toml", &format!("{layers}[model]\nv = 'normal'\n"));
    let mean = |file: &str| {
        let ran = json(at, &format!("run {file} --out runs"));
        let cells = at.join(ran["folder"].as_str().expect("a folder")).join("cells");
        let cell =
            std::fs::read_dir(cells).expect("cells").flatten().next().expect("a cell").path();
        arrays::read(&cell.join("table.npy"), None).expect("a table")
    };
    let (fresh, still) = (mean("deep.toml"), mean("still.toml"));
    assert_eq!(fresh.shape, [5, 4], "t, mean, low, high");
    assert!(fresh.data.chunks(4).all(|r| r[2] <= r[1] && r[1] <= r[3]));
    assert!(fresh.data.iter().zip(&still.data).any(|(a, b)| (a - b).abs() > 1e-3));
    for (text, expected) in [
        ("norm = ['post', 'prae']\n", "did you mean `pre`?"),
        ("norm = [['post']]\n", "norm: found a list in a list, expected strings"),
        ("q = 'normal:sed=1'\n", "q: unknown matrix parameter `sed`; did you mean `seed`?"),
        ("v = 'low-rank:rank=9'\n", "low-rank rank: found 9, expected a rank of at most d = "),
        ("v = 'low-rank:seed=2'\n", "v: low-rank rank: found 0, expected a rank of at least 1"),
        ("schedule = 'redrawn'\n", "schedule: found redrawn, expected matrices by law"),
        ("noise = ['none', 'kappa=4,step=0.1,scheme=lie']\n", "scheme"),
    ] {
        write("wrong.toml", &format!("{head}[model]\n{text}"));
        let out = run(at, "run wrong.toml");
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(1) && message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn a_wrong_model_gives_one_sentence() {
    let f = folder();
    snapshot::refusals("model-velocity", f.path(), &[]);
    snapshot::refusals("model-solve", f.path(), &[]);
}

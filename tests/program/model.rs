//! Models from the command line and from files: every flag agrees with the library, and a wrong
//! value gives an error of one sentence.

use crate::program::{Place, entries, items, number, numbers, words};
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
use std::path::PathBuf;

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

fn folder() -> Place {
    let at = Place::with(&[
        ("small.csv", "1,0\n0,1\n"),
        ("radii.csv", "1\n2\n0.5\n1\n3\n1\n"),
        ("bad-radii.csv", "1\n2\n0\n1\n3\n1\n"),
        ("origin.csv", "1,0,0,0\n0,0,0,0\n"),
        ("model.toml", "mask = ['causal', 'window:w=2']\nq = 'q.csv'\nk = 'k.csv'\n"),
        ("typo.toml", "mask = 'casual'\nwieghts = 'softmax'\nnorm = 'prf'\n"),
    ]);
    at.write("x.csv", csv(tokens().coordinates(), D));
    at.write("mask.csv", csv(&MASK.map(|m| m as f64), N));
    at.write("half.csv", csv(&[0.5; N * N], N));
    for (name, rows, width) in [
        ("points", N, D),
        ("q", 3, D),
        ("k", 3, D),
        ("v", 2, D),
        ("o", D, 2),
        ("square", D, D),
        ("bias", N, N),
    ] {
        at.write(&format!("{name}.csv"), csv(&normals(rows * width, name), width));
    }
    let archive = |name: &str, members: &[(&str, usize, usize)]| {
        let file = std::fs::File::create(at.join(name)).expect("writable");
        let mut zip = zip::ZipWriter::new(file);
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
    at
}

fn velocity(at: &Place, flags: &str) -> Vec<f64> {
    numbers(&at.json(&format!("velocity --tokens x.csv --beta 3 {flags}"))["velocity"])
}

/// Where the tokens of a file are at the end.
fn ends(at: &Place, flags: &str) -> Vec<f64> {
    numbers(&at.json(&format!("solve --tokens {flags}"))["final_tokens"])
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
    let (at, x) = (folder(), tokens());
    let plain = || MultiHead::new(3.0, vec![Head::default()]);
    let both = || -> Result<CombinedPattern> {
        Ok(CombinedPattern::new(vec![Box::new(Causal), Box::new(Window::new(2)?)]))
    };
    let (visible, biases) = (MASK.map(|m| m == 1), normals(N * N, "bias"));
    let exponential = Weights::Exponential { log_factor: -3.0 };
    let head = Head::new(D, matrix("q", 3, D), matrix("k", 3, D), None)?;
    let one = "--q q.csv --k k.csv --v v.csv --o o.csv";
    for (flags, sublayer) in [
        ("--mask window:w=2", plain()?.with_pattern(Window::new(2)?)),
        ("--mask causal --mask window:w=2", plain()?.with_pattern(both()?)),
        ("--mask mask.csv", plain()?.with_pattern(BiasTable::mask(N, N, &visible)?)),
        ("--bias alibi", plain()?.with_pattern(Alibi::new(1)?)),
        ("--bias bias.csv", plain()?.with_pattern(BiasTable::biases(N, N, biases)?)),
        (
            "--bias alibi --dynamics usa --time-scale u2",
            plain()?.with_pattern(Alibi::new(1)?).with_weights(exponential),
        ),
        (
            "--rotary base=100,pairs=adjacent",
            plain()?.with_pattern(Rotary::new(100.0, Pairs::Adjacent, D)?),
        ),
        (
            "--rotary base=100,pairs=halves",
            plain()?.with_pattern(Rotary::new(100.0, Pairs::Halves, D)?),
        ),
        (
            &format!("{one} {one} --bias alibi")[..],
            MultiHead::new(3.0, heads(true)?)?.with_pattern(Alibi::new(2)?),
        ),
        ("--model model.toml", MultiHead::new(3.0, vec![head])?.with_pattern(both()?)),
    ] {
        assert_close(&velocity(&at, flags), &Dynamics::single(sublayer).velocity(&x), flags);
    }
    assert_eq!(velocity(&at, "--mask causal"), velocity(&at, "--causal"));
    let attention = Attention { heads: heads(false)?, ..Attention::new(3.0) };
    assert_close(&velocity(&at, one), &Dynamics::single(attention).velocity(&x), "one head");
    // Repulsive attention with a bias is the negative of attractive attention.
    let minus: Vec<f64> = velocity(&at, "--bias alibi").iter().map(|v| -v).collect();
    assert_close(&velocity(&at, "--bias alibi --dynamics repulsive-sa"), &minus, "repulsion");
    Ok(())
}

#[test]
fn weights_and_sublayers_are_those_of_the_library() -> Result<()> {
    let (at, x) = (folder(), tokens());
    assert_eq!(velocity(&at, "--weights softmax"), velocity(&at, ""));
    assert_eq!(velocity(&at, "--weights exponential"), velocity(&at, "--dynamics usa"));
    // <Q x, K y> = <K^T Q x, y>.
    let (q, k) = (normals(3 * D, "q"), normals(3 * D, "k"));
    let form =
        (0..D * D).map(|e| (0..3).map(|r| k[r * D + e / D] * q[r * D + e % D]).sum()).collect();
    for (flags, dynamics) in [
        ("sinkhorn", Dynamics::single(Sinkhorn::new(3.0, 1e-13)?)),
        ("hardmax", Dynamics::single(Hardmax::new(None, 1e-12)?)),
        ("hardmax --q q.csv --k k.csv", Dynamics::single(Hardmax::new(Some(form), 1e-12)?)),
    ] {
        let found = velocity(&at, &format!("--weights {flags}"));
        assert_close(&found, &dynamics.velocity(&x), flags);
    }
    for (word, activation) in [
        ("", Activation::Gelu),
        ("--activation relu", Activation::Relu),
        ("--activation gelu-tanh", Activation::GeluTanh),
    ] {
        let [w1, b1, w2, b2] = [("w1", 5 * D), ("b1", 5), ("w2", 5 * D), ("b2", D)]
            .map(|(name, count)| normals(count, name));
        let (first, second) = (Linear::new("W_1", D, w1, b1)?, Linear::new("W_2", 5, w2, b2)?);
        let mlp = Mlp::new("mlp", first, None, second, activation)?;
        let expected = Dynamics::single(Attention::new(3.0)).with_sublayer(mlp).velocity(&x);
        assert_close(&velocity(&at, &format!("--mlp mlp.npz {word}")), &expected, word);
    }
    Ok(())
}

#[test]
fn normalisations_and_spaces_are_those_of_the_library() -> Result<()> {
    let at = folder();
    let points = normals(N * D, "points");
    let attention = || Attention { accuracy: velocity_accuracy(1e-10, 2.0), ..Attention::new(2.0) };
    let solved = |dynamics: Dynamics, start: &Tokens, t: f64| -> Result<Tokens> {
        Ok(solve(&dynamics, start, t, &Options::default(), &mut [])?.clusters)
    };
    // Directions and radii of one file, or of two. With a law, all radii start at 1.
    let lengths: Vec<f64> =
        points.chunks(D).map(|r| r.iter().map(|v| v * v).sum::<f64>().sqrt()).collect();
    for (files, start) in [
        ("points.csv", Tokens::normalised(D, points.clone())?.polar(&lengths)?),
        ("x.csv --radii radii.csv", tokens().polar(&[1.0, 2.0, 0.5, 1.0, 3.0, 1.0])?),
    ] {
        let expected = solved(Dynamics::single(attention()).with_normalisation(Pre), &start, 1.5)?;
        let found = at.json(&format!("solve --tokens {files} --beta 2 --t-end 1.5 --norm pre"));
        assert_close(&numbers(&found["final_radii"]), expected.extra_numbers(), files);
        assert_close(&numbers(&found["final_tokens"]), expected.coordinates(), files);
    }
    let v = at.json("velocity --init uniform --n 3 --d 3 --beta 0 --norm pre");
    assert_eq!(items(&v["radial_velocity"]).len(), 3);
    // R^d.
    let free = Dynamics::single(attention()).with_normalisation(Unnormalised);
    let expected = solved(free, &Tokens::flat(D, points)?, 0.5)?;
    for flags in ["--norm none", "--space flat", "--space flat --norm none"] {
        let found = at.json(&format!("solve --tokens points.csv --beta 2 --t-end 0.5 {flags}"));
        assert_close(&numbers(&found["final_tokens"]), expected.coordinates(), flags);
        assert!(found["final_radii"].is_null() && found["energy"].is_null());
    }
    Ok(())
}

#[test]
fn rescaled_tokens_are_tokens_of_rd_times_the_exponential() {
    let at = folder();
    // V = I: z = e^{-t} x. The bound is for two integrations with local errors of 1e-10 over some
    // ten steps.
    let [plain, biased] = ["", "--bias alibi"].map(|bias| {
        let [x, z] = ["--norm none", "--rescaled"]
            .map(|space| ends(&at, &format!("points.csv --beta 1 --t-end 0.8 {space} {bias}")));
        let near = |(x, z): (&f64, &f64)| ((-0.8f64).exp() * x - z).abs() < 1e-8;
        assert!(x.iter().zip(&z).all(near), "{x:?} {z:?}");
        z
    });
    let differ = plain.iter().zip(&biased).any(|(a, b)| (a - b).abs() > 1e-3);
    assert!(differ, "the bias has an effect");
}

#[test]
fn noise_agrees_with_the_library_and_depends_on_the_seed() -> Result<()> {
    let at = folder();
    let solve = |seed: u64| {
        ends(&at, &format!("x.csv --beta 2 --t-end 1 --noise kappa=5,seed={seed},step=0.05"))
    };
    let noise = Isotropic::new(5.0)?;
    let attention = Attention { accuracy: velocity_accuracy(1e-10, 2.0), ..Attention::new(2.0) };
    let splitting = Splitting::Strang;
    let plan = SdeOptions { noise: &noise, step: 0.05, seed: 7, splitting, cancel: None };
    let (expected, _) = solve_sde(&Dynamics::single(attention), &tokens(), 1.0, &plan, &mut [])?;
    assert_close(&solve(7), expected.coordinates(), "a path");
    assert_eq!(solve(7), solve(7));
    assert!(solve(7).iter().zip(&solve(8)).any(|(a, b)| (a - b).abs() > 1e-3));
    Ok(())
}

#[test]
fn a_token_without_visible_keys_stays_under_every_normalisation() {
    let at = folder();
    for norm in
        ["", "post", "pre", "peri", "mix:tau=0.5", "ngpt:alpha=1", "cod", "ln-scaling", "none"]
    {
        let flag = if norm.is_empty() { String::new() } else { format!("--norm {norm}") };
        let call = format!("--tokens x.csv --beta 3 --mask mask.csv {flag}");
        let v = at.json(&format!("velocity {call}"));
        assert_eq!(v["tokens_without_keys"], 1, "{norm}");
        assert!(numbers(&v["velocity"][0]).iter().all(|v| *v == 0.0), "{norm}");
        assert!(v["radial_velocity"].is_null() || v["radial_velocity"][0] == 0.0, "{norm}");
        let s = at.json(&format!("solve {call} --t-end 1"));
        let counted = &s["stats"]["tokens_without_keys"];
        assert!(s["outcome"] == "reached" && *counted == 1, "{norm}: {s}");
        assert_close(&numbers(&s["final_tokens"][0]), tokens().row(0), norm);
    }
    let notes = at.notes("solve --tokens x.csv --beta 3 --t-end 1 --mask mask.csv");
    assert!(notes.contains("1 of 6 tokens see no key"), "{notes}");
    // The causal mask of the dynamics counts, too: this mask shows token 0 only the last token,
    // which comes after it.
    let mut later = [0.0; N * N];
    (1..N).for_each(|i| later[i * N + i] = 1.0);
    later[N - 1] = 1.0;
    at.write("later.csv", csv(&later, N));
    for (dynamics, count) in [("", 0), ("--causal", 1), ("--dynamics causal-usa", 1)] {
        let call = format!("velocity --tokens x.csv --beta 3 --mask later.csv {dynamics}");
        assert_eq!(at.json(&call)["tokens_without_keys"], count, "{dynamics}");
    }
}

#[test]
fn a_named_kernel_uses_the_accuracy_that_it_reaches() {
    let at = folder();
    for command in ["velocity", "solve --t-end 1"] {
        let line = format!("{command} --init uniform --n 20 --d 2 --beta 4 --kernel fourier");
        let accuracy = |line: &str| {
            let answer = at.json(line);
            let stats = if answer["stats"].is_null() { &answer } else { &answer["stats"] };
            stats["accuracy_of_kernel"].clone()
        };
        // Four times the accuracy of a typical row at n = 20 and beta = 4, 4 (2e-15 + 1.1e-16 (16 +
        // 8 sqrt 4)) / 1e-2, plus 5 % before rounding to two digits. No row is flagged.
        assert_eq!(accuracy(&line), 2.3e-12, "{line}");
        let notes = at.notes(&line);
        assert!(!notes.contains("did not reach"), "{notes}");
        assert!(notes.contains("`fourier` reaches an accuracy of 2.3e-12"), "{notes}");
        // --accuracy is refused if the kernel cannot reach it, and otherwise used without a note.
        let refusal = "--accuracy: found 1e-13, expected at least 5.8e-13";
        at.refused(&format!("{line} --accuracy 1e-13"), refusal);
        assert!(accuracy(&format!("{line} --accuracy 6e-13")).is_null(), "{line}");
    }
    // A kernel that cannot compute this at all is refused.
    at.refused("velocity --tokens x.csv --beta 4 --kernel fourier", "--kernel: found fourier");
}

#[test]
fn a_merge_radius_without_effect_is_noted() {
    let at = folder();
    let note = "tokens of this dynamics never merge";
    for (flags, ignored, noted) in [
        ("--merge-radius 0.01 --causal", true, true),
        ("--merge-radius 0.01 --mask mask.csv", true, true),
        ("--merge-radius 0.01", false, false),
        ("--causal", true, false),
    ] {
        let line = format!("solve --tokens x.csv --beta 3 --t-end 1 {flags}");
        if flags.contains("radius") {
            assert_eq!(at.json(&line)["stats"]["merging_ignored"], ignored, "{line}");
        }
        assert_eq!(at.notes(&line).contains(note), noted, "{line}");
    }
}

#[test]
fn provenance_contains_the_whole_model() {
    let at = folder();
    let call = "solve --tokens x.csv --beta 2 --t-end 1 --q q.csv --k k.csv --mask causal --out";
    at.json(&format!("{call} run"));
    let record: Value = serde_json::from_str(&at.read("run/record.json")).expect("JSON");
    let settings = &record["settings"];
    assert_eq!(settings["model"]["words"]["mask"][0], "causal");
    let hash = metastable::lab::provenance::hash(at.read("q.csv"));
    assert_eq!(settings["model"]["files"]["q.csv"], hash);
    for key in ["tokens", "masses", "rtol", "merge_radius", "integrator", "dynamics", "beta"] {
        assert!(!settings[key].is_null(), "{key}");
    }
    // Another matrix under the same name is another configuration.
    at.write("q.csv", csv(&normals(3 * D, "other"), D));
    at.json(&format!("{call} other"));
    let [run, other] = ["run", "other"]
        .map(|name| at.json(&format!("explain {name}/record.json"))["config_hash"].clone());
    assert_ne!(run, other);
}

/// The tables of the cells of an experiment.
fn tables(at: &Place, ran: &Value) -> Vec<arrays::Array> {
    let cells: Vec<PathBuf> = entries(&at.results(ran).join("cells"));
    cells.iter().map(|c| arrays::read(&c.join("table.npy"), None).expect("a table")).collect()
}

#[test]
fn experiments_use_models() {
    let at = folder();
    let head = "name = 'pre'\ntokens_file = 'points.csv'\nbeta = [1, 2]\nt_end = 1.5\n\
                observables = ['positions']\ntimes = [1.5]\n";
    let model = "[model]\nnorm = 'pre'\nmask = 'causal'\nq = 'q.csv'\nk = 'k.csv'\n";
    at.write("pre.toml", format!("{head}{model}"));
    let ran = at.json("run pre.toml --out runs");
    let tables = tables(&at, &ran);
    assert_eq!((items(&ran["cells"]).len(), tables.len()), (2, 2));
    let model = "--norm pre --mask causal --q q.csv --k k.csv";
    let expected = ends(&at, &format!("points.csv --beta 2 --t-end 1.5 {model}"));
    // The same equation, sampled at its end.
    let near =
        |t: &arrays::Array| t.data[2..].iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(tables.iter().any(near), "{expected:?}");
    // A model file; noise; laws.
    let six = "n = 6\nd = 4\nbeta = 1\nt_end = 1\nrealisations = 2\n";
    at.write("noisy.toml", format!("name = 'noisy'\n{six}model = 'noise.toml'\n"));
    at.write("noise.toml", "noise = 'kappa=4,step=0.1'\n");
    let [first, again] = ["once", "twice"].map(|out| {
        let ran = at.json(&format!("run noisy.toml --out {out}"));
        std::fs::read(at.results(&ran).join("results.npy")).expect("results")
    });
    assert_eq!(first, again);
    for (text, expected) in [
        (
            "[model]\nmask = 'casual'\n",
            "line 8, column 8: mask: pattern: found casual, expected `causal`",
        ),
        ("[model]\nnorn = 'pre'\n", "line 8, column 1: unknown key `norn`; did you mean `norm`?"),
        ("[model]\nmask = 'small.csv'\n", "found 2 queries and 2 sources, expected 6 queries"),
        ("rtol = 1e-9\n[model]\nnoise = 'kappa=4,step=0.1'\n", "rtol: found together with noise"),
        ("[model]\nnorm = 'none'\n", "observables: found `log-energy`"),
        ("model = 'missing.toml'\n", "no such file"),
        ("model = 3\n", "expected a table"),
    ] {
        at.write("wrong.toml", format!("name = 'wrong'\n{six}{text}"));
        at.refused("run wrong.toml", expected);
    }
}

#[test]
fn models_are_axes_of_the_grid() {
    let at = folder();
    let head = "name = 'axes'\nn = 6\nd = 4\nbeta = [1, 2]\nt_end = 0.5\nsamples = 3\n\
                observables = ['mean-cosine', 'residual', 'attention-entropy', 'hull-support', \
                'head-energy']\n";
    let grid = "[model]\nnorm = ['post', 'cod']\nq = 'rotation:seed=4'\n\
                v = [['normal:seed=1'], ['normal:seed=2'], ['low-rank:rank=1']]\n";
    let run = |text: &str| {
        at.write("axes.toml", text);
        at.json("run axes.toml --out runs")
    };
    let ran = run(&format!("{head}{grid}"));
    let cells = items(&ran["cells"]);
    assert_eq!(cells.len(), 12);
    let labels: Vec<&str> = cells.iter().map(|c| words(&c["model"])).collect();
    for label in ["norm=post; v=normal:seed=1", "norm=cod; v=low-rank:rank=1"] {
        assert!(labels.contains(&label), "{labels:?}");
    }
    let text = at.read(at.results(&ran).join("results.csv"));
    assert!(text.contains("cell,dynamics,init,n,d,beta,eta,model,realisation"), "{text}");
    // A further value of an axis does not change the other cells.
    let longer = run(&format!("{head}{grid}").replace("'cod'", "'cod', 'ngpt:alpha=2'"));
    let ids = |v: &Value| -> Vec<String> {
        items(&v["cells"]).iter().map(|c| words(&c["cell"]).to_owned()).collect()
    };
    assert!(ids(&ran).iter().all(|id| ids(&longer).contains(id)) && ids(&longer).len() == 18);
    // A model gives the same bytes alone and in a grid.
    let alone = "[model]\nnorm = 'post'\nv = 'normal:seed=1'\nq = 'rotation:seed=4'\n";
    let one = run(&format!("{}{alone}", head.replace("[1, 2]", "1")));
    let inner_min = |v: &Value, k: usize| number(&v["cells"][k]["worst_inner_min"]).to_bits();
    let same = labels.iter().position(|l| *l == "norm=post; v=normal:seed=1").expect("there");
    assert_eq!(inner_min(&one, 0), inner_min(&ran, same));
    // `fresh` draws new matrices in every layer: the result differs from that of constant ones.
    let layers = "name = 'deep'\nn = 5\nd = 3\nbeta = 1\nstepper = 'layer'\nlayers = 4\n\
                  realisations = 20\nmean = true\nband = 0.9\nobservables = ['mean-cosine']\n\
                  [model]\nv = 'normal'\n";
    let [fresh, still] = ["schedule = 'redrawn'\n", ""]
        .map(|schedule| tables(&at, &run(&format!("{layers}{schedule}"))).remove(0));
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
        at.write("wrong.toml", format!("{head}[model]\n{text}"));
        at.refused("run wrong.toml", expected);
    }
}

#[test]
fn a_wrong_model_gives_one_sentence() {
    let at = folder();
    snapshot::refusals("model-velocity", &at, &[]);
    snapshot::refusals("model-solve", &at, &[]);
}

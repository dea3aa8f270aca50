//! `metastable model`: its files, their use by other commands, its report, and wrong input, for
//! which nothing is written.

use crate::program::{command, object, successful};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::process::Output;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models")
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, "").args(arguments).output().expect("starts")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let name = arguments.join(" ");
    object(&successful(run(folder, &[arguments, &["--format", "json"]].concat()), &name), &name)
}

fn text(path: PathBuf) -> String {
    path.to_str().expect("a path of text").to_owned()
}

/// Copies the files of a tiny model.
fn copied(into: &Path, name: &str) {
    for file in ["model.safetensors", "config.json", "tokenizer.json"] {
        let from = models().join(name).join(file);
        if from.is_file() {
            std::fs::copy(from, into.join(file)).expect("copied");
        }
    }
}

#[test]
fn hidden_states_are_written_as_a_run_for_other_commands() {
    let f = tempfile::tempdir().expect("a folder");
    let (at, bert) = (f.path(), text(models().join("bert")));
    let v = json(
        at,
        &["model", &bert, "--text", "The tokens of a text attend", "--out", "run", "--report"],
    );
    assert_eq!(
        (v["tokens"].as_u64(), v["layers"].as_u64(), v["d"].as_u64(), v["heads"].as_u64()),
        (Some(8), Some(2), Some(16), Some(2))
    );
    assert_eq!(v["words"][1], "the");
    assert_eq!(v["mean_cosine"].as_array().map(Vec::len), Some(3));
    for file in [
        "hidden.npz",
        "final_tokens.csv",
        "timeline.csv",
        "record.json",
        "report.html",
        "report.json",
        "layers.csv",
        "heads.csv",
        "spectra.csv",
    ] {
        assert!(at.join("run").join(file).is_file(), "{file}");
    }
    let entropy = json(
        at,
        &["entropy", "--tokens", "run/hidden.npz", "--array", "hidden_states", "--normalise"],
    );
    assert_eq!(
        (entropy["layers"].as_u64(), entropy["n"].as_u64(), entropy["d"].as_u64()),
        (Some(3), Some(8), Some(16))
    );
    let clusters = json(at, &["clusters", "--from-run", "run", "--linking-distance", "3.1"]);
    assert_eq!(
        clusters["clusters"]
            .as_array()
            .map(Vec::len)
            .or(clusters["clusters"].as_u64().map(|c| c as usize)),
        Some(1),
        "{clusters}"
    );
    let velocity = json(
        at,
        &[
            "velocity",
            "--tokens",
            "run/hidden.npz",
            "--array",
            "hidden_states",
            "--frame",
            "1",
            "--normalise",
            "--beta",
            "2",
        ],
    );
    assert_eq!(velocity["velocity"].as_array().map(Vec::len), Some(8));
    let report: Value = serde_json::from_str(
        &std::fs::read_to_string(at.join("run/report.json")).expect("a report"),
    )
    .expect("JSON");
    assert_eq!(
        (report["layers"].as_array().map(Vec::len), report["heads"].as_array().map(Vec::len)),
        (Some(3), Some(4))
    );
    assert!(
        report["entries"]
            .as_array()
            .expect("entries")
            .iter()
            .all(|e| e["meaning"].as_str().is_some_and(|w| !w.is_empty()))
    );
    let page = std::fs::read_to_string(at.join("run/report.html")).expect("a page");
    assert!(
        page.contains("the model violates") && !page.contains("http"),
        "the page must need no network"
    );
}

#[test]
fn the_same_tokens_by_text_ids_and_embeddings_and_blocks_iterated() {
    let f = tempfile::tempdir().expect("a folder");
    let (at, albert, ids) =
        (f.path(), text(models().join("albert")), text(models().join("ids.csv")));
    let last = |v: &Value| {
        v["mean_cosine"]
            .as_array()
            .and_then(|c| c.last().cloned())
            .and_then(|c| c.as_f64())
            .expect("a cosine")
    };
    let by_ids = json(at, &["model", &albert, "--ids", &ids, "--out", "a"]);
    // Layer 0 of the first run is the input of the second.
    let again = json(at, &["model", &albert, "--ids", &ids, "--layers", "6"]);
    assert_eq!(
        again["mean_cosine"][3], by_ids["mean_cosine"][3],
        "three more layers must not change earlier ones"
    );
    assert!(last(&again) > last(&by_ids), "one shared block clusters the tokens");
    let iterated = json(
        at,
        &[
            "model",
            &albert,
            "--ids",
            &ids,
            "--iterate",
            "0",
            "--layers",
            "40",
            "--without-attention",
            "--out",
            "b",
        ],
    );
    assert!(last(&iterated) > 0.99, "{}", last(&iterated));
    // The figure of an iterated block draws layers 1 to 39 and the displacement of each.
    let course = std::fs::read_to_string(at.join("b/iterated-block/course.csv")).expect("a table");
    let rows: Vec<Vec<f64>> =
        course.lines().filter_map(|l| l.split(',').map(|v| v.parse().ok()).collect()).collect();
    assert!(
        rows.len() == 39
            && (rows[0][0] - 1.0).abs() < 1e-12
            && rows[38][3] < 0.1 * rows[0][3]
            && (rows[38][1] - last(&iterated)).abs() < 1e-2,
        "{course}"
    );
    let drawn = run(
        at,
        &["figure", "iterated-block", "--from-run", "b/iterated-block", "--out", "block.csv"],
    );
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let single = json(at, &["model", &albert, "--ids", &ids, "--f32"]);
    assert!((last(&single) - last(&by_ids)).abs() < 1e-5 && single["precision"] == "f32");
    let gguf = json(at, &["model", &text(models().join("gguf/model.gguf")), "--ids", &ids]);
    assert_eq!((gguf["kind"].as_str(), gguf["d"].as_u64()), (Some("llama"), Some(32)));
}

#[test]
fn bad_input_gets_one_sentence_and_nothing_is_written() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    copied(at, "bert");
    std::fs::write(at.join("ids.csv"), "1\n2\n").expect("written");
    std::fs::write(at.join("far.csv"), "1\n999\n").expect("written");
    std::fs::write(at.join("half.csv"), "1\n2.5\n").expect("written");
    std::fs::write(at.join("long.csv"), "1\n".repeat(13)).expect("written");
    std::fs::write(at.join("wide.csv"), "1,2,3\n").expect("written");
    let refused = |arguments: &[&str], expected: &str| {
        let out = run(at, &[&["model"], arguments, &["--out", "never"]].concat());
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(
            error.contains(expected) && error.trim().lines().count() == 1,
            "{arguments:?}: {error}"
        );
        assert!(!at.join("never").exists(), "{arguments:?}");
    };
    refused(&[".", "--text", " "], "--text: found no words, expected at least one");
    refused(
        &[".", "--ids", "far.csv"],
        "--ids, id 2: found 999, expected a word of the model, below 30",
    );
    refused(&[".", "--ids", "half.csv"], "--ids, id 2: found 2.5, expected a whole number");
    refused(
        &[".", "--ids", "long.csv"],
        "--ids: found 13 tokens, expected at most 12, the positions of the model",
    );
    refused(
        &[".", "--text", &"the ".repeat(13)],
        "--text: found 15 tokens, expected at most 12, the positions of the model",
    );
    refused(&[".", "--embeddings", "wide.csv"], "expected n x 16");
    refused(
        &[".", "--ids", "ids.csv", "--iterate", "7"],
        "--iterate: found 7, expected a block below 2",
    );
    refused(
        &[".", "--ids", "ids.csv", "--layers", "7"],
        "--layers: found 7, expected it only with --iterate",
    );
    refused(
        &[".", "--ids", "ids.csv", "--iterate", "0", "--layers", "0"],
        "--layers: found 0, expected at least 1",
    );
    refused(&["nowhere", "--ids", "ids.csv"], "nowhere: no such file or folder");
    // A file of unknown kind is refused as such, with or without a file of settings.
    let neither =
        "ids.csv: found 4 bytes that begin neither as a GGUF file (GGUF) nor as a safetensors file";
    refused(&["ids.csv", "--ids", "ids.csv"], neither);
    std::fs::create_dir(at.join("alone")).expect("a folder");
    std::fs::copy(at.join("ids.csv"), at.join("alone/ids.csv")).expect("copied");
    refused(
        &["alone/ids.csv", "--ids", "ids.csv"],
        "found 4 bytes that begin neither as a GGUF file (GGUF) nor as a safetensors file",
    );
    std::fs::copy(at.join("model.safetensors"), at.join("alone/model.safetensors"))
        .expect("copied");
    refused(
        &["alone/model.safetensors", "--ids", "ids.csv"],
        "found a file that does not begin with GGUF",
    );
    std::fs::remove_file(at.join("tokenizer.json")).expect("removed");
    refused(
        &[".", "--text", "the text"],
        "tokenizer.json: no such file; without the model's tokenizer give the ids of the tokens",
    );
    let config = std::fs::read_to_string(at.join("config.json")).expect("settings");
    std::fs::write(
        at.join("config.json"),
        config.replace("\"intermediate_size\": 24", "\"intermediate_size\": 32"),
    )
    .expect("written");
    refused(&[".", "--ids", "ids.csv"], "found shape [24, 16], expected [32, 16]");
    std::fs::remove_file(at.join("config.json")).expect("removed");
    refused(&[".", "--ids", "ids.csv"], "config.json: no such file");
    std::fs::write(at.join("model.safetensors"), b"\x10\0\0\0\0\0\0\0{}").expect("written");
    copied(at, "bert");
    let whole = std::fs::read(at.join("model.safetensors")).expect("a model");
    std::fs::write(at.join("model.safetensors"), &whole[..whole.len() / 2]).expect("written");
    refused(&[".", "--ids", "ids.csv"], "truncated");
}

/// The header of a safetensors file, and its data.
fn split(bytes: &[u8]) -> (Map<String, Value>, &[u8]) {
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    (serde_json::from_slice(&bytes[8..8 + length]).expect("a header"), &bytes[8 + length..])
}

/// A safetensors file with this header and data.
fn joined(header: &Map<String, Value>, data: &[u8]) -> Vec<u8> {
    let text = serde_json::to_string(header).expect("JSON");
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), data].concat()
}

/// The published BERT calls the gain and shift of its norms gamma and beta.
#[test]
fn norms_may_have_their_old_names() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    copied(at, "bert");
    let ids = text(models().join("ids.csv"));
    let new = json(at, &["model", ".", "--ids", &ids])["mean_cosine"].clone();
    let bytes = std::fs::read(at.join("model.safetensors")).expect("a model");
    let (header, data) = split(&bytes);
    let old = |name: &String| {
        name.replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta")
    };
    let renamed: Map<String, Value> =
        header.iter().map(|(name, entry)| (old(name), entry.clone())).collect();
    assert_ne!(header, renamed);
    std::fs::write(at.join("model.safetensors"), joined(&renamed, data)).expect("written");
    assert_eq!(json(at, &["model", ".", "--ids", &ids])["mean_cosine"], new);
}

#[test]
fn a_model_may_lie_in_several_files() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    copied(at, "bert");
    let ids = text(models().join("ids.csv"));
    let whole = json(at, &["model", ".", "--ids", &ids])["mean_cosine"].clone();
    let bytes = std::fs::read(at.join("model.safetensors")).expect("a model");
    std::fs::remove_file(at.join("model.safetensors")).expect("removed");
    let (header, data) = split(&bytes);
    let mut parts: [(Map<String, Value>, Vec<u8>); 2] = Default::default();
    let mut map = Map::new();
    for (k, (name, entry)) in header.iter().filter(|(n, _)| *n != "__metadata__").enumerate() {
        let place = |i: usize| entry["data_offsets"][i].as_u64().expect("a place") as usize;
        let (tensors, numbers) = &mut parts[k % 2];
        let start = numbers.len();
        numbers.extend(&data[place(0)..place(1)]);
        let mut entry = entry.clone();
        entry["data_offsets"] = serde_json::json!([start, numbers.len()]);
        tensors.insert(name.clone(), entry);
        map.insert(name.clone(), format!("part-{}.safetensors", k % 2).into());
    }
    for (k, (tensors, numbers)) in parts.iter().enumerate() {
        let file = at.join(format!("part-{k}.safetensors"));
        std::fs::write(file, joined(tensors, numbers)).expect("written");
    }
    let index = "model.safetensors.index.json";
    let write = |map: &Map<String, Value>| {
        let text = serde_json::json!({"weight_map": map}).to_string();
        std::fs::write(at.join(index), text).expect("written");
    };
    write(&map);
    for model in [".", index] {
        assert_eq!(json(at, &["model", model, "--ids", &ids])["mean_cosine"], whole, "{model}");
    }
    let refused = |model: &str, expected: &str| {
        let out = run(at, &["model", model, "--ids", &ids]);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(1) && error.contains(expected), "{error}");
    };
    // A tensor in the other file, in no file, and an index that leads elsewhere.
    let first = map.keys().next().expect("a tensor").clone();
    for (file, expected) in [
        ("part-1.safetensors", "not in its file part-1.safetensors"),
        ("part-2.safetensors", "part-2.safetensors: no such file"),
        ("../part-0.safetensors", "expected the name of a file beside the index"),
    ] {
        let mut wrong = map.clone();
        wrong.insert(first.clone(), file.into());
        write(&wrong);
        refused(".", expected);
    }
    std::fs::write(at.join(index), "{}").expect("written");
    refused(".", "weight_map");
    // Without an index, files of other kinds are named.
    std::fs::remove_file(at.join(index)).expect("removed");
    refused(".", "found no model.safetensors in this folder; name a file, for example ");
    std::fs::create_dir(at.join("old")).expect("a folder");
    std::fs::write(at.join("old/pytorch_model.bin"), "").expect("written");
    refused("old", "pytorch_model.bin is of a kind that is not read");
}

/// The scaling `dynamic` exists for texts of more tokens than max_position_embeddings. It has one
/// base for each number of tokens.
#[test]
fn dynamic_positions_fit_texts_of_every_length() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    copied(at, "llama");
    let config = std::fs::read_to_string(at.join("config.json")).expect("settings");
    let ids = |n: usize| {
        let rows: String = (0..n).map(|k| format!("{}\n", 7 * k % 30)).collect();
        std::fs::write(at.join("ids.csv"), rows).expect("written");
    };
    let cosines = |replace: &[(&str, &str)]| -> Vec<f64> {
        let text = replace.iter().fold(config.clone(), |text, (from, to)| {
            assert!(text.contains(*from), "{from}");
            text.replace(*from, to)
        });
        std::fs::write(at.join("config.json"), text).expect("written");
        let found = json(at, &["model", ".", "--ids", "ids.csv"]);
        let found = found["mean_cosine"].as_array().expect("layers").clone();
        found.iter().map(|v| v.as_f64().expect("a number")).collect()
    };
    let dynamic = (
        "\"hidden_act\"",
        "\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 4.0}, \"hidden_act\"",
    );
    for n in [8, 12, 13, 20] {
        ids(n);
        // Heads have rank 4. The model was trained on 12 positions with the base 100.
        let growth = 4.0 * (n as f64 / 12.0).max(1.0) - 3.0;
        let base = format!("\"rope_theta\": {:?}", 100.0 * growth.powf(4.0 / (4.0 - 2.0)));
        let wanted = cosines(&[
            ("\"rope_theta\": 100.0", base.as_str()),
            ("\"max_position_embeddings\": 12", "\"max_position_embeddings\": 20"),
        ]);
        let found = cosines(&[dynamic]);
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-13, "n = {n}: {found} {wanted}");
        }
    }
    std::fs::write(at.join("config.json"), &config).expect("written");
    let out = run(at, &["model", ".", "--ids", "ids.csv"]);
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(1) && error.contains("at most 12"), "{error}");
}

#[test]
fn a_nan_in_the_weights_leaves_no_files() {
    let f = tempfile::tempdir().expect("a folder");
    let at = f.path();
    copied(at, "bert");
    let mut bytes = std::fs::read(at.join("model.safetensors")).expect("a model");
    let end = bytes.len();
    // The last tensor is the pooler, which is not read. The tensor before it is the norm of the
    // last layer.
    let from = end - 4 * (16 * 16 + 16) - 8;
    bytes[from..from + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(at.join("model.safetensors"), bytes).expect("written");
    let out = run(at, &["model", ".", "--ids", &text(models().join("ids.csv")), "--out", "never"]);
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{error}");
    assert!(
        error.contains("found NaN at number")
            && error.contains("tensor encoder.layer.1.output.LayerNorm.bias"),
        "{error}"
    );
    assert!(!at.join("never").exists());
}

/// The report of a tiny model on eight different words.
fn report_of(at: &Path, name: &str, more: &[&str]) -> Value {
    std::fs::write(at.join("ids.csv"), "1\n7\n3\n9\n2\n5\n8\n4\n").expect("written");
    let (model, out) = (text(models().join(name)), format!("{name}{}", more.len()));
    let answer = json(
        at,
        &[&["model", &model, "--ids", "ids.csv", "--report", "--out", &out], more].concat(),
    );
    let report: Value = serde_json::from_str(
        &std::fs::read_to_string(at.join(&out).join("report.json")).expect("a report"),
    )
    .expect("JSON");
    for key in [
        "lyapunov_exponents",
        "lyapunov_exponents_kind",
        "sa_beta",
        "sa_beta_error",
        "sa_beta_heads",
        "sa_beta_range",
    ] {
        assert_eq!(answer[key], report[key], "{key}");
    }
    report
}

#[test]
fn fitted_betas_are_those_of_sums_over_the_other_tokens() {
    let f = tempfile::tempdir().expect("a folder");
    // Computed with 40 digits in mpmath, with sums over j != i. There is no value if the best beta
    // is at an end of the tested range. Sums over all j would give 152.2 and 128 for heads 2 and 0
    // of layer 1 of albert, and 152.2 for head 0 of layer 2 of gpt2.
    let of_albert =
        vec![None, None, None, Some(2f64.sqrt()), None, None, None, None, None, None, None, None];
    let expected = [
        ("albert", of_albert, Some(2f64.sqrt())),
        (
            "gpt2",
            vec![Some(8.0), Some(2f64.powf(5.5)), None, None, None, None, None, None],
            Some(8.0),
        ),
        (
            "llama",
            vec![
                Some(2f64.powf(0.75)),
                None,
                None,
                Some(8.0),
                Some(2f64.powf(4.5)),
                Some(4.0),
                None,
                Some(2f64.powf(4.75)),
            ],
            None,
        ),
    ];
    for (name, betas, sa) in expected {
        let report = report_of(f.path(), name, &[]);
        let heads = report["heads"].as_array().expect("heads");
        assert_eq!(heads.len(), betas.len());
        for (head, beta) in heads.iter().zip(betas) {
            match (head["beta"].as_f64(), beta) {
                (None, None) => {}
                (Some(found), Some(beta)) => {
                    assert!((found - beta).abs() < 1e-9 * beta, "{name}: {head} for {beta}")
                }
                _ => panic!("{name}: {head} for {beta:?}"),
            }
        }
        match (report["sa_beta"].as_f64(), sa) {
            (None, None) => {}
            (Some(found), Some(beta)) => {
                assert!((found - beta).abs() < 1e-9 * beta, "{name}: {found} for {beta}")
            }
            (found, _) => panic!("{name}: {found:?} for {sa:?}"),
        }
    }
}

/// One head of twelve decides: the text says so, with its standard error.
#[test]
fn a_fitted_beta_has_its_error_and_the_number_of_heads() {
    let f = tempfile::tempdir().expect("a folder");
    let report = report_of(f.path(), "albert", &[]);
    let error = report["sa_beta_error"].as_f64().expect("an error");
    let beta = &report["sa_beta"];
    assert!(error > 0.0 && error < beta.as_f64().expect("a number"));
    assert_eq!(report["sa_beta_heads"], 1);
    assert_eq!(report["sa_beta_range"], serde_json::json!([beta, beta]));
    let albert = text(models().join("albert"));
    let out = run(f.path(), &["model", &albert, "--ids", "ids.csv", "--report", "--out", "again"]);
    let printed = String::from_utf8_lossy(&out.stdout).into_owned();
    let line = printed.lines().find(|l| l.starts_with("fitted beta")).expect("a line");
    assert!(line.contains(" +- ") && line.contains("(1 of 12 heads has one)"), "{line}");
    // One head is no property of a model: nothing is compared with SA.
    assert!(line.ends_with("too few for a comparison with SA"), "{line}");
    assert!(report["layers"][1]["sa_mean_cosine"].is_null());
    // Several heads: their number and range.
    let report = report_of(f.path(), "llama", &[]);
    let heads = report["sa_beta_heads"].as_u64().expect("a number");
    assert!(report["sa_beta_error"].is_null() == (heads != 1), "{heads}");
}

#[test]
fn sa_for_comparison_starts_at_layer_0() {
    let f = tempfile::tempdir().expect("a folder");
    let report = report_of(f.path(), "gpt2", &["--iterate", "0", "--layers", "12"]);
    assert!(report["sa_beta_heads"].as_u64().is_some_and(|heads| heads >= 3));
    // Layer 0 of SA is layer 0 of the model.
    let [own, sa] = ["mean_cosine", "sa_mean_cosine"]
        .map(|c| report["layers"][0][c].as_f64().expect("a number"));
    assert!(
        (own - sa).abs() <= 16.0 * f64::EPSILON,
        "{own} and {sa}, sums of the same numbers in two orders"
    );
    let pairs: u64 = report["histograms"][2]["sa"]
        .as_array()
        .expect("counts")
        .iter()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(pairs, 8 * 7 / 2);
}

#[test]
fn exponents_at_the_depth_of_a_model_are_those_of_the_whole_product() {
    let f = tempfile::tempdir().expect("a folder");
    let report = report_of(f.path(), "bert", &[]);
    // Expected values: singular values of the product of both layers' derivatives, by fourth-order
    // differences in NumPy. Four random directions would give 0.090, 0.402, 0.097, 0.005.
    let expected = [1.076_322_47, 0.972_511_76, 0.850_811_12, 0.788_492_3];
    let found: Vec<f64> = report["lyapunov_exponents"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert!(
        found.len() == 4 && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 2e-6),
        "{found:?}"
    );
    assert!(
        report["lyapunov_exponents_kind"]
            .as_str()
            .is_some_and(|k| k.starts_with("singular exponents at finite depth"))
    );
    assert!(report["lyapunov_exponents_error"].as_f64().is_some_and(|e| e < 1e-6));
    let page = std::fs::read_to_string(f.path().join("bert0/report.html")).expect("a page");
    assert!(page.contains("singular exponents at finite depth"));
    // At a larger depth, the exponents are computed by QR.
    let long = report_of(f.path(), "albert", &["--layers", "80"]);
    assert!(
        long["lyapunov_exponents_kind"].as_str().is_some_and(|k| k.starts_with("QR exponents")),
        "{long}"
    );
    let found: Vec<f64> = long["lyapunov_exponents"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert!(found.len() == 4 && found.windows(2).all(|w| w[0] >= w[1]), "{found:?}");
}

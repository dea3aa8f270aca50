//! `metastable model`: its files, their use by other commands, its report, and wrong input, for
//! which nothing is written.

use crate::program::{Place, command, entries, items, number, numbers, object, successful, words};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Output;

/// A folder with these tiny models, each in a folder of its name, and the ids of eight tokens.
fn folder(names: &[&str]) -> Place {
    let (at, models) = (Place::with(&[]), Path::new(env!("CARGO_MANIFEST_DIR")));
    let models = models.join("tests/data/models");
    std::fs::copy(models.join("ids.csv"), at.join("ids.csv")).expect("copied");
    for name in names {
        std::fs::create_dir(at.join(name)).expect("a folder");
        for file in entries(&models.join(name)) {
            let own = at.join(name).join(file.file_name().expect("a name"));
            std::fs::copy(&file, own).expect("copied");
        }
    }
    at
}

/// The mean cosine of every layer.
fn cosines(at: &Place, model: &str) -> Vec<f64> {
    numbers(&at.json(&format!("model {model} --ids ids.csv"))["mean_cosine"])
}

/// The output for a text of several words.
fn with_text(at: &Place, line: &str, text: &str) -> Output {
    command(at, line).args(["--text", text]).output().expect("starts")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn hidden_states_are_written_as_a_run_for_other_commands() {
    let at = folder(&["bert"]);
    let line = "model bert --out run --report --format json";
    let v = object(&successful(with_text(&at, line, "The tokens of a text attend"), line), line);
    for (key, count) in [("tokens", 8), ("layers", 2), ("d", 16), ("heads", 2)] {
        assert_eq!(v[key], count, "{key}");
    }
    assert!(v["words"][1] == "the" && items(&v["mean_cosine"]).len() == 3, "{v}");
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
    let states = "--tokens run/hidden.npz --array hidden_states --normalise";
    let entropy = at.json(&format!("entropy {states}"));
    for (key, count) in [("layers", 3), ("n", 8), ("d", 16)] {
        assert_eq!(entropy[key], count, "{key}");
    }
    let velocity = at.json(&format!("velocity {states} --frame 1 --beta 2"));
    assert_eq!(items(&velocity["velocity"]).len(), 8);
    let found = at.json("clusters --from-run run --linking-distance 3.1");
    let clusters = &found["clusters"];
    assert!(*clusters == 1 || clusters.as_array().is_some_and(|c| c.len() == 1), "{found}");
    let report = parsed(&at.read("run/report.json"));
    assert_eq!((items(&report["layers"]).len(), items(&report["heads"]).len()), (3, 4));
    let described = items(&report["entries"]);
    assert!(described.iter().all(|e| !words(&e["meaning"]).is_empty()));
    // A malformed table of the file of columns has no entries: 3 of the page, 20 of layers, 13 of
    // heads.
    assert_eq!(described.len(), 36);
    let page = at.read("run/report.html");
    assert!(page.contains("the model violates"));
    assert!(!page.contains("http"), "the page must need no network");
}

#[test]
fn the_same_tokens_by_text_ids_and_embeddings_and_blocks_iterated() {
    let at = folder(&["albert", "gguf"]);
    let by_ids = cosines(&at, "albert --out a");
    // Layer 0 of the first run is the input of the second.
    let again = cosines(&at, "albert --layers 6");
    let same = again[3].to_bits() == by_ids[3].to_bits();
    assert!(same, "three more layers must not change earlier ones");
    assert!(again.last() > by_ids.last(), "one shared block clusters the tokens");
    let iterated = cosines(&at, "albert --iterate 0 --layers 40 --without-attention --out b");
    let last = *iterated.last().expect("a layer");
    assert!(last > 0.99, "{last}");
    // The figure of an iterated block draws layers 1 to 39 and the displacement of each.
    let course = at.read("b/iterated-block/course.csv");
    let rows: Vec<Vec<f64>> =
        course.lines().filter_map(|l| l.split(',').map(|v| v.parse().ok()).collect()).collect();
    assert!(rows.len() == 39 && (rows[0][0] - 1.0).abs() < 1e-12, "{course}");
    assert!(rows[38][3] < 0.1 * rows[0][3] && (rows[38][1] - last).abs() < 1e-2, "{course}");
    at.printed("figure iterated-block --from-run b/iterated-block --out block.csv");
    let single = at.json("model albert --ids ids.csv --f32");
    let end = number(&single["mean_cosine"][by_ids.len() - 1]);
    assert!((end - by_ids[by_ids.len() - 1]).abs() < 1e-5 && single["precision"] == "f32");
    let gguf = at.json("model gguf/model.gguf --ids ids.csv");
    assert!(gguf["kind"] == "llama" && gguf["d"] == 32, "{gguf}");
}

#[test]
fn bad_input_gets_one_sentence_and_nothing_is_written() {
    let at = folder(&["bert"]);
    for (name, rows) in [
        ("two.csv", "1\n2\n"),
        ("far.csv", "1\n999\n"),
        ("half.csv", "1\n2.5\n"),
        ("long.csv", &"1\n".repeat(13)),
        ("wide.csv", "1,2,3\n"),
    ] {
        at.write(name, rows);
    }
    let refused = |call: &str, expected: &str| {
        let error = at.refused(&format!("model {call} --out never"), expected);
        assert!(error.trim().lines().count() == 1 && !at.join("never").exists(), "{error}");
    };
    let refused_text = |text: &str, expected: &str| {
        let out = with_text(&at, "model bert --out never", text);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(1) && error.contains(expected), "{error}");
        assert!(error.trim().lines().count() == 1 && !at.join("never").exists(), "{error}");
    };
    refused_text(" ", "--text: found no words");
    refused_text(&"the ".repeat(13), "--text: found 15 tokens, expected at most 12");
    for (call, expected) in [
        ("--ids far.csv", "--ids, id 2: found 999, expected a word of the model, below 30"),
        ("--ids half.csv", "--ids, id 2: found 2.5, expected a whole number"),
        ("--ids long.csv", "--ids: found 13 tokens, expected at most 12"),
        ("--embeddings wide.csv", "expected n x 16"),
        ("--ids two.csv --iterate 7", "--iterate: found 7, expected a block below 2"),
        ("--ids two.csv --layers 7", "--layers: found 7, expected it only with --iterate"),
        (
            "--ids two.csv --iterate 0 --layers 0",
            "--layers: found 0, expected a whole number of at least 1",
        ),
    ] {
        refused(&format!("bert {call}"), expected);
    }
    // A file of unknown kind is refused as such, with or without a file of settings.
    let neither =
        "found 4 bytes that begin neither as a GGUF file (GGUF) nor as a safetensors file";
    let copy = |from: &str, to: &str| {
        std::fs::copy(at.join(from), at.join(to)).expect("copied");
    };
    std::fs::create_dir(at.join("alone")).expect("a folder");
    copy("two.csv", "bert/two.csv");
    copy("two.csv", "alone/two.csv");
    copy("bert/model.safetensors", "alone/model.safetensors");
    refused("nowhere --ids two.csv", "nowhere: no such file or folder");
    refused("bert/two.csv --ids two.csv", neither);
    refused("alone/two.csv --ids two.csv", neither);
    refused("alone/model.safetensors --ids two.csv", "a file that does not begin with GGUF");
    std::fs::remove_file(at.join("bert/tokenizer.json")).expect("removed");
    refused_text("the text", "tokenizer.json: no such file; without the model's tokenizer");
    let config = at.read("bert/config.json");
    let [from, to] = [24, 32].map(|size| format!("\"intermediate_size\": {size}"));
    at.write("bert/config.json", config.replace(&from, &to));
    refused("bert --ids two.csv", "found shape [24, 16], expected [32, 16]");
    std::fs::remove_file(at.join("bert/config.json")).expect("removed");
    refused("bert --ids two.csv", "config.json: no such file");
    at.write("bert/config.json", config);
    let whole = std::fs::read(at.join("bert/model.safetensors")).expect("a model");
    at.write("bert/model.safetensors", &whole[..whole.len() / 2]);
    refused("bert --ids two.csv", "truncated");
}

/// The header of the safetensors file of a model, and its data.
fn split(at: &Place, model: &str) -> (Map<String, Value>, Vec<u8>) {
    let bytes = std::fs::read(at.join(model).join("model.safetensors")).expect("a model");
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    (serde_json::from_slice(&bytes[8..end]).expect("a header"), bytes[end..].to_vec())
}

/// A safetensors file with this header and data.
fn joined(header: &Map<String, Value>, data: &[u8]) -> Vec<u8> {
    let text = serde_json::to_string(header).expect("JSON");
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), data].concat()
}

/// The published BERT calls the gain and shift of its norms gamma and beta.
#[test]
fn norms_may_have_their_old_names() {
    let at = folder(&["bert"]);
    let new = cosines(&at, "bert");
    let (header, data) = split(&at, "bert");
    let old = |name: &String| {
        name.replace("LayerNorm.weight", "LayerNorm.gamma")
            .replace("LayerNorm.bias", "LayerNorm.beta")
    };
    let renamed: Map<String, Value> =
        header.iter().map(|(name, entry)| (old(name), entry.clone())).collect();
    assert_ne!(header, renamed);
    at.write("bert/model.safetensors", joined(&renamed, &data));
    assert_eq!(cosines(&at, "bert"), new);
}

#[test]
fn a_model_may_lie_in_several_files() {
    let at = folder(&["bert"]);
    let whole = cosines(&at, "bert");
    let (header, data) = split(&at, "bert");
    std::fs::remove_file(at.join("bert/model.safetensors")).expect("removed");
    let mut parts: [(Map<String, Value>, Vec<u8>); 2] = Default::default();
    let mut map = Map::new();
    for (k, (name, entry)) in header.iter().filter(|(n, _)| *n != "__metadata__").enumerate() {
        let place = |i: usize| entry["data_offsets"][i].as_u64().expect("a place") as usize;
        let (tensors, numbers) = &mut parts[k % 2];
        let start = numbers.len();
        numbers.extend(&data[place(0)..place(1)]);
        let mut entry = entry.clone();
        entry["data_offsets"] = json!([start, numbers.len()]);
        tensors.insert(name.clone(), entry);
        map.insert(name.clone(), format!("part-{}.safetensors", k % 2).into());
    }
    for (k, (tensors, numbers)) in parts.iter().enumerate() {
        at.write(&format!("bert/part-{k}.safetensors"), joined(tensors, numbers));
    }
    let index = "bert/model.safetensors.index.json";
    at.write(index, json!({"weight_map": map}).to_string());
    for model in ["bert", index] {
        assert_eq!(cosines(&at, model), whole, "{model}");
    }
    // A tensor in the other file, in no file, and an index that leads elsewhere.
    let first = map.keys().next().expect("a tensor").clone();
    for (file, expected) in [
        ("part-1.safetensors", "not in its file part-1.safetensors"),
        ("part-2.safetensors", "part-2.safetensors: no such file"),
        ("../part-0.safetensors", "expected the name of a file beside the index"),
    ] {
        map.insert(first.clone(), file.into());
        at.write(index, json!({"weight_map": map}).to_string());
        at.refused("model bert --ids ids.csv", expected);
    }
    at.write(index, "{}");
    at.refused("model bert --ids ids.csv", "weight_map");
    // Without an index, files of other kinds are named.
    std::fs::remove_file(at.join(index)).expect("removed");
    at.refused(
        "model bert --ids ids.csv",
        "found no model.safetensors in this folder; name a file",
    );
    std::fs::create_dir(at.join("old")).expect("a folder");
    at.write("old/pytorch_model.bin", "");
    at.refused("model old --ids ids.csv", "pytorch_model.bin is of a kind that is not read");
}

/// The scaling `dynamic` exists for texts of more tokens than max_position_embeddings. It has one
/// base for each number of tokens.
#[test]
fn dynamic_positions_fit_texts_of_every_length() {
    let at = folder(&["llama"]);
    let config = at.read("llama/config.json");
    let with = |replace: &[(&str, &str)]| {
        let text = replace.iter().fold(config.clone(), |text, (from, to)| {
            assert!(text.contains(*from), "{from}");
            text.replace(*from, to)
        });
        at.write("llama/config.json", text);
        cosines(&at, "llama")
    };
    let scaling = "\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 4.0}, \"hidden_act\"";
    for n in [8, 12, 13, 20] {
        at.write("ids.csv", (0..n).map(|k| format!("{}\n", 7 * k % 30)).collect::<String>());
        // Heads have rank 4. The model was trained on 12 positions with the base 100.
        let growth = 4.0 * (f64::from(n) / 12.0).max(1.0) - 3.0;
        let base = format!("\"rope_theta\": {:?}", 100.0 * growth.powf(4.0 / (4.0 - 2.0)));
        let wanted = with(&[
            ("\"rope_theta\": 100.0", base.as_str()),
            ("\"max_position_embeddings\": 12", "\"max_position_embeddings\": 20"),
        ]);
        let found = with(&[("\"hidden_act\"", scaling)]);
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-13, "n = {n}: {found} {wanted}");
        }
    }
    at.write("llama/config.json", &config);
    at.refused("model llama --ids ids.csv", "at most 12");
}

#[test]
fn a_nan_in_the_weights_leaves_no_files() {
    let at = folder(&["bert"]);
    let mut bytes = std::fs::read(at.join("bert/model.safetensors")).expect("a model");
    // The last tensor is the pooler, which is not read. The tensor before it is the norm of the
    // last layer.
    let from = bytes.len() - 4 * (16 * 16 + 16) - 8;
    bytes[from..from + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    at.write("bert/model.safetensors", bytes);
    let error = at.refused("model bert --ids ids.csv --out never", "found NaN at number");
    assert!(error.contains("tensor encoder.layer.1.output.LayerNorm.bias"), "{error}");
    assert!(!at.join("never").exists());
}

/// The report of a tiny model on eight different words.
fn report_of(at: &Place, name: &str, more: &str) -> Value {
    at.write("eight.csv", "1\n7\n3\n9\n2\n5\n8\n4\n");
    let out = format!("{name}{}", more.len());
    let answer = at.json(&format!("model {name} --ids eight.csv --report --out {out} {more}"));
    let report = parsed(&at.read(format!("{out}/report.json")));
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
    let at = folder(&["albert", "gpt2", "llama"]);
    // Logarithms to base 2, computed with 40 digits in mpmath, with sums over j != i. There is no
    // value if the best beta is at an end of the tested range. Sums over all j would give 152.2 and
    // 128 for heads 2 and 0 of layer 1 of albert, and 152.2 for head 0 of layer 2 of gpt2.
    let no = f64::NAN;
    for (name, sa, heads) in [
        ("albert", 0.5, &[no, no, no, 0.5, no, no, no, no, no, no, no, no][..]),
        ("gpt2", 3.0, &[3.0, 5.5, no, no, no, no, no, no]),
        ("llama", no, &[0.75, no, no, 3.0, 4.5, 2.0, no, 4.75]),
    ] {
        let report = report_of(&at, name, "");
        let own = items(&report["heads"]);
        assert_eq!(own.len(), heads.len());
        let found = own.iter().map(|h| &h["beta"]).chain([&report["sa_beta"]]);
        for (found, log) in found.zip(heads.iter().chain([&sa])) {
            let beta = log.exp2();
            let right = found.as_f64().map_or(beta.is_nan(), |f| (f - beta).abs() < 1e-9 * beta);
            assert!(right, "{name}: {found} for {beta}");
        }
    }
}

/// One head of twelve decides: the text says so, with its standard error.
#[test]
fn a_fitted_beta_has_its_error_and_the_number_of_heads() {
    let at = folder(&["albert", "llama"]);
    let report = report_of(&at, "albert", "");
    let (error, beta) = (number(&report["sa_beta_error"]), &report["sa_beta"]);
    assert!(error > 0.0 && error < number(beta));
    assert_eq!(report["sa_beta_heads"], 1);
    assert_eq!(report["sa_beta_range"], json!([beta, beta]));
    let printed = at.printed("model albert --ids eight.csv --report --out again");
    let line = printed.lines().find(|l| l.starts_with("fitted beta")).expect("a line");
    assert!(line.contains(" +- ") && line.contains("(1 of 12 heads has one)"), "{line}");
    // One head is no property of a model: nothing is compared with SA.
    assert!(line.ends_with("too few for a comparison with SA"), "{line}");
    assert!(report["layers"][1]["sa_mean_cosine"].is_null());
    // Several heads: their number and range.
    let report = report_of(&at, "llama", "");
    assert!(report["sa_beta_error"].is_null() == (report["sa_beta_heads"] != 1), "{report}");
}

#[test]
fn sa_for_comparison_starts_at_layer_0() {
    let at = folder(&["gpt2"]);
    let report = report_of(&at, "gpt2", "--iterate 0 --layers 12");
    assert!(number(&report["sa_beta_heads"]) >= 3.0);
    // Layer 0 of SA is layer 0 of the model.
    let [own, sa] = ["mean_cosine", "sa_mean_cosine"].map(|c| number(&report["layers"][0][c]));
    assert!((own - sa).abs() <= 16.0 * f64::EPSILON, "{own}, {sa}: sums in two orders");
    let counts = numbers(&report["histograms"][2]["sa"]);
    assert_eq!(counts.iter().map(|c| *c as usize).sum::<usize>(), 8 * 7 / 2);
}

#[test]
fn exponents_at_the_depth_of_a_model_are_those_of_the_whole_product() {
    let at = folder(&["albert", "bert"]);
    let report = report_of(&at, "bert", "");
    // Expected values: singular values of the product of both layers' derivatives, by fourth-order
    // differences in NumPy. Four random directions would give 0.090, 0.402, 0.097, 0.005.
    let expected = [1.076_322_47, 0.972_511_76, 0.850_811_12, 0.788_492_3];
    let found = numbers(&report["lyapunov_exponents"]);
    let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 2e-6);
    assert!(found.len() == 4 && near, "{found:?}");
    let kind = "singular exponents at finite depth";
    assert!(words(&report["lyapunov_exponents_kind"]).starts_with(kind));
    assert!(number(&report["lyapunov_exponents_error"]) < 1e-6);
    assert!(at.read("bert0/report.html").contains(kind));
    // At a larger depth, the exponents are computed by QR.
    let long = report_of(&at, "albert", "--layers 80");
    assert!(words(&long["lyapunov_exponents_kind"]).starts_with("QR exponents"), "{long}");
    let found = numbers(&long["lyapunov_exponents"]);
    assert!(found.len() == 4 && found.windows(2).all(|w| w[0] >= w[1]), "{found:?}");
}

//! Trained models: hidden states against an independent implementation, and files that are refused.

use metastable::transformer::trained::{Bytes, Trained, Vocabulary};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name)
}

/// The numbers of a float64 array in C order.
fn numbers(path: PathBuf) -> Vec<f64> {
    let bytes = std::fs::read(path).expect("a reference");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
}

fn ids() -> Vec<usize> {
    std::fs::read_to_string(folder("ids.csv")).expect("ids").lines().map(|l| l.parse().expect("an id")).collect()
}

/// A model of the folder, of other bytes or settings where these are given.
fn model(name: &str, bytes: Option<Vec<u8>>, config: Option<String>) -> metastable::Result<Trained> {
    if name == "gguf" {
        return Trained::gguf("model.gguf", Box::new(bytes.unwrap_or_else(|| file(name))));
    }
    let config = config.unwrap_or_else(|| settings(name));
    Trained::safetensors("model.safetensors", Box::new(bytes.unwrap_or_else(|| file(name))), "config.json", &config)
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder(name).join(if name == "gguf" { "model.gguf" } else { "model.safetensors" })).expect("a model")
}

fn settings(name: &str) -> String {
    std::fs::read_to_string(folder(name).join("config.json")).expect("settings")
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

const KINDS: [&str; 5] = ["bert", "albert", "gpt2", "llama", "gguf"];

#[test]
fn hidden_states_and_attention_agree_with_an_independent_implementation() {
    for name in KINDS {
        let model = model(name, None, None).expect("a model");
        let x = model.embed(&ids()).expect("tokens");
        let (mut states, mut seen) = (x.clone(), Vec::new());
        let last = model
            .pass::<f64>(&x, &model.plan(), true, |layer| {
                states.extend(layer.after);
                seen.extend(layer.weights);
                Ok(())
            })
            .expect("a pass");
        let single = model.pass::<f32>(&x, &model.plan(), false, |_| Ok(())).expect("a pass");
        let read = |file: &str| numbers(folder(name).join(file));
        // Sums of 24 products, 3 layers: some 100 u.
        let errors = [furthest(&states, &read("states.npy")), furthest(&seen, &read("attention.npy"))];
        assert!(errors.iter().all(|e| *e < 1e-13), "{name}: {errors:?}");
        if let Some(norm) = model.last().expect("a norm") {
            assert!(furthest(&norm.apply(&last), &read("last.npy")) < 1e-13, "{name}");
        }
        let single: Vec<f64> = single.iter().map(|v| f64::from(*v)).collect();
        let error = furthest(&single, &last);
        assert!(error > 1e-9 && error < 1e-5, "{name}: {error}");
    }
}

#[test]
fn a_model_counts_its_parameters() {
    // ALBERT-base: 7,087,872 in its block.
    let config = r#"{"model_type": "albert", "hidden_size": 768, "embedding_size": 128, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "max_position_embeddings": 512, "vocab_size": 30000, "type_vocab_size": 2}"#;
    let keys: serde_json::Value = serde_json::from_str(config).expect("JSON");
    let counts = metastable::transformer::trained::block_parameters("config.json", &keys).expect("sizes");
    assert_eq!(counts, 7_087_872);
    let model = model("albert", None, None).expect("a model");
    assert_eq!(model.block(0).expect("a block").len(), 4 * (16 * 16 + 16) + 2 * 32 + 16 * 24 + 24 + 24 * 16 + 16);
}

#[test]
fn words_become_ids_with_the_marks_of_the_model() {
    let json = std::fs::read_to_string(folder("bert").join("tokenizer.json")).expect("a tokenizer");
    let words = Vocabulary::new("tokenizer.json", &json).expect("a tokenizer");
    // Its file cuts after 4 words: hidden states are wanted of all.
    let (ids, names) = words.encode("The tokens of a text attend").expect("ids");
    assert_eq!(ids, [1, 3, 4, 5, 6, 7, 8, 2]);
    assert_eq!(names[1], "the");
    assert_eq!(words.encode(" \n").map(|_| ()).unwrap_err().to_string(), "text: found no words, expected at least one");
    let foreign = Vocabulary::new("tokenizer.json", "{}").map(|_| ()).unwrap_err().to_string();
    assert!(foreign.starts_with("tokenizer.json: not a tokenizer") && foreign.lines().count() == 1, "{foreign}");
}

#[test]
fn every_kind_of_model_has_its_words() {
    // By hand from the words, merges and probabilities of the files.
    let expected: [(&str, &[usize]); 3] = [("albert", &[2, 4, 4, 5, 6, 3]), ("gpt2", &[12, 0, 12, 18]), ("llama", &[1, 3, 15, 3, 15, 21])];
    for (name, ids) in expected {
        let json = std::fs::read_to_string(folder(name).join("tokenizer.json")).expect("a tokenizer");
        assert_eq!(Vocabulary::new("tokenizer.json", &json).and_then(|v| v.encode("the the tokens")).expect("ids").0, ids, "{name}");
    }
    let gguf = model("gguf", None, None).expect("a model");
    let (ids, words) = Vocabulary::gguf("model.gguf", &gguf.said).and_then(|v| v.encode("the the tokens")).expect("ids");
    assert_eq!((&ids[..], &words[3][..]), (&[12, 0, 12, 18][..], "\u{120}tokens"));
    gguf.embed(&ids).expect("words of the model");
}

/// The header of a safetensors file rewritten.
fn header(name: &str, change: impl Fn(&str) -> String) -> Vec<u8> {
    let bytes = file(name);
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let text = change(std::str::from_utf8(&bytes[8..8 + length]).expect("text"));
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[8 + length..]].concat()
}

fn refused(made: metastable::Result<Trained>, said: &[&str]) {
    let error = made.map(|_| ()).expect_err("refused").to_string();
    assert!(said.iter().all(|s| error.contains(s)) && error.lines().count() == 1, "{error:?} lacks one of {said:?}");
}

#[test]
fn files_that_are_foreign_truncated_or_contradict_themselves_are_refused_in_one_sentence() {
    let cut = |name: &str, k: usize| file(name)[..k].to_vec();
    let with = |name: &str, from: &str, to: &str| model(name, None, Some(settings(name).replace(from, to)));
    refused(model("bert", Some(cut("bert", 5)), None), &["found 5 bytes", "safetensors"]);
    refused(model("bert", Some(cut("bert", 1000)), None), &["truncated in its header"]);
    refused(model("bert", Some(cut("bert", 20_000)), None), &["truncated", "the header tells of"]);
    refused(model("bert", Some([file("bert"), vec![0; 4]].concat()), None), &["longer than its header says"]);
    refused(model("bert", Some(vec![b'x'; 4000]), None), &["not a safetensors file"]);
    refused(model("bert", Some(header("bert", |t| t.replace("\"F32\"", "\"what\""))), None), &["not a safetensors header"]);
    let renamed = header("bert", |t| t.replace("encoder.layer.1.output.dense.bias", "encoder.layer.1.output.dense.bios"));
    refused(model("bert", Some(renamed), None), &["tensor encoder.layer.1.output.dense.bias", "not in the file"]);
    let whole = header("bert", |t| t.replacen("\"F32\"", "\"I32\"", 1));
    refused(model("bert", Some(whole), None), &["found whole numbers, expected F64, F32, F16 or BF16"]);
    refused(with("bert", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"), &["encoder.layer.1", "expected no such tensor"]);
    refused(
        with("bert", "\"intermediate_size\": 24", "\"intermediate_size\": 32"),
        &["intermediate.dense", "found shape [24, 16], expected [32, 16]"],
    );
    refused(with("bert", "\"num_attention_heads\": 2", "\"num_attention_heads\": 3"), &["3 heads for d = 16"]);
    refused(with("bert", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"mish\""), &["key hidden_act", "mish", "one of gelu"]);
    refused(with("bert", "\"model_type\": \"bert\"", "\"model_type\": \"brt\""), &["model_type", "did you mean `bert`"]);
    refused(with("bert", "\"hidden_size\": 16,", ""), &["key hidden_size", "found nothing"]);
    refused(with("bert", "\"absolute\"", "\"relative_key\""), &["position_embedding_type", "relative_key", "absolute"]);
    refused(with("albert", "\"num_hidden_groups\": 1", "\"num_hidden_groups\": 2"), &["num_hidden_groups", "found 2, expected 1"]);
    refused(with("llama", "\"hidden_act\"", "\"rope_scaling\": {\"factor\": 8.0}, \"hidden_act\""), &["rope_scaling", "not computed here"]);
    refused(model("bert", None, Some("{".into())), &["config.json, line 1", "not the JSON"]);
    refused(model("gguf", Some(b"GGML0000".to_vec()), None), &["not a GGUF file"]);
    refused(model("gguf", Some(cut("gguf", 200)), None), &["truncated in its header"]);
    refused(model("gguf", Some(cut("gguf", 5000)), None), &["truncated: it ends at byte"]);
    let mut other = file("gguf");
    let at = other.windows(5).position(|w| w == b"llama").expect("its architecture");
    other[at..at + 5].copy_from_slice(b"mamba");
    refused(model("gguf", Some(other), None), &["architecture `mamba`", "`llama`"]);
}

#[test]
fn tensors_of_nan_and_ids_that_are_no_words_are_refused() {
    let mut bytes = file("bert");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let text = String::from_utf8(bytes[8..8 + length].to_vec()).expect("text");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let start = json["encoder.layer.1.output.dense.weight"]["data_offsets"][0].as_u64().expect("a place") as usize + 8 + length;
    bytes[start + 4..start + 8].copy_from_slice(&f32::NAN.to_le_bytes());
    let holed = model("bert", Some(bytes), None).expect("its header is right");
    let x = holed.embed(&ids()).expect("tokens");
    let error = holed.pass::<f64>(&x, &holed.plan(), false, |_| Ok(())).expect_err("refused").to_string();
    assert!(error.contains("tensor encoder.layer.1.output.dense.weight: found NaN at number 2"), "{error}");
    let bert = model("bert", None, None).expect("a model");
    let said = |ids: &[usize]| bert.embed(ids).expect_err("refused").to_string();
    assert_eq!(said(&[]), "text: found no token, expected at least one");
    assert_eq!(said(&[1, 30]), "id 2: found 30, expected a word of the model, below 30");
    assert_eq!(said(&[1; 13]), "text: found 13 tokens, expected at most 12, the positions of the model");
    let error = bert.pass::<f64>(&x, &[2], false, |_| Ok(())).expect_err("refused").to_string();
    assert_eq!(error, "block: found 2, expected a number below 2, the blocks of the model");
}

/// Counts what is read of a file.
struct Counted(Vec<u8>, std::sync::Arc<std::sync::atomic::AtomicU64>);

impl Bytes for Counted {
    fn count(&self) -> u64 {
        self.0.count()
    }
    fn fill(&self, start: u64, out: &mut [u8]) -> metastable::Result<()> {
        self.1.fetch_max(out.len() as u64, std::sync::atomic::Ordering::Relaxed);
        self.0.fill(start, out)
    }
}

#[test]
fn of_a_large_file_one_tensor_is_read_at_a_time() {
    let largest = std::sync::Arc::default();
    let bytes = Box::new(Counted(file("gpt2"), std::sync::Arc::clone(&largest)));
    let model = Trained::safetensors("model.safetensors", bytes, "config.json", &settings("gpt2")).expect("a model");
    let x = model.embed(&ids()).expect("tokens");
    model.pass::<f64>(&x, &model.plan(), false, |_| Ok(())).expect("a pass");
    // The largest tensor of a block has 16 x 64 numbers; the whole file is seven times as long.
    assert!(largest.load(std::sync::atomic::Ordering::Relaxed) <= 16 * 64 * 4);
}

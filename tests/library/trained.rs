//! Trained models: hidden states against an independent implementation, and files that are refused.

use metastable::attention::pattern::Pairs;
use metastable::num::deviation::{max_difference, relative_difference};
use metastable::transformer::trained::{
    ARCHITECTURES, Bytes, GGUF_SETTINGS, KeyUse, ModelKey, RopeScaling, RotarySettings,
    TrainedModel, Vocabulary,
};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models").join(name)
}

/// The numbers of a float64 array in row-major order.
fn numbers(path: PathBuf) -> Vec<f64> {
    let bytes = std::fs::read(path).expect("a reference");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..]
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
        .collect()
}

fn ids() -> Vec<usize> {
    std::fs::read_to_string(folder("ids.csv"))
        .expect("ids")
        .lines()
        .map(|l| l.parse().expect("an id"))
        .collect()
}

/// The model of the folder, with other bytes or settings if these are given.
fn model(
    name: &str,
    bytes: Option<Vec<u8>>,
    config: Option<String>,
) -> metastable::Result<TrainedModel> {
    if name == "gguf" {
        return TrainedModel::gguf("model.gguf", Box::new(bytes.unwrap_or_else(|| file(name))));
    }
    let config = config.unwrap_or_else(|| settings(name));
    TrainedModel::safetensors(
        "model.safetensors",
        Box::new(bytes.unwrap_or_else(|| file(name))),
        "config.json",
        &config,
    )
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder(name).join(if name == "gguf" {
        "model.gguf"
    } else {
        "model.safetensors"
    }))
    .expect("a model")
}

fn settings(name: &str) -> String {
    std::fs::read_to_string(folder(name).join("config.json")).expect("settings")
}

const KINDS: [&str; 5] = ["bert", "albert", "gpt2", "llama", "gguf"];

#[test]
fn hidden_states_and_attention_agree_with_an_independent_implementation() {
    let mut normed = 0;
    for name in KINDS {
        let model = model(name, None, None).expect("a model");
        let x = model.embed(&ids()).expect("tokens");
        let (mut states, mut seen) = (x.clone(), Vec::new());
        let last = model
            .run_layers::<f64>(&x, &model.block_sequence(), true, |layer| {
                states.extend(layer.after);
                seen.extend(layer.weights);
                Ok(())
            })
            .expect("a pass");
        let single = model
            .run_layers::<f32>(&x, &model.block_sequence(), false, |_| Ok(()))
            .expect("a pass");
        let read = |file: &str| numbers(folder(name).join(file));
        // Sums of 24 products in 3 layers have errors of some 100 u.
        let errors = [
            relative_difference(&states, &read("states.npy")),
            relative_difference(&seen, &read("attention.npy")),
        ];
        assert!(errors.iter().all(|e| *e < 1e-13), "{name}: {errors:?}");
        if let Some(norm) = model.final_norm().expect("a norm") {
            assert!(relative_difference(&norm.apply(&last), &read("last.npy")) < 1e-13, "{name}");
            normed += 1;
        }
        let single: Vec<f64> = single.iter().map(|v| f64::from(*v)).collect();
        let error = relative_difference(&single, &last);
        assert!(error > 1e-9 && error < 1e-5, "{name}: {error}");
    }
    assert_eq!(normed, 3, "GPT-2, Llama and GGUF have a last norm");
}

#[test]
fn parameters_are_counted() {
    // ALBERT-base: 7,087,872 in its block.
    let config = r#"{"model_type": "albert", "hidden_size": 768, "embedding_size": 128, "num_hidden_layers": 12, "num_attention_heads": 12,
        "intermediate_size": 3072, "max_position_embeddings": 512, "vocab_size": 30000, "type_vocab_size": 2}"#;
    let keys: serde_json::Value = serde_json::from_str(config).expect("JSON");
    let counts =
        metastable::transformer::trained::block_parameters("config.json", &keys).expect("sizes");
    assert_eq!(counts, 7_087_872);
    let model = model("albert", None, None).expect("a model");
    assert_eq!(
        model.block(0, 1).expect("a block").parameters(),
        4 * (16 * 16 + 16) + 2 * 32 + 16 * 24 + 24 + 24 * 16 + 16
    );
}

#[test]
fn words_become_ids_with_the_special_tokens_of_the_model() {
    let json = std::fs::read_to_string(folder("bert").join("tokenizer.json")).expect("a tokenizer");
    let words = Vocabulary::new("tokenizer.json", &json).expect("a tokenizer");
    // The tokenizer's file truncates after 4 words, which must not apply here.
    let (ids, names) = words.encode("The tokens of a text attend").expect("ids");
    assert_eq!(ids, [1, 3, 4, 5, 6, 7, 8, 2]);
    assert_eq!(names[1], "the");
    assert_eq!(
        words.encode(" \n").map(|_| ()).unwrap_err().to_string(),
        "text: found no words, expected at least one"
    );
    let foreign = Vocabulary::new("tokenizer.json", "{}").map(|_| ()).unwrap_err().to_string();
    assert!(
        foreign.starts_with("tokenizer.json: not a tokenizer") && foreign.lines().count() == 1,
        "{foreign}"
    );
}

#[test]
fn tokenizers_of_all_kinds_of_models_agree_with_values_by_hand() {
    // The ids follow by hand from the words, merges and probabilities of the files.
    let expected: [(&str, &[usize]); 3] = [
        ("albert", &[2, 4, 4, 5, 6, 3]),
        ("gpt2", &[12, 0, 12, 18]),
        ("llama", &[1, 3, 15, 3, 15, 21]),
    ];
    for (name, ids) in expected {
        let json =
            std::fs::read_to_string(folder(name).join("tokenizer.json")).expect("a tokenizer");
        assert_eq!(
            Vocabulary::new("tokenizer.json", &json)
                .and_then(|v| v.encode("the the tokens"))
                .expect("ids")
                .0,
            ids,
            "{name}"
        );
    }
    let gguf = model("gguf", None, None).expect("a model");
    let (ids, words) = Vocabulary::gguf("model.gguf", &gguf.metadata)
        .and_then(|v| v.encode("the the tokens"))
        .expect("ids");
    assert_eq!((&ids[..], &words[3][..]), (&[12, 0, 12, 18][..], "\u{120}tokens"));
    gguf.embed(&ids).expect("words of the model");
}

/// A safetensors file with a changed header.
fn header(name: &str, change: impl Fn(&str) -> String) -> Vec<u8> {
    let bytes = file(name);
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let text = change(std::str::from_utf8(&bytes[8..8 + length]).expect("text"));
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[8 + length..]].concat()
}

fn refused(made: metastable::Result<TrainedModel>, expected: &[&str]) {
    let error = made.map(|_| ()).expect_err("refused").to_string();
    assert!(
        expected.iter().all(|s| error.contains(s)) && error.lines().count() == 1,
        "{error:?} lacks one of {expected:?}"
    );
}

#[test]
fn foreign_truncated_or_inconsistent_files_are_refused_in_one_sentence() {
    let cut = |name: &str, k: usize| file(name)[..k].to_vec();
    let with = |name: &str, from: &str, to: &str| {
        model(name, None, Some(settings(name).replace(from, to)))
    };
    refused(model("bert", Some(cut("bert", 5)), None), &["found 5 bytes", "safetensors"]);
    refused(model("bert", Some(cut("bert", 1000)), None), &["truncated in its header"]);
    refused(model("bert", Some(cut("bert", 20_000)), None), &["truncated", "the header describes"]);
    refused(
        model("bert", Some([file("bert"), vec![0; 4]].concat()), None),
        &["longer than its header says"],
    );
    refused(model("bert", Some(vec![b'x'; 4000]), None), &["not a safetensors file"]);
    refused(
        model("bert", Some(header("bert", |t| t.replace("\"F32\"", "\"what\""))), None),
        &["not a safetensors header"],
    );
    let renamed = header("bert", |t| {
        t.replace("encoder.layer.1.output.dense.bias", "encoder.layer.1.output.dense.bios")
    });
    refused(
        model("bert", Some(renamed), None),
        &["tensor encoder.layer.1.output.dense.bias", "not in the file"],
    );
    let whole = header("bert", |t| t.replacen("\"F32\"", "\"I32\"", 1));
    refused(
        model("bert", Some(whole), None),
        &["found whole numbers, expected F64, F32, F16 or BF16"],
    );
    refused(
        with("bert", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"),
        &["encoder.layer.1", "expected no such tensor"],
    );
    refused(
        with("bert", "\"intermediate_size\": 24", "\"intermediate_size\": 32"),
        &["intermediate.dense", "found shape [24, 16], expected [32, 16]"],
    );
    refused(
        with("bert", "\"num_attention_heads\": 2", "\"num_attention_heads\": 3"),
        &["3 heads for d = 16"],
    );
    refused(
        with("bert", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"mish\""),
        &["key hidden_act", "mish", "one of gelu"],
    );
    refused(
        with("bert", "\"model_type\": \"bert\"", "\"model_type\": \"brt\""),
        &["model_type", "did you mean `bert`"],
    );
    refused(with("bert", "\"hidden_size\": 16,", ""), &["key hidden_size", "found nothing"]);
    refused(
        with("bert", "\"absolute\"", "\"relative_key\""),
        &["position_embedding_type", "relative_key", "absolute"],
    );
    refused(
        with("albert", "\"num_hidden_groups\": 1", "\"num_hidden_groups\": 2"),
        &["num_hidden_groups", "found 2, expected 1"],
    );
    let scaled = |object: &str| {
        with("llama", "\"hidden_act\"", &format!("\"rope_scaling\": {object}, \"hidden_act\""))
    };
    refused(
        scaled(r#"{"rope_type": "longrope", "factor": 8.0}"#),
        &["key rope_scaling.rope_type", "longrope", "one of default"],
    );
    refused(
        scaled(r#"{"factor": 8.0}"#),
        &["key rope_scaling.factor", "no such key for this rope_type"],
    );
    refused(
        scaled(r#"{"rope_type": "linear", "factr": 8.0}"#),
        &["key rope_scaling.factr", "one of the keys rope_type"],
    );
    refused(
        scaled(r#"{"rope_type": "linear"}"#),
        &["key rope_scaling.factor", "found nothing, expected a number above 0"],
    );
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
fn nan_tensors_and_unknown_ids_are_refused() {
    let mut bytes = file("bert");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let text = String::from_utf8(bytes[8..8 + length].to_vec()).expect("text");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let start = json["encoder.layer.1.output.dense.weight"]["data_offsets"][0]
        .as_u64()
        .expect("a place") as usize
        + 8
        + length;
    bytes[start + 4..start + 8].copy_from_slice(&f32::NAN.to_le_bytes());
    let holed = model("bert", Some(bytes), None).expect("its header is right");
    let x = holed.embed(&ids()).expect("tokens");
    let error = holed
        .run_layers::<f64>(&x, &holed.block_sequence(), false, |_| Ok(()))
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("tensor encoder.layer.1.output.dense.weight: found NaN at number 2"),
        "{error}"
    );
    let bert = model("bert", None, None).expect("a model");
    let message = |ids: &[usize]| bert.embed(ids).expect_err("refused").to_string();
    assert_eq!(message(&[]), "ids: found no token, expected at least one");
    assert_eq!(message(&[1, 30]), "ids, id 2: found 30, expected a word of the model, below 30");
    assert_eq!(
        message(&[1; 13]),
        "ids: found 13 tokens, expected at most 12, the positions of the model"
    );
    let error =
        bert.run_layers::<f64>(&x, &[2], false, |_| Ok(())).expect_err("refused").to_string();
    assert_eq!(error, "block: found 2, expected a number below 2, the blocks of the model");
}

/// A file that counts the bytes read from it.
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
fn one_tensor_of_a_file_is_read_at_a_time() {
    let largest = std::sync::Arc::default();
    let bytes = Box::new(Counted(file("gpt2"), std::sync::Arc::clone(&largest)));
    let model =
        TrainedModel::safetensors("model.safetensors", bytes, "config.json", &settings("gpt2"))
            .expect("a model");
    let x = model.embed(&ids()).expect("tokens");
    model.run_layers::<f64>(&x, &model.block_sequence(), false, |_| Ok(())).expect("a pass");
    // The largest tensor of a block has 16 x 64 numbers. The whole file is seven times as long.
    assert!(largest.load(std::sync::atomic::Ordering::Relaxed) <= 16 * 64 * 4);
}

/// The hidden states of eight different words after every layer.
fn states(model: &TrainedModel) -> metastable::Result<Vec<f64>> {
    let x = model.embed(&[1, 7, 3, 9, 2, 5, 8, 4])?;
    let mut states = x.clone();
    model.run_layers::<f64>(&x, &model.block_sequence(), false, |layer| {
        states.extend(layer.after);
        Ok(())
    })?;
    Ok(states)
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Compares the model with and without the other value of a key. The other keys that it needs are
/// set.
fn check_changed_key(
    key: &ModelKey,
    read: impl Fn(&Map<String, Value>) -> metastable::Result<Vec<f64>>,
) {
    let mut settings = object(key.context);
    let before =
        read(&settings).unwrap_or_else(|e| panic!("{} with {}: {e}", key.name, key.context));
    settings.insert(
        key.name.into(),
        serde_json::from_str(key.changed_value)
            .unwrap_or_else(|e| panic!("{}: {e}", key.changed_value)),
    );
    let after = read(&settings);
    match (key.key_use, after) {
        (KeyUse::Ignored, after) => {
            assert_eq!(after.expect("read"), before, "{} changes something", key.name)
        }
        (_, Err(e)) => {
            let message = e.to_string();
            assert!(
                message.lines().count() == 1 && message.contains("expected"),
                "{}: {message}",
                key.name
            );
        }
        (KeyUse::Read, Ok(after)) => {
            assert!(after.iter().all(|v| v.is_finite()), "{}: not finite", key.name);
            assert!(
                relative_difference(&after, &before) >= 1e-9,
                "{} = {} is read as if nothing had changed",
                key.name,
                key.changed_value
            );
        }
        (_, Ok(_)) => panic!("{} = {} is not refused", key.name, key.changed_value),
    }
}

#[test]
fn every_key_that_changes_the_function_is_read_or_refused() {
    for kind in ARCHITECTURES {
        let usual = object(&settings(kind.name()));
        let read = |more: &Map<String, Value>| {
            let mut config = usual.clone();
            config.extend(more.clone());
            model(kind.name(), None, Some(Value::Object(config).to_string()))
                .and_then(|m| states(&m))
        };
        for key in kind.settings() {
            let KeyUse::Object(inner) = key.key_use else {
                check_changed_key(key, read);
                continue;
            };
            let within = |value: Value| Map::from_iter([(key.name.to_owned(), value)]);
            assert!(read(&within(json!(3))).is_err(), "{} is an object", key.name);
            for inside in inner {
                check_changed_key(inside, |settings: &Map<String, Value>| {
                    read(&within(Value::Object(settings.clone())))
                });
            }
        }
    }
}

/// A string of a GGUF file.
fn gguf_string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// The kind and the bytes of a value.
fn gguf_value(value: &Value) -> (u32, Vec<u8>) {
    match value {
        Value::Bool(b) => (7, vec![u8::from(*b)]),
        Value::String(s) => (8, gguf_string(s)),
        Value::Number(n) if n.is_u64() => {
            (4, (n.as_u64().expect("a number") as u32).to_le_bytes().to_vec())
        }
        other => (6, (other.as_f64().expect("a number") as f32).to_le_bytes().to_vec()),
    }
}

/// The GGUF file with other settings: existing values are overwritten, new ones are put before
/// them.
fn gguf_with(more: &Map<String, Value>) -> Vec<u8> {
    let (mut bytes, mut added, mut count) = (file("gguf"), Vec::new(), 0u64);
    for (key, value) in more {
        let name = gguf_string(key);
        let (kind, data) = gguf_value(value);
        if let Some(at) = bytes.windows(name.len()).position(|w| w == name) {
            let at = at + name.len();
            let stored = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            let data = if stored == 12 {
                value.as_f64().expect("a number").to_le_bytes().to_vec()
            } else {
                data
            };
            bytes[at + 4..at + 4 + data.len()].copy_from_slice(&data);
        } else {
            added.extend([&name[..], &kind.to_le_bytes(), &data].concat());
            count += 1;
        }
    }
    if count > 0 {
        // A name as long as keeps the tensors at a multiple of 32.
        let name = gguf_string("general.description");
        let length = (32 - (added.len() + name.len() + 12) % 32) % 32;
        added.extend([&name[..], &8u32.to_le_bytes(), &gguf_string(&"x".repeat(length))].concat());
        count += 1;
    }
    let pairs = u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes")) + count;
    [&bytes[..16], &pairs.to_le_bytes(), &added, &bytes[24..]].concat()
}

fn gguf_states(more: &Map<String, Value>) -> metastable::Result<Vec<f64>> {
    model("gguf", Some(gguf_with(more)), None).and_then(|m| states(&m))
}

#[test]
fn every_key_of_a_gguf_file_is_read_or_refused() {
    let plain = gguf_states(&Map::new()).expect("a model");
    for key in &GGUF_SETTINGS {
        check_changed_key(key, gguf_states);
    }
    let message = |text: &str| gguf_states(&object(text)).expect_err("refused").to_string();
    assert!(
        message(r#"{"llama.rope.something": 2.0}"#)
            .contains("key llama.rope.something: found 2.0, expected no such key")
    );
    assert!(
        message(r#"{"llama.rope.scaling.type": "longrope"}"#).contains("one of linear, none, yarn")
    );
    assert!(
        message(r#"{"llama.rope.dimension_count": 4}"#)
            .contains("key llama.rope.dimension_count: found 4, expected 8")
    );
    // Settings that repeat the defaults change nothing.
    let whole = r#"{"llama.rope.dimension_count": 8, "llama.attention.key_length": 8, "llama.attention.value_length": 8,
        "llama.rope.scaling.type": "none", "llama.rope.scaling.factor": 4.0, "llama.attention.causal": true}"#;
    assert_eq!(gguf_states(&object(whole)).expect("a model"), plain);
    let twice = [&file("gguf")[..16], &u64::to_le_bytes(14)].concat();
    let double = [
        &twice[..],
        &gguf_string("llama.vocab_size"),
        &4u32.to_le_bytes(),
        &30u32.to_le_bytes(),
        &file("gguf")[24..],
    ]
    .concat();
    refused(model("gguf", Some(double), None), &["key llama.vocab_size", "found twice"]);
}

#[test]
fn a_bert_decoder_sees_no_later_tokens() {
    let with = settings("bert").replace("\"hidden_act\"", "\"is_decoder\": true, \"hidden_act\"");
    let decoder = model("bert", None, Some(with)).expect("a model");
    let ends = |ids: &[usize]| {
        let x = decoder.embed(ids).expect("tokens");
        decoder.run_layers::<f64>(&x, &decoder.block_sequence(), false, |_| Ok(())).expect("a pass")
    };
    let (long, short) = (ends(&[1, 7, 3, 9, 2]), ends(&[1, 7, 3]));
    assert!(relative_difference(&long[..3 * 16], &short) < 1e-13);
    let encoder = model("bert", None, None).and_then(|m| states(&m)).expect("a model");
    let seen = relative_difference(&states(&decoder).expect("a model"), &encoder);
    assert!((1e-9..f64::INFINITY).contains(&seen), "{seen:e}");
}

#[test]
fn newer_files_store_base_and_scaling_in_one_object() {
    let usual = object(&settings("llama"));
    let read = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut config = usual.clone();
        change(&mut config);
        model("llama", None, Some(Value::Object(config).to_string())).and_then(|m| states(&m))
    };
    let plain = read(&|_| {}).expect("a model");
    let newer = |parameters: Value| {
        read(&|c| {
            c.remove("rope_theta");
            c.insert("rope_parameters".into(), parameters.clone());
        })
    };
    assert_eq!(
        newer(json!({"rope_type": "default", "rope_theta": 100.0})).expect("a model"),
        plain
    );
    let linear =
        newer(json!({"rope_type": "linear", "rope_theta": 100.0, "factor": 4.0})).expect("a model");
    let older =
        read(&|c| drop(c.insert("rope_scaling".into(), json!({"type": "linear", "factor": 4.0}))))
            .expect("a model");
    assert!(
        linear == older && (1e-3..f64::INFINITY).contains(&relative_difference(&linear, &plain))
    );
    // Within max_position_embeddings, dynamic scaling does not change the base.
    assert_eq!(
        newer(json!({"rope_type": "dynamic", "rope_theta": 100.0, "factor": 4.0}))
            .expect("a model"),
        plain
    );
    // The default base 1e4 would give another model.
    let wrong = read(&|c| drop(c.remove("rope_theta"))).expect("a model");
    assert!((1e-3..f64::INFINITY).contains(&relative_difference(&wrong, &plain)));
    let message = newer(json!({"full_attention": {"rope_type": "default"}}))
        .expect_err("refused")
        .to_string();
    assert!(message.contains("key rope_parameters.full_attention"), "{message}");
}

#[test]
fn divisors_of_the_angles_in_a_gguf_file_are_applied() {
    // `rope_freqs.weight` with 4 everywhere is linear scaling by 4.
    let linear = gguf_states(&object(r#"{"llama.rope.scaling.factor": 4.0}"#)).expect("a model");
    let with = |numbers: &[f32]| {
        let bytes = file("gguf");
        let count =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) + 1;
        // The embeddings are the first tensor. The last 6656 bytes of the file are the tensors, and
        // these numbers come after them.
        let words = gguf_string("token_embd.weight");
        let at = bytes.windows(words.len()).position(|w| w == words).expect("a tensor");
        let name = gguf_string("rope_freqs.weight");
        let (axes, length) = (1u32.to_le_bytes(), (numbers.len() as u64).to_le_bytes());
        let entry =
            [&name[..], &axes, &length, &0u32.to_le_bytes(), &6656u64.to_le_bytes()].concat();
        // A name as long as keeps the tensors at a multiple of 32.
        let named = |text: &str| {
            [&gguf_string("general.description")[..], &8u32.to_le_bytes(), &gguf_string(text)]
                .concat()
        };
        let filler = named(&"x".repeat((32 - (entry.len() + named("").len()) % 32) % 32));
        let (tensors, pairs) = (count(8).to_le_bytes(), count(16).to_le_bytes());
        let data: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
        [&bytes[..8], &tensors, &pairs, &filler, &bytes[24..at], &entry, &bytes[at..], &data]
            .concat()
    };
    let divided =
        model("gguf", Some(with(&[4.0; 4])), None).and_then(|m| states(&m)).expect("a model");
    assert!(
        relative_difference(&divided, &linear) < 1e-14,
        "{}",
        relative_difference(&divided, &linear)
    );
    let same =
        model("gguf", Some(with(&[1.0; 4])), None).and_then(|m| states(&m)).expect("a model");
    assert_eq!(same, gguf_states(&Map::new()).expect("a model"));
    let short = model("gguf", Some(with(&[1.0; 3])), None)
        .and_then(|m| states(&m))
        .expect_err("refused")
        .to_string();
    assert!(
        short.contains("tensor rope_freqs.weight: found 3 numbers")
            && short.contains("expected 4 above 0"),
        "{short}"
    );
}

#[test]
fn scaled_positions_agree_with_an_independent_implementation() {
    // The first three coordinates of the last token after the last layer, by NumPy from the
    // published formulas.
    let expected = [
        (
            json!({"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 8}),
            [-2.380131892859824, 0.6006145607940475, -0.7330270541294885],
        ),
        (
            json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}),
            [2.97044413544091, 1.6752682842532534, -0.7102285363582002],
        ),
        (
            json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 200, "truncate": false}),
            [3.5306213425060466, 1.3531730580161496, -0.8955209238301662],
        ),
    ];
    for (scaling, last) in expected {
        let mut config = object(&settings("llama"));
        config.insert("rope_scaling".into(), scaling.clone());
        let states = model("llama", None, Some(Value::Object(config).to_string()))
            .and_then(|m| states(&m))
            .expect("a model");
        // Sums of 24 products in 2 layers have errors of some 100 u, for numbers below 10.
        let first = states.len() - 16;
        let deviation = max_difference(&states[first..first + 3], &last);
        assert!(deviation < 1e-12, "{scaling}: {deviation}");
    }
    // At the size of a real model: pairs with more than `fast` turns keep their frequency, those
    // with fewer than `slow` turns are interpolated.
    let rotary = |scaling: RopeScaling, base: f64| {
        RotarySettings { base, pairs: Pairs::Halves, scaling, amplitude: 1.0 }.factors(128)
    };
    let agree = |found: Vec<f64>, expected: &[(usize, f64)]| {
        expected.iter().for_each(|(k, v)| {
            assert!((found[*k] - v).abs() < 1e-14, "pair {k}: {} for {v}", found[*k])
        });
    };
    let llama3 = RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8192.0 };
    let expected = [
        (28, 1.0),
        (29, 0.8281684118371798),
        (32, 0.3711222795178447),
        (34, 0.19021074364065016),
        (36, 0.125),
    ];
    agree(rotary(llama3, 5e5), &expected);
    let yarn = |whole| RopeScaling::Yarn {
        factor: 4.0,
        original: 32768.0,
        beta_fast: 32.0,
        beta_slow: 1.0,
        truncate: whole,
    };
    agree(
        rotary(yarn(true), 1e6),
        &[(20, 1.0), (25, 0.911764705882353), (32, 0.6029411764705882), (40, 0.25)],
    );
    agree(
        rotary(yarn(false), 1e6),
        &[(20, 1.0), (25, 0.9344102347203139), (32, 0.6074079378798392), (40, 0.25)],
    );
}

#[test]
fn absent_keys_have_the_defaults_of_the_published_models() {
    let absent: [(&str, &[&str]); 4] = [
        ("bert", &["hidden_act", "layer_norm_eps", "type_vocab_size", "position_embedding_type"]),
        (
            "albert",
            &[
                "hidden_act",
                "layer_norm_eps",
                "type_vocab_size",
                "num_hidden_groups",
                "inner_group_num",
            ],
        ),
        ("gpt2", &["n_inner", "activation_function", "layer_norm_epsilon"]),
        ("llama", &["hidden_act"]),
    ];
    for (name, keys) in absent {
        let mut config = object(&settings(name));
        keys.iter().for_each(|key| drop(config.remove(*key).expect("a key of the file")));
        let found = model(name, None, Some(Value::Object(config).to_string()))
            .and_then(|m| states(&m))
            .expect("a model");
        assert_eq!(
            found,
            model(name, None, None).and_then(|m| states(&m)).expect("a model"),
            "{name}"
        );
    }
}

#[test]
fn stored_frequencies_must_agree_with_the_settings() {
    let with = |numbers: [f32; 2]| {
        let bytes = file("llama");
        let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
        let mut header = object(std::str::from_utf8(&bytes[8..8 + length]).expect("text"));
        let end = bytes.len() - 8 - length;
        let entry = json!({"dtype": "F32", "shape": [2], "data_offsets": [end, end + 8]});
        header.insert("model.layers.1.self_attn.rotary_emb.inv_freq".into(), entry);
        let text = Value::Object(header).to_string();
        let data: Vec<u8> = numbers.iter().flat_map(|v| v.to_le_bytes()).collect();
        let file =
            [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[8 + length..], &data]
                .concat();
        model("llama", Some(file), None).and_then(|m| states(&m))
    };
    // 100^0 and 100^{-1/2}, to about half precision.
    assert_eq!(
        with([1.0, 0.1002]).expect("a model"),
        model("llama", None, None).and_then(|m| states(&m)).expect("a model")
    );
    let message = with([1.0, 0.01]).expect_err("refused").to_string();
    assert!(
        message.contains("model.layers.1.self_attn.rotary_emb.inv_freq: found 0.009999")
            && message.contains("of the base 100"),
        "{message}"
    );
}

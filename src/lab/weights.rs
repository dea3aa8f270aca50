//! Reads the files of trained models: weights, configuration and tokenizer.

use super::arrays::malformed;
use crate::error::{Error, Result};
use crate::transformer::trained::{Bytes, TrainedModel, Vocabulary};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An open file, read on demand.
struct OnDisk {
    path: PathBuf,
    file: Mutex<File>,
    count: u64,
}

impl Bytes for OnDisk {
    fn count(&self) -> u64 {
        self.count
    }

    fn fill(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let done = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(out));
        done.map_err(|e| Error::io(self.path.display(), "read", &e))
    }
}

fn open(path: &Path) -> Result<Box<dyn Bytes>> {
    let file = File::open(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let count = file.metadata().map_err(|e| Error::io(path.display(), "read", &e))?.len();
    Ok(Box::new(OnDisk { path: path.to_owned(), file: Mutex::new(file), count }))
}

fn text(path: &Path) -> Result<String> {
    let bytes = super::arrays::load(path)?;
    String::from_utf8(bytes).map_err(|_| malformed(path, "", "found bytes that are not UTF-8 text"))
}

/// End of the name of a file that names the safetensors file of each tensor.
const INDEX: &str = ".safetensors.index.json";

/// Reads a trained model: a folder with `model.safetensors`, `config.json` and `tokenizer.json`, a
/// safetensors file with these files beside it, or a GGUF file. The tensors may lie in several
/// safetensors files that `model.safetensors.index.json` names. Weights are loaded on demand.
///
/// **Errors** files that are missing, malformed or contradict each other.
pub fn read(path: &Path) -> Result<TrainedModel> {
    let file = if path.is_dir() { weights_in(path)? } else { path.to_owned() };
    if !file.is_file() {
        return Err(malformed(path, "", "no such file or folder"));
    }
    if file.to_string_lossy().ends_with(INDEX) {
        return sharded(&file);
    }
    let bytes = open(&file)?;
    let mut start = [0; 4];
    if bytes.count() >= 4 {
        bytes.fill(0, &mut start)?;
    }
    let named = file.display().to_string();
    if &start == b"GGUF" {
        return TrainedModel::gguf(&named, bytes);
    }
    let config = file.with_file_name("config.json");
    if !path.is_dir() {
        expect_safetensors(path, &*bytes, config.is_file())?;
    }
    TrainedModel::safetensors(&named, bytes, &config.display().to_string(), &text(&config)?)
}

/// The file of the weights in a folder: one file, or the index of several.
///
/// **Errors** neither of them; the message names other files with weights.
fn weights_in(folder: &Path) -> Result<PathBuf> {
    let both = ["model.safetensors".to_owned(), format!("model{INDEX}")];
    if let Some(found) = both.iter().map(|name| folder.join(name)).find(|file| file.is_file()) {
        return Ok(found);
    }
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // Sorted: the order of a folder differs from machine to machine.
    let first = |ends: &[&str]| {
        names.iter().filter(|name| ends.iter().any(|end| name.ends_with(*end))).min()
    };
    let more = if let Some(name) = first(&[".gguf", ".safetensors"]) {
        format!("; name a file, for example {}", folder.join(name).display())
    } else if let Some(name) = first(&[".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx"]) {
        format!("; {name} is of a kind that is not read: save the model as safetensors")
    } else {
        String::new()
    };
    Err(malformed(folder, "", format!("found no model.safetensors in this folder{more}")))
}

/// A model whose tensors lie in several files beside this index.
fn sharded(index: &Path) -> Result<TrainedModel> {
    let config = index.with_file_name("config.json");
    let file = |name: &str| {
        let file = index.with_file_name(name);
        open(&file).map(|bytes| (file.display().to_string(), bytes))
    };
    TrainedModel::sharded(
        &index.display().to_string(),
        &text(index)?,
        &file,
        &config.display().to_string(),
        &text(&config)?,
    )
}

/// Checks that a file that is not GGUF begins as a safetensors file and has its settings beside it.
fn expect_safetensors(path: &Path, bytes: &dyn Bytes, has_settings: bool) -> Result<()> {
    let mut start = [0; 9];
    if bytes.count() >= 9 {
        bytes.fill(0, &mut start)?;
    }
    // A safetensors file begins with the length of its JSON header (8 bytes) and the header.
    let begins = start[8] == b'{';
    let expected = "a folder with model.safetensors and config.json, a safetensors file with \
        config.json beside it, or a GGUF file";
    if !begins {
        let found = format!(
            "found {} bytes that begin neither as a GGUF file (GGUF) nor as a safetensors file",
            bytes.count()
        );
        return Err(malformed(
            path,
            "",
            format!("{found} (a length, then a header of JSON), expected {expected}"),
        ));
    }
    if !has_settings {
        let found = "found a file that does not begin with GGUF and has no config.json beside it";
        return Err(malformed(path, "", format!("{found}, expected {expected}")));
    }
    Ok(())
}

/// Reads the tokenizer beside the model, or inside its file.
///
/// **Errors** a missing tokenizer; an unknown kind of tokenizer.
pub fn vocabulary(path: &Path, model: &TrainedModel) -> Result<Vocabulary> {
    let beside = if path.is_dir() {
        path.join("tokenizer.json")
    } else {
        path.with_file_name("tokenizer.json")
    };
    if beside.is_file() {
        return Vocabulary::new(&beside.display().to_string(), &text(&beside)?);
    }
    if model.metadata.is_empty() {
        return Err(malformed(
            &beside,
            "",
            "no such file; without the model's tokenizer give the ids of the tokens",
        ));
    }
    Vocabulary::gguf(&path.display().to_string(), &model.metadata)
}

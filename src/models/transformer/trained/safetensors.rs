//! The header of a safetensors file.

use super::{Bytes, NumberFormat, TensorEntry, Tensors};
use crate::error::{Error, Result, wrong_json};
use safetensors::tensor::{Dtype, Metadata};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

/// Opens a file beside the index of a model by its name: the path as shown, and the bytes.
pub type Open<'a> = &'a dyn Fn(&str) -> Result<(String, Box<dyn Bytes>)>;

/// The tensors of a model in several safetensors files. `index` is the text of
/// `model.safetensors.index.json`: its object `weight_map` names the file of each tensor.
///
/// **Errors** a malformed index, the name of a file elsewhere, a tensor that is not in its file or
/// in two; as [`read`].
pub fn read_shards(path: &str, index: &str, open: Open<'_>) -> Result<Tensors> {
    let error = |place: String, problem: String| Error::File { path: path.into(), place, problem };
    let expected = "an object `weight_map` that names the file of every tensor";
    let json: Value =
        serde_json::from_str(index).map_err(|e| error(String::new(), wrong_json(&e, expected)))?;
    let map = json["weight_map"].as_object().filter(|map| !map.is_empty());
    let map =
        map.ok_or_else(|| error(String::new(), format!("found nothing, expected {expected}")))?;
    let is_beside = |file: &str| Path::new(file).file_name() == Some(OsStr::new(file));
    let mut named: Vec<(&String, &str)> = Vec::new();
    for (name, value) in map {
        let file = value.as_str().filter(|file| is_beside(file)).ok_or_else(|| {
            let problem = format!("found {value}, expected the name of a file beside the index");
            error(format!("tensor {name}"), problem)
        })?;
        named.push((name, file));
    }
    let files: BTreeSet<&str> = named.iter().map(|(_, file)| *file).collect();
    let mut parts = Vec::new();
    for file in files {
        let (shown, bytes) = open(file)?;
        let part = read(&shown, bytes)?;
        let lacks = |name: &str| !part.entries().contains_key(name) && !part.is_integer(name);
        if let Some((name, _)) = named.iter().find(|(name, of)| *of == file && lacks(name)) {
            return Err(error(format!("tensor {name}"), format!("not in its file {file}")));
        }
        parts.push(part);
    }
    Tensors::joined(path, parts)
}

/// Largest accepted length of a header.
const MAX_HEADER: u64 = 100 << 20;

/// The tensors of a safetensors file. Integer tensors (masks, positions) are omitted: they are no
/// weights.
///
/// **Errors** a foreign or truncated file, a header that contradicts itself, weights of a type that
/// is not read.
pub fn read(path: &str, bytes: Box<dyn Bytes>) -> Result<Tensors> {
    let error = |problem: String| Error::File { path: path.into(), place: String::new(), problem };
    let total = bytes.count();
    let mut length = [0; 8];
    if total < 8 {
        return Err(error(format!("found {total} bytes, expected a safetensors file")));
    }
    bytes.fill(0, &mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER || length > total - 8 {
        let what =
            if length > MAX_HEADER { "not a safetensors file" } else { "truncated in its header" };
        return Err(error(format!(
            "{what}: its first eight bytes say {length} bytes of header, the file has {total}"
        )));
    }
    let mut header = vec![0; length as usize];
    bytes.fill(8, &mut header)?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|e| {
        error(format!(
            "not a safetensors header: {}",
            wrong_json(&e, "names of tensors with their types and places")
        ))
    })?;
    let (start, data_bytes) = (8 + length, total - 8 - length);
    if metadata.data_len() as u64 != data_bytes {
        let what = if (metadata.data_len() as u64) > data_bytes {
            "truncated"
        } else {
            "longer than its header says"
        };
        return Err(error(format!(
            "{what}: the header describes {} bytes of tensors, the file has {data_bytes}",
            metadata.data_len()
        )));
    }
    let (mut entries, mut integers) = (std::collections::BTreeMap::new(), Vec::new());
    for (name, info) in metadata.tensors() {
        let format = match info.dtype {
            Dtype::F64 => NumberFormat::F64,
            Dtype::F32 => NumberFormat::F32,
            Dtype::F16 => NumberFormat::F16,
            Dtype::BF16 => NumberFormat::BF16,
            Dtype::BOOL
            | Dtype::U8
            | Dtype::I8
            | Dtype::I16
            | Dtype::U16
            | Dtype::I32
            | Dtype::U32
            | Dtype::I64
            | Dtype::U64 => {
                integers.push(name);
                continue;
            }
            other => {
                return Err(error(format!(
                    "tensor {name}: found numbers of type {other:?}, expected F64, F32, F16 or BF16"
                )));
            }
        };
        entries.insert(
            name,
            TensorEntry {
                format,
                shape: info.shape.clone(),
                start: start + info.data_offsets.0 as u64,
            },
        );
    }
    Ok(Tensors::new(path, bytes, entries)?.without_integers(integers))
}

//! The header of a safetensors file.

use super::{Bytes, NumberFormat, TensorEntry, Tensors};
use crate::error::{Error, Result, wrong_json};
use safetensors::tensor::{Dtype, Metadata};

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

//! Writes NPZ archives.

use crate::error::{Error, Result};
use std::io::{Cursor, Write};

/// The bytes of an archive of float64 arrays in C order, each given by name, shape and numbers. Not
/// compressed, because computed numbers hardly shrink.
///
/// **Errors** an archive that cannot be written (only for want of memory).
pub fn bytes(arrays: &[(&str, &[usize], &[f64])]) -> Result<Vec<u8>> {
    let bad = |e: &dyn std::fmt::Display| Error::Numerical {
        what: format!("an archive cannot be written: {e}"),
    };
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    for (name, shape, numbers) in arrays {
        archive.start_file(format!("{name}.npy"), options).map_err(|e| bad(&e))?;
        let sides: String = shape.iter().map(|s| format!("{s}, ")).collect();
        archive
            .write_all(&super::npy::header("'<f8'", &format!("({sides})")))
            .map_err(|e| bad(&e))?;
        for piece in numbers.chunks(1 << 12) {
            let bytes: Vec<u8> = piece.iter().flat_map(|v| v.to_le_bytes()).collect();
            archive.write_all(&bytes).map_err(|e| bad(&e))?;
        }
    }
    archive.finish().map(Cursor::into_inner).map_err(|e| bad(&e))
}

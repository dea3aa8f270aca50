//! A drawn figure and its files.

use crate::draw::{Mark, Picture, Sheet, pdf, png, svg};
use crate::error::{Error, Result};
use crate::lab::Provenance;
use crate::lab::replace::{self, Problem, Replace};
use std::path::{Path, PathBuf};

/// File extensions of a figure, in the order of writing.
pub const FORMATS: [&str; 5] = ["svg", "png", "csv", "txt", "pdf"];

/// A picture with its provenance.
pub struct DrawnFigure {
    /// The picture.
    pub picture: Picture,
    /// Source and command.
    pub provenance: Provenance,
    /// Name of its files, without extension.
    pub name: String,
}

impl DrawnFigure {
    /// The file content in one format.
    pub fn bytes(&self, format: &str, sheet: &Sheet, dpi: f64) -> Result<Vec<u8>> {
        let (picture, record) = (&self.picture, self.provenance.json());
        Ok(match format {
            "svg" => svg(picture, *sheet, &record)?.into_bytes(),
            "png" => png(picture, *sheet, dpi, &record)?,
            "pdf" => pdf(picture, *sheet, &record)?,
            "csv" => plotted_numbers(picture, &self.provenance).into_bytes(),
            _ => format!("{}\n", picture.caption).into_bytes(),
        })
    }

    /// Writes all formats into a folder; returns the files.
    ///
    /// **Errors** files that are not replaced, or cannot be written.
    pub fn write(
        &self,
        out: &Path,
        (sheet, dpi): (&Sheet, f64),
        replaced: Replace,
    ) -> Result<Vec<PathBuf>> {
        std::fs::create_dir_all(out)
            .map_err(|e| Error::io(out.display(), "create the folder", &e))?;
        let mut files = Vec::new();
        for (format, path) in FORMATS.into_iter().zip(paths(out, &self.name)) {
            files.push((path, self.bytes(format, sheet, dpi)?));
        }
        let written = files.iter().map(|file| file.0.clone()).collect();
        replace::write(files, Some(&Problem::from(&self.provenance)), replaced)?;
        Ok(written)
    }
}

/// The files of a figure in a folder, one for each of [`FORMATS`].
pub fn paths(folder: &Path, name: &str) -> [PathBuf; 5] {
    FORMATS.map(|format| folder.join(format!("{name}.{format}")))
}

/// All drawn numbers, one point per line: panel, mark, label, x, y, value.
fn plotted_numbers(picture: &Picture, provenance: &Provenance) -> String {
    let mut out = provenance.csv_header().iter().map(|l| format!("# {l}\n")).collect::<String>();
    out.push_str("panel,mark,label,x,y,value\n");
    for (p, panel) in picture.panels.iter().enumerate() {
        for (m, mark) in panel.marks.iter().enumerate() {
            match mark {
                Mark::Line { points, label, .. } | Mark::Points { points, label, .. } => {
                    points.iter().for_each(|(x, y)| {
                        out.push_str(&format!("{p},{m},\"{label}\",{x},{y},\n"))
                    });
                }
                Mark::Heat { x, y, values, .. } => {
                    for (row, y) in values.iter().zip(y) {
                        row.iter()
                            .zip(x)
                            .for_each(|(v, x)| out.push_str(&format!("{p},{m},,{x},{y},{v}\n")));
                    }
                }
                Mark::Steps { edges, values, label, .. } => {
                    values.iter().zip(edges).for_each(|(v, x)| {
                        out.push_str(&format!("{p},{m},\"{label}\",{x},,{v}\n"))
                    });
                }
                Mark::Intervals { points, .. } => {
                    for (x, y) in points.iter().flat_map(|(x, ends)| ends.map(|y| (x, y))) {
                        out.push_str(&format!("{p},{m},\"\",{x},{y},\n"));
                    }
                }
                Mark::Circle | Mark::Middle(_) | Mark::Text { .. } => {}
            }
        }
    }
    out
}

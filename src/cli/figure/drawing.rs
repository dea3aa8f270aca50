//! The flags of how pictures look and where they go, for every command that writes some.

use super::drawn::{DrawnFigure, FORMATS};
use crate::draw::{Sheet, Size, Theme};
use crate::error::{Error, Result, in_range};
use crate::lab::arrays;
use std::path::PathBuf;

/// How pictures look, and where they go.
#[derive(clap::Args)]
pub struct DrawingArguments {
    /// siam, ams, neurips, icml, jmlr, pnas, pnas2, physrev, physrev2, nature1, nature2, beamer, or
    /// WIDTH or WIDTHxHEIGHT in millimetres.
    #[arg(long, default_value = "siam")]
    size: String,
    /// Size of type in points; ticks and legends are an eighth smaller. The venue's when none is
    /// given.
    #[arg(long, value_name = "PT")]
    font_size: Option<f64>,
    /// print, slides or dark.
    #[arg(long, default_value = "print")]
    theme: String,
    /// Resolution of PNG files.
    #[arg(long, default_value_t = 450.0)]
    dpi: f64,
    /// Folder for figures (SVG, PNG, numbers, caption, PDF), or one file: a name that ends in .pdf,
    /// .svg, .png, .csv or .txt.
    #[arg(long, default_value = "runs/figures", value_name = "PATH")]
    out: PathBuf,
}

impl DrawingArguments {
    /// What pictures are drawn on.
    ///
    /// **Errors** an unknown size or theme, a size of type outside 4 to 40 points.
    pub fn sheet(&self) -> Result<Sheet> {
        let mut sheet = Sheet::from(Size::parse(&self.size)?).themed(Theme::parse(&self.theme)?);
        if let Some(font) = self.font_size {
            sheet.font = in_range("--font-size", font, 4.0, 40.0)?;
        }
        Ok(sheet)
    }

    /// The resolution of PNG files. **Errors** one outside 20 to 2400.
    pub fn dpi(&self) -> Result<f64> {
        in_range("--dpi", self.dpi, 20.0, 2400.0)
    }

    /// These flags where they are not the usual ones, for the line that draws a picture again.
    pub fn flags(&self) -> String {
        let mut flags = String::new();
        for (flag, value, usual) in
            [("size", self.size.clone(), "siam"), ("theme", self.theme.clone(), "print"), ("dpi", self.dpi.to_string(), "450")]
        {
            if value != usual {
                flags.push_str(&format!(" --{flag} {value}"));
            }
        }
        flags + &self.font_size.map_or(String::new(), |v| format!(" --font-size {v}"))
    }

    /// The format of the one file that is asked for, if it is one.
    ///
    /// **Errors** a name with another ending; one file for several pictures.
    pub fn one_file(&self, pictures: usize) -> Result<Option<&'static str>> {
        let extension = self.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let Some(extension) = extension.filter(|_| !self.out.is_dir()) else { return Ok(None) };
        let format = FORMATS.into_iter().find(|f| *f == extension);
        let expected = "a folder, or a file that ends in .pdf, .svg, .png, .csv or .txt";
        let format = format.ok_or_else(|| Error::parameter("--out", self.out.display(), expected))?;
        if pictures > 1 {
            return Err(Error::parameter("--out", self.out.display(), format!("a folder for {pictures} figures")));
        }
        Ok(Some(format))
    }

    /// Writes a picture into the folder in all formats, or as the one file that is asked for;
    /// returns the files.
    ///
    /// **Errors** as [`DrawingArguments::sheet`] and [`DrawingArguments::one_file`]; what cannot be
    /// written.
    pub fn write(&self, drawn: &DrawnFigure) -> Result<Vec<PathBuf>> {
        let (sheet, dpi) = (self.sheet()?, self.dpi()?);
        let Some(format) = self.one_file(1)? else { return drawn.write(&self.out, &sheet, dpi) };
        if let Some(folder) = self.out.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder.display(), "create the folder", &e))?;
        }
        arrays::write_atomically(&self.out, &drawn.bytes(format, &sheet, dpi)?)?;
        Ok(vec![self.out.clone()])
    }
}

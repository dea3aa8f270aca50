//! Flags for the look and the files of pictures, for all commands that draw.

use super::drawn::{DrawnFigure, FORMATS, paths};
use crate::cli::out_file;
use crate::draw::{Sheet, Size, Theme};
use crate::error::{Error, Result};
use crate::lab::Provenance;
use crate::lab::replace::{self, Problem, Replace};
use crate::operation::{any, within};
use crate::parameters;
use std::path::{Path, PathBuf};

parameters! {
    /// Look and files of pictures.
    pub struct DrawingArguments {
        /// Size: siam, ams, neurips, icml, jmlr, pnas, pnas2, physrev, physrev2, nature1, nature2,
        /// beamer, or WIDTH or WIDTHxHEIGHT in millimetres; after a comma the font size in points
        /// (default: that of the venue; ticks and legends are 1/8 smaller).
        size: String, any().or("siam").form("SIZE[,PT]").check(known_size);
        /// The font size of --size.
        font_size: Option<f64>, within(4.0, 40.0).hidden();
        /// Theme: print, slides or dark.
        theme: String, any().or("print").form("THEME").check(known_theme);
        /// Resolution of PNG files, in dots per inch.
        dpi: f64, within(20.0, 2400.0).or("450");
        /// Folder for the files of each figure (SVG, PNG, PDF, CSV with the numbers, TXT with the
        /// caption), or one file with one of these extensions.
        out: PathBuf, any().or(OWN_FOLDER).form("PATH");
    }
}

/// The folder without --out.
const OWN_FOLDER: &str = "runs/figures";

/// **Errors** a text that is no size.
fn known_size(text: &str) -> Result<()> {
    size_and_font(text).map(drop)
}

/// A size, and a font size if one follows.
fn size_and_font(text: &str) -> Result<(Size, Option<f64>)> {
    let Some((size, font)) = text.split_once(',') else { return Ok((Size::parse(text)?, None)) };
    let points = font.trim().parse::<f64>().ok().filter(|pt| (4.0..=40.0).contains(pt));
    let wrong = || Error::parameter("size", text, "a font size in [4, 40] after the comma");
    Ok((Size::parse(size)?, Some(points.ok_or_else(wrong)?)))
}

/// **Errors** a text that is no theme.
fn known_theme(text: &str) -> Result<()> {
    Theme::parse(text).map(drop)
}

impl DrawingArguments {
    /// The sheet on which pictures are drawn.
    ///
    /// **Errors** an unknown size or theme; a font size outside 4 to 40 points.
    pub fn sheet(&self) -> Result<Sheet> {
        let (size, font) = size_and_font(&self.size)?;
        let mut sheet = Sheet::from(size).with_theme(Theme::parse(&self.theme)?);
        if let Some(font) = self.font_size.or(font) {
            sheet.font = font;
        }
        Ok(sheet)
    }

    /// The flags with values other than the default, for the command that reproduces a picture.
    pub fn flags(&self) -> String {
        let mut flags = String::new();
        for (flag, value, default) in [
            ("size", self.size.clone(), "siam"),
            ("theme", self.theme.clone(), "print"),
            ("dpi", self.dpi.to_string(), "450"),
        ] {
            if value != default {
                flags.push_str(&format!(" --{flag} {value}"));
            }
        }
        flags + &self.font_size.map_or(String::new(), |v| format!(" --font-size {v}"))
    }

    /// The format if `--out` is one file.
    ///
    /// **Errors** an unknown extension; one file for several pictures.
    pub fn one_file(&self, pictures: usize) -> Result<Option<&'static str>> {
        let extension = self.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let Some(extension) = extension.filter(|_| !self.out.is_dir()) else { return Ok(None) };
        let format = FORMATS.into_iter().find(|f| *f == extension);
        let expected = "a folder, or a file that ends in .pdf, .svg, .png, .csv or .txt";
        let format =
            format.ok_or_else(|| Error::parameter("--out", self.out.display(), expected))?;
        if pictures > 1 {
            return Err(Error::parameter(
                "--out",
                self.out.display(),
                format!("a folder for {pictures} figures"),
            ));
        }
        Ok(Some(format))
    }

    /// Writes a picture as one file or, in all formats, into a folder; returns the files.
    ///
    /// **Errors** as [`DrawingArguments::sheet`] and [`DrawingArguments::one_file`]; a failed
    /// write.
    pub fn write(&self, drawn: &DrawnFigure) -> Result<Vec<PathBuf>> {
        let (sheet, dpi) = (self.sheet()?, self.dpi);
        let Some(format) = self.one_file(1)? else {
            return drawn.write(&self.out, (&sheet, dpi), self.replaced());
        };
        out_file::create_parent(&self.out)?;
        let files = vec![(self.out.clone(), drawn.bytes(format, &sheet, dpi)?)];
        replace::write(files, Some(&Problem::from(&drawn.provenance)), self.replaced())?;
        Ok(vec![self.out.clone()])
    }

    /// Which existing pictures are replaced.
    fn replaced(&self) -> Replace {
        out_file::replaced(self.is_own_folder())
    }

    fn is_own_folder(&self) -> bool {
        self.out == Path::new(OWN_FOLDER)
    }

    /// Checks the file of a picture before the work, if it is one file.
    ///
    /// **Errors** a file of another program, or one that cannot be written.
    pub fn check_own(&self) -> Result<()> {
        if self.one_file(1)?.is_none() {
            return Ok(());
        }
        out_file::create_parent(&self.out)?;
        out_file::check_own(&self.out)
    }

    /// Checks the files of a picture with this name before its data are computed.
    ///
    /// **Errors** files of another problem, or files that cannot be written.
    pub fn check(&self, name: &str, provenance: &Provenance) -> Result<()> {
        if self.one_file(1)?.is_some() {
            out_file::create_parent(&self.out)?;
            return out_file::check_result(&self.out, provenance, self.is_own_folder());
        }
        std::fs::create_dir_all(&self.out)
            .map_err(|e| Error::io(self.out.display(), "create the folder", &e))?;
        let own = self.is_own_folder();
        paths(&self.out, name)
            .iter()
            .try_for_each(|path| out_file::check_result(path, provenance, own))
    }
}

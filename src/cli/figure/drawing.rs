//! Flags for the look and the files of pictures, for all commands that draw.

use super::drawn::{DrawnFigure, FORMATS, paths};
use crate::cli::out_file;
use crate::draw::{Sheet, Size, Theme};
use crate::error::{Error, Result, in_range};
use crate::lab::Provenance;
use crate::lab::replace::{self, Problem, Replace};
use std::path::{Path, PathBuf};

/// Look and files of pictures.
#[derive(clap::Args)]
pub struct DrawingArguments {
    /// Size: siam, ams, neurips, icml, jmlr, pnas, pnas2, physrev, physrev2, nature1, nature2,
    /// beamer, or WIDTH or WIDTHxHEIGHT in millimetres.
    #[arg(long, default_value = "siam")]
    size: String,
    /// Font size in points; ticks and legends are 1/8 smaller. Default: that of the venue in
    /// --size.
    #[arg(long, value_name = "PT")]
    font_size: Option<f64>,
    /// Theme: print, slides or dark.
    #[arg(long, default_value = "print")]
    theme: String,
    /// Resolution of PNG files, in dots per inch.
    #[arg(long, default_value_t = 450.0)]
    dpi: f64,
    /// Folder for the files of each figure (SVG, PNG, PDF, CSV with the numbers, TXT with the
    /// caption), or one file with one of these extensions.
    #[arg(long, default_value = OWN_FOLDER, value_name = "PATH")]
    out: PathBuf,
}

/// The folder without --out.
const OWN_FOLDER: &str = "runs/figures";

impl DrawingArguments {
    /// The sheet on which pictures are drawn.
    ///
    /// **Errors** an unknown size or theme; a font size outside 4 to 40 points.
    pub fn sheet(&self) -> Result<Sheet> {
        let mut sheet =
            Sheet::from(Size::parse(&self.size)?).with_theme(Theme::parse(&self.theme)?);
        if let Some(font) = self.font_size {
            sheet.font = in_range("--font-size", font, 4.0, 40.0)?;
        }
        Ok(sheet)
    }

    /// The resolution of PNG files. **Errors** one outside 20 to 2400.
    pub fn dpi(&self) -> Result<f64> {
        in_range("--dpi", self.dpi, 20.0, 2400.0)
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
        let (sheet, dpi) = (self.sheet()?, self.dpi()?);
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

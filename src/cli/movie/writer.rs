//! Writes movies: animated PNG or GIF, a folder of numbered frames, MP4 through ffmpeg.

use crate::cli::cancel::cancelled;
use crate::cli::{out_file, progress};
use crate::draw::{Picture, Sheet, Size, animation, frames, png, raster};
use crate::error::{Error, Result, in_range};
use crate::lab::write::TemporaryFile;
use crate::lab::{Provenance, arrays};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

enum Format {
    Apng,
    Gif,
    Mp4,
    Folder,
}

/// Writes a movie in the format that the name of its file asks for.
pub struct MovieWriter<'a> {
    out: &'a Path,
    format: Format,
    dpi: f64,
    rate: u16,
    provenance: Provenance,
}

impl<'a> MovieWriter<'a> {
    /// A writer of `what` to `out`, the value of the flag `flag`, of `rate` frames per second.
    ///
    /// **Errors** a name without a known format, a missing ffmpeg, numbers out of range, a file of
    /// another problem.
    pub fn new(what: &str, out: &'a Path, flag: &str, dpi: f64, rate: u16) -> Result<Self> {
        in_range("--dpi", dpi, 20.0, 600.0)?;
        if !(1..=100).contains(&rate) {
            return Err(Error::parameter("--rate", rate, "from 1 to 100 frames per second"));
        }
        let name = out.to_string_lossy().to_ascii_lowercase();
        let ends = |e: &str| name.ends_with(e);
        let format = match () {
            () if ends(".png") || ends(".apng") => Format::Apng,
            () if ends(".gif") => Format::Gif,
            () if ends(".mp4") => {
                let found = Command::new("ffmpeg")
                    .arg("-version")
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                let expected = "ffmpeg on the path for .mp4; without it .gif, .png, or a folder (a name that ends in /)";
                found.map_err(|_| Error::parameter(flag, out.display(), expected))?;
                Format::Mp4
            }
            () if name.ends_with(std::path::is_separator) => Format::Folder,
            () => {
                let expected = "a name that ends in .png, .apng, .gif, .mp4, or in / for a folder of numbered frames";
                return Err(Error::parameter(flag, out.display(), expected));
            }
        };
        let reproduce = crate::cli::command_line::reproduce();
        let provenance = Provenance::new(what, &reproduce, reproduce.clone());
        match format {
            Format::Folder => crate::cli::recording::create(out)?,
            _ => out_file::check_result(out, &provenance, false)?,
        }
        Ok(Self { out, format, dpi, rate, provenance })
    }

    /// Writes `count` frames; returns the number of bytes.
    pub fn write(&self, count: usize, picture: impl Fn(usize) -> Picture) -> Result<usize> {
        let provenance = self.provenance.json();
        let sheet = Sheet::from(Size::Siam);
        let picture = |k: usize| -> Result<Picture> {
            progress::report(Some(k as f64 / count as f64), || format!("frame {k} of {count}"));
            if cancelled() {
                Err(Error::Interrupted { resume: "no movie was made".into() })
            } else {
                Ok(picture(k))
            }
        };
        let image = |k: usize| raster(&picture(k)?, &sheet, self.dpi);
        let whole =
            |bytes: Vec<u8>| arrays::write_atomically(self.out, &bytes).map(|()| bytes.len());
        match self.format {
            Format::Apng => whole(frames(count, picture, sheet, self.dpi, &provenance, self.rate)?),
            Format::Gif => whole(animation::gif(count, image, &provenance, self.rate)?),
            Format::Mp4 => self.mp4(count, image, &provenance),
            Format::Folder => {
                let one = |k: usize| {
                    let bytes = png(&picture(k)?, sheet, self.dpi, &provenance)?;
                    arrays::write_atomically(
                        &self.out.join(format!("frame-{:05}.png", k + 1)),
                        &bytes,
                    )
                    .map(|()| bytes.len())
                };
                (0..count).map(one).sum()
            }
        }
    }

    /// Pipes the frames to ffmpeg. Sides are padded to even lengths: its codec needs them.
    fn mp4(
        &self,
        count: usize,
        image: impl Fn(usize) -> Result<animation::Image>,
        provenance: &str,
    ) -> Result<usize> {
        // A film that ends too early must not replace an earlier one.
        let (path, partial) = (self.out, TemporaryFile::beside(self.out));
        let failed = |e: std::io::Error| Error::io(path.display(), "write through ffmpeg", &e);
        let (w, h, first) = image(0)?;
        let mut child = Command::new("ffmpeg")
            .args([
                "-y",
                "-loglevel",
                "error",
                "-f",
                "rawvideo",
                "-pix_fmt",
                "rgb24",
                "-s",
                &format!("{w}x{h}"),
            ])
            .args([
                "-r",
                &self.rate.to_string(),
                "-i",
                "-",
                "-vf",
                "pad=ceil(iw/2)*2:ceil(ih/2)*2:0:0:white",
            ])
            .args(["-pix_fmt", "yuv420p", "-metadata", &format!("comment={provenance}")])
            .args(["-f", "mp4"])
            .arg(partial.place())
            .stdin(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut pipe = child.stdin.take();
        let mut send =
            |pixels: &[u8]| pipe.as_mut().map_or(Ok(()), |p| p.write_all(pixels)).map_err(failed);
        send(&first)?;
        for k in 1..count {
            send(&image(k)?.2)?;
        }
        drop(pipe);
        let status = child.wait().map_err(failed)?;
        if !status.success() {
            let cause = std::io::Error::other(format!("it ended with {status}"));
            return Err(Error::io(path.display(), "write through ffmpeg", &cause));
        }
        let bytes = std::fs::metadata(partial.place()).map(|m| m.len() as usize).map_err(failed)?;
        partial.finish().map(|()| bytes)
    }
}

//! Films of pictures: animated PNG or GIF, numbered frames, MP4 through ffmpeg.

use super::cancel::cancelled;
use super::progress;
use crate::draw::{Picture, Sheet, Size, film, frames, png, raster};
use crate::error::{Error, Result, in_range};
use crate::lab::{Provenance, arrays};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// How the film is written.
enum Wrapping {
    Apng,
    Gif,
    Mp4,
    Folder,
}

/// A film to be: where it goes and how.
pub struct Reel<'a> {
    out: &'a Path,
    wrapping: Wrapping,
    dpi: f64,
    rate: u16,
}

impl<'a> Reel<'a> {
    /// A film that goes to `out`, which the user gave with `flag`, `rate` frames a second.
    ///
    /// **Errors** a name that says no format, ffmpeg that is wanted and not there, numbers out of range.
    pub fn new(out: &'a Path, flag: &str, dpi: f64, rate: u16) -> Result<Self> {
        in_range("--dpi", dpi, 20.0, 600.0)?;
        if !(1..=100).contains(&rate) {
            return Err(Error::parameter("--rate", rate, "from 1 to 100 frames a second"));
        }
        let name = out.to_string_lossy().to_ascii_lowercase();
        let ends = |e: &str| name.ends_with(e);
        let wrapping = match () {
            () if ends(".png") || ends(".apng") => Wrapping::Apng,
            () if ends(".gif") => Wrapping::Gif,
            () if ends(".mp4") => {
                let there = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
                let expected = "ffmpeg on the path for .mp4; without it .gif, .png, or a folder (a name that ends in /)";
                there.map_err(|_| Error::parameter(flag, out.display(), expected))?;
                Wrapping::Mp4
            }
            () if ends("/") => Wrapping::Folder,
            () => {
                let expected = "a name that ends in .png, .apng, .gif, .mp4, or in / for a folder of numbered frames";
                return Err(Error::parameter(flag, out.display(), expected));
            }
        };
        Ok(Self { out, wrapping, dpi, rate })
    }

    /// Writes `count` frames and returns the bytes; every form holds the provenance of `what`.
    pub fn write(&self, what: &str, count: usize, picture: impl Fn(usize) -> Picture) -> Result<usize> {
        let reproduce = super::command_line::line();
        let provenance = Provenance::new(what, &reproduce, reproduce.clone()).json();
        let sheet = Sheet::from(Size::Siam);
        let picture = |k: usize| -> Result<Picture> {
            progress::report(Some(k as f64 / count as f64), || format!("frame {k} of {count}"));
            if cancelled() { Err(Error::Interrupted { resume: "no movie was made".into() }) } else { Ok(picture(k)) }
        };
        let image = |k: usize| raster(&picture(k)?, &sheet, self.dpi);
        let whole = |bytes: Vec<u8>| arrays::write_atomically(self.out, &bytes).map(|()| bytes.len());
        match self.wrapping {
            Wrapping::Apng => whole(frames(count, picture, sheet, self.dpi, &provenance, self.rate)?),
            Wrapping::Gif => whole(film::gif(count, image, &provenance, self.rate)?),
            Wrapping::Mp4 => self.mp4(count, image, &provenance),
            Wrapping::Folder => {
                super::recording::create(self.out)?;
                let one = |k: usize| {
                    let bytes = png(&picture(k)?, sheet, self.dpi, &provenance)?;
                    arrays::write_atomically(&self.out.join(format!("frame-{:05}.png", k + 1)), &bytes).map(|()| bytes.len())
                };
                (0..count).map(one).sum()
            }
        }
    }

    /// Hands the frames to ffmpeg; sides are made even, as its codec wants them.
    fn mp4(&self, count: usize, image: impl Fn(usize) -> Result<film::Image>, provenance: &str) -> Result<usize> {
        let path = self.out;
        let failed = |e: std::io::Error| Error::io(path.display(), "write through ffmpeg", &e);
        let (w, h, first) = image(0)?;
        let mut child = Command::new("ffmpeg")
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &format!("{w}x{h}")])
            .args(["-r", &self.rate.to_string(), "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:0:0:white"])
            .args(["-pix_fmt", "yuv420p", "-metadata", &format!("comment={provenance}")])
            .arg(path)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut pipe = child.stdin.take();
        let mut send = |pixels: &[u8]| pipe.as_mut().map_or(Ok(()), |p| p.write_all(pixels)).map_err(failed);
        send(&first)?;
        for k in 1..count {
            send(&image(k)?.2)?;
        }
        drop(pipe);
        let status = child.wait().map_err(failed)?;
        if !status.success() {
            return Err(Error::Io {
                path: path.display().to_string(),
                doing: "write through ffmpeg",
                cause: format!("it ended with {status}"),
            });
        }
        std::fs::metadata(path).map(|m| m.len() as usize).map_err(failed)
    }
}

//! Animated GIF.

use crate::error::{Error, Result};
use gif::{Encoder, Extension, Frame, Repeat};

/// Width, height and RGB bytes.
pub type Image = (u32, u32, Vec<u8>);

/// Effort of the search for the 256 colours of a frame, from 1 (best) to 30.
const EFFORT: i32 = 10;

fn failed(e: impl std::fmt::Display) -> Error {
    Error::Numerical { what: format!("the animation cannot be written: {e}") }
}

/// Encodes images of the same size as an animated GIF that repeats for ever, at `per_second` frames
/// a second (the format rounds the delay to a hundredth of a second). Images are requested one by
/// one; `metadata` becomes a comment.
///
/// **Errors** no image; images of different sizes, or larger than 65535 pixels a side.
pub fn gif(
    count: usize,
    image: impl Fn(usize) -> Result<Image>,
    metadata: &str,
    per_second: u16,
) -> Result<Vec<u8>> {
    let (w, h, first) = image(0)?;
    let side = |v: u32| u16::try_from(v).map_err(|_| failed("more than 65535 pixels a side"));
    let (width, height) = (side(w)?, side(h)?);
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, width, height, &[]).map_err(failed)?;
    encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
    let comment: Vec<&[u8]> = metadata.as_bytes().chunks(255).collect();
    encoder.write_raw_extension(Extension::Comment.into(), &comment).map_err(failed)?;
    let delay = (100.0 / f64::from(per_second.max(1))).round().max(1.0) as u16;
    let mut write = |pixels: &[u8]| {
        let frame = Frame { delay, ..Frame::from_rgb_speed(width, height, pixels, EFFORT) };
        encoder.write_frame(&frame).map_err(failed)
    };
    write(&first)?;
    for k in 1..count {
        let (a, b, pixels) = image(k)?;
        if (a, b) != (w, h) {
            return Err(failed("frames of different shapes"));
        }
        write(&pixels)?;
    }
    drop(encoder);
    Ok(out)
}

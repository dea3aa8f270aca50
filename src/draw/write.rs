//! Writers: SVG with text and the embedded font, PNG at a given resolution. Both carry a provenance
//! line.

use super::layout::layout;
use super::metrics::{FAMILY, FONT, face};
use super::picture::Picture;
use super::render::{BackendScale, draw};
use super::scene::Scene;
use super::sheet::Sheet;
use crate::error::{Error, Result};
use base64::Engine;
use plotters::prelude::{BitMapBackend, FontStyle, IntoDrawingArea, SVGBackend};
use plotters::style::register_font;
use std::sync::Once;

/// Resolution of the pixel grid on which SVG coordinates are rounded.
const SVG_DPI: f64 = 450.0;

fn register() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // A failure would show as missing text; the font is compiled in and tested.
        let _ = register_font(FAMILY, FontStyle::Normal, FONT);
    });
}

fn pixels(scene: &Scene, dpi: f64) -> (u32, u32) {
    let count = |points: f64| (points / 72.0 * dpi).round() as u32;
    (count(scene.width), count(scene.height))
}

pub(super) fn failed(e: impl std::fmt::Display) -> Error {
    Error::Numerical { what: format!("the figure cannot be drawn: {e}") }
}

/// The picture as SVG text; `metadata` is stored verbatim (one line).
pub fn svg(picture: &Picture, sheet: impl Into<Sheet>, metadata: &str) -> Result<String> {
    register();
    let scene = layout(picture, &sheet.into())?;
    let (w, h) = pixels(&scene, SVG_DPI);
    let mut text = String::new();
    {
        // plotters divides the size by 1.24 and puts the base line 0.76 of the size below the top.
        let root = SVGBackend::with_string(&mut text, (w, h)).into_drawing_area();
        draw(&scene, &root, BackendScale { scale: SVG_DPI / 72.0, base: 0.76, em: 1.24 })
            .map_err(failed)?;
    }
    let open = text
        .find("<svg")
        .and_then(|s| text[s..].find('>').map(|e| s + e + 1))
        .ok_or_else(|| failed("no <svg> element"))?;
    let font = base64::engine::general_purpose::STANDARD.encode(FONT);
    let millimetres = scene.width / 72.0 * 25.4;
    let head = format!(
        "<svg width=\"{millimetres:.2}mm\" height=\"{:.2}mm\" viewBox=\"0 0 {w} {h}\" \
        xmlns=\"http://www.w3.org/2000/svg\">\n<metadata>{}</metadata>\n<style>@font-face{{font-family:\"{FAMILY}\";src:url(data:font/ttf;base64,{font})}}</style>",
        scene.height / 72.0 * 25.4,
        metadata.replace('&', "&amp;").replace('<', "&lt;")
    );
    Ok(format!("{head}{}", &text[open..]))
}

/// Renders a picture at `dpi`: width, height and RGB bytes.
pub fn raster(picture: &Picture, sheet: &Sheet, dpi: f64) -> Result<(u32, u32, Vec<u8>)> {
    register();
    let scene = layout(picture, sheet)?;
    let (w, h) = pixels(&scene, dpi);
    let mut buffer = vec![255u8; w as usize * h as usize * 3];
    {
        // Here the size is ascent minus descent, and the base line lies half of it below the top.
        let em = face().map_or(1.24, |f| {
            f64::from(f.ascender() - f.descender()) / f64::from(f.units_per_em())
        });
        let root = BitMapBackend::with_buffer(&mut buffer, (w, h)).into_drawing_area();
        draw(&scene, &root, BackendScale { scale: dpi / 72.0, base: 0.5 * em, em })
            .map_err(failed)?;
    }
    Ok((w, h, buffer))
}

/// The picture as PNG bytes at `dpi`; `metadata` becomes a text chunk.
pub fn png(
    picture: &Picture,
    sheet: impl Into<Sheet>,
    dpi: f64,
    metadata: &str,
) -> Result<Vec<u8>> {
    frames(1, |_| Ok(picture.clone()), sheet, dpi, metadata, 1)
}

/// Pictures of the same size as an animated PNG that repeats for ever, at `per_second` frames a
/// second; one picture gives a still image.
///
/// Pictures are requested one by one.
///
/// **Errors** no picture; pictures of different sizes.
pub fn frames(
    count: usize,
    picture: impl Fn(usize) -> Result<Picture>,
    sheet: impl Into<Sheet>,
    dpi: f64,
    metadata: &str,
    per_second: u16,
) -> Result<Vec<u8>> {
    let sheet = sheet.into();
    let (w, h, first) = raster(&picture(0)?, &sheet, dpi)?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, w, h);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let per_metre = (dpi / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    if count > 1 {
        encoder.set_animated(count as u32, 0).map_err(failed)?;
        encoder.set_frame_delay(1, per_second).map_err(failed)?;
    }
    encoder.add_text_chunk("provenance".into(), metadata.into()).map_err(failed)?;
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&first).map_err(failed)?;
    for k in 1..count {
        let (width, height, buffer) = raster(&picture(k)?, &sheet, dpi)?;
        if (width, height) != (w, h) {
            return Err(failed("frames of different sizes"));
        }
        writer.write_image_data(&buffer).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(out)
}

/// Margins as an inline SVG of 120 x 24 pixels: one tick per trial on a symmetric log scale, the
/// threshold as a vertical line.
pub fn margin_strip(margins: &[f64], alt: &str) -> String {
    let place = |m: f64| {
        // sign(m) * (1 + log10(|m|/1e-16))/21: zero is in the middle, 1e-16 next to it, 1e4 at the
        // edge.
        let size = if m == 0.0 { 0.0 } else { (1.0 + (m.abs().max(1e-16) / 1e-16).log10()) / 21.0 };
        60.0 + 58.0 * m.signum() * size.min(1.0)
    };
    let ticks: Vec<String> = margins
        .iter()
        .map(|m| {
            format!(
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"4\" y2=\"20\" stroke=\"{1}\"/>",
                place(*m),
                if *m > 0.0 { "#0072b2" } else { "#d55e00" }
            )
        })
        .collect();
    format!(
        "<svg class=\"spark\" width=\"120\" height=\"24\" viewBox=\"0 0 120 24\" role=\"img\" \
        aria-label=\"{alt}\"><rect width=\"120\" height=\"24\" fill=\"#f4f4f4\"/><line x1=\"60\" \
        x2=\"60\" y1=\"0\" y2=\"24\" stroke=\"#000\"/>{}</svg>",
        ticks.concat()
    )
}

//! Writes a picture as PDF: strokes, areas and text with the embedded font. There are no dates: the
//! same data give the same bytes.

use super::layout::layout;
use super::metrics::{FAMILY, FONT, face, width};
use super::picture::Picture;
use super::scene::{Anchor, Outline, Point, Scene, Shape, Text};
use super::sheet::Sheet;
use super::write::failed;
use crate::error::Result;
use flate2::{Compression, write::ZlibEncoder};
use pdf_writer::types::{
    CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap,
};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use plotters::style::RGBColor;
use std::io::Write;
use ttf_parser::Face;

/// The character collection of the font: glyphs are named by their index.
const SYSTEM: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
/// The name of the font in the page.
const TYPE: Name = Name(b"F");

/// The picture as PDF bytes; `metadata` (one line) is stored verbatim as the document's metadata.
pub fn pdf(picture: &Picture, sheet: impl Into<Sheet>, metadata: &str) -> Result<Vec<u8>> {
    let scene = layout(picture, &sheet.into())?;
    let font = face().ok_or_else(|| failed("the font cannot be read"))?;
    let [catalog, pages, page, content, notes] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut out = Pdf::new();
    out.catalog(catalog).pages(pages).metadata(notes);
    out.pages(pages).kids([page]).count(1);
    let mut sheet = out.page(page);
    sheet
        .media_box(Rect::new(0.0, 0.0, scene.width as f32, scene.height as f32))
        .parent(pages)
        .contents(content);
    sheet.resources().fonts().pair(TYPE, Ref::new(6));
    sheet.finish();
    let packed = packed(&operators(&scene, font))?;
    out.stream(content, &packed).filter(Filter::FlateDecode);
    let note =
        format!("<metadata>{}</metadata>", metadata.replace('&', "&amp;").replace('<', "&lt;"));
    let mut stream = out.stream(notes, note.as_bytes());
    stream.pair(Name(b"Type"), Name(b"Metadata")).pair(Name(b"Subtype"), Name(b"XML"));
    stream.finish();
    embed(&mut out, font)?;
    Ok(out.finish())
}

fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(9));
    encoder.write_all(bytes).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Embeds the whole font (27 kB), so that text can be searched and copied.
fn embed(out: &mut Pdf, font: &Face) -> Result<()> {
    let [whole, part, about, file, meaning] = [6, 7, 8, 9, 10].map(Ref::new);
    let name = Name(FAMILY.as_bytes());
    let per_em = f32::from(font.units_per_em()) / 1000.0;
    out.type0_font(whole)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(part)
        .to_unicode(meaning);
    let mut cid = out.cid_font(part);
    cid.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(about);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    let advances = (0..font.number_of_glyphs())
        .map(|g| f32::from(font.glyph_hor_advance(ttf_parser::GlyphId(g)).unwrap_or(0)) / per_em);
    cid.widths().consecutive(0, advances);
    cid.finish();
    let edge = font.global_bounding_box();
    let scaled = |v: i16| f32::from(v) / per_em;
    out.font_descriptor(about)
        .name(name)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(
            scaled(edge.x_min),
            scaled(edge.y_min),
            scaled(edge.x_max),
            scaled(edge.y_max),
        ))
        .italic_angle(0.0)
        .ascent(scaled(font.ascender()))
        .descent(scaled(font.descender()))
        .cap_height(scaled(font.capital_height().unwrap_or(font.ascender())))
        .stem_v(80.0)
        .font_file2(file);
    let bytes = packed(FONT)?;
    out.stream(file, &bytes).filter(Filter::FlateDecode).pair(Name(b"Length1"), FONT.len() as i32);
    let mut codes = UnicodeCmap::new(name, SYSTEM);
    for letter in (0x20..0xffff).filter_map(char::from_u32) {
        if let Some(glyph) = font.glyph_index(letter) {
            codes.pair(glyph.0, letter);
        }
    }
    out.cmap(meaning, &codes.finish());
    Ok(())
}

/// The drawing operators of the page.
fn operators(scene: &Scene, font: &Face) -> Vec<u8> {
    let mut page = Content::new();
    let up = |p: &Point| (p.0 as f32, (scene.height - p.1) as f32);
    page.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::RoundJoin);
    paint(&mut page, scene.background, true);
    page.rect(0.0, 0.0, scene.width as f32, scene.height as f32).fill_nonzero();
    for panel in &scene.panels {
        panel.shapes.iter().for_each(|s| shape(&mut page, s, &up));
        paint(&mut page, scene.foreground, true);
        panel.texts.iter().for_each(|t| words(&mut page, t, font, &up));
    }
    page.finish().to_vec()
}

fn paint(page: &mut Content, colour: RGBColor, fill: bool) {
    let [r, g, b] = [colour.0, colour.1, colour.2].map(|v| f32::from(v) / 255.0);
    if fill {
        page.set_fill_rgb(r, g, b)
    } else {
        page.set_stroke_rgb(r, g, b)
    };
}

fn shape(page: &mut Content, s: &Shape, up: &dyn Fn(&Point) -> (f32, f32)) {
    paint(page, s.colour, s.stroke.is_none());
    if let Some(width) = s.stroke {
        page.set_line_width(width as f32);
    }
    let mut along = |points: &[Point]| {
        for (k, p) in points.iter().map(up).enumerate() {
            if k == 0 {
                page.move_to(p.0, p.1)
            } else {
                page.line_to(p.0, p.1)
            };
        }
    };
    match &s.form {
        Outline::Path(points) => along(points),
        Outline::Polygon(points) => {
            along(points);
            page.close_path();
        }
        Outline::Box(r) => {
            let p = up(&(r.left, r.bottom));
            page.rect(p.0, p.1, r.width() as f32, r.height() as f32);
        }
        Outline::Disc(centre, radius) => {
            // Four cubic curves: within 3e-4 of the radius of a circle.
            let ((x, y), r) = (up(centre), *radius as f32);
            let k = 0.552_285 * r;
            page.move_to(x + r, y).cubic_to(x + r, y + k, x + k, y + r, x, y + r).cubic_to(
                x - k,
                y + r,
                x - r,
                y + k,
                x - r,
                y,
            );
            page.cubic_to(x - r, y - k, x - k, y - r, x, y - r)
                .cubic_to(x + k, y - r, x + r, y - k, x + r, y)
                .close_path();
        }
    }
    if s.stroke.is_some() {
        page.stroke()
    } else {
        page.fill_nonzero()
    };
}

fn words(page: &mut Content, t: &Text, font: &Face, up: &dyn Fn(&Point) -> (f32, f32)) {
    let before = match t.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * width(&t.text, t.size),
        Anchor::End => width(&t.text, t.size),
    };
    let start = if t.upwards { (t.at.0, t.at.1 + before) } else { (t.at.0 - before, t.at.1) };
    let (x, y) = up(&start);
    let glyphs: Vec<u8> =
        t.text.chars().flat_map(|c| font.glyph_index(c).map_or(0, |g| g.0).to_be_bytes()).collect();
    let turn = if t.upwards { [0.0, 1.0, -1.0, 0.0] } else { [1.0, 0.0, 0.0, 1.0] };
    page.begin_text()
        .set_font(TYPE, t.size as f32)
        .set_text_matrix([turn[0], turn[1], turn[2], turn[3], x, y]);
    page.show(Str(&glyphs)).end_text();
}

//! Legends: in a corner or another free place of the data region, or in a strip above it.

use super::marks::{DashPattern, has_markers, marker};
use super::metrics::{ABOVE, BELOW, LINE, width, wrap};
use super::occupancy::OccupancyGrid;
use super::picture::{Corner, Dash, Mark, Panel};
use super::scene::{Anchor, PanelLayout, Point, Rect, ShapeRole, Text};
use super::sheet::Sheet;

/// Length of a sample line in units.
const SAMPLE: f64 = 18.0;
/// Distance from a sample to its name in units.
const SPACE: f64 = 3.5;

/// The marks with a label.
pub fn entries(panel: &Panel) -> Vec<(&Mark, &str)> {
    let named = |m: &'_ Mark| -> bool { !label_of(m).is_empty() };
    panel.marks.iter().filter(|m| named(m)).map(|m| (m, label_of(m))).collect()
}

fn label_of(mark: &Mark) -> &str {
    match mark {
        Mark::Line { label, .. } | Mark::Points { label, .. } | Mark::Steps { label, .. } => label,
        _ => "",
    }
}

/// Draws the legend inside the region where nothing else is drawn. Returns false if there is no
/// such place.
pub fn inside(
    panel: &Panel,
    entries: &[(&Mark, &str)],
    area: &Rect,
    taken: &OccupancyGrid,
    sheet: &Sheet,
    laid: &mut PanelLayout,
) -> bool {
    let (unit, small) = (sheet.unit(), sheet.small());
    let line = 1.3 * small;
    let widest = entries.iter().map(|e| width(e.1, small)).fold(0.0, f64::max);
    let (w, h) = ((SAMPLE + SPACE) * unit + widest, line * entries.len() as f64);
    let inner = area.grown(-4.0 * unit);
    if w > inner.width() || h > inner.height() {
        return false;
    }
    let (left, right, top, bottom) = (inner.left, inner.right - w, inner.top, inner.bottom - h);
    let at = |corner| match corner {
        Corner::TopLeft => (left, top),
        Corner::TopRight => (right, top),
        Corner::BottomLeft => (left, bottom),
        Corner::BottomRight => (right, bottom),
    };
    let all = [Corner::TopLeft, Corner::TopRight, Corner::BottomLeft, Corner::BottomRight];
    let corners = panel.legend.into_iter().chain(all).map(at);
    let step = 3.0 * unit;
    let (across, down) = (((right - left) / step) as usize, ((bottom - top) / step) as usize);
    let anywhere = (0..=down)
        .flat_map(|r| (0..=across).map(move |c| (r, c)))
        .map(|(r, c)| (left + step * c as f64, top + step * r as f64));
    let free = |p: &Point| {
        taken
            .count(&Rect { left: p.0, top: p.1, right: p.0 + w, bottom: p.1 + h }.grown(2.5 * unit))
            == 0
    };
    let Some(place) = corners.chain(anywhere).find(free) else { return false };
    for (k, (mark, name)) in entries.iter().enumerate() {
        let y = place.1 + (k as f64 + 0.5) * line;
        sample(panel, mark, (place.0, y), sheet, laid);
        let base = y + 0.5 * (ABOVE - BELOW) * small;
        laid.texts.push(Text::level(
            *name,
            (place.0 + (SAMPLE + SPACE) * unit, base),
            Anchor::Start,
            small,
        ));
    }
    true
}

/// Draws the legend in rows above the region, the lowest at the distance `above`. Returns the upper
/// end of the strip.
pub fn strip(
    panel: &Panel,
    entries: &[(&Mark, &str)],
    above: f64,
    room: f64,
    sheet: &Sheet,
    laid: &mut PanelLayout,
) -> f64 {
    let (unit, small) = (sheet.unit(), sheet.small());
    let (indent, line) = ((SAMPLE + SPACE) * unit, LINE * small);
    // Entries stand side by side; labels that are too wide are broken into lines.
    let blocks: Vec<(&Mark, Vec<String>)> =
        entries.iter().map(|e| (e.0, wrap(e.1, small, room - indent))).collect();
    let widths: Vec<f64> = blocks
        .iter()
        .map(|(_, lines)| indent + lines.iter().map(|l| width(l, small)).fold(0.0, f64::max))
        .collect();
    let rows = legend_rows(&widths, 8.0 * unit, room);
    let tall = |row: &Vec<(f64, usize)>| {
        row.iter().map(|(_, k)| blocks[*k].1.len()).max().unwrap_or(0) as f64 * line
    };
    let total: f64 = rows.iter().map(tall).sum();
    let mut top = -above - total;
    for row in &rows {
        for (x, k) in row {
            let (mark, lines) = &blocks[*k];
            sample(panel, mark, (*x, top + 0.5 * line), sheet, laid);
            for (j, text) in lines.iter().enumerate() {
                let base = top + (j as f64 + 0.5) * line + 0.5 * (ABOVE - BELOW) * small;
                laid.texts.push(Text::level(
                    text.as_str(),
                    (x + indent, base),
                    Anchor::Start,
                    small,
                ));
            }
        }
        top += tall(row);
    }
    above + total + 2.0 * unit
}

/// Arranges blocks of these widths in rows: in columns if this needs no more rows than a greedy
/// arrangement, otherwise greedily. Each block is given by its left edge and index.
pub fn legend_rows(widths: &[f64], gap: f64, room: f64) -> Vec<Vec<(f64, usize)>> {
    let mut filled: Vec<Vec<(f64, usize)>> = vec![Vec::new()];
    let mut x = 0.0;
    for (k, w) in widths.iter().enumerate() {
        if x > 0.0 && x + w > room {
            filled.push(Vec::new());
            x = 0.0;
        }
        if let Some(row) = filled.last_mut() {
            row.push((x, k));
        }
        x += w + gap;
    }
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let most = (((room + gap) / (widest + gap)) as usize).clamp(1, widths.len().max(1));
    let lines = widths.len().div_ceil(most);
    // A single column may need one row more than rows of one and two blocks.
    if lines > filled.len() + usize::from(most == 1) {
        return filled;
    }
    // Rows are as equal as possible: six blocks in four columns are three and three.
    let columns = widths.len().div_ceil(lines.max(1)).max(1);
    let places: Vec<(f64, usize)> =
        (0..widths.len()).map(|k| ((k % columns) as f64 * (widest + gap), k)).collect();
    places.chunks(columns).map(<[(f64, usize)]>::to_vec).collect()
}

/// Draws the sample of a mark, starting at `at`.
fn sample(panel: &Panel, mark: &Mark, at: Point, sheet: &Sheet, laid: &mut PanelLayout) {
    let (unit, theme) = (sheet.unit(), sheet.theme);
    let weight = unit * theme.stroke_scale();
    let middle = (at.0 + 0.5 * SAMPLE * unit, at.1);
    let ends = vec![at, (at.0 + SAMPLE * unit, at.1)];
    match mark {
        Mark::Line { colour, dash, label, .. } => {
            let strength = if *dash == Dash::Dotted { 0.8 } else { 1.0 };
            DashPattern::new(*dash, unit).walk(&ends, |path| {
                laid.path(path, theme.category(*colour), strength * weight, ShapeRole::Key)
            });
            let points = panel.marks.iter().find_map(|m| match m {
                Mark::Points { colour: c, radius, label, .. }
                    if c == colour && label.is_empty() =>
                {
                    Some(*radius)
                }
                _ => None,
            });
            let own = has_markers(panel, *colour, label).then_some(1.7);
            if let Some(radius) = own.or(points) {
                laid.shapes.push(marker(*colour, middle, radius * unit, sheet, ShapeRole::Key));
            }
        }
        Mark::Steps { colour, filled, .. } => {
            if *filled {
                let r = Rect {
                    left: at.0,
                    top: at.1 - 2.5 * unit,
                    right: at.0 + SAMPLE * unit,
                    bottom: at.1 + 2.5 * unit,
                };
                laid.fill(r, theme.tint(*colour), ShapeRole::Key);
                laid.path(
                    vec![(r.left, r.top), (r.right, r.top)],
                    theme.category(*colour),
                    0.9 * weight,
                    ShapeRole::Key,
                );
            } else {
                laid.path(ends, theme.category(*colour), 0.9 * weight, ShapeRole::Key);
            }
        }
        Mark::Points { colour, radius, .. } => {
            laid.shapes.push(marker(*colour, middle, radius * unit, sheet, ShapeRole::Key))
        }
        _ => {}
    }
}

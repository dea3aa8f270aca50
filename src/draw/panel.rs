//! Lays out one panel around its data region, whose upper left corner is the origin: axes, ticks,
//! title, labels, legend.

use super::axis::{Axis, Ticks};
use super::legend;
use super::marks::{DataRegion, draw};
use super::metrics::{ABOVE, BELOW, LINE, width, wrap};
use super::occupancy::OccupancyGrid;
use super::picture::{Mark, Panel};
use super::scene::{Anchor, PanelLayout, Point, Rect, ShapeRole, Text, centred};
use super::sheet::Sheet;

/// Length of a tick in units.
const TICK_LENGTH: f64 = 2.5;
/// Distance from a tick to its label in units.
const TICK_LABEL_GAP: f64 = 1.6;

/// Distance from the labels of ticks to the label of the axis in units.
const AXIS_LABEL_GAP: f64 = 3.2;

/// The space of a panel: its data region, and the free space on both sides.
#[derive(Clone, Copy, Debug)]
pub struct PanelSpace {
    /// Width of the data region.
    pub width: f64,
    /// Height of the data region.
    pub height: f64,
    /// Free space to the left.
    pub left: f64,
    /// Free space to the right.
    pub right: f64,
    /// Width for a legend above the region, measured from its left side.
    pub strip: f64,
}

/// A panel laid out around its data region, with the space it needs above and below.
pub struct ComposedPanel {
    /// Shapes and texts.
    pub laid: PanelLayout,
    /// The lines of its title.
    pub title: Vec<Text>,
    /// Space needed above the region.
    pub above: f64,
    /// Space needed below the region.
    pub below: f64,
}

/// Ticks of a vertical axis of this length.
fn vertical_ticks(axis: &Axis, length: f64, sheet: &Sheet) -> Ticks {
    let line = 1.35 * sheet.small();
    let most = ((length / line) as usize).clamp(2, 7);
    let apart = |t: &Ticks| {
        let places: Vec<f64> = t.major.iter().map(|(v, _)| axis.position(*v) * length).collect();
        places.windows(2).all(|p| (p[1] - p[0]).abs() > line)
    };
    choose(axis, most, apart)
}

/// Ticks of a horizontal axis of this length.
fn horizontal_ticks(axis: &Axis, length: f64, sheet: &Sheet) -> Ticks {
    let apart = |t: &Ticks| {
        let ends: Vec<(f64, f64)> = t
            .major
            .iter()
            .map(|(v, label)| (axis.position(*v) * length, 0.5 * width(label, sheet.small())))
            .map(|(at, half)| (at - half, at + half))
            .collect();
        ends.windows(2).all(|p| p[1].0 - p[0].1 > 3.0 * sheet.unit())
    };
    choose(axis, 8, apart)
}

/// The largest number of ticks whose labels do not touch.
fn choose(axis: &Axis, most: usize, apart: impl Fn(&Ticks) -> bool) -> Ticks {
    let mut ticks = axis.ticks(most);
    for fewer in (1..most).rev() {
        if apart(&ticks) && !ticks.major.is_empty() {
            break;
        }
        ticks = axis.ticks(fewer);
    }
    ticks
}

/// Width of the labels of the vertical axis, for a region of this height.
pub fn left_of(panel: &Panel, height: f64, sheet: &Sheet) -> f64 {
    if panel.hides_axes {
        return 0.0;
    }
    let unit = sheet.unit();
    let widest = vertical_ticks(&panel.y, height, sheet)
        .major
        .iter()
        .map(|(_, l)| width(l, sheet.small()))
        .fold(0.0, f64::max);
    let lines = wrap(&panel.y.label, sheet.font, height.max(30.0 * unit)).len();
    (TICK_LENGTH + TICK_LABEL_GAP + AXIS_LABEL_GAP) * unit
        + widest
        + lines as f64 * LINE * sheet.font
        + 1.5 * unit
}

/// Width of the last label of the horizontal axis to the right of a region of this width.
pub fn right_of(panel: &Panel, length: f64, sheet: &Sheet) -> f64 {
    if panel.hides_axes {
        return 0.0;
    }
    let over = |(v, label): &(f64, String)| {
        (panel.x.position(*v) - 1.0) * length + 0.5 * width(label, sheet.small())
    };
    horizontal_ticks(&panel.x, length, sheet)
        .major
        .iter()
        .map(over)
        .fold(4.0 * sheet.unit(), f64::max)
        + sheet.unit()
}

/// Lays out a panel.
pub fn compose(panel: &Panel, letter: &str, space: PanelSpace, sheet: &Sheet) -> ComposedPanel {
    let unit = sheet.unit();
    let area = Rect { left: 0.0, top: 0.0, right: space.width, bottom: space.height };
    let frame = DataRegion { x: &panel.x, y: &panel.y, area };
    let mut laid = PanelLayout::default();
    (0..panel.marks.len()).for_each(|k| draw(panel, k, &frame, sheet, &mut laid));
    let within =
        if panel.hides_axes { area.grown(0.5 * space.left.min(space.right)) } else { area };
    let mut taken = OccupancyGrid::new(within, 0.75 * unit);
    laid.shapes.iter().for_each(|s| taken.add(s));
    words(panel, &frame, &within, sheet, (&mut laid, &mut taken));
    let below = if panel.hides_axes { 3.0 * unit } else { axes(panel, &frame, sheet, &mut laid) };
    let entries = if panel.legend.is_some() { legend::entries(panel) } else { Vec::new() };
    // Type at the upper end of the axis reaches above the region.
    let mut above = 0.5 * sheet.font + unit;
    let legend_above =
        !entries.is_empty() && !legend::inside(panel, &entries, &area, &taken, sheet, &mut laid);
    if legend_above {
        above = legend::strip(panel, &entries, above, space.strip, sheet, &mut laid);
    }
    let start = if panel.hides_axes { 2.0 * unit - space.left } else { 0.0 };
    let lines = wrap(
        &format!("{letter}{}", panel.title),
        sheet.font,
        space.width + space.right - start - 2.0 * unit,
    );
    let line = |(k, line): (usize, &String)| {
        let base = -above - BELOW * sheet.font - (lines.len() - 1 - k) as f64 * LINE * sheet.font;
        Text::level(line.as_str(), (start, base), Anchor::Start, sheet.font)
    };
    let title = lines.iter().enumerate().map(line).collect();
    ComposedPanel { laid, title, above: above + lines.len() as f64 * LINE * sheet.font, below }
}

/// Draws axes with ticks and labels; returns the space needed below the region.
fn axes(panel: &Panel, f: &DataRegion, sheet: &Sheet, laid: &mut PanelLayout) -> f64 {
    let (unit, small, ink, a) = (sheet.unit(), sheet.small(), sheet.theme.foreground(), f.area);
    let fine = 0.5 * unit * sheet.theme.stroke_scale();
    let mut line = |from: Point, to: Point| laid.path(vec![from, to], ink, fine, ShapeRole::Border);
    line((a.left, a.bottom), (a.right, a.bottom));
    line((a.left, a.bottom), (a.left, a.top));
    let (across, up) =
        (horizontal_ticks(&panel.x, a.width(), sheet), vertical_ticks(&panel.y, a.height(), sheet));
    let inside = |s: f64| (-1e-9..=1.0 + 1e-9).contains(&s);
    let places = |axis: &Axis, values: Vec<f64>| {
        values.into_iter().map(|v| axis.position(v)).filter(|s| inside(*s)).collect::<Vec<_>>()
    };
    for (ticks, length) in
        [(across.minor.clone(), 0.55), (across.major.iter().map(|t| t.0).collect(), 1.0)]
    {
        for s in places(&panel.x, ticks) {
            let x = a.left + s * a.width();
            line((x, a.bottom), (x, a.bottom + length * TICK_LENGTH * unit));
        }
    }
    for (ticks, length) in [(up.minor.clone(), 0.55), (up.major.iter().map(|t| t.0).collect(), 1.0)]
    {
        for s in places(&panel.y, ticks) {
            let y = a.bottom - s * a.height();
            line((a.left, y), (a.left - length * TICK_LENGTH * unit, y));
        }
    }
    let base = a.bottom + (TICK_LENGTH + TICK_LABEL_GAP) * unit + ABOVE * small;
    for (v, label) in &across.major {
        laid.texts.push(Text::level(
            label.as_str(),
            (a.left + panel.x.position(*v) * a.width(), base),
            Anchor::Middle,
            small,
        ));
    }
    let end = a.left - (TICK_LENGTH + TICK_LABEL_GAP) * unit;
    let mut widest = 0.0f64;
    for (v, label) in &up.major {
        let y = a.bottom - panel.y.position(*v) * a.height() + 0.5 * (ABOVE - BELOW) * small;
        laid.texts.push(Text::level(label.as_str(), (end, y), Anchor::End, small));
        widest = widest.max(width(label, small));
    }
    let lines = wrap(&panel.y.label, sheet.font, a.height().max(30.0 * unit));
    for (k, text) in lines.iter().enumerate() {
        let x = end
            - widest
            - AXIS_LABEL_GAP * unit
            - BELOW * sheet.font
            - (lines.len() - 1 - k) as f64 * LINE * sheet.font;
        let at = (x, 0.5 * (a.top + a.bottom));
        laid.texts.push(Text {
            upwards: true,
            ..Text::level(text.as_str(), at, Anchor::Middle, sheet.font)
        });
    }
    let lines = wrap(&panel.x.label, sheet.font, a.width().max(30.0 * unit));
    let mut bottom = base + BELOW * small + unit - a.bottom;
    for text in &lines {
        let at = (0.5 * (a.left + a.right), a.bottom + bottom + unit + ABOVE * sheet.font);
        laid.texts.push(Text::level(text.as_str(), at, Anchor::Middle, sheet.font));
        bottom += LINE * sheet.font;
    }
    bottom + 2.0 * unit
}

/// Draws the texts of the data region: in the middle, and at positions, each near its position
/// where nothing else is drawn.
fn words(
    panel: &Panel,
    f: &DataRegion,
    within: &Rect,
    sheet: &Sheet,
    (laid, taken): (&mut PanelLayout, &mut OccupancyGrid),
) {
    let (unit, small) = (sheet.unit(), sheet.small());
    let named = |m: &Mark| if let Mark::Text { at, .. } = m { Some(f.position(*at)) } else { None };
    let places: Vec<Point> = panel.marks.iter().filter_map(named).collect();
    for mark in &panel.marks {
        let chosen = match mark {
            Mark::Middle(text) => {
                let (x, y) =
                    (0.5 * (f.area.left + f.area.right), 0.5 * (f.area.top + f.area.bottom));
                let lines = wrap(text, small, 0.75 * f.area.width());
                let first = y - 0.5 * (lines.len() - 1) as f64 * LINE * small
                    + 0.5 * (ABOVE - BELOW) * small;
                lines.iter().enumerate().for_each(|(k, l)| {
                    laid.texts.push(Text::level(
                        l.as_str(),
                        (x, first + k as f64 * LINE * small),
                        Anchor::Middle,
                        small,
                    ));
                });
                continue;
            }
            Mark::Text { at, text } => {
                let at = f.position(*at);
                let own = Text::level(
                    text.as_str(),
                    (at.0, at.1 + 0.5 * (ABOVE - BELOW) * small),
                    Anchor::Start,
                    small,
                );
                let chosen = near(&own, (at, &places), within, taken, unit);
                if leader(at, &chosen.bounds(), sheet, laid) {
                    laid.shapes.last().into_iter().for_each(|s| taken.add(s));
                }
                chosen
            }
            _ => continue,
        };
        taken.rect(&chosen.bounds());
        laid.texts.push(chosen);
    }
}

/// Draws a thin line from a position to its text if the text is far away. Returns true if it is
/// drawn.
fn leader(at: Point, word: &Rect, sheet: &Sheet, laid: &mut PanelLayout) -> bool {
    let end = (at.0.clamp(word.left, word.right), at.1.clamp(word.top, word.bottom));
    let length = (end.0 - at.0).hypot(end.1 - at.1);
    let far = length > 7.0 * sheet.unit();
    if far {
        let start = 4.0 * sheet.unit() / length;
        let from = (at.0 + start * (end.0 - at.0), at.1 + start * (end.1 - at.1));
        // The line ends before the text.
        let stop = 1.0 - sheet.unit() / length;
        let to = (at.0 + stop * (end.0 - at.0), at.1 + stop * (end.1 - at.1));
        laid.path(
            vec![from, to],
            sheet.theme.category(7),
            0.4 * sheet.unit() * sheet.theme.stroke_scale(),
            ShapeRole::Key,
        );
    }
    far
}

/// Distance of a point from a rectangle.
fn gap(r: &Rect, p: Point) -> f64 {
    (p.0 - p.0.clamp(r.left, r.right)).hypot(p.1 - p.1.clamp(r.top, r.bottom))
}

/// The text at its position, or at the nearest free position that is closer to its own point than
/// to the point of any other text. If there is none, a position closer to its own point is
/// preferred, then one that covers least.
fn near(
    own: &Text,
    (at, places): (Point, &[Point]),
    within: &Rect,
    taken: &OccupancyGrid,
    unit: f64,
) -> Text {
    let bounds = own.bounds();
    let (half, tall) = (0.5 * bounds.width(), 0.5 * bounds.height());
    let others: Vec<Point> =
        places.iter().copied().filter(|p| (p.0 - at.0).hypot(p.1 - at.1) > 1e-9).collect();
    let mut best: Option<((bool, usize), Text)> = None;
    for ring in 0..14 {
        let reach = 2.0 * unit * f64::from(ring);
        for turn in 0..16 {
            let (s, c) = (std::f64::consts::TAU * f64::from(turn) / 16.0).sin_cos();
            // The box touches a circle around its point from outside.
            let r = centred(&bounds, (at.0 + c * (half + reach), at.1 + s * (tall + reach)));
            if !within.holds(&r) {
                continue;
            }
            let astray = others.iter().any(|o| gap(&r, *o) < gap(&r, at) + unit);
            let cost = (astray, taken.count(&r.grown(unit)));
            if best.as_ref().is_none_or(|b| cost < b.0) {
                let by = (r.left - bounds.left, r.top - bounds.top);
                best = Some((cost, Text { at: (own.at.0 + by.0, own.at.1 + by.1), ..own.clone() }));
            }
            if cost == (false, 0) {
                return best.map_or_else(|| own.clone(), |b| b.1);
            }
        }
    }
    best.map_or_else(|| own.clone(), |b| b.1)
}

//! Lays out a picture on a sheet: panels in rows, colour bars below. The result is a pure function
//! of the data and the size.

use super::axis::Axis;
use super::metrics::{ABOVE, BELOW, LINE, wrap};
use super::palette::sequential;
use super::panel::{ComposedPanel, PanelSpace, compose, left_of, right_of};
use super::picture::{Mark, Picture};
use super::scene::{Anchor, PanelLayout, Rect, Scene, ShapeRole, Text};
use super::sheet::Sheet;
use crate::error::{Error, Result};

/// Smallest width of a data region in units: without axes, with axes, and with axes if there are
/// fewer than four panels.
const MIN_REGION_WIDTHS: (f64, f64, f64) = (50.0, 70.0, 92.0);
/// Largest ratio of height to width of panels that are moved below each other.
const FLATTENED: f64 = 0.62;

/// Lays out a picture.
///
/// **Errors** a height that leaves no room for the panels.
pub fn layout(picture: &Picture, sheet: &Sheet) -> Result<Scene> {
    let grid = Grid::new(picture, sheet);
    let mut scene = grid.scene(1.0);
    let Some(height) = sheet.height else { return Ok(scene) };
    // Type and gaps keep their size, and panels take the rest. A few rounds are needed because
    // legends may move.
    let mut stretch = 1.0;
    for _ in 0..12 {
        let panels: f64 = grid.natural.iter().sum();
        stretch += (height - scene.height) / panels;
        if stretch * grid.natural.iter().copied().fold(f64::INFINITY, f64::min)
            < 20.0 * sheet.unit()
        {
            let expected = "a larger height: the labels of its panels leave no room for data";
            return Err(Error::parameter(
                "figure size",
                format!("{:.0} mm high", height / 72.0 * 25.4),
                expected,
            ));
        }
        scene = grid.scene(stretch);
        if (scene.height - height).abs() < 0.05 {
            break;
        }
    }
    if scene.height > height + 0.5 {
        return Err(Error::parameter(
            "figure size",
            format!("{:.0} mm high", height / 72.0 * 25.4),
            "a larger height",
        ));
    }
    scene.height = height;
    Ok(scene)
}

/// Panels in rows.
struct Grid<'p> {
    picture: &'p Picture,
    sheet: &'p Sheet,
    /// Panels of each row.
    rows: Vec<Vec<usize>>,
    /// Panels of a full row.
    columns: usize,
    /// Heights of the data regions of the rows.
    natural: Vec<f64>,
}

impl<'p> Grid<'p> {
    fn new(picture: &'p Picture, sheet: &'p Sheet) -> Self {
        let (unit, count) = (sheet.unit(), picture.panels.len().max(1));
        let bare = picture.panels.iter().all(|p| p.hides_axes);
        let needed = match count {
            _ if bare => MIN_REGION_WIDTHS.0 + 6.0,
            4.. => MIN_REGION_WIDTHS.1 + 44.0,
            _ => MIN_REGION_WIDTHS.2 + 44.0,
        };
        let wanted = picture.columns.clamp(1, count);
        let most = ((sheet.width / (needed * unit)) as usize).max(1);
        // If a row does not fit, full rows are halved, so that the panels of a row stay together.
        let halved = (1..=most).rev().find(|c| wanted.is_multiple_of(*c)).unwrap_or(1);
        let columns =
            if count > wanted && count.is_multiple_of(wanted) { halved } else { wanted.min(most) };
        // Rows are as equal as possible: five panels in four columns are three and two.
        let lines = count.div_ceil(columns);
        let columns = count.div_ceil(lines);
        let start = |row: usize| row * (count / lines) + row.min(count % lines);
        let rows: Vec<Vec<usize>> = (0..lines)
            .map(|r| (start(r)..start(r + 1).min(picture.panels.len())).collect())
            .collect();
        let cell = sheet.width / columns as f64;
        let aspect =
            if columns == 1 && wanted > 1 { picture.aspect.min(FLATTENED) } else { picture.aspect };
        let height = |row: &Vec<usize>| {
            if row.iter().all(|k| picture.panels[*k].hides_axes) {
                cell - 6.0 * unit
            } else {
                (cell - 46.0 * unit) * aspect
            }
        };
        Self { picture, sheet, natural: rows.iter().map(height).collect(), rows, columns }
    }

    /// Left edges and widths of the cells in a row. Panels with axes fill the row, unless they are
    /// compared with panels of a longer row; panels without axes keep their width and are centred.
    fn cells(&self, row: &[usize]) -> Vec<(f64, f64)> {
        let bare = row.iter().all(|k| self.picture.panels[*k].hides_axes);
        let count = row.len() as f64;
        let compared = !bare && self.is_compared(row);
        let wide = self.sheet.width / if bare || compared { self.columns as f64 } else { count };
        let start = if compared { 0.0 } else { 0.5 * (self.sheet.width - wide * count) };
        (0..row.len()).map(|c| (start + wide * c as f64, wide)).collect()
    }

    /// True if a panel of this row has the axes of a panel in a longer row: equal scales are
    /// compared at equal widths.
    fn is_compared(&self, row: &[usize]) -> bool {
        let labels = |k: usize| {
            let panel = &self.picture.panels[k];
            (&panel.x.label, &panel.y.label)
        };
        let longer = self.rows.iter().filter(|other| other.len() > row.len()).flatten();
        longer.into_iter().any(|k| row.iter().any(|own| labels(*own) == labels(*k)))
    }

    fn scene(&self, stretch: f64) -> Scene {
        let sheet = self.sheet;
        let mut panels = Vec::new();
        let mut top = sheet.unit();
        for (r, row) in self.rows.iter().enumerate() {
            let height = stretch * self.natural[r];
            let cells = self.cells(row);
            let panel = |c: usize| {
                let margin = self.margin(c, row.len(), stretch);
                self.panel(row[c], cells[c], margin, height)
            };
            let composed: Vec<(f64, f64, ComposedPanel)> = (0..row.len()).map(panel).collect();
            let above = composed.iter().map(|c| c.2.above).fold(0.0, f64::max);
            let below = composed.iter().map(|c| c.2.below).fold(0.0, f64::max);
            for (x, down, mut c) in composed {
                // Titles of a row start at the same height.
                let up = above - c.above;
                c.laid
                    .texts
                    .extend(c.title.into_iter().map(|t| Text { at: (t.at.0, t.at.1 - up), ..t }));
                panels.push(c.laid.moved((x, top + above + down)));
            }
            top += above + height + below + sheet.unit();
        }
        let mut bars = PanelLayout::default();
        for shade in self.shades() {
            top = bar(shade, top, sheet, &mut bars);
        }
        panels.push(bars);
        Scene {
            width: sheet.width,
            height: top + sheet.unit(),
            background: sheet.theme.background(),
            foreground: sheet.theme.foreground(),
            panels,
        }
    }

    /// Room to the left of the regions of a column, common to all panels in the column.
    fn margin(&self, column: usize, count: usize, stretch: f64) -> f64 {
        let same = self.rows.iter().zip(&self.natural).filter(|(row, _)| row.len() == count);
        same.map(|(row, h)| left_of(&self.picture.panels[row[column]], stretch * h, self.sheet))
            .fold(0.0, f64::max)
    }

    /// The position of the region of a panel in its cell, and the panel.
    fn panel(
        &self,
        k: usize,
        (start, wide): (f64, f64),
        margin: f64,
        height: f64,
    ) -> (f64, f64, ComposedPanel) {
        let (panel, unit) = (&self.picture.panels[k], self.sheet.unit());
        let letter = if self.picture.panels.len() > 1 {
            format!("({}) ", char::from(b'a' + (k % 26) as u8))
        } else {
            String::new()
        };
        if panel.hides_axes {
            let side = (wide - 6.0 * unit).min(height);
            let left = 0.5 * (wide - side);
            let room = PanelSpace {
                width: side,
                height: side,
                left,
                right: left,
                strip: side + left - 2.0 * unit,
            };
            return (
                start + left,
                0.5 * (height - side),
                compose(panel, &letter, room, self.sheet),
            );
        }
        let right = right_of(panel, wide - margin - 5.0 * unit, self.sheet);
        let strip = wide - margin - 2.0 * unit;
        let room = PanelSpace { width: wide - margin - right, height, left: margin, right, strip };
        (start + margin, 0.0, compose(panel, &letter, room, self.sheet))
    }

    /// The distinct colour scales.
    fn shades(&self) -> Vec<&Axis> {
        let mut out: Vec<&Axis> = Vec::new();
        for mark in self.picture.panels.iter().flat_map(|p| &p.marks) {
            if let Mark::Heat { shade, .. } = mark
                && !out.contains(&shade)
            {
                out.push(shade);
            }
        }
        out
    }
}

/// Draws a colour bar below everything else; returns its lower end.
fn bar(shade: &Axis, top: f64, sheet: &Sheet, laid: &mut PanelLayout) -> f64 {
    let (unit, small) = (sheet.unit(), sheet.small());
    let wide = (0.6 * sheet.width).min(240.0 * unit);
    let left = 0.5 * (sheet.width - wide);
    let (high, low) = (top + 2.0 * unit, top + 8.0 * unit);
    let pieces = 96;
    for k in 0..pieces {
        let at = |k: i32| left + wide * f64::from(k) / f64::from(pieces);
        let colour = sequential((f64::from(k) + 0.5) / f64::from(pieces));
        laid.fill(
            Rect { left: at(k), top: high, right: at(k + 1), bottom: low },
            colour,
            ShapeRole::Key,
        );
    }
    let base = low + 4.0 * unit + ABOVE * small;
    for (v, label) in shade.ticks(5).major {
        let x = left + shade.position(v) * wide;
        laid.path(
            vec![(x, low), (x, low + 2.5 * unit)],
            sheet.theme.foreground(),
            0.5 * unit * sheet.theme.stroke_scale(),
            ShapeRole::Border,
        );
        laid.texts.push(Text::level(label, (x, base), Anchor::Middle, small));
    }
    let mut bottom = base + BELOW * small + unit;
    for line in wrap(&shade.label, sheet.font, sheet.width - 8.0 * unit) {
        laid.texts.push(Text::level(
            line,
            (0.5 * sheet.width, bottom + ABOVE * sheet.font),
            Anchor::Middle,
            sheet.font,
        ));
        bottom += LINE * sheet.font;
    }
    bottom + 2.0 * unit
}

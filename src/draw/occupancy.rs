//! Occupancy of a panel: a grid of cells, each one unit wide, that tells where something is drawn.

use super::scene::{Outline, Point, Rect, Shape, ShapeRole};

/// The occupied cells of an area.
pub struct OccupancyGrid {
    area: Rect,
    cell: f64,
    columns: usize,
    rows: usize,
    taken: Vec<bool>,
}

impl OccupancyGrid {
    /// An empty grid for this area.
    pub fn new(area: Rect, cell: f64) -> Self {
        let count = |length: f64| (length / cell).ceil().max(1.0) as usize;
        let (columns, rows) = (count(area.width()), count(area.height()));
        Self { area, cell, columns, rows, taken: vec![false; columns * rows] }
    }

    /// Marks the cells of a shape as occupied; rasters occupy no cells.
    pub fn add(&mut self, shape: &Shape) {
        if shape.role == ShapeRole::Raster {
            return;
        }
        match &shape.form {
            Outline::Path(points) => {
                points.windows(2).for_each(|side| self.segment(side[0], side[1]))
            }
            Outline::Polygon(points) => {
                let fold = |f: fn(f64, f64) -> f64, g: fn(&Point) -> f64| {
                    points.iter().map(g).reduce(f).unwrap_or(0.0)
                };
                self.rect(&Rect {
                    left: fold(f64::min, |p| p.0),
                    top: fold(f64::min, |p| p.1),
                    right: fold(f64::max, |p| p.0),
                    bottom: fold(f64::max, |p| p.1),
                });
            }
            Outline::Box(r) => self.rect(r),
            Outline::Disc(c, r) if shape.role == ShapeRole::Border => {
                let ring = (0..=120)
                    .map(|k| (std::f64::consts::TAU * f64::from(k) / 120.0).sin_cos())
                    .map(|(s, k)| (c.0 + r * k, c.1 + r * s));
                ring.collect::<Vec<_>>().windows(2).for_each(|side| self.segment(side[0], side[1]));
            }
            Outline::Disc(c, r) => {
                self.rect(&Rect { left: c.0 - r, top: c.1 - r, right: c.0 + r, bottom: c.1 + r })
            }
        }
    }

    fn segment(&mut self, a: Point, b: Point) {
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let pieces = (2.0 * length / self.cell).ceil().max(1.0);
        for k in 0..=pieces as usize {
            let s = k as f64 / pieces;
            let (x, y) = (a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1));
            self.rect(&Rect { left: x, top: y, right: x, bottom: y });
        }
    }

    /// Marks the cells that meet a rectangle.
    pub fn rect(&mut self, r: &Rect) {
        let Some(((c0, c1), (r0, r1))) = self.cells(r) else { return };
        for row in r0..=r1 {
            self.taken[row * self.columns + c0..=row * self.columns + c1].fill(true);
        }
    }

    /// The number of occupied cells in a rectangle.
    pub fn count(&self, r: &Rect) -> usize {
        let Some(((c0, c1), (r0, r1))) = self.cells(r) else { return 0 };
        (r0..=r1)
            .map(|row| {
                self.taken[row * self.columns + c0..=row * self.columns + c1]
                    .iter()
                    .filter(|t| **t)
                    .count()
            })
            .sum()
    }

    /// The ranges of columns and rows of a rectangle.
    fn cells(&self, r: &Rect) -> Option<((usize, usize), (usize, usize))> {
        if r.right < self.area.left
            || r.left > self.area.right
            || r.bottom < self.area.top
            || r.top > self.area.bottom
        {
            return None;
        }
        let index = |v: f64, from: f64, count: usize| {
            (((v - from) / self.cell).max(0.0) as usize).min(count - 1)
        };
        Some((
            (
                index(r.left, self.area.left, self.columns),
                index(r.right, self.area.left, self.columns),
            ),
            (index(r.top, self.area.top, self.rows), index(r.bottom, self.area.top, self.rows)),
        ))
    }
}

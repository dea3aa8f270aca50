//! Frames of a movie of tokens.

use crate::cli::output::{counted, rounded};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};

/// The data of one frame.
pub struct Frame {
    pub t: f64,
    /// Coordinates of all tokens.
    pub x: Vec<f64>,
    pub clusters: Option<f64>,
    /// The observable.
    pub value: Option<f64>,
}

/// The data of all frames.
pub struct TokenMovie {
    pub frames: Vec<Frame>,
    pub d: usize,
    /// Inverse temperature or interaction.
    pub title: String,
    /// The first time after 0.
    pub t_first: f64,
    pub observable: String,
    /// True if the energy is divided by its maximum.
    pub relative: bool,
}

impl TokenMovie {
    /// Frame k: the tokens, and next to them the curve of the observable up to this time.
    pub fn picture(&self, k: usize) -> Picture {
        let frame = &self.frames[k];
        let mut panels = vec![self.tokens(frame)];
        if frame.value.is_some() {
            panels.push(self.curve(k));
        }
        let columns = panels.len();
        Picture { panels, columns, aspect: 0.8, caption: String::new() }
    }

    fn tokens(&self, frame: &Frame) -> Panel {
        let mut panel = Panel::new(
            format!("t = {}", rounded(frame.t, 4)),
            Axis::linear("", -1.25, 1.25),
            Axis::linear("", -1.25, 1.25),
        );
        panel.hides_axes = true;
        panel.marks.push(Mark::Circle);
        let view = |p: &[f64]| match *p {
            [x, y] => (x, y, 1.0),
            // The sphere seen from a little above; the colour tells front from back.
            [x, y, z] => (x, 0.94 * z + 0.34 * y, 0.94 * y - 0.34 * z),
            _ => (0.0, 0.0, 1.0),
        };
        let projected: Vec<(f64, f64, f64)> = frame.x.chunks(self.d).map(view).collect();
        for (front, colour) in [(false, 1), (true, 0)] {
            let points =
                projected.iter().filter(|p| (p.2 >= 0.0) == front).map(|p| (p.0, p.1)).collect();
            panel.marks.push(Mark::Points { points, colour, radius: 1.8, label: String::new() });
        }
        if let Some(clusters) = frame.clusters {
            let text = counted(clusters as usize, "cluster");
            panel.marks.push(if self.d == 2 {
                Mark::Middle(text)
            } else {
                Mark::Text { at: (-0.4, -1.22), text }
            });
        }
        panel
    }

    /// The observable over log time: dotted over the whole run, solid up to frame k.
    fn curve(&self, k: usize) -> Panel {
        let path: Vec<(f64, f64)> = self
            .frames
            .iter()
            .filter(|r| r.t > 0.0)
            .filter_map(|r| Some((r.t, r.value?)))
            .collect();
        let drawn = self.frames[..=k].iter().filter(|r| r.t > 0.0).count();
        let (low, high) = if self.observable == "energy" {
            (0.0, 1.05)
        } else {
            let span = path
                .iter()
                .filter(|p| p.1.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |s, p| (s.0.min(p.1), s.1.max(p.1)));
            let margin = 0.05 * (span.1 - span.0).max(1e-12 * span.1.abs()).max(1e-300);
            (span.0 - margin, span.1 + margin)
        };
        let relative = self.relative && self.observable == "energy";
        let label = if relative { "energy / maximum" } else { &self.observable };
        let last = path.last().map_or(1.0, |p| p.0);
        let title = format!("{}, n = {}", self.title, self.frames[k].x.len() / self.d);
        let mut panel =
            Panel::new(title, Axis::log("t", self.t_first, last), Axis::linear(label, low, high));
        let (past, now) = (path[..drawn].to_vec(), path[..drawn].last().copied());
        panel.line(path, 2, Dash::Dotted, "");
        panel.line(past, 0, Dash::Solid, "");
        panel.marks.extend(now.map(|p| Mark::Points {
            points: vec![p],
            colour: 1,
            radius: 2.5,
            label: String::new(),
        }));
        panel
    }
}

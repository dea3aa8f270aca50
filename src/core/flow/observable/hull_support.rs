//! Support functions of the convex hull of the tokens.

use super::Observable;
use crate::num::sum::dot;
use std::f64::consts::TAU;

/// Number of directions in the plane; in more dimensions both directions of every axis.
const DIRECTIONS: usize = 16;

fn directions(d: usize) -> Vec<Vec<f64>> {
    if d == 2 {
        return (0..DIRECTIONS)
            .map(|k| TAU * k as f64 / DIRECTIONS as f64)
            .map(|t| vec![t.cos(), t.sin()])
            .collect();
    }
    let axis = |k: usize| {
        (0..d).map(|c| if c == k / 2 { 1.0 - 2.0 * (k % 2) as f64 } else { 0.0 }).collect()
    };
    (0..2 * d).map(axis).collect()
}

/// `h_w = max_i <w, x_i>` for fixed directions w: nonincreasing if the tokens move into their
/// convex hull.
pub static ENTRY: Observable = Observable {
    name: "hull-support",
    summary: "Support functions max_i <w, x_i>: 16 equally spaced directions for d = 2, else both directions of every axis.",
    needs_unit_vectors: false,
    columns: |s| {
        (0..if s.d == 2 { DIRECTIONS } else { 2 * s.d }).map(|k| format!("support_{k}")).collect()
    },
    measure: |s, frame, row| {
        let support =
            |w: &Vec<f64>| frame.tokens.rows().map(|r| dot(w, r)).fold(f64::NEG_INFINITY, f64::max);
        row.extend(directions(s.d).iter().map(support));
    },
    batch: None,
};

//! Attention in R^d of a Gaussian law, which stays Gaussian, compared with particles
//! (arXiv:2501.18322).

use super::{PaperFigure, distinct, only, series};
use crate::attention::Spec;
use crate::attention::kernel::KernelChoice;
use crate::attention::model::Model;
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::sphere::Tokens;
use crate::study::{Part, Study, Tables, Values, table};
use crate::theory::gaussian::{blow_up, variance};
use statrs::distribution::{ContinuousCDF, Normal};

/// The Gaussian closure of attention in `R^d` (arXiv:2501.18322) compared with particles: decay for
/// V = -I, blow-up for V = I.
///
/// Tables: closure, particles.
pub static STUDY: Study = Study {
    name: "gaussian-closure",
    title: "Gaussian closure: variances against quantile tokens, and the time of blow-up",
    citation: "arXiv:2501.18322 (abstract); equations derived",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// The two value matrices V.
pub const VALUES: [&str; 2] = ["V=-I", "V=I"];

/// Factor of the scores.
pub const B: f64 = 0.5;

/// Numbers of tokens.
pub const TOKENS: [usize; 2] = [4000, 1000];

/// Variances at the start.
pub const STARTS: [f64; 2] = [1.0, 0.5];

fn run(_: &Values) -> Result<Tables> {
    let mut closure = table(&["value", "s0", "t", "variance"]).with_labels("value", VALUES);
    let mut particles = table(&["value", "s0", "n", "t", "variance"]).with_labels("value", VALUES);
    for (case, v) in [-1.0, 1.0].into_iter().enumerate() {
        for s0 in STARTS {
            let end = blow_up(s0, B, v).unwrap_or(2.0).min(2.0);
            for k in 0..=120 {
                let t = end * f64::from(k) / 120.0;
                closure.rows.extend(variance(s0, B, v, t).map(|s| vec![case as f64, s0, t, s]));
            }
            // Finitely many tokens leave the closure, the smaller sample first.
            for n in TOKENS {
                let times: Vec<f64> = (0..=10).map(|k| end * f64::from(k) / 10.0).collect();
                for (t, s) in times.iter().zip(variances(n, s0, v, &times)?) {
                    particles.rows.push(vec![case as f64, s0, n as f64, *t, s]);
                }
            }
        }
    }
    Ok(vec![("closure".into(), closure), ("particles".into(), particles)])
}

/// Variances over time of n tokens that start at the quantiles of a normal law of variance s0.
///
/// **Errors** a run that does not reach its end.
pub fn variances(n: usize, s0: f64, v: f64, times: &[f64]) -> Result<Vec<f64>> {
    let law = Normal::new(0.0, s0.sqrt()).map_err(|e| Error::Numerical { what: e.to_string() })?;
    let x = (0..n).map(|i| law.inverse_cdf((i as f64 + 0.5) / n as f64)).collect();
    let model = Model {
        normalisation: Some("none".into()),
        heads: vec![[None, None, Some((1, vec![v])), None]],
        ..Model::default()
    };
    let spec = Spec { accuracy: 1e-8, kernel: KernelChoice::Auto, ..Spec::new(B, n) };
    let dynamics = model.build("sa", false, &spec, 1)?;
    let (mut x, mut now, mut out) = (Tokens::flat(1, x)?, 0.0, Vec::new());
    for t in times {
        if *t > now {
            let end = solve(
                &dynamics,
                &x,
                t - now,
                &Options { rtol: 1e-7, merge_radius: 0.0, ..Options::default() },
                &mut [],
            )?;
            if !end.outcome.end_state_is_known() {
                return Err(Error::Numerical { what: end.outcome.to_string() });
            }
            (x, now) = (end.clusters, *t);
        }
        out.push(x.numbers().iter().map(|x| x * x).sum::<f64>() / n as f64);
    }
    Ok(out)
}

/// Decay and blow-up of variances: the closed equation, and finitely many tokens.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "gaussian-closure",
    title: "Gaussian closure: variances, blow-up, and finitely many tokens",
    study: Some(&PART),
    draw: |inputs| {
        let (closure, particles) = (inputs.table("closure")?, inputs.table("particles")?);
        let mut panels = Vec::new();
        let shown = [("V = \u{2212}I", 1.2, Corner::TopRight), ("V = I", 60.0, Corner::TopLeft)];
        for (value, (title, high, corner)) in VALUES.into_iter().zip(shown) {
            let mut panel =
                Panel::new(title, Axis::linear("t", 0.0, 2.05), Axis::log("variance", 0.24, high));
            let (lines, dots) = (closure.only("value", value), particles.only("value", value));
            for (k, s0) in distinct(&lines, "s0").into_iter().enumerate() {
                let line = series(&only(&lines, "s0", s0), "t", "variance");
                panel.line(
                    line,
                    2 * k,
                    [Dash::Solid, Dash::Dashed][k % 2],
                    format!("closure from {s0}"),
                );
                let rows = only(&dots, "s0", s0);
                for (j, n) in distinct(&rows, "n").into_iter().enumerate() {
                    let label = if k == 0 { format!("{n} tokens") } else { String::new() };
                    panel.points(
                        series(&only(&rows, "n", n), "t", "variance"),
                        1 + 2 * j,
                        2.0,
                        label,
                    );
                }
            }
            panel.legend = Some(corner);
            panels.push(panel);
        }
        let caption = "x_i' = v E[x_j] on the line with scores x y / 2, from normal laws of \
            variance 1 and 1/2: s(t) = s/(1 - v s t), which for V = I is infinite at t = 1/s, and \
            tokens that start at quantiles. Finitely many tokens leave the closure before the \
            blow-up, the fewer the earlier.";
        Ok(Picture { panels, columns: 2, aspect: 1.0, caption: caption.into() })
    },
    ..PaperFigure::EMPTY
};

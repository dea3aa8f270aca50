//! Theorems that guarantee convergence to one cluster, for a given start or for almost every start.
//!
//! The hemisphere theorem and `d >= n` use positions of tokens; the others concern the energy
//! landscape of equal masses.

use super::threshold;
use crate::error::format_number;
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
};

/// A theorem, and whether its hypothesis holds for a start.
#[derive(Clone, Debug, PartialEq)]
pub struct TheoremCheck {
    /// Conclusion of the theorem.
    pub statement: String,
    /// True if the conclusion is about the given start, false if it is about almost every start.
    pub this_start: bool,
    /// Whether the hypothesis holds.
    pub holds: bool,
    /// The hypothesis with its parameters and their values: `d = 3 >= 3 and beta = 9 >= 0` if it
    /// holds, `needs d >= 3 and beta >= 0: d = 2, beta = 9` if it fails.
    pub hypothesis: String,
    /// Paper and number of the theorem.
    pub citation: &'static str,
}

/// Checks the convergence theorems for attention with Q = K = V = I (SA and USA) on these tokens.
/// Also returns the centre and the margin of an open hemisphere that contains them, if one is
/// found.
///
/// **Accuracy** the hemisphere test rejects margins up to `16 d eps`, which exceeds the rounding
/// error of an inner product of d terms. So a hemisphere that is found does contain the tokens.
/// **Cost** that of [`hemisphere`].
///
/// ```
/// use metastable::{sphere::Tokens, theory::convergence_criteria::check_theorems};
/// let pair = Tokens::from_angles(&[0.1, 2.0]).unwrap();
/// assert!(check_theorems(&pair, 4.0).0.iter().any(|d| d.this_start && d.holds));
/// let triangle = Tokens::from_angles(&[0.0, 2.1, 4.2]).unwrap();
/// assert!(check_theorems(&triangle, 4.0).0.iter().all(|d| !(d.this_start && d.holds)));
/// // A hypothesis shows names and values.
/// assert!(check_theorems(&triangle, 4.0).0.iter().any(|d| d.holds && d.hypothesis == "d = 2 and beta = 4 >= -0.16"));
/// ```
pub fn check_theorems(x: &Tokens, beta: f64) -> (Vec<TheoremCheck>, Option<(Vec<f64>, f64)>) {
    let (n, d) = (x.n(), x.d());
    let open = match hemisphere(x) {
        Hemisphere::Open { w, margin, .. } => Some((w, margin)),
        Hemisphere::None { .. } => None,
    };
    let one_point = "almost every start converges to one point";
    let cap = match &open {
        Some((_, m)) if *m < 1e-3 => {
            format!("all tokens lie in an open hemisphere: min <x_i, w> = {m:.3e} > 0")
        }
        Some((_, m)) => format!("all tokens lie in an open hemisphere: min <x_i, w> = {m:.4} > 0"),
        None => "all tokens lie in an open hemisphere: none was found".to_owned(),
    };
    // The landscape theorems assume equal masses.
    let equal = x.uniform_mass().is_some();
    let landscape = |met: bool, hypothesis: String, citation| {
        let masses = if equal { "" } else { "; it needs equal masses, and these are not" };
        almost_every_start(met && equal, one_point, format!("{hypothesis}{masses}"), citation)
    };
    let b = format_number(beta);
    let geometry = "almost every start lies in an open hemisphere and converges to one point";
    let wide = if d >= n {
        format!("d = {d} >= n = {n}")
    } else {
        format!("needs d >= n: d = {d}, n = {n}")
    };
    let sphere = d >= 3 && beta >= 0.0;
    let on_sphere = if sphere {
        format!("d = {d} >= 3 and beta = {b} >= 0")
    } else {
        format!("needs d >= 3 and beta >= 0: d = {d}, beta = {b}")
    };
    let circle = d == 2 && beta >= -0.16;
    let on_circle = if circle {
        format!("d = 2 and beta = {b} >= -0.16")
    } else {
        format!("needs d = 2 and beta >= -0.16: d = {d}, beta = {b}")
    };
    let all = vec![
        TheoremCheck {
            statement: "this start converges to one point, exponentially fast".into(),
            this_start: true,
            holds: open.is_some(),
            hypothesis: cap,
            citation: "arXiv:2312.10794, Lemma 6.4",
        },
        almost_every_start(d >= n, geometry, wide, "arXiv:2312.10794, Theorem 6.3"),
        landscape(sphere, on_sphere, "arXiv:2312.10794, Theorem 6.1"),
        landscape(circle, on_circle, "arXiv:2507.22857"),
        landscape(
            beta >= 0.0 && beta < threshold::small_beta(n),
            small_beta_hypothesis(beta, n),
            "arXiv:2312.10794, Theorem 4.3 (its constant C/n is not given: this one is derived in the claim small-beta-blocks)",
        ),
        landscape(
            beta > threshold::sharp(n, d) && beta > 0.0,
            large_beta_hypothesis(beta, n, d),
            "arXiv:2312.10794, Theorem 5.1 (its constant is not given: this one is that of the chains of its proof, in the claim large-beta-chains)",
        ),
    ];
    (all, open)
}

/// The check of a theorem about almost every start.
fn almost_every_start(
    holds: bool,
    statement: &str,
    hypothesis: String,
    citation: &'static str,
) -> TheoremCheck {
    TheoremCheck { statement: statement.into(), this_start: false, holds, hypothesis, citation }
}

/// A threshold rounded to six digits, or with all digits if rounding would move it to the other
/// side of `beta`.
#[doc(hidden)]
pub fn rounded_threshold(threshold: f64, beta: f64) -> String {
    // An infinite threshold is not rounded.
    let digits = if threshold.is_finite() {
        format!("{threshold:.5e}").parse().unwrap_or(threshold)
    } else {
        threshold
    };
    let same = (beta < digits) == (beta < threshold) && (beta > digits) == (beta > threshold);
    format_number(if same { digits } else { threshold })
}

/// The hypothesis of the theorem for small beta, with its values.
fn small_beta_hypothesis(beta: f64, n: usize) -> String {
    let (least, b) = (threshold::small_beta(n), format_number(beta));
    if least == f64::INFINITY {
        return if beta >= 0.0 {
            format!("n = {n} and beta = {b} >= 0")
        } else {
            format!("n = {n} needs beta >= 0: beta = {b}")
        };
    }
    let constant = format!("log(n/(n-2))/2 for n = {n}, a little above 1/n");
    let small = rounded_threshold(least, beta);
    if beta >= 0.0 && beta < least {
        format!("0 <= beta = {b} < {small} ({constant})")
    } else {
        format!("needs 0 <= beta < {small} ({constant}): beta = {b}")
    }
}

/// The hypothesis of the theorem for large beta, with its values.
fn large_beta_hypothesis(beta: f64, n: usize, d: usize) -> String {
    let (least, b) = (threshold::sharp(n, d), format_number(beta));
    let constant = format!(
        "the threshold C n^2 of Theorem 5.1 for n = {n} and d = {d}, with the constant of its proof"
    );
    let large = rounded_threshold(least, beta);
    if beta > least && beta > 0.0 {
        format!("beta = {b} > {large} ({constant})")
    } else {
        format!("needs beta > {large} ({constant}): beta = {b}")
    }
}

//! Which theorems already decide where a start ends: one cluster for this start, or for almost every start.
//!
//! The hemisphere and `d >= n` are about positions; the others are about the landscape of equal masses.

use super::threshold;
use crate::error::show;
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
};

/// A theorem that says something about a start.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What it says.
    pub statement: String,
    /// True when it is about this very start, false for almost every one.
    pub this_start: bool,
    /// Its hypothesis holds.
    pub holds: bool,
    /// The hypothesis with its parameters and their values: `d = 3 >= 3 and beta = 9 >= 0` where it holds, `needs d >= 3 and beta >= 0: d = 2, beta = 9`
    /// where it fails.
    pub hypothesis: String,
    /// Paper and number.
    pub citation: &'static str,
}

/// The theorems about attention with Q = K = V = I (SA and USA) for these tokens, and the hemisphere that holds them, if any.
///
/// **Accuracy** the hemisphere test counts margins up to `16 d eps` as none, which is more than an inner product of d terms can err: where it finds one, the
/// given numbers lie in it. **Cost** that of [`hemisphere`].
///
/// ```
/// use metastable::{sphere::Tokens, theory::certain::decisions};
/// let pair = Tokens::from_angles(&[0.1, 2.0]).unwrap();
/// assert!(decisions(&pair, 4.0).0.iter().any(|d| d.this_start && d.holds));
/// let triangle = Tokens::from_angles(&[0.0, 2.1, 4.2]).unwrap();
/// assert!(decisions(&triangle, 4.0).0.iter().all(|d| !(d.this_start && d.holds)));
/// // Names stand beside values.
/// assert!(decisions(&triangle, 4.0).0.iter().any(|d| d.holds && d.hypothesis == "d = 2 and beta = 4 >= -0.16"));
/// ```
pub fn decisions(x: &Tokens, beta: f64) -> (Vec<Decision>, Option<(Vec<f64>, f64)>) {
    let (n, d) = (x.n(), x.d());
    let open = match hemisphere(x) {
        Hemisphere::Open { w, margin, .. } => Some((w, margin)),
        Hemisphere::None { .. } => None,
    };
    let one = "almost every start converges to one point";
    let cap = match &open {
        Some((_, m)) if *m < 1e-3 => format!("all tokens lie in an open hemisphere: min <x_i, w> = {m:.3e} > 0"),
        Some((_, m)) => format!("all tokens lie in an open hemisphere: min <x_i, w> = {m:.4} > 0"),
        None => "all tokens lie in an open hemisphere: none was found".to_owned(),
    };
    // The landscape theorems are those of equal masses.
    let equal = x.uniform_mass().is_some();
    let landscape = |met: bool, hypothesis: String, citation| {
        let masses = if equal { "" } else { "; it needs equal masses, and these are not" };
        almost(met && equal, one, format!("{hypothesis}{masses}"), citation)
    };
    let b = show(beta);
    let geometry = "almost every start lies in an open hemisphere and converges to one point";
    let wide = if d >= n { format!("d = {d} >= n = {n}") } else { format!("needs d >= n: d = {d}, n = {n}") };
    let sphere = d >= 3 && beta >= 0.0;
    let on_sphere =
        if sphere { format!("d = {d} >= 3 and beta = {b} >= 0") } else { format!("needs d >= 3 and beta >= 0: d = {d}, beta = {b}") };
    let circle = d == 2 && beta >= -0.16;
    let on_circle =
        if circle { format!("d = 2 and beta = {b} >= -0.16") } else { format!("needs d = 2 and beta >= -0.16: d = {d}, beta = {b}") };
    let all = vec![
        Decision {
            statement: "this start converges to one point, exponentially fast".into(),
            this_start: true,
            holds: open.is_some(),
            hypothesis: cap,
            citation: "arXiv:2312.10794, Lemma 6.4",
        },
        almost(d >= n, geometry, wide, "arXiv:2312.10794, Theorem 6.3"),
        landscape(sphere, on_sphere, "arXiv:2312.10794, Theorem 6.1"),
        landscape(circle, on_circle, "arXiv:2507.22857"),
        landscape(
            beta >= 0.0 && beta < threshold::small(n),
            below(beta, n),
            "arXiv:2312.10794, Theorem 4.3 (its constant C/n is not given: this one is derived in the claim small-beta-blocks)",
        ),
        landscape(
            beta > threshold::sharp(n, d) && beta > 0.0,
            above(beta, n, d),
            "arXiv:2312.10794, Theorem 5.1 (its constant is not given: this one is that of the chains of its proof, in the claim large-beta-chains)",
        ),
    ];
    (all, open)
}

/// A theorem about almost every start.
fn almost(holds: bool, statement: &str, hypothesis: String, citation: &'static str) -> Decision {
    Decision { statement: statement.into(), this_start: false, holds, hypothesis, citation }
}

/// A threshold in six digits, or in all where six would put `beta` on its other side.
#[doc(hidden)]
pub fn resolved(threshold: f64, beta: f64) -> String {
    // An infinite threshold has no digits.
    let digits = if threshold.is_finite() { format!("{threshold:.5e}").parse().unwrap_or(threshold) } else { threshold };
    let same = (beta < digits) == (beta < threshold) && (beta > digits) == (beta > threshold);
    show(if same { digits } else { threshold })
}

/// The hypothesis of small beta.
fn below(beta: f64, n: usize) -> String {
    let (least, b) = (threshold::small(n), show(beta));
    if least == f64::INFINITY {
        return if beta >= 0.0 { format!("n = {n} and beta = {b} >= 0") } else { format!("n = {n} needs beta >= 0: beta = {b}") };
    }
    let constant = format!("log(n/(n-2))/2 for n = {n}, a little above 1/n");
    let small = resolved(least, beta);
    if beta >= 0.0 && beta < least {
        format!("0 <= beta = {b} < {small} ({constant})")
    } else {
        format!("needs 0 <= beta < {small} ({constant}): beta = {b}")
    }
}

/// The hypothesis of large beta.
fn above(beta: f64, n: usize, d: usize) -> String {
    let (least, b) = (threshold::sharp(n, d), show(beta));
    let constant = format!("the threshold C n^2 of Theorem 5.1 for n = {n} and d = {d}, with the constant of its proof");
    let large = resolved(least, beta);
    if beta > least && beta > 0.0 {
        format!("beta = {b} > {large} ({constant})")
    } else {
        format!("needs beta > {large} ({constant}): beta = {b}")
    }
}

//! Which theorems already decide where a start ends: one cluster for this start, or for almost every start.
//!
//! The hemisphere and `d >= n` are about positions; the others are about the landscape of equal masses.

use super::threshold;
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
    /// The hypothesis with its numbers.
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
/// ```
pub fn decisions(x: &Tokens, beta: f64) -> (Vec<Decision>, Option<(Vec<f64>, f64)>) {
    let (n, d) = (x.n(), x.d());
    let open = match hemisphere(x) {
        Hemisphere::Open { w, margin, .. } => Some((w, margin)),
        Hemisphere::None { .. } => None,
    };
    let almost = |holds, statement: &str, hypothesis, citation| Decision {
        statement: statement.into(),
        this_start: false,
        holds,
        hypothesis,
        citation,
    };
    let one = "almost every start converges to one point";
    let cap = match &open {
        Some((_, m)) if *m < 1e-3 => format!("all tokens lie in an open hemisphere: min <x_i, w> = {m:.3e}"),
        Some((_, m)) => format!("all tokens lie in an open hemisphere: min <x_i, w> = {m:.4}"),
        None => "all tokens lie in an open hemisphere: none was found".to_owned(),
    };
    let (small, large) = (threshold::small(n), threshold::sharp(n, d));
    // The landscape theorems are those of equal masses.
    let equal = x.uniform_mass().is_some();
    let landscape = |holds: bool, hypothesis: String, citation| {
        let masses = if equal { "" } else { "; equal masses: these are not" };
        almost(holds && equal, one, format!("{hypothesis}{masses}"), citation)
    };
    let geometry = "almost every start lies in an open hemisphere and converges to one point";
    let all = vec![
        Decision {
            statement: "this start converges to one point, exponentially fast".into(),
            this_start: true,
            holds: open.is_some(),
            hypothesis: cap,
            citation: "arXiv:2312.10794, Lemma 6.4",
        },
        almost(d >= n, geometry, format!("d >= n: {d} and {n}"), "arXiv:2312.10794, Theorem 6.3"),
        landscape(d >= 3 && beta >= 0.0, format!("d >= 3 and beta >= 0: {d} and {beta}"), "arXiv:2312.10794, Theorem 6.1"),
        landscape(d == 2 && beta >= -0.16, format!("d = 2 and beta >= -0.16: {d} and {beta}"), "arXiv:2507.22857"),
        landscape(
            beta >= 0.0 && beta < small,
            format!("0 <= beta < log(n/(n-2))/2 = {small:.6}, a little above 1/n: {beta}"),
            "arXiv:2312.10794, Theorem 4.3 (its constant C/n is not given: this one is derived in the claim small-beta-blocks)",
        ),
        landscape(
            beta > large && beta > 0.0,
            format!("beta > {large:.6}, a part of C n^2: {beta}"),
            "arXiv:2312.10794, Theorem 5.1 (its constant is not given: this one is that of the chains of its proof, in the claim large-beta-chains)",
        ),
    ];
    (all, open)
}

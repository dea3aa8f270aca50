//! Growth rates as the published code plots them.

use super::mode_growth::deviation;
use crate::theorem::prelude::*;

/// arXiv:2410.23228, code of the figures: the rate divided by pi.
///
/// # Derivation
///
/// The kernel `-(1/n) sum e^{beta cos} sin` of that code has the rates `k^2 I_k(beta)/beta`
/// (`mode-growth` at d = 2). The plotted `k^2 I_k(beta)/(pi beta)` is smaller by the factor pi at
/// every k; the fastest mode is the same.
pub static ENTRY: Claim = Claim {
    name: "mode-growth-printed",
    title: "Modes grow at k^2 I_k(beta) / (pi beta) (as plotted)",
    then: "Under USA on the circle, the k-th Fourier mode of the uniform measure grows like e^{r \
           t} with r = k^2 I_k(beta)/(pi beta), k <= 6.",
    tested: "at t = 1/(2 pi max r), to 1e-5 of the exponent",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 60.0),
        dynamics: &["usa"],
        ..Domain::EQUAL_MASSES
    },
    source: "code of arXiv:2410.23228 (a factor pi below the rate of the dynamics it simulates)",
    status: Status::Misprinted,
    trials: (8, 30),
    trial: |case, ctx| deviation(case, ctx, 1.0 / PI),
    control: Control {
        what: "pi times the plotted rate",
        trial: |ctx| deviation(&Case::new(1, 2, 5.0, "usa"), ctx, 1.0),
    },
    ..Claim::IDENTITY
};

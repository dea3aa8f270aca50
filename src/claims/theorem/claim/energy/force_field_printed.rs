//! The gradient of a pairwise energy, as printed.

use super::force_field::{Form, gradient};
use crate::theorem::prelude::*;

/// The printed form omits the terms (j, i) of the double sum.
pub static ENTRY: Claim = Claim {
    name: "force-field-printed",
    title: "E = -sum w_ij |x_i - x_j|^2: grad_i E = 2 sum_j w_ij (x_j - x_i) (as printed)",
    lets: "E = -sum_ij w_ij |x_i - x_j|^2 with n normal rows and normal weights w_ij",
    then: "Then grad_i E = 2 sum_j w_ij (x_j - x_i).",
    tested: "along every coordinate with the central difference of step 1 (exact, since E is \
             quadratic), to the rounding of force-field",
    domain: Domain { n: Sizes::Range(2, 6), ..Domain::MAPS },
    source: "an essay on attention as energy",
    status: Status::Misprinted,
    trials: (6, 40),
    trial: |case, ctx| gradient(ctx, case, Form::Printed),
    control: Control {
        what: "symmetric weights and the sum over i < j",
        trial: |ctx| gradient(ctx, &Case::new(4, 3, 0.0, "maps of rows"), Form::HalfSum),
    },
    ..Claim::IDENTITY
};

//! "A recurrent network whose matrix has spectral radius below 1 only forgets."

use crate::num::dense::spectral_norm;
use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::{CellInTime, Gate},
    linearise_layer,
    map::rnn::Rnn,
};
use crate::theorem::prelude::*;

/// This is false: U = [[1/2, c], [0, 1/2]] has the spectral radius 1/2, and it enlarges a
/// perturbation by the factor c before the perturbation decays.
pub static ENTRY: Claim = Claim {
    name: "rnn-spectral-radius-folklore",
    title: "RNN: a spectral radius below 1 means that no gradient grows (folklore)",
    lets: "h+ = tanh(U h) at h = 0 with U = [[1/2, c], [0, 1/2]], which has the spectral radius \
           1/2, and 5 <= c <= 20",
    then: "Then |dh_T/dh_0| <= 1 for T <= 10.",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Fixed(2), ..Domain::MAPS },
    source: "folklore; Pascanu, Mikolov, Bengio, arXiv:1211.5063 give conditions on singular \
               values",
    status: Status::Folklore,
    correct: "It is the norm that has to be below 1.",
    trials: (4, 30),
    trial: |_, ctx| {
        let c = ctx.uniform_in(5.0, 20.0);
        growth(&[0.5, c, 0.0, 0.5])
    },
    control: Control {
        what: "a symmetric U with the eigenvalues 1/2 and 1/4",
        trial: |_| growth(&[0.375, 0.125, 0.125, 0.375]),
    },
    ..Claim::INEQUALITY
};

fn growth(u: &[f64]) -> Result<Finding> {
    let rnn = Rnn { gate: Gate { input: vec![0.0; 4], state: u.to_vec(), bias: vec![0.0; 2] } };
    let time = CellInTime { cell: &rnn, size: 0.0, seed: 1 };
    let (mut product, mut worst) = (vec![1.0, 0.0, 0.0, 1.0], 0.0);
    for step in 0..10 {
        let jacobian = linearise_layer(&time, step, 2, &[0.0, 0.0]).jacobian();
        product = mul(&jacobian, &product, 2);
        worst = nan_max(worst, spectral_norm(&product, 2));
    }
    Ok(Finding::at_most(worst, 1.0))
}

//! Maps other than attention: limits of infinite depth, and Lyapunov exponents.

use metastable::num::linearised::Linearised;
use metastable::num::stats::{mean_and_error, nan_max};
use metastable::recurrent::cell::{CellInTime, Gate};
use metastable::recurrent::lyapunov::exponents;
use metastable::recurrent::map::{self, rnn::Rnn};
use metastable::recurrent::residual::{Nonlinearity, ResidualNet, WeightSchedule};
use metastable::recurrent::{MapSpec, TokenMap, linearise_layer, observe::summarise};

fn output(net: &dyn TokenMap, depth: usize, start: &[f64]) -> Vec<f64> {
    (0..depth).fold(start.to_vec(), |x, layer| {
        linearise_layer(net, layer, start.len(), &x).value().to_vec()
    })
}

fn squared_norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

#[test]
fn smooth_weights_converge_to_a_differential_equation() {
    let start: Vec<f64> = (0..6).map(|k| (k as f64).sin()).collect();
    let outputs: Vec<Vec<f64>> = [128, 256, 512, 1024]
        .map(|depth| {
            let net = ResidualNet {
                d: 6,
                depth,
                power: 1.0,
                gain: 1.0,
                weights: WeightSchedule::Smooth,
                nonlinearity: Nonlinearity::Tanh,
                seed: 4,
            };
            output(&net, depth, &start)
        })
        .to_vec();
    let gap = |k: usize| {
        squared_norm(
            &outputs[k].iter().zip(&outputs[k + 1]).map(|(a, b)| a - b).collect::<Vec<f64>>(),
        )
        .sqrt()
    };
    for k in 0..2 {
        let slope = (gap(k) / gap(k + 1)).log2();
        assert!((slope - 1.0).abs() < 0.02, "slope {slope}");
    }
}

#[test]
fn independent_weights_have_three_regimes_of_growth() {
    // E|x_L|^2 = (1 + L^{-2b})^L |x_0|^2.
    let (d, depth) = (64, 64);
    let start: Vec<f64> = (0..d).map(|k| (1.0 + k as f64).cos()).collect();
    for (power, expected) in
        [(0.25, (1.0 + 64f64.powf(-0.5)).powi(64)), (0.5, 1f64.exp()), (1.0, 1.0)]
    {
        let runs: Vec<f64> = (0..24)
            .map(|seed| {
                let net = ResidualNet {
                    d,
                    depth,
                    power,
                    gain: 1.0,
                    weights: WeightSchedule::Independent,
                    nonlinearity: Nonlinearity::Linear,
                    seed,
                };
                squared_norm(&output(&net, depth, &start)) / squared_norm(&start)
            })
            .collect();
        let (mean, error) = mean_and_error(&runs);
        assert!(
            mean / expected < 1.5 && expected / mean < 1.5,
            "b = {power}: {mean} +- {error} instead of {expected}"
        );
    }
}

/// An RNN without inputs.
fn autonomous(state: Vec<f64>) -> Rnn {
    let d = (state.len() as f64).sqrt() as usize;
    Rnn { gate: Gate { input: vec![0.0; d * d], state, bias: vec![0.0; d] } }
}

#[test]
fn a_spectral_radius_below_one_does_not_bound_growth() {
    let rnn = autonomous(vec![0.5, 10.0, 0.0, 0.5]);
    let time = CellInTime { cell: &rnn, size: 0.0, seed: 1 };
    let jacobian = linearise_layer(&time, 0, 2, &[0.0, 0.0]).jacobian();
    // The largest singular value of a 2 x 2 matrix from its sum of squares and its determinant.
    let (sum, det) =
        (squared_norm(&jacobian), jacobian[0] * jacobian[3] - jacobian[1] * jacobian[2]);
    let norm = (0.5 * (sum + (sum * sum - 4.0 * det * det).sqrt())).sqrt();
    assert!((norm - 10.024_937_810_560_4).abs() < 1e-12, "{norm}");
    // Powers of the Jordan block grow like k / 2^k. From step 50 to 1050 the logarithm changes by
    // 1000 ln(1/2) + ln(1050/50), up to the effect of the initial perturbation.
    let lambda = exponents(&time, &[0.0, 0.0], 2, (50, 1000), 1)[0];
    assert!((lambda - 0.5f64.ln() - 21f64.ln() / 1000.0).abs() < 5e-5, "{lambda}");
}

#[test]
fn perturbations_of_a_resting_network_grow_by_the_spectral_radius() {
    let (d, gain) = (40, 0.8);
    let gate = Gate::normal(3, "resting", d, gain);
    let values = metastable::num::dense::eigenvalues(&gate.state, d).expect("finite");
    let radius = values.iter().map(|(a, b)| a.hypot(*b)).fold(0.0, nan_max);
    let rnn = autonomous(gate.state);
    let time = CellInTime { cell: &rnn, size: 0.0, seed: 1 };
    let lambda = exponents(&time, &vec![0.0; d], d, (100, 4000), 1)[0];
    assert!((lambda - radius.ln()).abs() < 1e-3, "{lambda} instead of {}", radius.ln());
}

#[test]
fn every_map_has_a_summary() {
    let spec = MapSpec { n: 5, d: 4, layers: 8, gain: 1.0, seed: 2 };
    for named in map::ALL {
        let summary = summarise(named, &spec, 4).expect("finite");
        assert!(summary.layers.len() == 9 && summary.exponents.len() == 4, "{}", named.name);
        assert!(
            summary
                .layers
                .iter()
                .all(|l| l.effective_rank >= 1.0 - 1e-9 && l.effective_rank <= 4.0 + 1e-9),
            "{}",
            named.name
        );
        assert!(
            summary.mixing.chunks_exact(5).all(|r| (r.iter().sum::<f64>() - 1.0).abs() < 1e-12),
            "{}",
            named.name
        );
        assert!(
            summary.exponents.windows(2).all(|w| w[0] > w[1] - 0.5),
            "{}: {:?}",
            named.name,
            summary.exponents
        );
    }
}

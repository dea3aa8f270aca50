//! Maps beside attention: depth limits, exponents, and what a perturbation of a recurrent state does.

use metastable::num::{linearised::Linearised, stats::mean_and_error};
use metastable::recurrent::cell::{CellInTime, Gate};
use metastable::recurrent::lyapunov::exponents;
use metastable::recurrent::map::{self, rnn::Rnn};
use metastable::recurrent::residual::{Nonlinearity, ResidualNet, WeightSchedule};
use metastable::recurrent::{MapSpec, TokenMap, linearise_layer, observe::summarise};

fn end(net: &dyn TokenMap, depth: usize, start: &[f64]) -> Vec<f64> {
    (0..depth).fold(start.to_vec(), |x, layer| linearise_layer(net, layer, start.len(), &x).value().to_vec())
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

#[test]
fn smooth_weights_give_an_equation() {
    let start: Vec<f64> = (0..6).map(|k| (k as f64).sin()).collect();
    let ends: Vec<Vec<f64>> = [128, 256, 512, 1024]
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
            end(&net, depth, &start)
        })
        .to_vec();
    let gap = |k: usize| square(&ends[k].iter().zip(&ends[k + 1]).map(|(a, b)| a - b).collect::<Vec<f64>>()).sqrt();
    for k in 0..2 {
        let slope = (gap(k) / gap(k + 1)).log2();
        assert!((slope - 1.0).abs() < 0.02, "slope {slope}");
    }
}

#[test]
fn independent_weights_have_three_limits() {
    // E|x_L|^2 = (1 + L^{-2b})^L |x_0|^2.
    let (d, depth) = (64, 64);
    let start: Vec<f64> = (0..d).map(|k| (1.0 + k as f64).cos()).collect();
    for (power, stated) in [(0.25, (1.0 + 64f64.powf(-0.5)).powi(64)), (0.5, 1f64.exp()), (1.0, 1.0)] {
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
                square(&end(&net, depth, &start)) / square(&start)
            })
            .collect();
        let (mean, error) = mean_and_error(&runs);
        assert!(mean / stated < 1.5 && stated / mean < 1.5, "b = {power}: {mean} +- {error} beside {stated}");
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
    let (sum, det) = (square(&jacobian), jacobian[0] * jacobian[3] - jacobian[1] * jacobian[2]);
    let norm = (0.5 * (sum + (sum * sum - 4.0 * det * det).sqrt())).sqrt();
    assert!((norm - 10.024_937_810_560_4).abs() < 1e-12, "{norm}");
    // Powers of the Jordan block grow like k / 2^k: from step 50 to 1050 that is ln(1050/50) beside 1000 ln(1/2), up to what the start adds to 20 * 50.
    let lambda = exponents(&time, &[0.0, 0.0], 2, (50, 1000), 1)[0];
    assert!((lambda - 0.5f64.ln() - 21f64.ln() / 1000.0).abs() < 5e-5, "{lambda}");
}

#[test]
fn a_resting_network_grows_by_its_spectral_radius() {
    let (d, gain) = (40, 0.8);
    let gate = Gate::normal(3, "resting", d, gain);
    let values = metastable::num::dense::eigenvalues(&gate.state, d).expect("finite");
    let radius = values.iter().map(|(a, b)| a.hypot(*b)).fold(0.0, f64::max);
    let rnn = autonomous(gate.state);
    let time = CellInTime { cell: &rnn, size: 0.0, seed: 1 };
    let lambda = exponents(&time, &vec![0.0; d], d, (100, 4000), 1)[0];
    assert!((lambda - radius.ln()).abs() < 1e-3, "{lambda} beside {}", radius.ln());
}

#[test]
fn every_map_has_a_portrait() {
    let spec = MapSpec { n: 5, d: 4, layers: 8, gain: 1.0, seed: 2 };
    for named in map::ALL {
        let p = summarise(named, &spec, 4).expect("finite");
        assert!(p.layers.len() == 9 && p.exponents.len() == 4, "{}", named.name);
        assert!(p.layers.iter().all(|l| l.effective_rank >= 1.0 - 1e-9 && l.effective_rank <= 4.0 + 1e-9), "{}", named.name);
        assert!(p.mixing.chunks_exact(5).all(|r| (r.iter().sum::<f64>() - 1.0).abs() < 1e-12), "{}", named.name);
        assert!(p.exponents.windows(2).all(|w| w[0] > w[1] - 0.5), "{}: {:?}", named.name, p.exponents);
    }
}

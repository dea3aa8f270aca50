//! SA fitted to the layers of a model.

use metastable::attention::{Spec, dynamics};
use metastable::flow::{Options, sa_fit::fit_layers, solve};
use metastable::num::{stats::nan_max, stream::Stream};
use metastable::sphere::{Tokens, law::Law};

/// The error of a fitted beta is calibrated: with random changes of the model's layer beside SA,
/// the deviations from beta are a normal number of errors in size.
#[test]
fn fitted_betas_have_their_errors() {
    let (n, d, beta) = (60, 6, 5.0);
    let sa = dynamics::build("sa", false, &Spec::new(beta, n)).expect("registered");
    let (mut squares, mut worst) = (0.0, 0.0f64);
    let seeds = 40u64;
    for seed in 0..seeds {
        let mut stream = Stream::new(seed, &["fit"]);
        let x = Law::parse("uniform").and_then(|l| l.sample(n, d, &mut stream)).expect("tokens");
        // A step so short that its end is an Euler step to 1e-3, and changes of half its size.
        let y = solve(&sa, &x, 0.002, &Options::default(), &mut []).expect("a step").clusters;
        let moved = y.coordinates().iter().zip(x.coordinates());
        let moved: Vec<f64> =
            moved.map(|(y, x)| y + 0.5 * (y - x).abs() * stream.normal()).collect();
        let y = Tokens::normalised(d, moved).expect("tokens");
        let fit = fit_layers(&[x, y]).expect("layers")[0].expect("a fit");
        assert!(fit.alignment > 0.8 && fit.alignment < 1.0 && fit.error > 0.0, "{fit:?}");
        let z = (fit.beta - beta) / fit.error;
        squares += z * z / seeds as f64;
        worst = nan_max(worst, z.abs());
    }
    assert!((0.3..3.0).contains(&squares) && worst < 6.0, "z^2 has the mean {squares}, {worst}");
    // Fewer tokens than groups, and one pair, which every beta fits.
    let few = |n: usize| {
        let x = Law::parse("uniform").and_then(|l| l.sample(n, d, &mut Stream::new(3, &["fit"])));
        let x = x.expect("tokens");
        let sa = dynamics::build("sa", false, &Spec::new(beta, n)).expect("registered");
        let y = solve(&sa, &x, 1e-4, &Options::default(), &mut []).expect("a step").clusters;
        fit_layers(&[x, y]).expect("layers")[0]
    };
    let six = few(6).expect("a fit");
    assert!((six.beta - beta).abs() < 0.05 && six.error > 0.0 && six.alignment > 0.999, "{six:?}");
    assert!(few(2).is_none());
    // Tokens that move against SA fit no beta.
    let x = Law::parse("uniform")
        .and_then(|l| l.sample(n, d, &mut Stream::new(1, &["fit"])))
        .expect("tokens");
    let y = solve(&sa, &x, 0.002, &Options::default(), &mut []).expect("a step").clusters;
    assert!(fit_layers(&[y, x]).expect("layers")[0].is_none());
}

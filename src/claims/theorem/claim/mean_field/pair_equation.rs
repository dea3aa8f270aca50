//! Pairs of tokens: the first equation of the BBGKY hierarchy.

use crate::theorem::prelude::*;

/// The equation in weak form.
///
/// # Derivation
///
/// With `x = theta_2 - theta_1` and the drift v the weak form is
/// `E cos(k x(t)) - E cos(k x(0)) = -int_0^t E[k sin(k x) v] ds`, and as g is a conditional mean
/// given x, `E[sin(k x) g] = -E[sin(k x) h'(theta_3 - theta_1)]`: so no density is estimated. The n
/// cyclic pairs are used, each in one order (over both orders of a pair the equation is an identity
/// for every start). The average over uniform starts is taken on six randomly shifted lattices,
/// whose differences give its sampling error.
pub static ENTRY: Claim = Claim {
    name: "pair-equation",
    title: "USA on the circle: the law of the difference of two tokens obeys a transport equation",
    lets: "n tokens start iid uniform on the circle, h = e^{beta cos}, and let psi(t, x) be the \
           law of theta_2 - theta_1",
    then: "It is transported by the velocity (2/(beta n)) h'(x) - (2 (n-2)/(beta n)) g(t, x), \
           where g is the mean of -h'(theta_3 - theta_1) given x.",
    tested: "as: the changes of the Fourier coefficients k = 1 and 2 of psi up to t = 1.5 e^{-0.8 \
             beta} agree with this equation to 0.01",
    domain: Domain {
        n: Sizes::Range(2, 4),
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 4.0),
        dynamics: &["usa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "n <= 4; two Fourier coefficients; one time",
    source: "arXiv:2312.10794, Section 8",
    trials: (5, 40),
    trial: |case, ctx| {
        let third = ctx.claimed_constant(1.0);
        distance(case, ctx, third)
    },
    constant: "the force of the third token",
    control: Control {
        what: "n = 4 without the force of the third token",
        trial: |ctx| distance(&Case::new(4, 2, 1.0, "usa"), ctx, 0.0),
    },
    ..Claim::LAW
};

/// Number of points of a lattice, and of lattices.
const POINTS: usize = 128;
const LATTICES: usize = 6;
/// A generator of lattices of 128 points in up to three dimensions (powers of 47).
const GENERATOR: [usize; 3] = [1, 47, 33];
/// Nodes of Gauss and Legendre on [0, 1], of weight 1/2 each.
const NODES: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];

fn distance(case: &Case, ctx: &mut Context, third: f64) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    let (flow, end) = (case.build()?, 1.5 * (-0.8 * beta).exp());
    let slope = |x: f64| -beta * x.sin() * (beta * x.cos()).exp();
    let next = |i: usize| (i + 1) % n;
    let cosine = |x: &[f64], k: f64| (0..n).map(|i| (k * (x[next(i)] - x[i])).cos()).sum::<f64>();
    // The rate of change of this sum according to the equation.
    let rate = |x: &[f64], k: f64| {
        let of = |i: usize| {
            let others: f64 =
                (0..n).filter(|j| *j != i && *j != next(i)).map(|j| slope(x[j] - x[i])).sum();
            let difference = x[next(i)] - x[i];
            -k * (k * difference).sin() * 2.0 / (beta * n as f64)
                * (slope(difference) + third * others)
        };
        (0..n).map(of).sum::<f64>()
    };
    let mut errors = [Vec::new(), Vec::new()];
    for _ in 0..LATTICES {
        let shift: Vec<f64> = (1..n).map(|_| ctx.method_rng().uniform()).collect();
        let mut sums = [0.0; 2];
        for p in 0..POINTS {
            // The first token is at 0, since only differences matter.
            let coordinate =
                |k: usize| (p * GENERATOR[k] % POINTS) as f64 / POINTS as f64 + shift[k];
            let start: Vec<f64> =
                std::iter::once(0.0).chain((0..n - 1).map(|k| TAU * coordinate(k))).collect();
            let (mut x, mut t) = (Tokens::from_angles(&start)?, 0.0);
            for node in NODES {
                x = ctx.flow_to_with_tolerance(&flow, &x, node * end - t, 1e4)?;
                t = node * end;
                let angles = x.angles();
                sums.iter_mut()
                    .zip([1.0, 2.0])
                    .for_each(|(sum, k)| *sum -= 0.5 * end * rate(&angles, k));
            }
            let last = ctx.flow_to_with_tolerance(&flow, &x, end - t, 1e4)?.angles();
            sums.iter_mut()
                .zip([1.0, 2.0])
                .for_each(|(sum, k)| *sum += cosine(&last, k) - cosine(&start, k));
        }
        errors.iter_mut().zip(sums).for_each(|(list, sum)| list.push(sum / (n * POINTS) as f64));
    }
    let finding = |list: &[f64]| {
        let (mean, error) = mean_and_error(list);
        Finding::law(mean, 0.0, 0.01, error)
    };
    Ok(finding(&errors[0]).and(finding(&errors[1])))
}

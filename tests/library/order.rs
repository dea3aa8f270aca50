//! Integrators have their orders, gradients and Hessians are derivatives, tokens stay on the
//! sphere.

use metastable::attention::{Dynamics, Energy, EnergyScale, Head, Spec, dynamics, layer::Layer};
use metastable::flow::{
    Integrator, OdeOptions, OdeSystem, Options, Outcome, StepAction, StepAttempt, TokenSystem,
    integrate, integrator, solve,
};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::{stats::slope, stream::Stream, sum::dot, vector::max_abs};
use metastable::sphere::{Tokens, geometry, law::Law};

fn tokens(n: usize, d: usize, seed: u64) -> Tokens {
    Law::parse("uniform")
        .expect("registered")
        .sample(n, d, &mut Stream::new(seed, &["order"]))
        .expect("valid")
}

/// A time long enough for errors well above rounding at every step size.
const HORIZON: f64 = 4.0;

/// Coordinates at time [`HORIZON`] after `steps` equal steps of the method's own stages.
fn fixed(name: &str, dynamics: &Dynamics, x: &Tokens, steps: u32) -> Vec<f64> {
    let (mut step, mut system) =
        (integrator(name).expect("registered").stepper(), TokenSystem::new(dynamics, x));
    let (mut y, mut end) = (x.coordinates().to_vec(), x.coordinates().to_vec());
    step.restart(&mut system, 0.0, &y).expect("finite");
    for _ in 0..steps {
        step.step(&mut system, 0.0, &y, HORIZON / f64::from(steps), &mut end).expect("finite");
        std::mem::swap(&mut y, &mut end);
        step.accept(&mut system, 0.0, &y).expect("finite");
    }
    y
}

#[test]
fn integrators_have_their_order() {
    // A rotating value matrix prevents consensus. Near consensus, errors would be damped and the
    // order could not be measured. Errors are root mean squares over starts, since a single start
    // may superconverge. Order 5 has five halvings of the step. Order 8 reaches rounding sooner, so
    // its steps shrink by 2^(1/3).
    let cases = [
        ("dopri5", 5.0, 10.0, [128, 256, 512, 1024, 2048, 4096]),
        ("dop853", 8.0, 3.0, [20, 25, 32, 40, 50, 63]),
    ];
    for (name, order, turn, steps) in cases {
        let v = vec![1.0, -turn, 0.2 * turn, turn, 1.0, 0.3 * turn, -0.2 * turn, -0.3 * turn, 1.0];
        let head = Head::new(3, None, None, Some((3, v))).expect("3 x 3");
        let flow = dynamics::build("sa", false, &Spec { heads: vec![head], ..Spec::new(3.0, 5) })
            .expect("registered");
        let mut squares = [0.0; 6];
        for start in 0..12 {
            let x = tokens(5, 3, start);
            let exact = fixed("dop853", &flow, &x, 1500);
            for (sum, k) in squares.iter_mut().zip(steps) {
                let end = fixed(name, &flow, &x, k);
                *sum += end.iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            }
        }
        let points: Vec<(f64, f64)> =
            steps.iter().zip(squares).map(|(&k, s)| (f64::from(k).ln(), 0.5 * s.ln())).collect();
        let measured = -slope(&points);
        println!("{name}: {measured:.3} {points:?}");
        assert!((measured - order).abs() < 0.1, "{name}: measured order {measured}");
    }
}

#[test]
fn dense_output_has_its_order() {
    let x = tokens(5, 3, 2);
    let sa = dynamics::build("sa", false, &Spec::new(3.0, 5)).expect("registered");
    for (name, order) in [("dopri5", 5.0), ("dop853", 8.0)] {
        let mut points = Vec::new();
        for h in [0.8, 0.4, 0.2] {
            let (mut step, mut system) =
                (integrator(name).expect("registered").stepper(), TokenSystem::new(&sa, &x));
            let (mut end, mut middle) = (x.coordinates().to_vec(), x.coordinates().to_vec());
            step.restart(&mut system, 0.0, x.coordinates()).expect("finite");
            step.step(&mut system, 0.0, x.coordinates(), h, &mut end).expect("finite");
            let ends = StepAttempt { t: 0.0, start: x.coordinates(), end: &end };
            step.interpolate(&mut system, ends, 0.4, &mut middle).expect("finite");
            let exact = solve(
                &sa,
                &x,
                0.4 * h,
                &Options { rtol: 1e-15, merge_radius: 0.0, ..Options::default() },
                &mut [],
            )
            .expect("runs");
            let worst = max_difference(&middle, exact.clusters.coordinates());
            points.push((f64::ln(h), worst.ln()));
        }
        // In one step, a dense output of order p has an error like h^(p+1): p = 4 for dopri5, 7 for
        // dop853.
        println!("{name}: {:.2}", slope(&points));
        assert!(slope(&points) > order - 0.5, "{name}: {points:?}");
    }
}

/// Two blocks of very different size: `y'' = -y` and `z' = t`.
struct Oscillator;

impl OdeSystem for Oscillator {
    fn rates(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> metastable::error::Result<()> {
        dy.copy_from_slice(&[y[1], -y[0], 1e-6 * t]);
        Ok(())
    }

    fn block(&self, start: usize) -> usize {
        if start == 0 { 2 } else { 1 }
    }
}

#[test]
fn custom_systems_are_integrated_and_can_reject_steps() {
    let exact = |t: f64| [t.sin(), t.cos(), 0.5e-6 * t * t];
    let apart = |y: &[f64], t: f64| max_difference(y, &exact(t));
    let options = OdeOptions::new(1e-10, 1e-14);
    let (mut y, mut inside, mut middle) = (exact(1.0), 0.0f64, [0.0; 3]);
    let whole = integrate(&mut Oscillator, 1.0, &mut y, 20.0, &options, |step| {
        step.interpolate(0.4, &mut middle)?;
        inside = largest([inside, apart(&middle, step.t + 0.4 * step.h)]);
        Ok(StepAction::Continue)
    });
    let stats = whole.and_then(|end| end.reached()).expect("reached");
    println!("{:.1e} at the end, {inside:.1e} inside, {stats:?}", apart(&y, 20.0));
    assert!(apart(&y, 20.0) < 1e-8 && inside < 1e-8 && stats.steps < 200);
    // A rejected step leaves the state unchanged, and the integration can continue from there.
    let mut y = exact(1.0);
    let refused = |step: &mut metastable::flow::OdeStep| {
        Ok(if step.t_end > 7.0 { StepAction::Reject } else { StepAction::Continue })
    };
    let end = integrate(&mut Oscillator, 1.0, &mut y, 20.0, &options, refused).expect("no error");
    assert!(
        matches!(end.outcome, Outcome::UnderResolved { t } if t <= 7.0 && t.to_bits() == end.t.to_bits()),
        "{end:?}"
    );
    assert!(apart(&y, end.t) < 1e-8);
    let options = OdeOptions { first_step: Some(end.next_step), max_step: 0.5, ..options };
    let stopped = integrate(&mut Oscillator, end.t, &mut y, 20.0, &options, |step| {
        assert!(step.h <= 0.5 + 1e-6);
        Ok(if step.t_end > 15.0 { StepAction::Stop } else { StepAction::Continue })
    });
    let end = stopped.expect("no error");
    assert!(matches!(end.outcome, Outcome::Interrupted { t } if t > 15.0 && t < 15.6), "{end:?}");
    assert!(apart(&y, end.t) < 1e-8 && end.reached().is_err());
}

#[test]
fn taylor_slopes_of_gradient_and_hessian() {
    for (n, d, beta) in [(6, 3, 2.0), (5, 2, 6.0), (4, 8, 0.5), (7, 4, -1.5)] {
        let x = tokens(n, d, 5);
        let energy = Energy::new(beta, EnergyScale::Mean);
        let mut s = Stream::new(9, &["direction"]);
        let steps: Vec<f64> = (0..6).map(|k| 8e-3 * 0.5f64.powi(k) / (1.0 + beta.abs())).collect();
        // Errors are root mean squares over directions, since the third derivative may vanish in a
        // single direction.
        let (mut first, mut second) = (vec![0.0; 6], vec![0.0; 6]);
        for _ in 0..20 {
            let mut u = vec![0.0; n * d];
            s.normals(&mut u);
            u.chunks_exact_mut(d).zip(x.rows()).for_each(|(u, x)| geometry::project(x, u));
            let along = |h: f64| -> f64 {
                let moved: Vec<f64> = x
                    .rows()
                    .zip(u.chunks_exact(d))
                    .flat_map(|(x, u)| {
                        geometry::exp(x, &u.iter().map(|v| h * v).collect::<Vec<_>>())
                    })
                    .collect();
                energy.value(&Tokens::new(d, moved).expect("on the sphere")).expect("finite")
            };
            let (e0, g) =
                (energy.value(&x).expect("finite"), dot(&energy.grad(&x).expect("finite"), &u));
            let h2 = dot(&energy.hess_vec(&x, &u).expect("finite"), &u);
            for (k, h) in steps.iter().enumerate() {
                let remainder = along(*h) - e0 - h * g;
                first[k] += remainder.powi(2);
                second[k] += (remainder - 0.5 * h * h * h2).powi(2);
            }
        }
        let logs = |sums: &[f64]| {
            steps.iter().zip(sums).map(|(h, s)| (h.ln(), 0.5 * s.ln())).collect::<Vec<_>>()
        };
        let (first, second) = (logs(&first), logs(&second));
        println!("n={n} d={d} beta={beta}: {:.3} {:.3}", slope(&first), slope(&second));
        assert!((slope(&first) - 2.0).abs() < 0.05, "gradient slope {}", slope(&first));
        assert!((slope(&second) - 3.0).abs() < 0.05, "Hessian slope {}", slope(&second));
    }
}

#[test]
fn the_dense_hessian_is_symmetric_and_agrees_with_hessian_vector_products() {
    let x = tokens(6, 4, 1).with_masses(&[1.0, 2.0, 0.5, 1.0, 3.0, 1.5]).expect("positive");
    let energy = Energy::new(3.0, EnergyScale::Mean);
    let h = energy.scaled_hessian(&x);
    let size = 18;
    let scale = max_abs(&h);
    for i in 0..size {
        let mut u = vec![0.0; 24];
        let basis = geometry::tangent_basis(x.row(i / 3));
        u[(i / 3) * 4..(i / 3 + 1) * 4].copy_from_slice(&basis[(i % 3) * 4..(i % 3 + 1) * 4]);
        let mut product = vec![0.0; 24];
        energy.scaled_hess_vec(
            &x,
            &u,
            &mut metastable::attention::kernel::Workspace::default(),
            &mut product,
        );
        for j in 0..size {
            let e = geometry::tangent_basis(x.row(j / 3));
            let entry =
                dot(&product[(j / 3) * 4..(j / 3 + 1) * 4], &e[(j % 3) * 4..(j % 3 + 1) * 4]);
            assert!((h[i * size + j] - entry).abs() < 64.0 * f64::EPSILON * scale);
            assert!((h[i * size + j] - h[j * size + i]).abs() <= 64.0 * f64::EPSILON * scale);
        }
    }
}

#[test]
fn rotations_are_null_vectors_at_critical_points() {
    // Regular polygons are critical points, so the Hessian must annihilate U_i = B x_i for skew B.
    let x = Law::parse("polygon")
        .expect("registered")
        .sample(7, 3, &mut Stream::new(1, &[]))
        .expect("valid");
    let energy = Energy::new(4.0, EnergyScale::Mean);
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let mut u = vec![0.0; 21];
        for (u, x) in u.chunks_exact_mut(3).zip(x.rows()) {
            (u[a], u[b]) = (-x[b], x[a]);
        }
        let h = energy.hess_vec(&x, &u).expect("finite");
        let scale = 4f64.exp();
        assert!(h.iter().all(|v| v.abs() < 1e-14 * scale), "{a}{b}: {h:?}");
    }
}

#[test]
fn tokens_stay_on_the_sphere_for_a_million_steps() {
    let mut x = tokens(3, 3, 8);
    let sa = dynamics::build("sa", false, &Spec::new(1.0, 3)).expect("registered");
    let layer = Layer::new(1e-3).expect("valid");
    let mut worst = 0.0f64;
    for k in 0..1_000_000 {
        layer.apply(&sa, &mut x);
        if k % 1000 == 0 {
            let lengths = x.rows().map(|r| (dot(r, r).sqrt() - 1.0).abs());
            worst = largest(lengths.chain([worst]));
        }
    }
    assert!(worst <= 4.0 * f64::EPSILON, "{worst:e}");
}

#[test]
fn errors_are_below_the_tolerance() {
    let x = tokens(6, 3, 4);
    let sa = dynamics::build("sa", false, &Spec::new(4.0, 6)).expect("registered");
    let run = |rtol: f64| {
        let options = Options { rtol, merge_radius: 0.0, ..Options::default() };
        solve(&sa, &x, 5.0, &options, &mut []).expect("runs").clusters.coordinates().to_vec()
    };
    let exact = run(1e-14);
    for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
        let worst = max_difference(&run(rtol), &exact);
        println!("rtol {rtol:e}: error {worst:.1e}");
        assert!(worst < 10.0 * rtol, "rtol {rtol}: {worst}");
    }
}

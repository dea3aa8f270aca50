//! Kernel sums: every algorithm against the direct sum in double-doubles, for every instruction
//! set, with and without flagged rows. Counts of pairs, threads.

use metastable::attention::kernel::{
    ALL, Attention, Batch, KernelChoice, OutputForm, Series, Weights, Workspace, hessian_sums,
    pairs_above,
};
use metastable::attention::{Spec, dynamics, layer::Layer};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::vector::{max_abs, max_norm};
use metastable::num::{
    exp, peak::exponentials, simd::Isa, simd::SimdKernel, simd::SimdOps, stream::Stream,
    threads::sequentially,
};
use metastable::sphere::{Tokens, geometry::chord2, geometry::project, law::Law};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The unit roundoff.
const U: f64 = 0.5 * f64::EPSILON;

fn uniform(n: usize, d: usize, seed: u64) -> Tokens {
    Law::parse("uniform")
        .expect("registered")
        .sample(n, d, &mut Stream::new(seed, &["kernels"]))
        .expect("valid")
}

/// Uniform tokens if `delta` is 0, otherwise three clusters of width `delta`, two antipodal.
fn tokens(n: usize, d: usize, seed: u64, delta: f64) -> Tokens {
    let x = uniform(n, d, seed);
    if delta == 0.0 {
        return x;
    }
    let noise = uniform(n, d, seed + 1);
    let centres = uniform(3, d, seed + 2);
    let rows = (0..n).flat_map(|i| {
        let sign = if i % 3 == 2 { -1.0 } else { 1.0 };
        let centre = centres.row(if i % 3 == 2 { 0 } else { i % 3 }).to_vec();
        let noise = noise.row(i).to_vec();
        (0..d).map(move |k| sign * centre[k] + delta * noise[k]).collect::<Vec<_>>()
    });
    Tokens::normalised(d, rows.collect()).expect("finite")
}

/// The velocity, computed from its definition in double-doubles.
fn definition(name: &str, spec: &Spec, x: &Tokens) -> Vec<f64> {
    dynamics::build(name, false, spec)
        .expect("registered")
        .definition(0.0, x, OutputForm::Tangent)
        .expect("attention has one")
}

fn masses(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + (i % 7) as f64).collect()
}

/// `sum_j A_ij min(|x_j - x_i|, |x_j + x_i|)`: the size of the terms whose sum is a velocity.
fn size_of_terms(attention: &Attention, x: &Tokens, i: usize) -> f64 {
    let pair = |j: usize| {
        let c = chord2(x.row(i), x.row(j));
        c.min(4.0 - c).max(0.0).sqrt()
    };
    attention.row_weights(x, 0, i).iter().enumerate().map(|(j, w)| w * pair(j)).sum()
}

/// Whether the kernel promises to support attention `name` of fewer than a hundred tokens, at the
/// accuracies of these tests.
fn must_support(kernel: &str, name: &str, d: usize, beta: f64) -> bool {
    let (masked, moderate) = (name.starts_with("causal"), beta.abs() <= 400.0);
    match kernel {
        "auto" | "rows" | "direct" => true,
        "products" => moderate,
        "gram" => moderate && !masked,
        "inner" => moderate && !masked && d <= 8,
        "fourier" => moderate && !masked && d == 2,
        "harmonics" => moderate && !masked && d == 3,
        other => panic!("{other} is in no test"),
    }
}

/// Compares a kernel with the definition in double-doubles on one system.
fn assert_accuracy(name: &str, kernel: &str, isa: Isa, beta: f64, x: &Tokens, accuracy: f64) {
    let spec = Spec {
        kernel: KernelChoice::parse(kernel).expect("a kernel"),
        accuracy,
        isa,
        ..Spec::new(beta, x.n())
    };
    let built = dynamics::build(name, false, &spec).expect("registered");
    let attention = built.attention().expect("attention").clone();
    let (n, d) = (x.n(), x.d());
    if let Err(refusal) = built.kernel(x) {
        assert!(!must_support(kernel, name, d, beta), "n {n} d {d} beta {beta}: {refusal}");
        return;
    }
    let exact = definition(name, &Spec::new(beta, n), x);
    let mut v = vec![0.0; n * d];
    built.rates(0.0, x, &mut Workspace::default(), &mut v);
    for i in 0..n {
        let (a, b) = (&v[i * d..(i + 1) * d], &exact[i * d..(i + 1) * d]);
        let difference = chord2(a, b).sqrt();
        let length = b.iter().map(|b| b * b).sum::<f64>().sqrt();
        // The rounding error of a weight is u times the size of its exponent e (rigorously,
        // 4 + 2e ulp), except for weights below 1e-300. Errors of sums of n terms grow like random
        // walks.
        let rounding = (64.0 + 16.0 * (n as f64).sqrt())
            * U
            * size_of_terms(&attention, x, i)
            * (1.0 + beta.abs().min(40.0) / 8.0);
        // The definition projects numbers of the size of its weights, so its own error is about
        // 1e-30 times the weights.
        let definition_error = 1e-30 * attention.row_weights(x, 0, i).iter().sum::<f64>();
        let bound = accuracy.max(1e-13) * length + rounding + definition_error;
        assert!(
            difference <= bound,
            "{name} {kernel} {} beta {beta} n {n} d {d} row {i}: difference {difference:e}, bound {bound:e}",
            isa.name()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_kernel_meets_the_given_accuracy(
        n in 1usize..90, d in prop::sample::select(vec![2usize, 3, 4, 5, 8, 17]), seed in 0u64..1000,
        beta in prop::sample::select(vec![0.0, 1e-300, 1e-3, 0.7, 4.0, 30.0, 300.0, 1e4, 1e8, -0.5, -8.0, -200.0]),
        delta in prop::sample::select(vec![0.0, 0.0, 1e-3, 1e-9]), weighted: bool,
        name in prop::sample::select(vec!["sa", "causal-sa", "repulsive-sa"])
    ) {
        let mut x = tokens(n, d, seed, delta);
        if weighted {
            x = x.with_masses(&masses(n)).expect("positive");
        }
        for isa in Isa::available() {
            for kernel in ["auto", "rows", "direct"] {
                assert_accuracy(name, kernel, isa, beta, &x, 1e-13);
            }
            for kernel in ["auto", "inner", "gram", "products", "fourier", "harmonics"] {
                assert_accuracy(name, kernel, isa, beta, &x, 1e-9);
            }
        }
    }

    #[test]
    fn unnormalised_sums_meet_the_given_accuracy(n in 1usize..60, d in 2usize..20, seed in 0u64..1000, beta in -6.0f64..6.0) {
        let x = tokens(n, d, seed, 0.0);
        for isa in Isa::available() {
            assert_accuracy("usa", "direct", isa, beta, &x, 1e-13);
            for kernel in ["inner", "gram", "products", "fourier", "harmonics"] {
                assert_accuracy("usa", kernel, isa, beta, &x, 1e-9);
            }
        }
    }
}

#[test]
fn every_kernel_is_accurate_in_systems_of_many_blocks() {
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, d) in [(1030, 2), (1030, 3), (400, 6), (700, 40), (127, 99), (128, 64)] {
        let x = uniform(n, d, 5);
        let reference = dynamics::build(
            "sa",
            false,
            &Spec { kernel: KernelChoice::parse("rows").expect("a kernel"), ..Spec::new(4.0, n) },
        )
        .expect("registered");
        let mut exact = vec![0.0; n * d];
        reference.rates(0.0, &x, &mut Workspace::default(), &mut exact);
        let longest = max_norm(&exact, d);
        for kernel in ALL {
            let accuracy = if kernel.by_name_only() { 1e-2 } else { 1e-9 };
            let spec = Spec { kernel: KernelChoice::Named(*kernel), accuracy, ..Spec::new(4.0, n) };
            let built = dynamics::build("sa", false, &spec).expect("registered");
            if built.kernel(&x).is_err() {
                continue;
            }
            *compared.entry(kernel.name()).or_insert(0) += 1;
            let mut v = vec![0.0; n * d];
            built.rates(0.0, &x, &mut Workspace::default(), &mut v);
            let worst = max_difference(&v, &exact);
            // Errors are far below the given accuracy; the f32 kernel has nearly seven digits.
            let bound = if kernel.by_name_only() { 3e-5 } else { 1e-12 };
            assert!(worst <= bound * longest, "{} n {n} d {d}: {worst:e}", kernel.name());
        }
    }
    // The shapes that each kernel supports.
    let expected = [
        ("blocks", 6),
        ("direct", 6),
        ("fourier", 1),
        ("gram", 2),
        ("harmonics", 1),
        ("heads", 6),
        ("inner", 3),
        ("products", 6),
        ("rows", 6),
    ];
    assert_eq!(compared, BTreeMap::from(expected));
}

#[test]
fn flagged_rows_of_a_fast_kernel_are_computed_again() {
    // Three clusters of width 1e-9: inner products cannot resolve velocities of 1e-9.
    let x = tokens(60, 17, 3, 1e-9);
    let exact = definition("sa", &Spec::new(30.0, 60), &x);
    let worst = |accuracy: f64| {
        let spec = Spec {
            kernel: KernelChoice::parse("products").expect("a kernel"),
            accuracy,
            ..Spec::new(30.0, 60)
        };
        let mut v = vec![0.0; 60 * 17];
        dynamics::build("sa", false, &spec).expect("registered").rates(
            0.0,
            &x,
            &mut Workspace::default(),
            &mut v,
        );
        let row = |i: usize| {
            let (a, b) = (&v[i * 17..(i + 1) * 17], &exact[i * 17..(i + 1) * 17]);
            (chord2(a, b) / b.iter().map(|b| b * b).sum::<f64>()).sqrt()
        };
        largest((0..60).map(row))
    };
    assert!(worst(1e-10) < 1e-10, "at accuracy 1e-10: {:e}", worst(1e-10));
    // The control: with an accuracy of 10 % some rows keep the error of the fast kernel.
    assert!((1e-9..1.0).contains(&worst(0.1)), "at accuracy 0.1: {:e}", worst(0.1));
}

#[test]
fn the_vector_exponential_meets_its_error_bound_for_every_isa() {
    // The error of libm's exp2 is at most one ulp, 2u. The bound of an instruction set is 4u, and
    // the portable one also rounds the product in its argument.
    let t: Vec<f64> =
        (0..160_000).map(|i| -f64::from(i) * 0.006_372_1 - 1e-9 * f64::from(i % 97)).collect();
    for isa in Isa::available() {
        let mut values = t.clone();
        exponentials(isa, &mut values);
        for (t, v) in t.iter().zip(&values) {
            if *t > exp::UNDERFLOW_EXPONENT {
                assert!((v / t.exp2() - 1.0).abs() <= 6.0 * U, "{} at {t}: {v:e}", isa.name());
            }
        }
        let mut edge = [
            -1019.99,
            -1020.0,
            -1021.0,
            -1074.0,
            -1e4,
            -1e300,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            -1.0,
            -0.5,
            -1e-300,
            -52.0,
            -3.0,
            -2.0,
            -1.5,
        ];
        exponentials(isa, &mut edge);
        assert!((edge[0] / (-1019.99f64).exp2() - 1.0).abs() <= 6.0 * U);
        assert!(edge[1..7].iter().all(|v| v.to_bits() == 0), "{}: {edge:?}", isa.name());
        let exact = [(7, 1.0), (8, 1.0), (9, 0.5), (12, (-52f64).exp2()), (13, 0.125), (14, 0.25)];
        assert!(
            exact.iter().all(|(k, v): &(usize, f64)| edge[*k].to_bits() == v.to_bits()),
            "{}: {edge:?}",
            isa.name()
        );
    }
}

#[test]
fn truncation_orders_agree_with_theory() {
    // Smallest orders for the tolerances 1e-6, 1e-10, 1e-14 on the circle and on S^2.
    let table: [(f64, [(usize, usize); 3]); 7] = [
        (1.0, [(7, 7), (10, 10), (13, 13)]),
        (4.0, [(11, 12), (16, 16), (20, 20)]),
        (9.0, [(16, 17), (22, 23), (27, 28)]),
        (25.0, [(25, 27), (34, 35), (42, 43)]),
        (100.0, [(49, 53), (66, 69), (79, 82)]),
        (400.0, [(98, 105), (130, 136), (156, 161)]),
        (1000.0, [(155, 166), (205, 214), (245, 254)]),
    ];
    for (beta, orders) in table {
        let (circle, sphere) = (Series::circle_magnitudes(beta), Series::sphere_magnitudes(beta));
        for ((k, l), tolerance) in orders.into_iter().zip([1e-6, 1e-10, 1e-14]) {
            assert_eq!(
                Series::kernel_order(&circle, tolerance),
                k,
                "circle, beta {beta}, {tolerance:e}"
            );
            assert_eq!(
                Series::kernel_order(&sphere, tolerance),
                l,
                "sphere, beta {beta}, {tolerance:e}"
            );
        }
    }
}

#[test]
fn kernels_give_the_same_bytes_for_any_number_of_threads() {
    for (n, d, kernel) in [
        (3000, 3, "direct"),
        (900, 24, "direct"),
        (900, 24, "products"),
        (901, 7, "inner"),
        (127, 99, "gram"),
        (3000, 2, "fourier"),
        (3000, 3, "harmonics"),
    ] {
        let x = uniform(n, d, 9);
        let spec = Spec {
            kernel: KernelChoice::parse(kernel).expect("a kernel"),
            accuracy: 1e-2,
            ..Spec::new(4.0, n)
        };
        let built = dynamics::build("sa", false, &spec).expect("registered");
        let run = |threads: usize| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut v = vec![0.0; n * d];
            pool.install(|| built.rates(0.0, &x, &mut Workspace::default(), &mut v));
            v.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        let one = run(1);
        assert!([2, 3, 8].into_iter().all(|t| run(t) == one), "{kernel} n {n} d {d}");
        let mut sequential = vec![0.0; n * d];
        sequentially(|| built.rates(0.0, &x, &mut Workspace::default(), &mut sequential));
        let sequential: Vec<u64> = sequential.iter().map(|v| v.to_bits()).collect();
        assert!(sequential == one, "{kernel} without threads");
    }
}

#[test]
fn hessian_products_agree_with_the_formula() {
    for (n, d, beta) in [(7, 2, 4.0), (150, 3, 9.0), (300, 11, -3.0), (40, 5, 300.0)] {
        let x = tokens(n, d, 2, 0.0).with_masses(&masses(n)).expect("positive");
        let mut u = uniform(n, d, 77).coordinates().to_vec();
        u.chunks_exact_mut(d).enumerate().for_each(|(i, u)| project(x.row(i), u));
        let mut sums = vec![0.0; n * d];
        hessian_sums(beta, &x, &u, &mut Workspace::default(), &mut sums);
        for i in (0..n).step_by(1 + n / 20) {
            let (xi, ui) = (x.row(i), &u[i * d..(i + 1) * d]);
            let (mut expected, mut size) = (vec![0.0; d], 0.0);
            for j in 0..n {
                let (xj, uj) = (x.row(j), &u[j * d..(j + 1) * d]);
                let w =
                    x.masses()[j] * metastable::attention::kernel::log_kernel(beta, xi, xj).exp();
                let half = 0.5 * chord2(xi, xj);
                let cross: f64 =
                    -beta * (0..d).map(|k| (uj[k] - ui[k]) * (xj[k] - xi[k])).sum::<f64>();
                for k in 0..d {
                    expected[k] += w * ((uj[k] - ui[k]) + half * ui[k] + cross * (xj[k] - xi[k]));
                }
                size += w * (chord2(ui, uj).sqrt() + half + cross.abs() * chord2(xi, xj).sqrt());
            }
            let difference = chord2(&expected, &sums[i * d..(i + 1) * d]).sqrt();
            assert!(
                difference <= 1e-13 * size,
                "n {n} d {d} beta {beta} row {i}: {difference:e} of {size:e}"
            );
        }
    }
}

#[test]
fn pairs_above_a_level_are_counted_exactly() {
    for (n, d) in
        [(1, 2), (2, 3), (5, 8), (33, 4), (32, 16), (31, 19), (17, 40), (128, 5), (131, 9)]
    {
        let x = uniform(n, d, 12);
        for level in [-0.3, 0.0, 0.2] {
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            let expected = pairs.filter(|&(i, j)| x.inner(i, j) >= level).count();
            assert_eq!(
                pairs_above(&x, level, &mut Workspace::default()),
                expected,
                "n {n} d {d} level {level}"
            );
        }
    }
}

#[test]
fn stored_inner_products_are_used_only_for_the_same_tokens() {
    let attention = Attention::new(3.0);
    let field = |x: &Tokens, work: &mut Workspace| {
        let mut out = vec![0.0; x.n() * x.d()];
        attention.apply(x, OutputForm::Sum, work, &mut out).expect("auto");
        out
    };
    // A new workspace has no stored inner products.
    let with_new_workspace = |x: &Tokens| sequentially(|| field(x, &mut Workspace::default()));
    let work = &mut Workspace::default();
    let dynamics = dynamics::build("sa", false, &Spec::new(3.0, 32)).expect("registered");
    for d in [37, 64] {
        let (mut x, other) = (uniform(32, d, 1), uniform(32, d, 2));
        assert_eq!(attention.kernel_name(&x, OutputForm::Sum).ok(), Some("gram"));
        sequentially(|| {
            for _ in 0..3 {
                pairs_above(&x, 0.1, work);
                assert_eq!(field(&other, work), with_new_workspace(&other), "other tokens");
                pairs_above(&x, 0.1, work);
                assert_eq!(field(&x.clone(), work), with_new_workspace(&x), "the same tokens");
                assert_eq!(
                    field(&x, work),
                    with_new_workspace(&x),
                    "weights must not be used as inner products"
                );
                pairs_above(&x, 0.1, work);
                Layer::new(0.1).expect("a step").step(
                    &dynamics,
                    0.0,
                    &mut x,
                    work,
                    &mut vec![0.0; 32 * d],
                );
                let pairs = (0..32)
                    .flat_map(|i| (0..i).map(move |j| (i, j)))
                    .filter(|(i, j)| x.inner(*i, *j) >= 0.1)
                    .count();
                assert_eq!(pairs_above(&x, 0.1, work), pairs, "after a step");
                assert_eq!(field(&x, work), with_new_workspace(&x), "after a step");
                let batch =
                    Batch::new(&[x.clone(), other.clone()], Isa::best()).expect("one shape");
                let mut moved = x.clone();
                pairs_above(&moved, 0.1, work);
                batch.read(1, &mut moved);
                assert_eq!(
                    field(&moved, work),
                    with_new_workspace(&other),
                    "tokens that were overwritten"
                );
            }
        });
    }
}

#[test]
fn inverse_square_roots_meet_their_error_bound_for_every_isa() {
    struct Roots<'a>(&'a mut [f64]);
    impl SimdKernel for Roots<'_> {
        type F = f64;
        type Output = ();
        #[inline(always)]
        fn run<L: SimdOps<F = f64>>(self, l: L) {
            L::view_mut(self.0).iter_mut().for_each(|v| *v = l.inverse_sqrt(*v));
        }
    }
    let a: Vec<f64> = (0..160_000)
        .map(|i| 1.0001f64.powi(i) * 1e-3)
        .chain((-300..300).map(|e| 1.7 * 10f64.powi(e)))
        .collect();
    for isa in Isa::available() {
        let mut roots = a.clone();
        isa.run(Roots(&mut roots));
        for (a, r) in a.iter().zip(&roots) {
            // The bound is 4u; the reference rounds twice: a square root and a quotient.
            assert!(
                (r / (1.0 / a.sqrt()) - 1.0).abs() <= 6.0 * U,
                "{} at {a:e}: {r:e}",
                isa.name()
            );
        }
    }
}

#[test]
fn sums_of_every_kernel_agree_with_the_kernel_rows() {
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, d, weighted, beta) in [
        (24, 3, false, 4.0),
        (40, 16, false, 4.0),
        (37, 19, true, -3.0),
        (300, 33, true, 2.0),
        (256, 32, false, 9.0),
    ] {
        let mut x = uniform(n, d, 11);
        if weighted {
            x = x.with_masses(&masses(n)).expect("positive");
        }
        for weights in [Weights::Softmax, Weights::Exponential { log_factor: -1.0 }] {
            let field = |kernel: KernelChoice, isa: Isa| {
                let attention =
                    Attention { weights, kernel, isa, accuracy: 1e-2, ..Attention::new(beta) };
                let mut out = vec![0.0; n * d];
                attention
                    .apply(&x, OutputForm::Sum, &mut Workspace::default(), &mut out)
                    .map(|_| out)
            };
            let exact =
                field(KernelChoice::parse("rows").expect("a kernel"), Isa::best()).expect("always");
            let longest = max_abs(&exact);
            for (kernel, isa) in
                ALL.iter().flat_map(|k| Isa::available().into_iter().map(move |l| (*k, l)))
            {
                let Ok(found) = field(KernelChoice::Named(kernel), isa) else { continue };
                *compared.entry(kernel.name()).or_insert(0) += 1;
                let worst = max_difference(&found, &exact);
                // A few hundred rounding errors add up like a random walk: about 1e-15 of the
                // largest entry.
                let bound = if kernel.by_name_only() { 1e-5 } else { 1e-13 };
                assert!(
                    worst <= bound * longest,
                    "{} {} n {n} d {d}: {worst:e} of {longest:e}",
                    kernel.name(),
                    isa.name()
                );
            }
        }
    }
    // The shapes that a kernel supports, with two kinds of weights and all instruction sets. Series
    // give velocities, not sums.
    let shapes: [(&str, usize); 7] = [
        ("blocks", 5),
        ("direct", 5),
        ("gram", 3),
        ("heads", 5),
        ("inner", 1),
        ("products", 5),
        ("rows", 5),
    ];
    let expected = shapes.map(|(name, shapes)| (name, 2 * shapes * Isa::available().len()));
    assert_eq!(compared, BTreeMap::from(expected));
}

#[test]
fn sums_over_pairs_of_panels_are_complete() {
    // Systems with n^2 d from 2^21 on have four panels; the last ones can be short or empty. They
    // are tested with and without masks and masses.
    for (n, d) in [(301, 40), (257, 33), (192, 64), (33, 2000)] {
        for (name, weighted) in
            [("sa", false), ("sa", true), ("causal-sa", false), ("causal-sa", true), ("usa", true)]
        {
            let mut x = uniform(n, d, 3);
            if weighted {
                x = x.with_masses(&masses(n)).expect("positive");
            }
            for isa in Isa::available() {
                let velocity = |kernel: &str, accuracy: f64| {
                    let spec = Spec {
                        kernel: KernelChoice::parse(kernel).expect("a kernel"),
                        accuracy,
                        isa,
                        ..Spec::new(2.0, n)
                    };
                    let built = dynamics::build(name, false, &spec).expect("registered");
                    let mut v = vec![0.0; n * d];
                    // Twice: the first evaluation must leave nothing behind.
                    for _ in 0..2 {
                        built.rates(0.0, &x, &mut Workspace::default(), &mut v);
                    }
                    v
                };
                let exact = velocity("rows", 1e-13);
                let longest = max_abs(&exact);
                for (kernel, accuracy, bound) in
                    [("products", 1e-2, 1e-13), ("direct", 1e-13, 1e-13)]
                {
                    let found = velocity(kernel, accuracy);
                    let worst = max_difference(&found, &exact);
                    assert!(
                        worst <= bound * longest,
                        "{name} {kernel} {} n {n} d {d}: {worst:e} of {longest:e}",
                        isa.name()
                    );
                }
            }
        }
    }
}

#[test]
fn weights_that_may_underflow_count_equal_masses_once() {
    let law = Law::parse("cap:radius=0.1").expect("registered");
    let x = law.sample(40, 3, &mut Stream::new(1, &["steep"])).expect("valid");
    for (isa, name) in Isa::available().into_iter().flat_map(|l| [(l, "usa"), (l, "sa")]) {
        assert_accuracy(name, "inner", isa, 400.0, &x, 1e-6);
    }
}

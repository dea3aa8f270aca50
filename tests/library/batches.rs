//! Systems of few tokens, one per SIMD lane: layers against single systems and definitions.

use metastable::attention::interaction::{Interaction, InteractionAttention, RowSum};
use metastable::attention::kernel::{Attention, Batch, BatchField, OutputForm, Weights, Workspace};
use metastable::attention::scheduled::{Layers, Scheduled};
use metastable::attention::{Dynamics, Head, layer::Layer};
use metastable::flow::observable::{self, RunParameters};
use metastable::flow::{Recorder, apply_layers, apply_layers_many};
use metastable::num::{deviation::max_difference, simd::Isa, stream::Stream};
use metastable::sphere::{Tokens, law::Law};

fn uniform(n: usize, d: usize, seed: u64) -> Tokens {
    Law::parse("uniform")
        .expect("registered")
        .sample(n, d, &mut Stream::new(seed, &["kernels"]))
        .expect("valid")
}

fn largest_difference(a: &Tokens, b: &Tokens) -> f64 {
    max_difference(a.coordinates(), b.coordinates())
}

#[test]
fn a_batch_gives_the_tokens_of_its_systems() {
    // At beta = 600 the weights of far pairs are 0.
    let usa = Weights::Exponential { log_factor: -4.0 };
    for (d, eta, beta, weights) in [
        (2, 0.1, 4.0, Weights::Softmax),
        (3, f64::INFINITY, 4.0, Weights::Softmax),
        (6, 0.5, 4.0, usa),
        (2, 0.1, 600.0, Weights::Softmax),
        (5, 0.1, 600.0, Weights::Softmax),
    ] {
        let systems: Vec<Tokens> = (0..13).map(|k| uniform(11, d, k)).collect();
        let attention = Attention { weights, ..Attention::new(beta) };
        let lanes = BatchField::new(&attention, (11, d)).expect("no mask");
        for isa in Isa::available() {
            let mut batch = Batch::new(&systems, isa).expect("one shape");
            let mut alone = Batch::new(&systems[4..5], isa).expect("one shape");
            let mut shares = Vec::new();
            batch.pair_share(0.5, &mut shares);
            for (k, system) in systems.iter().enumerate() {
                let pairs = (0..11)
                    .flat_map(|i| (0..i).map(move |j| (i, j)))
                    .filter(|(i, j)| system.inner(*i, *j) >= 0.5)
                    .count();
                assert!((shares[k] - pairs as f64 / 55.0).abs() < 1e-15);
            }
            for _ in 0..5 {
                batch.apply_layer(&lanes, eta);
                alone.apply_layer(&lanes, eta);
            }
            let mut out = systems[0].clone();
            for (k, system) in systems.iter().enumerate() {
                let mut x = system.clone();
                let mut field = vec![0.0; 11 * d];
                for _ in 0..5 {
                    attention
                        .apply(&x, OutputForm::Sum, &mut Workspace::default(), &mut field)
                        .expect("auto");
                    step(eta, &mut x, &field);
                }
                batch.read(k, &mut out);
                let worst = largest_difference(&out, &x);
                assert!(worst < 1e-13, "{} system {k}: {worst:e}", isa.name());
            }
            let mut single = systems[0].clone();
            batch.read(4, &mut out);
            alone.read(0, &mut single);
            assert_eq!(out, single, "other systems of the batch must not change a system");
        }
    }
    assert!(Batch::new(&[uniform(3, 2, 1), uniform(4, 2, 1)], Isa::best()).is_none());
    assert!(Layer::new(f64::INFINITY).is_ok());
}

#[test]
fn a_batch_with_an_interaction_gives_the_tokens_of_its_systems() {
    for (d, eta, phi, row_sum) in [
        (2, 0.1, "sigmoid:k=9", RowSum::Normalised),
        (3, f64::INFINITY, "2 + s^3 + sin(4*s)", RowSum::Normalised),
        (6, 0.5, "s^3 - 0.2", RowSum::Plain),
        (8, 0.5, "exp(20*(s - 1))", RowSum::Normalised),
        (2, 0.3, "abs(s)", RowSum::Plain),
    ] {
        let phi = Interaction::parse(phi, &[]).expect("finite");
        let attention = InteractionAttention::new(phi, row_sum).expect("weights").repelling(d == 2);
        let dynamics = Dynamics::single(attention);
        let systems: Vec<Tokens> = (0..13).map(|k| uniform(11, d, k)).collect();
        let lanes = dynamics.batch_field_at(0.0, (11, d)).expect("no mask");
        for isa in Isa::available() {
            let mut batch = Batch::new(&systems, isa).expect("one shape");
            batch.apply_layer(&lanes, eta);
            let mut out = systems[0].clone();
            for (k, system) in systems.iter().enumerate() {
                let field = dynamics.definition(0.0, system, OutputForm::Sum).expect("has one");
                let mut x = system.clone();
                step(eta, &mut x, &field);
                batch.read(k, &mut out);
                let worst = largest_difference(&out, &x);
                // An infinite step divides a sum by its length, which is at least 0.01 here.
                let allowed = if eta.is_infinite() { 1e-12 } else { 1e-14 };
                assert!(worst < allowed, "{} d {d} system {k}: {worst:e}", isa.name());
            }
        }
    }
}

/// Heads with matrices of normal numbers: one with Q, K and V, one with scores of rank one and an
/// output matrix, one with Q and K.
fn random_heads(d: usize, seed: u64) -> Vec<Head> {
    let mut stream = Stream::new(seed, &["heads in lanes"]);
    let mut matrix = |rows: usize, columns: usize| {
        let mut m = vec![0.0; rows * columns];
        stream.normals(&mut m);
        Some((rows, m))
    };
    let first = Head::new(d, matrix(d, d), matrix(d, d), matrix(d, d)).expect("shapes");
    let output = (d, matrix(d, 2).expect("a matrix").1);
    let second =
        Head::with_output(d, matrix(1, d), matrix(1, d), matrix(2, d), output).expect("shapes");
    vec![first, second, Head::new(d, matrix(d, d), None, None).expect("shapes")]
}

#[test]
fn a_batch_with_heads_gives_the_tokens_of_its_systems() {
    let usa = Weights::Exponential { log_factor: -4.0 };
    for (d, eta, beta, weights) in [
        (2, 0.1, 0.7, Weights::Softmax),
        (3, f64::INFINITY, 1.0, Weights::Softmax),
        (5, 0.5, -0.4, usa),
        (8, 0.1, 0.4, Weights::Softmax),
    ] {
        let systems: Vec<Tokens> = (0..13).map(|k| uniform(11, d, k)).collect();
        let all = random_heads(d, d as u64);
        for heads in [all.clone(), all[1..].to_vec(), vec![Head::default(), Head::default()]] {
            let attention = Attention { heads, weights, ..Attention::new(beta) };
            let lanes = |a: &Attention| BatchField::new(a, (11, d));
            assert!(lanes(&Attention { beta: 1e3, ..attention.clone() }).is_none());
            let lanes = lanes(&attention).expect("small scores");
            for isa in Isa::available() {
                let mut batch = Batch::new(&systems, isa).expect("one shape");
                batch.apply_layer(&lanes, eta);
                let mut out = systems[0].clone();
                for (k, system) in systems.iter().enumerate() {
                    let field = Dynamics::single(attention.clone())
                        .definition(0.0, system, OutputForm::Sum)
                        .expect("attention has one");
                    let mut x = system.clone();
                    step(eta, &mut x, &field);
                    batch.read(k, &mut out);
                    // An infinite step divides a sum by its length, which is at least 0.01 here.
                    let worst = largest_difference(&out, &x);
                    assert!(
                        worst < 1e-13 * (1.0 + if eta.is_infinite() { 100.0 } else { 0.0 }),
                        "{} d {d} system {k}: {worst:e}",
                        isa.name()
                    );
                }
            }
        }
    }
}

#[test]
fn an_ensemble_applies_the_heads_of_each_layer() {
    let (n, d, layers) = (9, 3, 7);
    let schedule =
        || Layers::new((0..5).map(|k| random_heads(d, 40 + k)).collect()).expect("layers");
    let dynamics =
        Dynamics::single(Scheduled { attention: Attention::new(0.5), schedule: schedule() });
    let parameters = RunParameters { n, d, beta: 0.5 };
    let recorder = || {
        Recorder::new(
            parameters,
            vec![0.0, 3.0, 7.0],
            false,
            vec![observable::find("mean-cosine").expect("registered")],
        )
    };
    let starts: Vec<Tokens> = (0..10).map(|k| uniform(n, d, 300 + k)).collect();
    let (mut ends, mut recorders) = (starts.clone(), vec![recorder(); 10]);
    let layer = Layer::new(0.2).expect("a step");
    assert_eq!(
        apply_layers_many(&dynamics, &mut ends, layer, layers, 1.0, None, &mut recorders)
            .expect("layers"),
        layers
    );
    for (k, start) in starts.iter().enumerate() {
        let mut own = recorder();
        let (alone, _) = apply_layers(&dynamics, start, layer, layers, 1.0, None, &mut [&mut own])
            .expect("layers");
        let difference = largest_difference(&ends[k], &alone);
        assert!(difference < 1e-12, "{difference:e}");
        assert!(own.table.rows.len() == 3 && recorders[k].table.rows.len() == 3);
        assert!(
            own.table
                .rows
                .iter()
                .zip(&recorders[k].table.rows)
                .all(|(a, b)| a[0].total_cmp(&b[0]).is_eq() && (a[1] - b[1]).abs() < 1e-12)
        );
    }
    // The control: with the heads of the first layer in all layers the end is different.
    let first = Dynamics::single(Attention { heads: random_heads(d, 40), ..Attention::new(0.5) });
    let mut others = starts.clone();
    apply_layers_many(&first, &mut others, layer, layers, 1.0, None, &mut vec![recorder(); 10])
        .expect("layers");
    assert!(
        others[0]
            .coordinates()
            .iter()
            .zip(ends[0].coordinates())
            .any(|(a, b)| (a - b).abs() > 1e-2)
    );
}

fn step(eta: f64, x: &mut Tokens, field: &[f64]) {
    let d = x.d();
    let moved = |(i, f): (usize, &[f64])| -> Vec<f64> {
        let row = x.row(i);
        f.iter().zip(row).map(|(f, x)| if eta.is_infinite() { *f } else { x + eta * f }).collect()
    };
    let rows: Vec<f64> = field.chunks_exact(d).enumerate().flat_map(moved).collect();
    *x = Tokens::normalised(d, rows).expect("finite");
}

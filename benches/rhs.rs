//! Seconds of one right-hand side by kernel and shape, of an energy and its Hessian, and of a count
//! of modes.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use metastable::attention::heads::{HeadsProblem, HeadsWorkspace, apply, apply_f32};
use metastable::attention::interaction::{Interaction, InteractionAttention, RowSum};
use metastable::attention::kernel::{
    ALL, Attention, Batch, BatchField, EXACT_ACCURACY, KernelChoice, Weights, Workspace,
};
use metastable::attention::pattern::{Causal, FullAttention, Pattern};
use metastable::attention::{
    Dynamics, Energy, EnergyScale, Head, Spec, dynamics, sinkhorn::Sinkhorn,
};
use metastable::continuity::{MeasureDynamics, circle::Circle, density::Density, sphere2::Sphere2};
use metastable::landscape::spectrum::extreme_eigenvalues;
use metastable::num::{
    dense::symmetric_eigenvalues, peak::exponentials, simd::Isa, stream::Stream,
};
use metastable::proofs::modes;
use metastable::sphere::{Tokens, law::Law};

fn tokens(n: usize, d: usize) -> Tokens {
    Law::parse("uniform")
        .expect("registered")
        .sample(n, d, &mut Stream::new(1, &["bench"]))
        .expect("valid")
}

fn kernels(c: &mut Criterion) {
    for kernel in ALL {
        let mut group = c.benchmark_group(format!("kernel {}", kernel.name()));
        group.sample_size(10);
        for (n, d) in [(32, 3), (128, 8), (256, 32), (1024, 64), (8192, 3), (8192, 2)] {
            let x = tokens(n, d);
            let spec =
                Spec { kernel: KernelChoice::Named(*kernel), accuracy: 1e-2, ..Spec::new(4.0, n) };
            let sa = dynamics::build("sa", false, &spec).expect("registered");
            if sa.kernel(&x).is_err() {
                continue;
            }
            let (mut v, mut work) = (vec![0.0; n * d], Workspace::default());
            group.throughput(Throughput::Elements((n * n) as u64));
            group.bench_with_input(
                BenchmarkId::from_parameter(format!("n={n} d={d}")),
                &x,
                |b, x| b.iter(|| sa.rates(0.0, x, &mut work, &mut v)),
            );
        }
        group.finish();
    }
}

/// The exponential, a formula of degree 24, a long series and a kink, at one accuracy each.
fn interactions(c: &mut Criterion) {
    for (n, d) in [(512, 64), (4096, 128), (8192, 3)] {
        let x = tokens(n, d);
        for accuracy in [1e-9, EXACT_ACCURACY] {
            let mut group = c.benchmark_group(format!("interactions n={n} d={d} {accuracy:e}"));
            group.sample_size(10);
            let (mut v, mut work) = (vec![0.0; n * d], Workspace::default());
            let usa = dynamics::build("usa", false, &Spec { accuracy, ..Spec::new(4.0, n) })
                .expect("registered");
            group.bench_function("exponential", |b| {
                b.iter(|| usa.rates(0.0, &x, &mut work, &mut v))
            });
            for text in ["exp(2*s) + 0.3*s^3 + sin(4*s)", "sigmoid:k=9", "relu:p=1"] {
                let phi = Interaction::parse(text, &[]).expect("a formula");
                let one = InteractionAttention::new(phi, RowSum::Plain)
                    .expect("no row weights")
                    .with_accuracy(accuracy);
                let flow = Dynamics::single(one);
                group.bench_function(text, |b| b.iter(|| flow.rates(0.0, &x, &mut work, &mut v)));
            }
            group.finish();
        }
    }
}

fn causal(c: &mut Criterion) {
    let mut group = c.benchmark_group("causal-sa");
    group.sample_size(10);
    for (n, d) in [(1024, 3), (1024, 64)] {
        let x = tokens(n, d);
        let dynamics = dynamics::build("causal-sa", false, &Spec::new(4.0, n)).expect("registered");
        let (mut v, mut work) = (vec![0.0; n * d], Workspace::default());
        group.bench_with_input(BenchmarkId::from_parameter(format!("n={n} d={d}")), &x, |b, x| {
            b.iter(|| dynamics.rates(0.0, x, &mut work, &mut v))
        });
    }
    group.finish();
}

fn energies(c: &mut Criterion) {
    for (n, d) in [(512, 16), (128, 8)] {
        let mut group = c.benchmark_group(format!("energy n={n} d={d}"));
        let x = tokens(n, d);
        let energy = Energy::new(4.0, EnergyScale::Mean);
        let u = vec![0.01; n * d];
        let (mut out, mut work) = (vec![0.0; n * d], Workspace::default());
        group.sample_size(10);
        group.bench_function("log value", |b| b.iter(|| energy.log_value(&x)));
        group
            .bench_function("gradient", |b| b.iter(|| energy.scaled_grad(&x, &mut work, &mut out)));
        group.bench_function("Hessian product", |b| {
            b.iter(|| energy.scaled_hess_vec(&x, &u, &mut work, &mut out))
        });
        if n == 128 {
            let h = energy.scaled_hessian(&x);
            group.bench_function("Hessian", |b| b.iter(|| energy.scaled_hessian(&x)));
            group.bench_function("spectrum", |b| b.iter(|| symmetric_eigenvalues(&h, n * (d - 1))));
            group.bench_function("ten eigenvalues at each end", |b| {
                b.iter(|| extreme_eigenvalues(4.0, &x, 10))
            });
        }
        group.finish();
    }
}

fn densities(c: &mut Criterion) {
    let mut group = c.benchmark_group("densities");
    group.sample_size(10);
    let density = Density::parse("vmf:kappa=2,at=1,mass=0.5").expect("registered");
    let circle = Circle::from_density(&density, 1024).expect("valid");
    let sphere = Sphere2::from_density(&density, 128).expect("valid");
    for dynamics in ["sa", "usa"] {
        let medium = MeasureDynamics::new(dynamics, 5.0, 0.0).expect("registered");
        let on_circle = circle.right_hand_side(&medium).expect("a right-hand side");
        let on_sphere = sphere.right_hand_side(&medium).expect("a right-hand side");
        group.bench_function(format!("circle, {dynamics}"), |b| b.iter(|| on_circle(&circle.c)));
        group.bench_function(format!("S^2, {dynamics}"), |b| b.iter(|| on_sphere(&sphere.a)));
    }
    group.finish();
}

fn counts_of_modes(c: &mut Criterion) {
    let mut group = c.benchmark_group("modes n=100000 beta=10000");
    group.sample_size(10);
    let mut samples = vec![0.0; 100_000];
    Stream::new(1, &["bench", "modes"]).normals(&mut samples);
    group.bench_function("line", |b| b.iter(|| modes::line(&samples, 1e4)));
    group.bench_function("circle", |b| b.iter(|| modes::circle(&samples, 1e4)));
    group.finish();
}

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("parts");
    let start: Vec<f64> = (0..4096).map(|i| -0.01 * f64::from(i)).collect();
    for isa in Isa::available() {
        let mut t = start.clone();
        group.bench_function(format!("4096 exponentials, {}", isa.name()), |b| {
            b.iter(|| {
                t.copy_from_slice(&start);
                exponentials(isa, &mut t);
            });
        });
    }
    let systems: Vec<Tokens> = (0..64).map(|_| tokens(32, 2)).collect();
    let mut batch = Batch::new(&systems, Isa::best()).expect("one shape");
    if let Some(field) = BatchField::new(&Attention::new(4.0), (32, 2)) {
        group.bench_function("one layer of 64 systems, n=32 d=2", |b| {
            b.iter(|| batch.apply_layer(&field, 0.1))
        });
    }
    group.finish();
}

fn heads(c: &mut Criterion) {
    let mut group = c.benchmark_group("heads");
    group.sample_size(10);
    for (n, d, count) in [(182, 384, 12), (512, 256, 1), (512, 768, 12)] {
        let mut stream = Stream::new(1, &["bench", "heads"]);
        let mut normals = |count: usize, scale: f64| {
            let mut x = vec![0.0; count];
            stream.normals(&mut x);
            x.iter_mut().for_each(|x| *x *= scale);
            x
        };
        let (r, scale) = (d / count, 1.0 / (d as f64).sqrt());
        let x = normals(n * d, 1.0);
        let mut head = || {
            let [q, k, v, o] = std::array::from_fn(|_| normals(r * d, scale));
            Head::with_output(d, Some((r, q)), Some((r, k)), Some((r, v)), (d, o))
                .expect("shapes agree")
        };
        let heads: Vec<Head> = (0..count).map(|_| head()).collect();
        let masses = vec![1.0 / n as f64; n];
        let (mut work, mut out) = (HeadsWorkspace::default(), vec![0.0; n * d]);
        let patterns: [(&str, &dyn Pattern); 2] =
            [("everything", &FullAttention), ("causal", &Causal)];
        for (name, pattern) in patterns {
            let (beta, weights, isa) = (1.0 / (r as f64).sqrt(), Weights::Softmax, Isa::best());
            let job = HeadsProblem {
                queries: &x,
                sources: &x,
                masses: &masses,
                d,
                beta,
                heads: &heads,
                pattern,
                weights,
                isa,
            };
            let label = |precision: &str| {
                BenchmarkId::new(
                    format!("{name}, {precision}"),
                    format!("n={n} d={d} heads={count}"),
                )
            };
            group.bench_function(label("f64"), |b| b.iter(|| apply(&job, &mut work, &mut out)));
            group.bench_function(label("f32"), |b| b.iter(|| apply_f32(&job, &mut work, &mut out)));
        }
    }
    group.finish();
}

fn sinkhorn(c: &mut Criterion) {
    let mut group = c.benchmark_group("sinkhorn");
    group.sample_size(10);
    for (n, d) in [(128, 3), (512, 3), (512, 64)] {
        let x = tokens(n, d);
        let dynamics = Dynamics::single(Sinkhorn::new(4.0, 1e-12).expect("valid"));
        let (mut v, mut work) = (vec![0.0; n * d], Workspace::default());
        group.bench_with_input(BenchmarkId::from_parameter(format!("n={n} d={d}")), &x, |b, x| {
            b.iter(|| dynamics.rates(0.0, x, &mut work, &mut v))
        });
    }
    group.finish();
}

criterion_group!(
    benches,
    kernels,
    interactions,
    causal,
    energies,
    densities,
    counts_of_modes,
    parts,
    heads,
    sinkhorn
);
criterion_main!(benches);

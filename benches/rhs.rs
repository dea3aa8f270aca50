//! Seconds of one right-hand side by kernel and shape, of an energy, and of a Hessian product.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use metastable::attention::kernel::{ALL, Attention, Batch, Choice, Workspace};
use metastable::attention::{Energy, EnergyScale, Spec, dynamics};
use metastable::num::{loops::exponentials, simd::Level, stream::Stream};
use metastable::sphere::{Tokens, law::Law};

fn tokens(n: usize, d: usize) -> Tokens {
    Law::parse("uniform").expect("registered").sample(n, d, &mut Stream::new(1, &["bench"])).expect("valid")
}

fn kernels(c: &mut Criterion) {
    for kernel in ALL {
        let mut group = c.benchmark_group(format!("kernel {}", kernel.name()));
        group.sample_size(10);
        for (n, d) in [(32, 3), (128, 8), (256, 32), (1024, 64), (8192, 3), (8192, 2)] {
            let x = tokens(n, d);
            let spec = Spec { kernel: Choice::Named(*kernel), accuracy: 1e-2, ..Spec::new(4.0, n) };
            let sa = dynamics::build("sa", false, &spec).expect("registered");
            if sa.kernel(&x).is_err() {
                continue;
            }
            let (mut v, mut work) = (vec![0.0; n * d], Workspace::default());
            group.throughput(Throughput::Elements((n * n) as u64));
            group.bench_with_input(BenchmarkId::from_parameter(format!("n={n} d={d}")), &x, |b, x| {
                b.iter(|| sa.rates(0.0, x, &mut work, &mut v))
            });
        }
        group.finish();
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
    let mut group = c.benchmark_group("energy n=512 d=16");
    let x = tokens(512, 16);
    let energy = Energy::new(4.0, EnergyScale::Mean);
    let u = vec![0.01; 512 * 16];
    let mut out = vec![0.0; 512 * 16];
    group.sample_size(10);
    group.bench_function("log value", |b| b.iter(|| energy.log_value(&x)));
    group.bench_function("gradient", |b| b.iter(|| energy.scaled_grad(&x, &mut out)));
    group.bench_function("Hessian product", |b| b.iter(|| energy.scaled_hess_vec(&x, &u, &mut out)));
    group.finish();
}

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("parts");
    let start: Vec<f64> = (0..4096).map(|i| -0.01 * f64::from(i)).collect();
    for level in Level::available() {
        let mut t = start.clone();
        group.bench_function(format!("4096 exponentials, {}", level.name()), |b| {
            b.iter(|| {
                t.copy_from_slice(&start);
                exponentials(level, &mut t);
            });
        });
    }
    let systems: Vec<Tokens> = (0..64).map(|_| tokens(32, 2)).collect();
    let mut batch = Batch::new(&systems, Level::best()).expect("one shape");
    let attention = Attention::new(4.0);
    group.bench_function("one layer of 64 systems, n=32 d=2", |b| b.iter(|| batch.layer(&attention, 0.1)));
    group.finish();
}

criterion_group!(benches, kernels, causal, energies, parts);
criterion_main!(benches);

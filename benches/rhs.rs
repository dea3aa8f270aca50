//! Seconds of one right-hand side, energy and Hessian product, by shape.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use metastable::attention::{Energy, EnergyScale, Spec, dynamics};
use metastable::num::stream::Stream;
use metastable::sphere::{Tokens, law::Law};

fn tokens(n: usize, d: usize) -> Tokens {
    Law::parse("uniform").expect("registered").sample(n, d, &mut Stream::new(1, &["bench"])).expect("valid")
}

fn right_hand_sides(c: &mut Criterion) {
    for name in ["sa", "usa", "causal-sa"] {
        let mut group = c.benchmark_group(format!("rhs {name}"));
        for (n, d) in [(32, 3), (128, 8), (256, 32), (1024, 64), (8192, 3)] {
            let x = tokens(n, d);
            let dynamics = dynamics::build(name, false, &Spec::new(4.0, n)).expect("registered");
            let mut v = vec![0.0; n * d];
            group.throughput(Throughput::Elements((n * n) as u64));
            group.sample_size(10);
            group.bench_with_input(BenchmarkId::from_parameter(format!("n={n} d={d}")), &x, |b, x| b.iter(|| dynamics.velocity(x, &mut v)));
        }
        group.finish();
    }
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

criterion_group!(benches, right_hand_sides, energies);
criterion_main!(benches);

//! Seconds of whole runs: to one cluster across plateaus, and one column of the phase diagram.

use criterion::{Criterion, criterion_group, criterion_main};
use metastable::attention::{Spec, dynamics, layer::Layer};
use metastable::flow::{Options, iterate, solve};
use metastable::num::stream::Stream;
use metastable::sphere::law::Law;

fn runs(c: &mut Criterion) {
    let draw = |n, d| Law::parse("uniform").expect("registered").sample(n, d, &mut Stream::new(1, &["bench"])).expect("valid");
    let mut group = c.benchmark_group("runs");
    group.sample_size(10);
    let x = draw(64, 2);
    let sa = dynamics::build("sa", false, &Spec::new(25.0, 64)).expect("registered");
    let options = Options { stop_at_one_cluster: true, ..Options::default() };
    group.bench_function("n=64 d=2 beta=25 to one cluster", |b| b.iter(|| solve(&sa, &x, 1e300, &options, &mut [])));
    let x = draw(32, 2);
    let sa = dynamics::build("sa", false, &Spec::new(4.0, 32)).expect("registered");
    let layer = Layer::new(0.1).expect("valid");
    group.bench_function("n=32 d=2 beta=4, 300 layers", |b| b.iter(|| iterate(&sa, &x, layer, 300, 0.1, None, &mut [])));
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);

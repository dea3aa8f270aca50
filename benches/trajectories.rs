//! Seconds of whole runs: to one cluster across plateaus, one column of the phase diagram, tokens
//! of R^d, steps with noise, layers with random values, blocks of a trained model's size.

use criterion::{Criterion, criterion_group, criterion_main};
use metastable::attention::{Dynamics, Spec, dynamics, kernel::Attention, layer::Layer};
use metastable::attention::{
    model::Model, noise::Isotropic, pattern::FullAttention, random_values::RandomValues,
};
use metastable::flow::{
    Options, SDE_VELOCITY_ACCURACY, SdeOptions, Splitting, apply_layers, solve, solve_sde,
    velocity_accuracy,
};
use metastable::num::stream::Stream;
use metastable::sphere::{Tokens, law::Law};
use metastable::transformer::random::{BlockSizes, random_block};
use metastable::transformer::{Float, NormPlacement, TransformerBlock};
use std::sync::Arc;

fn draw(n: usize, d: usize) -> Tokens {
    Law::parse("uniform")
        .expect("registered")
        .sample(n, d, &mut Stream::new(1, &["bench"]))
        .expect("valid")
}

fn runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("runs");
    group.sample_size(10);
    let x = draw(64, 2);
    let sa = dynamics::build("sa", false, &Spec::new(25.0, 64)).expect("registered");
    let options = Options { stop_at_one_cluster: true, ..Options::default() };
    group.bench_function("n=64 d=2 beta=25 to one cluster", |b| {
        b.iter(|| solve(&sa, &x, 1e300, &options, &mut []))
    });
    let x = draw(32, 2);
    let sa = dynamics::build("sa", false, &Spec::new(4.0, 32)).expect("registered");
    let layer = Layer::new(0.1).expect("valid");
    group.bench_function("n=32 d=2 beta=4, 300 layers", |b| {
        b.iter(|| apply_layers(&sa, &x, layer, 300, 0.1, None, &mut []))
    });
    group.finish();
}

/// A matrix with one growing direction (arXiv:2305.05465, one of the printed ones).
const V: [f64; 9] = [
    0.2362413, 0.0599536, 0.40506019, 0.81321448, 0.49948705, 0.33754772, 0.2160645, 0.38505272,
    0.14588075,
];

fn beyond_the_sphere(c: &mut Criterion) {
    let mut group = c.benchmark_group("beyond the sphere");
    group.sample_size(10);
    let mut x = vec![0.0; 120];
    Stream::new(1, &["bench"]).normals(&mut x);
    let x = Tokens::flat(3, x).expect("valid");
    let model = Model {
        rescaled: true,
        heads: vec![[None, None, Some((3, V.to_vec())), None]],
        ..Model::default()
    };
    let spec = Spec { accuracy: velocity_accuracy(1e-10, 1.0), ..Spec::new(1.0, 40) };
    let flow = model.build("sa", false, &spec, 3).expect("valid");
    let options = Options { rtol: 1e-10, merge_radius: 0.0, ..Options::default() };
    group
        .bench_function("R^3 n=40 to t=8", |b| b.iter(|| solve(&flow, &x, 8.0, &options, &mut [])));
    let x = draw(4096, 3);
    let noise = Isotropic::new(10.0).expect("valid");
    let sa = Dynamics::single(Attention { accuracy: SDE_VELOCITY_ACCURACY, ..Attention::new(4.0) });
    let plan = SdeOptions {
        noise: &noise,
        step: 0.01,
        seed: 1,
        splitting: Splitting::Strang,
        cancel: None,
    };
    group.bench_function("n=4096 d=3, ten steps with noise", |b| {
        b.iter(|| solve_sde(&sa, &x, 0.1, &plan, &mut []))
    });
    let (layer, mut x, mut stream) =
        (RandomValues::new(1.0, 0.1).expect("valid"), draw(16, 256), Stream::new(1, &["bench"]));
    group.bench_function("n=16 d=256, a layer with random values", |b| {
        b.iter(|| layer.apply(&mut x, &mut stream))
    });
    group.finish();
}

/// Six blocks of MiniLM's size.
fn blocks<T: Float>(c: &mut Criterion) {
    let mut group = c.benchmark_group("six blocks, n=512 d=384 heads=12 hidden=1536");
    group.sample_size(10);
    let sizes =
        BlockSizes { d: 384, heads: 12, hidden: 1536, size: 1.0, place: NormPlacement::Post };
    let mut stream = Stream::new(1, &["bench"]);
    let mut next =
        || random_block(&mut stream, &sizes, Arc::new(FullAttention)).expect("valid").rounded();
    let blocks: Vec<TransformerBlock<T>> = (0..6).map(|_| next()).collect();
    let start: Vec<T> = draw(512, 384).coordinates().iter().map(|v| T::from_f64(*v)).collect();
    let pass = || blocks.iter().try_fold(start.clone(), |x, block| block.step(&x, None, 1.0));
    group.bench_function(format!("f{}", 8 * size_of::<T>()), |b| b.iter(pass));
    group.finish();
}

criterion_group!(benches, runs, beyond_the_sphere, blocks::<f32>, blocks::<f64>);
criterion_main!(benches);

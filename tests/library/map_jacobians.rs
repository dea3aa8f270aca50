//! Jacobians of maps against differences and against their transposes. Zeros outside the receptive
//! field. Attention against the kernel sums. Lyapunov exponents against determinants.

use metastable::attention::{Dynamics, kernel::Attention, layer::Layer};
use metastable::num::{cloud, dense, linearised::Linearised, stream::Stream, sum::dot};
use metastable::recurrent::{
    MapSpec, ReceptiveField,
    cell::CellInTime,
    linearise_layer,
    lyapunov::{exponents, mixing},
    map, observe,
};
use metastable::sphere::Tokens;

const SPEC: MapSpec = MapSpec { n: 4, d: 3, layers: 6, gain: 1.2, seed: 7 };

fn normals(count: usize, name: &str) -> Vec<f64> {
    let mut out = vec![0.0; count];
    Stream::new(3, &["recurrent tests", name]).normals(&mut out);
    out
}

#[test]
fn jacobians_agree_with_differences_and_transposes() {
    for named in map::ALL {
        let map = (named.build)(&SPEC);
        let (x, u, w) = (normals(12, "x"), normals(12, "u"), normals(12, "w"));
        let here = linearise_layer(map.as_ref(), 2, SPEC.d, &x);
        let (jvp, vjp) = (here.jvp(&u), here.vjp(&w));
        // Central differences of order four: an error of h^4 times a fifth derivative, and a
        // rounding error of u / h.
        let h = 1e-3;
        let moved = |s: f64| {
            let y: Vec<f64> = x.iter().zip(&u).map(|(x, u)| x + s * h * u).collect();
            linearise_layer(map.as_ref(), 2, SPEC.d, &y).value().to_vec()
        };
        let (a, b, c, e) = (moved(-2.0), moved(-1.0), moved(1.0), moved(2.0));
        for k in 0..12 {
            let slope = (a[k] - 8.0 * b[k] + 8.0 * c[k] - e[k]) / (12.0 * h);
            assert!(
                (slope - jvp[k]).abs() < 1e-8 * (1.0 + jvp[k].abs()),
                "{}: {slope} instead of {}",
                named.name,
                jvp[k]
            );
        }
        let (left, right) = (dot(&w, &jvp), dot(&vjp, &u));
        assert!(
            (left - right).abs() < 1e-13 * (1.0 + left.abs()),
            "{}: {left} instead of {right}",
            named.name
        );
        let jacobian = here.jacobian();
        let mut by_rows = vec![0.0; 12];
        dense::mat_vec(&jacobian, &u, &mut by_rows);
        assert!(
            by_rows.iter().zip(&jvp).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs())),
            "{}",
            named.name
        );
    }
}

#[test]
fn rows_depend_exactly_on_their_receptive_fields() {
    for named in map::ALL {
        let map = (named.build)(&SPEC);
        let layers = if named.receptive_field == ReceptiveField::Neighbours { 2 } else { 3 };
        let m = mixing(map.as_ref(), &normals(12, "x"), SPEC.d, layers);
        for (k, v) in m.iter().enumerate() {
            let (i, j) = (k / SPEC.n, k % SPEC.n);
            let allowed = named.receptive_field.allows(layers, i, j);
            assert!(
                if allowed { *v > 0.0 } else { *v == 0.0 },
                "{}: row {i} depends on row {j} by {v}",
                named.name
            );
        }
    }
}

#[test]
fn attention_agrees_with_a_layer_of_the_kernel_sums() {
    let identity = dense::identity(3);
    let beta = 2.5;
    let query: Vec<f64> = identity.iter().map(|v| beta * v).collect();
    let attention = map::attention::SphereAttention {
        query,
        key: identity.clone(),
        value: identity,
        step: 0.3,
        causal: false,
    };
    let mut x = Tokens::normalised(3, normals(15, "tokens")).expect("tokens");
    let found = linearise_layer(&attention, 0, 3, x.coordinates()).value().to_vec();
    Layer::new(0.3).expect("a step").apply(&Dynamics::single(Attention::new(beta)), &mut x);
    assert!(
        found.iter().zip(x.coordinates()).all(|(a, b)| (a - b).abs() < 1e-13),
        "{found:?} instead of {:?}",
        x.coordinates()
    );
}

#[test]
fn the_sum_of_all_exponents_is_the_mean_log_determinant() {
    let spec = MapSpec { n: 1, d: 4, layers: 40, gain: 1.0, seed: 5 };
    for name in ["rnn", "gru-v1", "lstm"] {
        let map = (map::find(name).expect("registered").build)(&spec);
        let cell = map.cell().expect("recurrent");
        let time = CellInTime { cell, size: 0.5, seed: 2 };
        let width = cell.width();
        let start = vec![0.1; width];
        let all = exponents(&time, &start, width, (0, 40), width);
        let (mut x, mut log_det) = (start, 0.0);
        for t in 0..40 {
            let here = linearise_layer(&time, t, width, &x);
            // |det J| is the product of the moduli of the eigenvalues.
            let values = dense::eigenvalues(&here.jacobian(), width).expect("finite");
            log_det += values.iter().map(|(a, b)| a.hypot(*b).ln()).sum::<f64>();
            x = here.value().to_vec();
        }
        let sum: f64 = all.iter().sum();
        assert!(
            (sum - log_det / 40.0).abs() < 1e-9 * (1.0 + sum.abs()),
            "{name}: {sum} instead of {}",
            log_det / 40.0
        );
    }
}

#[test]
fn observables_of_known_rows() {
    let orthonormal = dense::identity(3);
    assert!(
        (cloud::effective_rank(&orthonormal, 3) - 3.0).abs() < 1e-12
            && cloud::mean_cosine(&orthonormal, 3).abs() < 1e-15
    );
    let equal = [1.0, 2.0, 1.0, 2.0];
    assert!(
        (cloud::effective_rank(&equal, 2) - 1.0).abs() < 1e-7
            && cloud::equal_rows_residual(&equal, 2) < 1e-15
    );
}

#[test]
fn invalid_maps_are_errors() {
    assert!(map::find("gru").is_err_and(|e| e.to_string().contains("gru-v")));
    for spec in [
        MapSpec { n: 0, ..SPEC },
        MapSpec { d: 0, ..SPEC },
        MapSpec { gain: f64::NAN, ..SPEC },
        MapSpec { n: 200, d: 200, ..SPEC },
    ] {
        assert!(observe::summarise(map::ALL[0], &spec, 2).is_err(), "{spec:?}");
    }
}

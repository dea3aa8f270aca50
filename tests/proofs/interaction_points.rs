//! Certified critical points of the energies of interactions.

use crate::given::{polygon, tetrahedron};
use metastable::attention::interaction::Interaction;
use metastable::landscape::CriticalPoint;
use metastable::proofs::critical_point::{Certificate, check, prove, prove_interaction};
use metastable::sphere::Tokens;
use metastable_verifier as verifier;

fn phi(text: &str) -> Interaction {
    Interaction::parse(text, &[("beta", 4.0)]).expect("an interaction")
}

/// Directions of ascent and of descent.
fn signs(text: &str, x: &Tokens, sizes: &[usize]) -> (usize, usize) {
    let proof = prove_interaction(&phi(text), x, sizes).expect("a proof");
    let statement = verifier::check(&proof.to_text()).expect("the verifier accepts it");
    assert!(statement.contains("exactly one is a critical"), "{statement}");
    (proof.unstable, proof.morse_index)
}

#[test]
fn the_exponential_as_a_formula_has_the_signs_of_the_exponential() {
    for (x, sizes) in [
        (polygon(2), vec![3, 2]),
        (polygon(3), vec![1, 1, 1]),
        (polygon(5), vec![2; 5]),
        (tetrahedron(), vec![1, 1, 1, 1]),
    ] {
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
        let weighted = x.clone().with_masses(&masses).expect("masses");
        let point = CriticalPoint::near(4.0, &weighted, &sizes).expect("a critical point");
        let one = prove(&point).expect("a proof");
        for text in ["exp(beta*s)", "exp(beta*(s - 1))"] {
            let other = prove_interaction(&phi(text), &x, &sizes).expect("a proof");
            assert_eq!(
                (one.unstable, one.morse_index, &one.rotations),
                (other.unstable, other.morse_index, &other.rotations)
            );
            assert!(other.radius < 16.0 * one.radius + 1e-13, "{:e}", other.radius);
        }
    }
}

#[test]
fn polygons_that_stay_and_polygons_that_do_not() {
    // A positive increasing interaction that keeps five tokens apart.
    let step = "1/(1 + exp(-10*(s + 0.25)))";
    for (text, sizes, found) in [
        // Under s^2 the triangle is a strict maximum, under s^3 two directions lead up.
        ("s^2", &[1, 1, 1][..], (0, 2)),
        ("s^3", &[1, 1, 1], (2, 0)),
        (step, &[1; 5], (0, 4)),
        (step, &[3; 5], (0, 14)),
        // A kink away from all inner products is no obstacle.
        ("relu(s + 0.75)", &[1, 1, 1], (2, 0)),
    ] {
        assert_eq!(signs(text, &polygon(sizes.len()), sizes), found, "{text}");
    }
}

#[test]
fn kinks_and_false_statements_are_refused() {
    let triangle = polygon(3);
    let e = prove_interaction(&phi("relu(s + 0.5)"), &triangle, &[1, 1, 1]).expect_err("a kink");
    assert!(e.to_string().contains("derivative"), "{e}");
    let e = prove_interaction(&phi("s^2"), &triangle, &[1, 1]).expect_err("two sizes");
    assert!(e.to_string().contains("3 clusters"), "{e}");

    let proof = prove_interaction(&phi("s^2"), &triangle, &[1, 1, 1]).expect("a proof");
    assert!(check(&proof).is_ok());
    let lies: [fn(&mut Certificate); 6] = [
        |c| (c.unstable, c.morse_index) = (1, 1),
        |c| c.formula = phi("s^3").formula().clone().into(),
        |c| c.formula = None,
        |c| c.points[0] += 1e-3,
        |c| c.radius = 0.09,
        |c| c.sizes[0] = 2,
    ];
    for (k, lie) in lies.into_iter().enumerate() {
        let mut forged = proof.clone();
        lie(&mut forged);
        let refused = check(&forged).is_err() && verifier::check(&forged.to_text()).is_err();
        assert!(refused, "lie {k}");
    }
}

#[test]
fn certificates_with_a_formula_are_read_back() {
    let text = "exp(beta*s) + c*s^3";
    let phi = Interaction::parse(text, &[("beta", 2.0), ("c", 0.1)]).expect("an interaction");
    let proof = prove_interaction(&phi, &polygon(4), &[1, 2, 1, 2]).expect("a proof");
    let written = proof.to_text();
    assert_eq!(Certificate::from_text(&written).expect("a certificate"), proof);
    assert!(proof.statement().contains("phi(s) = exp(beta*s) + c*s^3, beta = 2e0, c = 1e-1"));
    let changed = written.replacen("s^3", "s^5", 1);
    assert!(Certificate::from_text(&changed).is_err());
}

#[test]
fn the_verifier_computes_every_function_of_formulas() {
    // Under the first formulas the triangle is a maximum, under the second ones it is none.
    let triangle = polygon(3);
    let forms = [
        ("exp(s)*exp(-s)*s^2", "exp(9*s)*s^2"),
        ("ln(exp(s^2 + 0.5)) + s^2", "ln(exp(s^2 + 5)) + s^2"),
        ("sqrt(s^2 + 1)*(s^2 + 1)^0.5", "sqrt(s^2 + 1)*(s^2 + 1)^(-1.5)"),
        ("s^2 + sin(s)^2 + cos(s)^2", "s^2 + sin(s)^2 + cos(2*s)^2"),
        ("2*s^2 + tan(s)*cos(s) - sin(s)", "2*s^2 + tan(s)*cos(s) + 9*sin(s)"),
        ("s^2 + cosh(s)^2 - sinh(s)^2", "s^2 + cosh(s)^2 - 9*sinh(s)^2"),
        ("s^2 + tanh(s)*cosh(s) - sinh(s)", "s^2 + tanh(s)*cosh(s) + 9*sinh(s)"),
        ("s^2 + abs(s) + s", "s^2 - abs(9*s) + s"),
        ("s^2 + relu(s - 0.5) + pi*1e-1", "s^2 - relu(5 - 9*s) + pi*1e-1"),
        ("s^2*(2 + s)/(2 + s)", "1/(1 + s^2)"),
        ("(s + 2)^(-2)*(s + 2)^2*s^2", "(s + 2)^2"),
    ];
    for (text, other) in forms {
        let proof = prove_interaction(&phi(text), &triangle, &[1, 1, 1]).expect(text);
        assert_eq!((proof.unstable, proof.morse_index), (0, 2), "{text}");
        verifier::check(&proof.to_text()).unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut forged = proof.clone();
        forged.formula = phi(other).formula().clone().into();
        assert!(verifier::check(&forged.to_text()).is_err(), "{other}");
        assert!(check(&forged).is_err(), "{other}");
    }
}

//! The equations contain their definitions, and the derivatives difference quotients.

use super::super::super::cell::Mass;
use super::super::super::family::Family;
use super::super::super::kernel::Law;
use super::{Chart, Kind, Over, System, Unit};
use crate::num::interval::Interval;
use crate::num::stream::Stream;
use std::sync::Arc;

/// The mass that varies, next to a fixed one.
const VARYING: Mass = Mass { fixed: 1.0, varying: 1.0, typical: 3.0 };

/// The weight phi of two tokens at a distance, at a parameter, and its derivative by the inner
/// product.
fn phi(law: &Law, d: f64, p: f64) -> (f64, f64) {
    let exponential = |beta: f64| {
        let e = (beta * (d.cos() - 1.0)).exp();
        (e, beta * e)
    };
    match law {
        Law::Fixed(beta) => exponential(*beta),
        Law::Family(_) => {
            let sigmoid = 1.0 / (1.0 + (-p * d.cos()).exp());
            (sigmoid, p * sigmoid * (1.0 - sigmoid))
        }
        _ => exponential(p),
    }
}

/// Forces on the first units, then quotients, by the definitions.
fn plain(system: &System, z: &[f64], p: f64) -> Vec<f64> {
    let mass = |m: Mass| m.fixed + m.varying * p;
    let gaps = system.distances();
    let (mut at, mut tokens, mut pair) = (0.0, Vec::new(), gaps);
    for (x, unit) in system.units.iter().enumerate() {
        if unit.is_double() {
            let g = if unit.kind == Kind::Pair { z[pair].sqrt() } else { z[pair] };
            pair += 1;
            for member in unit.members() {
                tokens.push((x, at + member.place.mid() * g, mass(member.mass)));
            }
        } else {
            tokens.push((x, at, mass(unit.mass)));
        }
        at += std::f64::consts::TAU * z.get(x).copied().unwrap_or(0.0);
    }
    let u = |d: f64| phi(&system.law, d, p).0 * d.sin();
    let w = |d: f64| {
        let (value, slope) = phi(&system.law, d, p);
        value * d.cos() - slope * d.sin().powi(2)
    };
    let force = |i: usize| -> f64 { tokens.iter().map(|t| t.2 * u(t.1 - tokens[i].1)).sum() };
    let tokens = &tokens;
    let of = |x: usize| (0..tokens.len()).filter(move |i| tokens[*i].0 == x);
    let mut found: Vec<f64> =
        (0..gaps).map(|l| (0..=l).flat_map(of).map(|i| tokens[i].2 * force(i)).sum()).collect();
    for (x, unit) in system.units.iter().enumerate() {
        let own: Vec<usize> = of(x).collect();
        match unit.kind {
            Kind::Single | Kind::Triple => {}
            Kind::Watched => {
                found.push(tokens.iter().map(|t| t.2 * w(t.1 - tokens[own[0]].1)).sum())
            }
            Kind::Pair | Kind::Uneven(_) => {
                found.push((force(own[0]) - force(own[1])) / (tokens[own[1]].1 - tokens[own[0]].1))
            }
        }
    }
    found
}

/// The systems with fixed masses.
fn fixed() -> Vec<Vec<Unit>> {
    let unit = |mass, kind| Unit { mass: Mass::fixed(mass), kind };
    let uneven = |second| Kind::Uneven(Mass::fixed(second));
    vec![
        vec![unit(2.0, Kind::Pair), unit(1.0, Kind::Single), unit(1.0, Kind::Single)],
        vec![unit(3.0, Kind::Single), unit(1.0, Kind::Pair), unit(1.0, Kind::Pair)],
        vec![unit(1.0, Kind::Single), unit(4.0, Kind::Watched), unit(1.0, Kind::Pair)],
        vec![unit(1.0, uneven(2.0)), unit(3.0, Kind::Single), unit(1.0, Kind::Pair)],
        vec![unit(2.0, Kind::Pair), unit(3.0, uneven(1.0)), unit(1.0, Kind::Single)],
    ]
}

/// The systems in which a mass varies.
fn varying() -> Vec<Vec<Unit>> {
    let unit = |mass, kind| Unit { mass: Mass::fixed(mass), kind };
    let own = |kind| Unit { mass: VARYING, kind };
    let two = Mass::fixed(2.0);
    vec![
        vec![unit(2.0, Kind::Pair), own(Kind::Single), unit(1.0, Kind::Single)],
        vec![own(Kind::Watched), unit(1.0, Kind::Pair), unit(1.0, Kind::Single)],
        vec![own(Kind::Uneven(two)), unit(3.0, Kind::Single), unit(1.0, Kind::Pair)],
        vec![unit(2.0, Kind::Pair), unit(3.0, Kind::Uneven(VARYING)), unit(1.0, Kind::Single)],
        vec![unit(1.0, Kind::Uneven(two)), unit(1.0, Kind::Watched), own(Kind::Uneven(two))],
    ]
}

fn check(law: &Law, systems: &[Vec<Unit>], seed: u64) {
    let mut stream = Stream::new(seed, &["branch systems"]);
    for k in 0..100 * systems.len() {
        let units = systems[k % systems.len()].clone();
        let system = System { units, chart: Chart::Distances, law: law.clone() };
        let p = stream.uniform_in(0.1, 3.9);
        let unknowns = system.distances() + system.doubles().len();
        let z: Vec<f64> = (0..unknowns)
            .map(|x| {
                let small = x >= system.distances();
                if small { stream.uniform_in(0.01, 0.2) } else { stream.uniform_in(0.15, 0.4) }
            })
            .collect();
        let width = 1e-3;
        let boxed: Vec<Interval> = z.iter().map(|v| Interval::new(*v, v + width)).collect();
        let over = Over::new(law, Interval::new(p, p + width));
        let value = system.evaluate_over(&boxed, &over);
        let inside: Vec<f64> = z.iter().map(|v| v + width * stream.uniform_in(0.0, 1.0)).collect();
        let p = p + width * stream.uniform_in(0.0, 1.0);
        let near = |x: Interval, v: f64, slack: f64| {
            assert!(x.lo() - slack <= v && v <= x.hi() + slack, "{k} {x:?} {v}");
        };
        for (f, wanted) in value.f.iter().zip(plain(&system, &inside, p)) {
            near(*f, wanted, 1e-11);
            assert!(f.width() < 1.0, "{k} {f:?}");
        }
        let h = 1e-5;
        for m in 0..z.len() {
            let (mut up, mut down) = (inside.clone(), inside.clone());
            (up[m], down[m]) = (up[m] + h, down[m] - h);
            let (up, down) = (plain(&system, &up, p), plain(&system, &down, p));
            for (row, (a, b)) in value.by.iter().zip(up.iter().zip(&down)) {
                near(row[m], (a - b) / (2.0 * h), 2e-5);
            }
        }
        let (up, down) = (plain(&system, &inside, p + h), plain(&system, &inside, p - h));
        for (row, (a, b)) in value.by_parameter.iter().zip(up.iter().zip(&down)) {
            near(*row, (a - b) / (2.0 * h), 1e-6);
        }
    }
}

#[test]
fn equations_and_derivatives_contain_the_definitions() {
    check(&Law::Exponential, &fixed(), 3);
    check(&Law::Fixed(1.3), &varying(), 4);
    let family = Family::parse("sigmoid:k=0.05..4").expect("a family");
    check(&Law::Family(Arc::new(family)), &fixed(), 5);
}

//! Critical points: reference spectra, symmetric families with exact spectra, searches,
//! certificates, and tampered certificates.

use crate::common::{number, numbers, reference};
use metastable::attention::dynamics;
use metastable::attention::interaction::{Interaction, InteractionEnergy};
use metastable::landscape::branches::Family;
use metastable::landscape::spectrum::extreme_eigenvalues;
use metastable::landscape::starts::{families, polygons};
use metastable::landscape::{
    CriticalPoint, Exponential, Spectrum, connections::connections, search::Search,
};
use metastable::num::{stream::Stream, vector::max_abs};
use metastable::proofs::critical_point::{Certificate, check, prove};
use metastable::sphere::{Tokens, law::Law};
use metastable::theory::spectra::{cross_polytope, polygon_out_of_plane, polygon_usa, simplex};

fn polygon(m: usize, d: usize) -> Tokens {
    let mut x = vec![0.0; m * d];
    for (q, row) in x.chunks_exact_mut(d).enumerate() {
        let angle = std::f64::consts::TAU * q as f64 / m as f64;
        (row[0], row[1]) = (angle.cos(), angle.sin());
    }
    Tokens::new(d, x).expect("unit rows")
}

fn cross(d: usize) -> Tokens {
    let mut x = vec![0.0; 2 * d * d];
    for k in 0..d {
        x[2 * k * d + k] = 1.0;
        x[(2 * k + 1) * d + k] = -1.0;
    }
    Tokens::new(d, x).expect("unit rows")
}

/// A search with this many starts, the fixed ones and random ones.
fn search(n: usize, d: usize, beta: f64, starts: usize) -> Search<Exponential> {
    let energy = Exponential { beta };
    Search { energy, n, d, starts, max_starts: starts, fixed: true, seed: 1 }
}

/// A critical point of clusters of these sizes.
fn clusters(beta: f64, x: Tokens, sizes: &[usize]) -> CriticalPoint {
    let masses: Vec<f64> = sizes.iter().map(|s| *s as f64).collect();
    let x = x.with_masses(&masses).expect("masses");
    CriticalPoint::near(beta, &x, sizes).expect("a critical point")
}

fn sorted(mut v: Vec<f64>) -> Vec<f64> {
    v.sort_by(f64::total_cmp);
    v
}

fn expand(parts: &[(f64, usize)]) -> Vec<f64> {
    sorted(parts.iter().flat_map(|(v, k)| vec![*v; *k]).collect())
}

/// Relative to the largest value: rounding of the dense solver, `64 u size`.
fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    let scale = max_abs(wanted);
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * scale, "{a} {b} scale {scale}");
    }
}

#[test]
fn symmetric_families_have_their_exact_spectra() {
    for (m, beta) in [(2, 3.0), (3, 8.0), (4, 1.0), (5, 6.0), (7, 20.0), (12, 30.0)] {
        let scale = f64::exp(-beta);
        let plane: Vec<f64> = polygon_usa(m, beta).iter().map(|v| v * scale).collect();
        assert_close(
            &Spectrum::of_tokens(beta, &polygon(m, 2)).expect("small").values,
            &sorted(plane.clone()),
            1e-13,
        );
        for d in [3, 5] {
            let out = polygon_out_of_plane(m, beta);
            let all = plane.iter().copied().chain((2..d).flat_map(|_| out.clone())).collect();
            let found = Spectrum::of_tokens(beta, &polygon(m, d)).expect("small");
            assert_close(&found.values, &sorted(all), 1e-13);
            // The orbit: all rotations except those that fix the span of the clusters.
            let free = if m == 2 { d - 1 } else { d - 2 };
            assert_eq!(found.rotations, (d * (d - 1) - free * (free - 1)) / 2);
            assert!(found.rotation_defect < 1e-14);
        }
    }
    for d in [3, 4, 6] {
        for beta in [0.5, 4.0, 25.0] {
            let law = Law::parse("simplex").expect("registered");
            let x = law.sample(d + 1, d, &mut Stream::new(1, &["t"])).expect("a simplex");
            let found = Spectrum::of_tokens(beta, &x).expect("small");
            assert_close(&found.values, &expand(&simplex(d, beta)), 1e-12);
            assert_eq!(
                (found.morse_index, found.nullity, found.rotations),
                (0, 0, d * (d - 1) / 2)
            );
            let found = Spectrum::of_tokens(beta, &cross(d)).expect("small");
            assert_close(&found.values, &expand(&cross_polytope(d, beta)), 1e-12);
            assert_eq!(found.morse_index, if beta < 1.0 - (-beta).exp() { d * (d - 2) } else { 0 });
        }
    }
}

#[test]
fn spectra_agree_with_the_references() {
    for case in reference("hessian").iter().filter(|c| c.get("angles").is_some()) {
        let x = Tokens::from_angles(&numbers(&case["angles"])).expect("angles");
        let beta = number(&case["beta"]);
        // The reference is in the round metric and unscaled; masses are 1/n.
        let factor = beta.exp() / x.n() as f64;
        let found = Spectrum::of_tokens(beta, &x).expect("small").values;
        let found: Vec<f64> = found.iter().map(|v| v * factor).collect();
        assert_close(&found, &numbers(&case["eigenvalues"]), 1e-11);
    }
}

#[test]
fn clusters_have_the_spectrum_of_their_tokens() {
    // Two clusters of 3 and 2 tokens: the reduced spectrum with multiplicities equals that of five
    // tokens.
    let tokens = |places: &[f64]| Tokens::from_angles(places).expect("tokens");
    let (here, there) = (0.4, 0.4 + std::f64::consts::PI);
    let pair = tokens(&[here, there]).with_masses(&[3.0, 2.0]).expect("masses");
    let few = Spectrum::of_clusters(2.0, &pair, &[3, 2]).expect("small");
    let all = tokens(&[here, here, here, there, there]);
    let all = Spectrum::of_tokens(2.0, &all).expect("small");
    assert_close(&few.values, &all.values, 1e-13);
    assert_eq!((few.unstable, few.morse_index, few.nullity, few.rotations), (1, 3, 0, 1));
}

#[test]
fn tiny_unstable_rates_keep_their_sign() {
    // Antipodal clusters escape at the rate e^{-2 beta}: from beta = 19 on below the rounding of
    // the rates within clusters.
    for beta in [5.0, 19.0, 60.0, 300.0] {
        let s = clusters(beta, polygon(2, 2), &[4, 3]).spectrum;
        assert_eq!((s.unstable, s.morse_index, s.nullity), (1, 5, 0), "beta = {beta}");
    }
}

#[test]
fn the_search_finds_all_critical_points_of_small_systems_and_their_certificates_hold() {
    // d = 2, n = 5, beta = 6: every composition that balances; d = 3, n = 4: consensus, pairs,
    // triangles, simplex.
    for (n, d, beta, least) in [(5, 2, 6.0, 7), (4, 3, 2.0, 6), (8, 3, 4.0, 40), (4, 2, 60.0, 5)] {
        let found = search(n, d, beta, 200).run().expect("valid");
        assert!(found.points.len() >= least, "{n} {d} {beta}: {}", found.points.len());
        for p in &found.points {
            assert!(p.residual <= 1e-12);
            let proof = prove(p).unwrap_or_else(|e| panic!("{:?}: {e}", p.sizes));
            check(&proof).unwrap_or_else(|e| panic!("{:?}: {e}", p.sizes));
            assert_eq!(
                (proof.unstable, proof.morse_index),
                (p.spectrum.unstable, p.spectrum.morse_index)
            );
            // Consensus is the only local maximum for beta >= 0.
            assert_eq!(p.spectrum.unstable == 0, p.clusters.n() == 1);
        }
    }
}

/// Critical orbits on S^2: 6 of four tokens, 10 of five, 20 of six (independent multi-start
/// searches with 2000 starts, and a proof by branch and bound for n = 4).
#[test]
fn no_seed_misses_a_critical_point_of_few_tokens_on_the_sphere() {
    for (n, orbits) in [(4, 6), (5, 10), (6, 20)] {
        for (beta, seed) in [(1.0, 1), (4.0, 1), (4.0, 2), (4.0, 3)] {
            let search = Search { seed, ..search(n, 3, beta, 40) };
            let found = search.run().expect("valid");
            assert_eq!(found.points.len(), orbits, "n = {n}, beta = {beta}, seed = {seed}");
            assert_eq!((found.hits.len(), found.starts), (orbits, 40));
            // One random start yields at most three points: the fixed starts matter.
            let random = Search { fixed: false, starts: 1, max_starts: 1, ..search };
            let random = random.run().expect("valid");
            assert!(random.points.len() < orbits && random.fixed_starts == 0);
        }
    }
    // The tetrahedron is the minimum of the energy at every beta: no curve of points exists at one
    // beta only.
    for beta in [0.05, 0.5, 3.0, 7.6, 12.0] {
        let found = search(4, 3, beta, 0).run().expect("valid");
        assert_eq!(found.points.len(), 6, "beta = {beta}");
        let last = &found.points[5];
        assert!(last.symmetry == 24 && last.spectrum.morse_index == 0);
    }
}

/// The six branches of four tokens on S^2, among them the tetrahedron, at every beta.
#[test]
fn branches_keep_every_point_over_a_range_of_beta() {
    let values: Vec<f64> = (0..12).map(|k| 0.25 * 1.5f64.powi(k)).collect();
    let of = |beta: &f64| search(4, 3, *beta, 4).run().expect("valid");
    let mut results: Vec<_> = values.iter().map(of).collect();
    // What one value misses comes from its neighbours.
    results[5].points.clear();
    results[5].hits.clear();
    let family = Family { values: &values, energy: &|beta| Ok(Exponential { beta }) };
    family.extend(&mut results, &mut || true).expect("valid");
    let branches = family.branches(&results).expect("valid");
    assert_eq!(branches.len(), 6, "{branches:?}");
    for branch in &branches {
        let at = |b: usize| &results[b].points[branch.points[b]];
        assert_eq!((branch.first, branch.points.len()), (0, values.len()));
        assert!((1..values.len()).all(|b| at(b).sizes == at(0).sizes));
        assert!((1..values.len()).all(|b| at(b).spectrum.unstable == at(0).spectrum.unstable));
    }
    // On the circle, five tokens: the point of sizes 3+1+1 begins at the pitchfork of 3+2.
    let values = [0.15, 0.19, 0.22, 0.3];
    let of = |beta: &f64| search(5, 2, *beta, 40).run().expect("valid");
    let results: Vec<_> = values.iter().map(of).collect();
    let family = Family { values: &values, energy: &|beta| Ok(Exponential { beta }) };
    let branches = family.branches(&results).expect("valid");
    let late: Vec<_> = branches.iter().filter(|b| b.first == 2).collect();
    assert_eq!((branches.len(), late.len()), (7, 1), "{branches:?}");
    let born = &results[2].points[late[0].points[0]];
    assert_eq!(born.clusters.n(), 3);
}

#[test]
fn both_kinds_of_energy_have_the_same_search() {
    let parse =
        |text: &str| InteractionEnergy::new(Interaction::parse(text, &[]).expect("an interaction"));
    for (n, d) in [(4, 2), (5, 2), (4, 3)] {
        let (energy, starts) = (parse("exp:beta=3"), 40);
        let other = Search { energy, n, d, starts, max_starts: starts, fixed: true, seed: 1 };
        let (one, other) = (search(n, d, 3.0, starts).run(), other.run());
        let (one, other) = (one.expect("valid"), other.expect("valid"));
        let one = one.points.iter().map(|p| (sorted_sizes(&p.sizes), p.spectrum.unstable));
        let other = other.points.iter().map(|p| (sorted_sizes(&p.sizes), p.spectrum.unstable));
        assert_eq!(one.collect::<Vec<_>>(), other.collect::<Vec<_>>(), "{n} {d}");
    }
    // s^2 on the circle: the tight frames of mean zero form continua, each listed once.
    let energy = parse("power:p=1");
    let search = Search { energy, n: 4, d: 2, starts: 64, max_starts: 64, fixed: true, seed: 1 };
    let found = search.run().expect("valid");
    assert!(found.points.len() < 20, "{}", found.points.len());
    // A matrix that is not a multiple of the identity.
    let form = (2, vec![1.0, 0.0, 0.0, 2.0]);
    let energy = parse("exp:beta=3").with_form(2, form).expect("symmetric");
    let refused = Search { energy, n: 4, d: 2, starts: 1, max_starts: 1, fixed: true, seed: 1 };
    assert!(refused.run().expect_err("refused").to_string().contains("identity"));
}

fn sorted_sizes(sizes: &[usize]) -> Vec<usize> {
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    sizes
}

#[test]
fn a_search_estimates_how_many_points_it_missed() {
    let search = Search { fixed: false, ..search(8, 3, 4.0, 24) };
    let found = search.run().expect("valid");
    // 24 starts cannot find the more than 70 points: they find most points once, and the estimate
    // reports many missing points.
    let (once, unseen) = (found.found_once(), found.unseen());
    assert!(once >= 10 && unseen > 5.0 && !found.is_settled(), "{once} {unseen}");
    // An extensible search continues until its second half found nothing new.
    let longer = Search { n: 4, starts: 4, max_starts: 1000, ..search.clone() };
    let longer = longer.run().expect("valid");
    assert!(longer.is_settled() && (4..1000).contains(&longer.starts), "{}", longer.starts);
    let limited = Search { starts: 4, max_starts: 40, ..search }.run().expect("valid");
    assert!(!limited.is_settled() && limited.starts == 40, "{}", limited.starts);
    // Hits count starts: every point of a search without fixed starts has some.
    assert!(longer.hits.iter().all(|h| (1..=longer.starts).contains(h)));
}

#[test]
fn the_repulsive_landscape_has_other_local_maxima() {
    // beta < -2/3: the regular triangle is a local maximum of E.
    for (beta, signs) in [(-1.0, (0, 2)), (-0.6, (2, 0))] {
        let triangle = clusters(beta, polygon(3, 2), &[1, 1, 1]);
        assert_eq!((triangle.spectrum.unstable, triangle.spectrum.morse_index), signs, "{beta}");
        assert!(check(&prove(&triangle).expect("a proof")).is_ok());
    }
}

#[test]
fn sixty_clusters_are_certified() {
    for (m, beta) in [(60, 400.0), (20, 7.0)] {
        let proof = prove(&clusters(beta, polygon(m, 2), &vec![1; m])).expect("a proof");
        check(&proof).expect("accepted");
        assert_eq!(proof.unstable + proof.morse_index + 1, m);
    }
}

#[test]
fn tampered_certificates_are_rejected() {
    let x = polygon(3, 2).with_masses(&[1.0, 2.0, 1.0]).expect("masses");
    assert!(CriticalPoint::near(8.0, &x, &[1, 1, 1]).is_err());
    let proof = prove(&clusters(8.0, x, &[1, 2, 1])).expect("a proof");
    let text = proof.to_text();
    assert_eq!(Certificate::from_text(&text).expect("own file"), proof);
    // Any changed digit is found by the parser or by the checker.
    for (k, c) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        let other = if c == '7' { '3' } else { '7' };
        let changed = format!("{}{other}{}", &text[..k], &text[k + 1..]);
        let checked = Certificate::from_text(&changed).and_then(|c| check(&c));
        assert!(checked.is_err(), "changed character {k}");
    }
    for damaged in ["", "{}", &text[..text.len() / 2]] {
        assert!(Certificate::from_text(damaged).is_err(), "{damaged}");
    }
    // The checker rejects false statements.
    let lies: [fn(&mut Certificate); 8] = [
        |c| c.unstable += 1,
        |c| (c.unstable, c.morse_index) = (c.morse_index, c.unstable),
        |c| c.points[0] += 1e-6,
        |c| c.radius = 1e-17,
        |c| c.beta = 8.001,
        |c| c.sizes[1] = 3,
        |c| c.rotations.clear(),
        |c| c.radius = 0.05,
    ];
    for (k, lie) in lies.iter().enumerate() {
        let mut forged = proof.clone();
        lie(&mut forged);
        let forged = Certificate::from_text(&forged.to_text()).expect("a well-formed lie");
        assert!(check(&forged).is_err(), "lie {k}");
    }
}

#[test]
fn a_degenerate_point_is_not_certified() {
    // beta = -2/3: the curvature of the triangle vanishes.
    if let Ok(p) = CriticalPoint::near(-2.0 / 3.0, &polygon(3, 2), &[1, 1, 1]) {
        assert!(p.spectrum.is_nearly_degenerate() && prove(&p).is_err());
    }
}

#[test]
fn connections_climb_the_energy_and_end_at_consensus() {
    let search = Search { seed: 3, ..search(4, 2, 5.0, 100) };
    let mut found = search.run().expect("valid");
    let sa = dynamics::find("sa", false).expect("known");
    let (edges, lost) = connections(sa, &mut found, &mut || true).expect("flows");
    assert_eq!(lost, 0);
    let ends: usize = found.points.iter().map(|p| 2 * p.spectrum.unstable).sum();
    assert_eq!(edges.len(), ends);
    for e in &edges {
        assert!(found.points[e.to].log_energy > found.points[e.from].log_energy);
        assert!(found.points[e.to].spectrum.unstable < found.points[e.from].spectrum.unstable);
    }
}

#[test]
fn both_ends_agree_with_the_dense_spectrum() {
    let law = Law::parse("uniform").expect("registered");
    let x = law.sample(60, 4, &mut Stream::new(2, &["ends"])).expect("tokens");
    let dense = Spectrum::of_tokens(3.0, &x).expect("small").values;
    let found = extreme_eigenvalues(3.0, &x, 6).expect("converges");
    let scale = dense[0].abs().max(dense[dense.len() - 1].abs());
    for k in 0..6 {
        assert!((found.lowest[k] - dense[k]).abs() < 1e-10 * scale);
        assert!((found.highest[k] - dense[dense.len() - 6 + k]).abs() < 1e-10 * scale);
    }
}

#[test]
fn polygons_are_counted_by_the_bracelets_of_compositions() {
    // Bracelets of n beads of two colours without the empty one, minus one cluster and the pairs:
    // A000029(n) - 1 - 1 - floor(n/2).
    for (n, bracelets) in [(3, 4), (4, 6), (5, 8), (6, 13), (7, 18), (8, 30), (9, 46), (10, 78)] {
        assert_eq!(polygons(n).len(), bracelets - 2 - n / 2, "n = {n}");
    }
}

#[test]
fn families_are_unit_clusters_of_all_tokens() {
    for (n, d) in [(2, 2), (5, 2), (6, 3), (7, 4), (13, 3), (40, 3)] {
        let all = families(n, d);
        assert!(all.len() <= 1000, "{n} {d}: {}", all.len());
        for (x, sizes) in all {
            assert_eq!((x.n(), sizes.iter().sum::<usize>()), (sizes.len(), n));
            // A few roundings of squares of coordinates at most 1.
            assert!((0..x.n()).all(|i| (x.inner(i, i) - 1.0).abs() < 8.0 * f64::EPSILON));
        }
    }
}

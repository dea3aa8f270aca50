//! An adversary: interactions, masses, samples and inverse temperatures whose true answers are
//! known by construction, and which are hostile to a proof: narrow bumps, kinks inside products and
//! powers, almost double zeros, terms that cancel, steep steps, bifurcations some ulps away. A
//! refusal is fine; a false proof is not. The verifier must not accept one either.

use metastable::attention::interaction::Interaction;
use metastable::num::{dd::Dd, stream::Stream};
use metastable::proofs::landscape::{Report, Tokens, benign, branches::all_branches, complete};
use metastable::proofs::modes;
use metastable_verifier as verifier;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What became of a case: the part of the program that was asked, and the outcome. An error is a
/// false proof.
type Answer = Result<(&'static str, Outcome), String>;

#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// The program proves nothing.
    Nothing,
    /// The program finds a proof, and the verifier refuses its certificate.
    Refused,
    /// A proof; if it has a certificate, the verifier accepts it.
    Proved,
}
use Outcome::{Nothing, Proved, Refused};

/// What the verifier says of the certificate of a statement that is true.
fn verified(part: &'static str, certificate: Option<String>) -> Answer {
    let accepted = certificate.is_some_and(|c| verifier::check(&c).is_ok());
    Ok((part, if accepted { Proved } else { Refused }))
}

/// An interaction with what is true of it.
struct Hostile {
    text: String,
    /// Number of zeros of phi in (-1, 1).
    zeros: usize,
    /// Whether two clusters at some distance are a strict local maximum.
    has_maximum: bool,
}

/// One of a list.
fn one_of<T: Copy>(s: &mut Stream, all: &[T]) -> T {
    all[s.index(all.len())]
}

/// `10^-u` with u in an interval.
fn power(s: &mut Stream, low: f64, high: f64) -> f64 {
    10f64.powf(-s.uniform_in(low, high))
}

/// A bump of height 1 at c that is narrow in units of w, and the smallest share by which heights
/// must miss 1 to be told apart in spite of the rounding of the numbers in the text.
fn bump(s: &mut Stream, c: f64, w: f64) -> (String, f64) {
    let x = format!("((s-{c})/{w})");
    match s.index(8) {
        0 | 1 => (format!("exp(-{x}^2)"), 1e-12),
        2 => (format!("relu(1-{x}^2)^3"), 1e-12),
        3 => (format!("relu(1-abs({x}))"), 1e-12),
        4 => (format!("relu(1-({x}^2)^0.5)"), 1e-12),
        5 => (format!("relu({x}+1)*relu(1-{x})"), 1e-12),
        6 => (format!("relu (1-{x}*{x})^1"), 1e-12),
        _ => {
            let (l, r) = (c - w, c + w);
            (format!("(relu(s-{l})-2*relu (s-{c})+relu(s-{r}))/{w}"), 1e-14 / w + 1e-12)
        }
    }
}

/// The same function in another form.
fn disguised(s: &mut Stream, text: &str) -> String {
    match s.index(8) {
        0 => format!("({text})*(s^2+1)/(1+s*s)"),
        1 => format!("0.5*({text})+({text})/2"),
        2 => format!("({text})^1"),
        3 => format!("1e4*cos(3*s)+({text})-1e4*cos(3*s)"),
        4 => format!("exp(0*s)*({text})"),
        _ => text.replace('-', " - "),
    }
}

/// 1 less bumps, of which some reach beyond 0.
fn dips(s: &mut Stream) -> Hostile {
    let count = 1 + s.index(3);
    let (mut text, mut zeros) = ("1".to_owned(), 0);
    for x in 0..count {
        let c = -0.9 + 1.8 * (x as f64 + s.uniform_in(0.3, 0.7)) / count as f64;
        let w = power(s, 1.6, 7.0);
        let (bump, least) = bump(s, c, w);
        let miss = power(s, 0.3, 12.0).max(least);
        let deep = s.index(2) == 0;
        zeros += if deep { 2 } else { 0 };
        text += &format!("-{}*{bump}", if deep { 1.0 + miss } else { 1.0 - miss });
    }
    Hostile { text: disguised(s, &text), zeros, has_maximum: zeros > 0 }
}

/// A parabola that nearly touches 0, a steep step, or waves that nearly touch 0.
fn analytic(s: &mut Stream) -> Hostile {
    let (miss, below) = (power(s, 0.3, 12.0), s.index(2) == 0);
    let sign = if below { -1.0 } else { 1.0 };
    let (text, zeros, has_maximum) = match s.index(3) {
        0 => {
            // The zeros are at most sqrt(miss / 5) from c.
            let (k, c) = (s.uniform_in(5.0, 1e3), s.uniform_in(-0.2, 0.2));
            let shift = if below { format!("-{miss}") } else { format!("+{miss}") };
            (format!("{k}*(s-{c})^2{shift}"), if below { 2 } else { 0 }, below)
        }
        1 => {
            let (c, w) = (s.uniform_in(-0.7, 0.7), power(s, 2.0, 7.0));
            let offset = 1.0 + sign * miss;
            // Below 0 at -1: two opposite clusters repel.
            (format!("{offset}+tanh((s-{c})/{w})"), usize::from(below), below)
        }
        _ => {
            // The minima are at k s = pi (2 m + 1); the ends of [-1, 1] are maxima.
            let waves = 1 + s.index(12);
            let k = std::f64::consts::TAU * waves as f64;
            let offset = 1.0 + sign * miss;
            (format!("{offset}+cos({k}*s)"), if below { 4 * waves } else { 0 }, below)
        }
    };
    Hostile { text: disguised(s, &text), zeros, has_maximum }
}

/// A search is given up after this number of boxes.
const FEW: Report = &|_, boxes| boxes < 4000;

/// Equal tokens with a hostile interaction. A text that is refused is no proof.
fn hostile(s: &mut Stream, n: impl Fn(&mut Stream) -> usize) -> Option<(Hostile, Tokens)> {
    let case = if s.index(3) == 0 { analytic(s) } else { dips(s) };
    let phi = Interaction::parse(&case.text, &[]).ok()?;
    let equal = Tokens::new(&vec![1.0; n(s)], (0.0, 0.0)).expect("tokens");
    Some((case, equal.with_interaction(&phi).ok()?))
}

/// All critical points of two or three equal tokens.
fn whole_landscape(s: &mut Stream) -> Answer {
    let part = "landscape";
    let size = |s: &mut Stream| if s.index(5) == 0 { 3 } else { 2 };
    let Some((case, tokens)) = hostile(s, size) else { return Ok((part, Nothing)) };
    let found = complete(&tokens, true, FEW).map_err(|e| e.to_string())?;
    if !found.complete {
        return Ok((part, Nothing));
    }
    let pairs = found.orbits.iter().filter(|o| o.clusters.len() == 2).count();
    let ones = found.orbits.iter().filter(|o| o.clusters.len() == 1).count();
    if pairs != 1 + case.zeros || ones != 1 {
        let Hostile { text, zeros, .. } = case;
        return Err(format!("n = {}, {text}: {pairs} pairs, not 1 + {zeros}", tokens.n()));
    }
    let text = found.certificate.ok_or("no certificate")?;
    let Ok(sentence) = verifier::check(&text) else { return Ok((part, Refused)) };
    let count = format!("exactly {} critical points", found.orbits.len());
    if sentence.contains(&count) { Ok((part, Proved)) } else { Err(sentence) }
}

/// Whether all critical points but one cluster have a direction of ascent.
fn benign_landscape(s: &mut Stream) -> Answer {
    let part = "benign";
    let Some((case, tokens)) = hostile(s, |s| 2 + s.index(2)) else { return Ok((part, Nothing)) };
    let (n, found) = (tokens.n(), benign(&tokens, true, FEW).map_err(|e| e.to_string())?);
    let is_wrong = match case.has_maximum {
        true => found.proved,
        false => found.counterexample.is_some() && n == 2,
    };
    if is_wrong {
        return Err(format!("n = {n}, {}: benign is {}", case.text, found.proved));
    }
    if found.certificate.is_none() {
        return Ok((part, Nothing));
    }
    verified(part, found.certificate)
}

/// Modes of one sample: bumps on a slope, each with a maximum of its own if it is steep enough.
fn modes_of_bumps(s: &mut Stream) -> Answer {
    let part = "modes, interaction";
    let count = 1 + s.index(3);
    let (mut text, mut modes_expected) = ("s".to_owned(), 1);
    // The derivative of `exp(-x^2)` has the largest size sqrt(2 / e).
    let steepest = (2.0 / std::f64::consts::E).sqrt();
    for x in 0..count {
        let c = -0.9 + 1.8 * (x as f64 + s.uniform_in(0.3, 0.7)) / count as f64;
        let (w, miss, steep) = (power(s, 1.6, 6.0), power(s, 0.3, 11.0), s.index(2) == 0);
        modes_expected += if steep { 2 } else { 0 };
        // A hat whose slope is more than 1 has a maximum, too.
        let slope = if steep { 1.0 + miss } else { 1.0 - miss };
        text += &match s.index(4) {
            0 => format!("+{}*relu (1-abs((s-{c})/{w}))", slope * w),
            1 => format!("+{}*relu(1-(((s-{c})/{w})^2)^0.5)^1", slope * w),
            _ => format!("+{}*exp(-((s-{c})/{w})^2)", slope * w / steepest),
        };
    }
    let text = disguised(s, &text);
    let Ok(phi) = Interaction::parse(&text, &[]) else { return Ok((part, Nothing)) };
    let Ok(found) = modes::interaction(&[s.uniform_in(-3.0, 3.0)], &phi) else {
        return Ok((part, Nothing));
    };
    match found.count() {
        Ok(own) if own == modes_expected => Ok((part, Proved)),
        Ok(own) => Err(format!("{text}: {own} modes, not {modes_expected}")),
        Err(_) if found.lower_bound() > modes_expected => {
            Err(format!("{text}: at least {} modes, not {modes_expected}", found.lower_bound()))
        }
        Err(_) => Ok((part, Nothing)),
    }
}

/// Two samples whose modes part: on the line at the distance `2 / sqrt(beta)`, on the circle at
/// the angle D with `beta sin(D / 2)^2 = cos(D / 2)`.
fn modes_of_two_samples(s: &mut Stream) -> Answer {
    let (miss, apart) = (power(s, 0.3, 13.5), s.index(2) == 0);
    let factor = if apart { 1.0 + miss } else { 1.0 - miss };
    let (part, found, what) = if s.index(2) == 0 {
        let scale = 2f64.powi(s.index(21) as i32 - 10);
        // Beta is a power of 2 and the smaller sample is 0, so no sum rounds.
        let (beta, distance) = (1.0 / (scale * scale), 2.0 * factor * scale);
        let part = "modes, line";
        (part, modes::line(&[0.0, distance], beta), format!("line, {distance}, {beta}"))
    } else {
        let half = s.uniform_in(0.1, 1.4);
        let beta = half.cos() / half.sin().powi(2) * factor;
        // The rounding of beta must not decide.
        if miss < 1e-13 {
            return Ok(("modes, circle", Nothing));
        }
        let found = modes::circle(&[-half, half], beta);
        ("modes, circle", found, format!("circle, {half}, {beta}"))
    };
    let expected = if apart { 2 } else { 1 };
    match found.map_err(|e| e.to_string())?.count() {
        Ok(own) if own == expected => Ok((part, Proved)),
        Ok(own) => Err(format!("{what}: {own} modes, not {expected}")),
        Err(_) => Ok((part, Nothing)),
    }
}

/// Two opposite clusters near the beta at which one splits: `M_1 = M_2 e^{-2 beta}`. The index
/// below and above is known. An interval around this beta must not be proved.
fn near_a_bifurcation(s: &mut Stream) -> Answer {
    let part = "bifurcation";
    let most = one_of(s, &[4, 30, 1000, 400_000]);
    let (a, b) = (1 + s.index(most), 1 + s.index(most));
    let together = (a + b) as f64;
    let alone = (together * s.uniform_in(1.05, 20.0)).floor().min(1e6);
    if alone <= together {
        return Ok((part, Nothing));
    }
    let masses = [a as f64, b as f64, alone];
    let middle = 0.5 * (alone / together).ln();
    let beta = match s.index(3) {
        0 => f64::from_bits((middle.to_bits() as i64 + s.index(17) as i64 - 8) as u64),
        1 => middle * (1.0 + power(s, 1.0, 15.0)),
        _ => middle * (1.0 - power(s, 1.0, 15.0)),
    };
    let straddles = s.index(4) == 0;
    let ends = if straddles {
        let miss = power(s, 3.0, 15.0);
        (middle * (1.0 - miss) - 1e-15, middle * (1.0 + miss) + 1e-15)
    } else {
        (beta, beta)
    };
    let tokens = Tokens::new(&masses, ends).map_err(|e| e.to_string())?;
    let found = complete(&tokens, true, FEW).map_err(|e| e.to_string())?;
    if !found.complete {
        return Ok((part, Nothing));
    }
    let what = format!("masses {masses:?}, beta {ends:?}");
    if straddles {
        return Err(format!("{what}: proved across a bifurcation"));
    }
    for orbit in found.orbits.iter().filter(|o| o.clusters.len() == 2) {
        let mass = |x: usize| orbit.clusters[x].iter().map(|m| f64::from(*m)).sum::<f64>();
        let splits = |x: usize| {
            let weight = Dd::from(mass(x)) * (Dd::from(beta) * Dd::from(2.0)).exp();
            let less = (weight - Dd::from(mass(1 - x))).to_f64();
            if less < 0.0 { orbit.clusters[x].len() - 1 } else { 0 }
        };
        if orbit.ascents != Some(1 + splits(0) + splits(1)) {
            return Err(format!("{what}: {:?} has {:?}", orbit.clusters, orbit.ascents));
        }
    }
    verified(part, found.certificate)
}

/// Masses with equal sums of different tokens, or nearly equal ones: every way to part the tokens
/// into two clusters is an opposite pair, once for each way to label it.
fn masses(s: &mut Stream) -> Answer {
    let part = "masses";
    let pool: &[f64] = one_of(
        s,
        &[
            &[1.0, 2.0, 3.0, 6.0],
            &[1.0, 1.0, 2.0, 2.0],
            &[500_000.0, 500_001.0, 499_999.0, 1_000_000.0],
            &[1e-12, 1.0, 2e-12, 1.0],
            &[0.1, 0.2, 0.3, 0.30000000000000004],
            &[1.0, 1.000001, 1.0, 0.999999],
        ],
    );
    let n = 3 + usize::from(s.index(6) == 0);
    let masses: Vec<f64> = (0..n).map(|_| one_of(s, pool)).collect();
    // Other numbers than the six digits allow are refused.
    let beta = s.uniform_in(0.3, 4.0);
    let Ok(tokens) = Tokens::new(&masses, (beta, beta)) else { return Ok((part, Nothing)) };
    let ratio = |x: usize| f64::from(tokens.masses()[x]) / f64::from(tokens.masses()[0]);
    let what = format!("masses {masses:?}, beta {beta}");
    if (0..n).any(|x| (ratio(x) * masses[0] - masses[x]).abs() > 1e-15 * masses[x]) {
        return Err(format!("{what}: became {:?}", tokens.masses()));
    }
    let found = complete(&tokens, true, &|_, boxes| boxes < 20_000).map_err(|e| e.to_string())?;
    if !found.complete {
        return Ok((part, Nothing));
    }
    let pairs = found.orbits.iter().filter(|o| o.clusters.len() == 2);
    let labelled: u64 = pairs.map(|o| o.multiplicity).sum();
    if labelled != (1 << (n - 1)) - 1 {
        return Err(format!("{what}: {labelled} labelled pairs of clusters"));
    }
    verified(part, found.certificate)
}

/// Branches over a parameter of which one bifurcation is known: two tokens split opposite to a
/// third one where `2 phi(1) = phi(-1)`, here at p = 1.
fn branches(s: &mut Stream) -> Answer {
    let part = "branches";
    // Each bump is 1 at -1 and 0 at 1.
    let bump = match s.index(4) {
        0 => "relu((1-s)/2)^3".to_owned(),
        1 => format!("relu(1-((s+1)/{})^2)^2", s.uniform_in(0.2, 1.9)),
        _ => format!("((1-s)/2)^{}", one_of(s, &[1, 1, 2, 3, 8, 12])),
    };
    let (low, high) = (s.uniform_in(0.3, 0.99), s.uniform_in(1.01, 1.7));
    let text = format!("{}; p={low}..{high}", disguised(s, &format!("1+p*{bump}")));
    let tokens = Tokens::new(&[1.0; 3], (0.0, 0.0)).expect("tokens");
    let Ok(tokens) = tokens.with_interactions(&text) else { return Ok((part, Nothing)) };
    let found = all_branches(&tokens, FEW).map_err(|e| e.to_string())?;
    if !found.complete {
        return Ok((part, Nothing));
    }
    let known = found
        .bifurcations
        .iter()
        .any(|b| b.beta.0 <= 1.0 && 1.0 <= b.beta.1 && b.clusters.iter().any(|c| c.len() == 2));
    if known { Ok((part, Proved)) } else { Err(format!("{text}: no bifurcation at 1")) }
}

/// Runs cases; for every part the numbers of cases, of proofs and of certificates refused.
fn attack(seed: u64, count: usize) -> BTreeMap<&'static str, [usize; 3]> {
    let answers: Vec<Answer> = (0..count)
        .into_par_iter()
        .map(|k| {
            let mut s = Stream::new(seed, &["adversary", &k.to_string()]);
            let answer = match s.index(20) {
                0..=5 => whole_landscape(&mut s),
                6..=8 => benign_landscape(&mut s),
                9..=11 => modes_of_bumps(&mut s),
                12..=14 => modes_of_two_samples(&mut s),
                15..=16 => near_a_bifurcation(&mut s),
                17..=18 => masses(&mut s),
                _ => branches(&mut s),
            };
            answer.map_err(|why| format!("case {k} of seed {seed}: {why}"))
        })
        .collect();
    let false_proofs: Vec<&String> =
        answers.iter().filter_map(|a| a.as_ref().err()).take(20).collect();
    assert!(false_proofs.is_empty(), "{false_proofs:#?}");
    let mut table = BTreeMap::new();
    for (part, outcome) in answers.into_iter().flatten() {
        let row: &mut [usize; 3] = table.entry(part).or_default();
        let also = |o: Outcome| usize::from(outcome == o);
        *row = [row[0] + 1, row[1] + also(Proved), row[2] + also(Refused)];
    }
    table
}

/// A prover whose certificates are often refused promises what it does not keep.
fn few_are_refused(table: &BTreeMap<&'static str, [usize; 3]>) -> bool {
    table.values().all(|[_, proofs, refused]| 50 * refused <= *proofs)
}

#[test]
fn no_hostile_case_is_proved_falsely() {
    let table = attack(1, 100);
    // Control: all parts are asked, and most of them prove something.
    assert!(table.len() >= 8 && table.values().filter(|r| r[1] > 0).count() >= 6, "{table:?}");
    assert!(few_are_refused(&table), "{table:?}");
}

/// Ten thousand cases: `cargo test --release --test proofs adversary -- --ignored --nocapture`.
#[test]
#[ignore = "half an hour"]
fn no_hostile_case_of_ten_thousand_is_proved_falsely() {
    let table = attack(2, 10_000);
    for (part, [cases, proofs, refused]) in &table {
        println!("{part}: {cases} cases, {proofs} proofs, {refused} certificates refused");
    }
    assert!(table.values().all(|r| r[1] > 0) && few_are_refused(&table), "{table:?}");
}

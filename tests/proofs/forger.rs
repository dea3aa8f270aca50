//! A forger that knows the fields: lines, words and numbers of certificates of landscapes, of times
//! and of modes are changed, reordered, repeated, shadowed, widened or written otherwise. A forgery
//! that the verifier accepts must have a true sentence, which a search in floating point decides.
//! Certificates of starts and of critical points are changed in `verifier`.

use crate::given::{self, GO, phi, tokens, under};
use crate::independent::{Problem, integral, maxima};
use metastable::attention::RowWeights;
use metastable::attention::interaction::Interaction;
use metastable::num::{
    stats::{nan_max, nan_min},
    stream::Stream,
};
use metastable::proofs::landscape::Tokens;
use metastable::proofs::merge_time::enclosed_merge_time;
use metastable::proofs::modes::{Estimate, certificate};
use metastable::proofs::{modes, spheres};
use metastable_verifier as verifier;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The words that a change of one word can make of it.
fn changed_word(word: &str, s: &mut Stream) -> String {
    let (whole, real) = (word.parse::<i64>(), word.parse::<f64>());
    let dyadic = word
        .split_once('p')
        .and_then(|(m, k)| Some((m.parse::<i64>().ok()?, k.parse::<i64>().ok()?)));
    match (whole, real, dyadic) {
        (Ok(v), ..) => {
            let new = [v + 1, v - 1, -v, 2 * v, 0, v + 2, s.index(10) as i64];
            new[s.index(new.len())].to_string()
        }
        (_, Ok(v), _) => {
            let new = [v.next_up(), v.next_down(), v * 1.001, v * 0.9, -v, v + 0.1, 2.0 * v, 0.0];
            format!("{:?}", new[s.index(new.len())])
        }
        (_, _, Some((m, k))) => match s.index(5) {
            0 => format!("{}p{k}", m + 2),
            1 => format!("{}p{k}", m - 2),
            2 => format!("{}p{k}", -m),
            3 => format!("{m}p{}", k + 1),
            _ => format!("{m}p{}", k - 1),
        },
        // Fractions of a turn, the bits of doubles, clusters, letters.
        _ => {
            let mut all: Vec<char> = word.chars().collect();
            if all.is_empty() {
                return "0".to_owned();
            }
            let at = if s.index(2) == 0 { s.index(all.len()) } else { all.len() - 1 };
            all[at] = match all[at] {
                'P' | 'N' | 'R' | 'F' => ['P', 'N', 'R', 'F'][s.index(4)],
                ',' => ' ',
                _ => char::from_digit(s.index(16) as u32, 16).unwrap_or('0'),
            };
            all.into_iter().collect()
        }
    }
}

/// The same number in another form.
fn respelled(word: &str, s: &mut Stream) -> String {
    match s.index(6) {
        0 => format!("0{word}"),
        1 => format!("+{word}"),
        2 => format!("{word}0"),
        3 => format!("{word} "),
        4 => word.to_uppercase(),
        _ => format!("{word}.0"),
    }
}

/// A forgery, and what was done.
fn forged(text: &str, s: &mut Stream) -> (String, &'static str) {
    let mut lines: Vec<Vec<String>> =
        text.lines().map(|l| l.split(' ').map(str::to_owned).collect()).collect();
    let is_node = |l: &Vec<String>| l[0].len() == 1;
    let heads: Vec<usize> = (0..lines.len()).filter(|l| !is_node(&lines[*l])).collect();
    let at = if s.index(2) == 0 { heads[s.index(heads.len())] } else { s.index(lines.len()) };
    let count = lines[at].len();
    let word = s.index(count);
    let a_value = |s: &mut Stream| (1 + s.index(count.saturating_sub(1).max(1))).min(count - 1);
    let value = a_value(s);
    let what = match s.index(14) {
        0..=3 => {
            lines[at][value] = changed_word(&lines[at][value].clone(), s);
            "a changed word"
        }
        4 => {
            lines[at].swap(value, a_value(s));
            "words in another order"
        }
        5 => {
            let other = s.index(lines.len());
            lines.swap(at, other);
            "lines in another order"
        }
        6 => {
            let line = lines[at].clone();
            lines.insert(s.index(lines.len()), line);
            "a line twice"
        }
        7 => {
            lines.remove(at);
            "a line less"
        }
        8 => {
            // A second value of a key, before or after the first one.
            let mut line = lines[at].clone();
            line[value] = changed_word(&line[value].clone(), s);
            lines.insert(at + s.index(2), line);
            "a shadow"
        }
        9 => {
            // Wider bounds: pairs stand at odd places, or at even ones after a number.
            let first = value - (value + usize::from(lines[at][0] == "zero")) % 2;
            for (place, up) in [(first, false), (first + 1, true)] {
                if let Some(word) = lines[at].get_mut(place) {
                    *word = widened(word, up, s);
                }
            }
            "a wider interval"
        }
        10 => {
            lines[at][word] = respelled(&lines[at][word].clone(), s);
            "another form"
        }
        11 => {
            let keys = ["E", "Y", "N", "R", "X", "zeros", "regular", "ascent", "complete"];
            lines[at][word] = match s.index(2) {
                0 => keys[s.index(keys.len())].to_owned(),
                _ => lines[s.index(heads.len())][0].clone(),
            };
            "another key"
        }
        12 => {
            // Clusters, or anything else, in another cyclic order.
            let from = if lines[at][0] == "tree" { 2 } else { 1 };
            if count > from {
                lines[at][from..].rotate_left(1);
                if s.index(2) == 0 {
                    lines[at][from..].reverse();
                }
            }
            "a rotation of words"
        }
        _ => {
            // All masses, and the clusters with them, twice as large: this is true.
            let double = |w: &String| {
                let parts: Option<Vec<u64>> = w.split(',').map(|p| p.parse().ok()).collect();
                parts.map_or(w.clone(), |p| {
                    p.iter().map(|v| (2 * v).to_string()).collect::<Vec<_>>().join(",")
                })
            };
            for line in &mut lines {
                let from = match line[0].as_str() {
                    "masses" | "upper" => 1,
                    "tree" => 2,
                    _ => continue,
                };
                line[from..].iter_mut().for_each(|w| *w = double(w));
            }
            "masses in other units"
        }
    };
    let lines: Vec<String> = lines.iter().map(|l| l.join(" ")).collect();
    (lines.join("\n") + "\n", what)
}

/// A bound further out.
fn widened(word: &str, up: bool, s: &mut Stream) -> String {
    let sign = if up { 1.0 } else { -1.0 };
    if let Ok(v) = word.parse::<i64>() {
        return (v + sign as i64).to_string();
    }
    if let Ok(v) = word.parse::<f64>() {
        return format!("{:?}", v + sign * 10f64.powf(-s.uniform_in(0.5, 15.0)) * (1.0 + v.abs()));
    }
    match i64::from_str_radix(&format!("{word:0<12}"), 16) {
        Ok(v) if word.len() <= 12 => {
            let far = v + sign as i64 * (1 << s.index(44));
            let digits = format!("{:012x}", far.clamp(0, (1 << 48) - 1));
            let short = digits.trim_end_matches('0');
            if short.is_empty() { "0".into() } else { short.into() }
        }
        _ => word.to_owned(),
    }
}

/// The words after a key in a text.
fn words<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let line = text.lines().find(|l| l.split(' ').next() == Some(key));
    line.map_or(vec![], |l| l.split(' ').skip(1).collect())
}

fn numbers(text: &str, key: &str) -> Vec<f64> {
    words(text, key).iter().map(|w| w.parse().expect("a number")).collect()
}

fn dyadics(text: &str, key: &str) -> Vec<f64> {
    let of = |w: &&str| {
        let (m, k) = w.split_once('p').expect("a dyadic number");
        let (m, k): (f64, i32) = (m.parse().expect("digits"), k.parse().expect("digits"));
        m * 2f64.powi(k / 2) * 2f64.powi(k - k / 2)
    };
    words(text, key).iter().map(of).collect()
}

/// The interaction of an accepted file.
fn interaction(text: &str) -> Option<Interaction> {
    let formula = words(text, "interaction").join(" ");
    let lines = text.lines().filter_map(|l| l.strip_prefix("parameter "));
    let values: Vec<(&str, f64)> = lines
        .map(|l| l.split_once(' ').expect("a value"))
        .map(|(k, v)| (k, v.parse().expect("a number")))
        .collect();
    (!formula.is_empty()).then(|| Interaction::parse(&formula, &values).expect("an interaction"))
}

/// The whole numbers in a text, in order.
fn whole_numbers(text: &str) -> Vec<usize> {
    let parts = text.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|p| p.parse().ok()).collect()
}

/// Why the sentence of an accepted file is false, as far as a search finds.
fn landscape_is_false(text: &str, sentence: &str) -> Option<String> {
    let (masses, phi) = (numbers(text, "masses"), interaction(text));
    let (spheres, ends) = (text.starts_with("metastable-spheres"), numbers(text, "beta"));
    let ends = if ends.is_empty() { vec![0.0] } else { ends };
    let (low, high) = (ends[0], ends[ends.len() - 1]);
    let upper = numbers(text, "upper");
    let n = masses.len();
    let d = match words(text, "average").first() {
        Some(d) => d.parse().expect("a dimension"),
        None if spheres => n,
        None => 2,
    };
    let all_masses = if upper.is_empty() { vec![masses] } else { vec![masses, upper] };
    for masses in all_masses {
        for beta in [low, 0.5 * (low + high), high] {
            let exponential = |s: f64| (beta * (s - 1.0)).exp();
            let own = |s: f64| phi.as_ref().map_or(0.0, |phi| phi.value(s).expect("a value"));
            let problem = match &phi {
                Some(_) => Problem { masses: masses.clone(), phi: &own, d },
                None => Problem { masses: masses.clone(), phi: &exponential, d },
            };
            let found = problem.all(if d > 2 { 120 } else { 200 }, 7);
            let spurious = found.iter().filter(|f| f.ascents == 0 && f.clusters > 1).count();
            let what = format!("beta = {beta}: {found:?}");
            if sentence.contains("local maximum of the energy") {
                let (_, after) = sentence.split_once("a configuration of ")?;
                let k = whole_numbers(after)[0];
                if !found.iter().any(|f| f.ascents == 0 && f.clusters == k) {
                    return Some(what);
                }
            } else if let Some((_, after)) = sentence.split_once("exactly ") {
                let count = whole_numbers(after)[0];
                // The search may miss points, and degenerate ones; more it cannot find.
                if found.len() != count {
                    return Some(format!("{what}: {} of {count}", found.len()));
                }
                if spheres {
                    let (_, list) = after.split_once("reflections: ")?;
                    let parts = list.split("; benign").next()?.split(", rank");
                    let ascents = |v: Vec<usize>| (v[0], v[1] + v[2] * (d - v[0]));
                    let mut stated: Vec<_> = parts.map(whole_numbers).map(ascents).collect();
                    let mut own: Vec<_> = found.iter().map(|f| (f.rank, f.ascents)).collect();
                    stated.sort_unstable();
                    own.sort_unstable();
                    if stated != own {
                        return Some(format!("{what}: stated {stated:?}"));
                    }
                } else {
                    let counts = whole_numbers(after.rsplit_once('[')?.1);
                    let own = (0..n).map(|k| found.iter().any(|f| f.ascents == k));
                    if !own.eq(counts.iter().map(|c| *c > 0)) {
                        return Some(format!("{what}: stated {counts:?}"));
                    }
                    let sum = |odd: usize| counts.iter().skip(odd).step_by(2).sum::<usize>();
                    if sum(0) != sum(1) {
                        return Some(format!("the counts {counts:?}"));
                    }
                }
                if sentence.contains("benign in all") && spurious > 0 {
                    return Some(what);
                }
            } else if spurious > 0 {
                return Some(what);
            }
        }
    }
    None
}

fn time_is_false(text: &str) -> Option<String> {
    let one = |key: &str| dyadics(text, key)[0];
    let (beta, share, from, to) = (one("beta"), one("share"), one("from"), one("to"));
    let softmax = words(text, "weights") == ["sa"];
    // theta' = -(speed) sin theta: the masses a and b pull each other.
    let (a, b) = (share, 1.0 - share);
    let rate = |t: f64| {
        let e = (beta * (t.cos() - 1.0)).exp();
        let speed =
            if softmax { b * e / (a + b * e) + a * e / (b + a * e) } else { e * beta.exp() };
        speed * t.sin()
    };
    let time = integral(|t| 1.0 / rate(t), to, from, 400);
    let (low, high) = (dyadics(text, "time")[0], dyadics(text, "time")[1]);
    let slack = 1e-9 * time.abs();
    let holds = low <= time + slack && time - slack <= high;
    (!holds).then(|| format!("{low} {time} {high}"))
}

fn modes_are_false(text: &str) -> Option<String> {
    let (samples, count) = (dyadics(text, "samples"), numbers(text, "modes")[0] as usize);
    let phi = interaction(text);
    let gauss = dyadics(text, "gauss");
    let exponential = dyadics(text, "exponential");
    let h = |t: f64| {
        let term = |x: &f64| match (&phi, gauss.first(), exponential.first()) {
            (Some(phi), ..) => phi.value((t - x).cos()).expect("a value"),
            (_, Some(beta), _) => (-0.5 * beta * (t - x) * (t - x)).exp(),
            (_, _, Some(beta)) => (beta * ((t - x).cos() - 1.0)).exp(),
            _ => 0.0,
        };
        samples.iter().map(term).sum::<f64>()
    };
    let low = samples.iter().copied().fold(f64::MAX, nan_min);
    let high = samples.iter().copied().fold(f64::MIN, nan_max);
    let found = match gauss.is_empty() {
        true => maxima(h, (0.0, std::f64::consts::TAU), true, 40_000),
        false => maxima(h, (low - 1.0, high + 1.0), false, 40_000),
    };
    (found != count).then(|| format!("{found} modes, not {count}"))
}

fn is_false(text: &str, sentence: &str) -> Option<String> {
    match text.split(' ').next() {
        Some("metastable-time") => time_is_false(text),
        Some("metastable-modes") => modes_are_false(text),
        _ => landscape_is_false(text, sentence),
    }
}

/// Small certificates of all kinds that are written line by line, with the share of forgeries.
fn originals() -> Vec<(&'static str, String, usize)> {
    let one = |masses: &[f64], beta: f64| tokens(masses, (beta, beta));
    let three = |beta| tokens(&[1.0; 3], beta);
    let all = |t: &Tokens| given::all(t, true).certificate.expect("complete");
    let good = |t: &Tokens| given::is_benign(t, true).certificate.expect("decided");
    let masses = [1.0, 1.0, 2.0];
    let up_to = one(&masses, 1.0).with_masses_up_to(&masses, &[1.1, 1.1, 2.2]).expect("masses");
    let sphere = |masses: &[f64], beta| {
        let tokens = spheres::Tokens::new(masses, beta).expect("tokens");
        let found = spheres::complete(&tokens, None, true, GO).expect("a search");
        found.certificate.expect("complete")
    };
    let average = spheres::Tokens::new(&[1.0; 4], (1.0, 2.0)).expect("tokens");
    let average = spheres::benign(&average, Some(3), true, GO).expect("a search");
    let time =
        |weights| enclosed_merge_time(weights, 5.0, 0.4, 2.0, 0.5).expect("a time").certificate;
    let samples = [-1.2, -0.9, 0.1, 0.2, 1.4];
    let modes_of = |estimate: &Estimate| {
        let found = match estimate {
            Estimate::Gauss(beta) => modes::line(&samples, *beta),
            Estimate::Exponential(beta) => modes::circle(&samples, *beta),
            Estimate::Interaction(phi) => modes::interaction(&samples, phi),
            _ => unreachable!("an estimate of this file"),
        };
        let count = found.and_then(|m| m.count()).expect("proved");
        certificate(estimate, &samples, count).expect("a certificate")
    };
    vec![
        ("circle", all(&one(&[1.0; 3], 1.0)), 12),
        ("circle", all(&one(&[1.0; 3], 5.0)), 8),
        ("circle", all(&one(&[3.0, 2.0, 1.0], 2.0)), 12),
        ("circle", all(&one(&[2.0, 1.0, 1.0], 0.1)), 4),
        ("circle, interval", all(&three((1.0, 1.5))), 10),
        ("circle, interaction", all(&under(3, "softplus:k=10")), 2),
        ("circle, benign", good(&three((0.1, 2.0))), 8),
        ("circle, benign", good(&up_to), 8),
        ("circle, maximum", good(&three((-0.7, -0.7))), 8),
        ("circle, maximum", good(&under(3, "s^3")), 2),
        ("spheres", sphere(&[1.0; 3], (2.0, 2.0)), 6),
        ("spheres", sphere(&[2.0, 1.0, 1.0], (1.0, 1.0)), 6),
        ("spheres, interval", sphere(&[1.0; 3], (1.0, 1.2)), 6),
        ("spheres, average", average.certificate.expect("benign"), 2),
        ("time", time(RowWeights::Softmax), 4),
        ("time", time(RowWeights::Exponential), 4),
        ("modes", modes_of(&Estimate::Gauss(20.0)), 4),
        ("modes", modes_of(&Estimate::Exponential(20.0)), 4),
        ("modes", modes_of(&Estimate::Interaction(&phi("s^3"))), 2),
    ]
}

/// For every kind: forgeries, those that are accepted, and their sentences that are new.
fn attack(count: usize) -> BTreeMap<&'static str, (usize, usize, usize)> {
    let all = originals();
    let shares: usize = all.iter().map(|o| o.2).sum();
    let mut table: BTreeMap<&'static str, (usize, usize, usize)> = BTreeMap::new();
    for (x, (kind, text, share)) in all.iter().enumerate() {
        let own = verifier::check(text).expect("the original is accepted");
        assert!(is_false(text, &own).is_none(), "{kind}: {:?}", is_false(text, &own));
        let forgeries: Vec<(String, &'static str)> = (0..count * share / shares)
            .map(|k| forged(text, &mut Stream::new(x as u64, &["forger", &k.to_string()])))
            .filter(|(changed, _)| changed != text)
            .collect();
        let accepted: Vec<(String, &(String, &'static str))> = forgeries
            .par_iter()
            .filter_map(|forgery| Some((verifier::check(&forgery.0).ok()?, forgery)))
            .collect();
        let row = table.entry(kind).or_default();
        row.0 += forgeries.len();
        row.1 += accepted.len();
        // One forgery of each sentence.
        let accepted: BTreeMap<String, &(String, &'static str)> = accepted.into_iter().collect();
        let wrong: Vec<String> = accepted
            .par_iter()
            .filter(|(sentence, _)| **sentence != own)
            .filter_map(|(sentence, forgery)| {
                let (changed, what) = *forgery;
                is_false(changed, sentence).map(|why| format!("{what}: {sentence}: {why}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{kind}: {} accepted lies: {wrong:#?}", wrong.len());
        row.2 += accepted.keys().filter(|s| **s != own).count();
    }
    table
}

/// Controls: all kinds are changed, few forgeries are accepted, some of them with a new sentence.
fn check_controls(table: &BTreeMap<&'static str, (usize, usize, usize)>, count: usize) {
    let sum = |f: fn(&(usize, usize, usize)) -> usize| table.values().map(f).sum::<usize>();
    assert!(table.len() == 10 && table.values().all(|r| r.0 > 0), "{table:?}");
    assert!(sum(|r| r.0) > count / 5 * 4 && sum(|r| r.1) < sum(|r| r.0) / 2, "{table:?}");
    assert!(sum(|r| r.2) > 3, "{table:?}");
}

#[test]
fn accepted_forgeries_are_true() {
    check_controls(&attack(600), 600);
}

/// `cargo test --release --test proofs forger -- --ignored --nocapture`.
#[test]
#[ignore = "minutes"]
fn accepted_forgeries_of_twenty_thousand_are_true() {
    let table = attack(20_000);
    for (kind, (forgeries, accepted, new)) in &table {
        println!("{kind}: {forgeries} forgeries, {accepted} accepted, {new} new sentences");
    }
    check_controls(&table, 20_000);
}

#[test]
fn the_search_sees_false_sentences() {
    let all = originals();
    let of = |kind: &str| &all.iter().find(|o| o.0 == kind).expect("its kind").1;
    for (kind, from, to) in [
        ("circle", "exactly 3", "exactly 4"),
        ("circle", "[1, 3, 2]", "[1, 3, 0]"),
        ("spheres", "rank 2 [2 + 1", "rank 2 [2 + 0"),
    ] {
        let own = verifier::check(of(kind)).expect("accepted");
        assert!(own.contains(from), "{own}");
        assert!(is_false(of(kind), &own.replace(from, to)).is_some(), "{to}");
    }
    let bounds = words(of("time"), "time").join(" ");
    assert!(is_false(&of("time").replace(&bounds, "1p0 3p-1"), "").is_some());
    assert!(is_false(&of("modes").replace("modes 3", "modes 4"), "").is_some());
}

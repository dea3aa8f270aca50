//! What follows from the description of an operation: refusals in the same words everywhere, keys
//! of answers, tables, ends.

use crate::program::{failure, run, text};
use metastable::cli::operations;
use metastable::error::Error;
use metastable::lab::Experiment;
use metastable::operation::{Given, Kind, Operation, Parameter, Quiet};
use std::time::{Duration, Instant};

/// Texts that a parameter must refuse.
fn wrong(p: &Parameter) -> Vec<String> {
    let (low, high) = p.bounds();
    let mut all = Vec::new();
    if matches!(p.kind, Kind::Whole | Kind::Real | Kind::Span | Kind::Numbers) {
        all.extend(["", "x", "nan"].map(str::to_owned));
        let beyond = |v: f64, step: f64| match p.kind {
            Kind::Whole => format!("{:.0}", v + step),
            _ => format!("{:e}", if step < 0.0 { v.next_down() } else { v.next_up() }),
        };
        if low > f64::NEG_INFINITY && low.abs() < 1e15 {
            all.push(beyond(low, -1.0));
        }
        if high < f64::INFINITY && high.abs() < 1e15 {
            all.push(beyond(high, 1.0));
        }
    }
    if matches!(p.kind, Kind::Whole | Kind::Real) && p.separator().is_none() {
        all.extend(["1,2", "inf", "1..2"].map(str::to_owned));
    }
    if p.kind == Kind::Whole {
        all.extend(["1.5", "-", "99999999999999999999999999999"].map(str::to_owned));
    }
    all
}

/// The problems of an operation that is given these texts; nothing may be computed.
fn problems(o: &Operation, given: &Given) -> Vec<String> {
    let started = Instant::now();
    let Err(e) = o.answer(given, &Quiet) else {
        panic!("{}: {given:?} is accepted", o.full_name())
    };
    assert!(started.elapsed() < Duration::from_millis(100), "{}: {given:?}", o.full_name());
    assert_eq!(e.exit_code(), 1, "{}: {e}", o.full_name());
    match e {
        Error::Many(all) => all.iter().map(ToString::to_string).collect(),
        one => vec![one.to_string()],
    }
}

#[test]
fn values_of_another_form_or_out_of_range_are_refused_in_one_sentence() {
    let mut tried = 0;
    for o in operations() {
        for p in (o.parameters)() {
            for bad in wrong(&p) {
                let found = problems(o, &Given::of(&[(p.name, &bad)]));
                let own = found.iter().filter(|line| line.starts_with(&format!("{}: ", p.name)));
                let own: Vec<&String> = own.collect();
                let shown = if bad.is_empty() { "an empty text" } else { &bad };
                let says = |line: &&&String| {
                    line.contains(": found ")
                        && line.contains(", expected ")
                        && (p.kind == Kind::Numbers || line.contains(shown))
                };
                assert!(
                    own.iter().any(|l| says(&l)),
                    "{} {} `{bad}`: {found:?}",
                    o.full_name(),
                    p.name
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn parameters_that_are_unknown_doubled_missing_excluded_or_alone_are_named() {
    let mut rules = [0; 3];
    for o in operations() {
        let table = (o.parameters)();
        let name = o.full_name();
        let found = problems(o, &Given::of(&[("betta_", "1")]));
        assert!(
            found.iter().any(|l| l.starts_with("unknown parameter `betta_`")),
            "{name}: {found:?}"
        );
        let starts = |found: &[String], p: &Parameter, words: &str| {
            found.iter().any(|l| l.starts_with(&format!("{}: found {words}", p.name)))
        };
        let value = |p: &Parameter| match p.kind {
            Kind::Switch => "true".to_owned(),
            Kind::Whole | Kind::Real | Kind::Span | Kind::Numbers => {
                p.bounds().0.max(p.bounds().1.min(2.0)).to_string()
            }
            _ => p.default().unwrap_or_else(|| "x".to_owned()),
        };
        let given = |all: &[&Parameter]| {
            let mut given = Given::default();
            all.iter().for_each(|p| given.add(p.name, &value(p)));
            given
        };
        for p in &table {
            let replaced = table.iter().any(|q| p.unless().contains(&q.name));
            if p.required && !replaced {
                let found = problems(o, &Given::of(&[("betta_", "1")]));
                assert!(starts(&found, p, "nothing"), "{name} {}: {found:?}", p.name);
                rules[0] += 1;
            }
            if matches!(p.kind, Kind::Whole | Kind::Real) && !p.many {
                let found = problems(o, &given(&[p, p]));
                assert!(starts(&found, p, &format!("{0} and {0}", value(p))), "{name}: {found:?}");
            }
            for other in p.excludes() {
                // A parameter of several predictions may exclude one that only some of them have.
                let Some(other) = table.iter().find(|q| q.name == *other) else { continue };
                let found = problems(o, &given(&[p, other]));
                assert!(found.iter().any(|l| l.contains(" together with ")), "{name}: {found:?}");
                rules[1] += 1;
            }
            if !p.needs().is_empty() {
                let found = problems(o, &given(&[p]));
                assert!(starts(&found, p, &format!("{} alone", p.name)), "{name}: {found:?}");
                rules[2] += 1;
            }
        }
    }
    assert!(rules[0] > 30 && rules[1] > 60 && rules[2] > 10, "{rules:?}");
}

/// At the command line a problem has the name of the flag, in a file a place before it.
#[test]
fn a_problem_has_the_same_words_in_all_front_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    for (key, value, words) in [
        ("rtol", "7", "found 7, expected a number in [1e-15, 0.1]"),
        ("merge_radius", "-1", "found -1, expected a number in [0, 1.5]"),
        ("accuracy", "0.5", "found 0.5, expected a number in [1e-13, 0.1]"),
    ] {
        let flag = key.replace('_', "-");
        let line = format!("solve --init uniform --n 2 --d 2 --beta 1 --t-end 1 --{flag}={value}");
        assert_eq!(
            failure(folder.path(), &line, 1).trim_end(),
            format!("error: --{flag}: {words}")
        );
        let file = format!("name = 'a'\nn = 2\nd = 2\nbeta = 1\nt_end = 1\n{key} = {value}\n");
        let e = Experiment::parse("a.toml", &file).expect_err("refused").to_string();
        assert_eq!(e, format!("a.toml, line 6, column {}: {key}: {words}", key.len() + 4));
        let given = [("init", "uniform"), ("n", "2"), ("d", "2"), ("beta", "1"), ("t_end", "1")];
        let mut given = Given::of(&given);
        given.add(key, value);
        let solve = operations().find(|o| o.name == "solve").expect("a command");
        assert_eq!(problems(solve, &given), [format!("{key}: {words}")]);
    }
}

#[test]
fn tables_have_the_declared_columns_whatever_the_values_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = |line: &str| -> String {
        let out = run(folder.path(), &format!("{line} --format csv"));
        let all = text(&out.stdout);
        all.lines().find(|l| !l.starts_with('#')).unwrap_or_default().to_owned()
    };
    let first = header("landscape --n 3 --beta 3");
    assert_eq!(first, header("landscape --n 4 --beta 1"));
    assert_eq!(first, header("landscape --n 3 --d 3 --beta 3"));
    assert!(first.starts_with("clusters,sizes,masses,unstable_directions,multiplicity,symmetries"));
    let other = header("landscape --n 3 --beta 3 --table undecided_boxes");
    assert_eq!(other, "masses,gaps_in_turns,inner_products,beta");
    let message = failure(folder.path(), "landscape --n 3 --beta 3 --format csv --table orbit", 1);
    assert!(message.contains("`orbit`; did you mean `orbits`?"), "{message}");
}

#[test]
fn the_front_page_stays_short() {
    let mut names: Vec<String> = operations().map(|o| o.full_name()).collect();
    names.retain(|name| !["completions", "man"].contains(&name.as_str()));
    let mut first: Vec<&str> = names.iter().filter_map(|name| name.split(' ').next()).collect();
    first.dedup();
    first.sort_unstable();
    first.dedup();
    // Two dozen and 109 flags, and `rates` with two more.
    assert!(first.len() <= 25, "{first:?}");
    let shown = |p: &Parameter| !p.is_hidden() && !p.is_positional();
    let flags: std::collections::BTreeSet<&str> =
        operations().flat_map(|o| (o.parameters)()).filter(shown).map(|p| p.name).collect();
    assert!(flags.len() <= 111, "{} {flags:?}", flags.len());
}

//! Text output: sections, verdicts, figures of papers, the remaining time.

use metastable::cli::colour::Colour;
use metastable::cli::papers::ALL as PAPERS;
use metastable::cli::printed;
use metastable::cli::progress::{line, part, total_share};
use metastable::cli::sections::{Document, Section, WIDTH, columns, escaped, wrapped};
use metastable::cli::verdicts::{TIGHTEST, row, summary, table};
use metastable::lab::report::tightest;
use metastable::paper_figs;
use metastable::theorem::{
    ALL, DrawnRanges, Kind, Margin, Record, ResolvingPower, TOPICS, Verdict, find,
};

#[test]
fn markdown_is_escaped_and_plain_text_is_not() {
    let rows = [
        vec!["`cap`".to_owned(), "|grad E|^2 <= tau*".to_owned()],
        vec!["a-longer-name".to_owned(), "x".to_owned()],
    ];
    let page = Document {
        lead: "*Title*\n".into(),
        sections: vec![Section::table("Rows", "See `cap`.", &["claim", "test"], &rows)],
    };
    let markdown = "*Title*\n\n# Rows\n\nSee `cap`.\n\n| claim | test |\n|---|---|\n| `cap` | \\|grad E\\|^2 \\<= tau\\* |\n| a-longer-name | x |\n";
    assert_eq!(page.markdown(), markdown);
    let plain = page.plain();
    assert!(!plain.contains(['`', '\\']), "{plain}");
    let places: Vec<Option<usize>> = ["test", "|grad E|^2 <= tau*"]
        .iter()
        .map(|w| plain.lines().find_map(|l| l.find(w)))
        .collect();
    assert_eq!(places, [Some(15), Some(15)], "{plain}");
    assert_eq!(escaped("`a|b` < c"), "`a|b` \\< c");
}

#[test]
fn the_last_column_is_wrapped() {
    let long = "word ".repeat(60);
    let text = columns(&[], &[vec!["name".into(), long]]);
    assert!(text.lines().count() > 3 && text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
    assert!(text.lines().skip(1).all(|l| l.starts_with("      word")), "{text}");
    assert_eq!(wrapped("", 10), [""]);
    assert_eq!(columns(&["a"], &[]), format!("a\n{}\n", "-".repeat(WIDTH)));
    assert_eq!(columns(&[], &[]), "");
}

fn record(name: &'static str, as_expected: bool) -> Record {
    let claim = find(name).expect("a claim");
    let verdict = if claim.status.expects_violation() == as_expected {
        Verdict::Violated
    } else {
        Verdict::Supported
    };
    Record {
        name,
        status: claim.status,
        kind: claim.kind,
        verdict,
        reason: String::new(),
        as_expected,
        margin: Some(Margin { value: 0.5, ..Margin::default() }),
        worst: None,
        slack: None,
        power: ResolvingPower::NotApplicable,
        trials: 5,
        missed: 0,
        unfinished: (0, String::new()),
        held: 5,
        certified: None,
        bound: None,
        confirmed: Vec::new(),
        searched: None,
        control_ok: true,
        drawn: DrawnRanges::default(),
        margins: Vec::new(),
        cases: Vec::new(),
        seed: 1,
    }
}

/// The number of claims without variants.
fn claims() -> usize {
    TOPICS.iter().map(|t| t.claims.len()).sum()
}

#[test]
fn the_summary_of_all_claims_is_short_and_counts_each_once() {
    let records: Vec<Record> = ALL.iter().map(|c| record(c.name, true)).collect();
    let text = summary(&records, &vec![0.25; records.len()], 1.0, Colour::NONE);
    let n = claims();
    assert!(text.starts_with(&format!("{n} of {n} claims have the verdict that the literature, with its known errata, predicts, 1.0 s\n")));
    assert!(text.lines().count() < 40, "{text}");
    assert!(text.find("Not as predicted\n").is_none() && !text.contains('!'));
    let table: Vec<&str> = text
        .lines()
        .skip_while(|l| !l.starts_with("topic"))
        .take_while(|l| !l.is_empty())
        .collect();
    assert_eq!(table.len(), 1 + TOPICS.len());
    assert!(table.iter().all(|l| l.chars().count() == table[0].chars().count()), "{text}");
    // The last seven columns: claims, four verdicts, unexpected verdicts, seconds.
    let sum = |back: usize| -> f64 {
        let number = |l: &&str| l.split_whitespace().rev().nth(back).and_then(|w| w.parse().ok());
        table[1..].iter().map(|l| number(l).unwrap_or(0.0)).sum()
    };
    assert_eq!([sum(6) as usize, sum(1) as usize], [n, 0]);
    assert_eq!((2..6).map(|k| sum(k) as usize).sum::<usize>(), records.len());
    assert!((sum(0) - 0.25 * records.len() as f64).abs() < 0.05 * TOPICS.len() as f64);
    let closest = text.split("\nThe smallest margins of claims that hold\n").nth(1);
    assert_eq!(closest.expect("a part").trim_end().lines().count(), 1 + TIGHTEST);
}

#[test]
fn topics_come_first_and_then_unexpected_verdicts() {
    let mut records: Vec<Record> = ALL.iter().map(|c| record(c.name, true)).collect();
    records[7].as_expected = false;
    let text = summary(&records, &[], 1.0, Colour::NONE);
    let n = claims();
    assert!(text.starts_with(&format!("{} of {n} claims", n - 1)), "{text}");
    let odd = text.find("\nNot as predicted\n").expect("the section");
    assert!(text.find("topic ").is_some_and(|k| k < odd));
    assert!(odd < text.find("The smallest margins").expect("the section"));
    assert!(text[odd..].lines().nth(3).is_some_and(|l| l.starts_with(records[7].name)), "{text}");
}

#[test]
fn a_variant_has_a_line_below_its_claim() {
    let claim = ALL.iter().find(|c| !c.variants.is_empty()).expect("a claim with a variant");
    let records: Vec<Record> = claim.with_variants().map(|c| record(c.name, true)).collect();
    let text = table(&records, 1.0, Colour::NONE);
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert!(lines[0].starts_with(claim.name), "{text}");
    assert!(lines[1].starts_with(&format!("  {}", claim.variants[0].name)), "{text}");
    assert!(text.contains("1 of 1 claims"), "{text}");
    let alone = table(&records[1..], 1.0, Colour::NONE);
    assert!(alone.lines().nth(1).is_some_and(|l| l.starts_with(claim.variants[0].name)), "{alone}");
}

#[test]
fn only_unknown_violations_are_highlighted() {
    let (known, unknown) = (record("cone-speed-printed", true), record("cone-speed", false));
    let plain = row(&known, Colour::NONE);
    assert!(plain.find("violated, as known  ").is_some() && !plain.contains('\u{1b}'));
    assert!(row(&known, Colour::ALL).find("\u{1b}[2mviolated, as known").is_some());
    assert!(row(&unknown, Colour::ALL).find("\u{1b}[1;31mviolated (!)").is_some());
    // Colours do not change the columns.
    let stripped = |text: String| {
        ["1;31", "33", "32", "2", "1", "0"]
            .iter()
            .fold(text, |t, c| t.replace(&format!("\u{1b}[{c}m"), ""))
    };
    for r in [&known, &unknown] {
        assert_eq!(stripped(row(r, Colour::ALL)), row(r, Colour::NONE));
    }
}

#[test]
fn the_smallest_margins_are_those_of_claims_that_hold() {
    let mut records: Vec<Record> = ALL.iter().map(|c| record(c.name, true)).collect();
    for (k, r) in records.iter_mut().enumerate() {
        r.margin = Some(Margin { value: 1.0 / (1.0 + k as f64), ..Margin::default() });
    }
    let found = tightest(&records, TIGHTEST);
    let value = |r: &Record| r.margin.map_or(f64::NAN, |m| m.value);
    assert!(found.len() == TIGHTEST && found.windows(2).all(|w| value(w[0]) <= value(w[1])));
    assert!(found.iter().all(
        |r| !r.status.expects_violation() && !matches!(r.kind, Kind::Share(_) | Kind::Every(_))
    ));
}

#[test]
fn every_paper_has_authors_and_a_title() {
    // A malformed file of texts has no entries.
    assert!(PAPERS.len() > 40 && printed::ABSENT.len() > 10);
    for paper in PAPERS.iter() {
        assert!(!paper.summary().is_empty() && !paper.summary().ends_with(": "), "{}", paper.id);
        assert!(
            !paper.authors.is_empty() && !paper.title.is_empty(),
            "{}: complete it, or drop this line when it cannot be known",
            paper.id
        );
    }
}

#[test]
fn every_published_figure_has_a_known_paper_and_a_description() {
    let known = |id: &str| PAPERS.iter().any(|p| p.id == id);
    for figure in paper_figs::ALL {
        for p in figure.redraws {
            assert!(
                known(p.paper)
                    && !p.place.to_string().is_empty()
                    && !p.shows.is_empty()
                    && !p.differs.is_empty(),
                "{}: {p:?}",
                figure.name
            );
        }
    }
    for a in printed::ABSENT.iter() {
        assert!(
            known(&a.paper) && !a.why.is_empty() && !a.place().to_string().is_empty(),
            "{}, {}",
            a.paper,
            a.place()
        );
    }
    assert!(PAPERS.windows(2).all(|p| p[0].id < p[1].id), "papers are not sorted by their numbers");
}

#[test]
fn all_figures_of_the_perspective_are_listed() {
    let paper = PAPERS.iter().find(|p| p.id == "2312.10794").expect("a known paper");
    let places: Vec<String> =
        printed::rows(paper).iter().map(|r| format!("{} {}", r[0], r[1])).collect();
    for (place, figure) in [
        ("figure 1", "`inner-products`"),
        ("figure 2", "`regime-chart`"),
        ("figure 3", "`phase-diagram`"),
        ("figure 4", "`circle-snapshots`"),
        ("figure 5", "-"),
        ("figure 6", "`saddle-kernel`"),
    ] {
        assert!(places.contains(&format!("{place} {figure}")), "{place}: {places:?}");
    }
    // Every paper has a line, even if its figures were not read.
    let listed = printed::all();
    assert!(PAPERS.iter().all(|p| listed.iter().any(|(place, _)| place.starts_with(&p.id))));
}

#[test]
fn the_remaining_time_covers_all_parts() {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-15;
    assert!(near(total_share(0.5), 0.5));
    {
        // The figures after the claims; the last figure is half done.
        let _figures = part(0.9, 1.0);
        assert!(near(total_share(0.0), 0.9) && near(total_share(1.0), 1.0));
        let _last = part(0.8, 1.0);
        assert!(near(total_share(0.5), 0.99));
        assert_eq!(
            line("check", 132.0, Some(total_share(0.5)), None, "1 of 2 cells"),
            "check: 132 s, about 1 s left: 1 of 2 cells"
        );
    }
    assert!(near(total_share(0.5), 0.5), "after the parts, the whole counts again");
}

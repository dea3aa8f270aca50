//! The status page: complete without network or script, every link has its target, every picture its words, small enough to send.

use metastable::draw::spark;
use metastable::lab::Provenance;
use metastable::lab::report::{Budget, Figure, Shown, html};
use metastable::theorem::{ALL, Claim, Effort, Margin, Power, Record, Searched, Verdict};
use std::collections::BTreeSet;
use std::path::Path;

const VERDICTS: [Verdict; 5] =
    [Verdict::Supported, Verdict::Certified, Verdict::Violated, Verdict::Inconclusive, Verdict::HypothesesNeverMet];

/// A record of every shape that a check can give, without the check.
fn record(k: usize, claim: &'static Claim) -> Record {
    let cases = claim.domain.cases(5, &mut metastable::num::stream::Stream::new(1, &["report"]));
    let seen = if k.is_multiple_of(3) { (0.0, 1e-13) } else { (0.25, 1.0) };
    Record {
        name: claim.name,
        status: claim.status,
        kind: claim.kind,
        verdict: VERDICTS[k % VERDICTS.len()],
        reason: if k.is_multiple_of(4) { "1 of 5 margins < its error & \"near\"".into() } else { String::new() },
        as_expected: !k.is_multiple_of(4),
        margin: Some(Margin { value: 1.0 - seen.0 / seen.1, seen: Some(seen), ..Margin::default() }),
        worst: cases.first().map(|c| (*c, 3)),
        slack: k.is_multiple_of(2).then_some(1.5),
        power: if k.is_multiple_of(2) { Power::Notices(1e-3) } else { Power::NotTwice },
        trials: 5,
        missed: k % 3,
        unfinished: (0, String::new()),
        held: 5,
        certified: k.is_multiple_of(6).then_some((3, 5)),
        bound: claim.kind.counts().then_some(0.3),
        confirmed: Vec::new(),
        searched: k.is_multiple_of(5).then_some(Searched { evaluations: 48, best: 0.01 }),
        control_ok: true,
        drawn: metastable::theorem::Drawn::of(cases.iter()),
        margins: vec![1.0, 1e-9, 0.0, -1e-3],
        cases,
        seed: 1,
    }
}

fn gallery() -> Vec<Figure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("paper_figs/gallery");
    let read = |name: &str, extension: &str| std::fs::read(folder.join(format!("{name}.{extension}"))).ok();
    let drawn = |name: &str| {
        let text = |extension: &str| String::from_utf8(read(name, extension)?).ok();
        Some(Shown::Here { svg: text("svg")?, png: read(name, "png")?, caption: text("txt")? })
    };
    let missing = Shown::Missing("its data take longer than a quick run");
    let mut figures: Vec<Figure> = metastable::paper_figs::ALL
        .iter()
        .map(|f| Figure { name: f.name, title: f.title, drawn: drawn(f.name).unwrap_or(Shown::Missing("it is not in the gallery")) })
        .collect();
    figures[1].drawn = missing;
    figures
}

fn page(effort: Effort) -> String {
    let records: Vec<Record> = ALL.iter().enumerate().map(|(k, c)| record(k, c)).collect();
    let sparks: Vec<String> = records.iter().map(|r| spark(&r.margins, &format!("margins of {}", r.name))).collect();
    let budget = Budget { effort, names: Vec::new(), seconds: 61.0, machine: "2 threads".into(), seed: 1 };
    let provenance = Provenance::new("check", "test", budget.command());
    let page = html(&records, &sparks, &gallery(), &provenance, &budget);
    // For a look in a browser.
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html"), &page).expect("writable");
    page
}

/// The values of an attribute, scripts and styles aside.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let mark = format!(" {attribute}=\"");
    page.match_indices(&mark).filter_map(|(k, _)| page[k + mark.len()..].split('"').next()).collect()
}

/// The opening tags of a name.
fn tags<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!("<{name}");
    page.match_indices(&mark)
        .filter(|(k, _)| page[k + mark.len()..].starts_with([' ', '>']))
        .filter_map(|(k, _)| page[k..].split('>').next())
        .collect()
}

#[test]
fn every_link_has_its_target_and_every_name_is_there_once() {
    let page = page(Effort::Quick);
    let ids = values(&page, "id");
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "an id stands twice");
    for link in values(&page, "href") {
        // The page that computes lies beside it.
        if link == "page.html" {
            continue;
        }
        let target = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads outside"));
        assert!(known.contains(target), "nothing is named {target}");
    }
    for label in values(&page, "aria-labelledby") {
        assert!(known.contains(label), "{label} labels nothing");
    }
    for claim in ALL {
        assert!(known.contains(claim.name) && page.contains(&format!("href=\"#{}\"", claim.name)), "{} is not linked", claim.name);
    }
    for figure in metastable::paper_figs::ALL {
        assert!(known.contains(format!("figure-{}", figure.name).as_str()), "{} is neither drawn nor excused", figure.name);
    }
}

#[test]
fn nothing_is_asked_of_the_network_and_the_page_is_small() {
    let page = page(Effort::Standard);
    // Pictures are what is large: 75 kB of each.
    assert!(page.len() < 75_000 * metastable::paper_figs::ALL.len(), "{} bytes", page.len());
    let inside = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=\"/", "@import", "<link", "<iframe"] {
        assert!(!inside.contains(word), "the page says {word}");
    }
    assert!(values(&page, "src").iter().all(|s| s.starts_with("data:image/png;base64,")));
    assert_eq!(page.matches("@font-face").count(), 1, "one font for all figures");
}

#[test]
fn a_screen_reader_finds_its_way() {
    let page = page(Effort::Quick);
    assert!(page.contains("<html lang=\"en\">") && page.contains("<title>") && page.contains("width=device-width"));
    for landmark in ["header", "nav", "main"] {
        assert_eq!(tags(&page, landmark).len(), 1, "{landmark}");
    }
    assert_eq!(tags(&page, "h1").len(), 1);
    assert!(tags(&page, "th").iter().all(|t| t.contains("scope=\"")), "a header cell without scope");
    assert_eq!(tags(&page, "table").len(), tags(&page, "caption").len());
    assert!(tags(&page, "svg").iter().all(|t| t.contains("role=\"img\"") && t.contains("aria-label=\"")), "a picture without words");
    assert!(tags(&page, "img").iter().all(|t| t.contains("alt=\"")));
    for name in ["table", "tr", "td", "th", "article", "section", "figure", "details", "pre", "div", "p"] {
        assert_eq!(tags(&page, name).len(), page.matches(&format!("</{name}>")).count(), "<{name}> is not closed");
    }
}

#[test]
fn it_says_what_it_is_and_what_was_seen() {
    let (quick, full) = (page(Effort::Quick), page(Effort::Standard));
    assert!(quick.contains("Quick run") && quick.contains("metastable check --quick --seed 1"));
    assert!(full.contains("Full run") && !full.contains("--quick"));
    for words in ["2 threads", "no deviation: exact", "deviation 0.25, tolerance 1", "value 0.25, bound 1", "(not as predicted)"] {
        assert!(quick.contains(words), "{words}");
    }
    assert!(!quick.contains("e-308"));
    assert!(quick.contains("<h3>Not in this report: its data take longer than a quick run</h3>"));
    // A verdict that no claim has is no column.
    assert!(quick.contains("<th scope=\"col\">inconclusive</th>"));
    assert!(quick.contains("&lt; its error &amp; &quot;near&quot;"), "text is escaped");
}

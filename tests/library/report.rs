//! The report page: it needs no network and no script, every link has its target, every picture has
//! a description, and the file is small.

use metastable::draw::{Sheet, Size, margin_strip};
use metastable::lab::Provenance;
use metastable::lab::report::{
    Budget, CitedPaper, Figure, FigurePicture, Group, by_paper, by_topic, headline_of, html,
};
use metastable::paper_figs::{Inputs, PaperFigure};
use metastable::study::Values;
use metastable::theorem::{
    ALL, Claim, Effort, Margin, Record, ResolvingPower, SearchSummary, Status, TOPICS, Verdict,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

const VERDICTS: [Verdict; 5] = [
    Verdict::Supported,
    Verdict::Certified,
    Verdict::Violated,
    Verdict::Inconclusive,
    Verdict::HypothesesNeverMet,
];

/// Record k of a claim, with every form that a check can produce, without running the check.
fn record(k: usize, claim: &'static Claim) -> Record {
    let cases = claim.domain.cases(5, &mut metastable::num::stream::Stream::new(1, &["report"]));
    let measured = if k.is_multiple_of(3) { (0.0, 1e-13) } else { (0.25, 1.0) };
    Record {
        name: claim.name,
        status: claim.status,
        kind: claim.kind,
        verdict: VERDICTS[k % VERDICTS.len()],
        reason: if k.is_multiple_of(4) {
            "1 of 5 margins < its error & \"near\"".into()
        } else {
            String::new()
        },
        as_expected: !k.is_multiple_of(4),
        margin: Some(Margin {
            value: 1.0 - measured.0 / measured.1,
            compared: Some(measured),
            ..Margin::default()
        }),
        worst: cases.first().map(|c| (*c, 3)),
        slack: k.is_multiple_of(2).then_some(1.5),
        power: if k.is_multiple_of(2) {
            ResolvingPower::Resolves(1e-3)
        } else {
            ResolvingPower::AboveFactorTwo
        },
        trials: 5,
        missed: k % 3,
        unfinished: (0, String::new()),
        held: 5,
        certified: k.is_multiple_of(6).then_some((3, 5)),
        bound: claim.kind.is_share().then_some(0.3),
        confirmed: Vec::new(),
        searched: k.is_multiple_of(5).then_some(SearchSummary { evaluations: 48, best: 0.01 }),
        control_ok: true,
        drawn: metastable::theorem::DrawnRanges::of(cases.iter()),
        margins: vec![1.0, 1e-9, 0.0, -1e-3],
        cases,
        seed: 1,
    }
}

/// One figure as SVG and as PNG.
static DRAWN: LazyLock<(String, Vec<u8>)> = LazyLock::new(|| {
    let figure =
        metastable::paper_figs::ALL.iter().find(|f| f.name == "gamma-curve").expect("registered");
    let inputs = Inputs { values: Values::defaults(figure.all_parameters()), ..Inputs::default() };
    let picture = (figure.draw)(&inputs).expect("drawn");
    let sheet = || Sheet::from(Size::Siam);
    let svg = metastable::draw::svg(&picture, sheet(), "").expect("an SVG");
    (svg, metastable::draw::png(&picture, sheet(), 72.0, "").expect("a PNG"))
});

/// All figures of the program, with the same picture. Every fourth is too large for an SVG, and one
/// is missing.
fn gallery() -> Vec<Figure> {
    let drawn = |k: usize| {
        let blanks = " ".repeat(if k % 4 == 3 { 200_000 } else { 0 });
        let (svg, png) = &*DRAWN;
        let svg = svg.replace("</svg>", &format!("{blanks}</svg>"));
        FigurePicture::Drawn { svg, png: png.clone(), caption: "What is drawn.".into() }
    };
    let missing = || FigurePicture::Missing("its data take longer than a quick run");
    let each = |(k, f): (usize, &&PaperFigure)| Figure {
        name: f.name,
        title: f.title,
        picture: if k == 1 { missing() } else { drawn(k) },
    };
    metastable::paper_figs::ALL.iter().enumerate().map(each).collect()
}

fn records() -> Vec<Record> {
    ALL.iter().enumerate().map(|(k, c)| record(k, c)).collect()
}

fn papers() -> Vec<CitedPaper> {
    let paper = |id| CitedPaper { id, summary: format!("Authors of {id}: <Title>") };
    ["2410.06833", "2305.05465", "2312.10794"].map(paper).into()
}

fn page(effort: Effort) -> String {
    let records = records();
    let sparks: Vec<String> = records
        .iter()
        .map(|r| margin_strip(&r.margins, &format!("margins of {}", r.name)))
        .collect();
    let budget = Budget {
        effort,
        names: Vec::new(),
        topics: Vec::new(),
        seconds: 61.0,
        machine: "2 threads".into(),
        seed: 1,
    };
    let provenance = Provenance::new("check", "test", budget.command());
    let page = html(&records, &sparks, &gallery(), &papers(), &provenance, &budget);
    // Writes the page for inspection in a browser.
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html"), &page)
        .expect("writable");
    page
}

/// The part of a page between two strings.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from}"));
    let rest = &page[start..];
    &rest[..rest.find(to).unwrap_or_else(|| panic!("no {to} behind {from}"))]
}

/// The values of an attribute, outside scripts and styles.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let mark = format!(" {attribute}=\"");
    page.match_indices(&mark)
        .filter_map(|(k, _)| page[k + mark.len()..].split('"').next())
        .collect()
}

/// The opening tags of the elements with a name.
fn tags<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!("<{name}");
    page.match_indices(&mark)
        .filter(|(k, _)| page[k + mark.len()..].starts_with([' ', '>']))
        .filter_map(|(k, _)| page[k..].split('>').next())
        .collect()
}

#[test]
fn links_have_targets_and_ids_are_unique() {
    let page = page(Effort::Quick);
    let ids = values(&page, "id");
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "an id occurs twice");
    for link in values(&page, "href") {
        // The solver page lies beside the report.
        if link == "page.html" {
            continue;
        }
        let target = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads outside"));
        assert!(known.contains(target), "no element has the id {target}");
    }
    for label in values(&page, "aria-labelledby") {
        assert!(known.contains(label), "{label} labels nothing");
    }
    for claim in ALL.iter() {
        assert!(
            known.contains(claim.name)
                && known.contains(format!("h-{}", claim.name).as_str())
                && page.contains(&format!("href=\"#{}\"", claim.name)),
            "{} is not linked",
            claim.name
        );
    }
    for figure in metastable::paper_figs::ALL {
        assert!(
            known.contains(format!("figure-{}", figure.name).as_str()),
            "{} is neither drawn nor explained as missing",
            figure.name
        );
    }
}

#[test]
fn the_page_needs_no_network_and_is_small() {
    let page = page(Effort::Standard);
    // 60 kB for each picture, 8 kB for each claim with its formulas and its proof.
    assert!(
        page.len() < 60_000 * metastable::paper_figs::ALL.len() + 8_000 * ALL.len(),
        "{} bytes",
        page.len()
    );
    let inside = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=\"/", "@import", "<link", "<iframe"] {
        assert!(!inside.contains(word), "the page contains {word}");
    }
    assert!(values(&page, "src").iter().all(|s| s.starts_with("data:image/png;base64,")));
    assert_eq!(page.matches("@font-face").count(), 1, "all figures share one font");
}

/// Elements that are not closed, or are closed without being open, in order.
fn unclosed(page: &str) -> Vec<String> {
    const VOID: [&str; 6] = ["meta", "input", "img", "br", "!doctype", "!--"];
    let mut text = page.to_owned();
    // The content of these elements is no markup.
    for name in ["script", "style"] {
        while let Some(start) = text.find(&format!("<{name}")) {
            let end =
                text[start..].find(&format!("</{name}>")).expect("closed") + start + name.len() + 3;
            text.replace_range(start..end, "");
        }
    }
    let (mut open, mut wrong): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for piece in text.split('<').skip(1) {
        let (tag, behind) = piece.split_once('>').unwrap_or((piece, ""));
        if behind.contains('>') {
            wrong.push(format!("a loose > behind <{tag}>"));
        }
        let name = tag.split([' ', '/']).find(|w| !w.is_empty()).unwrap_or_default();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                wrong.push(format!("</{name}>"));
            }
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    wrong.extend(open.into_iter().map(|n| format!("<{n}>")));
    wrong.truncate(5);
    wrong
}

#[test]
fn the_page_is_accessible_to_screen_readers() {
    let page = page(Effort::Quick);
    assert!(
        page.contains("<html lang=\"en\">")
            && page.contains("<title>")
            && page.contains("width=device-width")
    );
    for landmark in ["header", "nav", "main"] {
        assert_eq!(tags(&page, landmark).len(), 1, "{landmark}");
    }
    assert_eq!(tags(&page, "h1").len(), 1);
    assert!(
        tags(&page, "th").iter().all(|t| t.contains("scope=\"")),
        "a header cell without scope"
    );
    assert_eq!(tags(&page, "table").len(), tags(&page, "caption").len());
    assert!(
        tags(&page, "svg")
            .iter()
            .all(|t| t.contains("role=\"img\"") && t.contains("aria-label=\"")),
        "a picture without a description"
    );
    assert!(tags(&page, "img").iter().all(|t| t.contains("alt=\"")));
    assert_eq!(unclosed(&page), Vec::<String>::new());
}

#[test]
fn the_page_shows_its_command_settings_and_margins() {
    let (quick, full) = (page(Effort::Quick), page(Effort::Standard));
    assert!(quick.contains("metastable check --quick --seed 1") && !full.contains("--quick"));
    assert!(
        quick.contains("2 threads")
            && quick.contains("its data take longer than a quick run")
            && !quick.contains("e-308")
    );
    assert!(quick.contains("&lt; its error &amp; &quot;near&quot;"), "text is not escaped");
}

#[test]
fn each_claim_occurs_once_in_each_grouping() {
    let records = records();
    let all: Vec<usize> = (0..records.len()).collect();
    for groups in [by_paper(&records, &papers()), by_topic(&records)] {
        let mut found: Vec<usize> = groups.iter().flat_map(|g| g.records.iter().copied()).collect();
        found.sort_unstable();
        assert_eq!(found, all);
        let names: BTreeSet<&str> = groups.iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names.len(), groups.len(), "two groups have the same name");
    }
    // On the page, claims are complete in the grouping by topic and links in the grouping by paper.
    let page = page(Effort::Quick);
    let (by_papers, topical) = (
        between(&page, "<div id=\"by-paper\">", "<div id=\"by-topic\">"),
        between(&page, "<div id=\"by-topic\">", "<section id=\"words\""),
    );
    for claim in ALL.iter() {
        assert_eq!(
            topical.matches(&format!("<article id=\"{}\"", claim.name)).count(),
            1,
            "{}",
            claim.name
        );
        assert_eq!(
            by_papers.matches(&format!("href=\"#{}\"", claim.name)).count(),
            1,
            "{}",
            claim.name
        );
    }
    // A script moves a claim to the paper that its `data-paper` names.
    let ids: BTreeSet<&str> = values(by_papers, "id").into_iter().collect();
    assert!(values(topical, "data-paper").iter().all(|t| ids.contains(t)));
}

#[test]
fn papers_are_sorted_by_their_number_of_claims_and_claims_by_theorem() {
    let records = records();
    let groups = by_paper(&records, &papers());
    let sizes: Vec<usize> = groups.iter().map(|g| g.records.len()).collect();
    assert!(
        sizes[..3].windows(2).all(|w| w[0] >= w[1])
            && groups[0].name == "2312.10794"
            && groups.last().is_some_and(|g| g.name == "other")
    );
    let place = |g: &Group, name: &str| {
        g.records
            .iter()
            .position(|k| records[*k].name == name)
            .unwrap_or_else(|| panic!("{name} is elsewhere"))
    };
    let perspective = &groups[0];
    // (2.3), Lemma 6.4, Theorem 6.9, (D.8).
    let order = ["symmetries", "cone-collapse", "concentration", "gamma-bound"]
        .map(|n| place(perspective, n));
    assert!(order.windows(2).all(|w| w[0] < w[1]), "{order:?}");
}

#[test]
fn every_claim_has_one_topic_and_every_false_claim_has_a_correction() {
    for claim in ALL.iter() {
        let rows = TOPICS.iter().flat_map(|t| t.claims);
        let named = rows.filter(|c| c.is_or_has(claim.name)).count();
        assert_eq!(named, 1, "{} is listed {named} times", claim.name);
        let corrected = claim.corrected_by().is_some() || !claim.correct.is_empty();
        assert!(corrected || !claim.status.expects_violation(), "{} is not corrected", claim.name);
    }
}

#[test]
fn claims_are_folded_and_the_news_counts_are_right() {
    let page = page(Effort::Quick);
    let folded = tags(&page, "details");
    assert!(folded.iter().all(|t| !t.contains(" open")), "an element is unfolded");
    assert_eq!(folded.iter().filter(|t| t.contains("class=\"claim\"")).count(), ALL.len());
    let records = records();
    assert!(between(&page, "<header>", "</header>").contains(&headline_of(&records)));
    let news = between(&page, "<section id=\"news\"", "<section id=\"claims\"");
    let of = |status: Status| ALL.iter().filter(|c| c.status == status).count();
    let corrects = |c: &Claim| c.variants.iter().any(|v| v.status.expects_violation());
    let alone = ALL.iter().filter(|c| c.status == Status::Corrected && !corrects(c)).count();
    let certified = records.iter().filter(|r| r.verdict == Verdict::Certified).count();
    for count in [
        of(Status::Misprinted),
        of(Status::RefutedConjecture),
        of(Status::Folklore),
        alone,
        certified,
        of(Status::Open),
        records.iter().filter(|r| !r.as_expected).count(),
    ] {
        assert!(news.contains(&format!("<h3>{count} ")), "the news lack the count {count}");
    }
    let errata =
        of(Status::Misprinted) + of(Status::RefutedConjecture) + of(Status::Folklore) + alone;
    assert_eq!(news.matches("class=\"erratum\"").count(), errata);
}

#[test]
fn formulas_are_typeset_and_words_are_defined() {
    let page = page(Effort::Quick);
    assert!(page.matches("<math>").count() > 1000);
    // No attribute holds a formula.
    assert!(
        values(&page, "aria-label")
            .iter()
            .chain(&values(&page, "data-words"))
            .all(|v| !v.contains("<math"))
    );
    for word in ["margin", "error", "slack", "resolves", "control"] {
        assert!(page.contains(&format!("<dt>{word}</dt>")), "{word} is not defined");
    }
}

#[test]
fn the_same_records_give_the_same_bytes() {
    assert_eq!(page(Effort::Quick), page(Effort::Quick));
}

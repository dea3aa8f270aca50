//! The head of the page: unexpected verdicts, false statements with their corrections, proofs, open
//! problems, and the claims that came closest to failing.

use super::claims::{margin, number};
use super::math;
use super::terms::escape;
use crate::theorem::{Claim, Record, Status, Verdict, claim, find};

/// Number of smallest margins shown.
const MAX_CLOSEST: usize = 10;

pub(super) fn section(records: &[Record]) -> String {
    format!(
        "<section id=\"news\" aria-labelledby=\"h-news\"><h2 id=\"h-news\">What is \
        new</h2>\n{}{}{}{}{}{}{}{}</section>\n",
        surprises(records),
        false_statements(records, Status::Misprinted, "false as published", "As published"),
        false_statements(
            records,
            Status::RefutedConjecture,
            "conjectured but false",
            "As conjectured",
        ),
        false_statements(records, Status::Folklore, "commonly stated but false", "As stated"),
        corrected(records),
        proved(records),
        open(records),
        closest(records),
    )
}

/// Claims that should hold and do, smallest margins first.
pub fn tightest(records: &[Record], most: usize) -> Vec<&Record> {
    let holds = |r: &&Record| r.as_expected && !r.status.expects_violation() && !r.kind.is_share();
    let mut found: Vec<(f64, &Record)> =
        records.iter().filter(holds).filter_map(|r| Some((r.margin?.value, r))).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().take(most).map(|(_, r)| r).collect()
}

/// The headline: the number of claims that have the predicted verdict, with all of their variants.
pub fn headline<'a>(verdicts: impl IntoIterator<Item = (&'a str, bool)>) -> String {
    let mut claims: Vec<(&str, bool)> = Vec::new();
    for (name, as_expected) in verdicts {
        let name = claim::row(name).map_or(name, |c| c.name);
        match claims.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => *all &= as_expected,
            None => claims.push((name, as_expected)),
        }
    }
    let good = claims.iter().filter(|(_, all)| *all).count();
    format!(
        "{good} of {} claims have the verdict that the literature, with its known errata, predicts",
        claims.len()
    )
}

/// As [`headline`], of records.
pub fn headline_of(records: &[Record]) -> String {
    headline(records.iter().map(|r| (r.name, r.as_expected)))
}

fn link(name: &str) -> String {
    let title = find(name).map_or_else(|_| escape(name), |c| math::text(c.title));
    format!("<a href=\"#{name}\">{title}</a>")
}

fn surprises(records: &[Record]) -> String {
    let odd: Vec<&Record> = records.iter().filter(|r| !r.as_expected).collect();
    if odd.is_empty() {
        return String::new();
    }
    let item = |r: &&Record| {
        format!(
            "<li><b class=\"broken\">{}</b> {}: {}</li>\n",
            r.verdict,
            link(r.name),
            escape(&r.reason)
        )
    };
    format!(
        "<h3>{} not as predicted</h3>\n<ul>\n{}</ul>\n",
        odd.len(),
        odd.iter().map(item).collect::<String>()
    )
}

/// Two statements side by side, folded under one title.
fn pair(title: &str, left: (&str, &str), right: &str) -> String {
    format!(
        "<details class=\"erratum\"><summary>{title}</summary>\n<div \
        class=\"pair\"><div><h4>{}</h4><p>{}</p></div><div><h4>Correct \
        statement</h4>{right}</div></div></details>\n",
        left.0, left.1
    )
}

fn statement(c: &Claim) -> String {
    format!("{} (<a href=\"#{1}\">{1}</a>)", math::text(&c.marked_statement()), c.name)
}

/// What is true instead of a false claim.
fn correction(c: &Claim) -> String {
    let mut out = c.corrected_by().map_or_else(String::new, |c| format!("<p>{}</p>", statement(c)));
    if !c.correct.is_empty() {
        out.push_str(&format!("<p>{}</p>", math::text(&c.marked(c.correct))));
    }
    out
}

/// The false statements with a status, each with its correction.
fn false_statements(records: &[Record], status: Status, what: &str, label: &str) -> String {
    let found: Vec<&Claim> =
        records.iter().filter(|r| r.status == status).filter_map(|r| find(r.name).ok()).collect();
    if found.is_empty() {
        return String::new();
    }
    let one = |c: &&Claim| pair(&math::text(c.title), (label, &statement(c)), &correction(c));
    let many = if found.len() == 1 { "statement is" } else { "statements are" };
    format!("<h3>{} {many} {what}</h3>\n{}", found.len(), found.iter().map(one).collect::<String>())
}

/// Corrected statements whose published form is not a claim of its own; the citation tells what was
/// published.
fn corrected(records: &[Record]) -> String {
    let alone = |c: &&Claim| !c.variants.iter().any(|v| v.status.expects_violation());
    let of_status = records.iter().filter(|r| r.status == Status::Corrected);
    let found: Vec<&Claim> = of_status.filter_map(|r| find(r.name).ok()).filter(alone).collect();
    if found.is_empty() {
        return String::new();
    }
    let one = |c: &&Claim| {
        pair(
            &math::text(c.title),
            ("Where it is published", &escape(c.source)),
            &format!("<p>{}</p>", statement(c)),
        )
    };
    let many = if found.len() == 1 { "statement is" } else { "statements are" };
    format!(
        "<h3>{} more {many} corrected</h3>\n{}",
        found.len(),
        found.iter().map(one).collect::<String>()
    )
}

fn proved(records: &[Record]) -> String {
    let certified: Vec<&Record> =
        records.iter().filter(|r| r.verdict == Verdict::Certified).collect();
    let (starts, of) = records
        .iter()
        .filter_map(|r| r.certified)
        .fold((0, 0), |(a, b), (proved, of)| (a + proved, b + of));
    let item = |r: &&Record| {
        let what = find(r.name).ok().and_then(|c| c.proof.as_ref()).map_or("", |p| p.what);
        format!("<li>{}: {}</li>\n", link(r.name), math::text(what))
    };
    let mut out = String::new();
    if !certified.is_empty() {
        out.push_str(&format!(
            "<h3>{} certified: proved by interval arithmetic for the stated \
            box</h3>\n<ul>\n{}</ul>\n",
            certified.len(),
            certified.iter().map(item).collect::<String>()
        ));
    }
    if of > 0 {
        out.push_str(&format!(
            "<p>{proved} of {of} random starts are proved by interval arithmetic to converge to \
            one point.</p>\n",
            proved = starts
        ));
    }
    out
}

fn open(records: &[Record]) -> String {
    let found: Vec<&Record> = records.iter().filter(|r| r.status == Status::Open).collect();
    if found.is_empty() {
        return String::new();
    }
    let item = |r: &&Record| {
        let searched =
            r.searched.map_or(String::new(), |s| format!("; {} trials of a search", s.evaluations));
        format!("<li>{}: {} in {} draws{searched}</li>\n", link(r.name), r.verdict, r.trials)
    };
    format!(
        "<h3>{} open: no proof is known</h3>\n<ul>\n{}</ul>\n",
        found.len(),
        found.iter().map(item).collect::<String>()
    )
}

fn closest(records: &[Record]) -> String {
    let found = tightest(records, MAX_CLOSEST);
    if found.is_empty() {
        return String::new();
    }
    let row = |r: &&Record| {
        let m = r.margin.as_ref().map_or(String::new(), margin);
        let slack = r.slack.map_or(String::new(), number);
        format!("<tr><td>{}</td><td>{}</td><td>{slack}</td></tr>\n", link(r.name), escape(&m))
    };
    format!(
        "<h3>{} that came closest to failing</h3>\n<table><caption>The smallest margins of claims \
        that hold. A bound that is attained has margin 0 and slack 1.</caption><thead><tr><th \
        scope=\"col\">claim</th><th scope=\"col\">margin</th><th \
        scope=\"col\">slack</th></tr></thead>\n<tbody>\n{}</tbody></table>\n",
        found.len(),
        found.iter().map(row).collect::<String>()
    )
}

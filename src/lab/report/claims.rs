//! The claims of the page, each folded to one line, grouped by topic, with an index by paper.

use super::groups::{CitedPaper, Group, by_paper, by_topic};
use super::math;
use super::terms::{STATUSES, VERDICTS, escape, kind};
use crate::theorem::claim::find_topic;
use crate::theorem::{Claim, Kind, Margin, Record, ResolvingPower, Verdict, derivation, find};

pub(super) fn section(
    records: &[Record],
    sparks: &[String],
    papers: &[CitedPaper],
    flag: &str,
) -> String {
    let by_papers = by_paper(records, papers);
    let paper = |k: usize| {
        let group = by_papers.iter().find(|g| g.records.contains(&k));
        group.map_or("other", |g| g.name.as_str())
    };
    let no_spark = String::new();
    let one =
        |k: &usize| folded(&records[*k], sparks.get(*k).unwrap_or(&no_spark), (flag, paper(*k)));
    let shelf = |g: &Group| {
        let heading =
            format!("{} <span class=\"count\">{}</span>", escape(&g.title), g.records.len());
        let page = find_topic(&g.name).map_or("", |t| t.page);
        let page: String =
            page.split("\n\n").map(|p| format!("<p>{}</p>\n", math::text(p))).collect();
        let all: String = g.records.iter().map(one).collect();
        format!(
            "<section class=\"group\" aria-labelledby=\"h-topic-{0}\"><h3 \
            id=\"h-topic-{0}\">{heading}</h3>\n{page}{all}</section>\n",
            g.name
        )
    };
    let topics: String = by_topic(records).iter().map(shelf).collect();
    let index: String = by_papers.iter().map(|g| index(g, records)).collect();
    format!(
        "<section id=\"claims\" aria-labelledby=\"h-claims\"><h2 id=\"h-claims\">All claims, one \
        line each</h2>\n{form}<div id=\"by-paper\"><h3>By paper</h3>\n{index}</div>\n<div \
        id=\"by-topic\">\n{topics}</div>\n</section>\n",
        form = form(),
    )
}

/// A paper with links to its claims; a script may move the claims themselves here.
fn index(g: &Group, records: &[Record]) -> String {
    let link = |k: &usize| {
        let r = &records[*k];
        let title = find(r.name).map_or_else(|_| escape(r.name), |c| math::text(c.title));
        format!("<li>{} <a href=\"#{}\">{title}</a></li>\n", shape(r), r.name)
    };
    let links: String = g.records.iter().map(link).collect();
    format!(
        "<details class=\"paper\" id=\"paper-{}\"><summary><b>{}</b> <span \
        class=\"count\">{}</span></summary>\n<ul class=\"index\">\n{links}</ul></details>\n",
        g.name,
        escape(&g.title),
        g.records.len(),
    )
}

/// The controls of the filter, used by the script only.
fn form() -> String {
    let options = |words: Vec<String>| {
        words.iter().map(|w| format!("<option>{w}</option>")).collect::<String>()
    };
    format!(
        "<form id=\"filter\" hidden><label>Group by <select name=\"group\"><option \
        value=\"by-topic\">topic</option><option \
        value=\"by-paper\">paper</option></select></label><label>Status <select \
        name=\"status\"><option value=\"\">all</option>{}</select></label><label>Verdict <select \
        name=\"verdict\"><option value=\"\">all</option>{}</select></label><label>Words <input \
        name=\"words\" type=\"search\" size=\"12\"></label><label><input name=\"expected\" \
        type=\"checkbox\"> only not as predicted</label><output id=\"shown\" \
        aria-live=\"polite\"></output></form>\n",
        options(STATUSES.iter().map(ToString::to_string).collect()),
        options(VERDICTS.iter().map(ToString::to_string).collect()),
    )
}

/// The attributes that the filter reads.
fn data(r: &Record, paper: &str) -> String {
    let expected = if r.as_expected { "yes" } else { "no" };
    format!(
        "data-status=\"{}\" data-verdict=\"{}\" data-expected=\"{expected}\" \
        data-paper=\"paper-{paper}\" data-words=\"{}\"",
        r.status, r.verdict, r.name
    )
}

/// Shape and colour of a verdict. An expected verdict looks calm, also if the statement is false
/// and violated.
fn shape(r: &Record) -> String {
    let (shape, class) = match r.verdict {
        Verdict::Certified => ("&#9632;", "held"),
        Verdict::Supported => ("&#9679;", "held"),
        Verdict::Inconclusive => ("&#9680;", "unsure"),
        Verdict::Violated => ("&#9650;", "broken"),
        Verdict::HypothesesNeverMet => ("&#9675;", "unsure"),
    };
    let class = if r.as_expected && r.status.expects_violation() { "known" } else { class };
    format!("<span class=\"{class}\" aria-hidden=\"true\">{shape}</span>")
}

/// A verdict as text.
fn verdict(r: &Record) -> String {
    let note = match (r.as_expected, r.status.expects_violation()) {
        (true, true) => ", as known",
        (true, false) => "",
        (false, _) => " (not as predicted)",
    };
    format!("{}{note}", r.verdict)
}

/// The line of a claim, which unfolds to all details.
fn folded(r: &Record, spark: &str, (flag, paper): (&str, &str)) -> String {
    let Ok(c) = find(r.name) else { return String::new() };
    format!(
        "<details class=\"claim\" {data}><summary>{shape} <b id=\"h-{name}\">{title}</b> <span \
        class=\"tag\">{status}</span> <span \
        class=\"tag\">{verdict}</span></summary>\n{article}</details>\n",
        data = data(r, paper),
        shape = shape(r),
        name = r.name,
        title = math::text(c.title),
        status = r.status,
        verdict = verdict(r),
        article = article(r, c, spark, flag),
    )
}

fn article(r: &Record, c: &Claim, spark: &str, flag: &str) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, text: String| {
        if !text.is_empty() {
            rows.push_str(&format!("<tr><th scope=\"row\">{name}</th><td>{text}</td></tr>\n"));
        }
    };
    row("Verdict", format!("{} {}; {}, {}", shape(r), verdict(r), r.status, kind(r.kind)));
    row("Why", escape(&r.reason));
    row("Hypotheses", math::text(&c.marked_hypotheses()));
    row("Narrower than the source", math::text(&c.marked(c.narrower)));
    row("Drawn", escape(&r.drawn.to_string()));
    row("Observed", escape(&observed(r)));
    row("Margin", r.margin.map_or(String::new(), |m| format!("{} {spark}", escape(&margin(&m)))));
    row(
        "Where",
        r.worst.map_or(String::new(), |(case, trial)| escape(&format!("{case}, trial {trial}"))),
    );
    row("Slack", r.slack.map_or(String::new(), slack));
    let perturbed = if c.constant.is_empty() {
        String::new()
    } else {
        format!(" (changed: {})", math::text(c.constant))
    };
    row("Resolves (relative)", format!("{}{perturbed}", escape(&power(r))));
    row("Trials", trials(r));
    let side = if r.control_ok { "expected result" } else { "not the expected result" };
    row("Control", format!("{}: {side}", math::text(&c.marked(c.control.what))));
    row(
        "Certified",
        math::text(
            c.proof.as_ref().filter(|_| r.verdict == Verdict::Certified).map_or("", |p| p.what),
        ),
    );
    row("Confirmed by", escape(&r.confirmed.join(", ")));
    row(
        "Searched",
        r.searched.map_or(String::new(), |s| {
            format!("{} trials, smallest margin {}", s.evaluations, number(s.best))
        }),
    );
    row("Source", escape(c.source));
    row("Again", format!("<code>metastable check {}{flag} --seed {}</code>", r.name, r.seed));
    let proof = derivation(c).map_or(String::new(), |text| {
        let paragraphs: String = text
            .split("\n\n")
            .map(|p| format!("<p>{}</p>", math::text(&p.replace('\n', " "))))
            .collect();
        format!("<details><summary>Derivation of {}</summary>{paragraphs}</details>\n", r.name)
    });
    format!(
        "<article id=\"{0}\" aria-labelledby=\"h-{0}\"><p>{statement} <a href=\"#{0}\" \
        aria-label=\"Link to \
        {0}\">#</a></p>\n<table><caption>{0}</caption><tbody>\n{rows}</tbody></table>\n{proof}</article>\n",
        r.name,
        statement = math::text(&c.marked_statement()),
    )
}

/// The numbers of the worst trial, by the kind of the claim.
fn observed(r: &Record) -> String {
    if let Some(bound) = r.bound {
        return format!(
            "{} of {} held; the probability of an exception is below {} (99.9 % confidence)",
            r.held,
            r.trials + r.unfinished.0,
            number(bound)
        );
    }
    let Some(Margin { compared: Some((seen, against)), value, .. }) = r.margin else {
        return String::new();
    };
    match r.kind {
        Kind::Identity if seen.abs() <= f64::MIN_POSITIVE => "no deviation: exact".to_owned(),
        Kind::Identity => format!("deviation {}, tolerance {}", number(seen), number(against)),
        Kind::Law => {
            // The margin is 1 - |measured - stated| / allowed.
            let allowed = (seen - against).abs() / (1.0 - value);
            let within = if allowed.is_finite() {
                format!(", allowed +-{}", number(allowed))
            } else {
                String::new()
            };
            format!("measured {}, stated {}{within}", digits(seen), digits(against))
        }
        _ => format!("value {}, bound {}", digits(seen), digits(against)),
    }
}

/// If a bound is almost attained, the distance to it is shown.
fn slack(s: f64) -> String {
    let above = s - 1.0;
    if above.abs() < 5e-3 && above.abs() > 0.0 {
        return format!("the bound is attained to {}", number(above.abs()));
    }
    format!("the bound could be tightened by a factor of {}", number(s))
}

pub(super) fn margin(m: &Margin) -> String {
    let error = m.error();
    if error <= f64::MIN_POSITIVE {
        format!("{} (exact)", number(m.value))
    } else {
        format!("{} +- {error:.0e}", number(m.value))
    }
}

fn power(r: &Record) -> String {
    match r.power {
        ResolvingPower::Resolves(s) => format!("a change by {} of the stated value", number(s)),
        ResolvingPower::AboveFactorTwo => "not half or twice the stated value".to_owned(),
        ResolvingPower::NotApplicable => "not applicable: no constant to change".to_owned(),
    }
}

fn trials(r: &Record) -> String {
    let mut text = format!("{}, of which {} held beyond their error", r.trials, r.held);
    if let Some((proved, of)) = r.certified {
        text.push_str(&format!(
            "; {proved} of {of} starts certified: proved by interval arithmetic to converge to one \
            point"
        ));
    }
    if r.missed > 0 {
        text.push_str(&format!("; {} draws missed the hypotheses", r.missed));
    }
    if r.unfinished.0 > 0 {
        text.push_str(&format!("; {} did not finish: {}", r.unfinished.0, escape(&r.unfinished.1)));
    }
    text
}

/// A number with three digits.
pub(super) fn number(v: f64) -> String {
    rounded(v, 2)
}

/// A number with six digits, for comparisons.
fn digits(v: f64) -> String {
    rounded(v, 5)
}

/// A number with at most `places + 1` digits, without trailing zeros.
fn rounded(v: f64, places: usize) -> String {
    crate::error::format_number(format!("{v:.places$e}").parse().unwrap_or(v))
}

//! The claims of the page: an index, and everything about each.

use super::words::{STATUSES, VERDICTS, escape, kind};
use crate::theorem::{Claim, Kind, Margin, Power, Record, Verdict, derivation, find};

pub(super) fn section(records: &[Record], sparks: &[String], flag: &str) -> String {
    let known: Vec<(&Record, &Claim, &String)> =
        records.iter().zip(sparks).filter_map(|(r, spark)| Some((r, find(r.name).ok()?, spark))).collect();
    let index: String = known.iter().map(|(r, c, _)| entry(r, c)).collect();
    let all: String = known.iter().map(|(r, c, spark)| article(r, c, spark, flag)).collect();
    format!(
        "<section id=\"claims\" aria-labelledby=\"h-claims\"><h2 id=\"h-claims\">Claims</h2>\n{form}\
         <table><caption>Index</caption><thead><tr><th scope=\"col\">claim</th><th scope=\"col\">status</th><th scope=\"col\">verdict</th></tr></thead>\n\
         <tbody>\n{index}</tbody></table></section>\n<section id=\"each\" aria-labelledby=\"h-each\"><h2 id=\"h-each\">Each claim</h2>\n{all}</section>\n",
        form = form(),
    )
}

fn form() -> String {
    let options = |words: Vec<String>| words.iter().map(|w| format!("<option>{w}</option>")).collect::<String>();
    format!(
        "<form id=\"filter\" hidden><label>Status <select name=\"status\"><option value=\"\">all</option>{}</select></label>\
         <label>Verdict <select name=\"verdict\"><option value=\"\">all</option>{}</select></label>\
         <label>Words <input name=\"words\" type=\"search\"></label>\
         <label><input name=\"expected\" type=\"checkbox\"> only verdicts not as predicted</label>\
         <output id=\"shown\" aria-live=\"polite\"></output></form>\n",
        options(STATUSES.iter().map(ToString::to_string).collect()),
        options(VERDICTS.iter().map(ToString::to_string).collect()),
    )
}

/// What the filter looks at.
fn data(r: &Record) -> String {
    let expected = if r.as_expected { "yes" } else { "no" };
    format!("data-status=\"{}\" data-verdict=\"{}\" data-expected=\"{expected}\" data-words=\"{}\"", r.status, r.verdict, r.name)
}

/// Word, shape and colour of a verdict.
fn verdict(r: &Record) -> String {
    let (shape, class) = match r.verdict {
        Verdict::Certified => ("&#9632;", "held"),
        Verdict::Supported => ("&#9679;", "held"),
        Verdict::Inconclusive => ("&#9680;", "unsure"),
        Verdict::Violated => ("&#9650;", "broken"),
        Verdict::HypothesesNeverMet => ("&#9675;", "unsure"),
    };
    let note = match (r.as_expected, r.status.expects_violation()) {
        (true, true) => " (as expected)",
        (true, false) => "",
        (false, _) => " (not as predicted)",
    };
    format!("<span class=\"{class}\"><span aria-hidden=\"true\">{shape}</span> {}{note}</span>", r.verdict)
}

fn entry(r: &Record, c: &Claim) -> String {
    format!(
        "<tr {}><td><a href=\"#{1}\">{1}</a><br>{2}</td><td>{3}</td><td>{4}</td></tr>\n",
        data(r),
        r.name,
        escape(c.title),
        r.status,
        verdict(r)
    )
}

fn article(r: &Record, c: &Claim, spark: &str, flag: &str) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, text: String| {
        if !text.is_empty() {
            rows.push_str(&format!("<tr><th scope=\"row\">{name}</th><td>{text}</td></tr>\n"));
        }
    };
    row("Verdict", format!("{}; {}, {}", verdict(r), r.status, kind(r.kind)));
    row("Why", escape(&r.reason));
    row("Hypotheses", escape(&c.domain.to_string()));
    row("Narrower than the source", escape(c.narrower));
    row("Drawn", escape(&r.drawn.to_string()));
    row("Observed", escape(&observed(r)));
    row("Margin", r.margin.map_or(String::new(), |m| format!("{} {spark}", escape(&margin(&m)))));
    row("Where", r.worst.map_or(String::new(), |(case, trial)| escape(&format!("{case}, trial {trial}"))));
    row("Slack", r.slack.map_or(String::new(), slack));
    let perturbed = if c.perturbed.is_empty() { String::new() } else { format!(" (perturbed: {})", c.perturbed) };
    row("Resolves", escape(&format!("{}{perturbed}", power(r))));
    row("Trials", trials(r));
    let side = if r.control_ok { "came out on its side" } else { "came out on the wrong side" };
    row("Control", format!("{}: {side}", escape(c.control.what)));
    row("Certified", escape(c.proof.as_ref().filter(|_| r.verdict == Verdict::Certified).map_or("", |p| p.what)));
    row("Confirmed by", escape(&r.confirmed.join(", ")));
    row("Searched", r.searched.map_or(String::new(), |s| format!("{} trials, smallest margin {}", s.evaluations, number(s.best))));
    row("Source", escape(c.citation));
    row("Again", format!("<code>metastable check {}{flag} --seed {}</code>", r.name, r.seed));
    let proof = derivation(c).map_or(String::new(), |text| {
        format!("<details><summary>Derivation of {}</summary><pre>{}</pre></details>\n", r.name, escape(text))
    });
    format!(
        "<article id=\"{0}\" {data} aria-labelledby=\"h-{0}\"><h3 id=\"h-{0}\">{title} <a href=\"#{0}\" aria-label=\"Link to {0}\">#</a></h3>\n<p>{statement}</p>\n\
         <table><caption>{0}</caption><tbody>\n{rows}</tbody></table>\n{proof}</article>\n",
        r.name,
        data = data(r),
        title = escape(c.title),
        statement = escape(c.statement),
    )
}

/// The worst trial's numbers, in the words of the claim's kind.
fn observed(r: &Record) -> String {
    if let Some(bound) = r.bound {
        return format!("{} of {} held; exceptions are below {} at 99.9 %", r.held, r.trials + r.unfinished.0, number(bound));
    }
    let Some(Margin { seen: Some((seen, against)), value, .. }) = r.margin else { return String::new() };
    match r.kind {
        Kind::Identity if seen.abs() <= f64::MIN_POSITIVE => "no deviation: exact".to_owned(),
        Kind::Identity => format!("deviation {}, tolerance {}", number(seen), number(against)),
        Kind::Law => {
            // The margin is 1 - |measured - stated| / allowed.
            let allowed = (seen - against).abs() / (1.0 - value);
            let within = if allowed.is_finite() { format!(", allowed +-{}", number(allowed)) } else { String::new() };
            format!("measured {}, stated {}{within}", digits(seen), digits(against))
        }
        _ => format!("value {}, bound {}", digits(seen), digits(against)),
    }
}

/// A bound that is almost attained is said by its distance.
fn slack(s: f64) -> String {
    let above = s - 1.0;
    if above.abs() < 5e-3 && above.abs() > 0.0 {
        return format!("the bound is attained to {}", number(above.abs()));
    }
    format!("a factor of {} between the bound and what happens", number(s))
}

fn margin(m: &Margin) -> String {
    let error = m.error();
    if error <= f64::MIN_POSITIVE { format!("{} (exact)", number(m.value)) } else { format!("{} +- {error:.0e}", number(m.value)) }
}

fn power(r: &Record) -> String {
    match r.power {
        Power::Notices(s) => format!("a change by {}", number(s)),
        Power::NotTwice => "not half or twice the stated value".to_owned(),
        Power::NotAsked => "nothing of it has a size".to_owned(),
    }
}

fn trials(r: &Record) -> String {
    let mut text = format!("{}, of which {} held beyond their error", r.trials, r.held);
    if let Some((proved, of)) = r.certified {
        text.push_str(&format!("; {proved} of {of} starts certified: proved by enclosures to converge to one point"));
    }
    if r.missed > 0 {
        text.push_str(&format!("; {} draws missed the hypotheses", r.missed));
    }
    if r.unfinished.0 > 0 {
        text.push_str(&format!("; {} did not finish: {}", r.unfinished.0, escape(&r.unfinished.1)));
    }
    text
}

/// Three digits.
fn number(v: f64) -> String {
    rounded(v, 2)
}

/// Six digits, for numbers that are compared with each other.
fn digits(v: f64) -> String {
    rounded(v, 5)
}

/// A number with at most `places + 1` digits, without zeros that say nothing.
fn rounded(v: f64, places: usize) -> String {
    crate::error::show(format!("{v:.places$e}").parse().unwrap_or(v))
}

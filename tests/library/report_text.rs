//! Formulas of the report in MathML, and the order of its theorems.

use metastable::lab::report::math::text;
use metastable::lab::report::theorem_number;
use metastable::theorem::{ALL, derivation};

/// One formula as HTML.
fn formula(typed: &str) -> String {
    text(&format!("`{typed}`"))
}

/// Whether all elements are closed in order and all markup characters of the text are escaped.
fn well_formed(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        let Some((tag, after)) = tag.split_once('>') else { return false };
        if before.contains('>') {
            return false;
        }
        match tag.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            None if tag.ends_with('/') => {}
            Some(_) => {}
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
        rest = after;
    }
    open.is_empty() && !rest.contains('>')
}

/// The text outside of formulas.
fn words(html: &str) -> String {
    let mut out = String::new();
    for part in html.split("<math>") {
        let outside = part.split_once("</math>").map_or(part, |(_, behind)| behind);
        out.push_str(outside);
    }
    out.replace("<span class=\"whole\">", "")
        .replace("<span class=\"wide\">", "")
        .replace("</span>", "")
}

/// Whether a formula was not converted: the text has characters or Greek letters that only formulas
/// have.
fn unconverted(html: &str) -> bool {
    let words = words(html);
    let greek = ["beta", "alpha", "gamma", "eps", "lambda", "theta", "sqrt"];
    words.contains(['_', '^', '|'])
        || !words.matches("<code>").count().eq(&0)
        || words.split(|c: char| !c.is_alphanumeric()).any(|w| greek.contains(&w))
}

#[test]
fn formulas_become_mathml() {
    for (typed, drawn) in [
        ("x_ij", "<math><msub><mi>x</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></math>"),
        ("e^{beta}", "<math><msup><mi>e</mi><mi>β</mi></msup></math>"),
        (
            "1/(2 n)",
            "<math><mfrac displaystyle=\"true\"><mn>1</mn><mrow><mn>2</mn><mi>n</mi></mrow></mfrac></math>",
        ),
        ("sqrt(n)", "<math><msqrt><mi>n</mi></msqrt></math>"),
        (
            "<x, y> <= 1e-3",
            "<math><mrow><mo>⟨</mo><mi>x</mi><mo>,</mo><mi>y</mi><mo>⟩</mo></mrow><mo>≤</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup></math>",
        ),
        (
            "|x|_A",
            "<math><msub><mrow><mo>|</mo><mi>x</mi><mo>|</mo></mrow><mi>A</mi></msub></math>",
        ),
        (
            "sum_j m_j",
            "<math><msub><mo>∑</mo><mi>j</mi></msub><msub><mi>m</mi><mi>j</mi></msub></math>",
        ),
    ] {
        assert_eq!(formula(typed), drawn, "{typed}");
    }
}

#[test]
fn quotients_keep_their_meaning() {
    // A fraction takes only the parts that touch the slash: 3 beta/2 is 3 (beta/2), and a b / c d
    // stays on one line.
    let stroke = "<mtext>/</mtext>";
    assert!(formula("3 beta/2").contains(&format!("<mrow><mi>β</mi>{stroke}<mn>2</mn></mrow>")));
    assert!(formula("a b / c d").matches("<mi>b</mi><mo>/</mo><mi>c</mi>").count() == 1);
    // The argument of a function without brackets is not known, so the fraction stays on one line.
    assert!(formula("1/log n + 1").matches("<mfrac").count() == 0);
    assert!(formula("log(n)/(2 r)").matches("<mfrac").count() == 1);
}

#[test]
fn words_are_not_converted() {
    assert_eq!(text("A token (as printed) of a cluster"), "A token (as printed) of a cluster");
    assert_eq!(text("k-th, e.g. Euler's n-gon"), "k-th, e.g. Euler's n-gon");
    assert_eq!(text("a rate <= the other & \"more\""), "a rate ≤ the other &amp; &quot;more&quot;");
    assert_eq!(text("within 4.5 of (6.7)-(6.8)"), "within 4.5 of (6.7)-(6.8)");
    assert_eq!(text("see `cone-speed`"), "see <code>cone-speed</code>");
    assert_eq!(text(""), "");
}

#[test]
fn random_texts_give_well_formed_output() {
    for odd in [
        "|", "<", "<x", "x_", "x^", "{", "}", "(]", "||x|", "a/", "/b", "^^", "sqrt", "sqrt(",
        "sum_", "x_{", "1e", "é^ü", "-", "<-", "'",
    ] {
        for all in
            [odd.to_owned(), format!("x = {odd} y"), format!("{odd}{odd}"), format!("f({odd})")]
        {
            assert!(well_formed(&text(&all)) && well_formed(&formula(&all)), "{all}");
        }
    }
}

#[test]
fn all_statements_are_well_formed_and_nearly_all_are_converted() {
    let texts = ALL.iter().flat_map(|c| {
        let all = [c.title, c.lets, c.then, c.tested, c.narrower, c.constant, c.control.what];
        all.map(|t| c.marked(t))
    });
    let drawn: Vec<(String, String)> =
        texts.filter(|t| !t.is_empty()).map(|t| (t.clone(), text(&t))).collect();
    assert!(drawn.iter().any(|(_, html)| html.matches("<math>").count() > 1));
    for (typed, html) in &drawn {
        assert!(well_formed(html), "{typed}\n{html}");
    }
    let undrawn: Vec<&str> =
        drawn.iter().filter(|(_, html)| unconverted(html)).map(|(t, _)| t.as_str()).collect();
    // At least 98 of 100 texts have no unconverted formula. The others contain names of other
    // claims.
    assert!(
        50 * undrawn.len() <= drawn.len(),
        "{} of {}: {undrawn:#?}",
        undrawn.len(),
        drawn.len()
    );
}

#[test]
fn derivations_are_well_formed_and_most_formulas_are_converted() {
    let (mut all, mut code) = (0, 0);
    for claim in ALL.iter() {
        let Some(typed) = derivation(claim) else { continue };
        let html = text(&typed.replace('\n', " "));
        assert!(well_formed(&html), "{}\n{html}", claim.name);
        all += typed.matches('`').count() / 2;
        code += html.matches("<code>").count();
    }
    // Names of claims and words in backticks remain code.
    assert!(all > 500 && 5 * code <= all, "{code} of {all}");
}

#[test]
fn theorems_are_sorted_by_their_numbers() {
    for (text, place) in [
        (", Theorem 5.1 and appendix B", (5, 1)),
        (", (6.7)-(6.8)", (6, 7)),
        (", section 7 (circle)", (7, 0)),
        (", (D.8)", (168, 8)),
        (", appendix B, sharpened", (166, 0)),
    ] {
        assert_eq!(theorem_number(text), place, "{text}");
    }
    assert!(
        theorem_number(" (abstract), Watanabe 1994") > (200, 0),
        "a year is not the number of a theorem"
    );
    assert!(theorem_number(" v1, abstract, d = 2") > (200, 0));
}

//! The words and signs of formulas: how each is written in statements, and how it is drawn.

/// A word and what is drawn for it.
type Drawn = (&'static str, &'static str);

/// Greek letters and constants: drawn as one letter.
const LETTERS: &str = "\
    alpha α beta β gamma γ delta δ eps ε epsilon ε zeta ζ eta η theta θ kappa κ lambda λ \
    mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ psi ψ omega ω Gamma Γ Delta Δ Lambda Λ \
    Sigma Σ Phi Φ Psi Ψ Pi Π Omega Ω inf ∞ infinity ∞ xbar x̄ dt dt ds ds du du dy dy dE dE \
    dF dF dB dB dW dW dX dX dH dH dc dc dkappa dκ";

/// Functions and named quantities: upright, with a space before what they act on.
const FUNCTIONS: &str = "\
    log exp sin cos tan cot tanh sinh cosh coth arctan arccos arcsin artanh max min argmax \
    argmin sign det diag diam rank grad Hess Var Cov dist softmax relu act sig PE LN KL KR arg \
    erf span normalise floor tr prod sum int integral";

/// Of the functions, those that are ordinary words unless something is attached to them.
const ALSO_WORDS: &str = "sum rank span max min sign normalise softmax prod integral act KR dist";

/// Large signs.
const LARGE: &str = "sum ∑ prod ∏ int ∫ integral ∫";

/// The word of a root.
const ROOT: &str = "sqrt";

/// Words inside braces that are signs.
const SIGN_WORDS: &str = "in ∈";

/// A word before such a word, and what is drawn for both.
const NEGATED: &str = "not ∉";

/// Signs, longest first, and what is drawn.
const SIGNS: &str = "\
    ... … <-> ↔ << ≪ >> ≫ <= ≤ >= ≥ != ≠ -> → <- ← +- ± .. … = = < &lt; > &gt; ~ ∼ + + - − \
    * ∗ / / ^ ∧ _ _ | | ' ′ ( ( ) ) [ [ ] ] { { } } , ,";

/// Signs before which a line may be broken, and that no formula ends with.
const RELATIONS: &str = "<-> << >> <= >= != -> <- = < > ~ ..";

/// Words or signs of a table, each with what is drawn for it: the next word.
fn rows(table: &'static str) -> impl Iterator<Item = Drawn> {
    table.split(' ').zip(table.split(' ').skip(1)).step_by(2)
}

fn drawn(table: &'static str, word: &str) -> Option<&'static str> {
    rows(table).find(|(known, _)| *known == word).map(|(_, drawn)| drawn)
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// A Greek letter or a constant.
pub(super) fn letter(word: &str) -> Option<&'static str> {
    drawn(LETTERS, word)
}

/// A large sign.
pub(super) fn large(word: &str) -> Option<&'static str> {
    drawn(LARGE, word)
}

/// A function or a named quantity.
pub(super) fn function(word: &str) -> bool {
    has(FUNCTIONS, word)
}

/// A sign that relates two sides, drawn: for those that stand between words.
pub(super) fn relations() -> impl Iterator<Item = Drawn> {
    rows(SIGNS).filter(|(text, _)| text.len() > 1 && relates(text) && !text.starts_with('.'))
}

/// Whether a word is part of a formula wherever it stands.
pub(super) fn always(word: &str) -> bool {
    letter(word).is_some() || root(word) || function(word) && !has(ALSO_WORDS, word)
}

/// Whether a word may be a function.
pub(super) fn at_times(word: &str) -> bool {
    has(ALSO_WORDS, word)
}

/// The word of a root.
pub(super) fn root(word: &str) -> bool {
    word == ROOT
}

/// A sign that is written as a word inside braces.
pub(super) fn sign_word(word: &str) -> Option<&'static str> {
    drawn(SIGN_WORDS, word)
}

/// A word that negates such a sign.
pub(super) fn negated(word: &str) -> Option<&'static str> {
    drawn(NEGATED, word)
}

/// What is drawn for a sign.
pub(super) fn sign(text: &str) -> Option<&'static str> {
    drawn(SIGNS, text)
}

/// The longest sign that a text begins with.
pub(super) fn longest(text: &str) -> Option<&'static str> {
    rows(SIGNS).map(|(known, _)| known).find(|known| text.starts_with(known))
}

/// Whether a sign relates two sides.
pub(super) fn relates(text: &str) -> bool {
    has(RELATIONS, text)
}

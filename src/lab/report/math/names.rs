//! Tables of the words and signs in formulas, with their typeset forms.

/// A word and its typeset form.
type Drawn = (&'static str, &'static str);

/// Greek letters and constants, typeset as one letter.
const LETTERS: &str = "\
    alpha α beta β gamma γ delta δ eps ε epsilon ε zeta ζ eta η theta θ kappa κ lambda λ \
    mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ psi ψ omega ω Gamma Γ Delta Δ Lambda Λ \
    Sigma Σ Phi Φ Psi Ψ Pi Π Omega Ω inf ∞ infinity ∞ xbar x̄ dt dt ds ds du du dy dy dE dE \
    dF dF dB dB dW dW dX dX dH dH dc dc dkappa dκ";

/// Functions and named quantities: upright, with a space before the argument.
const FUNCTIONS: &str = "\
    log exp sin cos tan cot tanh sinh cosh coth arctan arccos arcsin artanh max min argmax \
    argmin sign det diag diam rank grad Hess Var Cov dist softmax relu act sig PE LN KL KR arg \
    erf span normalise floor tr prod sum int integral";

/// Functions that are ordinary words unless something is attached to them.
const ALSO_WORDS: &str = "sum rank span max min sign normalise softmax prod integral act KR dist";

/// Large signs.
const LARGE_OPERATORS: &str = "sum ∑ prod ∏ int ∫ integral ∫";

/// The word of a root.
const ROOT: &str = "sqrt";

/// Words inside braces that are signs.
const SIGN_WORDS: &str = "in ∈";

/// A word that negates the sign after it, and the typeset form of both.
const NEGATED: &str = "not ∉";

/// Signs, longest first, with their typeset forms.
const SIGNS: &str = "\
    ... … <-> ↔ << ≪ >> ≫ <= ≤ >= ≥ != ≠ -> → <- ← +- ± .. … = = < &lt; > &gt; ~ ∼ + + - − \
    * ∗ / / ^ ∧ _ _ | | ' ′ ( ( ) ) [ [ ] ] { { } } , ,";

/// Relations: a line may break before them, and no formula ends with them.
const RELATIONS: &str = "<-> << >> <= >= != -> <- = < > ~ ..";

/// The rows of a table: words and signs alternate with their typeset forms.
fn rows(table: &'static str) -> impl Iterator<Item = Drawn> {
    table.split(' ').zip(table.split(' ').skip(1)).step_by(2)
}

fn typeset(table: &'static str, word: &str) -> Option<&'static str> {
    rows(table).find(|(known, _)| *known == word).map(|(_, typeset)| typeset)
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// A Greek letter or a constant.
pub fn letter(word: &str) -> Option<&'static str> {
    typeset(LETTERS, word)
}

/// A large sign.
pub(super) fn large_operator(word: &str) -> Option<&'static str> {
    typeset(LARGE_OPERATORS, word)
}

/// A function or a named quantity.
pub(super) fn is_function(word: &str) -> bool {
    has(FUNCTIONS, word)
}

/// Relations with their typeset forms, for those between words.
pub(super) fn relations() -> impl Iterator<Item = Drawn> {
    rows(SIGNS).filter(|(text, _)| text.len() > 1 && is_relation(text) && !text.starts_with('.'))
}

/// True if a word is always part of a formula.
pub(super) fn is_always_formula(word: &str) -> bool {
    letter(word).is_some() || is_root(word) || is_function(word) && !has(ALSO_WORDS, word)
}

/// True if a word may be a function.
pub(super) fn may_be_function(word: &str) -> bool {
    has(ALSO_WORDS, word)
}

/// The word of a root.
pub(super) fn is_root(word: &str) -> bool {
    word == ROOT
}

/// A sign that is written as a word inside braces.
pub(super) fn sign_word(word: &str) -> Option<&'static str> {
    typeset(SIGN_WORDS, word)
}

/// A word that negates such a sign.
pub(super) fn negated(word: &str) -> Option<&'static str> {
    typeset(NEGATED, word)
}

/// The typeset form of a sign.
pub(super) fn sign(text: &str) -> Option<&'static str> {
    typeset(SIGNS, text)
}

/// The longest sign at the beginning of a text.
pub(super) fn longest(text: &str) -> Option<&'static str> {
    rows(SIGNS).map(|(known, _)| known).find(|known| text.starts_with(known))
}

/// True for a relation.
pub(super) fn is_relation(text: &str) -> bool {
    has(RELATIONS, text)
}

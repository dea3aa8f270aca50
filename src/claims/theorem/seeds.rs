//! What five popular documents say of attention, sentence by sentence: a talk on arXiv:2312.10794 and notes of it, a survey from recurrent
//! networks to Transformers, an essay on attention as energy, a tutorial. Each sentence is true, false, true under a hypothesis, or informal.

use super::{Claim, Record, find};
use crate::error::{Error, Result, nearest_few};
use std::fmt;

/// What is found of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As it stands.
    True,
    /// Not as it stands; a claim that is expected to be violated says it as printed.
    False,
    /// Under a hypothesis that it does not name.
    Conditional,
    /// No statement that a number could contradict.
    Informal,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::True => "true",
            Self::False => "false",
            Self::Conditional => "needs a hypothesis",
            Self::Informal => "informal",
        })
    }
}

/// A sentence of the seeds.
#[derive(Debug)]
pub struct SeedClaim {
    /// Name on the command line.
    pub name: &'static str,
    /// The documents that say it.
    pub source: &'static str,
    /// The sentence, in our words.
    pub sentence: &'static str,
    /// What is found.
    pub standing: Standing,
    /// The hypothesis, the correction, or why there is nothing to test.
    pub why: &'static str,
    /// The claims that test it.
    pub claims: &'static [&'static str],
}

/// The name under which the claims of all sentences are checked together.
pub const GROUP: &str = "seeds";

/// Finds a sentence. **Errors** an unknown name, with the nearest known one.
pub fn sentence(name: &str) -> Result<&'static SeedClaim> {
    ALL.iter().find(|s| s.name == name).ok_or_else(|| Error::unknown("sentence of the seeds", name, ALL.iter().map(|s| s.name)))
}

/// The claims of a name: of one claim, of one sentence, or of all of them.
///
/// **Errors** a name that is none of these.
pub fn claims_of(name: &str) -> Result<Vec<&'static Claim>> {
    let of = |s: &SeedClaim| s.claims.iter().map(|c| find(c)).collect::<Result<Vec<_>>>();
    if name == GROUP {
        let mut all = ALL.iter().map(of).collect::<Result<Vec<_>>>()?.concat();
        all.sort_by_key(|c| c.name);
        all.dedup_by_key(|c| c.name);
        return Ok(all);
    }
    match ALL.iter().find(|s| s.name == name) {
        Some(s) if s.claims.is_empty() => {
            Err(Error::parameter("sentence", name, format!("one with a claim: this one is listed only ({})", s.why)))
        }
        Some(s) => of(s),
        None => find(name).map(|c| vec![c]).map_err(|_| unknown(name)),
    }
}

/// Among the theorems, or among the sentences where one of them is nearer.
fn unknown(name: &str) -> Error {
    let theorems = || super::ALL.iter().map(|c| c.name);
    let sentences = || ALL.iter().map(|s| s.name).chain([GROUP]);
    let near = nearest_few(name, theorems().chain(sentences()), 1);
    if sentences().any(|s| near.first() == Some(&s)) {
        Error::unknown("sentence of the seeds", name, sentences())
    } else {
        Error::unknown("theorem", name, theorems())
    }
}

/// What a check saw of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Every claim came out as expected.
    AsExpected,
    /// One did not.
    Otherwise,
    /// No claim was checked.
    Nothing,
}

impl SeedClaim {
    /// What these verdicts say of it.
    pub fn seen(&self, records: &[Record]) -> Seen {
        let found: Vec<Option<bool>> = self.claims.iter().map(|c| records.iter().find(|r| r.name == *c).map(|r| r.as_expected)).collect();
        match () {
            () if found.contains(&Some(false)) => Seen::Otherwise,
            () if found.is_empty() || found.contains(&None) => Seen::Nothing,
            () => Seen::AsExpected,
        }
    }
}

const fn row(
    name: &'static str,
    source: &'static str,
    sentence: &'static str,
    (standing, why): (Standing, &'static str),
    claims: &'static [&'static str],
) -> SeedClaim {
    SeedClaim { name, source, sentence, standing, why, claims }
}

const fn holds() -> (Standing, &'static str) {
    (Standing::True, "")
}

const fn needs(why: &'static str) -> (Standing, &'static str) {
    (Standing::Conditional, why)
}

const fn wrong(why: &'static str) -> (Standing, &'static str) {
    (Standing::False, why)
}

const fn informal(why: &'static str) -> (Standing, &'static str) {
    (Standing::Informal, why)
}

/// All sentences, in the order of the documents.
#[rustfmt::skip]
pub static ALL: [SeedClaim; 60] = [
    row("seed-1", "talk, notes", "A residual network is Euler's method for x' = act(W_t x + b_t).",
        needs("weights smooth in the layer and the step 1/L; independent weights give a stochastic equation at the step 1/sqrt L and explode at larger ones"),
        &["depth-smooth", "depth-iid"]),
    row("seed-2", "talk, notes", "A network is a flow map of R^d, a Transformer one of measures.",
        needs("a Lipschitz field; no mask, and positions inside the tokens (permutation equivariance); hard choices merge tokens in finite time and are no flow"),
        &["dobrushin", "lipschitz-bound", "mean-field-rate", "permutation", "hm-followers"]),
    row("seed-3", "talk", "A prompt and its empirical measure are the same thing; no two words are in the same place.",
        needs("distinct tokens, or multiplicities kept as masses"),
        &["multiplicities"]),
    row("seed-4", "notes", "The input is the likelihood of the next token, the output the empirical distribution.",
        wrong("input and output are exchanged (the talk has them right); a definition, nothing to compute"),
        &[]),
    row("seed-5", "talk", "Rows of weights are positive, sum to 1, and depend on Q^T K only.",
        holds(),
        &["query-key-product", "speed-bound"]),
    row("seed-6", "talk", "Layer normalisation projects to the sphere; in continuous time to its tangent space.",
        needs("eps = 0 and no affine part; with the mean removed the sphere is S^{d-2} of radius sqrt d; a norm after the residual"),
        &["ln-sphere", "layernorm-invariance", "unit-norm"]),
    row("seed-7", "talk", "Heads run in parallel and are averaged.",
        needs("the last matrix has the blocks I/H; in general the heads are summed by blocks"),
        &["heads-average", "heads-sum"]),
    row("seed-8", "talk", "The dynamics is a gradient ascent; maximisers have all tokens equal.",
        needs("V = Q^T K; USA, or SA in its own metric; one head"),
        &["gradient-structure", "dissipation", "energy-extremes", "multihead-sa-energy-folklore"]),
    row("seed-9", "talk", "The repulsive energy is that of e^{-dist^2}.",
        (Standing::True, "up to the factor e^beta, on the unit sphere"),
        &["chord-kernel", "repulsive-minimisers"]),
    row("seed-10", "talk", "One cluster for beta > n^2 or beta < 1/n, and it is believed for all beta.",
        (Standing::True, "with constants; for all beta it is a theorem by now"),
        &["large-beta-polygon", "large-beta-chains", "small-beta-blocks", "single-cluster"]),
    row("seed-11", "talk", "For beta very small I move with my nearest neighbours.",
        wrong("the other way round: small beta weighs all tokens alike"),
        &["temperature-limits", "nearest-at-small-beta-printed"]),
    row("seed-12", "talk", "Clusters are metastable, merge in pairs, after exponentially long times; they pass by saddles.",
        holds(),
        &["dynamic-metastability", "dwell-law", "nearest-first", "staircase", "saddles-unstable", "polygon-saddles"]),
    row("seed-13", "talk", "The number of clusters is about sqrt beta.",
        needs("the circle and large beta; beta^{(d-1)/2} on S^{d-1}, one cluster at once when d is large"),
        &["circle-modes", "sphere-modes", "centre-count", "formation-time"]),
    row("seed-14", "talk", "Not the gradient flow of negentropy, but entropy decreases at a linear rate.",
        needs("smooth densities; the rate is that of the tests"),
        &["usa-entropy", "sa-entropy", "entropy-slopes"]),
    row("seed-15", "talk", "Three peaks of inner products are 3 choose 2, so three clusters.",
        needs("k clusters have at most k (k-1)/2 peaks; a rectangle has four clusters and three peaks"),
        &["peaks-to-clusters", "peaks-to-clusters-printed"]),
    row("seed-16", "talk", "n is comparable to d, slightly larger: n = 512, d = 200.",
        informal("sizes of a model; what follows for n <= d, and that 512 uniform tokens of R^200 lie in a hemisphere with probability 3e-7, is tested"),
        &["dimension-at-least-n", "wendel"]),
    row("seed-17", "talk", "Random K, Q, V behave similarly.",
        needs("V with a positive spectrum; new values in every layer can make tokens antipodal"),
        &["random-logistic", "random-value-antipodal"]),
    row("seed-18", "talk", "Different prompts have different final states: information is kept.",
        needs("V = I; under V with a simple top eigenvalue only a sign survives"),
        &["circle-mean", "alignment"]),
    row("seed-19", "talk", "Masked attention can be treated too.",
        holds(),
        &["causal-limit", "causal-prefix", "strong-centres", "frozen-centres"]),
    row("seed-20", "survey", "A recurrent network runs step by step, a Transformer in parallel.",
        (Standing::True, "row t of masked attention does not need the rows behind it"),
        &["causal-prefix", "decode-cache", "mixing-structure"]),
    row("seed-21", "survey", "A recurrent network gives the same weight to every input.",
        wrong("the influence of an input fades or grows exponentially with its age"),
        &["rnn-influence", "rnn-equal-weight-printed"]),
    row("seed-22", "survey", "Gradients vanish or explode through time; gates help to some extent.",
        needs("vanishing: |U| < 1; a spectral radius below 1 is not enough; the additive path does not vanish if f = 1"),
        &["rnn-contraction", "rnn-spectral-radius-folklore", "lyapunov-iid", "lstm-additive-path"]),
    row("seed-23", "survey", "R = 0 makes the last state of a GRU nearly ineffective (and W_{hh+b_h}, for W_hh + b_h).",
        needs("in the candidate only: H = Z*H_- + (1-Z)*H~ keeps it while Z > 0"),
        &["gru-bounds", "gru-reset-printed"]),
    row("seed-24", "survey", "A fixed context loses long inputs: every output sees the same vector.",
        holds(),
        &["fixed-context", "rnn-influence"]),
    row("seed-25", "survey", "Attention reduces the amount of computation.",
        wrong("it adds n (2 d + 1) multiplications to every output"),
        &["attention-cost", "attention-cost-printed"]),
    row("seed-26", "survey", "Alignment weights come from a fully connected network, then are normalised.",
        (Standing::True, "and have a floor"),
        &["bahdanau-floor"]),
    row("seed-27", "survey", "softmax(X X^T) X is the primitive form; products measure angles; orthogonal words are unrelated.",
        needs("equal lengths; an orthogonal token still weighs 1/(1 + e^beta) against the own one"),
        &["orthogonal-weight", "orthogonal-unrelated-printed", "nearest-by-dot"]),
    row("seed-28", "survey", "<q, k> has mean 0 and variance d; dividing by sqrt d makes it 1.",
        needs("q and k independent with entries of variance 1: <q, q> has the mean d"),
        &["logit-variance", "softmax-jacobian"]),
    row("seed-29", "survey", "A word obviously gives itself the highest weight.",
        needs("Q^T K = I and equal lengths"),
        &["self-weight-largest"]),
    row("seed-30", "survey", "The inner product of two word vectors is their joint probability.",
        wrong("it needs an exponential, a normaliser and a shift by single probabilities; no number is claimed"),
        &[]),
    row("seed-31", "survey", "concat(heads) W^O compresses eight matrices into one.",
        (Standing::True, "it is a sum of blocks of W^O on the heads"),
        &["heads-sum"]),
    row("seed-32", "survey", "Shuffled words give the same result.",
        needs("shuffled outputs, without mask and positions"),
        &["permutation"]),
    row("seed-33", "survey", "Products of sinusoidal positions decrease with the distance and cannot tell direction; PE(p + k) is linear in PE(p).",
        wrong("linear: true; no direction: true without a matrix between them; decreasing: false from small distances on"),
        &["pe-shift", "pe-monotone-printed", "pe-direction"]),
    row("seed-34", "survey", "Learned positions have no constraint between them; a recurrent network needs none.",
        holds(),
        &["rnn-order"]),
    row("seed-35", "survey", "About two thirds of the parameters are in the feed-forward parts.",
        (Standing::True, "width 4 d, without embeddings"),
        &["ffn-share"]),
    row("seed-36", "survey", "With Q = K = 0 attention is a feed-forward network Z = V X.",
        wrong("every token gets V times the mean"),
        &["zero-query-is-mean", "zero-query-is-ffn-printed"]),
    row("seed-37", "survey", "Layer normalisation scales into the active range of ReLU and lowers dependence on inputs.",
        informal("words without a measure; the exact part, LN(a x + c) = LN(x), is tested"),
        &["layernorm-invariance"]),
    row("seed-38", "survey", "Residual connections fix degradation.",
        needs("degradation as the loss of rank: without them log |R| triples in every layer"),
        &["rank-collapse-cubic"]),
    row("seed-39", "survey", "Padding with a mask makes weights close to 0; padded embeddings are naturally 0.",
        needs("weights are 0 exactly with a mask of -infinity; zero vectors without it change the outputs"),
        &["pad-mask"]),
    row("seed-40", "survey", "A mask trains all prefixes in parallel.",
        holds(),
        &["causal-prefix"]),
    row("seed-41", "survey", "softmax(Q K^T) is a square matrix of rank at most d; so n^2 becomes n d.",
        wrong("scores have that rank, their softmax has full rank; parameters shrink, work does not"),
        &["softmax-full-rank", "softmax-rank-printed", "logit-rank"]),
    row("seed-42", "survey", "Weights of attention change with the input, those of a convolution do not; it sees a window.",
        (Standing::True, "L layers of width 3 reach 2 L + 1 rows"),
        &["mixing-structure"]),
    row("seed-43", "survey", "Attention moves information between words, the feed-forward part thinks within one.",
        holds(),
        &["mixing-structure"]),
    row("seed-44", "essay", "Alignment weights sum to 1 and are functions of (s_i, h_j).",
        (Standing::True, "bilinear scores have rank at most d"),
        &["logit-rank", "speed-bound"]),
    row("seed-45", "essay", "E = -sum w_ij (x_i - x_j)^2 has grad_i E = 2 sum_j w_ij (x_j - x_i).",
        wrong("2 sum_j (w_ij + w_ji)(x_j - x_i); and the attracting motion climbs E"),
        &["force-field", "force-field-printed", "force-consensus"]),
    row("seed-46", "essay", "x^T W y is a distance on the sphere; V acts on the nearest by W only.",
        needs("W = c I on the unit sphere; large beta"),
        &["score-is-distance"]),
    row("seed-47", "essay", "The normaliser can be dropped.",
        needs("it gives another flow (USA), equal up to time for two tokens"),
        &["two-token-orbit", "time-scales"]),
    row("seed-48", "essay", "An offset can be added in the denominator.",
        (Standing::True, "it is one more token, of value 0"),
        &["offset-attention"]),
    row("seed-49", "essay", "Sums can be truncated to the nearest.",
        needs("the error is at most the dropped weight times the diameter; weights divided by their sum"),
        &["truncation-bound"]),
    row("seed-50", "essay", "Softmax attention minimises an energy in a local region.",
        informal("the region is not defined; that SA is a gradient in its own metric, and mean shift, is tested"),
        &["layer-energy", "gradient-structure"]),
    row("seed-51", "essay", "Embeddings are kept apart; cross-entropy is the divergence from a one-hot vector.",
        holds(),
        &["cross-entropy"]),
    row("seed-52", "tutorial", "A dot product is cheaper than a distance, whose square root cannot be dropped.",
        wrong("the root is monotone; products rank as distances do for equal lengths only"),
        &["root-matters-printed", "nearest-by-dot"]),
    row("seed-53", "tutorial", "A sum of embeddings loses the order; a recurrent network drowns it in its state.",
        wrong("the sum loses it, the state does not"),
        &["rnn-order", "rnn-order-printed"]),
    row("seed-54", "tutorial", "A table of causal weights, whose rows sum to 1.",
        wrong("its last row sums to 1.20"),
        &["seed-table-printed"]),
    row("seed-55", "tutorial", "C = Q K V X, before softmax is introduced.",
        needs("that is linear attention: one matrix M of rank at most d, the same for all tokens"),
        &["linear-attention"]),
    row("seed-56", "tutorial", "Dividing by the dimension is for stability of training.",
        wrong("the formula divides by the root; dividing by d leaves the variance 1/d"),
        &["dimension-scale-printed", "logit-variance"]),
    row("seed-57", "tutorial", "Heads C_1, .., C_n are written with the same V_1.",
        wrong("a misprint of V_h; heads that share V have outputs of its rank"),
        &["shared-value-rank"]),
    row("seed-58", "survey, tutorial", "Temperature 0 is one-hot, infinity is uniform; softmax does not see a shift; log-sum-exp is a smooth maximum.",
        (Standing::True, "ties share"),
        &["temperature-limits"]),
    row("seed-59", "survey", "A decoder uses the keys and values of the encoder, which do not change while it decodes.",
        (Standing::True, "rows of a decoder do not act on the encoder"),
        &["fixed-context", "causal-prefix"]),
    row("seed-60", "survey", "Training and inference of autoregressive models do not match.",
        informal("a matter of training"),
        &[]),
];

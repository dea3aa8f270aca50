//! Sixty sentences about attention from five popular documents: a talk on arXiv:2312.10794 and
//! notes of it, a survey from recurrent networks to Transformers, an essay on attention as energy,
//! and a tutorial. Each sentence is true, false, true under an unstated hypothesis, or informal.

use super::{Claim, Record, find};
use crate::error::{Error, Result, nearest_few};
use std::fmt;

/// The assessment of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// True as written.
    True,
    /// False as written. A claim states it as printed and is expected to be violated.
    False,
    /// True under a hypothesis that the sentence does not name.
    Conditional,
    /// Not a statement that a number could contradict.
    Informal,
}

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::True => "true",
            Self::False => "false",
            Self::Conditional => "needs a hypothesis",
            Self::Informal => "informal",
        })
    }
}

/// A sentence of the sheet.
#[derive(Debug)]
pub struct Sentence {
    /// Name on the command line.
    pub name: &'static str,
    /// The documents that contain it.
    pub source: &'static str,
    /// The sentence, paraphrased.
    pub text: &'static str,
    /// Our assessment.
    pub assessment: Assessment,
    /// The missing hypothesis, the correction, or the reason why there is nothing to test.
    pub reason: &'static str,
    /// The claims that test it.
    pub claims: &'static [&'static str],
}

/// The name under which the claims of all sentences are checked together.
pub const GROUP: &str = "sentences";

/// Finds a sentence. **Errors** an unknown name, with the nearest known one.
pub fn sentence(name: &str) -> Result<&'static Sentence> {
    ALL.iter()
        .find(|s| s.name == name)
        .ok_or_else(|| Error::unknown("sentence", name, ALL.iter().map(|s| s.name)))
}

/// The claims with a name: one claim, the claims of one sentence, or those of all sentences.
///
/// **Errors** a name that is none of these.
pub fn claims_of(name: &str) -> Result<Vec<&'static Claim>> {
    let of = |s: &Sentence| s.claims.iter().map(|c| find(c)).collect::<Result<Vec<_>>>();
    if name == GROUP {
        let mut all = ALL.iter().map(of).collect::<Result<Vec<_>>>()?.concat();
        all.sort_by_key(|c| c.name);
        all.dedup_by_key(|c| c.name);
        return Ok(all);
    }
    match ALL.iter().find(|s| s.name == name) {
        Some(s) if s.claims.is_empty() => Err(Error::parameter(
            "sentence",
            name,
            format!("a sentence with a claim; no claim tests this one ({})", s.reason),
        )),
        Some(s) => of(s),
        None => find(name).map(|c| vec![c]).map_err(|_| unknown(name)),
    }
}

/// The error for an unknown name, with suggestions from the sentences if one of them is nearest and
/// from the theorems otherwise.
fn unknown(name: &str) -> Error {
    let theorems = || super::ALL.iter().map(|c| c.name);
    let sentences = || ALL.iter().map(|s| s.name).chain([GROUP]);
    let near = nearest_few(name, theorems().chain(sentences()), 1);
    if sentences().any(|s| near.first() == Some(&s)) {
        Error::unknown("sentence", name, sentences())
    } else {
        Error::unknown("theorem", name, theorems())
    }
}

/// The outcome of the claims of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every claim had the expected verdict.
    AsExpected,
    /// A claim had another verdict.
    NotAsExpected,
    /// The sentence has no claims, or not all of them were checked.
    NotTested,
}

impl Sentence {
    /// The outcome of its claims in these records.
    pub fn outcome(&self, records: &[Record]) -> Outcome {
        let found: Vec<Option<bool>> = self
            .claims
            .iter()
            .map(|c| records.iter().find(|r| r.name == *c).map(|r| r.as_expected))
            .collect();
        match () {
            () if found.contains(&Some(false)) => Outcome::NotAsExpected,
            () if found.is_empty() || found.contains(&None) => Outcome::NotTested,
            () => Outcome::AsExpected,
        }
    }
}

const fn row(
    name: &'static str,
    source: &'static str,
    text: &'static str,
    (assessment, reason): (Assessment, &'static str),
    claims: &'static [&'static str],
) -> Sentence {
    Sentence { name, source, text, assessment, reason, claims }
}

const fn holds() -> (Assessment, &'static str) {
    (Assessment::True, "")
}

const fn needs(hypothesis: &'static str) -> (Assessment, &'static str) {
    (Assessment::Conditional, hypothesis)
}

const fn wrong(correction: &'static str) -> (Assessment, &'static str) {
    (Assessment::False, correction)
}

const fn informal(reason: &'static str) -> (Assessment, &'static str) {
    (Assessment::Informal, reason)
}

/// All sentences, in the order of the documents.
#[rustfmt::skip]
pub static ALL: [Sentence; 60] = [
    row("sentence-1", "talk, notes", "A residual network is Euler's method for x' = act(W_t x + b_t).",
        needs("weights that are smooth in the layer, and step 1/L; independent weights give a stochastic equation at step 1/sqrt L and explode at larger steps"),
        &["depth-smooth", "depth-iid"]),
    row("sentence-2", "talk, notes", "A network is a flow map of R^d, a Transformer one of measures.",
        needs("a Lipschitz field, no mask, and positions inside the tokens (permutation equivariance); hardmax merges tokens in finite time and is not a flow"),
        &["dobrushin", "lipschitz-bound", "mean-field-rate", "permutation", "hm-followers"]),
    row("sentence-3", "talk", "A prompt and its empirical measure are the same thing; no two words are in the same place.",
        needs("distinct tokens, or multiplicities kept as masses"),
        &["multiplicities"]),
    row("sentence-4", "notes", "The input is the likelihood of the next token, the output the empirical distribution.",
        wrong("input and output are exchanged (the talk has them right); this is a definition, so there is nothing to compute"),
        &[]),
    row("sentence-5", "talk", "Rows of weights are positive, sum to 1, and depend on Q^T K only.",
        holds(),
        &["query-key-product", "speed-bound"]),
    row("sentence-6", "talk", "Layer normalisation projects to the sphere; in continuous time to its tangent space.",
        needs("eps = 0, no affine part, and normalisation after the residual; with the mean removed the sphere is S^{d-2} of radius sqrt d"),
        &["ln-sphere", "layernorm-invariance", "unit-norm"]),
    row("sentence-7", "talk", "Heads run in parallel and are averaged.",
        needs("an output matrix with blocks I/H; in general the heads are summed, each times its block"),
        &["heads-average", "heads-sum"]),
    row("sentence-8", "talk", "The dynamics is a gradient ascent; maximisers have all tokens equal.",
        needs("V = Q^T K and one head; the Euclidean metric for USA, another metric for SA"),
        &["gradient-structure", "dissipation", "energy-extremes", "multihead-sa-energy-folklore"]),
    row("sentence-9", "talk", "The repulsive energy is that of e^{-dist^2}.",
        (Assessment::True, "up to the factor e^beta, on the unit sphere"),
        &["chord-kernel", "repulsive-minimisers"]),
    row("sentence-10", "talk", "One cluster for beta > n^2 or beta < 1/n, and it is believed for all beta.",
        (Assessment::True, "with constants; for all beta it is now a theorem"),
        &["large-beta-polygon", "large-beta-chains", "small-beta-blocks", "single-cluster"]),
    row("sentence-11", "talk", "For beta very small I move with my nearest neighbours.",
        wrong("the opposite is true: at small beta all tokens have nearly the same weight"),
        &["temperature-limits", "nearest-at-small-beta-printed"]),
    row("sentence-12", "talk", "Clusters are metastable, merge in pairs, after exponentially long times; they pass by saddles.",
        holds(),
        &["dynamic-metastability", "dwell-law", "nearest-first", "staircase", "saddles-unstable", "polygon-saddles"]),
    row("sentence-13", "talk", "The number of clusters is about sqrt beta.",
        needs("the circle and large beta; on S^{d-1} it is beta^{(d-1)/2}, and for large d there is one cluster from the start"),
        &["circle-modes", "sphere-modes", "centre-count", "formation-time"]),
    row("sentence-14", "talk", "Not the gradient flow of negentropy, but entropy decreases at a linear rate.",
        needs("smooth densities; the claims state the rates"),
        &["usa-entropy", "sa-entropy", "entropy-slopes"]),
    row("sentence-15", "talk", "Three peaks of inner products are 3 choose 2, so three clusters.",
        needs("only a bound: k clusters have at most k (k-1)/2 peaks, and the corners of a rectangle are four clusters with three peaks"),
        &["peaks-to-clusters", "peaks-to-clusters-printed"]),
    row("sentence-16", "talk", "n is comparable to d, slightly larger: n = 512, d = 200.",
        informal("it gives the sizes of a model; tested are the consequences of n <= d, and that 512 uniform tokens of R^200 lie in a hemisphere with probability 3e-7"),
        &["dimension-at-least-n", "wendel"]),
    row("sentence-17", "talk", "Random K, Q, V behave similarly.",
        needs("V with positive eigenvalues; values drawn anew in every layer can make tokens antipodal"),
        &["random-logistic", "random-value-antipodal"]),
    row("sentence-18", "talk", "Different prompts have different final states: information is kept.",
        needs("V = I; if V has a simple largest eigenvalue, only a sign survives"),
        &["circle-mean", "alignment"]),
    row("sentence-19", "talk", "Masked attention can be treated too.",
        holds(),
        &["causal-limit", "causal-prefix", "strong-centres", "frozen-centres"]),
    row("sentence-20", "survey", "A recurrent network runs step by step, a Transformer in parallel.",
        (Assessment::True, "row t of masked attention does not depend on later rows"),
        &["causal-prefix", "decode-cache", "mixing-structure"]),
    row("sentence-21", "survey", "A recurrent network gives the same weight to every input.",
        wrong("the influence of an input fades or grows exponentially with its age"),
        &["rnn-influence", "rnn-equal-weight-printed"]),
    row("sentence-22", "survey", "Gradients vanish or explode through time; gates help to some extent.",
        needs("gradients vanish if |U| < 1, while a spectral radius below 1 is not enough; the additive path does not vanish if f = 1"),
        &["rnn-contraction", "rnn-spectral-radius-folklore", "lyapunov-iid", "lstm-additive-path"]),
    row("sentence-23", "survey", "R = 0 makes the last state of a GRU nearly ineffective (also printed: W_{hh+b_h} instead of W_hh + b_h).",
        needs("true only of the candidate: H = Z*H_- + (1-Z)*H~ keeps the last state while Z > 0"),
        &["gru-bounds", "gru-reset-printed"]),
    row("sentence-24", "survey", "A fixed context loses long inputs: every output sees the same vector.",
        holds(),
        &["fixed-context", "rnn-influence"]),
    row("sentence-25", "survey", "Attention reduces the amount of computation.",
        wrong("attention adds n (2 d + 1) multiplications per output"),
        &["attention-cost", "attention-cost-printed"]),
    row("sentence-26", "survey", "Alignment weights come from a fully connected network, then are normalised.",
        (Assessment::True, "and the weights have a positive lower bound"),
        &["bahdanau-floor"]),
    row("sentence-27", "survey", "softmax(X X^T) X is the primitive form; products measure angles; orthogonal words are unrelated.",
        needs("equal lengths; a token still gives an orthogonal token the weight 1/(1 + e^beta)"),
        &["orthogonal-weight", "orthogonal-unrelated-printed", "nearest-by-dot"]),
    row("sentence-28", "survey", "<q, k> has mean 0 and variance d; dividing by sqrt d makes it 1.",
        needs("independent q and k with entries of variance 1; <q, q> has mean d"),
        &["logit-variance", "softmax-jacobian"]),
    row("sentence-29", "survey", "A word obviously gives itself the highest weight.",
        needs("Q^T K = I and equal lengths"),
        &["self-weight-largest"]),
    row("sentence-30", "survey", "The inner product of two word vectors is their joint probability.",
        wrong("a probability needs an exponential, a normaliser and a shift by the single probabilities; the sentence has no number to test"),
        &[]),
    row("sentence-31", "survey", "concat(heads) W^O compresses eight matrices into one.",
        (Assessment::True, "the result is the sum over heads of a block of W^O times the head"),
        &["heads-sum"]),
    row("sentence-32", "survey", "Shuffled words give the same result.",
        needs("the outputs are shuffled in the same way, and there are no mask and no positions"),
        &["permutation"]),
    row("sentence-33", "survey", "Products of sinusoidal positions decrease with the distance and cannot tell direction; PE(p + k) is linear in PE(p).",
        wrong("PE(p + k) is linear in PE(p); direction cannot be determined unless a matrix stands between the two; but the products stop decreasing already at small distances"),
        &["pe-shift", "pe-monotone-printed", "pe-direction"]),
    row("sentence-34", "survey", "Learned positions have no constraint between them; a recurrent network needs none.",
        holds(),
        &["rnn-order"]),
    row("sentence-35", "survey", "About two thirds of the parameters are in the feed-forward parts.",
        (Assessment::True, "at width 4 d, without embeddings"),
        &["ffn-share"]),
    row("sentence-36", "survey", "With Q = K = 0 attention is a feed-forward network Z = V X.",
        wrong("every output is V times the mean of the tokens"),
        &["zero-query-is-mean", "zero-query-is-ffn-printed"]),
    row("sentence-37", "survey", "Layer normalisation scales into the active range of ReLU and lowers dependence on inputs.",
        informal("it names no measurable quantity; the exact part, LN(a x + c) = LN(x), is tested"),
        &["layernorm-invariance"]),
    row("sentence-38", "survey", "Residual connections fix degradation.",
        needs("degradation understood as loss of rank: without residual connections log |R| triples in every layer"),
        &["rank-collapse-cubic"]),
    row("sentence-39", "survey", "Padding with a mask makes weights close to 0; padded embeddings are naturally 0.",
        needs("a mask of -infinity, which makes weights exactly 0; zero vectors without a mask change the outputs"),
        &["pad-mask"]),
    row("sentence-40", "survey", "A mask trains all prefixes in parallel.",
        holds(),
        &["causal-prefix"]),
    row("sentence-41", "survey", "softmax(Q K^T) is a square matrix of rank at most d; so n^2 becomes n d.",
        wrong("the scores have rank at most d, but their softmax has full rank; fewer parameters do not mean less work"),
        &["softmax-full-rank", "softmax-rank-printed", "logit-rank"]),
    row("sentence-42", "survey", "Weights of attention change with the input, those of a convolution do not; it sees a window.",
        (Assessment::True, "after L layers of width 3 the window has 2 L + 1 rows"),
        &["mixing-structure"]),
    row("sentence-43", "survey", "Attention moves information between words, the feed-forward part thinks within one.",
        holds(),
        &["mixing-structure"]),
    row("sentence-44", "essay", "Alignment weights sum to 1 and are functions of (s_i, h_j).",
        (Assessment::True, "if they are bilinear, the matrix of scores has rank at most d"),
        &["logit-rank", "speed-bound"]),
    row("sentence-45", "essay", "E = -sum w_ij (x_i - x_j)^2 has grad_i E = 2 sum_j w_ij (x_j - x_i).",
        wrong("the gradient is 2 sum_j (w_ij + w_ji)(x_j - x_i), and attracting motion increases E"),
        &["force-field", "force-field-printed", "force-consensus"]),
    row("sentence-46", "essay", "x^T W y is a distance on the sphere; V acts on the nearest by W only.",
        needs("W = c I on the unit sphere for the first part, large beta for the second"),
        &["score-is-distance"]),
    row("sentence-47", "essay", "The normaliser can be dropped.",
        needs("the result is another flow (USA), which for two tokens is SA up to a change of time"),
        &["two-token-orbit", "time-scales"]),
    row("sentence-48", "essay", "An offset can be added in the denominator.",
        (Assessment::True, "this is the same as one more token of value 0"),
        &["offset-attention"]),
    row("sentence-49", "essay", "Sums can be truncated to the nearest.",
        needs("weights are divided by their sum; then the error is at most the dropped weight times the diameter"),
        &["truncation-bound"]),
    row("sentence-50", "essay", "Softmax attention minimises an energy in a local region.",
        informal("the region is not defined; tested is that SA is a gradient flow in another metric, and the relation to mean shift"),
        &["layer-energy", "gradient-structure"]),
    row("sentence-51", "essay", "Embeddings are kept apart; cross-entropy is the divergence from a one-hot vector.",
        holds(),
        &["cross-entropy"]),
    row("sentence-52", "tutorial", "A dot product is cheaper than a distance, whose square root cannot be dropped.",
        wrong("the root is monotone, so it can be dropped; dot products rank like distances only for equal lengths"),
        &["root-matters-printed", "nearest-by-dot"]),
    row("sentence-53", "tutorial", "A sum of embeddings loses the order; a recurrent network drowns it in its state.",
        wrong("a sum loses the order, a recurrent state does not"),
        &["rnn-order", "rnn-order-printed"]),
    row("sentence-54", "tutorial", "A table of causal weights, whose rows sum to 1.",
        wrong("its last row sums to 1.20"),
        &["seed-table-printed"]),
    row("sentence-55", "tutorial", "C = Q K V X, before softmax is introduced.",
        needs("it is linear attention: one matrix M of rank at most d, the same for all tokens"),
        &["linear-attention"]),
    row("sentence-56", "tutorial", "Dividing by the dimension is for stability of training.",
        wrong("the formula divides by sqrt d; division by d leaves the variance 1/d"),
        &["dimension-scale-printed", "logit-variance"]),
    row("sentence-57", "tutorial", "Heads C_1, .., C_n are written with the same V_1.",
        wrong("a misprint for V_h; the outputs of heads that share V have at most the rank of V"),
        &["shared-value-rank"]),
    row("sentence-58", "survey, tutorial", "Temperature 0 is one-hot, infinity is uniform; softmax is invariant under a shift; log-sum-exp is a smooth maximum.",
        (Assessment::True, "tied maxima share the weight"),
        &["temperature-limits"]),
    row("sentence-59", "survey", "A decoder uses the keys and values of the encoder, which do not change while it decodes.",
        (Assessment::True, "the decoder does not act on the encoder"),
        &["fixed-context", "causal-prefix"]),
    row("sentence-60", "survey", "Training and inference of autoregressive models do not match.",
        informal("a statement about training"),
        &[]),
];

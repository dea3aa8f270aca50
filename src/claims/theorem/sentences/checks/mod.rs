//! The checks of the sentences: what decides them beside registered claims. Each is a function of a
//! case and its draws, with an error that the control plants.

mod heads;
mod rows;
mod scores;
mod setting;

use crate::theorem::prelude::*;

/// A check of the claim `sentences`.
pub struct Check {
    /// Name in `statements.toml`.
    pub name: &'static str,
    /// What is tested.
    pub says: &'static str,
    /// The error that the control plants; with it the check must fail.
    pub error: &'static str,
    /// True if it finds a counterexample to a sentence that is false.
    pub refutes: bool,
    /// Runs it at a case; the last argument plants the error.
    pub run: fn(&Case, &mut Context, bool) -> Result<Finding>,
}

impl Check {
    /// Whether it holds, with or without the planted error.
    ///
    /// **Errors** a check that did not finish, with its name.
    pub fn holds(&self, case: &Case, ctx: &mut Context, wrong: bool) -> Result<bool> {
        let unfinished = |why: &str| Error::Numerical { what: format!("{}: {why}", self.name) };
        match (self.run)(case, ctx, wrong) {
            Ok(Finding::Margin(m)) => {
                m.not_finite().map_or_else(|| Ok(m.held()), |why| Err(unfinished(&why)))
            }
            Ok(Finding::Answer(yes)) => Ok(yes),
            Ok(Finding::HypothesesMissed) => Err(unfinished("the draw missed its hypotheses")),
            Ok(Finding::Unfinished(why)) => Err(unfinished(&why)),
            Err(e) => Err(unfinished(&e.to_string())),
        }
    }
}

const fn shows(
    name: &'static str,
    says: &'static str,
    error: &'static str,
    run: fn(&Case, &mut Context, bool) -> Result<Finding>,
) -> Check {
    Check { name, says, error, refutes: false, run }
}

const fn refutes(
    name: &'static str,
    says: &'static str,
    error: &'static str,
    run: fn(&Case, &mut Context, bool) -> Result<Finding>,
) -> Check {
    Check { refutes: true, ..shows(name, says, error, run) }
}

/// All checks, in the order in which they draw.
#[rustfmt::skip]
pub static ALL: [Check; 61] = [
    shows("chord-kernel", "e^{beta <x, y>} = e^beta e^{-beta |x - y|^2/2} on the unit sphere",
        "2 beta on the left", scores::chord_kernel),
    shows("score-is-distance", "x^T W y = c (1 - |x - y|^2/2) on the unit sphere for W = c I",
        "W = c diag(4, 1, .., 1)", scores::score_is_distance),
    shows("nearest-by-dot", "unit tokens have the same order by inner product and by distance",
        "1, 1, 3 on the line", scores::nearest_by_dot),
    refutes("root-matters-printed", "squares of distances rank as distances do",
        "inner products of 1, 1, 3 on the line", scores::root_matters),
    shows("self-weight-largest", "Q^T K = I, unit tokens: A_ii >= A_ij for all i and j",
        "the second token is twice the first", scores::self_weight_largest),
    shows("orthogonal-weight", "two orthonormal tokens: A_12 = 1/(1 + e^beta)",
        "2 beta on the right", scores::orthogonal_weight),
    shows("orthogonal-weight-floor", "two orthonormal tokens, beta <= 4: A_12 > 1/100",
        "beta = 30", scores::orthogonal_unrelated),
    shows("nearest-at-small-beta",
        "beta <= 1/10: the nearest of n >= 4 tokens has less than half of the weight of the others",
        "beta = 100", scores::nearest_at_small_beta),
    shows("temperature-limits",
        "|A_ij - 1/n| <= (e^{2 beta} - 1)/n; max <= log-sum-exp <= max + log n; tied maxima \
         share the \
         weight", "e^beta for antipodal tokens", scores::temperature_limits),
    shows("cross-entropy", "H(p, q) = H(p) + KL(p, q), and -log q_k for a one-hot p",
        "H(p) omitted", scores::cross_entropy),
    shows("dimension-at-least-n",
        "n <= d uniform tokens: some w has min_i <x_i, w> >= sqrt(lambda_min/n), of the Gram \
         matrix",
        "the regular simplex, n = d + 1", scores::dimension_at_least_n),
    shows("peaks-to-clusters", "k clusters have at most k (k-1)/2 peaks of inner products below 1",
        "half of the bound", scores::peaks_to_clusters),
    shows("rectangle-peaks",
        "the four corners of a rectangle have three peaks, not six",
        "three clusters with three distances", scores::peaks_count_clusters),
    shows("force-field", "E = -sum w_ij |x_i - x_j|^2: grad_i E = 2 sum_j (w_ij + w_ji)(x_j - x_i)",
        "w_ji omitted", scores::force_field),
    refutes("force-field-printed", "2 sum_j w_ij (x_j - x_i) is not the gradient",
        "symmetric weights and the sum over i < j", scores::force_field_printed),
    shows("force-consensus",
        "x_i' = 2 sum_j w_ij (x_j - x_i), w symmetric: |x - mean| <= e^{-2 lambda_2 t} |x_0 - \
         mean|",
        "the largest eigenvalue for the second", scores::force_consensus),
    shows("query-key-product", "(Q, K) and (G Q, G^{-T} K) give the same weights",
        "3 G for G^{-T}", scores::query_key_product),
    shows("logit-variance", "q, k standard normal: <q, k> has variance d and kurtosis 3 + 6/d",
        "k = q", scores::logit_variance),
    shows("dimension-scale", "<q, k>/d does not have the variance 1",
        "division by sqrt d", scores::dimension_scale),
    refutes("seed-table-printed", ".05, .05, .1, .2, .3, .5 do not add up to 1",
        ".3 for .5", scores::seed_table),
    shows("logit-rank", "Q and K of r rows, V of rank r: scores and outputs have rank at most r",
        "the weights for the scores, r = 1", heads::logit_rank),
    shows("shared-value-rank", "three heads with one v and one o: their sum has rank 1",
        "a v and an o for each head", heads::shared_value_rank),
    shows("linear-attention", "sum_j <x_i, B x_j> V x_j = M x_i, M = sum_j V x_j (B x_j)^T",
        "the softmax of the scores", heads::linear_attention),
    shows("zero-query-is-mean", "Q = K = 0: all outputs are V times the mean token",
        "Q = K = I", heads::zero_query_is_mean),
    refutes("zero-query-is-ffn-printed", "Q = K = 0: some output is not V x_i",
        "a single token", heads::zero_query_is_ffn),
    shows("heads-sum", "W^O on the concatenation is the sum of its blocks on the heads",
        "the blocks in another order", heads::heads_sum),
    shows("heads-average",
        "the mean of H heads with the values H W_h V_h is W^O = (W_1, .., W_H) on their \
         concatenation",
        "the values W_h V_h", heads::heads_average),
    shows("offset-attention",
        "sum e^s v/(c + sum e^s) is softmax with a token of value 0 and score log c; c times it \
         tends \
         to sum e^s v", "c in the numerator, too", heads::offset_attention),
    shows("truncation-bound",
        "the k largest weights alone change the mean by tau |kept - dropped| <= tau diameter",
        "kept weights are not divided by their sum", heads::truncation_bound),
    shows("pad-mask",
        "masked padding changes no output; a query that sees nothing has the output b_o",
        "padding is visible", heads::pad_mask),
    shows("decode-cache", "row t of causal attention is that of the first t rows alone",
        "no mask", heads::decode_cache),
    shows("mixing-structure", "rows of all registered maps depend on their receptive fields alone",
        "attention without a mask, as if it had one", heads::mixing_structure),
    shows("pe-shift", "PE(p + k) is PE(p) with pair j rotated by k w_j",
        "rotated by -k w_j", heads::pe_shift),
    shows("pe-direction", "<PE(p), PE(p + k)> = <PE(p), PE(p - k)>",
        "a normal matrix between the two", heads::pe_direction),
    refutes("pe-monotone-printed", "<PE(p), PE(p + k)> increases with k somewhere below 200",
        "k below 4", heads::pe_monotone),
    shows("pe-breaks-consensus", "vectors added to the tokens: consensus is not stationary",
        "all vectors are x/2", heads::pe_breaks_consensus),
    shows("rnn-order", "exchanging the last two inputs changes the state of a recurrent network",
        "a cell that adds", rows::rnn_order),
    shows("additive-order", "exchanging the last two inputs does not change a sum of the inputs",
        "a recurrent network", rows::additive_order),
    shows("rnn-unequal-influence",
        "|dh_30/dx_1| < |dh_30/dx_30|/2, with normal U of variance 1/(4 d)",
        "a cell that adds", rows::rnn_equal_weight),
    shows("gru-bounds", "|H_n| <= max(|H_0|, 1); Z = 1 is the identity, exactly",
        "the bound 1 for any start", rows::gru_bounds),
    shows("gru-reset", "R = 0: |dH+/dH| > 1/1000",
        "Z = 0, too", rows::gru_reset),
    shows("lstm-additive-path",
        "gates that do not read the state: dc_n/dc_0 is the product of the forget gates; |h| <= 1, \
         |c_n| <= |c_0| + n", "gates that read the state", rows::lstm_additive_path),
    shows("bahdanau-floor",
        "v^T tanh(W s + U h_j): every weight is at least 1/(1 + (n-1) e^{2 |v|_1})",
        "e^{|v|_1}", rows::bahdanau_floor),
    shows("fixed-context", "all outputs of a decoder with a fixed context use one vector",
        "products as scores", rows::fixed_context),
    shows("attention-cost", "attention adds n (2 d + 1) multiplications per output",
        "n d", rows::attention_cost),
    refutes("attention-cost-printed", "attention needs more multiplications than a fixed context",
        "a fixed context on both sides", rows::attention_is_cheaper),
    shows("ffn-share",
        "width 4 d: the share of the feed-forward part is (8 d + 5)/(12 d + 13), in (2/3 - 1/(3 \
         d), 2/3)",
        "width 2 d", rows::ffn_share),
    shows("layernorm-invariance",
        "LN(a x + c 1) = LN(x) for a > 0, and |LN(x)| = sqrt d, at eps = 0",
        "eps = 1", rows::layernorm_invariance),
    shows("ln-sphere",
        "at eps = 0 LayerNorm is sqrt d times the direction of x - mean, RMSNorm that of x",
        "eps = 0.01", rows::ln_sphere),
    shows("layernorm-largest",
        "the largest coordinate of LN(x) is at least 1/sqrt(d - 1), with equality at \
         (1 - d, 1, .., 1)",
        "a bound that is 1.1 times as large", rows::layernorm_largest),
    shows("tangent-step", "|N(x + h v) - x - h P_x v| <= h^2 for unit x and v, h = 1e-4",
        "v for P_x v, at v = x", scores::tangent_step),
    shows("doubled-prompt", "a prompt that is written twice has the same rows, under SA and USA",
        "only its first token is written twice", scores::doubled_prompt),
    shows("nearest-at-large-beta",
        "the nearest of the other tokens has at least 1/(1 + (n - 2) e^{-beta gap}) of their \
         weight, with the gap to the next inner product",
        "two nearest tokens, and the gap to the third", scores::nearest_at_large_beta),
    shows("right-angle-crawl", "two orthonormal tokens: SA moves both at the speed 1/(1 + e^beta)",
        "2 beta on the right", scores::right_angle_speed),
    shows("equal-inner-products",
        "the steps 0, 1, 2, 5 and 0, 1, 3, 4 of eighths of the circle have the same six inner \
         products, although their widest gaps are 3 and 4",
        "5 for 4", scores::equal_inner_products),
    refutes("self-weight-printed",
        "Q = K = 1, tokens of one number: a token gives a larger one more weight than itself",
        "a token of the other sign", scores::self_weight_printed),
    refutes("joint-probability-printed",
        "independent words: the joint over the product of the single probabilities is 1 for all \
         pairs, the joint probabilities differ",
        "equal frequencies", scores::joint_probability),
    shows("factor-mask",
        "a score that is multiplied by 0 has the weight 1/(1 + e^s) beside a score s",
        "-infinity for the score", scores::factor_mask),
    shows("weight-ratio", "another key h_k changes w_ij, and not w_ij/w_il",
        "k = l", scores::weight_ratio),
    shows("tail-weight",
        "tokens after the k largest scores have at most (n - k)/k e^{-gap} of the weight",
        "twice the gap", scores::tail_weight),
    shows("same-direction", "rows of SA and USA are parallel, for any Q, K, V",
        "V = I in one of the two", heads::same_direction),
];

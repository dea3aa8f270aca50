//! What each column of a report says, which theorem it concerns, and what of its hypotheses a trained model breaks.

/// A column.
pub struct ReportColumn {
    pub column: &'static str,
    pub what: &'static str,
    pub theorem: &'static str,
    pub broken: &'static str,
}

const fn entry(column: &'static str, what: &'static str, theorem: &'static str, broken: &'static str) -> ReportColumn {
    ReportColumn { column, what, theorem, broken }
}

/// Columns of `layers.csv` behind the layer.
pub static LAYERS: [ReportColumn; 20] = [
    entry(
        "mean_cosine",
        "mean cosine of pairs of tokens",
        "one cluster in long time: arXiv:2312.10794, Theorem 4.1",
        "V is not the identity, layers differ, there are feed-forward layers, depth is finite",
    ),
    entry(
        "mean_cosine_bare",
        "the same without gain and shift of the norm",
        "tokens on a sphere: arXiv:2312.10794, Section 2",
        "gain and shift of a norm move the sphere between layers",
    ),
    entry(
        "clusters_90",
        "classes linked by cosines above 0.9",
        "metastable clusters: arXiv:2410.06833",
        "as for mean_cosine; the number depends on the threshold",
    ),
    entry(
        "clusters_99",
        "above 0.99",
        "metastable clusters: arXiv:2410.06833; about sqrt beta of them on the circle: arXiv:2406.04851",
        "d is not 2, tokens are not uniform",
    ),
    entry("clusters_999", "above 0.999", "metastable clusters: arXiv:2410.06833", "as for clusters_90"),
    entry(
        "equal_rows_residual",
        "|x - 1 m^T| / |x| with the mean token m",
        "rank collapse without residuals: arXiv:2103.03404",
        "there are residuals, norms and feed-forward layers",
    ),
    entry("effective_rank", "e^H, H the entropy of the squared singular values", "rank collapse: arXiv:2103.03404", "as above"),
    entry(
        "attention_ratio",
        "|F(x)| / |x| of the attention sublayer",
        "depth limit: layers of step eta come within C eta of an ODE",
        "eta is 1: what stands here would have to be small",
    ),
    entry("mlp_ratio", "|F(x)| / |x| of the feed-forward layer", "theorems without feed-forward layers", "it is no smaller than attention"),
    entry(
        "beta",
        "median over heads of the fitted inverse temperature, of those with beta_cosine > 0 and beta_error < beta; of an even number the mean of the middle two",
        "SA at one beta",
        "heads have betas of their own, and matrices",
    ),
    entry("sqrt_beta", "its root, beside the numbers of clusters", "about sqrt beta modes on the circle: arXiv:2412.09080", "d is not 2"),
    entry(
        "log_energy",
        "log E_beta of the directions at that beta",
        "E_beta rises along SA and USA: arXiv:2312.10794, Section 3",
        "V and Q^T K are not the identity: no claim, shown as an observation",
    ),
    entry(
        "negentropy",
        "relative to uniform tokens, by third neighbours",
        "entropy production: arXiv:2312.10794",
        "n tokens in d dimensions: a large bias where n is near d",
    ),
    entry("negentropy_error", "its standard error by bootstrap", "as for negentropy", "it does not hold the bias"),
    entry(
        "sa_mean_cosine",
        "of SA from layer 0, at the median beta, for times |F(x)| / |x|",
        "one cluster: arXiv:2312.10794",
        "none: this is the theory's own flow",
    ),
    entry("sa_clusters_99", "its classes above 0.99", "metastable clusters: arXiv:2410.06833", "none"),
    entry(
        "sa_equal_rows_residual",
        "|x - 1 m^T| / |x| of SA",
        "one cluster: arXiv:2312.10794, Theorem 4.1",
        "none: it tends to 0 in long time, and depth is finite",
    ),
    entry("sa_effective_rank", "e^H of the squared singular values of SA", "one cluster: arXiv:2312.10794, Theorem 4.1", "none"),
    entry("sa_log_energy", "log E_beta of SA at its beta", "E_beta rises along SA: arXiv:2312.10794, Section 3", "none: this column rises"),
    entry("sa_negentropy", "of SA", "entropy production: arXiv:2312.10794", "n tokens in d dimensions: the same bias"),
];

/// What stands on the page beside the tables.
pub static PAGE: [ReportColumn; 3] = [
    entry(
        "lyapunov_exponents",
        "growth of small changes of all tokens per layer, in natural logarithms, the four largest, descending. Up to 64 layers: singular exponents at finite depth, log sigma_k / layers of the product of the layers' derivatives, by block iteration with its transpose. More layers: QR exponents of four random directions",
        "one cluster attracts: below 0 at last (arXiv:2312.10794)",
        "layers differ, depth is finite; norms with gain and feed-forward layers stretch",
    ),
    entry(
        "histograms",
        "cosines of all pairs: as they are, without gain and shift of the norm, of SA",
        "peaks at 1 for one cluster, k (k - 1) / 2 others at most for k clusters (arXiv:2312.10794, Section 4)",
        "as for mean_cosine",
    ),
    entry(
        "sa_beta",
        "inverse temperature of the SA beside the model: the median over layers of the column beta, of those that have one; 1 where no layer has one",
        "SA at one beta",
        "the median of heads that each have their own",
    ),
];

/// Columns of `heads.csv` behind the layer and the head.
pub static HEADS: [ReportColumn; 13] = [
    entry(
        "logit_spread",
        "standard deviation of a row of logits, mean over rows",
        "beta times the spread of cosines",
        "logits have biases, and Q^T K is not a multiple of the identity",
    ),
    entry(
        "entropy",
        "entropy of a row over the logarithm of what it sees",
        "uniform attention at beta = 0, hard attention at beta = infinity",
        "logits are no inner products of unit tokens",
    ),
    entry(
        "leader_share",
        "largest share of all attention that one token gets",
        "leaders of hard attention: arXiv:2508.09628",
        "weights are soft",
    ),
    entry(
        "beta",
        "beta of the SA whose drift of cosines is nearest in angle to the head's, on the ladder 1/4, 2^{1/4}/4, ..., 256; none where that is an end of the ladder, or where it is nearer than an end by no more than rounding",
        "SA",
        "the cosine beside it says how near",
    ),
    entry("beta_error", "standard error by leaving out groups of tokens", "SA", "it does not hold what no beta fits"),
    entry(
        "beta_cosine",
        "cosine of the two drifts; 1 where the head does what SA does, below 0 where it does the opposite: such a beta counts in no median",
        "SA",
        "V is not the identity",
    ),
    entry(
        "value_norm",
        "largest singular value of V = W_o W_v",
        "Lipschitz bounds: arXiv:2312.14820",
        "none where tokens are bounded: norms see to that",
    ),
    entry(
        "value_real_max",
        "largest real part of an eigenvalue of V",
        "leading directions of tokens in R^d: arXiv:2305.05465",
        "V is of low rank, and tokens are normalised",
    ),
    entry("value_real_min", "least real part", "arXiv:2305.05465", "as above"),
    entry(
        "value_symmetric_max",
        "largest eigenvalue of its symmetric part",
        "attraction where V > 0: arXiv:2312.10794",
        "V has eigenvalues of both signs",
    ),
    entry("value_symmetric_min", "least eigenvalue of its symmetric part", "repulsion where V < 0", "V has eigenvalues of both signs"),
    entry(
        "value_overlap",
        "<V, A> / |V| |A| with A = W_q^T W_k / sqrt r",
        "gradient flow where V = A: arXiv:2312.10794, Section 3",
        "1 would be the gradient case",
    ),
    entry("negative_part", "-min / (max - min) of the symmetric part: 0 attracts, 1 repels", "V = I and V = -I", "neither"),
];

//! The columns of a report: meaning, theorem, and the hypothesis of it that a trained model
//! violates.

/// A column of a report.
pub struct ReportColumn {
    pub column: &'static str,
    pub meaning: &'static str,
    pub theorem: &'static str,
    /// The hypothesis of the theorem that the model violates.
    pub violated: &'static str,
}

const fn entry(
    column: &'static str,
    meaning: &'static str,
    theorem: &'static str,
    violated: &'static str,
) -> ReportColumn {
    ReportColumn { column, meaning, theorem, violated }
}

/// Columns of `layers.csv` after the layer.
pub static LAYERS: [ReportColumn; 20] = [
    entry(
        "mean_cosine",
        "mean cosine of pairs of tokens",
        "one cluster in long time: arXiv:2312.10794, Theorem 4.1",
        "V is not the identity, layers differ, there are feed-forward layers, depth is finite",
    ),
    entry(
        "mean_cosine_bare",
        "the same without gain and shift of the normalisation layer",
        "tokens on a sphere: arXiv:2312.10794, Section 2",
        "gain and shift of a normalisation layer deform the sphere between layers",
    ),
    entry(
        "clusters_90",
        "number of clusters: tokens linked by cosines above 0.9",
        "metastable clusters: arXiv:2410.06833",
        "as for mean_cosine; the number depends on the threshold",
    ),
    entry(
        "clusters_99",
        "number of clusters: cosines above 0.99",
        "metastable clusters: arXiv:2410.06833; about sqrt beta of them on the circle: \
         arXiv:2406.04851",
        "d is not 2, tokens are not uniform",
    ),
    entry(
        "clusters_999",
        "number of clusters: cosines above 0.999",
        "metastable clusters: arXiv:2410.06833",
        "as for clusters_90",
    ),
    entry(
        "equal_rows_residual",
        "|x - 1 m^T| / |x| with the mean token m",
        "rank collapse without residuals: arXiv:2103.03404",
        "the model has residual connections, normalisation and feed-forward layers",
    ),
    entry(
        "effective_rank",
        "e^H, H the entropy of the squared singular values",
        "rank collapse: arXiv:2103.03404",
        "as for equal_rows_residual",
    ),
    entry(
        "attention_ratio",
        "|F(x)| / |x| of the attention sublayer",
        "depth limit: layers of step eta come within C eta of an ODE",
        "eta is 1; the limit needs a small ratio",
    ),
    entry(
        "mlp_ratio",
        "|F(x)| / |x| of the feed-forward layer",
        "theorems without feed-forward layers",
        "this ratio is not smaller than that of attention",
    ),
    entry(
        "beta",
        "fitted inverse temperature: median over the heads with beta_cosine > 0 and beta_error < \
         beta (of an even number the mean of the middle two)",
        "SA at one beta",
        "each head has its own beta and matrices",
    ),
    entry(
        "sqrt_beta",
        "square root of beta, to compare with the numbers of clusters",
        "about sqrt beta modes on the circle: arXiv:2412.09080",
        "d is not 2",
    ),
    entry(
        "log_energy",
        "log E_beta of the directions at that beta",
        "E_beta rises along SA and USA: arXiv:2312.10794, Section 3",
        "V and Q^T K are not the identity: an observation, no theorem applies",
    ),
    entry(
        "negentropy",
        "negentropy relative to uniform tokens, estimated from third neighbours",
        "entropy production: arXiv:2312.10794",
        "the bias is large if n is not much larger than d",
    ),
    entry(
        "negentropy_error",
        "standard error of negentropy by bootstrap",
        "as for negentropy",
        "it does not include the bias",
    ),
    entry(
        "sa_mean_cosine",
        "mean cosine of SA that starts at layer 0, at the median beta, for times |F(x)| / |x|",
        "one cluster: arXiv:2312.10794",
        "none: this is the flow of the theory",
    ),
    entry(
        "sa_clusters_99",
        "number of clusters of SA: cosines above 0.99",
        "metastable clusters: arXiv:2410.06833",
        "none",
    ),
    entry(
        "sa_equal_rows_residual",
        "|x - 1 m^T| / |x| of SA",
        "one cluster: arXiv:2312.10794, Theorem 4.1",
        "none: it tends to 0 as time grows; depth is finite",
    ),
    entry(
        "sa_effective_rank",
        "e^H of the squared singular values of SA",
        "one cluster: arXiv:2312.10794, Theorem 4.1",
        "none",
    ),
    entry(
        "sa_log_energy",
        "log E_beta of SA at its beta",
        "E_beta rises along SA: arXiv:2312.10794, Section 3",
        "none: this column rises",
    ),
    entry(
        "sa_negentropy",
        "negentropy of SA",
        "entropy production: arXiv:2312.10794",
        "the bias is that of negentropy",
    ),
];

/// Numbers of the page that are in no table.
pub static PAGE: [ReportColumn; 3] = [
    entry(
        "lyapunov_exponents",
        "the four largest growth rates per layer of small perturbations of all tokens (natural \
         logarithms), descending. Up to 64 layers: log sigma_k / layers, with the singular values \
         sigma_k of the product of the derivatives of all layers, by block iteration with its \
         transpose. More layers: QR exponents of four random directions",
        "one cluster attracts: finally below 0 (arXiv:2312.10794)",
        "layers differ, depth is finite; gains and feed-forward layers stretch",
    ),
    entry(
        "histograms",
        "cosines of all pairs: of the model, without gain and shift of the normalisation layer, of \
         SA",
        "peaks at 1 for one cluster, k (k - 1) / 2 others at most for k clusters (arXiv:2312.10794, \
         Section 4)",
        "as for mean_cosine",
    ),
    entry(
        "sa_beta",
        "inverse temperature of the SA that is compared with the model: the median of the column \
         beta over layers. With fewer than three such heads nothing is compared. sa_beta_heads \
         is the number of heads with a beta, sa_beta_range their smallest and largest one, sa_beta_error the standard error if \
         there is one such head",
        "SA at one beta",
        "each head has its own beta",
    ),
];

/// Columns of `heads.csv` after the layer and the head.
pub static HEADS: [ReportColumn; 13] = [
    entry(
        "logit_spread",
        "standard deviation of a row of logits, mean over rows",
        "beta times the spread of cosines",
        "logits have biases, and Q^T K is not a multiple of the identity",
    ),
    entry(
        "entropy",
        "entropy of a row over the logarithm of the number of visible keys",
        "uniform attention at beta = 0, hard attention at beta = infinity",
        "logits are not inner products of unit tokens",
    ),
    entry(
        "leader_share",
        "largest share of all attention that goes to one token",
        "leaders of hard attention: arXiv:2508.09628",
        "weights are soft",
    ),
    entry(
        "beta",
        "beta of the SA whose drift of cosines has the smallest angle with that of the head, on the \
         grid 1/4, 2^{1/4}/4, ..., 256; none if this is an end of the grid, or better than an end \
         only by rounding",
        "SA",
        "beta_cosine shows how well SA fits",
    ),
    entry(
        "beta_error",
        "standard error by leaving out groups of tokens",
        "SA",
        "it does not include the misfit",
    ),
    entry(
        "beta_cosine",
        "cosine of the two drifts: 1 if the head acts as SA; below 0 the beta is left out of \
         medians",
        "SA",
        "V is not the identity",
    ),
    entry(
        "value_norm",
        "largest singular value of V = W_o W_v",
        "Lipschitz bounds: arXiv:2312.14820",
        "none: normalisation layers bound the tokens",
    ),
    entry(
        "value_real_max",
        "largest real part of an eigenvalue of V",
        "leading directions of tokens in R^d: arXiv:2305.05465",
        "V is of low rank, and tokens are normalised",
    ),
    entry(
        "value_real_min",
        "smallest real part of an eigenvalue of V",
        "arXiv:2305.05465",
        "as for value_real_max",
    ),
    entry(
        "value_symmetric_max",
        "largest eigenvalue of the symmetric part of V",
        "attraction where V > 0: arXiv:2312.10794",
        "V has eigenvalues of both signs",
    ),
    entry(
        "value_symmetric_min",
        "smallest eigenvalue of the symmetric part of V",
        "repulsion where V < 0",
        "V has eigenvalues of both signs",
    ),
    entry(
        "value_overlap",
        "<V, A> / |V| |A| with A = W_q^T W_k / sqrt r",
        "gradient flow where V = A: arXiv:2312.10794, Section 3",
        "the gradient case would be 1",
    ),
    entry(
        "negative_part",
        "-min / (max - min) of the eigenvalues of the symmetric part: 0 attracts, 1 repels",
        "V = I and V = -I",
        "V is neither",
    ),
];

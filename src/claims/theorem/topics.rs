//! The topics of the claims. Each claim has exactly one topic; a test checks it. Add the name of a
//! new claim here.

/// A topic and its claims, in the order in which they should be read.
pub struct Topic {
    /// Identifier, used in links.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// Names of the claims.
    pub claims: &'static [&'static str],
}

/// The topic of a claim.
pub fn topic(claim: &str) -> Option<&'static Topic> {
    ALL.iter().find(|t| t.claims.contains(&claim))
}

/// All topics.
#[rustfmt::skip] // rustfmt would put each name on its own line
pub const ALL: [Topic; 14] = [
    Topic {
        name: "energy",
        title: "Energy and symmetry",
        claims: &[
            "energy-extremes", "gradient-structure", "dissipation", "angular-momentum",
            "antipodal-symmetry", "permutation", "reflection", "rotation", "time-reversal",
            "time-scales", "unit-norm", "span", "speed-bound", "chord-kernel", "gram-equation",
            "multiplicities", "layer-energy", "layer-energy-general", "sinkhorn-energy",
            "perceptron-energy", "force-field", "force-field-printed", "force-consensus",
            "lipschitz-bound", "cross-ratios", "layer-map", "layers-and-equation",
            "two-token-orbit", "score-is-distance",
        ],
    },
    Topic {
        name: "cones",
        title: "Cones and a single cluster",
        claims: &[
            "cone-collapse", "cone-rate", "cone-speed", "cone-speed-printed",
            "hemisphere-monotone", "cap-inequality", "cap-overlap", "cap-overlap-printed",
            "chain-lemma", "min-inner", "min-inner-folklore", "dimension-at-least-n", "wendel",
            "single-cluster", "consensus-rates", "consensus-value", "circle-mean", "cyclic-order",
            "concentration", "gamma-bound", "gamma-bound-printed", "gamma-curve",
            "score-positions-collapse",
        ],
    },
    Topic {
        name: "metastability",
        title: "Clustering and metastability",
        claims: &[
            "antipodal-escape", "cluster-positions", "cluster-positions-iid", "dwell-law",
            "dynamic-metastability", "formation-time", "nearest-first", "nearest-first-folklore",
            "pairing-law", "pairing-law-printed", "peaks-to-clusters", "peaks-to-clusters-printed",
            "separated-start", "separated-start-folklore", "staircase", "two-clusters",
            "polygon-rates", "nearest-at-small-beta-printed", "alignment",
            "homogeneous-alignment-as-said", "bipartite-spectrum", "bipartite-threshold",
        ],
    },
    Topic {
        name: "landscapes",
        title: "Saddles and landscapes",
        claims: &[
            "block-inequality", "curvature-identity", "large-beta-chains", "large-beta-polygon",
            "polygon-saddles", "polygon-saddles-odd", "repulsive-minimisers", "saddles-unstable",
            "sharp-minimisers", "sharp-minimisers-printed", "small-beta-blocks", "strict-saddle",
            "uniform-grid", "twisted-states",
        ],
    },
    Topic {
        name: "modes",
        title: "Modes and Kac-Rice",
        claims: &[
            "circle-modes", "mode-bracket", "mode-endpoint-printed", "mode-samples-printed",
            "sphere-modes", "cross-attention-modes",
        ],
    },
    Topic {
        name: "mean-field",
        title: "Mean field and entropy",
        claims: &[
            "dobrushin", "entropy-slopes", "entropy-slopes-folklore", "local-limit",
            "local-limit-folklore", "mean-field-collapse", "mean-field-collapse-folklore",
            "mean-field-rate", "mode-growth", "mode-growth-printed", "pair-equation",
            "particle-growth", "quantile-rate", "sa-entropy", "usa-entropy", "two-atoms",
            "row-entropy-equiangular", "row-entropy-folklore",
        ],
    },
    Topic {
        name: "causal",
        title: "Causal attention",
        claims: &[
            "causal-limit", "causal-limit-in-time", "causal-prefix", "centre-count",
            "centre-count-printed", "frozen-centres", "strong-centres", "block-prefix",
            "decode-cache",
        ],
    },
    Topic {
        name: "noise",
        title: "Noise",
        claims: &[
            "noise-step-mean", "noise-strong-order", "noise-weak-order", "noisy-bistability",
            "noisy-bistability-as-said", "noisy-fluctuations", "noisy-particles",
            "noisy-threshold", "transition-order",
        ],
    },
    Topic {
        name: "random-weights",
        title: "Random weights",
        claims: &[
            "depth-iid", "depth-smooth", "homogenised-weak-order", "lyapunov-iid", "random-arcsin",
            "random-logistic", "random-symmetric-pairs", "random-value-antipodal",
            "random-value-consensus", "random-value-drift", "random-value-groups",
        ],
    },
    Topic {
        name: "flat",
        title: "Tokens in R^d",
        claims: &[
            "large-beta-distance", "rd-boolean-rate", "rd-codimension-printed",
            "rd-codimension-simple", "rd-distances", "rd-gaussian", "rd-hull", "rd-hypercube",
            "rd-hyperplane-rate", "rd-leader", "rd-paranormal", "rd-remark-printed",
            "rd-repulsive", "rd-rescaling",
        ],
    },
    Topic {
        name: "hardmax",
        title: "Hardmax and convex layers",
        claims: &[
            "fw-collapse", "fw-exit-time", "fw-negative", "fw-negative-printed",
            "fw-origin-printed", "fw-solved", "fw-speed-printed", "hm-followers", "hm-leaders",
            "hm-localmax-hull", "hm-localmax-leaders-folklore",
        ],
    },
    Topic {
        name: "normalisation",
        title: "Normalisation",
        claims: &[
            "affine-rank-as-said", "layernorm-invariance", "ln-cone", "ln-curve", "ln-discrete",
            "ln-initial-speed", "ln-late-rates", "ln-orbit", "ln-sphere", "ln-stall-range",
            "ln-time-change",
        ],
    },
    Topic {
        name: "heads",
        title: "Heads, scores and positions",
        claims: &[
            "alibi-shift", "heads-average", "heads-sum", "key-bias", "linear-attention",
            "logit-rank", "logit-variance", "dimension-scale-printed",
            "multihead-head-energy-folklore", "multihead-sa-energy-folklore",
            "multihead-usa-energy", "nearest-by-dot", "root-matters-printed", "offset-attention",
            "orthogonal-unrelated-printed", "orthogonal-weight", "pad-mask", "pe-breaks-consensus",
            "pe-direction", "pe-monotone-printed", "pe-shift", "query-key-product",
            "rope-consensus-rate", "rope-shift", "self-weight-largest", "shared-value-rank",
            "softmax-full-rank", "softmax-jacobian", "softmax-rank-printed", "temperature-limits",
            "truncation-bound", "zero-query-is-ffn-printed", "zero-query-is-mean",
            "seed-table-printed", "gap-counting", "long-context-iid", "rank-collapse-cubic",
            "cross-entropy",
        ],
    },
    Topic {
        name: "trained",
        title: "Trained blocks and recurrent maps",
        claims: &[
            "attention-cost", "attention-cost-printed", "bahdanau-floor", "block-collapse",
            "block-euler", "ffn-share", "fixed-context", "gelu-constants", "gru-bounds",
            "gru-reset-printed", "lstm-additive-path", "mixing-structure", "rnn-contraction",
            "rnn-equal-weight-printed", "rnn-influence", "rnn-order", "rnn-order-printed",
            "rnn-spectral-radius-folklore",
        ],
    },
];

//! Corrections of false statements: the claims with the correct statement, and a remark if they do
//! not cover it. One entry for each false claim; a test checks that none is missing.

/// A false statement and its correction.
pub struct Erratum {
    /// The name of the claim that is false.
    pub claim: &'static str,
    /// The names of the claims with the correct statement.
    pub holds: &'static [&'static str],
    /// A remark on what they do not cover; empty if they cover everything.
    pub words: &'static str,
}

const fn by(claim: &'static str, holds: &'static [&'static str]) -> Erratum {
    Erratum { claim, holds, words: "" }
}

const fn with(claim: &'static str, holds: &'static [&'static str], words: &'static str) -> Erratum {
    Erratum { claim, holds, words }
}

/// The correction of a claim.
pub fn erratum(claim: &str) -> Option<&'static Erratum> {
    ALL.iter().find(|e| claim == e.claim)
}

/// The corrections of all false claims.
pub const ALL: [Erratum; 43] = [
    with(
        "affine-rank-as-said",
        &[],
        "LN(X) = D X C with a positive diagonal D: the rank of the centred rows X C is preserved. \
        The affine rank of three points on a line goes from 1 to 2.",
    ),
    by("attention-cost-printed", &["attention-cost"]),
    by("cap-overlap-printed", &["cap-overlap"]),
    by("centre-count-printed", &["centre-count"]),
    by("cluster-positions-iid", &["cluster-positions"]),
    by("cone-speed-printed", &["cone-speed"]),
    by("dimension-scale-printed", &["logit-variance"]),
    by("entropy-slopes-folklore", &["entropy-slopes"]),
    by("force-field-printed", &["force-field"]),
    by("fw-negative-printed", &["fw-negative"]),
    with(
        "fw-origin-printed",
        &["fw-collapse"],
        "The limit is one point of the convex hull of the start. It is the origin only where a \
        symmetry puts it there.",
    ),
    with(
        "fw-speed-printed",
        &["fw-solved"],
        "The remaining distance is the product of all 1 - g_t. It tends to 0 exponentially if the \
        steps are bounded below.",
    ),
    by("gamma-bound-printed", &["gamma-bound"]),
    with(
        "gru-reset-printed",
        &[],
        "The reset gate closes the way through the candidate only. H+ is a mean of H and the \
        candidate, and keeps H with the weight of the update gate.",
    ),
    with(
        "hm-localmax-leaders-folklore",
        &["hm-leaders", "hm-localmax-hull"],
        "Leaders are frozen under hardmax. Under localmax a follower comes within the tolerance \
        and its leader moves to the mean; what holds there is that the hull does not grow.",
    ),
    with(
        "homogeneous-alignment-as-said",
        &["bipartite-threshold"],
        "The words hold for starts with all <x_i, xi> > 0. Starts on both sides may end as two \
        antipodal clusters, which are stable below a threshold.",
    ),
    by("local-limit-folklore", &["local-limit"]),
    by("mean-field-collapse-folklore", &["mean-field-collapse"]),
    by("min-inner-folklore", &["min-inner"]),
    with(
        "mode-endpoint-printed",
        &[],
        "Where 0 is inside the interval the expected number is 1; where 0 is an end of it, 1/2: \
        the mode falls on either side.",
    ),
    by("mode-growth-printed", &["mode-growth"]),
    with(
        "mode-samples-printed",
        &[],
        "The bound holds in expectation. For single samples it fails: the two modes of two samples \
        lie between them.",
    ),
    by("multihead-head-energy-folklore", &["multihead-usa-energy"]),
    with(
        "multihead-sa-energy-folklore",
        &["multihead-usa-energy"],
        "The total energy rises along USA. Along SA every head has its own normaliser, and there \
        is no common metric.",
    ),
    with(
        "nearest-at-small-beta-printed",
        &["temperature-limits"],
        "At small beta all tokens weigh the same. At large beta the nearest alone counts.",
    ),
    by("nearest-first-folklore", &["nearest-first"]),
    by("noisy-bistability-as-said", &["noisy-bistability"]),
    by("orthogonal-unrelated-printed", &["orthogonal-weight"]),
    by("pairing-law-printed", &["pairing-law"]),
    with(
        "pe-monotone-printed",
        &["pe-shift"],
        "The inner product is a sum of cosines of the distance, which rises again at small \
        distances.",
    ),
    by("peaks-to-clusters-printed", &["peaks-to-clusters"]),
    with(
        "rd-codimension-printed",
        &["rd-hypercube"],
        "The four corners of a rectangle have four limits. With simple eigenvalues of V the \
        conjecture is open (rd-codimension-simple).",
    ),
    with(
        "rd-remark-printed",
        &["rd-hypercube"],
        "The two limits differ by a small gap that is not 0.",
    ),
    by("rnn-equal-weight-printed", &["rnn-influence"]),
    by("rnn-order-printed", &["rnn-order"]),
    with(
        "rnn-spectral-radius-folklore",
        &["rnn-contraction"],
        "It is the norm that has to be below 1.",
    ),
    with(
        "root-matters-printed",
        &["nearest-by-dot"],
        "The root is monotone: squares rank as distances do.",
    ),
    with(
        "row-entropy-folklore",
        &["row-entropy-equiangular"],
        "It holds at an orthonormal start. In general the entropy of a row moves in either \
        direction.",
    ),
    with("seed-table-printed", &[], "The last row sums to 1.20."),
    by("separated-start-folklore", &["separated-start"]),
    by("sharp-minimisers-printed", &["sharp-minimisers"]),
    by("softmax-rank-printed", &["softmax-full-rank", "logit-rank"]),
    by("zero-query-is-ffn-printed", &["zero-query-is-mean"]),
];

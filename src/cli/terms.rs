//! Terms that `explain` defines: the table of verdicts, outcomes of runs, masks, laws of matrices,
//! time normalisations.

/// The meaning of a random law of matrices, with the sentence that all of them share.
macro_rules! drawn {
    ($what:literal, $word:literal) => {
        concat!(
            $what,
            ". In an experiment every realisation draws another matrix, and the column matrix_seed of results.csv \
             holds its seed; with a seed in the law (",
            $word,
            ",seed=5) all realisations share one matrix. In a single run a law without a seed uses --seed"
        )
    };
}

/// Terms and their meanings.
pub const TERMS: [(&str, &str); 63] = [
    (
        "claim",
        "a statement that `check` tests: a theorem, a correction, a misprint, a refuted conjecture, folklore, an open question or an observation; `list theorems` lists all",
    ),
    (
        "status",
        "how the literature regards a claim: theorem, corrected, misprinted, refuted conjecture, folklore, open or observation",
    ),
    (
        "theorem",
        "a status: the claim is proved in its source, or derived here; a violation is a failure (exit code 2)",
    ),
    (
        "corrected",
        "a status: the source prints the statement wrongly and the claim is its correction; a violation is a failure (exit code 2)",
    ),
    (
        "misprinted",
        "a status: the statement as its source prints it, which is false; a violation is expected",
    ),
    (
        "refuted conjecture",
        "a status: a conjecture of the source that is false as printed; a violation is expected",
    ),
    ("folklore", "a status: a widely believed statement that is false; a violation is expected"),
    ("open", "a status: the claim is neither proved nor refuted; a violation is a discovery"),
    ("observation", "a status: a numerical finding without a proof"),
    (
        "kind",
        "the type of a claim: identity, exact, inequality, law or share; it defines the margin",
    ),
    (
        "exact",
        "a kind of claim: counts or truth values without rounding; every trial must say yes, and there is no margin",
    ),
    (
        "variant",
        "another wording of a claim, as printed or as commonly believed; it is tested with its claim",
    ),
    ("topic", "a group of claims that should be read together; `list topics` lists them"),
    (
        "identity",
        "a kind of claim: two numbers are equal up to a tolerance; margin = 1 - deviation / tolerance",
    ),
    (
        "inequality",
        "a kind of claim: a value does not exceed an upper bound, or fall below a lower bound; margin = (bound - value) / |bound| for an upper bound, \
         (value - bound) / |bound| for a lower bound, and value / (size of its terms) for the lower bound 0",
    ),
    (
        "law",
        "a kind of claim: a measured number agrees with a stated one within a tolerance; margin = 1 - |measured - stated| / allowed",
    ),
    (
        "share",
        "a kind of claim: at least a stated share of all draws answers yes, judged by Clopper-Pearson bounds at 99.9 %; margin = distance of the \
         share to its level",
    ),
    (
        "every draw",
        "a share whose level is 1: supported only when the bound on the share of exceptions is small enough",
    ),
    (
        "verdict",
        "the result of the trials of a claim: certified, supported, inconclusive, violated, or hypotheses never met",
    ),
    (
        "certified",
        "a verdict: interval arithmetic of this program alone decides the claim for exactly the printed box, and every trial agrees",
    ),
    (
        "supported",
        "a verdict: every margin exceeds its error in every trial that met the hypotheses, and the control had the expected result",
    ),
    (
        "inconclusive",
        "a verdict: an error bar covers the threshold, a run did not finish, a violation was not confirmed, over half of the draws missed the \
         hypotheses, a bound on exceptions is not reached, or the control did not have the expected result",
    ),
    (
        "violated",
        "a verdict: a margin is below minus its error, and an independent method confirms it: a hundredth of the tolerance and the second \
         integrator, double-double velocities, another seed, or inputs moved by an ulp; the counterexample can be replayed",
    ),
    (
        "as known",
        "after a verdict `violated`: the violation is expected, since the claim is misprinted, a refuted conjecture or folklore",
    ),
    (
        "as expected",
        "the verdict agrees with the status of the claim: supported or certified for a theorem, a correction or an \
         observation; violated for a misprint, a refuted conjecture or folklore; not violated for an open claim",
    ),
    (
        "a discovery",
        "after a verdict: an open claim is violated; the counterexample can be replayed",
    ),
    (
        "margin",
        "dimensionless signed distance from the threshold of a claim: 1 far from it, 0 at it, negative if the claim is violated; the smallest over all trials",
    ),
    (
        "error",
        "bound on the error of the smallest margin: from the integrator, the evaluation and the sampling",
    ),
    (
        "slack",
        "the factor by which the bound of an inequality could be tightened: bound / value for an upper bound, value / bound for a lower \
         one; the smallest over all trials: 1 means attained, below 1 violated",
    ),
    (
        "resolves",
        "the resolving power: the smallest relative change of the stated constant or law that the check detects, found by bisection (8e-1: \
         80 %); `not 2x`: half or twice the stated value would also pass; `-`: the claim contains no constant",
    ),
    ("resolving power", "the column `resolves` of the table of verdicts; see `explain resolves`"),
    (
        "not 2x",
        "in the column `resolves`: half or twice the stated value would also pass the check",
    ),
    ("trials", "number of draws that met the hypotheses; for a share, positive draws / all draws"),
    (
        "control",
        "the same test with one thing changed: it must fail for a claim that should hold, and hold for a claim that is false; ok: \
         it did",
    ),
    ("ok", "in the column `control`: the control had the expected result"),
    (
        "wrong",
        "in the column `control`: the control did not have the expected result, so the verdict means nothing",
    ),
    (
        "searched",
        "trials of a search for a violation near the smallest margin, made if that margin is small and for open claims",
    ),
    ("hypotheses never met", "no draw met the hypotheses, so nothing was tested"),
    ("reached", "the run reached its end time"),
    ("stationary", "a stable steady state was reached to rounding; it persists until the end time"),
    ("one-cluster", "all tokens merged into one cluster"),
    ("max-steps", "the largest number of steps was reached; partial results are saved"),
    ("step-too-small", "no step large enough to move a token met the tolerance"),
    ("non-finite", "a velocity became infinite or NaN; the message gives token and time"),
    (
        "interrupted",
        "ended by Ctrl-C or SIGTERM; finished cells are saved and the same command resumes",
    ),
    (
        "under-resolved",
        "two resolutions do not agree on any digit, so no number is printed; exit code 4",
    ),
    (
        "u1",
        "time normalisation of USA: x_i' = P_i sum_j m_j e^{beta G_ij} x_j, with m_j = 1/n for equal masses",
    ),
    ("u2", "time normalisation of USA: u1 times e^{-beta}, so that weights are at most 1"),
    ("u3", "time normalisation of USA: u2 divided by n"),
    ("u4", "time normalisation of USA: u1 times n, the form without 1/n"),
    ("window", "a mask, window:w=W: token i sees the tokens with |i - j| < W"),
    ("causal", "a mask: token i sees the tokens j <= i"),
    (
        "alibi",
        "biases -m_h |i - j| added to beta <Q x_i, K x_j>, m_h = 2^{-8h/H} for the heads h = 1 to H; symmetric in i and j: add the mask causal for the original ALiBi",
    ),
    (
        "normal",
        drawn!(
            "a law of matrices: independent normal entries of variance scale^2/d",
            "normal:scale=1"
        ),
    ),
    (
        "symmetric",
        drawn!(
            "a law of matrices: normal and symmetric, variance scale^2/d off the diagonal and twice that on it",
            "symmetric:scale=1"
        ),
    ),
    (
        "low-rank",
        drawn!(
            "a law of matrices: a product of normal d x r and r x d matrices with entries of variance scale^2/d",
            "low-rank:rank=1"
        ),
    ),
    (
        "rotation",
        "a law of matrices: orthogonal, uniformly distributed. In an experiment every realisation draws another matrix, and the \
         column matrix_seed of results.csv holds its seed; with a seed in the law (rotation:seed=5) all realisations share one \
         matrix. In a single run a law without a seed uses --seed",
    ),
    (
        "diagonal",
        "a law of matrices: diagonal:1,0.5 has these entries; the last one is repeated up to d",
    ),
    (
        "bifurcation",
        "a value of a parameter at which critical points appear, vanish or change their number of unstable directions: a fold or a pitchfork; `continue` finds all of an interval",
    ),
    (
        "fold",
        "a bifurcation at which two critical points meet and vanish, one with one unstable direction more than the other",
    ),
    (
        "pitchfork",
        "a bifurcation at which a critical point changes its number of unstable directions by one, and two mirror-image points split from it",
    ),
    ("beta_per_n", "a key of experiments: beta = C/n for every C of the list"),
    ("beta_per_n2", "a key of experiments: beta = C n^2 for every C of the list"),
];

/// The meaning of a term; case is ignored.
pub fn meaning(word: &str) -> Option<&'static str> {
    TERMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, meaning)| *meaning)
}

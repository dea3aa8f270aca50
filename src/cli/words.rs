//! Words that the program uses, in one sentence each: the columns and cells of the table of verdicts, ends of runs, masks, laws of matrices, time
//! normalisations.

/// The paragraph that `explain` adds to every random law of matrices.
macro_rules! drawn {
    ($what:literal, $word:literal) => {
        concat!(
            $what,
            ". In an experiment every realisation draws another matrix, and the column matrix_seed of results.csv \
             names its seed; with a seed in the law (",
            $word,
            ",seed=5) it is one matrix for all realisations. In a single run a law without a seed has that of --seed"
        )
    };
}

/// A word and what it means.
pub const WORDS: [(&str, &str); 56] = [
    (
        "claim",
        "a statement that `check` tests: a theorem, a correction, a misprint, a belief or an open question; `list theorems` lists them",
    ),
    ("status", "what the literature says of a claim: theorem, corrected, misprinted, folklore, open or observation"),
    ("theorem", "a status: the claim is proved in its source, or derived here; a violation is a failure (exit code 2)"),
    (
        "corrected",
        "a status: the source prints the statement wrongly and this is the corrected one; a violation is a failure (exit code 2)",
    ),
    ("misprinted", "a status: the statement as its source prints it, and false; a violation is expected"),
    ("folklore", "a status: a statement that people believe, that no source proves, and that is false; a violation is expected"),
    ("open", "a status: the claim is neither proved nor refuted; a violation is a discovery"),
    ("observation", "a status: a numerical finding without a proof"),
    ("kind", "what a claim measures: identity, inequality, law or share; the kind fixes what its margin is"),
    ("identity", "a kind of claim: two numbers are equal up to a tolerance; margin = 1 - deviation / tolerance"),
    ("inequality", "a kind of claim: a value stays on its side of a bound; margin = (bound - value) / bound for an upper bound"),
    ("law", "a kind of claim: a measured number agrees with a stated one within its allowance; margin = 1 - |measured - stated| / allowed"),
    (
        "share",
        "a kind of claim: at least a stated share of all draws answers yes, judged by Clopper-Pearson bounds at 99.9 %; margin = distance of the \
         share to its level",
    ),
    ("every draw", "a share whose level is 1: supported only when the bound on the share of exceptions is small enough"),
    ("verdict", "what the trials of a claim show: certified, supported, inconclusive, violated, or hypotheses never met"),
    ("certified", "a verdict: interval arithmetic decides the claim for exactly the printed box, and every trial agrees"),
    ("supported", "a verdict: every margin exceeds its error in every trial that met the hypotheses, and the control came out on its side"),
    (
        "inconclusive",
        "a verdict: an error bar covers the threshold, a run did not finish, a violation was not confirmed, over half of the draws missed the \
         hypotheses, a bound on exceptions is not reached, or the control came out on the wrong side",
    ),
    (
        "violated",
        "a verdict: a margin lies below minus its error and was confirmed by what the trial depends on: a hundredth of the tolerance and the \
         second integrator, double-double velocities, another seed, or inputs moved by an ulp; violated as encoded, with a counterexample that \
         can be replayed",
    ),
    (
        "as known",
        "beside a verdict `violated`: the literature with its known errata predicts this violation, the claim is misprinted or folklore",
    ),
    (
        "as expected",
        "the verdict is the one that the literature with its known errata predicts: supported or certified for a theorem, a correction or an \
         observation; violated for a misprint or folklore; not violated for an open claim",
    ),
    ("a discovery", "beside a verdict: an open claim is violated; the counterexample can be replayed"),
    (
        "margin",
        "dimensionless signed distance to the threshold of a claim: 1 is far from it, 0 on it, negative beyond; the smallest over all trials",
    ),
    (
        "error",
        "bound on the error of the margin in the trial that has the smallest one: of the integrator, of the evaluation, of the sampling",
    ),
    (
        "slack",
        "the factor by which the bound of an inequality, upper or lower, could be tightened (bound over value of an \
         upper one, value over bound of a lower one); the smallest over all trials: at 1 the bound is attained, below 1 it is violated",
    ),
    (
        "resolves",
        "the resolving power: the relative change of the stated constant or law that the check would notice, found by bisection (8e-1: a change \
         by 80 %); `not 2x`: half or twice the stated value would pass too; `-`: nothing of the claim has a size",
    ),
    ("resolving power", "the column `resolves` of the table of verdicts: see `explain resolves`"),
    ("not 2x", "in the column `resolves`: half or twice the stated value would pass the check too"),
    ("trials", "number of draws that met the hypotheses; of a share the draws that answered yes over all draws"),
    (
        "control",
        "the same code with one thing changed: it must be violated for a claim that should hold, and must hold for a claim that is false; ok: \
         it came out so",
    ),
    ("ok", "in the column `control`: the control came out on its side"),
    ("wrong side", "in the column `control`: the control did not come out on its side, so the verdict proves nothing"),
    ("searched", "trials of a hunt for a violation around the smallest margin, made when that margin is thin and for open claims"),
    ("hypotheses never met", "no draw met the hypotheses, so nothing was tested"),
    ("reached", "the run reached its end time"),
    ("stationary", "a stable state was reached to rounding: nothing will move any more, and the state holds until the end time"),
    ("one-cluster", "all tokens became one cluster"),
    ("max-steps", "the budget of steps was spent; partial results are kept"),
    ("step-too-small", "no step that still moves a token met the tolerance"),
    ("non-finite", "a velocity became infinite or NaN; the message names token and time"),
    ("interrupted", "Ctrl-C or SIGTERM; finished cells are kept and the same command resumes"),
    ("under-resolved", "two resolutions do not agree on a single digit, so no number is printed; exit code 4"),
    ("u1", "time normalisation of USA: x_i' = P_i sum_j m_j e^{beta G_ij} x_j, m_j = 1/n where masses are equal"),
    ("u2", "time normalisation of USA: that of u1 times e^{-beta}, so that weights are at most 1"),
    ("u3", "time normalisation of USA: that of u2 over n"),
    ("u4", "time normalisation of USA: that of u1 times n, as code without 1/n has it"),
    ("window", "a mask, window:w=W: token i sees the tokens with |i - j| < W"),
    ("causal", "a mask: token i sees the tokens j <= i"),
    (
        "alibi",
        "biases -m_h |i - j| added to beta <Q x_i, K x_j>, m_h = 2^{-8h/H} for the heads h = 1 to H; both sides count alike: add the mask causal for the original",
    ),
    ("normal", drawn!("a law of matrices: independent normal entries of variance scale^2/d", "normal:scale=1")),
    (
        "symmetric",
        drawn!("a law of matrices: normal and symmetric, variance scale^2/d off the diagonal and twice that on it", "symmetric:scale=1"),
    ),
    (
        "low-rank",
        drawn!("a law of matrices: a product of normal d x r and r x d matrices with entries of variance scale^2/d", "low-rank:rank=1"),
    ),
    (
        "rotation",
        "a law of matrices: orthogonal, uniformly distributed. In an experiment every realisation draws another matrix, and the \
         column matrix_seed of results.csv names its seed; with a seed in the law (rotation:seed=5) it is one matrix for all \
         realisations. In a single run a law without a seed has that of --seed",
    ),
    ("diagonal", "a law of matrices: diagonal:1,0.5 has these entries, the last one repeated up to d"),
    ("beta_per_n", "a key of experiments: multiples of 1/n, beta = C/n for every C of the list"),
    ("beta_per_n2", "a key of experiments: multiples of n^2, beta = C n^2 for every C of the list"),
];

/// The meaning of a word, in any case of letters.
pub fn meaning(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, meaning)| *meaning)
}

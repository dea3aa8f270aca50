//! Words that the program uses, in one sentence each: verdicts, ends of runs, masks, laws of matrices, time normalisations.

/// What is said of every random law of matrices.
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
pub const WORDS: [(&str, &str); 31] = [
    ("certified", "interval arithmetic decides the claim for exactly the printed box, and every trial agrees"),
    ("supported", "every margin exceeds its error in every trial that met the hypotheses, and the control came out on its side"),
    (
        "inconclusive",
        "an error bar covers the threshold, a run did not finish, a violation was not confirmed, over half of the draws missed the hypotheses, a bound on exceptions is not \
         reached, or the control came out on the wrong side",
    ),
    (
        "violated",
        "a margin lies below minus its error and was confirmed by what the trial depends on: a hundredth of the tolerance and the second integrator, double-double velocities, another \
         seed, or inputs moved by an ulp; violated as encoded, with a counterexample that can be replayed",
    ),
    ("margin", "signed distance to a claim without a unit: 1 is far from the threshold, 0 on it, negative beyond"),
    ("slack", "how many times larger the bound of an inequality is than what happens; the smallest over all trials"),
    (
        "resolving power",
        "the relative change of the stated constant or law that the check would notice, by bisection; `not 2x`: half or twice would pass too",
    ),
    ("control", "the same code with one thing changed: violated for a claim that should hold, held for one that is false"),
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

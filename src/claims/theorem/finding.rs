//! What one trial found: a margin without a unit, or an answer, or nothing.

/// Signed distance to a claim, without a unit: 1 is far from the threshold, 0 on it, negative beyond. The error is kept by cause, in the same unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margin {
    /// The distance.
    pub value: f64,
    /// Twice the difference between the tolerance and a hundredth of it.
    pub integrator: f64,
    /// Rounding of the evaluation.
    pub evaluation: f64,
    /// Error of a sampled quantity: three standard errors, or a Clopper-Pearson bound.
    pub sampling: f64,
    /// The factor by which the bound could be tightened: an upper bound over the value, the value over a lower bound; for inequalities between
    /// numbers of one sign (of negative ones the other way round: at least 1 where the inequality holds).
    pub slack: Option<f64>,
    /// What was measured, and what it was held against: a deviation and its tolerance, a value and its bound, a number and the stated one.
    pub seen: Option<(f64, f64)>,
}

impl Margin {
    /// Total error.
    pub fn error(&self) -> f64 {
        self.integrator + self.evaluation + self.sampling
    }

    /// True when the claim held beyond the error.
    pub fn held(&self) -> bool {
        self.value > self.error()
    }

    /// True when it failed beyond the error.
    pub fn failed(&self) -> bool {
        self.value < -self.error()
    }
}

/// Result of one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The hypotheses held; signed distance to the claim.
    Margin(Margin),
    /// The hypotheses held; yes or no, for shares.
    Answer(bool),
    /// The draw did not meet the hypotheses.
    Missed,
    /// The computation did not finish; the reason.
    Unfinished(String),
}

impl Finding {
    /// An exact law: `1 - deviation / tolerance`.
    pub fn identity(deviation: f64, tolerance: f64) -> Self {
        let share = deviation / tolerance;
        let (value, evaluation) = (1.0 - share, 4.0 * f64::EPSILON * share.abs());
        Self::Margin(Margin { value, evaluation, seen: Some((deviation, tolerance)), ..Margin::default() })
    }

    /// The inequality `value <= bound`, distance over `|bound|`.
    pub fn at_most(value: f64, bound: f64) -> Self {
        Self::ordered(bound - value, (value, bound), value, bound)
    }

    /// The inequality `value >= bound`, distance over `|bound|`.
    pub fn at_least(value: f64, bound: f64) -> Self {
        Self::ordered(value - bound, (value, bound), bound, value)
    }

    /// The inequality `value >= 0` against the size of its terms.
    pub fn nonnegative(value: f64, scale: f64) -> Self {
        let (share, evaluation) = (value / scale, 8.0 * f64::EPSILON);
        Self::Margin(Margin { value: share, evaluation, seen: Some((value, 0.0)), ..Margin::default() })
    }

    fn ordered(distance: f64, seen: (f64, f64), less: f64, more: f64) -> Self {
        let scale = seen.1.abs();
        let slack = (less * more > 0.0).then(|| if less > 0.0 { more / less } else { less / more });
        let evaluation = 4.0 * f64::EPSILON * (less.abs() + more.abs()) / scale;
        Self::Margin(Margin { value: distance / scale, evaluation, slack, seen: Some(seen), ..Margin::default() })
    }

    /// A fitted number: `1 - |measured - stated| / allowed`, with three standard errors of the measurement.
    pub fn law(measured: f64, stated: f64, allowed: f64, standard_error: f64) -> Self {
        let value = 1.0 - (measured - stated).abs() / allowed;
        let sampling = 3.0 * standard_error / allowed;
        Self::Margin(Margin { value, sampling, seen: Some((measured, stated)), ..Margin::default() })
    }

    /// Yes or no.
    pub fn yes(answer: bool) -> Self {
        Self::Answer(answer)
    }

    /// More error of the evaluation, in the unit of the margin.
    pub fn with_error(self, error: f64) -> Self {
        self.edited(|m| m.evaluation += error)
    }

    /// More sampling error, in the unit of the margin.
    pub fn with_sampling(self, error: f64) -> Self {
        self.edited(|m| m.sampling += error)
    }

    /// The weaker of two findings: a claim that says two things.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Margin(a), Self::Margin(b)) => Self::Margin(if b.value - b.error() < a.value - a.error() { b } else { a }),
            (Self::Answer(a), Self::Answer(b)) => Self::Answer(a && b),
            (Self::Answer(true), other) | (other, Self::Answer(true)) => other,
            (Self::Answer(false), _) | (_, Self::Answer(false)) => Self::Answer(false),
            (Self::Missed, _) | (_, Self::Missed) => Self::Missed,
            (unfinished, _) => unfinished,
        }
    }

    fn edited(self, edit: impl FnOnce(&mut Margin)) -> Self {
        match self {
            Self::Margin(mut m) => {
                edit(&mut m);
                Self::Margin(m)
            }
            other => other,
        }
    }
}

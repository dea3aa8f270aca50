//! The finding of one trial: a dimensionless margin, an answer, or the reason why there is neither.

/// Signed dimensionless distance to the threshold of a claim: positive if the claim holds, 0 on the
/// threshold, negative if it fails; 1 is far from the threshold. The errors are dimensionless, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margin {
    /// The signed distance.
    pub value: f64,
    /// Integration error: twice the difference between the results at the tolerance and at a
    /// hundredth of it.
    pub integrator: f64,
    /// Rounding error of the evaluation.
    pub evaluation: f64,
    /// Sampling error: three standard errors, or a Clopper-Pearson bound.
    pub sampling: f64,
    /// The factor by which the bound of an inequality could be tightened: upper bound over value,
    /// or value over lower bound. For negative numbers it is the reciprocal, so that it is at least
    /// 1 where the inequality holds. `None` if value and bound have different signs.
    pub slack: Option<f64>,
    /// The two numbers that were compared: a deviation and its tolerance, a value and its bound, or
    /// a measured number and the claimed one.
    pub compared: Option<(f64, f64)>,
}

impl Margin {
    /// Total error.
    pub fn error(&self) -> f64 {
        self.integrator + self.evaluation + self.sampling
    }

    /// True if the claim held by more than the error.
    pub fn held(&self) -> bool {
        self.value > self.error()
    }

    /// True if it failed by more than the error.
    pub fn failed(&self) -> bool {
        self.value < -self.error()
    }

    /// The numbers that leave the margin without a finite value or error, in words; `None` if both
    /// are finite.
    pub fn not_finite(&self) -> Option<String> {
        let error = self.error();
        if self.value.is_finite() && error.is_finite() {
            return None;
        }
        let numbers = match self.compared {
            Some((a, b)) if !(a.is_finite() && b.is_finite()) => {
                format!("{a:e} was compared with {b:e}")
            }
            _ => format!("it is {:e} +- {error:e}", self.value),
        };
        Some(format!("a margin is not finite: {numbers}"))
    }
}

/// Result of one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The hypotheses held: the signed distance to the threshold.
    Margin(Margin),
    /// The hypotheses held: yes or no, for counts, truth values and shares.
    Answer(bool),
    /// The draw did not meet the hypotheses.
    HypothesesMissed,
    /// The computation did not finish, for this reason.
    Unfinished(String),
}

impl Finding {
    /// An identity: the margin is `1 - deviation / tolerance`.
    pub fn identity(deviation: f64, tolerance: f64) -> Self {
        let share = deviation / tolerance;
        let (value, evaluation) = (1.0 - share, 4.0 * f64::EPSILON * share.abs());
        Self::Margin(Margin {
            value,
            evaluation,
            compared: Some((deviation, tolerance)),
            ..Margin::default()
        })
    }

    /// The inequality `value <= bound`: the margin is `(bound - value) / |bound|`.
    pub fn at_most(value: f64, bound: f64) -> Self {
        Self::ordered(bound - value, (value, bound), value, bound)
    }

    /// The inequality `value >= bound`: the margin is `(value - bound) / |bound|`.
    pub fn at_least(value: f64, bound: f64) -> Self {
        Self::ordered(value - bound, (value, bound), bound, value)
    }

    /// The inequality `value >= 0`: the margin is `value / scale`, where `scale` is the size of the
    /// terms.
    pub fn nonnegative(value: f64, scale: f64) -> Self {
        let (share, evaluation) = (value / scale, 8.0 * f64::EPSILON);
        Self::Margin(Margin {
            value: share,
            evaluation,
            compared: Some((value, 0.0)),
            ..Margin::default()
        })
    }

    fn ordered(distance: f64, compared: (f64, f64), less: f64, more: f64) -> Self {
        let scale = compared.1.abs();
        let slack = (less * more > 0.0).then(|| if less > 0.0 { more / less } else { less / more });
        let evaluation = 4.0 * f64::EPSILON * (less.abs() + more.abs()) / scale;
        Self::Margin(Margin {
            value: distance / scale,
            evaluation,
            slack,
            compared: Some(compared),
            ..Margin::default()
        })
    }

    /// A measured number against a claimed one: the margin is `1 - |measured - claimed| / allowed`,
    /// with a sampling error of three standard errors.
    pub fn law(measured: f64, claimed: f64, allowed: f64, standard_error: f64) -> Self {
        let value = 1.0 - (measured - claimed).abs() / allowed;
        let sampling = 3.0 * standard_error / allowed;
        Self::Margin(Margin {
            value,
            sampling,
            compared: Some((measured, claimed)),
            ..Margin::default()
        })
    }

    /// Yes or no.
    pub fn answer(yes: bool) -> Self {
        Self::Answer(yes)
    }

    /// Yes if a count is the claimed one.
    pub fn exact(count: usize, claimed: usize) -> Self {
        Self::Answer(count == claimed)
    }

    /// Yes if all of these are true.
    pub fn all(of: impl IntoIterator<Item = bool>) -> Self {
        Self::Answer(of.into_iter().all(|yes| yes))
    }

    /// Adds to the evaluation error of the margin.
    pub fn with_evaluation_error(self, error: f64) -> Self {
        self.map_margin(|m| m.evaluation += error)
    }

    /// Adds to the sampling error of the margin.
    pub fn with_sampling_error(self, error: f64) -> Self {
        self.map_margin(|m| m.sampling += error)
    }

    /// The conjunction: an answer of no, a part that did not finish, a part that missed the
    /// hypotheses, or else the smaller margin. A margin that is NaN is smaller than any number.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Margin(a), Self::Margin(b)) => {
                let [low, other] = [&a, &b].map(|m| m.value - m.error());
                Self::Margin(if low.is_nan() || low <= other { a } else { b })
            }
            (Self::Answer(false), _) | (_, Self::Answer(false)) => Self::Answer(false),
            (Self::Answer(true), other) | (other, Self::Answer(true)) => other,
            (Self::Unfinished(why), _) | (_, Self::Unfinished(why)) => Self::Unfinished(why),
            (Self::HypothesesMissed, _) | (_, Self::HypothesesMissed) => Self::HypothesesMissed,
        }
    }

    fn map_margin(self, edit: impl FnOnce(&mut Margin)) -> Self {
        match self {
            Self::Margin(mut m) => {
                edit(&mut m);
                Self::Margin(m)
            }
            other => other,
        }
    }
}

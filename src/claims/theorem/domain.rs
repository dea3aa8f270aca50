//! The hypotheses of a claim. The same object prints them and draws from them, so the printed
//! hypotheses are the tested ones.

use crate::attention::{Dynamics, RowWeights, Spec, Variant, dynamics};
use crate::error::{Error, Result};
use crate::num::stream::Stream;
use std::fmt;

/// The values of n or d.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sizes {
    /// Integers of an interval with both ends, drawn log-uniformly.
    Range(usize, usize),
    /// One of these.
    List(&'static [usize]),
    /// One value.
    Fixed(usize),
    /// The claim does not depend on it.
    Unused,
}

/// The values of beta.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Betas {
    /// An interval of positive numbers, drawn log-uniformly.
    Log(f64, f64),
    /// An interval, drawn uniformly.
    Linear(f64, f64),
    /// Both signs and 0: the sign is random, the absolute value log-uniform in `[lo, hi]`.
    Signed(f64, f64),
    /// One of these.
    List(&'static [f64]),
    /// A factor times a threshold that depends on n and d. The factor is drawn log-uniformly.
    TimesThreshold {
        /// Smallest factor.
        lo: f64,
        /// Largest factor.
        hi: f64,
        /// The formula of the threshold, as printed.
        formula: &'static str,
        /// The threshold as a function of n and d.
        threshold: fn(usize, usize) -> f64,
    },
    /// The claim does not depend on it.
    Unused,
}

/// The masses of the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Masses {
    /// 1/n each.
    Equal,
    /// Log-uniform in [1/10, 10] before normalisation. They detect a claim that ignores masses.
    Random,
}

/// The range of [`Masses::Random`] before normalisation.
pub const MASS_RANGE: (f64, f64) = (0.1, 10.0);

/// A joint condition on n, d, beta, dynamics and law.
#[derive(Clone, Copy)]
pub struct Condition {
    /// As printed, except that it may name numbers of the claim.
    pub text: &'static str,
    /// As tested.
    pub holds: fn(&Case) -> bool,
}

/// One point of a claim's range; trials are run at cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Number of tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
    /// Registered dynamics.
    pub dynamics: &'static str,
    /// Law of the tokens.
    pub law: &'static str,
    /// Masses of the tokens.
    pub masses: Masses,
}

impl Case {
    /// Uniform tokens of equal masses.
    pub const fn new(n: usize, d: usize, beta: f64, dynamics: &'static str) -> Self {
        Self { n, d, beta, dynamics, law: "uniform", masses: Masses::Equal }
    }

    /// Uniform tokens of random masses.
    pub const fn with_random_masses(n: usize, d: usize, beta: f64, dynamics: &'static str) -> Self {
        Self { masses: Masses::Random, ..Self::new(n, d, beta, dynamics) }
    }

    /// The same with another law of tokens.
    pub const fn with_law(self, law: &'static str) -> Self {
        Self { law, ..self }
    }

    /// The kind of plain attention (row weights, masks, sign) for which closed forms exist.
    ///
    /// **Errors** a name that is not registered, a dynamics that is not plain attention.
    pub fn variant(&self) -> Result<Variant> {
        let found = dynamics::find(self.dynamics, false)?.variant;
        found.ok_or_else(|| {
            Error::parameter(
                "dynamics",
                self.dynamics,
                "plain attention, for which there are closed forms",
            )
        })
    }

    /// How the rows of weights are normalised. **Errors** as [`Case::variant`].
    pub fn row_weights(&self) -> Result<RowWeights> {
        Ok(self.variant()?.weights)
    }

    /// Upper bound on a row's total weight: 1 for softmax, `e^|beta|` for plain exponentials.
    /// **Errors** as [`Case::variant`].
    pub fn largest_weight(&self) -> Result<f64> {
        Ok(self.row_weights()?.log_consensus_row_sum(self.beta.abs()).exp())
    }

    /// Lipschitz constant of the velocity in the maximum norm over tokens. **Errors** as
    /// [`Case::variant`].
    pub fn lipschitz(&self) -> Result<f64> {
        Ok(2.0 * (1.0 + self.beta.abs()) * self.largest_weight()?)
    }

    /// The dynamics at this case, Q = K = V = I.
    ///
    /// **Errors** a name that is not registered, a beta that the dynamics refuses.
    pub fn build(&self) -> Result<Dynamics> {
        dynamics::build(self.dynamics, false, &Spec::new(self.beta, self.n))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {}, d = {}, beta = {}", self.n, self.d, self.beta)?;
        [self.dynamics, self.law]
            .iter()
            .filter(|name| !name.is_empty())
            .try_for_each(|name| write!(f, ", {name}"))
    }
}

/// The hypotheses: ranges, dynamics, laws, masses, a joint condition, and extra cases that are
/// always tested.
#[derive(Clone, Copy)]
pub struct Domain {
    /// Number of tokens.
    pub n: Sizes,
    /// Ambient dimension.
    pub d: Sizes,
    /// Inverse temperature.
    pub beta: Betas,
    /// The dynamics of the claim; none if the claim is about other objects.
    pub dynamics: &'static [&'static str],
    /// Laws of tokens; none if the trial makes its own points.
    pub laws: &'static [&'static str],
    /// Masses of tokens.
    pub masses: Masses,
    /// What a trial draws, if that is no law of tokens or no registered dynamics. It may name
    /// numbers of the claim (`{NAME}`), so [`super::Claim::hypotheses`] prints it.
    pub draws: &'static str,
    /// A joint condition; cases that violate it are drawn again.
    pub condition: Option<Condition>,
    /// Additional (n, d, beta) that are always tested, chosen where the margin is thin.
    pub corners: &'static [(usize, usize, f64)],
}

impl Domain {
    /// SA and USA with uniform tokens of random masses: the default that most claims restrict.
    pub const ATTENTION: Self = Self {
        n: Sizes::Range(2, 64),
        d: Sizes::Range(2, 64),
        beta: Betas::Log(0.01, 100.0),
        dynamics: &["sa", "usa"],
        laws: &["uniform"],
        masses: Masses::Random,
        draws: "",
        condition: None,
        corners: &[],
    };
    /// No tokens and no dynamics: a claim about maps, rows, matrices or functions. A claim that
    /// uses it says in `draws` what its trials draw.
    pub const FREE: Self = Self {
        beta: Betas::Unused,
        dynamics: &[],
        laws: &[],
        masses: Masses::Equal,
        ..Self::ATTENTION
    };
    /// As [`Domain::ATTENTION`], with equal masses.
    pub const EQUAL_MASSES: Self = Self { masses: Masses::Equal, ..Self::ATTENTION };

    /// The range on which symmetries of the flow are tested: every sign of beta, uniform tokens or
    /// tokens in a cap.
    pub const SYMMETRY: Self = Self {
        n: Sizes::Range(1, 48),
        beta: Betas::Signed(0.01, 100.0),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa", "repulsive-sa", "repulsive-usa"],
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (7, 3, 1.0), (12, 4, 4.0)],
        ..Self::ATTENTION
    };
    /// SA of unit vectors; each trial draws a normalisation.
    pub const LAYERED: Self = Self {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 12),
        beta: Betas::Linear(0.0, 4.0),
        dynamics: &["sa"],
        ..Self::EQUAL_MASSES
    };

    /// The first hypothesis that a case violates, as text; `None` if it meets all.
    pub fn violated_hypothesis(&self, case: &Case) -> Option<String> {
        if !self.n.contains(case.n) {
            return Some(format!("n = {} ({})", case.n, self.n.text("n")));
        }
        if !self.d.contains(case.d) {
            return Some(format!("d = {} ({})", case.d, self.d.text("d")));
        }
        if !self.beta.contains(case) {
            return Some(format!("beta = {} ({})", case.beta, self.beta.text()));
        }
        if case.dynamics != self.dynamics_at(0) && !self.dynamics.contains(&case.dynamics) {
            return Some(format!("dynamics {} ({})", case.dynamics, self.dynamics.join(", ")));
        }
        if case.law != self.law_at(0) && !self.laws.contains(&case.law) {
            return Some(format!("law {} ({})", case.law, self.laws.join(", ")));
        }
        self.condition.filter(|c| !(c.holds)(case)).map(|c| format!("{case} ({})", c.text))
    }

    /// The k-th dynamics; the empty name if the claim has none.
    fn dynamics_at(&self, k: usize) -> &'static str {
        self.dynamics.get(k).copied().unwrap_or_default()
    }

    /// The k-th law; the empty name if the claim has none.
    fn law_at(&self, k: usize) -> &'static str {
        self.laws.get(k).copied().unwrap_or_default()
    }

    /// All combinations of the ends of the ranges, then the additional corners. Dynamics and laws
    /// take turns.
    pub fn ends(&self) -> Vec<Case> {
        let mut points = Vec::new();
        for n in self.n.ends() {
            for d in self.d.ends() {
                points.extend(self.beta.ends(n, d).into_iter().map(|beta| (n, d, beta)));
            }
        }
        points.extend_from_slice(self.corners);
        let mut cases: Vec<Case> = Vec::new();
        for (n, d, beta) in points {
            // The next dynamics and law that meet the joint condition.
            let (dynamics, laws) = (self.dynamics.len().max(1), self.laws.len().max(1));
            let count = dynamics * laws;
            let start = cases.len();
            let options = (0..count).map(|k| {
                let k = start + k;
                let (dynamics, law) =
                    (self.dynamics_at(k % dynamics), self.law_at((k / dynamics) % laws));
                Case { n, d, beta, dynamics, law, masses: self.masses }
            });
            if let Some(case) = options
                .into_iter()
                .find(|c| self.violated_hypothesis(c).is_none() && !cases.contains(c))
            {
                cases.push(case);
            }
        }
        cases
    }

    /// A random case; `None` if a thousand draws violate the joint condition.
    pub fn draw(&self, stream: &mut Stream) -> Option<Case> {
        (0..1000).find_map(|_| {
            let (n, d) = (self.n.draw(stream), self.d.draw(stream));
            let beta = self.beta.draw(n, d, stream);
            let dynamics = self.dynamics_at(stream.index(self.dynamics.len().max(1)));
            let law = self.law_at(stream.index(self.laws.len().max(1)));
            let case = Case { n, d, beta, dynamics, law, masses: self.masses };
            self.violated_hypothesis(&case).is_none().then_some(case)
        })
    }

    /// The ends, followed by random cases, `count` in all.
    pub fn cases(&self, count: usize, stream: &mut Stream) -> Vec<Case> {
        let mut cases = self.ends();
        while cases.len() < count {
            match self.draw(stream) {
                Some(case) => cases.push(case),
                None => break,
            }
        }
        cases
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = vec![self.n.text("n"), self.d.text("d"), self.beta.text()];
        parts.push(self.dynamics.join(", "));
        parts.push(self.draws.to_owned());
        if !self.laws.is_empty() && (self.laws != ["uniform"] || !matches!(self.n, Sizes::Unused)) {
            parts.push(format!("tokens {}", self.laws.join(" or ")));
        }
        let free = self.dynamics.is_empty() && self.laws.is_empty();
        if !free && !matches!(self.n, Sizes::Unused | Sizes::Fixed(1)) {
            parts.push(match self.masses {
                Masses::Equal => "equal masses".into(),
                Masses::Random => {
                    format!("masses in [{}, {}] before normalisation", MASS_RANGE.0, MASS_RANGE.1)
                }
            });
        }
        parts.extend(self.condition.map(|c| c.text.to_owned()));
        parts.retain(|p| !p.is_empty());
        f.write_str(&parts.join("; "))
    }
}

impl Sizes {
    fn contains(self, value: usize) -> bool {
        match self {
            Self::Range(lo, hi) => (lo..=hi).contains(&value),
            Self::List(list) => list.contains(&value),
            Self::Fixed(only) => value == only,
            Self::Unused => true,
        }
    }

    /// Both ends, or every value of a list.
    pub fn ends(self) -> Vec<usize> {
        match self {
            Self::Range(lo, hi) => vec![lo, hi],
            Self::List(list) => list.to_vec(),
            Self::Fixed(only) => vec![only],
            Self::Unused => vec![2],
        }
    }

    fn draw(self, stream: &mut Stream) -> usize {
        match self {
            Self::Range(lo, hi) => {
                let (a, b) = ((lo as f64).ln(), (hi as f64 + 1.0).ln());
                (stream.uniform_in(a, b).exp() as usize).clamp(lo, hi)
            }
            Self::List(list) => list[stream.index(list.len())],
            Self::Fixed(only) => only,
            Self::Unused => 2,
        }
    }

    fn text(self, name: &str) -> String {
        match self {
            Self::Range(lo, hi) => format!("`{lo} <= {name} <= {hi}`"),
            Self::List(list) => format!(
                "`{name} in {{{}}}`",
                list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            ),
            Self::Fixed(only) => format!("`{name} = {only}`"),
            Self::Unused => String::new(),
        }
    }
}

impl Betas {
    fn contains(self, case: &Case) -> bool {
        // The product of factor and threshold is rounded: allow a few ulps.
        let within = |v: f64, lo: f64, hi: f64| {
            v >= lo - 4.0 * f64::EPSILON * lo.abs() && v <= hi + 4.0 * f64::EPSILON * hi.abs()
        };
        match self {
            Self::Log(lo, hi) | Self::Linear(lo, hi) => within(case.beta, lo, hi),
            Self::Signed(_, hi) => within(case.beta, -hi, hi),
            Self::List(list) => list.iter().any(|b| b.to_bits() == case.beta.to_bits()),
            Self::TimesThreshold { lo, hi, threshold, .. } => {
                within(case.beta / threshold(case.n, case.d), lo, hi)
            }
            Self::Unused => true,
        }
    }

    /// Both ends at (n, d), or every value of a list.
    pub fn ends(self, n: usize, d: usize) -> Vec<f64> {
        match self {
            Self::Log(lo, hi) | Self::Linear(lo, hi) => vec![lo, hi],
            Self::Signed(_, hi) => vec![-hi, 0.0, hi],
            Self::List(list) => list.to_vec(),
            Self::TimesThreshold { lo, hi, threshold, .. } => {
                vec![lo * threshold(n, d), hi * threshold(n, d)]
            }
            Self::Unused => vec![0.0],
        }
    }

    /// The value at a position in [0, 1] of the range; `None` for a list and for an unused beta.
    pub fn value_at(self, position: f64, n: usize, d: usize) -> Option<f64> {
        let s = position.clamp(0.0, 1.0);
        match self {
            Self::Log(lo, hi) => Some(log_at(lo, hi, s)),
            Self::Linear(lo, hi) => Some((lo + s * (hi - lo)).clamp(lo, hi)),
            // The absolute value grows from lo to hi on both sides of the middle.
            Self::Signed(lo, hi) => Some(if s > 0.5 {
                log_at(lo, hi, 2.0 * s - 1.0)
            } else {
                -log_at(lo, hi, 1.0 - 2.0 * s)
            }),
            Self::TimesThreshold { lo, hi, threshold, .. } => {
                Some(log_at(lo, hi, s) * threshold(n, d))
            }
            Self::List(_) | Self::Unused => None,
        }
    }

    /// The position of a case's beta in the range.
    pub fn position(self, case: &Case) -> Option<f64> {
        let log = |v: f64, lo: f64, hi: f64| ((v / lo).ln() / (hi / lo).ln()).clamp(0.0, 1.0);
        match self {
            Self::Log(lo, hi) => Some(log(case.beta, lo, hi)),
            Self::Linear(lo, hi) => Some(((case.beta - lo) / (hi - lo)).clamp(0.0, 1.0)),
            Self::Signed(lo, hi) => {
                Some(0.5 + 0.5 * log(case.beta.abs().max(lo), lo, hi).copysign(case.beta))
            }
            Self::TimesThreshold { lo, hi, threshold, .. } => {
                Some(log(case.beta / threshold(case.n, case.d), lo, hi))
            }
            Self::List(_) | Self::Unused => None,
        }
    }

    fn draw(self, n: usize, d: usize, stream: &mut Stream) -> f64 {
        match self {
            Self::List(list) => list[stream.index(list.len())],
            _ => self.value_at(stream.uniform(), n, d).unwrap_or(0.0),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Log(lo, hi) | Self::Linear(lo, hi) => format!("`{lo} <= beta <= {hi}`"),
            Self::Signed(_, hi) => format!("`|beta| <= {hi}`"),
            Self::List(list) if list.len() == 1 => format!("`beta = {}`", list[0]),
            Self::List(list) => format!(
                "`beta in {{{}}}`",
                list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            ),
            Self::TimesThreshold { lo, hi, formula, .. } => {
                format!("`{lo} <= beta / ({formula}) <= {hi}`")
            }
            Self::Unused => String::new(),
        }
    }
}

/// The point at position s in [0, 1] of an interval on the logarithmic scale.
fn log_at(lo: f64, hi: f64, s: f64) -> f64 {
    (lo.ln() + s * (hi / lo).ln()).exp().clamp(lo, hi)
}

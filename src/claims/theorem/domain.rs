//! The hypotheses of a claim. One object prints them and draws from them, so the statement printed is the statement tested.

use crate::attention::{Dynamics, RowWeights, Spec, Variant, dynamics};
use crate::error::{Error, Result};
use crate::num::stream::Stream;
use std::fmt;

/// Where n or d lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sizes {
    /// Integers of an interval, both ends included; drawn log-uniformly.
    Range(usize, usize),
    /// One of these.
    List(&'static [usize]),
    /// One value.
    Fixed(usize),
    /// The claim does not depend on it.
    Unused,
}

/// Where beta lies.
#[derive(Clone, Copy, Debug)]
pub enum Betas {
    /// An interval of positive numbers, drawn log-uniformly.
    Log(f64, f64),
    /// An interval, drawn uniformly.
    Linear(f64, f64),
    /// Both signs and 0: the sign is drawn, the size log-uniform in `[lo, hi]`.
    Signed(f64, f64),
    /// One of these.
    List(&'static [f64]),
    /// A factor times a threshold that depends on n and d; the factor is drawn log-uniformly.
    Per {
        /// Smallest factor.
        lo: f64,
        /// Largest factor.
        hi: f64,
        /// The threshold's formula.
        name: &'static str,
        /// The threshold.
        unit: fn(usize, usize) -> f64,
    },
    /// The claim does not depend on it.
    Unused,
}

/// The masses of the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masses {
    /// 1/n each.
    Equal,
    /// Log-uniform in [1/10, 10] before normalisation: a claim that ignores masses is noticed.
    Random,
}

/// The range of [`Masses::Random`] before normalisation.
pub const MASS_RANGE: (f64, f64) = (0.1, 10.0);

/// A joint condition on n, d, beta and the rest of a case.
#[derive(Clone, Copy)]
pub struct Also {
    /// As printed.
    pub text: &'static str,
    /// As tested.
    pub holds: fn(&Case) -> bool,
}

/// One point of a claim's range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
    /// Registered dynamics.
    pub dynamics: &'static str,
    /// Law of the tokens.
    pub law: &'static str,
    /// Their masses.
    pub masses: Masses,
}

impl Case {
    /// Uniform tokens of equal masses.
    pub const fn new(n: usize, d: usize, beta: f64, dynamics: &'static str) -> Self {
        Self { n, d, beta, dynamics, law: "uniform", masses: Masses::Equal }
    }

    /// The same with random masses.
    pub const fn weighted(n: usize, d: usize, beta: f64, dynamics: &'static str) -> Self {
        Self { masses: Masses::Random, ..Self::new(n, d, beta, dynamics) }
    }

    /// The same with another law of tokens.
    pub const fn with_law(self, law: &'static str) -> Self {
        Self { law, ..self }
    }

    /// What closed forms know of the dynamics.
    ///
    /// **Errors** a name that is not registered, a dynamics that is not plain attention.
    pub fn variant(&self) -> Result<Variant> {
        let found = dynamics::find(self.dynamics, false)?.variant;
        found.ok_or_else(|| Error::parameter("dynamics", self.dynamics, "plain attention, for which there are closed forms"))
    }

    /// How its rows of weights are normalised. **Errors** as [`Case::variant`].
    pub fn weights(&self) -> Result<RowWeights> {
        Ok(self.variant()?.weights)
    }

    /// Weights are at most this: 1 for softmax, `e^|beta|` for plain exponentials. **Errors** as [`Case::variant`].
    pub fn largest_weight(&self) -> Result<f64> {
        Ok(self.weights()?.log_total(self.beta.abs()).exp())
    }

    /// Lipschitz constant of the velocity, displacements measured by the largest of all tokens. **Errors** as [`Case::variant`].
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
        write!(f, "n = {}, d = {}, beta = {}, {}, {}", self.n, self.d, self.beta, self.dynamics, self.law)
    }
}

/// The hypotheses: ranges, laws, masses, joint conditions, and the corners that are always among the cases.
#[derive(Clone, Copy)]
pub struct Domain {
    /// Tokens.
    pub n: Sizes,
    /// Ambient dimension.
    pub d: Sizes,
    /// Inverse temperature.
    pub beta: Betas,
    /// Registered dynamics the claim speaks of.
    pub dynamics: &'static [&'static str],
    /// Laws of tokens.
    pub laws: &'static [&'static str],
    /// Masses of tokens.
    pub masses: Masses,
    /// Joint conditions; draws that miss them are drawn again.
    pub also: Option<Also>,
    /// More (n, d, beta) that are always drawn: where the margin is thin.
    pub corners: &'static [(usize, usize, f64)],
}

impl Domain {
    /// SA and USA with uniform tokens of random masses: what most claims speak of, to be narrowed.
    pub const ATTENTION: Self = Self {
        n: Sizes::Range(2, 64),
        d: Sizes::Range(2, 64),
        beta: Betas::Log(0.01, 100.0),
        dynamics: &["sa", "usa"],
        laws: &["uniform"],
        masses: Masses::Random,
        also: None,
        corners: &[],
    };
    /// The same with equal masses.
    pub const EQUAL_MASSES: Self = Self { masses: Masses::Equal, ..Self::ATTENTION };

    /// Normal rows of n tokens, no space.
    pub const MAPS: Self = Self {
        n: Sizes::Range(2, 6),
        d: Sizes::Range(2, 5),
        beta: Betas::Unused,
        dynamics: &["maps of rows"],
        laws: &["normal"],
        ..Self::EQUAL_MASSES
    };
    /// Blocks with normal weights.
    pub const BLOCKS: Self =
        Self { n: Sizes::Range(2, 12), d: Sizes::List(&[4, 8]), beta: Betas::Unused, dynamics: &["sa"], ..Self::EQUAL_MASSES };
    /// Tokens of R^d under one head with V and scores `<Q x_i, x_j>`; the laws of points are the claims' own.
    pub const FLAT: Self =
        Self { n: Sizes::Range(2, 12), d: Sizes::Range(1, 4), beta: Betas::Log(0.1, 2.0), dynamics: &["sa"], ..Self::ATTENTION };
    /// Where the symmetries of the flow are tested: every sign of beta, tokens anywhere or in a cap.
    pub const SYMMETRY: Self = Self {
        n: Sizes::Range(1, 48),
        beta: Betas::Signed(0.01, 100.0),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa", "repulsive-sa", "repulsive-usa"],
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (7, 3, 1.0), (12, 4, 4.0)],
        ..Self::ATTENTION
    };
    /// Tokens of the sphere whose softmax is taken.
    pub const SCORED: Self = Self {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(1e-4, 100.0),
        dynamics: &["softmax weights"],
        ..Self::EQUAL_MASSES
    };
    /// Layers with fresh weights.
    pub const LAYERS: Self = Self {
        n: Sizes::Fixed(2),
        d: Sizes::List(&[2, 3, 8, 16]),
        beta: Betas::Linear(0.0, 2.0),
        dynamics: &["random layers"],
        corners: &[(2, 8, 1.0), (2, 8, 1.5)],
        ..Self::EQUAL_MASSES
    };
    /// Tokens of R^d under hardmax layers.
    pub const HARDMAX: Self =
        Self { n: Sizes::Range(3, 20), d: Sizes::Range(2, 4), beta: Betas::Unused, dynamics: &["hardmax"], ..Self::EQUAL_MASSES };
    /// SA of unit vectors; the scheme is drawn.
    pub const LAYERED: Self =
        Self { n: Sizes::Range(2, 12), d: Sizes::Range(2, 12), beta: Betas::Linear(0.0, 4.0), dynamics: &["sa"], ..Self::EQUAL_MASSES };

    /// Why a case lies outside, or nothing.
    pub fn misses(&self, case: &Case) -> Option<String> {
        if !self.n.contains(case.n) {
            return Some(format!("n = {} ({})", case.n, self.n.text("n")));
        }
        if !self.d.contains(case.d) {
            return Some(format!("d = {} ({})", case.d, self.d.text("d")));
        }
        if !self.beta.contains(case) {
            return Some(format!("beta = {} ({})", case.beta, self.beta.text()));
        }
        if !self.dynamics.contains(&case.dynamics) {
            return Some(format!("dynamics {} ({})", case.dynamics, self.dynamics.join(", ")));
        }
        if !self.laws.contains(&case.law) {
            return Some(format!("law {} ({})", case.law, self.laws.join(", ")));
        }
        self.also.filter(|also| !(also.holds)(case)).map(|also| format!("{case} ({})", also.text))
    }

    /// All combinations of the ends of the ranges, then the named corners, each with the dynamics and laws in turn.
    pub fn ends(&self) -> Vec<Case> {
        let mut places = Vec::new();
        for n in self.n.ends() {
            for d in self.d.ends() {
                places.extend(self.beta.ends(n, d).into_iter().map(|beta| (n, d, beta)));
            }
        }
        places.extend_from_slice(self.corners);
        let mut cases: Vec<Case> = Vec::new();
        for (n, d, beta) in places {
            // The first dynamics and law in turn that meet the joint conditions.
            let count = self.dynamics.len() * self.laws.len();
            let start = cases.len();
            let options = (0..count).map(|k| {
                let k = start + k;
                let (dynamics, law) = (self.dynamics[k % self.dynamics.len()], self.laws[(k / self.dynamics.len()) % self.laws.len()]);
                Case { n, d, beta, dynamics, law, masses: self.masses }
            });
            if let Some(case) = options.into_iter().find(|c| self.misses(c).is_none() && !cases.contains(c)) {
                cases.push(case);
            }
        }
        cases
    }

    /// A case from the inside; `None` when a thousand draws miss the joint conditions.
    pub fn draw(&self, stream: &mut Stream) -> Option<Case> {
        (0..1000).find_map(|_| {
            let (n, d) = (self.n.draw(stream), self.d.draw(stream));
            let beta = self.beta.draw(n, d, stream);
            let dynamics = self.dynamics[stream.index(self.dynamics.len())];
            let law = self.laws[stream.index(self.laws.len())];
            let case = Case { n, d, beta, dynamics, law, masses: self.masses };
            self.misses(&case).is_none().then_some(case)
        })
    }

    /// The ends, then draws from the inside up to `count` cases.
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
        if self.laws != ["uniform"] || !matches!(self.n, Sizes::Unused) {
            parts.push(format!("tokens {}", self.laws.join(" or ")));
        }
        if !matches!(self.n, Sizes::Unused | Sizes::Fixed(1)) {
            parts.push(match self.masses {
                Masses::Equal => "equal masses".into(),
                Masses::Random => format!("masses in [{}, {}] before normalisation", MASS_RANGE.0, MASS_RANGE.1),
            });
        }
        parts.extend(self.also.map(|also| also.text.to_owned()));
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
            Self::Range(lo, hi) => format!("{lo} <= {name} <= {hi}"),
            Self::List(list) => format!("{name} in {{{}}}", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            Self::Fixed(only) => format!("{name} = {only}"),
            Self::Unused => String::new(),
        }
    }
}

impl Betas {
    fn contains(self, case: &Case) -> bool {
        // A factor times a threshold is rounded once.
        let within = |v: f64, lo: f64, hi: f64| v >= lo - 4.0 * f64::EPSILON * lo.abs() && v <= hi + 4.0 * f64::EPSILON * hi.abs();
        match self {
            Self::Log(lo, hi) | Self::Linear(lo, hi) => within(case.beta, lo, hi),
            Self::Signed(_, hi) => within(case.beta, -hi, hi),
            Self::List(list) => list.iter().any(|b| b.to_bits() == case.beta.to_bits()),
            Self::Per { lo, hi, unit, .. } => within(case.beta / unit(case.n, case.d), lo, hi),
            Self::Unused => true,
        }
    }

    /// Both ends at (n, d), or every value of a list.
    pub fn ends(self, n: usize, d: usize) -> Vec<f64> {
        match self {
            Self::Log(lo, hi) | Self::Linear(lo, hi) => vec![lo, hi],
            Self::Signed(_, hi) => vec![-hi, 0.0, hi],
            Self::List(list) => list.to_vec(),
            Self::Per { lo, hi, unit, .. } => vec![lo * unit(n, d), hi * unit(n, d)],
            Self::Unused => vec![0.0],
        }
    }

    /// The value at a position in [0, 1] of the range; `None` where there is no range to move in.
    pub fn at(self, position: f64, n: usize, d: usize) -> Option<f64> {
        let s = position.clamp(0.0, 1.0);
        match self {
            Self::Log(lo, hi) => Some(log_at(lo, hi, s)),
            Self::Linear(lo, hi) => Some((lo + s * (hi - lo)).clamp(lo, hi)),
            // The middle is 0; from there the size grows from lo to hi on both sides.
            Self::Signed(lo, hi) => Some(if s > 0.5 { log_at(lo, hi, 2.0 * s - 1.0) } else { -log_at(lo, hi, 1.0 - 2.0 * s) }),
            Self::Per { lo, hi, unit, .. } => Some(log_at(lo, hi, s) * unit(n, d)),
            Self::List(_) | Self::Unused => None,
        }
    }

    /// The position of a case's beta in the range.
    pub fn position(self, case: &Case) -> Option<f64> {
        let log = |v: f64, lo: f64, hi: f64| ((v / lo).ln() / (hi / lo).ln()).clamp(0.0, 1.0);
        match self {
            Self::Log(lo, hi) => Some(log(case.beta, lo, hi)),
            Self::Linear(lo, hi) => Some(((case.beta - lo) / (hi - lo)).clamp(0.0, 1.0)),
            Self::Signed(lo, hi) => Some(0.5 + 0.5 * log(case.beta.abs().max(lo), lo, hi).copysign(case.beta)),
            Self::Per { lo, hi, unit, .. } => Some(log(case.beta / unit(case.n, case.d), lo, hi)),
            Self::List(_) | Self::Unused => None,
        }
    }

    fn draw(self, n: usize, d: usize, stream: &mut Stream) -> f64 {
        match self {
            Self::List(list) => list[stream.index(list.len())],
            _ => self.at(stream.uniform(), n, d).unwrap_or(0.0),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Log(lo, hi) | Self::Linear(lo, hi) => format!("{lo} <= beta <= {hi}"),
            Self::Signed(_, hi) => format!("|beta| <= {hi}"),
            Self::List(list) if list.len() == 1 => format!("beta = {}", list[0]),
            Self::List(list) => format!("beta in {{{}}}", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
            Self::Per { lo, hi, name, .. } => format!("{lo} <= beta / ({name}) <= {hi}"),
            Self::Unused => String::new(),
        }
    }
}

/// The point at s in [0, 1] of the logarithmic interval.
fn log_at(lo: f64, hi: f64, s: f64) -> f64 {
    (lo.ln() + s * (hi / lo).ln()).exp().clamp(lo, hi)
}

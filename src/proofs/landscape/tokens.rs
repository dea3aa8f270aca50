//! The tokens, and the inverse temperatures or the interaction, of a proof.

use super::cell::{Arrangement, MAX_TOKENS};
use super::certificate;
use super::family::Family;
use super::kernel::{self, Law};
use super::profile::Profile;
use super::strata::{Members, VARYING, arrange};
use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::num::interval::check_fp_environment;
use std::sync::Arc;

/// The smallest and the largest beta.
pub const BETA_RANGE: (f64, f64) = (-10.0, kernel::MAX_BETA);

/// What an interval of values is given for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Parameter {
    /// The inverse temperature of the exponential.
    Beta,
    /// The parameter of an interaction with this name.
    Interaction(String),
    /// The mass of one token.
    Mass,
}

impl Parameter {
    /// Its name in tables.
    pub fn name(&self) -> &str {
        match self {
            Self::Beta => "beta",
            Self::Interaction(name) => name,
            Self::Mass => "mass",
        }
    }
}

/// The tokens and the inverse temperatures, or the interaction, of a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens {
    pub(super) masses: Vec<u32>,
    pub(super) upper: Vec<u32>,
    pub(super) beta: (f64, f64),
    pub(super) law: Law,
}

impl Tokens {
    /// Tokens with these masses, for all beta in an interval. Masses are decimal numbers; their
    /// ratios count.
    ///
    /// **Errors** fewer than 2 tokens or more than [`MAX_TOKENS`], masses that are not positive or
    /// have more than six digits, beta outside [`BETA_RANGE`].
    ///
    /// ```
    /// use metastable::proofs::landscape::Tokens;
    /// let tokens = Tokens::new(&[0.5, 0.25, 0.25], (1.0, 1.0)).unwrap();
    /// assert_eq!(tokens.masses(), [2, 1, 1]);
    /// ```
    pub fn new(masses: &[f64], beta: (f64, f64)) -> Result<Self> {
        let n = masses.len();
        if !(2..=MAX_TOKENS).contains(&n) {
            let expected = format!("from 2 to {MAX_TOKENS} tokens");
            return Err(Error::parameter("n", n, expected));
        }
        for b in [beta.0, beta.1] {
            crate::error::in_range("beta", b, BETA_RANGE.0, BETA_RANGE.1)?;
        }
        if beta.0 > beta.1 {
            let found = format!("{}..{}", beta.0, beta.1);
            return Err(Error::parameter("beta", found, "an interval a..b with a <= b"));
        }
        let masses = whole_masses(masses)?;
        Ok(Self { upper: masses.clone(), masses, beta, law: Law::Exponential })
    }

    /// Tokens with masses anywhere between these and larger ones, for [`benign`](super::benign).
    ///
    /// **Errors** as [`Tokens::new`]; another number of masses, a mass above its upper bound, equal
    /// masses with different upper bounds.
    ///
    /// ```
    /// use metastable::proofs::landscape::{Tokens, benign};
    /// let tokens = Tokens::new(&[1.0, 1.0, 1.0], (1.0, 1.0)).unwrap();
    /// let tokens = tokens.with_masses_up_to(&[1.0, 1.0, 1.0], &[1.1, 1.1, 1.1]).unwrap();
    /// assert!(benign(&tokens, false, &|_, _| true).unwrap().proved);
    /// ```
    pub fn with_masses_up_to(self, lower: &[f64], upper: &[f64]) -> Result<Self> {
        let n = self.n();
        if lower.len() != n || upper.len() != n {
            return Err(Error::parameter("masses", upper.len(), format!("{n} upper bounds")));
        }
        let all = whole_masses(&[lower, upper].concat())?;
        let (masses, most) = (all[..n].to_vec(), all[n..].to_vec());
        for x in 0..n {
            if masses[x] > most[x] {
                let found = format!("{}..{}", lower[x], upper[x]);
                return Err(Error::parameter("masses", found, "intervals a..b with a <= b"));
            }
            let differs = |y: &usize| masses[*y] == masses[x] && most[*y] != most[x];
            if let Some(y) = (0..x).find(differs) {
                let interval = |k: usize| format!("{}..{}", lower[k], upper[k]);
                let found = format!("{} beside {}", interval(y), interval(x));
                let expected = "equal upper bounds of masses with equal lower bounds, such as \
                                1..2,1..2, or different lower bounds";
                return Err(Error::parameter("masses", found, expected));
            }
        }
        Ok(Self { masses, upper: most, ..self })
    }

    /// The same tokens under another interaction, in which beta does not occur or has a value.
    ///
    /// **Cost** 0.1 s for the bounds of the interaction. **Errors** a kink, or no bounds of the
    /// derivatives, such as for an interaction that is not differentiable where tokens coincide.
    ///
    /// ```
    /// use metastable::attention::interaction::Interaction;
    /// use metastable::proofs::landscape::{Tokens, benign};
    /// let cubic = Interaction::parse("s^3", &[]).unwrap();
    /// let tokens = Tokens::new(&[1.0; 3], (0.0, 0.0)).unwrap().with_interaction(&cubic).unwrap();
    /// let found = benign(&tokens, false, &|_, _| true).unwrap();
    /// // Two opposite clusters: s^3 does not tell x from -x.
    /// assert_eq!(found.counterexample.unwrap().1.clusters.len(), 2);
    /// ```
    pub fn with_interaction(self, interaction: &Interaction) -> Result<Self> {
        check_fp_environment()?;
        let law = Law::Profile(Arc::new(Profile::new(interaction)?));
        Ok(Self { law, beta: (0.0, 0.0), ..self })
    }

    /// The same tokens under an interaction with an interval of values of one parameter, written
    /// `name=A..B` in its text, for [`branches`](super::branches).
    ///
    /// **Cost** 0.1 s. **Errors** as [`Tokens::with_interaction`]; a text without such an interval;
    /// a phi that is not proved to be positive on [-1, 1] for all values.
    ///
    /// ```
    /// use metastable::proofs::landscape::{Parameter, Tokens};
    /// let tokens = Tokens::new(&[1.0; 3], (0.0, 0.0)).unwrap();
    /// let tokens = tokens.with_interactions("sigmoid:k=1..4").unwrap();
    /// assert_eq!(tokens.parameter(), Parameter::Interaction("k".into()));
    /// ```
    pub fn with_interactions(self, text: &str) -> Result<Self> {
        check_fp_environment()?;
        let family = Family::parse(text)?;
        let beta = family.parameter().map_or((0.0, 0.0), |(_, range)| range);
        Ok(Self { law: Law::Family(Arc::new(family)), beta, ..self })
    }

    /// Tokens of which one has a mass anywhere between two bounds, for
    /// [`branches`](super::branches): its mass in the list is the lower bound.
    ///
    /// **Errors** no such token; other masses that are not whole numbers; an interval of beta;
    /// bounds that are not positive or not in order; as [`Tokens::new`] and for an interaction
    /// [`Tokens::with_interactions`].
    ///
    /// ```
    /// use metastable::proofs::landscape::{Parameter, Tokens};
    /// let tokens = Tokens::new(&[1.0; 3], (2.0, 2.0)).unwrap();
    /// let tokens = tokens.with_mass_up_to(&[1.0, 1.0, 0.5], 2, 1.5, None).unwrap();
    /// assert_eq!(tokens.parameter(), Parameter::Mass);
    /// ```
    pub fn with_mass_up_to(
        self,
        masses: &[f64],
        token: usize,
        upper: f64,
        interaction: Option<Interaction>,
    ) -> Result<Self> {
        check_fp_environment()?;
        let refuse =
            |found: String, expected: &str| Err(Error::parameter("masses", found, expected));
        let Some(lower) = masses.get(token).filter(|_| masses.len() == self.n()) else {
            return refuse(format!("token {token} of {}", masses.len()), "a token of the list");
        };
        if !(*lower > 0.0 && *lower < upper && upper <= MOST_MASS) {
            let expected = "an interval A..B with 0 < A < B <= 1e6";
            return refuse(format!("{lower}..{upper}"), expected);
        }
        if !self.is_point() {
            let found = format!("{}..{}", self.beta.0, self.beta.1);
            return Err(Error::parameter(
                "beta",
                found,
                "one number, where a mass has an interval",
            ));
        }
        let mut whole = Vec::new();
        for (x, m) in masses.iter().enumerate() {
            if x == token {
                whole.push(VARYING);
            } else if *m >= 1.0 && *m <= MOST_MASS && m.fract() <= 0.0 {
                whole.push(*m as u32);
            } else {
                return refuse(m.to_string(), "whole numbers where one mass is an interval A..B");
            }
        }
        let law = match interaction {
            Some(phi) => Law::Family(Arc::new(Family::constant(phi)?)),
            None => Law::Fixed(self.beta.0),
        };
        Ok(Self { upper: whole.clone(), masses: whole, beta: (*lower, upper), law })
    }

    /// What an interval of values is given for.
    pub fn parameter(&self) -> Parameter {
        match &self.law {
            _ if self.masses.contains(&VARYING) => Parameter::Mass,
            Law::Family(family) => {
                let name = family.parameter().map_or("", |(name, _)| name);
                Parameter::Interaction(name.to_owned())
            }
            _ => Parameter::Beta,
        }
    }

    /// **Errors** a parameter other than beta.
    pub(super) fn refuse_parameters(&self) -> Result<()> {
        match self.parameter() {
            Parameter::Beta => Ok(()),
            other => {
                let found = format!("an interval of {}", other.name());
                Err(Error::parameter("tokens", found, "one value, or an interval of beta"))
            }
        }
    }

    /// The upper bounds of the masses, which equal them unless masses lie in intervals.
    pub fn upper_masses(&self) -> &[u32] {
        &self.upper
    }

    /// The interval of beta, or of the parameter in its place; 0 for an interaction without one.
    pub fn beta(&self) -> (f64, f64) {
        self.beta
    }

    /// Whether phi is proved to be positive: always for the exponential. Then no gap exceeds half a
    /// turn.
    pub fn is_positive(&self) -> bool {
        self.law.longest_gap() <= 0.5
    }

    /// The largest gap of Lemma 1, in turns: only one cluster has a larger gap in equilibrium.
    pub fn longest_gap(&self) -> f64 {
        self.law.longest_gap()
    }

    /// The formula of an interaction other than the exponential, and the parameters in it.
    pub fn interaction(&self) -> Option<(String, Vec<(&str, f64)>)> {
        self.law.profile().map(Profile::formula)
    }

    /// The fewest clusters of a stratum that is searched.
    pub(super) fn fewest(&self) -> usize {
        if self.is_positive() { 3 } else { 2 }
    }

    /// The clusters with the bounds of their masses, symmetries and interaction.
    pub(super) fn arrange(&self, clusters: &[Members]) -> Arrangement {
        let plain = arrange(clusters);
        let largest = |m: &u32| {
            let place = self.masses.iter().position(|own| own == m);
            f64::from(place.map_or(*m, |x| self.upper[x]))
        };
        let mut upper = plain.upper;
        for (bound, members) in upper.iter_mut().zip(clusters) {
            *bound = members.iter().map(largest).sum();
        }
        let typical = 0.5 * (self.beta.0 + self.beta.1);
        let varying = plain.varying.map(|(x, _)| (x, typical));
        Arrangement { law: self.law.clone(), upper, varying, ..plain }
    }

    pub(super) fn header(&self, kind: &str) -> String {
        certificate::header(kind, (&self.masses, &self.upper), self.beta, &self.law)
    }

    /// Whether a certificate, whole or unfinished, is about these tokens: about all their critical
    /// points, or about a benign landscape or a local maximum.
    ///
    /// ```
    /// use metastable::proofs::landscape::{Tokens, benign};
    /// let tokens = Tokens::new(&[1.0; 3], (-0.7, 1.0)).unwrap();
    /// let text = benign(&tokens, true, &|_, _| true).unwrap().certificate.unwrap();
    /// assert!(text.contains("kind maximum") && tokens.is_given_in(&text, true));
    /// assert!(!tokens.is_given_in(&text, false));
    /// let others = Tokens::new(&[1.0; 3], (0.5, 1.0)).unwrap();
    /// assert!(!others.is_given_in(&text, true));
    /// ```
    pub fn is_given_in(&self, certificate: &str, benign: bool) -> bool {
        if !benign {
            return certificate.starts_with(&self.header("complete"));
        }
        let masses = (&self.masses[..], &self.masses[..]);
        let maximum = certificate::header("maximum", masses, self.beta, &self.law);
        // A maximum has one beta of the interval.
        let is_maximum = match maximum.split_once("\nbeta ") {
            None => certificate.starts_with(&maximum),
            Some((before, _)) => {
                let beta = certificate.strip_prefix(before).and_then(|rest| {
                    rest.strip_prefix("\nbeta ")?.split_whitespace().next()?.parse::<f64>().ok()
                });
                beta.is_some_and(|beta| self.beta.0 <= beta && beta <= self.beta.1)
            }
        };
        is_maximum || certificate.starts_with(&self.header("benign"))
    }

    /// The beta of the estimates: interactions cost about as much as the exponential of beta = 1.
    pub(super) fn typical_beta(&self) -> (f64, f64) {
        match self.law {
            Law::Exponential => self.beta,
            Law::Fixed(beta) => (beta, beta),
            Law::Profile(_) | Law::Family(_) => (1.0, 1.0),
        }
    }

    /// The masses as whole numbers without a common factor.
    pub fn masses(&self) -> &[u32] {
        &self.masses
    }

    /// Number of tokens.
    pub fn n(&self) -> usize {
        self.masses.len()
    }

    /// The clusters of tokens at given angles, in cyclic order, and the gaps between them in turns.
    /// Tokens closer than 1e-6 are one cluster.
    pub fn clusters_at(&self, angles: &[f64]) -> (Vec<Vec<u32>>, Vec<f64>) {
        let turns = |a: &f64| (a / std::f64::consts::TAU).rem_euclid(1.0);
        let mut order: Vec<(f64, u32)> =
            angles.iter().map(turns).zip(self.masses.iter().copied()).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut clusters, mut at): (Vec<Vec<u32>>, Vec<f64>) = Default::default();
        for (t, mass) in order {
            match (clusters.last_mut(), at.last()) {
                (Some(own), Some(last)) if t - last < 1e-6 => own.push(mass),
                _ => {
                    clusters.push(vec![mass]);
                    at.push(t);
                }
            }
        }
        // The first and the last cluster may be one.
        if at.len() > 1 && at[0] + 1.0 - at[at.len() - 1] < 1e-6 {
            let last = clusters.pop().unwrap_or_default();
            at.pop();
            clusters[0].extend(last);
        }
        clusters.iter_mut().for_each(|c| c.sort_by(|a, b| b.cmp(a)));
        let next = |x: usize| if x + 1 < at.len() { at[x + 1] } else { at[0] + 1.0 };
        let gaps = (0..at.len()).map(|x| next(x) - at[x]).collect();
        (clusters, gaps)
    }

    pub(super) fn is_point(&self) -> bool {
        self.beta.0.to_bits() == self.beta.1.to_bits()
    }
}

/// The largest mass as a whole number.
const MOST_MASS: f64 = 1e6;

/// The masses as whole numbers without a common factor.
fn whole_masses(masses: &[f64]) -> Result<Vec<u32>> {
    let refuse = |m: f64, expected: &str| Err(Error::parameter("masses", m, expected));
    let mut whole = Vec::new();
    for m in masses {
        if m.is_nan() || *m <= 0.0 || m.is_infinite() {
            return refuse(*m, "positive masses: a token of mass 0 moves nothing");
        }
        // The shortest decimal that is this number; scaled so that six decimals count.
        let scaled = m * 1e6;
        let rounded = scaled.round();
        if rounded > 1e12 || (scaled - rounded).abs() > 1e-9 * rounded {
            return refuse(*m, "decimal masses with at most six decimals, or their ratios");
        }
        whole.push(rounded as u64);
    }
    let gcd = whole.iter().copied().fold(0, gcd);
    let reduced: Vec<u64> = whole.iter().map(|m| m / gcd).collect();
    if let Some(m) = reduced.iter().find(|m| **m > 1_000_000) {
        return refuse(*m as f64, "ratios of whole numbers up to 1e6");
    }
    Ok(reduced.into_iter().map(|m| m as u32).collect())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

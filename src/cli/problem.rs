//! The tokens, masses, interaction and inverse temperatures of a proof about all critical points.

use super::masses::Masses;
use crate::error::{Error, Result};
use crate::operation::{Span, any, at_least, within};
use crate::parameters;

parameters! {
    /// What `landscape` and `continue` are about.
    pub struct Problem {
        /// Number of tokens. Default: the number of masses.
        n: Option<usize>, at_least(1.0).unless(&["masses"]);
        /// Inverse temperature B, or all in an interval A..B. The kernel is e^(beta cos), also for
        /// negative beta.
        beta: Option<Span>, within(-10.0, 100.0).unless(&["interaction"]);
        /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta,
        /// with parameters of its own after a semicolon: 's^p + a; p=3, a=1'. The energy is (1/2)
        /// sum_ij m_i m_j W(<x_i, x_j>) with W' = phi. For `continue` a parameter may have an
        /// interval: sigmoid:k=1..4.
        interaction: Option<String>, any().form("PHI");
        /// Masses of the tokens: a file with one number per token, a list such as 1,1,2, or a law
        /// (`list masses`). Only their ratios matter. For --benign and `continue` an entry of a
        /// list may be an interval: 1..1.2,1,1. Default: equal masses.
        masses: Option<String>, any().form("FILE|LIST|LAW");
    }
}

impl Problem {
    /// Lower and upper bounds of the masses.
    ///
    /// **Errors** another number of tokens; malformed masses.
    pub fn bounds(&self) -> Result<(Vec<f64>, Vec<f64>)> {
        match &self.masses {
            Some(text) => Masses::read(text)?.bounds(text, self.n),
            None => {
                // A huge number is refused by its value, before memory is needed.
                let all = vec![1.0; self.n.unwrap_or_default().min(1000)];
                Ok((all.clone(), all))
            }
        }
    }

    /// The ends of the inverse temperatures, if any are given.
    pub fn beta(&self) -> Option<(f64, f64)> {
        self.beta.as_ref().map(Span::ends)
    }

    /// The inverse temperatures as they were written.
    pub fn beta_text(&self) -> &str {
        self.beta.as_ref().map_or("", |span| &span.text)
    }

    /// An error of a proof about this problem: the number of tokens is the given one.
    pub fn refused(&self, error: Error) -> Error {
        match error {
            // Of a huge number only the first tokens are made; an estimate of the time is kept.
            Error::Parameter { name, found, expected }
                if name == "n" && self.masses.is_none() && !found.contains("would take") =>
            {
                Error::parameter("n", self.n.unwrap_or_default(), expected)
            }
            other => other,
        }
    }
}

/// Masses as words: `equal masses`, or `masses 1, 1, 2`.
pub fn words_of_masses(masses: &[String]) -> String {
    match masses.iter().all(|m| m == "1") {
        true => "equal masses".to_owned(),
        false => format!("masses {}", masses.join(", ")),
    }
}

/// Clusters as their numbers of tokens, or as masses.
pub fn sizes(clusters: &[Vec<u32>], mass: &dyn Fn(&u32) -> String) -> String {
    let one = |c: &Vec<u32>| match c.iter().all(|m| *m == 1) {
        true => c.len().to_string(),
        false => format!("({})", c.iter().map(mass).collect::<Vec<_>>().join(" ")),
    };
    clusters.iter().map(one).collect::<Vec<_>>().join("+")
}

//! `certify start`: a start, and every start near it, converges to one point.

use super::shared::{UNPROVED, refuse_all_digits, variant, write};
use super::trials::Trials;
use crate::cli::digits::resolved;
use crate::cli::input::TokenArguments;
use crate::cli::out_file;
use crate::cli::output::{Output, rounded};
use crate::cli::proof::Standing;
use crate::error::Result;
use crate::lab::replace::Problem;
use crate::proofs::trajectory::{
    ConvergenceProof, Neighbourhood, ProofFailure, prove as prove_convergence,
};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `certify start`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable certify start --init uniform --n 16 --d 3 --seed 7 --beta 4 --radius 1e-6 \\
      --out proof.txt
  metastable certify start --init uniform --n 8 --d 2 --beta 2 --starts 100
  metastable certify start --criteria --tokens tokens.csv --beta 4

Proved: every start whose tokens lie within the radius of the given ones converges to one point.
Exit code 3 if this could not be proved.")]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// Dynamics: sa, usa, causal-sa or causal-usa.
    #[arg(long, default_value = "sa")]
    dynamics: String,
    /// Largest distance of each token from the given one, as a chord (default 0).
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    radius: Option<f64>,
    /// Test only the criteria of published theorems, such as an open hemisphere, without a proof of
    /// the path.
    #[arg(long, conflicts_with_all = ["radius", "starts", "exact", "out"])]
    criteria: bool,
    /// Count how many of N starts can be proved, with seeds from --seed on, and what ends the other
    /// proofs; needs --init.
    #[arg(long, value_name = "N", conflicts_with = "out")]
    starts: Option<usize>,
    /// Do not run the verifier; a start is then called found by the search, not proved.
    #[arg(long, conflicts_with = "criteria")]
    unchecked: bool,
    /// Check every proof by the verifier: this is the default.
    #[arg(long, hide = true, requires = "starts", conflicts_with = "unchecked")]
    exact: bool,
    /// File for the certificate.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if !self.criteria {
            refuse_all_digits(&self.tokens)?;
        }
        out.set_all_digits(self.tokens.all_digits);
        let (name, near) = (self.dynamics.as_str(), (self.beta, self.radius.unwrap_or(0.0)));
        match self.starts {
            _ if self.criteria => {
                super::criteria::test(&self.tokens.tokens()?, name, self.beta, out)
            }
            Some(count) => {
                Trials { tokens: &self.tokens, count, unchecked: self.unchecked && !self.exact }
                    .run(name, near, out)
            }
            None => self.prove(&self.tokens.tokens()?, near, out),
        }
    }
}

impl Arguments {
    fn prove(&self, x: &Tokens, (beta, radius): (f64, f64), out: &Output) -> Result<i32> {
        let start = Neighbourhood::new(variant(&self.dynamics)?, beta, x, radius)?;
        let own = Problem::Hypotheses(start.hypotheses());
        self.out.iter().try_for_each(|path| out_file::check(path, &|found| *found == own))?;
        // The proof of USA counts time in units of e^-beta.
        let unit = if start.softmax { 1.0 } else { (-beta).exp() };
        match prove_convergence(&start)? {
            Ok(proof) => {
                let _ending = crate::cli::cancel::ends_itself();
                let certificate = proof.to_text();
                let standing = Standing::of(&certificate, self.unchecked);
                if standing.holds() {
                    write(&certificate, self.out.as_deref())?;
                }
                proved(&proof, unit, (&standing, self.out.as_deref()), out);
                Ok(if standing.holds() { 0 } else { UNPROVED })
            }
            Err(failure) => {
                unproved(&failure, unit, out);
                Ok(UNPROVED)
            }
        }
    }
}

fn proved(
    proof: &ConvergenceProof,
    unit: f64,
    (standing, file): (&Standing, Option<&Path>),
    out: &Output,
) {
    let (t, within) = (proof.t * unit, proof.time_shift * unit);
    let json = json!({
        "proved": standing.is_proved(), "proof": standing.json(), "statement": proof.statement(), "t_hemisphere": t, "t_within": within, "steps": proof.steps(), "error_bound": proof.error, "growth": proof.growth,
        "file": file.map(|f| f.display().to_string()),
    });
    // Printed bounds are rounded up.
    let up = |v: f64| format!("{:.1e}", 1.05 * v);
    let (printed, off) = resolved(t, within);
    let text = format!(
        "{}: {}\n{}all tokens lie in an open hemisphere at t = {printed} (within {}); {} steps, error at most {}, integral of the growth rate {:.1}",
        standing.word(),
        proof.statement(),
        standing.line(),
        up(within + off),
        proof.steps(),
        up(proof.error),
        proof.growth
    );
    out.result(&json, &text);
}

fn unproved(failure: &ProofFailure, unit: f64, out: &Output) {
    let ProofFailure { cause, t, token, error, growth, defect, steps } = failure;
    let t = t * unit;
    let json = json!({
        "proved": false, "cause": cause.describe(), "t": t, "token": token, "error_bound": error, "growth": growth, "defect": defect, "steps": steps,
    });
    let text = format!(
        "not proved: the proof ended at t = {}, where token {token} (from 0) is deepest outside a hemisphere: {}\nerror at most {error:.1e}, integral of the growth rate {growth:.1}, of the \
         defect {defect:.1e}, {steps} steps",
        rounded(t, 6),
        cause.describe()
    );
    out.result(&json, &text);
}

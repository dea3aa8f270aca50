//! `certify start`: a start, and every start near it, converges to one point.

use super::shared::{end, refuse_all_digits, variant, write};
use super::trials::Trials;
use crate::cli::digits::resolved;
use crate::cli::input::TokenArguments;
use crate::cli::out_file;
use crate::cli::output::{rounded, set_all_digits};
use crate::cli::proof::Standing;
use crate::error::Result;
use crate::lab::replace::Problem;
use crate::operation::{Answer, Exit, Operation, Parameters, Rows, Table, any, at_least, column};
use crate::parameters;
use crate::proofs::trajectory::{
    ConvergenceProof, Neighbourhood, ProofFailure, prove as prove_convergence,
};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `certify start`.
    struct Start {
        ..tokens: TokenArguments;
        /// Inverse temperature.
        beta: f64;
        /// Dynamics: sa, usa, causal-sa or causal-usa.
        dynamics: String, any().or("sa");
        /// Largest distance of each token from the given one, as a chord (default 0).
        radius: Option<f64>, any().form("R");
        /// Test only the criteria of published theorems, such as an open hemisphere, without a
        /// proof of the path.
        criteria: bool, any().excludes(&["radius", "starts", "exact", "out"]);
        /// Count how many of N starts can be proved, with seeds from --seed on, and what ends the
        /// other proofs; needs --init.
        starts: Option<usize>, at_least(1.0).form("N").excludes(&["out"]).needs(&["init"]);
        /// Do not run the verifier; a start is then called found by the search, not proved.
        unchecked: bool, any().excludes(&["criteria"]);
        /// Check every proof by the verifier: this is the default.
        exact: bool, any().excludes(&["unchecked"]).needs(&["starts"]).hidden();
        /// File for the certificate.
        out: Option<PathBuf>, any().form("FILE");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    family: "certify",
    name: "start",
    group: "Theorems",
    summary: "Prove that a start, and every start near it, converges to one point",
    notes: "Examples:
  metastable certify start --init uniform --n 16 --d 3 --seed 7 --beta 4 --radius 1e-6 \\
      --out proof.txt
  metastable certify start --init uniform --n 8 --d 2 --beta 2 --starts 100
  metastable certify start --criteria --tokens tokens.csv --beta 4

Proved: every start whose tokens lie within the radius of the given ones converges to one point.",
    parameters: Start::table,
    results: &[
        column(
            "proved",
            "whether every start near this one is proved to converge to one point; of several starts their number",
        ),
        column("proof", "what stands behind the word proved"),
        column("statement", "the proved statement"),
        column("t_hemisphere", "time at which all tokens lie in an open hemisphere"),
        column("t_within", "bound on the error of that time"),
        column("t", "time at which the proof ended"),
        column("cause", "what ended the proof"),
        column("token", "the token that is deepest outside a hemisphere"),
        column("steps", "number of steps"),
        column("error_bound", "bound on the error of the tokens"),
        column("growth", "integral of the growth rate"),
        column("defect", "integral of the defect"),
        column("file", "file of the certificate"),
        column("decided", "whether a criterion decides this start"),
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("beta", "inverse temperature"),
        column("dynamics", "name of the dynamics"),
        column("hemisphere", "an open hemisphere with all tokens: its centre and margin"),
        column("at_rest", "whether the tokens are at rest to rounding"),
        column("relative_gradient_norm", "norm of the gradient relative to the energy"),
        column("log_energy", "log energy relative to one cluster"),
        column("starts", "number of starts"),
        column("share", "share of the proved starts"),
        column("found", "starts whose proof was found and not refused by the verifier"),
        column("checked", "certificates that were checked"),
        column("accepted", "certificates that the verifier accepted"),
        column("seconds", "median and largest time of a proof, in seconds"),
        column("check_seconds", "median and largest time of a check, in seconds"),
    ],
    tables: &[
        Table {
            name: "theorems",
            what: "one row for each criterion, with --criteria",
            rows: Rows::Objects("theorems"),
            columns: &[
                column("statement", "the conclusion"),
                column("this_start", "whether it is about this start"),
                column("holds", "whether the hypothesis holds"),
                column("hypothesis", "the hypothesis"),
                column("citation", "the source"),
            ],
        },
        Table {
            name: "not_proved",
            what: "one row for each cause that ended a proof, with --starts",
            rows: Rows::Objects("not_proved"),
            columns: &[
                column("cause", "what ended the proof"),
                column("starts", "number of starts"),
                column("first_seeds", "seeds of the first of them"),
            ],
        },
    ],
    exits: &[
        (Exit::Shown, "proved, decided or counted"),
        (Exit::Undecided, "not proved or not decided"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Start::of(given)?.run(),
};

impl Start {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        if !self.criteria {
            refuse_all_digits(&self.tokens)?;
        }
        set_all_digits(self.tokens.all_digits);
        let (name, near) = (self.dynamics.as_str(), (self.beta, self.radius.unwrap_or(0.0)));
        match self.starts {
            _ if self.criteria => super::criteria::test(&self.tokens.tokens()?, name, self.beta),
            Some(count) => {
                Trials { tokens: &self.tokens, count, unchecked: self.unchecked && !self.exact }
                    .run(name, near)
            }
            None => self.prove(&self.tokens.tokens()?, near),
        }
    }
}

impl Start {
    fn prove(&self, x: &Tokens, (beta, radius): (f64, f64)) -> Result<Answer> {
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
                Ok(proved(&proof, unit, (&standing, self.out.as_deref())))
            }
            Err(failure) => Ok(unproved(&failure, unit)),
        }
    }
}

fn proved(
    proof: &ConvergenceProof,
    unit: f64,
    (standing, file): (&Standing, Option<&Path>),
) -> Answer {
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
    Answer::new(json, text).ended(end(standing))
}

fn unproved(failure: &ProofFailure, unit: f64) -> Answer {
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
    Answer::new(json, text).ended(Exit::Undecided)
}

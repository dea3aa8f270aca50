//! `modes`: local maxima of kernel density estimates, with a proof of their number.

use super::digits::{point_within, within};
use super::input::{self, RunArguments};
use super::out_file;
use super::output::{all_digits, counted, more, note, set_all_digits, shown};
use super::proof::Standing;
use crate::error::{Error, Result};
use crate::lab::{arrays, snapshot::Snapshot};
use crate::operation::{Answer, Exit, Operation, Parameters, Rows, Table, any, column};
use crate::parameters;
use crate::proofs::modes;
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `modes`.
    struct Modes {
        ..past: RunArguments;
        /// Samples, one number per row (CSV, NPY, NPZ, or `-`); on the circle angles in radians.
        samples: Option<PathBuf>, any().form("FILE[:ARRAY]").excludes(&["from_run"]).unless(&["from_run"]);
        /// Name of the array in an NPZ file.
        array: Option<String>, any().hidden().excludes(&["from_run"]);
        /// Inverse temperature: bandwidth beta^(-1/2) on the line, kernel e^(beta cos) on the
        /// circle.
        beta: Option<f64>, any().unless(&["interaction"]);
        /// On the circle the kernel phi(cos theta) in the place of e^(beta cos theta): power:p=3 or
        /// a formula of s and beta, without kinks.
        interaction: Option<String>, any().form("PHI");
        /// Space of --samples: line, circle (angles), or sphere2 (three coordinates per row; kernel
        /// e^(beta <x, y>)). The dimension of a run selects circle or sphere2.
        space: String, any().or("line").form("SPACE").check(space).excludes(&["from_run"]);
        /// As --space circle.
        circle: bool, any().excludes(&["from_run", "space"]).hidden();
        /// As --space sphere2.
        sphere: bool, any().excludes(&["circle", "from_run", "space"]).hidden();
        /// Do not write a certificate and run the verifier; the number is then called found, not
        /// proved.
        unchecked: bool;
        /// File for the certificate, which `certify check` verifies.
        out: Option<PathBuf>, any().form("FILE");
        /// Print all locations with all digits.
        all_digits: bool;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "modes",
    group: "Analyse",
    summary: "Modes of a kernel density estimate, with a proof of their number",
    notes: "Examples:
  metastable modes --samples x.csv --beta 100
  metastable modes --samples angles.npy --beta 50 --space circle --format json
  metastable modes --from-run run/ --frame t=20 --beta 9
  metastable modes --samples angles.npy --space circle --interaction \"1/(1.2 - s)\"
Without a proof the number is a lower bound, `at_least`. The verifier checks
the certificate of a number on the line or the circle; on S^2, and for many samples, there is none,
and the number is proved by this program alone.",
    parameters: Modes::table,
    results: &[
        column("modes", "number of modes, if it is proved"),
        column("at_least", "number of modes that exist, if the number is not proved"),
        column("certified", "whether the number is proved"),
        column("proof", "what stands behind the word proved"),
        column("statement", "what the proof does"),
        column("undecided", "places that the proof leaves open"),
        column("beta", "inverse temperature"),
        column("space", "line, circle or sphere2"),
        column("samples", "number of samples"),
        column("interaction", "the kernel"),
    ],
    tables: &[Table {
        name: "modes",
        what: "one row for each mode",
        rows: Rows::Lists,
        columns: &[
            column("locations", "the mode"),
            column("located", "a mode that exists, if the number is not proved"),
            column("location_errors", "bound on the error of its place"),
        ],
    }],
    exits: &[
        (Exit::Shown, "the number is proved, or found with --unchecked"),
        (Exit::Undecided, "the number is not proved"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Modes::of(given)?.run(),
    ..Operation::EMPTY
};

/// **Errors** a text that is no space of samples.
fn space(text: &str) -> Result<()> {
    match text {
        "line" | "circle" | "sphere2" => Ok(()),
        other => Err(Error::parameter("space", other, "line, circle or sphere2")),
    }
}

impl Modes {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        if let Some(frame) = self.past.frame("it with --from-run")? {
            return self.of_run(frame);
        }
        let circle = self.circle || self.space == "circle";
        let path = self.samples.as_deref().unwrap_or(Path::new(""));
        if self.sphere || self.space == "sphere2" {
            return self.on_sphere(&arrays::tokens(path, self.array.as_deref(), false)?);
        }
        self.on_line(&arrays::list(path, self.array.as_deref())?, circle)
    }

    /// The tokens of a run.
    fn of_run(&self, frame: Snapshot) -> Result<Answer> {
        let x = Tokens::normalised(frame.d, frame.rows)?;
        match x.d() {
            2 => self.on_line(&x.angles(), true),
            3 => self.on_sphere(&x),
            d => Err(Error::parameter(
                "--from-run",
                format!("tokens with d = {d}"),
                "a run on the circle or the sphere (d = 2 or 3)",
            )),
        }
    }

    fn on_line(&self, samples: &[f64], circle: bool) -> Result<Answer> {
        self.out.iter().try_for_each(|path| out_file::check_own(path))?;
        let phi = match &self.interaction {
            Some(text) if circle => Some(input::interaction(text, self.beta)?),
            _ => None,
        };
        let found = match (&self.interaction, &phi) {
            (_, Some(phi)) => modes::interaction(samples, phi),
            (Some(text), None) => Err(self.only_on_the_circle(text, "numbers on a line")),
            (None, None) if circle => modes::circle(samples, self.beta()),
            (None, None) => modes::line(samples, self.beta()),
        };
        // Report a bad sample by its row in the file.
        let found = found.map_err(|e| match e {
            Error::Token { row, problem } => {
                let path = self.samples.as_ref().map_or(String::new(), |p| p.display().to_string());
                Error::File { path, place: format!("row {row}"), problem }
            }
            other => other,
        })?;
        let estimate = match &phi {
            Some(phi) => modes::Estimate::Interaction(phi),
            None if circle => modes::Estimate::Exponential(self.beta()),
            None => modes::Estimate::Gauss(self.beta()),
        };
        let certificate = match found.count() {
            Ok(count) if !self.unchecked || self.out.is_some() => {
                modes::certificate(&estimate, samples, count)
            }
            _ => None,
        };
        let is_constant = found.is_proved() && found.approximate_locations().is_empty();
        let statement = match (found.is_proved(), is_constant) {
            (_, true) => "the kernel is constant: so is the estimate, which has no strict local maximum".to_owned(),
            (true, _) => "interval arithmetic decides the sign of the derivative everywhere, for the given numbers".to_owned(),
            (false, _) => format!(
                "not proved: on {} interval(s) the derivative stays within its error bound (degenerate, or nearly so); the located modes exist, there may be more",
                found.undecided().len()
            ),
        };
        let undecided = found.undecided().iter().map(|(a, b)| json!([a, b])).collect();
        let place = if circle { "circle" } else { "line" };
        let standing =
            Standing::of_search(found.is_proved(), certificate.as_deref(), self.unchecked);
        let _ending = super::cancel::ends_itself();
        if let Some(text) = certificate.as_deref().filter(|_| standing.holds()) {
            super::certify::write(text, self.out.as_deref())?;
        } else if let Some(path) = &self.out {
            note(&format!("no certificate: {} is not written", path.display()));
        }
        self.report(&found, (&statement, &standing), (place, samples.len()), undecided)
    }

    fn on_sphere(&self, x: &Tokens) -> Result<Answer> {
        if let Some(text) = &self.interaction {
            return Err(self.only_on_the_circle(text, "points of S^2"));
        }
        if let Some(path) = &self.out {
            let expected = "none on S^2: there is no certificate of the number of modes there";
            return Err(Error::parameter("--out", path.display(), expected));
        }
        let found = modes::sphere(x, self.beta())?;
        let statement = if found.is_proved() {
            "every patch of a cover of the sphere contains no mode or exactly one".to_owned()
        } else {
            format!(
                "not proved: {} patches of the cover are undecided (degenerate, or nearly so); the located modes exist, there may be more",
                found.undecided().len()
            )
        };
        let undecided =
            found.undecided().iter().map(|(c, r)| json!({"centre": c, "radius": r})).collect();
        let standing = Standing::of_search(found.is_proved(), None, self.unchecked);
        self.report(&found, (&statement, &standing), ("sphere2", x.n()), undecided)
    }

    fn beta(&self) -> f64 {
        self.beta.unwrap_or_default()
    }

    /// The refusal of an interaction for samples elsewhere.
    fn only_on_the_circle(&self, text: &str, samples: &str) -> Error {
        let expected = "samples on the circle: --space circle, or a run with d = 2";
        Error::parameter("--interaction", format!("{text} with {samples}"), expected)
    }

    /// Prints the number as `modes` if it is decided, else as `at_least` with exit code 3.
    fn report<P: serde::Serialize + std::fmt::Debug + Location, U>(
        &self,
        found: &modes::Modes<P, U>,
        (statement, standing): (&str, &Standing),
        (space, samples): (&str, usize),
        undecided: Value,
    ) -> Result<Answer> {
        let decided = standing.holds();
        let (key, where_, count) = match found.count() {
            Ok(count) if decided => ("modes", "locations", count),
            _ => ("at_least", "located", found.lower_bound()),
        };
        let mut json = json!({
            key: count,
            where_: found.approximate_locations(),
            "location_errors": found.location_errors(),
            "certified": standing.is_proved(),
            "proof": standing.json(),
            "statement": statement,
            "undecided": undecided,
            "beta": self.beta,
            "space": space,
            "samples": samples,
        });
        if let Some(text) = &self.interaction {
            json["interaction"] = json!(text);
        }
        set_all_digits(self.all_digits);
        let places = found.approximate_locations().len();
        let listed = found
            .approximate_locations()
            .iter()
            .zip(found.location_errors())
            .take(shown(places))
            .map(|(x, error)| {
                if all_digits() {
                    format!("  {x:?}\n")
                } else {
                    format!("  {}\n", x.within(*error, &json["undecided"]))
                }
            })
            .collect::<String>();
        let title = match decided {
            true => format!("{} ({}: {statement})", counted(count, "mode"), standing.word()),
            false => format!("at least {} ({statement})", counted(count, "mode")),
        };
        let line = standing.line();
        let text = format!("{title}\n{line}{listed}{}", more(places));
        if decided {
            return Ok(Answer::new(json, text));
        }
        note(statement);
        Ok(Answer::new(json, text).ended(Exit::Undecided))
    }
}

/// A location that is printed with the bound of its error.
trait Location {
    /// `undecided` are the places that the proof leaves open.
    fn within(&self, error: f64, undecided: &Value) -> String;
}

impl Location for f64 {
    /// A mode in an undecided interval is somewhere in it: its middle says nothing.
    fn within(&self, error: f64, undecided: &Value) -> String {
        let end = |interval: &Value, k: usize| interval[k].as_f64().unwrap_or(f64::NAN);
        let mut all = undecided.as_array().into_iter().flatten();
        let open = all.any(|v| end(v, 0) <= *self && *self <= end(v, 1));
        if !open || error <= 0.0 || !error.is_finite() {
            return within(*self, error);
        }
        // Three digits of the error, rounded outwards.
        let unit = 10f64.powf(error.log10().floor() - 2.0);
        let places = (-unit.log10().round()).clamp(0.0, 300.0) as usize;
        let ends = [((self - error) / unit).floor() * unit, ((self + error) / unit).ceil() * unit];
        format!("not located: between {:.places$} and {:.places$}", ends[0], ends[1])
    }
}

impl Location for [f64; 3] {
    fn within(&self, error: f64, _undecided: &Value) -> String {
        point_within(self, error)
    }
}

//! Flags shared by commands: tokens, frames of a run, dynamics.

use super::masses::Masses;
use super::model_flags::ModelArguments;
use super::output::note;
use crate::attention::dynamics::NamedDynamics;
use crate::attention::interaction::Interaction;
use crate::attention::kernel::{EXACT_ACCURACY, KernelChoice};
use crate::attention::model::{Model, Weighting};
use crate::attention::{Dynamics, Spec, TimeScale, dynamics};
use crate::error::{Error, PREDICTION, Result};
use crate::flow::parameters::{Evaluation, LEAST_ACCURACY};
use crate::lab::ModelSpec;
use crate::lab::arrays::{self, Array};
use crate::lab::snapshot::{
    FrameChoice, Snapshot, dynamics_text, folder_and_cell, model_seed, recorded_dynamics,
};
use crate::num::{simd::Isa, stream::Stream};
use crate::operation::{any, at_least, one_of};
use crate::parameters;
use crate::sphere::{Tokens, law::Law};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The interaction of a text, in which beta is a parameter if it is given. A beta that it does not
/// use is named in a note.
///
/// **Errors** as [`Interaction::parse`].
pub fn interaction(text: &str, beta: Option<f64>) -> Result<Interaction> {
    let given: Vec<(&str, f64)> = beta.iter().map(|b| ("beta", *b)).collect();
    let phi = Interaction::parse(text, &given)?;
    let is_used = |b: f64| {
        let all = phi.formula().occurring_parameters();
        all.iter().any(|(name, value)| *name == "beta" && value.to_bits() == b.to_bits())
    };
    if beta.is_some_and(|b| !is_used(b)) {
        note_unused_beta(text);
    }
    Ok(phi)
}

/// Says that the value of --beta changes nothing.
pub fn note_unused_beta(interaction: &str) {
    note(&format!("--beta changes nothing: beta is no parameter of {interaction}"));
}

parameters! {
    /// A frame of a finished run.
    #[derive(Clone)]
    pub struct RunArguments {
        /// Folder of a finished run (`solve --out`, `run`), with the name of a cell of an
        /// experiment; the tokens are those at --frame.
        from_run: Option<String>, any().form("FOLDER[:CELL]");
        /// Frame of --from-run, or layer of --tokens: last (default), a row number from 0, or t=T
        /// (the last row up to time T). For an experiment add realisation=R.
        frame: Option<String>, any().form("FRAME");
    }
}

impl RunArguments {
    /// The folder, if one is given.
    pub fn folder(&self) -> Option<&Path> {
        self.from_run.as_deref().map(|text| folder_and_cell(text).0)
    }

    /// The selected frame.
    pub fn which(&self) -> Result<FrameChoice> {
        let cell = self.from_run.as_deref().and_then(|text| folder_and_cell(text).1);
        FrameChoice::of(self.frame.as_deref(), cell)
    }

    /// True if a frame is given.
    pub fn has_frame(&self) -> bool {
        self.frame.is_some()
    }

    /// The frame of a run, if one is given. **Errors** `--frame` without a run; the message expects
    /// `expected`.
    pub fn frame(&self, expected: &str) -> Result<Option<Snapshot>> {
        match (self.folder(), &self.frame) {
            (Some(folder), _) => self.which()?.read(folder).map(Some),
            (None, Some(frame)) => Err(Error::parameter("--frame", frame, expected)),
            (None, None) => Ok(None),
        }
    }
}

parameters! {
    /// The source of the tokens.
    #[derive(Clone)]
    pub struct TokenArguments {
        ..past: RunArguments;
        /// Tokens file: CSV (one token per row), NPY or NPZ (with the name of its array) of shape
        /// n x d, or `-` for standard input. Of an array layers x n x d, --frame selects the layer.
        tokens: Option<PathBuf>, any().form("FILE[:ARRAY]").excludes(&["from_run"]);
        /// File of angles in radians (d = 2), one per row.
        angles: Option<PathBuf>, any().excludes(&["tokens", "from_run"]);
        /// Name of the array in an NPZ file.
        array: Option<String>, any().hidden();
        /// Divide every row by its norm.
        normalise: bool;
        /// Masses of the tokens: a file with one number per token, a list such as 1,1,2, or a law
        /// such as power:0.5 (`list masses`). Only their ratios matter. Default: equal masses.
        masses: Option<String>, any().form("FILE|LIST|LAW");
        /// Draw the tokens from a law, for example uniform or cap:radius=0.3 (`list laws`).
        init: Option<String>,
            any().form("LAW").excludes(&["tokens", "angles", "from_run"]).check(law);
        /// Number of tokens, with --init.
        n: Option<usize>, at_least(1.0);
        /// Ambient dimension, with --init.
        d: Option<usize>, at_least(2.0);
        /// Random seed of tokens, masses, random matrices and noise that have none of their own
        /// (default 1).
        seed: Option<u64>;
        /// Print all tokens and coordinates with all digits.
        all_digits: bool;
    }
}

/// **Errors** a text that is no law of tokens.
fn law(text: &str) -> Result<()> {
    Law::parse(text).map(drop)
}

impl TokenArguments {
    /// The tokens, on the sphere.
    pub fn tokens(&self) -> Result<Tokens> {
        self.placed(&ModelSpec::default(), None)
    }

    /// The tokens in the state space of a model.
    pub fn placed(&self, model_spec: &ModelSpec, radii: Option<&[f64]>) -> Result<Tokens> {
        let model = &model_spec.model;
        let masses = self.masses.as_deref().map(Masses::read).transpose()?;
        let random = matches!(&masses, Some(Masses::Law(law)) if law.is_random());
        self.check(model_spec.seed.is_some() || random)?;
        let array = self.array.as_deref();
        let x = if let Some(path) = &self.tokens {
            let table = self.layer(arrays::read(path, array)?)?;
            arrays::tokens_from_rows(path, &table, |d, rows| {
                model.tokens_from_rows(d, rows, self.normalise, radii)
            })?
        } else if let Some(path) = &self.angles {
            let angles = arrays::list(path, array)?;
            let most = angles.iter().fold(0.0f64, |m, a| m.max(a.abs()));
            if most > std::f64::consts::TAU && angles.iter().all(|a| a.fract() == 0.0) {
                note(&format!(
                    "--angles: whole numbers up to {most} are read as radians, not as degrees"
                ));
            }
            model.tokens_from_unit_vectors(&Tokens::from_angles(&angles)?, radii)?
        } else if let Some(folder) = self.past.folder() {
            let frame = self.past.which()?.read(folder)?;
            let x = model.tokens_from_rows(
                frame.d,
                frame.rows,
                false,
                radii.or(frame.radii.as_deref().filter(|_| model.has_radii())),
            )?;
            match &frame.masses {
                Some(masses) => x.with_masses(masses)?,
                None => x,
            }
        } else if let Some(law) = &self.init {
            let count = |name: &str, v: Option<usize>| {
                v.ok_or_else(|| Error::parameter(name, "nothing", format!("{name} with --init")))
            };
            let (n, d) = (count("--n", self.n)?, count("--d", self.d)?);
            model.tokens_from_unit_vectors(
                &Law::parse(law)?.sample(n, d, &mut Stream::new(self.seed(), &["cli", "init"]))?,
                radii,
            )?
        } else {
            return Err(Error::parameter(
                "tokens",
                "nothing",
                "one of --tokens FILE, --angles FILE, --from-run FOLDER, or --init LAW with --n and --d",
            ));
        };
        match masses {
            Some(Masses::Law(law)) => {
                let weights = law.weights(x.n(), &mut Stream::new(self.seed(), &["cli", "masses"]));
                x.with_masses(&weights)
            }
            Some(Masses::Numbers(low, high)) if low == high => x.with_masses(&low),
            Some(Masses::Numbers(..)) => Err(Error::parameter(
                "masses",
                self.masses.as_deref().unwrap_or_default(),
                "numbers: only `landscape` and `continue` take intervals of masses",
            )),
            None => Ok(x),
        }
    }

    /// True if tokens, angles, a run or a law are given.
    pub fn is_given(&self) -> bool {
        self.tokens.is_some()
            || self.angles.is_some()
            || self.past.folder().is_some()
            || self.init.is_some()
    }

    /// The same flags with another seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self.clone() }
    }

    /// The values of --n and --d.
    pub fn shape(&self) -> (Option<usize>, Option<usize>) {
        (self.n, self.d)
    }

    /// The selected layer of an array with three axes; other arrays are returned as they are.
    fn layer(&self, array: Array) -> Result<Array> {
        let [layers, n, d] = array.shape[..] else {
            return if !self.past.has_frame() {
                Ok(array)
            } else {
                Err(Error::parameter(
                    "--frame",
                    "a frame",
                    "none, or --from-run or an array of layers x n x d",
                ))
            };
        };
        if !self.past.has_frame() {
            let expected = format!("a layer with --frame, from 0 to {}", layers - 1);
            return Err(Error::parameter(
                "--tokens",
                format!("an array of {layers} x {n} x {d}"),
                expected,
            ));
        }
        let k = self.past.which()?.layer(layers)?;
        Ok(Array {
            shape: vec![n, d],
            data: array.data[k * n * d..(k + 1) * n * d].to_vec(),
            ..array
        })
    }

    /// The seed of laws; by default that of the run that is continued.
    pub fn seed(&self) -> u64 {
        self.seed.or_else(|| model_seed(self.past.folder()?)).unwrap_or(1)
    }

    /// **Errors** a flag about given tokens where none are given, for this reason.
    pub fn refuse_unused(&self, reason: &str) -> Result<()> {
        let given = [
            ("--masses", self.masses.is_some()),
            ("--array", self.array.is_some()),
            ("--normalise", self.normalise),
            ("--frame", self.past.has_frame()),
        ];
        match given.iter().find(|g| g.1) {
            Some((flag, _)) => Err(Error::parameter(*flag, *flag, format!("none: {reason}"))),
            None => Ok(()),
        }
    }

    /// **Errors** flags about tokens beside a whole run, which has its own.
    pub fn refuse_with_run(&self) -> Result<()> {
        self.check(false)?;
        self.refuse_unused("the run has its own tokens and masses")
    }

    /// **Errors** flags without effect on the given tokens; a seed if nothing is `drawn`.
    fn check(&self, drawn: bool) -> Result<()> {
        let given = [
            ("--n", self.n.is_some()),
            ("--d", self.d.is_some()),
            ("--seed", self.seed.is_some() && !drawn),
        ];
        let sources = [
            ("--tokens", self.tokens.is_some()),
            ("--angles", self.angles.is_some()),
            ("--from-run", self.past.folder().is_some()),
        ];
        let file = sources.iter().find(|s| s.1);
        let source = file.map_or("", |s| s.0);
        if let (Some(_), Some((flag, _))) = (file, given.iter().find(|g| g.1)) {
            let found = format!("{flag} beside {source}");
            let expected = if self.n.is_some() || self.d.is_some() {
                "it with --init only: the file determines n and d"
            } else {
                "it only if something is drawn: --init, matrices or masses by law, noise without a seed"
            };
            return Err(Error::parameter(*flag, found, expected));
        }
        let table = self.tokens.is_some();
        for (flag, given, fits) in [
            ("--normalise", self.normalise, table),
            ("--array", self.array.is_some(), table || self.angles.is_some()),
            ("--frame", self.past.has_frame(), table || self.past.folder().is_some()),
        ] {
            if given && !fits {
                return Err(Error::parameter(flag, flag, "none: it has no effect on these tokens"));
            }
        }
        Ok(())
    }
}

parameters! {
    /// The dynamics.
    pub struct DynamicsArguments {
        ..parts: ModelArguments;
        ..kernel: Evaluation;
        /// Name of the dynamics (`list dynamics`). Default: sa, or usa with the row weights
        /// exponential.
        dynamics: Option<String>, any().form("NAME");
        /// Inverse temperature.
        beta: Option<f64>, one_of(&["interaction"]);
        /// Causal mask: token i sees the tokens j <= i.
        causal: bool;
        /// Time normalisation of USA: u1 (default), u2, u3 or u4.
        time_scale: Option<String>, any().form("SCALE").check(time_scale);
    }
}

/// **Errors** a text that is no time scale.
fn time_scale(text: &str) -> Result<()> {
    TimeScale::parse(text).map(drop)
}

/// A specification with these settings.
pub fn evaluated(evaluation: &Evaluation, spec: Spec, default_accuracy: f64) -> Result<Spec> {
    let kernel = super::mpi::choose_kernel(KernelChoice::parse(&evaluation.kernel)?)?;
    let accuracy = evaluation.accuracy.unwrap_or(default_accuracy);
    Ok(Spec { kernel, accuracy, isa: Isa::parse(&evaluation.simd)?, ..spec })
}

impl DynamicsArguments {
    /// The inverse temperature; 0 if an interaction needs none.
    pub fn beta(&self) -> f64 {
        self.beta.unwrap_or_default()
    }

    /// The registered entry.
    pub fn entry(&self, model: &Model) -> Result<&'static NamedDynamics> {
        dynamics::find(&self.name(model), self.causal)
    }

    /// Its name; by default the one of the row weights.
    pub fn name(&self, model: &Model) -> String {
        self.dynamics
            .clone()
            .unwrap_or_else(|| model.weights.map_or("sa", Weighting::dynamics).to_owned())
    }

    /// True if the dynamics itself is causal.
    pub fn is_causal(&self, model: &Model) -> Result<bool> {
        Ok(self.entry(model)?.variant.is_some_and(|v| v.causal))
    }

    /// The dynamics of a model for these tokens, with this accuracy unless `--accuracy` is given.
    /// If a named kernel is less accurate and `--accuracy` is absent, the dynamics has the accuracy
    /// of the kernel, which is also returned.
    pub fn build(
        &self,
        model: &Model,
        x: &Tokens,
        accuracy: f64,
    ) -> Result<(Dynamics, Option<f64>)> {
        let dynamics = self.with_accuracy(model, x, accuracy)?;
        let form = dynamics.normalisation.form();
        let attainable = dynamics
            .sublayers
            .iter()
            .filter_map(|s| s.attention())
            .map(|a| a.attainable_accuracy(x, form))
            .fold(EXACT_ACCURACY, f64::max);
        if self.kernel.accuracy.is_some()
            || attainable <= dynamics.accuracy()
            || attainable > LEAST_ACCURACY
        {
            return Ok((dynamics, None));
        }
        // The bound holds for a typical drift; four times it also covers a quarter of that drift.
        // Two digits, rounded up.
        let accuracy_limit = (4.0 * attainable).min(LEAST_ACCURACY);
        let taken = format!("{:.1e}", 1.05 * accuracy_limit)
            .parse()
            .unwrap_or(accuracy_limit)
            .clamp(accuracy_limit, LEAST_ACCURACY);
        note(&format!(
            "the kernel `{}` reaches an accuracy of {taken:.1e}, used here instead of {accuracy:.1e}; set another by --accuracy",
            self.kernel.kernel
        ));
        Ok((self.with_accuracy(model, x, taken)?, Some(taken)))
    }

    fn with_accuracy(&self, model: &Model, x: &Tokens, accuracy: f64) -> Result<Dynamics> {
        if let (Some(scale), None) = (&self.time_scale, self.normalisation(model)?) {
            return Err(Error::parameter(
                "--time-scale",
                scale,
                "none: only dynamics with exponential weights have a time normalisation",
            ));
        }
        if self.beta.is_none() {
            // A formula of beta needs its value.
            model.interaction.as_ref().map(|text| Interaction::parse(text, &[])).transpose()?;
            let kappa = model.row_weights.as_ref();
            kappa.map(|text| Interaction::parse_row_weights(text, &[])).transpose()?;
        }
        let spec = Spec { time_scale: self.time_scale()?, ..Spec::new(self.beta(), x.n()) };
        model.build(
            &self.name(model),
            self.causal,
            &evaluated(&self.kernel, spec, accuracy)?,
            x.d(),
        )
    }

    /// Prints a note if a run is continued or analysed with other dynamics than it was made with.
    pub fn note_past(&self, tokens: &TokenArguments, model_spec: &ModelSpec) -> Result<()> {
        let Some(before) = tokens.past.folder().and_then(recorded_dynamics) else { return Ok(()) };
        let now = dynamics_text(
            self.entry(&model_spec.model)?.name,
            self.normalisation(&model_spec.model)?,
            &model_spec.to_text(),
        );
        if before != now {
            note(&format!("the run was made with {before}; it is now used with {now}"));
        }
        Ok(())
    }

    /// True if no flag but --beta and these keys of the model is given.
    pub fn is_plain_besides(&self, keys: &[&str]) -> Result<bool> {
        let usual = matches!(KernelChoice::parse(&self.kernel.kernel), Ok(KernelChoice::Auto))
            && self.kernel.accuracy.is_none();
        Ok(self.dynamics.is_none()
            && !self.causal
            && self.time_scale.is_none()
            && usual
            && self.parts.model_spec()?.words.keys().all(|key| keys.contains(key)))
    }

    /// The time normalisation.
    pub fn time_scale(&self) -> Result<TimeScale> {
        self.time_scale.as_deref().map_or(Ok(TimeScale::default()), TimeScale::parse)
    }

    /// A description of the time normalisation, for dynamics that have one.
    pub fn normalisation(&self, model: &Model) -> Result<Option<&'static str>> {
        let scale = self.time_scale()?;
        if !model.is_exponential() {
            return Ok(None);
        }
        Ok(self.entry(model)?.variant.and_then(|v| v.weights.time_scale(scale)))
    }
}

/// **Errors** a time between 0 and the range in which times are resolved.
pub fn end_time(text: &str) -> Result<()> {
    let t: f64 = text.trim().parse().unwrap_or(0.0);
    if t > 0.0 && !(1e-300..=1e300).contains(&t) {
        return Err(Error::parameter("t_end", text, "0, or a time from 1e-300 to 1e300"));
    }
    Ok(())
}

/// The error for a value that is not a number.
pub fn wrong_number(e: &clap::Error) -> Option<Error> {
    use clap::error::ContextKind::{InvalidArg, InvalidValue};
    use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
    let source = std::error::Error::source(e)?;
    let expected = match source.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "a smaller whole number",
        Some(_) => "a whole number of 0 or more, written in digits",
        None if source.is::<ParseFloatError>() => "a number",
        None => return None,
    };
    let word = |kind| e.get(kind).map(ToString::to_string);
    let (flag, found) = (word(InvalidArg)?, word(InvalidValue)?);
    Some(Error::parameter(flag.split_whitespace().next().unwrap_or_default(), found, expected))
}

/// The error for an unknown command.
pub fn unknown_command(
    e: &clap::Error,
    words: &[OsString],
    program: &clap::Command,
) -> Option<Error> {
    let found = e.get(clap::error::ContextKind::InvalidSubcommand)?.to_string();
    let before = words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != found);
    let parent = before.fold(program, |level, word| level.find_subcommand(word).unwrap_or(level));
    let known: Vec<&str> = parent.get_subcommands().map(clap::Command::get_name).collect();
    let kind = if parent.get_name() == "predict" { PREDICTION } else { "command" };
    Some(Error::unknown(kind, &found, known))
}

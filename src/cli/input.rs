//! Flags shared by commands: tokens, frames of a run, dynamics.

use super::model_flags::ModelArguments;
use super::output::note;
use crate::attention::dynamics::NamedDynamics;
use crate::attention::interaction::Interaction;
use crate::attention::kernel::{EXACT_ACCURACY, KernelChoice};
use crate::attention::model::{Model, Weighting};
use crate::attention::{Dynamics, Spec, TimeScale, dynamics};
use crate::error::{Error, PREDICTION, Result, format_number};
use crate::lab::ModelSpec;
use crate::lab::arrays::{self, Array};
use crate::lab::snapshot::{FrameChoice, Snapshot, dynamics_text, model_seed, recorded_dynamics};
use crate::num::{simd::Isa, stream::Stream};
use crate::sphere::{
    Tokens,
    law::Law,
    mass_law::{self, MassLaw},
};
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

/// A frame of a finished run.
#[derive(Clone, clap::Args)]
pub struct RunArguments {
    /// Folder of a finished run (`solve --out`, `run`); the tokens are those at --frame.
    #[arg(long, value_name = "FOLDER")]
    from_run: Option<PathBuf>,
    /// Frame of --from-run, or layer of --tokens: last (default), a row number from 0, or t=T (the
    /// last row up to time T). For an experiment add cell=ID and realisation=R, separated by
    /// commas.
    #[arg(long, value_name = "FRAME")]
    frame: Option<String>,
}

impl RunArguments {
    /// The folder, if one is given.
    pub fn folder(&self) -> Option<&Path> {
        self.from_run.as_deref()
    }

    /// The selected frame.
    pub fn which(&self) -> Result<FrameChoice> {
        self.frame.as_deref().map_or(Ok(FrameChoice::default()), FrameChoice::parse)
    }

    /// True if a frame is given.
    pub fn has_frame(&self) -> bool {
        self.frame.is_some()
    }

    /// The frame of a run, if one is given. **Errors** `--frame` without a run; the message expects
    /// `expected`.
    pub fn frame(&self, expected: &str) -> Result<Option<Snapshot>> {
        match (&self.from_run, &self.frame) {
            (Some(folder), _) => self.which()?.read(folder).map(Some),
            (None, Some(frame)) => Err(Error::parameter("--frame", frame, expected)),
            (None, None) => Ok(None),
        }
    }
}

/// The source of the tokens.
#[derive(Clone, clap::Args)]
pub struct TokenArguments {
    /// Tokens file: CSV (one token per row), NPY or NPZ of shape n x d, or `-` for standard input.
    /// Of an array layers x n x d, --frame selects the layer.
    #[arg(long, value_name = "FILE", conflicts_with = "from_run")]
    tokens: Option<PathBuf>,
    /// File of angles in radians (d = 2), one per row.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tokens", "from_run"])]
    angles: Option<PathBuf>,
    /// Name of the array in an NPZ file.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    /// Divide every row by its norm.
    #[arg(long)]
    normalise: bool,
    /// Masses of the tokens: a file with one number per token, or a law such as power:0.5 (`list
    /// masses`). Default: equal masses.
    #[arg(long, value_name = "FILE|LAW", value_hint = clap::ValueHint::AnyPath)]
    masses: Option<String>,
    #[command(flatten)]
    pub past: RunArguments,
    /// Draw the tokens from a law, for example uniform or cap:radius=0.3 (`list laws`).
    #[arg(long, value_name = "LAW", conflicts_with_all = ["tokens", "angles", "from_run"])]
    init: Option<String>,
    /// Number of tokens.
    #[arg(long, allow_hyphen_values = true)]
    n: Option<i64>,
    /// Ambient dimension.
    #[arg(long, allow_hyphen_values = true)]
    d: Option<i64>,
    /// Random seed of tokens, masses, random matrices and noise that have none of their own
    /// (default 1).
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Print all tokens and coordinates with all digits.
    #[arg(long)]
    pub all_digits: bool,
}

impl TokenArguments {
    /// The tokens, on the sphere.
    pub fn tokens(&self) -> Result<Tokens> {
        self.placed(&ModelSpec::default(), None)
    }

    /// The tokens in the state space of a model.
    pub fn placed(&self, model_spec: &ModelSpec, radii: Option<&[f64]>) -> Result<Tokens> {
        let (model, law) = (&model_spec.model, self.mass_law()?);
        self.check(model_spec.seed.is_some() || law.as_ref().is_some_and(MassLaw::is_random))?;
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
            let count = |name: &str, v: Option<i64>, low: i64| match v {
                Some(v) if v >= low => Ok(v as usize),
                Some(v) => Err(Error::parameter(name, v, format!("a whole number >= {low}"))),
                None => Err(Error::parameter(name, "nothing", format!("{name} with --init"))),
            };
            let (n, d) = (count("--n", self.n, 1)?, count("--d", self.d, 2)?);
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
        match (law, &self.masses) {
            (Some(law), _) => {
                let weights = law.weights(x.n(), &mut Stream::new(self.seed(), &["cli", "masses"]));
                x.with_masses(&weights)
            }
            (None, Some(path)) => x.with_masses(&arrays::list(Path::new(path), None)?),
            (None, None) => Ok(x),
        }
    }

    /// The law of `--masses`; none if it is a file.
    ///
    /// **Errors** a malformed law; a word that is neither a law nor a file.
    fn mass_law(&self) -> Result<Option<MassLaw>> {
        let Some(word) = self.masses.as_deref().filter(|word| !Path::new(word).exists()) else {
            return Ok(None);
        };
        match MassLaw::parse(word) {
            Some(law) => law.map(Some),
            None if word.contains(['.', '/']) || word == "-" => Ok(None),
            None => {
                let expected =
                    format!("a file with one mass per token, or a law: {}", mass_law::usage());
                Err(Error::parameter("--masses", word, expected))
            }
        }
    }

    /// True if tokens, angles, a run or a law are given.
    pub fn is_given(&self) -> bool {
        self.tokens.is_some()
            || self.angles.is_some()
            || self.past.folder().is_some()
            || self.init.is_some()
    }

    /// True if the tokens are drawn from a law.
    pub fn is_drawn(&self) -> bool {
        self.init.is_some()
    }

    /// The same flags with another seed.
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self.clone() }
    }

    /// The values of --n and --d.
    pub fn shape(&self) -> (Option<i64>, Option<i64>) {
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

/// The dynamics.
#[derive(clap::Args)]
pub struct DynamicsArguments {
    /// Name of the dynamics (`list dynamics`). Default: sa, or usa with --weights exponential.
    #[arg(long)]
    dynamics: Option<String>,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true, required_unless_present = "interaction")]
    pub beta: Option<f64>,
    /// Causal mask: token i sees the tokens j <= i.
    #[arg(long)]
    causal: bool,
    /// Time normalisation of USA: u1 (default), u2, u3 or u4.
    #[arg(long)]
    time_scale: Option<String>,
    #[command(flatten)]
    pub parts: ModelArguments,
    #[command(flatten)]
    pub kernel: KernelArguments,
}

/// How velocities are evaluated.
#[derive(clap::Args)]
pub struct KernelArguments {
    /// Algorithm of the kernel sums (`list kernels`), or auto. If the named algorithm cannot reach
    /// the default accuracy, its own accuracy is used and printed; with --accuracy this is an
    /// error.
    #[arg(long, default_value = "auto")]
    pub kernel: String,
    /// Relative accuracy of each velocity. Above 1e-13, auto may choose a faster algorithm. Default
    /// 1e-13; `solve`: rtol / 100 times the kernel width; with noise 1e-9.
    #[arg(long)]
    pub accuracy: Option<f64>,
    /// Instruction set: auto, portable, avx2 or avx512.
    #[arg(long, default_value = "auto")]
    pub simd: String,
}

/// Largest accepted value of the relative error of a velocity.
const LEAST_ACCURACY: f64 = 0.1;

impl KernelArguments {
    /// The specification with these settings.
    pub fn apply(&self, spec: Spec, default_accuracy: f64) -> Result<Spec> {
        let kernel = super::mpi::choose_kernel(KernelChoice::parse(&self.kernel)?)?;
        let accuracy = self.accuracy.unwrap_or(default_accuracy);
        if !(EXACT_ACCURACY..=LEAST_ACCURACY).contains(&accuracy) {
            return Err(Error::parameter(
                "--accuracy",
                accuracy,
                "a number in [1e-13, 0.1]; double precision allows no less",
            ));
        }
        Ok(Spec { kernel, accuracy, isa: Isa::parse(&self.simd)?, ..spec })
    }
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
        model.build(&self.name(model), self.causal, &self.kernel.apply(spec, accuracy)?, x.d())
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

/// The whole number of a flag, in `[low, high]`.
pub fn count(flag: &str, v: i64, low: i64, high: i64) -> Result<usize> {
    if (low..=high).contains(&v) {
        Ok(v as usize)
    } else {
        Err(Error::parameter(flag, v, format!("a whole number in [{low}, {high}]")))
    }
}

/// An end time in the range in which times are resolved; other wrong ones have errors of their own.
pub fn end_time(t: f64) -> Result<f64> {
    if t.is_finite() && t > 0.0 && !(1e-300..=1e300).contains(&t) {
        let expected = "0, or a time from 1e-300 to 1e300";
        return Err(Error::parameter("--t-end", format_number(t), expected));
    }
    Ok(t)
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

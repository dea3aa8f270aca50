//! Flags shared by the commands: tokens and dynamics.

use super::model::ModelArguments;
use crate::attention::dynamics::NamedDynamics;
use crate::attention::kernel::Choice;
use crate::attention::model::{Model, Weighting};
use crate::attention::{Dynamics, Spec, TimeScale, dynamics};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::num::{simd::Level, stream::Stream};
use crate::sphere::{Tokens, law::Law};
use std::path::PathBuf;

/// Where tokens come from.
#[derive(clap::Args)]
pub struct TokenArguments {
    /// Tokens file: CSV (one token per row), NPY or NPZ, n x d.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Angles file (d = 2), one angle per row, radians.
    #[arg(long, value_name = "FILE", conflicts_with = "tokens")]
    angles: Option<PathBuf>,
    /// Array of an NPZ file.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    /// Divide every row by its length.
    #[arg(long)]
    normalise: bool,
    /// Masses file, one per token (default: equal).
    #[arg(long, value_name = "FILE")]
    masses: Option<PathBuf>,
    /// Law of initial tokens, e.g. uniform or cap:radius=0.3 (see `list laws`).
    #[arg(long, value_name = "LAW", conflicts_with_all = ["tokens", "angles"])]
    init: Option<String>,
    /// Number of tokens for --init.
    #[arg(long, allow_hyphen_values = true)]
    n: Option<i64>,
    /// Ambient dimension for --init.
    #[arg(long, allow_hyphen_values = true)]
    d: Option<i64>,
    /// Seed for --init (default 1).
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
}

impl TokenArguments {
    /// The tokens, on the sphere.
    pub fn tokens(&self) -> Result<Tokens> {
        self.placed(&Model::default(), None)
    }

    /// The tokens in the space of a model.
    pub fn placed(&self, model: &Model, radii: Option<&[f64]>) -> Result<Tokens> {
        self.check()?;
        let array = self.array.as_deref();
        let x = if let Some(path) = &self.tokens {
            arrays::placed(path, &arrays::read(path, array)?, |d, rows| model.place(d, rows, self.normalise, radii))?
        } else if let Some(path) = &self.angles {
            model.settle(&Tokens::from_angles(&arrays::list(path, array)?)?, radii)?
        } else if let Some(law) = &self.init {
            let count = |name: &str, v: Option<i64>, low: i64| match v {
                Some(v) if v >= low => Ok(v as usize),
                Some(v) => Err(Error::parameter(name, v, format!("a whole number >= {low}"))),
                None => Err(Error::parameter(name, "nothing", format!("{name} with --init"))),
            };
            let (n, d) = (count("--n", self.n, 1)?, count("--d", self.d, 2)?);
            model.settle(&Law::parse(law)?.sample(n, d, &mut Stream::new(self.seed(), &["cli", "init"]))?, radii)?
        } else {
            return Err(Error::parameter("tokens", "nothing", "one of --tokens FILE, --angles FILE, or --init LAW with --n and --d"));
        };
        match &self.masses {
            Some(path) => x.with_masses(&arrays::list(path, None)?),
            None => Ok(x),
        }
    }

    /// The seed of a law.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Flags that say nothing about what is given are refused.
    fn check(&self) -> Result<()> {
        let given = [("--n", self.n.is_some()), ("--d", self.d.is_some()), ("--seed", self.seed.is_some())];
        let source = if self.tokens.is_some() { "--tokens" } else { "--angles" };
        let file = self.init.is_none() && (self.tokens.is_some() || self.angles.is_some());
        if let (true, Some((flag, _))) = (file, given.iter().find(|g| g.1)) {
            let found = format!("{flag} beside {source}");
            return Err(Error::parameter(*flag, found, "it with --init only: the file says how many there are"));
        }
        let table = self.tokens.is_some();
        for (flag, given, fits) in
            [("--normalise", self.normalise, table), ("--array", self.array.is_some(), table || self.angles.is_some())]
        {
            if given && !fits {
                return Err(Error::parameter(flag, flag, "none: nothing of that kind is read from a file here"));
            }
        }
        Ok(())
    }
}

/// Which dynamics.
#[derive(clap::Args)]
pub struct DynamicsArguments {
    /// Registered dynamics (see `list dynamics`); sa, or usa with exponential weights, when none is named.
    #[arg(long)]
    dynamics: Option<String>,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    pub beta: f64,
    /// Token i sees the tokens j <= i only.
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

/// How the sums are evaluated.
#[derive(clap::Args)]
pub struct KernelArguments {
    /// Algorithm of the kernel sums (see `list kernels`), or auto; one that cannot keep the accuracy says which it can.
    #[arg(long, default_value = "auto")]
    pub kernel: String,
    /// Relative accuracy of each velocity, kept by every algorithm; above 1e-13 auto may choose a fast one (default 1e-13; solve: rtol / 100 times the
    /// kernel width).
    #[arg(long)]
    pub accuracy: Option<f64>,
    /// Instruction set: auto, portable, avx2 or avx512.
    #[arg(long, default_value = "auto")]
    pub simd: String,
}

impl KernelArguments {
    /// The specification with these choices.
    pub fn apply(&self, spec: Spec, default_accuracy: f64) -> Result<Spec> {
        let kernel = Choice::parse(&self.kernel)?;
        let accuracy = self.accuracy.unwrap_or(default_accuracy);
        if !(accuracy > 0.0 && accuracy <= 0.1) {
            return Err(Error::parameter("--accuracy", accuracy, "a number in (0, 0.1]"));
        }
        Ok(Spec { kernel, accuracy, level: Level::parse(&self.simd)?, ..spec })
    }
}

impl DynamicsArguments {
    /// The registered entry.
    pub fn entry(&self, model: &Model) -> Result<&'static NamedDynamics> {
        dynamics::find(&self.name(model), self.causal)
    }

    /// Its name, from the weights where none is given.
    pub fn name(&self, model: &Model) -> String {
        self.dynamics.clone().unwrap_or_else(|| model.weights.map_or("sa", Weighting::dynamics).to_owned())
    }

    /// The dynamics of a model for tokens of this shape, with this accuracy unless the user gave one.
    pub fn build(&self, model: &Model, n: usize, d: usize, accuracy: f64) -> Result<Dynamics> {
        if let (Some(scale), None) = (&self.time_scale, self.normalisation(model)?) {
            return Err(Error::parameter("time-scale", scale, "none: only dynamics with exponential weights have a time normalisation"));
        }
        let spec = Spec { time_scale: self.time_scale()?, ..Spec::new(self.beta, n) };
        model.build(&self.name(model), self.causal, &self.kernel.apply(spec, accuracy)?, d)
    }

    /// The time normalisation.
    pub fn time_scale(&self) -> Result<TimeScale> {
        self.time_scale.as_deref().map_or(Ok(TimeScale::default()), TimeScale::parse)
    }

    /// The normalisation in words, for dynamics that have one.
    pub fn normalisation(&self, model: &Model) -> Result<Option<&'static str>> {
        let scale = self.time_scale()?;
        Ok(self.entry(model)?.variant.and_then(|v| v.weights.time_scale(scale)))
    }
}

/// Phrases of the library's errors that a flag of some commands stands for: the library knows no flags.
const PHRASES: [(&str, &str, &str); 6] = [
    ("the time normalisation", "time-scale", "--time-scale"),
    ("the energy normalisation", "energy-scale", "--energy-scale"),
    ("the method", "method", "--method"),
    ("another folder", "out", "another --out"),
    ("name one of them", "array", "name one with --array"),
    ("rows to be normalised", "normalise", "--normalise to divide every row by its length"),
];

/// Names a parameter by its flag, where the command that was given has one of that name, and says its phrases by flags.
pub fn as_flag(e: Error, command: &clap::Command) -> Error {
    let (mut given, mut matches) = (vec![command], command.clone().try_get_matches().ok());
    while let Some((sub, inner)) = matches.as_ref().and_then(|m| m.subcommand()) {
        given.extend(given[given.len() - 1].find_subcommand(sub));
        matches = Some(inner.clone());
    }
    let has = |long: &str| given.iter().any(|c| c.get_arguments().any(|a| a.get_long() == Some(long)));
    let said =
        |text: String| PHRASES.iter().filter(|(_, long, _)| has(long)).fold(text, |text, (words, _, flag)| text.replace(words, flag));
    match e {
        Error::Parameter { name, found, expected } => {
            let long = name.replace('_', "-");
            let name = if has(&long) { format!("--{long}") } else { name };
            Error::Parameter { name, found, expected: said(expected) }
        }
        Error::Beyond { quantity, hint } => Error::Beyond { quantity, hint: said(hint) },
        Error::Token { row, problem } => Error::Token { row, problem: said(problem) },
        Error::File { path, place, problem } => Error::File { path, place, problem: said(problem) },
        other => other,
    }
}

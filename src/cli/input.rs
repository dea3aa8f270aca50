//! Flags shared by the commands: tokens and dynamics.

use crate::attention::dynamics::NamedDynamics;
use crate::attention::kernel::Choice;
use crate::attention::{Dynamics, Head, Spec, TimeScale, dynamics};
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
    /// Seed for --init.
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    pub seed: u64,
}

impl TokenArguments {
    /// The tokens.
    pub fn tokens(&self) -> Result<Tokens> {
        let array = self.array.as_deref();
        let x = if let Some(path) = &self.tokens {
            arrays::tokens(path, array, self.normalise)?
        } else if let Some(path) = &self.angles {
            Tokens::from_angles(&arrays::list(path, array)?)?
        } else if let Some(law) = &self.init {
            let count = |name: &str, v: Option<i64>, low: i64| match v {
                Some(v) if v >= low => Ok(v as usize),
                Some(v) => Err(Error::parameter(name, v, format!("a whole number >= {low}"))),
                None => Err(Error::parameter(name, "nothing", format!("{name} with --init"))),
            };
            let (n, d) = (count("--n", self.n, 1)?, count("--d", self.d, 2)?);
            Law::parse(law)?.sample(n, d, &mut Stream::new(self.seed, &["cli", "init"]))?
        } else {
            return Err(Error::parameter("tokens", "nothing", "one of --tokens FILE, --angles FILE, or --init LAW with --n and --d"));
        };
        match &self.masses {
            Some(path) => x.with_masses(&arrays::list(path, None)?),
            None => Ok(x),
        }
    }
}

/// Which dynamics.
#[derive(clap::Args)]
pub struct DynamicsArguments {
    /// Registered dynamics (see `list dynamics`).
    #[arg(long, default_value = "sa")]
    pub dynamics: String,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    pub beta: f64,
    /// Token i sees the tokens j <= i only.
    #[arg(long)]
    causal: bool,
    /// Query matrix file, r x d; repeat --q, --k, --v for several heads.
    #[arg(long, value_name = "FILE")]
    q: Vec<PathBuf>,
    /// Key matrix file, r x d.
    #[arg(long, value_name = "FILE")]
    k: Vec<PathBuf>,
    /// Value matrix file, d x d.
    #[arg(long, value_name = "FILE")]
    v: Vec<PathBuf>,
    /// Time normalisation of USA: u1, u2, u3 or u4.
    #[arg(long, default_value = "u1")]
    pub time_scale: String,
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
    pub fn entry(&self) -> Result<&'static NamedDynamics> {
        dynamics::find(&self.dynamics, self.causal)
    }

    /// The dynamics for tokens of this shape, with this accuracy unless the user gave one.
    pub fn build(&self, n: usize, d: usize, accuracy: f64) -> Result<Dynamics> {
        let heads = self.q.len().max(self.k.len()).max(self.v.len());
        let load = |name: &str, files: &[PathBuf], h: usize| match files.get(h) {
            Some(path) => arrays::matrix(path, None).map(Some),
            None if files.is_empty() => Ok(None),
            None => Err(Error::parameter(name, format!("{} files", files.len()), format!("none, or one per head ({heads})"))),
        };
        let heads = (0..heads)
            .map(|h| Head::new(d, load("--q", &self.q, h)?, load("--k", &self.k, h)?, load("--v", &self.v, h)?))
            .collect::<Result<Vec<_>>>()?;
        let spec = Spec { heads, time_scale: TimeScale::parse(&self.time_scale)?, ..Spec::new(self.beta, n) };
        let spec = self.kernel.apply(spec, accuracy)?;
        dynamics::build(&self.dynamics, self.causal, &spec)
    }

    /// True without matrices and masks.
    pub fn is_plain(&self) -> bool {
        !self.causal && self.q.is_empty() && self.k.is_empty() && self.v.is_empty()
    }

    /// The normalisation in words, for dynamics that have one.
    pub fn normalisation(&self) -> Result<Option<&'static str>> {
        let scale = TimeScale::parse(&self.time_scale)?;
        Ok(self.entry()?.variant.and_then(|v| v.weights.time_scale(scale)))
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

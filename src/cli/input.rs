//! Flags shared by the commands: tokens and dynamics.

use super::model::ModelArguments;
use crate::attention::dynamics::NamedDynamics;
use crate::attention::kernel::{Choice, EXACT};
use crate::attention::model::{Model, Weighting};
use crate::attention::{Dynamics, Spec, TimeScale, dynamics};
use crate::error::{Error, Result};
use crate::lab::Described;
use crate::lab::arrays::{self, Array};
use crate::lab::frame::{Snapshot, Which, drawn_from, made_by, moved_by};
use crate::num::{simd::Level, stream::Stream};
use crate::sphere::{
    Tokens,
    law::Law,
    mass_law::{self, MassLaw},
};
use std::path::{Path, PathBuf};

/// A frame of a finished run.
#[derive(Clone, clap::Args)]
pub struct RunArguments {
    /// A folder of a finished run (`solve --out`, `run`): its tokens at --frame.
    #[arg(long, value_name = "DIR")]
    result: Option<PathBuf>,
    /// Which frame of --result, or layer of --tokens: last (default), a row from 0, t=T (the last row up to T); of an experiment also cell=ID and
    /// realisation=R, separated by commas.
    #[arg(long, value_name = "FRAME")]
    frame: Option<String>,
}

impl RunArguments {
    /// The folder, when one is named.
    pub fn folder(&self) -> Option<&Path> {
        self.result.as_deref()
    }

    /// Which frame is wanted.
    pub fn which(&self) -> Result<Which> {
        self.frame.as_deref().map_or(Ok(Which::default()), Which::parse)
    }

    /// True when a frame is named.
    pub fn has_frame(&self) -> bool {
        self.frame.is_some()
    }

    /// The frame of a run. **Errors** a frame without a run, which is one of `where_it_fits`.
    pub fn frame(&self, where_it_fits: &str) -> Result<Option<Snapshot>> {
        match (&self.result, &self.frame) {
            (Some(folder), _) => self.which()?.of(folder).map(Some),
            (None, Some(frame)) => Err(Error::parameter("--frame", frame, where_it_fits)),
            (None, None) => Ok(None),
        }
    }
}

/// Where tokens come from.
#[derive(Clone, clap::Args)]
pub struct TokenArguments {
    /// Tokens file: CSV (one token per row), NPY or NPZ, n x d, or `-` for the standard input; of layers x n x d --frame names a layer.
    #[arg(long, value_name = "FILE", conflicts_with = "result")]
    tokens: Option<PathBuf>,
    /// Angles file (d = 2), one angle per row, radians.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tokens", "result"])]
    angles: Option<PathBuf>,
    /// Array of an NPZ file.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    /// Divide every row by its length.
    #[arg(long)]
    normalise: bool,
    /// Masses of the tokens: a file with one number per token, or a law such as power:0.5 (see
    /// `list masses`); equal ones by default.
    #[arg(long, value_name = "FILE|LAW", value_hint = clap::ValueHint::AnyPath)]
    masses: Option<String>,
    #[command(flatten)]
    pub past: RunArguments,
    /// Law of initial tokens, e.g. uniform or cap:radius=0.3 (see `list laws`).
    #[arg(long, value_name = "LAW", conflicts_with_all = ["tokens", "angles", "result"])]
    init: Option<String>,
    /// Number of tokens.
    #[arg(long, allow_hyphen_values = true)]
    n: Option<i64>,
    /// Ambient dimension.
    #[arg(long, allow_hyphen_values = true)]
    d: Option<i64>,
    /// Seed of everything that is drawn and has no seed of its own: tokens, masses, matrices by law,
    /// noise (default 1).
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Print all tokens and coordinates with all digits.
    #[arg(long)]
    pub full: bool,
}

impl TokenArguments {
    /// The tokens, on the sphere.
    pub fn tokens(&self) -> Result<Tokens> {
        self.placed(&Described::default(), None)
    }

    /// The tokens in the space of a model that has its seed.
    pub fn placed(&self, described: &Described, radii: Option<&[f64]>) -> Result<Tokens> {
        let (model, law) = (&described.model, self.mass_law()?);
        self.check(described.seed.is_some() || law.as_ref().is_some_and(MassLaw::is_random))?;
        let array = self.array.as_deref();
        let x = if let Some(path) = &self.tokens {
            let table = self.layer(arrays::read(path, array)?)?;
            arrays::placed(path, &table, |d, rows| model.place(d, rows, self.normalise, radii))?
        } else if let Some(path) = &self.angles {
            model.settle(&Tokens::from_angles(&arrays::list(path, array)?)?, radii)?
        } else if let Some(folder) = self.past.folder() {
            let frame = self.past.which()?.of(folder)?;
            let x = model.place(frame.d, frame.rows, false, radii.or(frame.radii.as_deref().filter(|_| model.has_radii())))?;
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
            model.settle(&Law::parse(law)?.sample(n, d, &mut Stream::new(self.seed(), &["cli", "init"]))?, radii)?
        } else {
            return Err(Error::parameter(
                "tokens",
                "nothing",
                "one of --tokens FILE, --angles FILE, --result DIR, or --init LAW with --n and --d",
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

    /// The law of masses that is named; none for a file.
    ///
    /// **Errors** a law that is malformed, what is neither a law nor a file.
    fn mass_law(&self) -> Result<Option<MassLaw>> {
        let Some(word) = self.masses.as_deref().filter(|word| !Path::new(word).exists()) else { return Ok(None) };
        match MassLaw::parse(word) {
            Some(law) => law.map(Some),
            None if word.contains(['.', '/']) || word == "-" => Ok(None),
            None => {
                let expected = format!("a file with one mass per token, or a law: {}", mass_law::forms());
                Err(Error::parameter("--masses", word, expected))
            }
        }
    }

    /// True when tokens, angles, a run or a law are named.
    pub fn is_given(&self) -> bool {
        self.tokens.is_some() || self.angles.is_some() || self.past.folder().is_some() || self.init.is_some()
    }

    /// True when tokens are drawn from a law.
    pub fn is_drawn(&self) -> bool {
        self.init.is_some()
    }

    /// The same, drawn with another seed.
    pub fn at_seed(&self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self.clone() }
    }

    /// The numbers given as --n and --d.
    pub fn shape(&self) -> (Option<i64>, Option<i64>) {
        (self.n, self.d)
    }

    /// The layer of an array of three axes; others as they are.
    fn layer(&self, array: Array) -> Result<Array> {
        let [layers, n, d] = array.shape[..] else {
            return if !self.past.has_frame() {
                Ok(array)
            } else {
                Err(Error::parameter("--frame", "one", "it with --result, or with an array of layers x n x d"))
            };
        };
        if !self.past.has_frame() {
            let expected = format!("a layer with --frame, from 0 to {}", layers - 1);
            return Err(Error::parameter("--tokens", format!("an array of {layers} x {n} x {d}"), expected));
        }
        let k = self.past.which()?.layer(layers)?;
        Ok(Array { shape: vec![n, d], data: array.data[k * n * d..(k + 1) * n * d].to_vec(), ..array })
    }

    /// The seed of a law: a run that goes on keeps its own.
    pub fn seed(&self) -> u64 {
        self.seed.or_else(|| drawn_from(self.past.folder()?)).unwrap_or(1)
    }

    /// Flags that say nothing about what is given are refused: a seed where nothing is `drawn`.
    fn check(&self, drawn: bool) -> Result<()> {
        let given = [("--n", self.n.is_some()), ("--d", self.d.is_some()), ("--seed", self.seed.is_some() && !drawn)];
        let sources =
            [("--tokens", self.tokens.is_some()), ("--angles", self.angles.is_some()), ("--result", self.past.folder().is_some())];
        let file = sources.iter().find(|s| s.1);
        let source = file.map_or("", |s| s.0);
        if let (Some(_), Some((flag, _))) = (file, given.iter().find(|g| g.1)) {
            let found = format!("{flag} beside {source}");
            let expected = if self.n.is_some() || self.d.is_some() {
                "it with --init only: the file says how many there are"
            } else {
                "it where something is drawn: --init, matrices or masses by law, noise without a seed"
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
    /// Algorithm of the kernel sums (see `list kernels`), or auto. Where one that is named cannot
    /// keep the accuracy, the accuracy that it keeps is taken, and said; with --accuracy it is
    /// refused.
    #[arg(long, default_value = "auto")]
    pub kernel: String,
    /// Relative accuracy of each velocity, kept by every algorithm; above 1e-13 auto may choose a fast one (default 1e-13; solve: rtol / 100 times the
    /// kernel width; with noise 1e-9).
    #[arg(long)]
    pub accuracy: Option<f64>,
    /// Instruction set: auto, portable, avx2 or avx512.
    #[arg(long, default_value = "auto")]
    pub simd: String,
}

/// Velocities with a larger relative error are none.
const LEAST_ACCURACY: f64 = 0.1;

impl KernelArguments {
    /// The specification with these choices.
    pub fn apply(&self, spec: Spec, default_accuracy: f64) -> Result<Spec> {
        let kernel = super::company::shared(Choice::parse(&self.kernel)?)?;
        let accuracy = self.accuracy.unwrap_or(default_accuracy);
        if !(EXACT..=LEAST_ACCURACY).contains(&accuracy) {
            return Err(Error::parameter("--accuracy", accuracy, "a number in [1e-13, 0.1]: sums in double precision keep no more"));
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

    /// True when the dynamics itself hides later tokens.
    pub fn is_causal(&self, model: &Model) -> Result<bool> {
        Ok(self.entry(model)?.variant.is_some_and(|v| v.causal))
    }

    /// The dynamics of a model for these tokens, with this accuracy unless the user gave one. Where
    /// a kernel is asked for by name, and no accuracy, and it keeps less, then with what it keeps,
    /// which is returned too.
    pub fn build(&self, model: &Model, x: &Tokens, accuracy: f64) -> Result<(Dynamics, Option<f64>)> {
        let dynamics = self.with_accuracy(model, x, accuracy)?;
        let form = dynamics.normalisation.form();
        let kept = dynamics.sublayers.iter().filter_map(|s| s.attention()).map(|a| a.kept(x, form)).fold(EXACT, f64::max);
        if self.kernel.accuracy.is_some() || kept <= dynamics.accuracy() || kept > LEAST_ACCURACY {
            return Ok((dynamics, None));
        }
        // What is kept is that of a typical drift: a quarter of it keeps this too. Two digits, rounded up.
        let room = (4.0 * kept).min(LEAST_ACCURACY);
        let taken = format!("{:.1e}", 1.05 * room).parse().unwrap_or(room).clamp(room, LEAST_ACCURACY);
        super::output::note(&format!(
            "the kernel `{}` keeps an accuracy of {taken:.1e}, which is taken instead of {accuracy:.1e}; --accuracy asks for another",
            self.kernel.kernel
        ));
        Ok((self.with_accuracy(model, x, taken)?, Some(taken)))
    }

    fn with_accuracy(&self, model: &Model, x: &Tokens, accuracy: f64) -> Result<Dynamics> {
        if let (Some(scale), None) = (&self.time_scale, self.normalisation(model)?) {
            return Err(Error::parameter("time-scale", scale, "none: only dynamics with exponential weights have a time normalisation"));
        }
        let spec = Spec { time_scale: self.time_scale()?, ..Spec::new(self.beta, x.n()) };
        model.build(&self.name(model), self.causal, &self.kernel.apply(spec, accuracy)?, x.d())
    }

    /// Says when a run goes on, or is looked at, by other dynamics than made it.
    pub fn note_past(&self, tokens: &TokenArguments, described: &Described) -> Result<()> {
        let Some(before) = tokens.past.folder().and_then(made_by) else { return Ok(()) };
        let now = moved_by(self.entry(&described.model)?.name, self.normalisation(&described.model)?, &described.said());
        if before != now {
            super::output::note(&format!("the run was made by {before}; here its tokens move by {now}"));
        }
        Ok(())
    }

    /// True when nothing but beta is given.
    pub fn is_plain(&self) -> Result<bool> {
        let usual = matches!(Choice::parse(&self.kernel.kernel), Ok(Choice::Auto)) && self.kernel.accuracy.is_none();
        Ok(self.dynamics.is_none() && !self.causal && self.time_scale.is_none() && usual && self.parts.described()?.is_plain())
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

/// A whole number of a flag, inside `[low, high]`.
pub fn count(flag: &str, v: i64, low: i64, high: i64) -> Result<usize> {
    if (low..=high).contains(&v) { Ok(v as usize) } else { Err(Error::parameter(flag, v, format!("a whole number in [{low}, {high}]"))) }
}

/// The error for a value that is no number, in the words of all others: the parser of flags says only what its type could not read.
pub fn wrong_number(e: &clap::Error) -> Option<Error> {
    use clap::error::ContextKind::{InvalidArg, InvalidValue};
    let said = e.to_string();
    let expected = if said.contains("float literal") {
        "a number"
    } else if said.contains("digit found in string") || said.contains("integer from empty string") {
        "a whole number of 0 or more, all digits written out"
    } else if said.contains("too large to fit") || said.contains("too small to fit") {
        "a smaller whole number"
    } else {
        return None;
    };
    let word = |kind| e.get(kind).map(ToString::to_string);
    let (flag, found) = (word(InvalidArg)?, word(InvalidValue)?);
    Some(Error::parameter(flag.split_whitespace().next().unwrap_or_default(), found, expected))
}

/// The error for a command that there is not: it lists those that there are, as every unknown name
/// does.
pub fn unknown_command<'w>(e: &clap::Error, words: impl IntoIterator<Item = &'w str>, program: &clap::Command) -> Option<Error> {
    let found = e.get(clap::error::ContextKind::InvalidSubcommand)?.to_string();
    let parent = commands(program, words.into_iter().take_while(|word| *word != found)).pop()?;
    let known: Vec<&str> = parent.get_subcommands().map(clap::Command::get_name).collect();
    let near = crate::error::nearest(&found, known.iter().copied()).map_or(String::new(), |near| format!("`{near}`? Else "));
    Some(Error::parameter(parent.get_name(), format!("`{found}`"), format!("{near}one of {}", known.join(", "))))
}

/// The commands that these words name, from the program down to the last one.
fn commands<'c, 'w>(program: &'c clap::Command, words: impl Iterator<Item = &'w str>) -> Vec<&'c clap::Command> {
    words.fold(vec![program], |mut path, word| {
        path.extend(path[path.len() - 1].find_subcommand(word));
        path
    })
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
pub fn as_flag(e: Error) -> Error {
    let program = super::command_line::definitions();
    let words = super::command_line::words();
    let given = commands(&program, words.iter().map(String::as_str));
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

//! Reads a model from settings and files. The keys are the same in the `[model]` table of an
//! experiment, in a model file, and on the command line.

use super::arrays;
use super::provenance::{hash, without_folders};
use super::range::{self, expanded};
use super::toml_reader::Reader;
use crate::attention::dense::Activation;
use crate::attention::interaction::{Interaction, check_coupling};
use crate::attention::model::{DepthSchedule, FeedForwardWeights, Model, PatternSpec, Weighting};
use crate::attention::noise::{Isotropic, Sampler};
use crate::attention::pattern::{BiasTable, Pairs};
use crate::attention::random_matrix::MatrixLaw;
use crate::attention::{Matrix, normalisation};
use crate::error::{Error, Result};
use crate::flow::Splitting;
use crate::num::key_values::KeyValues;
use crate::operation::{Kind, Parameter, any};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The keys of a model. A key that may be given several times is a list: one entry for each head,
/// or several at once.
pub static KEYS: [Parameter; 18] = [
    word(
        "space",
        "State space: sphere (post, cod, ngpt), flat (none) or polar (pre, peri, mix, ln-scaling); \
         default: that of the normalisation",
    ),
    word(
        "norm",
        "Normalisation: post (default), pre, peri, mix:tau=T, ngpt:alpha=A, cod, ln-scaling or \
         none. Off the sphere tokens are points of R^d; their lengths are the radii where the space \
         has radii",
    ),
    switch(
        "rescaled",
        "Integrate the rescaled tokens z = e^{-tV} x of the flow without normalisation",
    ),
    word(
        "weights",
        "Row weights: softmax, exponential, sinkhorn or hardmax. With masses m a row of softmax is \
         A_ij = m_j e^{beta <Qx_i, Kx_j>} over its sum. For sinkhorn A_ij = f_i e^{beta (<x_i, x_j> \
         - 1)} f_j m_j with factors f such that rows of A sum to 1: m_i A_ij is symmetric, its rows \
         and columns sum to m",
    ),
    word(
        "interaction",
        "Any function phi of the inner product s in the place of e^{beta s}: a name such as \
         power:p=3, relu:p=1 or sigmoid:k=9 (see `explain interaction`), or a formula such as \
         \"exp(beta*s) + 0.3*s^3\"; parameters of its own follow a semicolon: \"s^p; p=3\"",
    ),
    word(
        "row_weights",
        "Row weights kappa of sa: rows are divided by sum_j m_j kappa(<x_i, x_j>). A positive \
         interaction; default: the interaction itself, which must then not be negative",
    ),
    word(
        "coupling",
        "A symmetric d x d matrix D: weights are phi(<x_i, D x_j>) and move tokens by D x_j, so that \
         usa is the gradient flow of (1/2) sum m_i m_j W(<x_i, D x_j>), W' = phi. A file; phi is \
         the interaction, or e^{beta s}",
    ),
    list(
        "mask",
        "causal (token i sees j <= i), window:w=W (|i - j| < W, on both sides), or a file of n x n \
         zeros and ones. Repeated: a token sees the keys that all masks show",
    ),
    list(
        "bias",
        "alibi, or a file of n x n numbers (heads x n x n in NPY). Repeated: the sum. The weight of \
         j is e^{beta <Qx_i, Kx_j> + b_ij}: beta does not multiply b. alibi: b_ij = -2^{-8h/H} |i - \
         j| for head h = 1..H, on both sides of i without a causal mask",
    ),
    word("rotary", "Rotary positions: base=10000,pairs=adjacent (or halves)"),
    list(
        "q",
        "Query matrix, r x d, one for each head: a file, or a law (normal:scale=1, symmetric, \
         low-rank:rank=2, rotation, diagonal:1,0.5). A law draws a new matrix in every realisation \
         of an experiment; with a seed (normal:seed=3) one for all of them",
    ),
    list("k", "Key matrix, r x d: a file or a law"),
    list("v", "Value matrix, d x d, or s x d with an output matrix: a file or a law"),
    list("o", "Output matrix, d x s: a file or a law"),
    word(
        "schedule",
        "Matrices over depth: layers (those of q, k, v, o belong to successive layers, one unit of \
         time each) or redrawn (laws draw new matrices at every whole time)",
    ),
    word(
        "mlp",
        "Feed-forward sublayer: an NPZ file with w1 (h x d), b1, w2 (d x h), b2. W2 f(W1 x + b1) + \
         b2 is added to attention of the same x, not after it; peri and ngpt normalise the sum",
    ),
    word(
        "activation",
        "Activation f of the feed-forward sublayer: gelu (default), gelu-tanh or relu",
    ),
    word(
        "noise",
        "kappa=4,step=0.01: isotropic noise of variance 2 h / kappa in every step of length h; \
         seed=S (default: the seed of the run, in an experiment another one for each realisation); \
         scheme=strang-corrected (default), strang-geodesic, lie-geodesic or lie-normalised",
    ),
];

const fn word(name: &'static str, what: &'static str) -> Parameter {
    let limits = any().group("Model").form("VALUE");
    Parameter { name, what, kind: Kind::Text, required: false, many: false, limits }
}

const fn list(name: &'static str, what: &'static str) -> Parameter {
    Parameter { many: true, ..word(name, what) }
}

const fn switch(name: &'static str, what: &'static str) -> Parameter {
    Parameter { kind: Kind::Switch, ..word(name, what) }
}

/// The help on several models in one `[model]` table: the key and its values.
pub const GRID: (&str, &str) = (
    "model",
    "A key of experiments: the table [model] with the keys of `metastable list model`,\nor the \
    name of a file with them. Several models are an axis of the grid:\n\x20 norm = [\"post\", \
    \"pre\"]               2 models: a list where one value is expected\n\x20 q = [\"a.csv\", \
    \"b.csv\"]               1 model with two heads: q, k, v, o, mask and bias\n\x20                                      \
    are lists anyway\n\x20 q = [[\"a.csv\"], [\"b.csv\"]]           2 models with one head each: a \
    list of lists\n\x20 q = \"low-rank:rank=1,seed=1..100\"   100 models: a range a..b, a..b:linK \
    or a..b:logK\n\x20                                      as a value inside a word\nSeveral such \
    keys make all combinations.\nA law of matrices without a seed draws another matrix in every \
    realisation:\nrealisations = 100 and q = \"low-rank:rank=1\" are 100 matrices in one cell, and \
    the column\nmatrix_seed of results.csv names them. seed=1..100 makes 100 cells.",
);

/// The values of the key `model`.
const TABLE_OR_FILE: &str = "a table, or the name of a file with its keys; several models are \
    lists inside one table: norm = [\"post\", \"pre\"], q = [[\"a.csv\"], [\"b.csv\"]], q = \
    \"normal:seed=1..9\" (metastable explain model)";

/// The settings of a model: the words of every key.
pub type Words = BTreeMap<&'static str, Vec<String>>;

/// Noise with its seed and its integrator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSettings {
    /// The noise.
    pub noise: Isotropic,
    /// Seed of the noise; `None` if the run or the experiment gives it.
    pub seed: Option<u64>,
    /// Step size.
    pub step: f64,
    /// Splitting of a step.
    pub splitting: Splitting,
}

/// Integrators of noise by name.
const SCHEMES: [(&str, Splitting, Sampler); 4] = [
    ("strang-corrected", Splitting::Strang, Sampler::Corrected),
    ("strang-geodesic", Splitting::Strang, Sampler::Geodesic),
    ("lie-geodesic", Splitting::Lie, Sampler::Geodesic),
    ("lie-normalised", Splitting::Lie, Sampler::Normalised),
];

/// A model with the settings and files from which it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModelSpec {
    /// The settings; empty for plain attention.
    pub words: Words,
    /// SHA-256 of every file.
    pub files: BTreeMap<String, String>,
    /// The seed of all random parts without a seed of their own; `None` until it is set, or if no
    /// part needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The model.
    #[serde(skip)]
    pub model: Model,
    /// The noise on its tokens.
    #[serde(skip)]
    pub noise_settings: Option<NoiseSettings>,
}

impl ModelSpec {
    /// Reads the settings; files are relative to `folder`.
    ///
    /// **Errors** with the key of each: unknown names, files that cannot be read or have another
    /// shape, numbers out of range.
    pub fn new(
        words: Words,
        folder: &Path,
    ) -> std::result::Result<Self, Vec<(&'static str, Error)>> {
        let mut reading =
            Reading { words: &words, folder, files: BTreeMap::new(), problems: Vec::new() };
        let (model, noise_settings) = (reading.model(), reading.noise_settings());
        let Reading { files, problems, .. } = reading;
        if problems.is_empty() {
            Ok(Self { words, files, seed: None, model, noise_settings })
        } else {
            Err(problems)
        }
    }

    /// True for plain attention without noise.
    pub fn is_plain(&self) -> bool {
        self.words.is_empty()
    }

    /// True if a random part has no seed of its own; the run then gives one, see
    /// [`ModelSpec::with_seed`].
    pub fn needs_seed(&self) -> bool {
        self.model.needs_seed() || self.noise_settings.is_some_and(|s| s.seed.is_none())
    }

    /// The model with this seed for all random parts without a seed of their own.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        if !self.needs_seed() {
            return self;
        }
        let noise_settings =
            self.noise_settings.map(|s| NoiseSettings { seed: s.seed.or(Some(seed)), ..s });
        Self { model: self.model.with_seed(seed), noise_settings, seed: Some(seed), ..self }
    }

    /// The key `model` of an experiment: a table of these keys, or the name of a file with them.
    /// Lists in place of single values, and lists of lists in place of lists, are axes. The result
    /// holds all combinations, at least one.
    pub fn axis(r: &mut Reader) -> Vec<Self> {
        r.declare_subtable(GRID.0, KEYS.iter().map(|k| k.name));
        let Some(file) = r.word(GRID.0) else {
            return r
                .subtable(GRID.0, TABLE_OR_FILE, Self::read)
                .unwrap_or_else(|| vec![Self::default()]);
        };
        Self::load_axis(&r.sibling_path(&file)).unwrap_or_else(|e| {
            let at = r.offset(GRID.0);
            r.problem(at, format!("model: {e}"));
            vec![Self::default()]
        })
    }

    /// Reads a model file with these keys, one value each.
    ///
    /// **Errors** all problems of the file together, each with its line; a list that is an axis of
    /// a grid.
    pub fn load(path: &Path) -> Result<Self> {
        let mut all = Self::load_axis(path)?;
        match all.len() {
            1 => Ok(all.remove(0)),
            several => {
                let problem = format!(
                    "found {several} models (lists and ranges of values are axes of an \
                    experiment's grid), expected one"
                );
                Err(Error::File { path: path.display().to_string(), place: String::new(), problem })
            }
        }
    }

    fn load_axis(path: &Path) -> Result<Vec<Self>> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::File {
                path: name.clone(),
                place: String::new(),
                problem: "no such file".into(),
            },
            _ => Error::io(path.display(), "read", &e),
        })?;
        let mut reader = Reader::new(&name, &text);
        let model_spec = Self::read(&mut reader);
        let problems = reader.finish();
        match problems.len() {
            0 => Ok(model_spec),
            1 => Err(problems.into_iter().next().unwrap_or_else(|| Error::Many(Vec::new()))),
            _ => Err(Error::Many(problems)),
        }
    }

    /// The keys of a table with every combination of their values; problems go to the reader.
    fn read(r: &mut Reader) -> Vec<Self> {
        let mut grid = vec![Words::new()];
        for &Parameter { name: key, many, kind, .. } in &KEYS {
            let variants = if kind == Kind::Switch {
                r.flag(key).map(|yes| vec![if yes { vec!["true".to_owned()] } else { Vec::new() }])
            } else {
                r.variants(key, many)
            };
            let Some(variants) = variants.filter(|v| !v.is_empty()) else { continue };
            let without_ranges: Result<Vec<_>> =
                variants.iter().map(|v| expanded(v, MAX_MODELS)).collect();
            let variants = match without_ranges {
                Ok(lists) => lists.concat(),
                Err(e) => {
                    let at = r.offset(key);
                    r.problem(at, range::named(e, key).to_string());
                    continue;
                }
            };
            let with = |words: &Words, variant: &Vec<String>| {
                let mut words = words.clone();
                if !variant.is_empty() {
                    words.insert(key, variant.clone());
                }
                words
            };
            grid = grid
                .iter()
                .flat_map(|words| variants.iter().map(move |v| with(words, v)))
                .collect();
            if grid.len() > MAX_MODELS {
                let at = r.offset(key);
                r.problem(
                    at,
                    format!(
                        "{key}: found {} models, expected at most {MAX_MODELS}; shorten a list",
                        grid.len()
                    ),
                );
                return vec![Self::default()];
            }
        }
        let (folder, mut all, mut reported) =
            (r.sibling_path(""), Vec::new(), std::collections::BTreeSet::new());
        for words in grid {
            match Self::new(words, &folder) {
                Ok(model_spec) => all.push(model_spec),
                Err(problems) => {
                    for (key, e) in problems {
                        // A value occurs in several combinations; its problem is reported once.
                        if reported.insert(format!("{key}: {e}")) {
                            let at = r.offset(key);
                            r.problem(at, format!("{key}: {e}"));
                        }
                    }
                }
            }
        }
        if all.is_empty() { vec![Self::default()] } else { all }
    }

    /// All settings as text: `norm=pre; noise=kappa=4,step=0.1`, with the seed of random parts;
    /// empty for plain attention.
    pub fn to_text(&self) -> String {
        let mut settings: Vec<String> =
            self.words.iter().map(|(key, words)| format!("{key}={}", words.join("+"))).collect();
        settings.extend(self.seed.map(|s| format!("seed={s}")));
        without_folders(&settings.join("; "))
    }

    /// The settings in the keys in which these models differ: `norm=pre; noise=kappa=4,step=0.1`.
    pub fn label(&self, all: &[Self]) -> String {
        let differs =
            |key: &str| all.iter().any(|other| other.words.get(key) != self.words.get(key));
        let value = |key: &str| self.words.get(key).map_or("none".to_owned(), |w| w.join("+"));
        KEYS.iter()
            .filter(|k| differs(k.name))
            .map(|k| format!("{}={}", k.name, value(k.name)))
            .collect::<Vec<_>>()
            .join("; ")
    }
}

/// [`ModelSpec::to_text`] for a model in a record.
pub fn recorded_text(model: &serde_json::Value) -> String {
    let words = |v: &serde_json::Value| {
        v.as_array().map(|a| a.iter().filter_map(|w| w.as_str()).collect::<Vec<_>>().join("+"))
    };
    let keys = model["words"].as_object().into_iter().flatten();
    let mut settings: Vec<String> =
        keys.map(|(key, v)| format!("{key}={}", words(v).unwrap_or_default())).collect();
    settings.extend(model["seed"].as_u64().map(|s| format!("seed={s}")));
    without_folders(&settings.join("; "))
}

/// Largest number of models in a grid.
const MAX_MODELS: usize = 10_000;

/// A random matrix with its head and its index among Q, K, V, O.
type DrawnMatrix = (usize, usize, MatrixLaw);

/// The state of reading the settings.
struct Reading<'a> {
    words: &'a Words,
    folder: &'a Path,
    files: BTreeMap<String, String>,
    problems: Vec<(&'static str, Error)>,
}

impl Reading<'_> {
    /// The words of a key.
    fn list(&self, key: &str) -> &[String] {
        self.words.get(key).map_or(&[], Vec::as_slice)
    }

    /// Parses the value of a key; a problem is recorded.
    fn one<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&mut Self, &str) -> Result<T>,
    ) -> Option<T> {
        let word = self.list(key).first()?.clone();
        parse(self, &word).map_err(|e| self.problems.push((key, e))).ok()
    }

    fn each<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&mut Self, &str) -> Result<T>,
    ) -> Vec<T> {
        let words = self.list(key).to_vec();
        words
            .iter()
            .filter_map(|w| parse(self, w).map_err(|e| self.problems.push((key, e))).ok())
            .collect()
    }

    /// The path of a file; the hash of its content is recorded.
    fn file(&mut self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        let shown = |problem: &str| Error::File {
            path: path.display().to_string(),
            place: String::new(),
            problem: problem.into(),
        };
        if !path.exists() {
            return Err(shown("no such file"));
        }
        // Only regular files are read: devices and pipes may have no end.
        if !path.is_file() {
            return Err(shown("not a regular file"));
        }
        let bytes = std::fs::read(&path).map_err(|e| Error::io(path.display(), "read", &e))?;
        self.files.insert(name.to_owned(), hash(bytes));
        Ok(path)
    }

    fn model(&mut self) -> Model {
        let space = self.one("space", |_, w| {
            let found = crate::sphere::space::find(w).map(|s| s.name().to_owned());
            found.ok_or_else(|| Error::unknown("space", w, ["sphere", "flat", "polar"]))
        });
        let normalisation = self.one("norm", |_, w| normalisation::find(w).map(|_| w.to_owned()));
        let weights = self.one("weights", |_, w| Weighting::parse(w));
        let mut patterns = self.each("mask", Self::mask);
        patterns.extend(self.each("bias", Self::bias));
        patterns.extend(self.one("rotary", |_, w| rotary(w)));
        let (heads, laws) = self.heads();
        let activation = self.one("activation", |_, w| activation(w));
        if self.words.contains_key("activation") && !self.words.contains_key("mlp") {
            let found = self.list("activation").join(", ");
            self.problems.push((
                "activation",
                Error::parameter("activation", found, "none without a feed-forward sublayer"),
            ));
        }
        let units = self.one("mlp", |r, w| r.units(w, activation.unwrap_or(Activation::Gelu)));
        let depth_schedule = self.depth_schedule(&laws);
        let interaction = self.one("interaction", |_, w| {
            // Its value at another beta may still be refused.
            Interaction::parse(w, &[("beta", 1.0)]).map(|_| w.to_owned())
        });
        let row_weights = self.one("row_weights", |_, w| {
            Interaction::parse_row_weights(w, &[("beta", 1.0)]).map(|_| w.to_owned())
        });
        let coupling = self.one("coupling", |r, w| {
            let form = arrays::matrix(&r.file(w)?, None)?;
            let (rows, columns) = (form.0, form.1.len() / form.0.max(1));
            if rows != columns {
                let found = format!("a {rows} x {columns} matrix");
                let expected = "a square matrix D, with a row and a column for each coordinate of \
                                the tokens";
                return Err(Error::parameter("coupling", found, expected));
            }
            check_coupling(columns, &form).map(|()| form)
        });
        let heads_beside = ["q", "k", "v", "o"].into_iter().find(|k| !self.list(k).is_empty());
        if let (Some(key), Some(_)) = (heads_beside, &coupling) {
            let expected = "no q, k, v, o together with a coupling, which is K = V";
            self.problems.push(("coupling", Error::parameter("coupling", key, expected)));
        }
        let rescaled = self.words.contains_key("rescaled");
        let model = Model {
            space,
            normalisation,
            rescaled,
            weights,
            patterns,
            heads,
            feed_forward: units,
            laws,
            depth_schedule,
            interaction,
            row_weights,
            coupling,
        };
        if let (true, Err(e)) = (self.problems.is_empty(), model.scheme()) {
            let key = if self.words.contains_key("space") { "space" } else { "norm" };
            self.problems.push((key, e));
        }
        model
    }

    /// The matrices from files, and the random matrices with their places.
    fn heads(&mut self) -> (Vec<[Option<Matrix>; 4]>, Vec<DrawnMatrix>) {
        let keys = ["q", "k", "v", "o"];
        let count = keys.map(|k| self.list(k).len()).into_iter().max().unwrap_or(0);
        let (mut columns, mut laws) = (Vec::new(), Vec::new());
        for (slot, key) in keys.into_iter().enumerate() {
            let found = self.list(key).len();
            if found != 0 && found != count {
                let expected = format!("none, or one per head ({count})");
                self.problems
                    .push((key, Error::parameter(key, format!("{found} files"), expected)));
            }
            let column = self.each(key, |r, w| {
                match MatrixLaw::parse(w).filter(|_| !r.folder.join(w).exists()) {
                    Some(law) => Ok((None, Some(law?))),
                    None => Ok((Some(arrays::matrix(&r.file(w)?, None)?), None)),
                }
            });
            laws.extend(
                column.iter().enumerate().filter_map(|(h, c)| Some((h, slot, c.1.clone()?))),
            );
            columns.push(column);
        }
        let matrix = |h: usize, k: usize| columns[k].get(h).and_then(|c| c.0.clone());
        ((0..count).map(|h| [0, 1, 2, 3].map(|k| matrix(h, k))).collect(), laws)
    }

    fn depth_schedule(&mut self, laws: &[DrawnMatrix]) -> Option<DepthSchedule> {
        let how = self.one("schedule", |_, w| match w {
            "layers" => Ok(DepthSchedule::OneHeadPerLayer),
            "redrawn" => Ok(DepthSchedule::Redrawn),
            other => Err(Error::unknown("schedule", other, ["layers", "redrawn"])),
        })?;
        if how == DepthSchedule::Redrawn && laws.is_empty() {
            self.problems.push((
                "schedule",
                Error::parameter("schedule", "redrawn", "matrices by law, such as v = \"normal\""),
            ));
        }
        Some(how)
    }

    fn mask(&mut self, word: &str) -> Result<PatternSpec> {
        let (name, rest) = word.split_once(':').unwrap_or((word, ""));
        match name {
            "causal" if rest.is_empty() => Ok(PatternSpec::Causal),
            "window" => {
                let found =
                    KeyValues::parse("window", rest).with_keys("window parameter", &["w"])?;
                let width = found.integer("w")?.ok_or_else(|| {
                    Error::parameter("window w", "nothing", "a width: window:w=8")
                })?;
                if width == 0 {
                    Err(Error::parameter("window w", 0, "at least 1"))
                } else {
                    Ok(PatternSpec::Window(width as usize))
                }
            }
            _ => {
                let (array, _) = self.table(word, &["causal", "window"])?;
                let [n, m] = array.shape[..] else {
                    return Err(Error::parameter(
                        "mask",
                        format!("the shape {:?}", array.shape),
                        "an n x n table",
                    ));
                };
                if let Some(v) = array.data.iter().find(|v| (**v * (**v - 1.0)).abs() > 0.0) {
                    return Err(Error::parameter(
                        "mask",
                        v,
                        "zeros and ones (1 where row i sees column j)",
                    ));
                }
                let seen: Vec<bool> = array.data.iter().map(|v| *v > 0.5).collect();
                Ok(PatternSpec::Table(BiasTable::mask(n, m, &seen)?))
            }
        }
    }

    fn bias(&mut self, word: &str) -> Result<PatternSpec> {
        if word == "alibi" {
            return Ok(PatternSpec::Alibi);
        }
        let (array, _) = self.table(word, &["alibi"])?;
        Ok(PatternSpec::Table(match array.shape[..] {
            [n, m] => BiasTable::biases(n, m, array.data)?,
            [h, n, m] => BiasTable::biases_by_head(h, n, m, array.data)?,
            _ => {
                return Err(Error::parameter(
                    "bias",
                    format!("the shape {:?}", array.shape),
                    "an n x n table, or heads x n x n",
                ));
            }
        }))
    }

    /// Reads a table from a file; an unknown name is compared with these names.
    fn table(&mut self, word: &str, names: &[&str]) -> Result<(arrays::Array, PathBuf)> {
        let named =
            crate::error::nearest(word.split(':').next().unwrap_or(word), names.iter().copied());
        if let (false, Some(near)) = (self.folder.join(word).exists(), named) {
            return Err(Error::parameter("pattern", word, format!("`{near}`, or a file")));
        }
        let path = self.file(word)?;
        Ok((arrays::read(&path, None)?, path))
    }

    fn units(&mut self, word: &str, activation: Activation) -> Result<FeedForwardWeights> {
        let path = self.file(word)?;
        let numbers = |name: &str| arrays::list(&path, Some(name));
        Ok(FeedForwardWeights {
            w1: arrays::matrix(&path, Some("w1"))?,
            b1: numbers("b1")?,
            w2: arrays::matrix(&path, Some("w2"))?,
            b2: numbers("b2")?,
            activation,
        })
    }

    fn noise_settings(&mut self) -> Option<NoiseSettings> {
        // In a grid one value may be `none`.
        if self.list("noise") == ["none"] {
            return None;
        }
        self.one("noise", |_, w| {
            let found = KeyValues::parse("noise", w)
                .with_keys("noise parameter", &["kappa", "seed", "step", "scheme"])?;
            // Wrong values are reported before missing ones.
            let noise = found.number("kappa")?.map(Isotropic::new).transpose()?;
            let step = found.number("step")?;
            if let Some(step) = step.filter(|step| !(*step > 0.0 && step.is_finite())) {
                return Err(Error::parameter("noise step", step, "a positive finite number"));
            }
            let seed = found.integer("seed")?;
            let scheme = found.get("scheme").unwrap_or(SCHEMES[0].0);
            let known = SCHEMES.iter().find(|s| s.0 == scheme);
            let (_, splitting, sampler) = known
                .ok_or_else(|| Error::unknown("scheme of noise", scheme, SCHEMES.map(|s| s.0)))?;
            let missing = |name: &str| {
                Error::parameter(format!("noise {name}"), "nothing", "kappa=K,step=H (and seed=S)")
            };
            let (noise, step) =
                (noise.ok_or_else(|| missing("kappa"))?, step.ok_or_else(|| missing("step"))?);
            Ok(NoiseSettings {
                noise: noise.with_sampler(*sampler),
                seed,
                step,
                splitting: *splitting,
            })
        })
    }
}

fn rotary(word: &str) -> Result<PatternSpec> {
    let found =
        KeyValues::parse("rotary", word).with_keys("rotary parameter", &["base", "pairs"])?;
    let base = found.number("base")?.unwrap_or(10_000.0);
    if !(base > 0.0 && base.is_finite()) {
        return Err(Error::parameter("rotary base", base, "a positive number"));
    }
    let with = match found.get("pairs") {
        None | Some("adjacent") => Pairs::Adjacent,
        Some("halves") => Pairs::Halves,
        Some(other) => {
            return Err(Error::unknown("pairs of rotary positions", other, ["adjacent", "halves"]));
        }
    };
    Ok(PatternSpec::Rotary(base, with))
}

/// The activation between the two matrices of a feed-forward sublayer.
///
/// **Errors** an unknown name.
pub fn activation(word: &str) -> Result<Activation> {
    let all = [
        ("gelu", Activation::Gelu),
        ("gelu-tanh", Activation::GeluTanh),
        ("relu", Activation::Relu),
    ];
    let found = all.iter().find(|(n, _)| *n == word);
    found.map(|a| a.1).ok_or_else(|| Error::unknown("activation", word, all.iter().map(|a| a.0)))
}

//! Reads an experiment from its file and reports all problems of the file and of its cells
//! together.

use super::experiment::{BUILT_IN, Experiment, MAX_CELLS, Stepping};
use super::method::Method;
use super::model::ModelSpec;
use super::plan::plan;
use super::toml_reader::{OverriddenKey, Reader};
use crate::attention::model::{Model, Weighting};
use crate::attention::normalisation::Normalisation;
use crate::attention::{TimeScale, dynamics};
use crate::error::{Error, Result, format_number};
use crate::flow::{observable, parameters::Integration};
use crate::sphere::law::Law;
use std::path::Path;

/// Largest number of coordinates n d for which a law is tested before an experiment runs.
const MAX_TESTED_SHAPE: usize = 100_000;

/// Largest number of coordinates drawn in these tests, over all shapes: about a second.
const MAX_TESTED_TOTAL: usize = 50_000_000;

/// Smallest end time beside 0: times are resolved from 1e-300 to 1e300.
const LEAST_TIME: f64 = 1e-300;

/// Reads a text file.
fn read_text(path: &Path) -> Result<String> {
    let problem = |problem: &str| Error::File {
        path: path.display().to_string(),
        place: String::new(),
        problem: problem.into(),
    };
    std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => problem("no such file"),
        std::io::ErrorKind::InvalidData => problem("found binary data, expected TOML text"),
        _ => Error::io(path.display(), "read", &e),
    })
}

impl Experiment {
    /// Reads and validates a file.
    ///
    /// **Errors** all problems of the file together, each with its line.
    pub fn load(path: &Path) -> Result<Self> {
        Ok(Self {
            source: path.display().to_string(),
            ..Self::parse(&path.display().to_string(), &read_text(path)?)?
        })
    }

    /// A built-in experiment, by name.
    pub fn built_in(name: &str) -> Result<Self> {
        let found = BUILT_IN.iter().find(|(n, _)| *n == name);
        let (name, text) = found
            .ok_or_else(|| Error::unknown("experiment", name, BUILT_IN.iter().map(|(n, _)| *n)))?;
        Ok(Self {
            source: (*name).to_owned(),
            ..Self::parse(&format!("experiments/{name}.toml"), text)?
        })
    }

    /// The name for errors and the text of an experiment: of the built-in one with this name,
    /// unless a file has the same name; otherwise of the file.
    pub(super) fn text(name: &str) -> Result<(String, String)> {
        let built_in = BUILT_IN.iter().find(|(n, _)| *n == name && !Path::new(name).exists());
        match built_in {
            Some((_, text)) => Ok((format!("experiments/{name}.toml"), (*text).to_owned())),
            None => Ok((name.to_owned(), read_text(Path::new(name))?)),
        }
    }

    /// Validates a text; `path` is only named in errors.
    ///
    /// ```
    /// let e = metastable::lab::Experiment::parse("x.toml", "name='a'\nn=4\nd=2\nbeta=1\nt_end=2\nbetta=3").unwrap_err();
    /// assert!(e.to_string().contains("line 6, column 1: unknown key `betta`; did you mean `beta`?"));
    /// ```
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        Self::parse_with_overrides(path, text, &[])
    }

    /// [`Self::parse`] with other values for some keys.
    pub(super) fn parse_with_overrides(
        path: &str,
        text: &str,
        changes: &[OverriddenKey],
    ) -> Result<Self> {
        let mut r = Reader::with_overrides(path, text, changes);
        let experiment = Self::read(&mut r);
        experiment.check_size(&mut r);
        experiment.check_sense(&mut r);
        if r.problems.is_empty() {
            experiment.check_cells(&mut r);
        }
        let problems = r.finish();
        match problems.len() {
            0 => Ok(experiment),
            1 => Err(problems.into_iter().next().unwrap_or_else(|| Error::Many(Vec::new()))),
            _ => Err(Error::Many(problems)),
        }
    }

    /// Reads every key; problems go to the reader.
    fn read(r: &mut Reader) -> Self {
        let name = name_of(r);
        let title = r.string("title").unwrap_or_else(|| name.clone());
        let seed = r.seed("seed").unwrap_or(1);
        let mut models = ModelSpec::axis(r);
        let model = models[0].clone();
        if models.len() == 1 {
            models.clear();
        }
        let usual = model.model.weights.map_or("sa", Weighting::dynamics);
        let dynamics =
            named(r, "dynamics", usual, |s| dynamics::find(s, false).map(|e| e.name.to_owned()));
        let tokens = tokens_of(r, &model.model);
        let init = named(r, "init", "uniform", |s| Law::parse(s).map(|l| l.spec()));
        let (n, d) = shape(r, &tokens, &model.model);
        let needed = || std::iter::once(&model).chain(&models).any(|m| m.model.needs_beta());
        let [beta, beta_per_n, beta_per_n2] = betas_of(r, needed);
        let (masses, mass_law) = super::method::masses(r, &n);
        let scale =
            named(r, "time_scale", "u1", |s| TimeScale::parse(s).map(|_| s.to_ascii_lowercase()));
        let layers = r.count("layers", 1, 100_000_000).unwrap_or(0);
        let t_end = r.number("t_end", 0.0, 1e300);
        if t_end.is_some_and(|t| t > 0.0 && t < LEAST_TIME) {
            let expected = format!("0, or a number in [{LEAST_TIME:e}, 1e300]");
            r.wrong("t_end", &expected);
        }
        if t_end.is_none() && layers == 0 && !r.has("t_end") {
            r.problem(0, "missing key `t_end` (or `layers` for a layer stepper)".into());
        }
        const KEYS: [&str; 3] = ["rtol", "merge_radius", "stop_at_one_cluster"];
        let integration = r.parameters::<Integration>(&KEYS).unwrap_or_default();
        Self {
            name,
            title,
            seed,
            dynamics,
            init,
            tokens,
            n,
            d,
            beta,
            beta_per_n,
            beta_per_n2,
            time_scale: scale.first().cloned().unwrap_or_default(),
            realisations: r.count("realisations", 1, 10_000_000).unwrap_or(1),
            stepper: stepper_of(r),
            eta: r.numbers("eta", 0.0, f64::INFINITY).unwrap_or_else(|| vec![0.1]),
            layers,
            t_end: t_end.unwrap_or(0.0),
            rtol: integration.rtol,
            merge_radius: integration.merge_radius,
            stop_at_one_cluster: integration.stop_at_one_cluster,
            times: r.numbers("times", 0.0, 1e300).unwrap_or_default(),
            samples: r.count("samples", 2, 1_000_000).unwrap_or(200),
            log_from: r.number("log_from", 0.0, 1e300).unwrap_or(0.0),
            observables: observables_of(r),
            mean: r.flag("mean").unwrap_or(false),
            band: r.number("band", 0.0, 1.0).unwrap_or(0.0),
            model,
            models,
            masses,
            mass_law,
            method: Method::from_reader(r),
            certify: r.flag("certify").unwrap_or(false),
            source: String::new(),
        }
    }

    fn check_size(&self, r: &mut Reader) {
        match self.size() {
            Some(cells) if cells <= MAX_CELLS => {}
            cells => {
                let found = cells.map_or("more than 1.8e19".to_owned(), |c| c.to_string());
                r.problem(
                    0,
                    format!(
                        "the grid has {found} cells, expected at most {MAX_CELLS}; shorten a list"
                    ),
                );
            }
        }
        let rows = if self.times.is_empty() { self.samples } else { self.times.len() };
        let columns: usize = self
            .observables
            .iter()
            .filter_map(|o| observable::find(o).ok())
            .map(|o| {
                // Only positions and masses have a number of columns that grows with n and d.
                match o.name {
                    "positions" => {
                        self.n.iter().max().unwrap_or(&1) * self.d.iter().max().unwrap_or(&1)
                    }
                    "masses" => *self.n.iter().max().unwrap_or(&1),
                    _ => 40,
                }
            })
            .sum();
        let runs = if self.mean { 1 } else { self.realisations };
        if rows.saturating_mul(columns).saturating_mul(runs) > 200_000_000 {
            r.problem(
                0,
                format!(
                    "one cell would record {rows} x {columns} numbers for {runs} realisations; \
                    record fewer samples or set mean = true"
                ),
            );
        }
        let tokens =
            self.n.iter().max().unwrap_or(&1).saturating_mul(*self.d.iter().max().unwrap_or(&1));
        if tokens > 1 << 28 {
            r.problem(0, format!("n * d = {tokens}, expected at most {} coordinates", 1 << 28));
        }
    }

    fn check_sense(&self, r: &mut Reader) {
        if self.stepper != Stepping::Adaptive && self.layers == 0 {
            let smallest = self.eta.iter().copied().fold(f64::INFINITY, f64::min);
            let layers = self.t_end / smallest;
            if self.stepper == Stepping::MeanShift || self.eta.iter().any(|e| e.is_infinite()) {
                let at = r.offset("stepper");
                r.problem(
                    at,
                    "mean shift has no time step: give `layers` instead of `t_end`".into(),
                );
            } else if layers.is_nan() || layers > 1e8 {
                let at = r.offset("eta");
                r.problem(at, format!("t_end / eta = {layers:e} layers, expected at most 1e8"));
            }
        }
        for (key, other) in [
            ("times", "samples"),
            ("times", "log_from"),
            ("tokens", "init"),
            ("tokens_file", "init"),
            ("layers", "t_end"),
        ] {
            if r.has(key) && r.has(other) {
                let at = r.offset(other);
                r.problem(at, format!("{other}: contradicts `{key}`; give one of them"));
            }
        }
        self.check_method(r);
        self.check_certify(r);
        let unit =
            self.all_models().iter().all(|m| m.model.scheme().is_ok_and(|s| s.space().is_unit()));
        for o in self
            .observables
            .iter()
            .filter_map(|o| observable::find(o).ok())
            .filter(|o| o.needs_unit_vectors && !unit)
        {
            let at = r.offset("observables");
            r.problem(
                at,
                format!(
                    "observables: found `{}`, which needs unit vectors; off the sphere use \
                    clusters, masses or positions",
                    o.name
                ),
            );
        }
        if self.stepper == Stepping::Adaptive {
            for key in ["layers", "eta"].into_iter().filter(|k| r.has(k)).collect::<Vec<_>>() {
                let at = r.offset(key);
                r.problem(at, format!("{key}: only steppers `layer` and `mean-shift` have layers"));
            }
        }
        if self.band > 0.0 && !(self.mean && self.realisations > 1) {
            let at = r.offset("band");
            r.problem(
                at,
                "band: needs means of several realisations; set `mean = true` and `realisations`"
                    .into(),
            );
        }
        if let Some(late) = self.times.iter().find(|t| self.layers == 0 && **t > self.t_end) {
            let at = r.offset("times");
            r.problem(
                at,
                format!(
                    "times: found {}, after t_end = {}",
                    format_number(*late),
                    format_number(self.t_end)
                ),
            );
        }
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        if sorted != self.times {
            let at = r.offset("times");
            r.problem(at, "times: expected ascending times".into());
        }
        if self.log_from > 0.0 && self.log_from >= self.t_end {
            let at = r.offset("log_from");
            r.problem(
                at,
                format!(
                    "log_from: found {}, expected a time below t_end = {}",
                    self.log_from, self.t_end
                ),
            );
        }
    }

    /// `certify` works for the plain flows of SA and USA, mutual or causal, of few tokens.
    fn check_certify(&self, r: &mut Reader) {
        if !self.certify {
            return;
        }
        let at = r.offset("certify");
        let provable = |name: &String| {
            dynamics::find(name, false).is_ok_and(|e| e.variant.is_some_and(|v| !v.repulsive))
        };
        if let Some(name) = self.dynamics.iter().find(|d| !provable(d)) {
            r.problem(
                at,
                format!(
                    "certify: found dynamics {name}, expected sa, usa, causal-sa or causal-usa"
                ),
            );
        }
        if self.stepper != Stepping::Adaptive || !self.all_models().iter().all(|m| m.is_plain()) {
            r.problem(
                at,
                "certify: works for the plain flow only, without layers, noise or a model".into(),
            );
        }
        let size =
            self.n.iter().max().unwrap_or(&1).saturating_mul(*self.d.iter().max().unwrap_or(&1));
        if size > 512 || self.n.iter().min() == Some(&1) {
            r.problem(
                at,
                format!(
                    "certify: found n d = {size}, expected at least 2 tokens of at most 512 \
                    coordinates in all"
                ),
            );
        }
        if self.beta.iter().any(|b| *b < 0.0) {
            r.problem(at, "certify: found beta < 0, expected attraction".into());
        }
    }

    /// Refuses keys of error-controlled steps if the steps are of another kind.
    fn check_method(&self, r: &mut Reader) {
        let noisy = self.all_models().iter().any(|m| m.noise_settings.is_some());
        if let (Some(key), true) =
            (self.method.adaptive_only(), self.stepper != Stepping::Adaptive || noisy)
        {
            let at = r.offset(key);
            r.problem(at, format!("{key}: only error-controlled steps have this key"));
        }
        if noisy {
            for key in ["stepper", "eta", "layers", "rtol", "merge_radius", "stop_at_one_cluster"]
                .into_iter()
                .filter(|k| r.has(k))
                .collect::<Vec<_>>()
            {
                let at = r.offset(key);
                r.problem(
                    at,
                    format!(
                        "{key}: found together with noise; steps with noise have a fixed length \
                        and do not merge tokens"
                    ),
                );
            }
        }
    }

    /// Checks before anything runs that every dynamics exists at every beta and every law for every
    /// shape. Laws are tested by drawing, for shapes of up to [`MAX_TESTED_SHAPE`] coordinates and
    /// [`MAX_TESTED_TOTAL`] in total; for larger shapes a law that does not exist is an error of
    /// its cell.
    fn check_cells(&self, r: &mut Reader) {
        let (mut seen, mut probed) = (std::collections::BTreeSet::new(), 0);
        for cell in &plan(self) {
            let (shape, size) = ((cell.init.clone(), cell.n, cell.d), cell.n * cell.d);
            let affordable = size <= MAX_TESTED_SHAPE && probed + size <= MAX_TESTED_TOTAL;
            if !cell.init.is_empty() && affordable && seen.insert(format!("{shape:?}")) {
                probed += size;
                let drawn = Law::parse(&cell.init).and_then(|l| {
                    l.sample(cell.n, cell.d, &mut crate::num::stream::Stream::new(0, &["probe"]))
                });
                if let Err(e) = drawn {
                    let at = r.offset("init");
                    r.problem(
                        at,
                        format!(
                            "init: the law `{}` does not exist for n = {}, d = {}: {e}",
                            cell.init, cell.n, cell.d
                        ),
                    );
                }
            }
            let plain = self.model_of(&cell.model).is_plain();
            let heads = if plain && self.method.kernel.is_none() { 0 } else { cell.d };
            let new = seen.insert(format!(
                "{} {} {} {heads} {}",
                cell.dynamics, cell.beta, cell.n, cell.model
            ));
            if new && let Err(e) = self.probe(cell, affordable) {
                let key = if self.method.kernel.is_some() {
                    "kernel"
                } else if plain {
                    "beta"
                } else {
                    "model"
                };
                let at = r.offset(key);
                r.problem(at, format!("{key}: {e}"));
            }
            if r.problems.len() >= 5 {
                return;
            }
        }
    }
}

impl Experiment {
    /// Builds the dynamics of a cell. For a model with more settings than a name it also tests them
    /// with tokens of the shape of the cell.
    fn probe(&self, cell: &super::plan::Cell, affordable: bool) -> Result<()> {
        let scale = TimeScale::parse(&self.time_scale).unwrap_or_default();
        let spec = dynamics::Spec { time_scale: scale, ..dynamics::Spec::new(cell.beta, cell.n) };
        let model_spec = self.model_of(&cell.model);
        let model = &model_spec.model;
        let built = model.build(&cell.dynamics, false, &self.method.spec(spec)?, cell.d)?;
        if (!model_spec.is_plain() || self.method.kernel.is_some()) && affordable {
            let x = Law::parse("uniform")?.sample(
                cell.n,
                cell.d,
                &mut crate::num::stream::Stream::new(0, &["probe"]),
            )?;
            built.kernel(&model.tokens_from_unit_vectors(&x, None)?)?;
        }
        Ok(())
    }
}

/// Inverse temperatures: the lists `beta`, `beta_per_n` and `beta_per_n2`. Without them it is 0 if
/// it is not `needed`.
fn betas_of(r: &mut Reader, needed: impl Fn() -> bool) -> [Vec<f64>; 3] {
    let limit = dynamics::MAX_BETA;
    let mut beta = r.numbers("beta", -limit, limit).unwrap_or_default();
    let beta_per_n = r.numbers("beta_per_n", 0.0, 1e6).unwrap_or_default();
    let beta_per_n2 = r.numbers("beta_per_n2", 0.0, 1e6).unwrap_or_default();
    if beta.is_empty() && beta_per_n.is_empty() && beta_per_n2.is_empty() && !r.has("beta") {
        if needed() {
            r.problem(0, "missing key `beta` (or `beta_per_n`, `beta_per_n2`)".into());
        } else {
            beta.push(0.0);
        }
    }
    [beta, beta_per_n, beta_per_n2]
}

/// The name of the experiment, also of its folder.
fn name_of(r: &mut Reader) -> String {
    let name = r.string("name").unwrap_or_default();
    if name.is_empty()
        || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        || name.len() > 80
    {
        let at = r.offset("name");
        r.problem(
            at,
            format!(
                "name: found \"{name}\", expected letters, digits, - and _ (it names a folder)"
            ),
        );
    }
    name
}

/// The observables, energy and clusters by default.
fn observables_of(r: &mut Reader) -> Vec<String> {
    match r.strings("observables") {
        None => vec!["log-energy".to_owned(), "clusters".to_owned()],
        Some(list) => checked(r, list, |s| observable::find(s).map(|e| e.name.to_owned())),
    }
}

/// Explicit initial tokens: rows in the file, or a CSV, NPY or NPZ file beside it (`tokens_file`,
/// `tokens_array`, `normalise`).
fn tokens_of(r: &mut Reader, model: &Model) -> Vec<Vec<f64>> {
    let rows = r.rows("tokens").unwrap_or_default();
    let (array, normalise) = (r.string("tokens_array"), r.flag("normalise").unwrap_or(false));
    let Some(file) = r.string("tokens_file") else { return rows };
    let at = r.offset("tokens_file");
    if !rows.is_empty() {
        r.problem(at, "tokens_file: contradicts `tokens`; give one of them".into());
    }
    // In spaces without unit vectors the lengths of the tokens are kept.
    let whole = |x: &crate::sphere::Tokens, i: usize| -> Vec<f64> {
        let radius = x.extra_numbers().get(i).copied().unwrap_or(1.0);
        x.row(i).iter().map(|v| radius * v).collect()
    };
    let path = r.sibling_path(&file);
    let placed = super::arrays::read(&path, array.as_deref()).and_then(|a| {
        super::arrays::tokens_from_rows(&path, &a, |d, rows| {
            model.tokens_from_rows(d, rows, normalise, None)
        })
    });
    match placed {
        Ok(x) => (0..x.n()).map(|i| whole(&x, i)).collect(),
        Err(e) => {
            r.problem(at, format!("tokens_file: {e}"));
            vec![vec![1.0, 0.0]]
        }
    }
}

/// The stepper, adaptive by default.
fn stepper_of(r: &mut Reader) -> Stepping {
    match named(r, "stepper", "adaptive", stepper_name).first().map(String::as_str) {
        Some("layer") => Stepping::Layer,
        Some("mean-shift") => Stepping::MeanShift,
        _ => Stepping::Adaptive,
    }
}

fn stepper_name(name: &str) -> Result<String> {
    let known = ["adaptive", "layer", "mean-shift"];
    known
        .iter()
        .find(|k| **k == name)
        .map(|k| (*k).to_owned())
        .ok_or_else(|| Error::unknown("stepper", name, known))
}

/// A name or a list of names, each checked by a parser that returns its canonical form.
fn named(
    r: &mut Reader,
    key: &'static str,
    default: &str,
    parse: impl Fn(&str) -> Result<String>,
) -> Vec<String> {
    match r.strings(key) {
        None => vec![default.to_owned()],
        Some(list) => checked(r, list, parse),
    }
}

fn checked(
    r: &mut Reader,
    list: Vec<(usize, String)>,
    parse: impl Fn(&str) -> Result<String>,
) -> Vec<String> {
    let mut out = Vec::new();
    for (at, text) in list {
        match parse(&text) {
            Ok(canonical) => out.push(canonical),
            Err(e) => r.problem(at, e.to_string()),
        }
    }
    out
}

/// Numbers of tokens and dimensions: from the keys, or those of the explicit tokens.
fn shape(r: &mut Reader, tokens: &[Vec<f64>], model: &Model) -> (Vec<usize>, Vec<usize>) {
    let (n, d) = (
        r.counts("n", 1, 10_000_000).unwrap_or_default(),
        r.counts("d", 2, 1_000_000).unwrap_or_default(),
    );
    if !tokens.is_empty() {
        return inline_shape(r, tokens, &n, &d, model);
    }
    for (key, list) in [("n", &n), ("d", &d)] {
        if list.is_empty() && !r.has(key) {
            r.problem(0, format!("missing key `{key}`"));
        }
    }
    (n, d)
}

fn inline_shape(
    r: &mut Reader,
    tokens: &[Vec<f64>],
    n: &[usize],
    d: &[usize],
    model: &Model,
) -> (Vec<usize>, Vec<usize>) {
    let at = r.offset(if r.has("tokens") { "tokens" } else { "tokens_file" });
    let width = tokens[0].len();
    if let Some(i) = tokens.iter().position(|t| t.len() != width) {
        r.problem(
            at,
            format!("tokens: row {} has {} numbers, expected {width}", i + 1, tokens[i].len()),
        );
    } else if let Err(e) = model.tokens_from_rows(width, tokens.concat(), false, None) {
        r.problem(at, format!("tokens: {e}"));
    }
    if (!n.is_empty() && *n != [tokens.len()]) || (!d.is_empty() && *d != [width]) {
        r.problem(at, format!("tokens: {} x {width}, which contradicts n or d", tokens.len()));
    }
    (vec![tokens.len()], vec![width])
}

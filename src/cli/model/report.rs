//! The numbers of a report, layer by layer and head by head; the library computes them.

use super::report_columns::{HEADS, LAYERS, ReportColumn};
use crate::attention::{Energy, EnergyScale, Spec, dynamics};
use crate::cli::digits::with_error;
use crate::cli::output::{finite, number, rounded};
use crate::entropy::bootstrap::estimate_negentropy;
use crate::error::Result;
use crate::flow::{Options, Table, solve};
use crate::num::cloud::{effective_rank, equal_rows_residual};
use crate::num::linearised::Linearised;
use crate::num::lyapunov::{LyapunovFrame, singular_exponents};
use crate::num::stats;
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::transformer::block::{BlockPart, ResidualSublayer};
use crate::transformer::observe::{Cloud, SaReference, head_form, weight_statistics};
use crate::transformer::tangent::linearised;
use crate::transformer::trained::{LayerPass, TrainedModel};
use crate::transformer::{Norm, TransformerBlock};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Tables and numbers of a report.
pub struct Report {
    /// One row per state, layer 0 first.
    pub layers: Table,
    /// One row per head of a layer.
    pub heads: Table,
    /// One row per index of a sorted list of eigenvalues: of V of a head, and of its symmetric
    /// part.
    pub spectra: Table,
    /// Histograms of cosines for every state: of the model, without the affine part of its
    /// normalisation layer (empty if there is none), and of SA.
    pub histograms: Vec<[Vec<usize>; 3]>,
    /// Growth rates of small perturbations.
    pub exponents: GrowthExponents,
    /// Inverse temperature of the SA for comparison.
    pub beta: FittedBeta,
}

/// The median over layers of the median over heads of fitted inverse temperatures.
pub struct FittedBeta {
    /// The median; NaN if no head has an inverse temperature.
    pub value: f64,
    /// The inverse temperatures of the heads that have one with their standard errors, ascending.
    fits: Vec<(f64, f64)>,
    /// Number of all heads.
    heads: usize,
}

/// Fewest heads with an inverse temperature for a comparison with SA. The median of one or two is
/// no property of the model.
pub const LEAST_HEADS: usize = 3;

impl FittedBeta {
    /// True if enough heads have one for a comparison with SA.
    pub fn decides(&self) -> bool {
        self.fits.len() >= LEAST_HEADS
    }

    /// With the number of heads that decide it, and their range or the error of the only one.
    pub fn describe(&self) -> String {
        let all = self.heads;
        match &self.fits[..] {
            [] => format!("none (no head of {all} has one)"),
            [(beta, error)] => format!("{} (1 of {all} heads has one)", with_error(*beta, *error)),
            [(low, _), .., (high, _)] => format!(
                "{} ({} of {all} heads have one, from {} to {})",
                number(self.value),
                self.fits.len(),
                rounded(*low, 3),
                rounded(*high, 3)
            ),
        }
    }

    /// Its keys in JSON. The error is null unless one head decides.
    pub fn keys(&self) -> [(&'static str, Value); 4] {
        let ends = |(low, high): (&(f64, f64), &(f64, f64))| json!([low.0, high.0]);
        let error = if let [(_, error)] = self.fits[..] { finite(error) } else { Value::Null };
        [
            ("sa_beta", finite(self.value)),
            ("sa_beta_error", error),
            ("sa_beta_heads", json!(self.fits.len())),
            ("sa_beta_range", json!(self.fits.first().zip(self.fits.last()).map(ends))),
        ]
    }
}

/// Largest growth rates of small perturbations per layer, descending.
pub struct GrowthExponents {
    pub values: Vec<f64>,
    /// How they are defined.
    pub kind: &'static str,
    /// Error of the iteration; NaN for QR exponents, whose error is of order 1 / layers.
    pub error: f64,
}

/// Number of growth rates.
const DIRECTIONS: usize = 4;

/// With more layers QR exponents are computed in one pass: their error is of order 1 / layers.
const MAX_SINGULAR_LAYERS: usize = 64;

/// Largest number of parameters of blocks in memory; further blocks are read whenever they are
/// needed.
const MAX_PARAMETERS: usize = 1 << 27;

/// How the two kinds of Lyapunov exponents of a report are computed.
pub const SINGULAR: &str = "singular exponents at finite depth: log sigma_k / layers for the singular values of the product of the derivatives of all layers";
pub const BY_QR: &str =
    "QR exponents: mean growth per layer of four random directions that are kept orthogonal";

/// Columns of `spectra.csv`. V has fewer eigenvalues other than 0 than its symmetric part.
const SPECTRA: [&str; 6] = ["layer", "head", "index", "value_real", "value_imaginary", "symmetric"];

/// The state of one layer.
struct State {
    cloud: Cloud,
    x: Vec<f64>,
    bare: Option<Cloud>,
    ratios: [f64; 2],
    beta: f64,
}

/// An empty table: columns that identify a row, then those of a report.
fn table(keys: &[&str], columns: &[ReportColumn]) -> Table {
    let columns =
        keys.iter().copied().chain(columns.iter().map(|c| &*c.column)).map(str::to_owned).collect();
    Table { columns, rows: Vec::new() }
}

/// Runs the model again and computes the report.
pub fn report(model: &TrainedModel, x: &[f64], plan: &[usize]) -> Result<Report> {
    let d = model.config().d;
    let mut tables = [table(&["layer", "head"], &HEADS), table(&SPECTRA, &[])];
    let mut states = vec![State {
        cloud: Cloud::new(x, d),
        x: x.to_vec(),
        bare: None,
        ratios: [f64::NAN; 2],
        beta: f64::NAN,
    }];
    let frame = || {
        LyapunovFrame::new(x.len(), DIRECTIONS, &mut Stream::new(1, &["transformer", "exponents"]))
    };
    let mut fits: Vec<(f64, f64)> = Vec::new();
    let mut perturbations = (plan.len() > MAX_SINGULAR_LAYERS).then(frame);
    model.run_layers::<f64>(x, plan, true, |layer: &LayerPass<f64>| {
        let before = states.len() - 1;
        states[before].bare = states[before]
            .bare
            .take()
            .or_else(|| first_norm(layer.block).map(|n| Cloud::new(&n.apply(layer.before), d)));
        let betas = add_heads(
            layer,
            &states[before].cloud,
            model.config().rotary.is_some() || is_causal(layer.block),
            &mut tables,
        )?;
        if let Some(frame) = &mut perturbations {
            frame.advance(&linearised(layer.block, layer.before, None, 1.0)?);
        }
        let bare = last_norm(layer.block).map(|n| Cloud::new(&n.without_affine(layer.after), d));
        let ratios = ratios(layer.block, layer.before)?;
        states.push(State {
            cloud: Cloud::new(layer.after, d),
            x: layer.after.to_vec(),
            bare,
            ratios,
            beta: median(betas.iter().map(|(beta, _)| *beta)),
        });
        fits.extend(betas);
        Ok(())
    })?;
    let exponents = match perturbations {
        Some(frame) => GrowthExponents { values: frame.exponents(), kind: BY_QR, error: f64::NAN },
        None => singular_growth(model, plan, &states)?,
    };
    let beta = median(states.iter().skip(1).map(|s| s.beta));
    fits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let beta = FittedBeta { value: beta, fits, heads: tables[0].rows.len() };
    let sa_states = if beta.decides() {
        sa_states(x, d, &states, beta.value)?.into_iter().map(Some).collect()
    } else {
        vec![None; states.len()]
    };
    let (mut layers, mut histograms) = (table(&["layer"], &LAYERS), Vec::new());
    for (l, (state, sa)) in states.iter().zip(&sa_states).enumerate() {
        layers.rows.push(row(l, state, (sa.as_ref(), beta.value), d));
        let bare = state.bare.as_ref().map_or(Vec::new(), |c| c.histogram());
        let compared = sa.as_ref().map_or(Vec::new(), Cloud::histogram);
        histograms.push([state.cloud.histogram(), bare, compared]);
    }
    let [heads, spectra] = tables;
    Ok(Report { layers, heads, spectra, histograms, exponents, beta })
}

fn row(l: usize, state: &State, (sa, sa_beta): (Option<&Cloud>, f64), d: usize) -> Vec<f64> {
    let ([negentropy, error], energy) = entropy_and_energy(&state.x, d, state.beta);
    let compared = sa.map_or([f64::NAN; 6], |sa| {
        let ([negentropy, _], energy) = entropy_and_energy(&sa.directions, d, sa_beta);
        [
            sa.mean(),
            sa.clusters(0.99) as f64,
            equal_rows_residual(&sa.directions, d),
            effective_rank(&sa.directions, d),
            energy,
            negentropy,
        ]
    });
    let own = [
        l as f64,
        state.cloud.mean(),
        state.bare.as_ref().map_or(f64::NAN, Cloud::mean),
        state.cloud.clusters(0.9) as f64,
        state.cloud.clusters(0.99) as f64,
        state.cloud.clusters(0.999) as f64,
        equal_rows_residual(&state.x, d),
        effective_rank(&state.x, d),
        state.ratios[0],
        state.ratios[1],
        state.beta,
        state.beta.sqrt(),
        energy,
        negentropy,
        error,
    ];
    own.into_iter().chain(compared).collect()
}

/// Negentropy of the directions with its standard error, and their energy; NaN if they are
/// undefined.
fn entropy_and_energy(x: &[f64], d: usize, beta: f64) -> ([f64; 2], f64) {
    let Ok(tokens) = Tokens::normalised(d, x.to_vec()) else { return ([f64::NAN; 2], f64::NAN) };
    let energy = if beta.is_finite() {
        Energy::new(beta, EnergyScale::Mean).log_value(&tokens).unwrap_or(f64::NAN)
    } else {
        f64::NAN
    };
    // The estimator needs more than a few neighbours.
    let entropy = (tokens.n() > 8)
        .then(|| estimate_negentropy(&tokens, 3, 100.0).ok())
        .flatten()
        .map(|e| [e[0].value, e[0].standard_error]);
    (entropy.unwrap_or([f64::NAN; 2]), energy)
}

/// The normalisation before the first sublayer, without its affine part.
fn first_norm(block: &TransformerBlock) -> Option<Norm> {
    let norm = block.parts.first()?.inner.as_ref()?;
    Some(Norm::plain(norm.d(), norm.centring, norm.eps))
}

/// The normalisation after the last sum.
fn last_norm(block: &TransformerBlock) -> Option<&Norm> {
    block.parts.last()?.after.as_ref()
}

fn is_causal(block: &TransformerBlock) -> bool {
    block.attention().all(|a| a.pattern.visible(0, 2).end == 1)
}

/// `|F(x)| / |x|` of attention and feed-forward layer.
fn ratios(block: &TransformerBlock, x: &[f64]) -> Result<[f64; 2]> {
    let (mut x, mut out) = (x.to_vec(), [f64::NAN; 2]);
    for part in &block.parts {
        let f = part.output(&x, None, false)?.0;
        out[usize::from(matches!(part.part, BlockPart::Mlp(_)))] = norm(&f) / norm(&x);
        x = part.add_and_norm(&x, &f, 1.0);
    }
    Ok(out)
}

fn norm(x: &[f64]) -> f64 {
    crate::num::sum::dot(x, x).sqrt()
}

/// The median of the finite values.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    stats::median(&values.into_iter().filter(|v| v.is_finite()).collect::<Vec<_>>())
}

/// Growth rates from the singular values of the product of all layers.
fn singular_growth(
    model: &TrainedModel,
    plan: &[usize],
    states: &[State],
) -> Result<GrowthExponents> {
    let tokens = states[0].x.len() / model.config().d;
    let mut blocks: BTreeMap<usize, TransformerBlock> = BTreeMap::new();
    for index in plan.iter().copied().collect::<BTreeSet<usize>>() {
        let parameters: usize = blocks.values().map(TransformerBlock::parameters).sum();
        if parameters < MAX_PARAMETERS {
            blocks.insert(index, model.block(index, tokens)?);
        }
    }
    let visit = |backwards: bool, apply: &mut dyn FnMut(&dyn Linearised)| -> Result<()> {
        for l in 0..plan.len() {
            let l = if backwards { plan.len() - 1 - l } else { l };
            let read = if blocks.contains_key(&plan[l]) {
                None
            } else {
                Some(model.block(plan[l], tokens)?)
            };
            if let Some(block) = blocks.get(&plan[l]).or(read.as_ref()) {
                apply(&linearised(block, &states[l].x, None, 1.0)?);
            }
        }
        Ok(())
    };
    let found = singular_exponents(
        states[0].x.len(),
        DIRECTIONS,
        &mut Stream::new(1, &["transformer", "singular"]),
        visit,
    )?;
    Ok(GrowthExponents { values: found.values, kind: SINGULAR, error: found.error })
}

/// Adds the rows of the heads of a layer and of their spectra; returns the fitted inverse
/// temperatures with their standard errors.
fn add_heads(
    layer: &LayerPass<f64>,
    cloud: &Cloud,
    causal: bool,
    [heads, spectra]: &mut [Table; 2],
) -> Result<Vec<(f64, f64)>> {
    let n = cloud.n;
    let lengths: Vec<f64> = layer.before.chunks_exact(layer.before.len() / n).map(norm).collect();
    let reference = SaReference::new(cloud, causal);
    let mut betas = Vec::new();
    for ResidualSublayer { part, inner, .. } in &layer.block.parts {
        let BlockPart::Attention(a) = part else { continue };
        let inside =
            inner.as_ref().map_or_else(|| layer.before.to_vec(), |norm| norm.apply(layer.before));
        for (h, weights) in layer.weights.chunks_exact(n * n).enumerate() {
            let (seen, form) = (weight_statistics(weights, n), head_form(a, h));
            let fit = reference.fit(&lengths, &a.head_output(h, weights, &inside));
            betas.extend(fit.reliable_beta().map(|beta| (beta, fit.error)));
            for k in 0..form.values.len().max(form.symmetric.len()) {
                // A list omits eigenvalues 0; an empty list means that they are unknown.
                let rest = |empty: bool| if empty { f64::NAN } else { 0.0 };
                let (real, imaginary) = form
                    .values
                    .get(k)
                    .copied()
                    .unwrap_or((rest(form.values.is_empty()), rest(form.values.is_empty())));
                let symmetric =
                    form.symmetric.get(k).copied().unwrap_or(rest(form.symmetric.is_empty()));
                spectra.rows.push(vec![
                    layer.index as f64 + 1.0,
                    h as f64,
                    k as f64,
                    real,
                    imaginary,
                    symmetric,
                ]);
            }
            let (real, even) = (form.real(), form.symmetric_ends());
            heads.rows.push(vec![
                layer.index as f64 + 1.0,
                h as f64,
                seen.spread,
                seen.entropy,
                seen.leader,
                fit.beta,
                fit.error,
                fit.cosine,
                form.norm,
                real.0,
                real.1,
                even.0,
                even.1,
                form.overlap,
                -even.1 / (even.0 - even.1),
            ]);
        }
    }
    Ok(betas)
}

/// SA from the directions of layer 0. Between two layers it runs for the time |F(x)| / |x| of the
/// attention there.
fn sa_states(x: &[f64], d: usize, states: &[State], beta: f64) -> Result<Vec<Cloud>> {
    let mut tokens = Tokens::normalised(d, x.to_vec())?;
    let sa = dynamics::build("sa", false, &Spec::new(beta, tokens.n()))?;
    let mut out = vec![Cloud::new(tokens.coordinates(), d)];
    for state in &states[1..] {
        let t = if state.ratios[0].is_finite() { state.ratios[0] } else { 1.0 };
        let end = solve(&sa, &tokens, t, &Options { rtol: 1e-8, ..Options::default() }, &mut [])?;
        tokens = Tokens::normalised(d, end.tokens())?;
        out.push(Cloud::new(tokens.coordinates(), d));
    }
    Ok(out)
}

//! The table of a report: what is measured, layer by layer and head by head. The measuring is the library's.

use super::entries::{HEADS, LAYERS, ReportColumn};
use crate::attention::{Energy, EnergyScale, Spec, dynamics};
use crate::entropy::bootstrap::assess;
use crate::error::Result;
use crate::flow::{Options, Table, solve};
use crate::num::cloud::{effective_rank, equal_rows_residual};
use crate::num::linearised::Linearised;
use crate::num::lyapunov::{LyapunovFrame, singular_exponents};
use crate::num::stats;
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::transformer::block::{BlockPart, Placed};
use crate::transformer::observe::{Cloud, Reference, form, weighting};
use crate::transformer::tangent::linearised;
use crate::transformer::trained::{PassedLayer, Trained};
use crate::transformer::{Norm, TransformerBlock};
use std::collections::{BTreeMap, BTreeSet};

/// All that was measured.
pub struct Report {
    /// One row a state, layer 0 first.
    pub layers: Table,
    /// One row a head of a layer.
    pub heads: Table,
    /// One row an eigenvalue of V of a head, and one of its symmetric part.
    pub spectra: Table,
    /// Cosines of every state: as they are, without the affine part of the norm where there is one, and of SA.
    pub histograms: Vec<[Vec<usize>; 3]>,
    /// How fast small changes grow.
    pub exponents: GrowthExponents,
    /// Inverse temperature of the SA beside it.
    pub beta: f64,
}

/// First exponents of growth of small changes, descending, per layer.
pub struct GrowthExponents {
    pub values: Vec<f64>,
    /// What they are.
    pub kind: &'static str,
    /// How far iteration may have left them from that; not a number for QR, whose rest is of order
    /// 1 / layers.
    pub error: f64,
}

/// Directions whose growth is measured.
const DIRECTIONS: usize = 4;

/// More layers are a long run: four directions are taken through it once, and what their start adds
/// is below 1 / layers.
const LONG: usize = 64;

/// Numbers of blocks that are held at once; more are read again whenever they are needed.
const HELD: usize = 1 << 27;

pub const SINGULAR: &str = "singular exponents at finite depth: log sigma_k / layers of the whole product of the layers' derivatives";
pub const BY_QR: &str = "QR exponents of a long run: mean growth a layer of four random directions that are kept orthogonal";

/// Columns of `spectra.csv`; V has fewer eigenvalues that may differ from 0 than its symmetric part, the rest are 0.
const SPECTRA: [&str; 6] = ["layer", "head", "index", "value_real", "value_imaginary", "symmetric"];

/// One state before its neighbours are known.
struct State {
    cloud: Cloud,
    x: Vec<f64>,
    bare: Option<Cloud>,
    ratios: [f64; 2],
    beta: f64,
}

/// An empty table: columns that say where a row is of, then those of a report.
fn table(place: &[&str], columns: &[ReportColumn]) -> Table {
    let columns = place.iter().copied().chain(columns.iter().map(|c| c.column)).map(str::to_owned).collect();
    Table { columns, rows: Vec::new() }
}

/// Runs the model once more and measures.
pub fn report(model: &Trained, x: &[f64], plan: &[usize]) -> Result<Report> {
    let d = model.config().d;
    let mut tables = [table(&["layer", "head"], &HEADS), table(&SPECTRA, &[])];
    let mut states = vec![State { cloud: Cloud::new(x, d), x: x.to_vec(), bare: None, ratios: [f64::NAN; 2], beta: f64::NAN }];
    let frame = || LyapunovFrame::new(x.len(), DIRECTIONS, &mut Stream::new(1, &["transformer", "exponents"]));
    let mut changes = (plan.len() > LONG).then(frame);
    model.pass::<f64>(x, plan, true, |layer: &PassedLayer<f64>| {
        let before = states.len() - 1;
        states[before].bare = states[before].bare.take().or_else(|| inner(layer.block).map(|n| Cloud::new(&n.apply(layer.before), d)));
        let betas = of_heads(layer, &states[before].cloud, model.config().rotary.is_some() || is_causal(layer.block), &mut tables)?;
        if let Some(changes) = &mut changes {
            changes.through(&linearised(layer.block, layer.before, None, 1.0)?);
        }
        let bare = after(layer.block).map(|n| Cloud::new(&n.without_affine(layer.after), d));
        let ratios = ratios(layer.block, layer.before)?;
        states.push(State { cloud: Cloud::new(layer.after, d), x: layer.after.to_vec(), bare, ratios, beta: median(betas) });
        Ok(())
    })?;
    let exponents = match changes {
        Some(changes) => GrowthExponents { values: changes.exponents(), kind: BY_QR, error: f64::NAN },
        None => of_the_product(model, plan, &states)?,
    };
    let beta = median(states.iter().skip(1).map(|s| s.beta));
    let plain = beside(x, d, &states, beta)?;
    let (mut layers, mut histograms) = (table(&["layer"], &LAYERS), Vec::new());
    for (l, (state, sa)) in states.iter().zip(&plain).enumerate() {
        layers.rows.push(row(l, state, (sa, beta), d));
        let bare = state.bare.as_ref().map_or(Vec::new(), |c| c.histogram());
        histograms.push([state.cloud.histogram(), bare, sa.histogram()]);
    }
    let [heads, spectra] = tables;
    Ok(Report { layers, heads, spectra, histograms, exponents, beta })
}

fn row(l: usize, state: &State, (sa, sa_beta): (&Cloud, f64), d: usize) -> Vec<f64> {
    let ([negentropy, error], energy) = of_directions(&state.x, d, state.beta);
    let ([sa_negentropy, _], sa_energy) = of_directions(&sa.directions, d, sa_beta);
    vec![
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
        sa.mean(),
        sa.clusters(0.99) as f64,
        equal_rows_residual(&sa.directions, d),
        effective_rank(&sa.directions, d),
        sa_energy,
        sa_negentropy,
    ]
}

/// Negentropy of the directions with its standard error, and their energy; not a number where there is none.
fn of_directions(x: &[f64], d: usize, beta: f64) -> ([f64; 2], f64) {
    let Ok(tokens) = Tokens::normalised(d, x.to_vec()) else { return ([f64::NAN; 2], f64::NAN) };
    let energy = if beta.is_finite() { Energy::new(beta, EnergyScale::Mean).log_value(&tokens).unwrap_or(f64::NAN) } else { f64::NAN };
    // The estimator by neighbours wants some.
    let entropy = (tokens.n() > 8).then(|| assess(&tokens, 3, 100.0).ok()).flatten().map(|e| [e[0].value, e[0].standard_error]);
    (entropy.unwrap_or([f64::NAN; 2]), energy)
}

/// The norm before the first sublayer, without its affine part.
fn inner(block: &TransformerBlock) -> Option<Norm> {
    let norm = block.parts.first()?.inner.as_ref()?;
    Some(Norm::plain(norm.d(), norm.centring, norm.eps))
}

/// The norm after the last sum.
fn after(block: &TransformerBlock) -> Option<&Norm> {
    block.parts.last()?.after.as_ref()
}

fn is_causal(block: &TransformerBlock) -> bool {
    block.attention().all(|a| a.pattern.seen(0, 2).end == 1)
}

/// `|F(x)| / |x|` of attention and feed-forward layer.
fn ratios(block: &TransformerBlock, x: &[f64]) -> Result<[f64; 2]> {
    let (mut x, mut out) = (x.to_vec(), [f64::NAN; 2]);
    for part in &block.parts {
        let f = part.output(&x, None, false)?.0;
        out[usize::from(matches!(part.part, BlockPart::Mlp(_)))] = norm(&f) / norm(&x);
        x = part.close(&x, &f, 1.0);
    }
    Ok(out)
}

fn norm(x: &[f64]) -> f64 {
    crate::num::sum::dot(x, x).sqrt()
}

/// The median of those that are known.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    stats::median(&values.into_iter().filter(|v| v.is_finite()).collect::<Vec<_>>())
}

/// From the singular values of the product of all layers at the states before them.
fn of_the_product(model: &Trained, plan: &[usize], states: &[State]) -> Result<GrowthExponents> {
    let mut blocks: BTreeMap<usize, TransformerBlock> = BTreeMap::new();
    for index in plan.iter().copied().collect::<BTreeSet<usize>>() {
        let held: usize = blocks.values().map(TransformerBlock::parameters).sum();
        if held < HELD {
            blocks.insert(index, model.block(index)?);
        }
    }
    let visit = |backwards: bool, see: &mut dyn FnMut(&dyn Linearised)| -> Result<()> {
        for l in 0..plan.len() {
            let l = if backwards { plan.len() - 1 - l } else { l };
            let read = if blocks.contains_key(&plan[l]) { None } else { Some(model.block(plan[l])?) };
            if let Some(block) = blocks.get(&plan[l]).or(read.as_ref()) {
                see(&linearised(block, &states[l].x, None, 1.0)?);
            }
        }
        Ok(())
    };
    let found = singular_exponents(states[0].x.len(), DIRECTIONS, &mut Stream::new(1, &["transformer", "singular"]), visit)?;
    Ok(GrowthExponents { values: found.values, kind: SINGULAR, error: found.error })
}

/// Adds the rows of a layer's heads and of their spectra; the fitted inverse temperatures that are known.
fn of_heads(layer: &PassedLayer<f64>, cloud: &Cloud, causal: bool, [heads, spectra]: &mut [Table; 2]) -> Result<Vec<f64>> {
    let n = cloud.n;
    let lengths: Vec<f64> = layer.before.chunks_exact(layer.before.len() / n).map(norm).collect();
    let reference = Reference::new(cloud, causal);
    let mut betas = Vec::new();
    for Placed { part, inner, .. } in &layer.block.parts {
        let BlockPart::Attention(a) = part else { continue };
        let inside = inner.as_ref().map_or_else(|| layer.before.to_vec(), |norm| norm.apply(layer.before));
        for (h, weights) in layer.weights.chunks_exact(n * n).enumerate() {
            let (seen, form) = (weighting(weights, n), form(a, h));
            let fit = reference.fit(&lengths, &a.of_head(h, weights, &inside));
            betas.extend(fit.known());
            for k in 0..form.values.len().max(form.symmetric.len()) {
                // Beyond the list eigenvalues are 0; of an empty list none is known.
                let rest = |empty: bool| if empty { f64::NAN } else { 0.0 };
                let (real, imaginary) = form.values.get(k).copied().unwrap_or((rest(form.values.is_empty()), rest(form.values.is_empty())));
                let symmetric = form.symmetric.get(k).copied().unwrap_or(rest(form.symmetric.is_empty()));
                spectra.rows.push(vec![layer.index as f64 + 1.0, h as f64, k as f64, real, imaginary, symmetric]);
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

/// SA from the directions of layer 0: between two layers it runs for as long as attention is strong there.
fn beside(x: &[f64], d: usize, states: &[State], beta: f64) -> Result<Vec<Cloud>> {
    let mut tokens = Tokens::normalised(d, x.to_vec())?;
    let sa = dynamics::build("sa", false, &Spec::new(if beta.is_finite() { beta } else { 1.0 }, tokens.n()))?;
    let mut out = vec![Cloud::new(tokens.coordinates(), d)];
    for state in &states[1..] {
        let t = if state.ratios[0].is_finite() { state.ratios[0] } else { 1.0 };
        let end = solve(&sa, &tokens, t, &Options { rtol: 1e-8, ..Options::default() }, &mut [])?;
        tokens = Tokens::normalised(d, end.tokens())?;
        out.push(Cloud::new(tokens.coordinates(), d));
    }
    Ok(out)
}

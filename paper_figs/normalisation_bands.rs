//! Random tokens under normalisation schemes (arXiv:2510.22026).

use super::normalisation::SCHEMES;
use super::{FigureReference, PaperFigure, PublishedFigure, series};
use crate::attention::kernel::Attention;
use crate::attention::normalisation::{Normalisation, Scheme};
use crate::attention::{Dynamics, Head};
use crate::draw::{Axis, Corner, Dash, Panel, Picture};
use crate::error::Result;
use crate::flow::observable::{self, RunParameters, log_times};
use crate::flow::{Options, Recorder, solve};
use crate::num::dense::transpose_mul;
use crate::num::stream::Stream;
use crate::num::sum::dot;
use crate::num::vector::{axpy, divide, norm, scale};
use crate::sphere::Tokens;
use crate::study::{Part, Study, Tables, Values, table};

/// Normalisation schemes (arXiv:2510.22026): the mean cosine of random starts with its 90 % band.
///
/// Table: cosine.
pub static STUDY: Study = Study {
    name: "normalisation-bands",
    title: "Normalisation schemes: mean cosine of random starts with its 90 % band",
    citation: "arXiv:2510.22026, Section 4 and figure 1 (its n and number of runs are not printed: \
        here n = 32, 20 runs)",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// Number of tokens, their dimension, and number of random runs for each scheme.
const N: usize = 32;
const D: usize = 512;
const RUNS: usize = 20;

fn run(_: &Values) -> Result<Tables> {
    let mut cosine = table(&["scheme", "t", "mean", "low", "high"])
        .with_labels("scheme", SCHEMES.map(|s| s.name()));
    for (k, scheme) in SCHEMES.iter().enumerate() {
        let runs = (0..RUNS).map(|r| random_run(*scheme, r)).collect::<Result<Vec<_>>>()?;
        for (i, (t, _)) in runs[0].iter().enumerate() {
            let mut values: Vec<f64> = runs.iter().map(|r| r[i].1).collect();
            values.sort_by(f64::total_cmp);
            // The 5 % and 95 % quantiles of 20 values: the second from either end.
            let mean = values.iter().sum::<f64>() / RUNS as f64;
            cosine.rows.push(vec![k as f64, *t, mean, values[1], values[RUNS - 2]]);
        }
    }
    Ok(vec![("cosine".into(), cosine)])
}

/// Mean cosine over time of n uniform tokens of `S^{511}` under SA with V = I, beta = sqrt d and
/// normal Q and K of variance 1/d.
///
/// With V = I tokens stay in their span. In an orthonormal basis of the span they have n
/// coordinates, on which Q and K act by d x n normal matrices of the same law. This reduction is
/// exact and d/n times cheaper.
fn random_run(scheme: Scheme, run: usize) -> Result<Vec<(f64, f64)>> {
    let mut stream = Stream::new(1, &["normalisation", &run.to_string()]);
    let mut normals = |count: usize, size: f64| {
        let mut out = vec![0.0; count];
        stream.normals(&mut out);
        scale(size, &mut out);
        out
    };
    let (mut basis, tokens): (Vec<Vec<f64>>, _) = (Vec::new(), normals(N * D, 1.0));
    let mut coordinates = vec![0.0; N * N];
    for (i, row) in tokens.chunks_exact(D).enumerate() {
        let mut rest = row.to_vec();
        for (j, e) in basis.iter().enumerate() {
            let along = dot(&rest, e);
            coordinates[i * N + j] = along;
            axpy(-along, e, &mut rest);
        }
        let size = norm(&rest);
        coordinates[i * N + i] = size;
        divide(&mut rest, size);
        basis.push(rest);
    }
    let size = (D as f64).sqrt().recip();
    // <Q x, K y> = <K^T Q x, y>.
    let (q, k) = (normals(D * N, size), normals(D * N, size));
    let head = Head::new(N, Some((N, transpose_mul(&k, &q, D))), None, None)?;
    let attention = Attention { heads: vec![head], ..Attention::new((D as f64).sqrt()) };
    let x = Tokens::normalised(N, coordinates)?;
    let x = if scheme.space().extra_per_token() > 0 { x.polar(&[1.0; N])? } else { x };
    let setting = RunParameters { n: N, d: N, beta: (D as f64).sqrt() };
    let mut watch = Recorder::new(
        setting,
        log_times(0.05, 100.0, 40),
        false,
        vec![observable::find("mean-cosine")?],
    );
    let options = Options { rtol: 1e-6, merge_radius: 0.0, ..Options::default() };
    solve(
        &Dynamics::single(attention).with_normalisation(scheme),
        &x,
        100.0,
        &options,
        &mut [&mut watch],
    )?;
    Ok(watch.table.rows.iter().map(|r| (r[0], r[1])).collect())
}

/// Mean cosine over time and its 90 % band, for every scheme.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "normalisation-bands",
    title: "Normalisation schemes: mean cosine of random starts with its 90 % band",
    redraws: &[
        PublishedFigure {
            paper: "2510.22026",
            place: FigureReference::Figure(1),
            shows: "mean cosine of all schemes with its 90 % band",
            differs: "n = 32 and 20 runs: the published numbers are not known; V = I",
        },
        PublishedFigure {
            paper: "2512.01868",
            place: FigureReference::Unnumbered("a figure (number not read)"),
            shows: "mean cosine of all schemes with its 90 % band",
            differs: "n = 32 and 20 runs: the published numbers are not known; V = I",
        },
    ],
    study: Some(&PART),
    draw: |inputs| {
        let cosine = inputs.table("cosine")?;
        let panel = |title: &str, radii: bool| {
            let mut panel = Panel::new(
                title,
                Axis::log("t", 0.05, 100.0),
                Axis::linear("mean cosine", -0.05, 1.05),
            );
            let members = SCHEMES.iter().filter(|s| (s.space().extra_per_token() > 0) == radii);
            for (k, scheme) in members.enumerate() {
                let rows = cosine.only("scheme", scheme.name());
                panel.line(series(&rows, "t", "mean"), k, Dash::for_series(k), scheme.name());
                for side in ["low", "high"] {
                    panel.line(series(&rows, "t", side), k, Dash::Dotted, "");
                }
            }
            panel.legend = Some(Corner::TopLeft);
            panel
        };
        let caption = "Mean inner product of pairs of 32 uniform tokens, d = 512, beta = sqrt d, V \
            = I, Q and K normal with entries of variance 1/d: mean over 20 runs, dotted the second \
            smallest and second largest of them (90 %). Left schemes on the sphere, right those \
            with radii. The paper does not state n and the number of runs.";
        Ok(Picture {
            panels: vec![panel("on the sphere", false), panel("with radii", true)],
            columns: 2,
            aspect: 1.0,
            caption: caption.into(),
        })
    },
    ..PaperFigure::EMPTY
};

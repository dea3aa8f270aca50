//! The phase diagram over (t, beta) with the transition curve of high dimension on top
//! (arXiv:2312.10794, figure 3).

use super::{CellSelection, FigureReference, PaperFigure, PublishedFigure, dynamics_text, tokens};
use crate::attention::{RowWeights, Variant, dynamics};
use crate::draw::{Axis, Dash, Mark, Panel, Picture};
use crate::error::Error;
use crate::lab::Cell;
use crate::study::Parameter;
use crate::theory::equiangular::Equiangular;

/// 45 inverse temperatures from 0.1 to 9.
const BETAS: [f64; 45] = {
    let (mut betas, mut k) = ([0.0; 45], 0);
    while k < 45 {
        betas[k] = 0.1 + 8.9 * k as f64 / 44.0;
        k += 1;
    }
    betas
};

/// Share of merged pairs, one panel per dimension.
pub static ENTRY: PaperFigure = PaperFigure {
    name: "phase-diagram",
    title: "Phase diagram of SA with the transition curve, n = 32",
    redraws: &[
        PublishedFigure {
            paper: "2312.10794",
            place: FigureReference::Figure(3),
            shows: "share of merged pairs over (t, beta), six dimensions",
            differs: "a smaller grid and four dimensions; the published grid with --published",
        },
        PublishedFigure {
            paper: "2512.01868",
            place: FigureReference::Unnumbered("a figure (number not read)"),
            shows: "share of merged pairs over (t, beta), d = 8, 128 and 1024",
            differs: "other dimensions; the printed ones with --set d=8,128,1024",
        },
    ],
    experiments: &["phase-diagram"],
    published: &["phase-diagram-full"],
    cells: Some(CellSelection { max_cells: 100000, d: None, columns: &["pair_share"] }),
    parameters: &[
        Parameter::count("n", &[32.0], (2.0, 256.0), "tokens"),
        Parameter::count(
            "d",
            &[2.0, 8.0, 32.0, 128.0],
            (2.0, 1024.0),
            "dimensions, one panel each",
        ),
        Parameter::real("beta", &BETAS, (0.0, 1000.0), "inverse temperatures, rows of the diagram"),
        Parameter::count("realisations", &[64.0], (1.0, 10000.0), "starts for each cell"),
        Parameter::count("seed", &[1.0], (0.0, 9e15), "seed of the starts"),
        Parameter::real("t_end", &[30.0], (1.0, 1000.0), "end of the runs"),
    ],
    draw: |inputs| {
        let results = &inputs.results[0];
        let mut diagrams: Vec<Cell> = Vec::new();
        for cell in results.iter().map(|(c, _)| but_beta(c)) {
            if !diagrams.contains(&cell) {
                diagrams.push(cell);
            }
        }
        let mut panels = Vec::new();
        for one in &diagrams {
            let mut cells: Vec<_> = results.iter().filter(|(c, _)| but_beta(c) == *one).collect();
            cells.sort_by(|a, b| a.0.beta.total_cmp(&b.0.beta));
            let betas: Vec<f64> = cells.iter().map(|(c, _)| c.beta).collect();
            let title = title(one, &diagrams);
            if betas.len() < 2 {
                return Err(Error::parameter(
                    "beta",
                    format!("{betas:?} for {title}"),
                    "at least two inverse temperatures, rows of the diagram",
                ));
            }
            let times = cells[0].1.table.column("t");
            let mut panel = Panel::new(
                title,
                Axis::linear("t", 0.0, times.last().copied().unwrap_or(1.0)),
                Axis::linear("\u{3b2}", betas[0], betas[betas.len() - 1]),
            );
            let values = cells.iter().map(|(_, t)| t.table.column("pair_share")).collect();
            panel.marks.push(Mark::Heat {
                x: edges(&times),
                y: edges(&betas),
                values,
                shade: shade(),
            });
            if !cells.iter().all(|c| has_curve(&c.0)) {
                panels.push(panel);
                continue;
            }
            let n = cells[0].0.n;
            let mut curve = Vec::new();
            for k in 0..=90 {
                let beta = betas[0] + (betas[betas.len() - 1] - betas[0]) * f64::from(k) / 90.0;
                curve.push((Equiangular::sa(n, beta).level_time(0.0, 0.999)?.value, beta));
            }
            curve.retain(|p| p.0 <= panel.x.high);
            panel.line(curve, 1, Dash::Dashed, "");
            panels.push(panel);
        }
        let runs = results.first().map_or(0, |(_, t)| t.summary.rows.len());
        let mut kinds: Vec<String> = results
            .iter()
            .map(|(c, _)| format!("{} from {}", dynamics_text(c), tokens(c)))
            .collect();
        kinds.dedup();
        let curve = if results.iter().all(|(c, _)| has_curve(c)) {
            "; dashed: the time at which orthonormal tokens under SA reach 0.999 (the limit of \
            high dimension)"
        } else {
            ""
        };
        let caption = format!(
            "Share of pairs with inner product at least 0.999: {}, mean of {runs} starts{curve}.",
            kinds.join("; ")
        );
        Ok(Picture { panels, columns: 2, aspect: 0.75, caption })
    },
    ..PaperFigure::EMPTY
};

/// The settings of a panel: everything but beta.
fn but_beta(cell: &Cell) -> Cell {
    Cell { beta: 0.0, ..cell.clone() }
}

/// The title of a panel: its dimension and the settings in which panels differ.
fn title(of: &Cell, all: &[Cell]) -> String {
    let names: [fn(&Cell) -> String; 3] =
        [dynamics_text, |c| c.init.clone(), |c| format!("n = {}", c.n)];
    let differ = names.iter().filter(|name| all.iter().any(|c| name(c) != name(of)));
    differ.map(|name| name(of)).chain([format!("d = {}", of.d)]).collect::<Vec<_>>().join(", ")
}

/// True if the transition curve of SA is the limit of high dimension.
fn has_curve(cell: &Cell) -> bool {
    let variant = dynamics::find(&cell.dynamics, false).ok().and_then(|e| e.variant);
    let sa = variant.and_then(Variant::mutual_weights).is_some_and(|w| w == RowWeights::Softmax);
    sa && cell.model.is_empty() && cell.eta().is_ok_and(f64::is_finite)
}

/// The colour scale.
fn shade() -> Axis {
    Axis::linear("share of pairs with inner product at least 0.999", 0.0, 1.0)
}

/// Cell edges around sorted centres.
fn edges(centres: &[f64]) -> Vec<f64> {
    let n = centres.len();
    let mut out: Vec<f64> = centres.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect();
    out.insert(0, centres[0]);
    out.push(centres[n - 1]);
    out
}

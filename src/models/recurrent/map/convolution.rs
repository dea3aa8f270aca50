//! A convolution over neighbouring rows.

use crate::recurrent::trace::{Trace, Var};
use crate::recurrent::{NamedMap, ReceptiveField, TokenMap, normal_matrix, one_layer};

/// Windows of three rows: after L layers a row depends on `2 L + 1` rows.
pub static ENTRY: NamedMap = NamedMap {
    name: "convolution",
    summary: "tanh(A x_{i-1} + B x_i + C x_{i+1}), zero beyond the ends, the same matrices in every layer",
    citation: "LeCun et al., Proc. IEEE 86 (1998)",
    receptive_field: ReceptiveField::Neighbours,
    unit: one_layer,
    build: |spec| {
        let matrix =
            |name: &str| normal_matrix(spec.seed, name, (spec.d, spec.d), spec.gain / 3f64.sqrt());
        Box::new(Convolution { windows: [matrix("before"), matrix("own"), matrix("after")] })
    },
};

/// A matrix for each row of the window.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// For the previous row, the row itself and the next row.
    pub windows: [Vec<f64>; 3],
}

impl TokenMap for Convolution {
    fn record<'a>(&'a self, _: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let mut one = |i: usize| {
            let mut sum = trace.matrix(&self.windows[1], rows[i]);
            let before = i.checked_sub(1).map(|j| (0, j));
            for (w, j) in
                [before, Some((2, i + 1))].into_iter().flatten().filter(|(_, j)| *j < rows.len())
            {
                let image = trace.matrix(&self.windows[w], rows[j]);
                sum = trace.sum(sum, 1.0, image);
            }
            trace.tanh(sum)
        };
        (0..rows.len()).map(&mut one).collect()
    }
}

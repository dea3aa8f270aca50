//! The flow: its vector field, and Taylor coefficients of the field along a path.

use crate::number::{I, dot, int, sum};
use crate::phi::Phi;

/// A system of points, at each of which there may be several tokens. `m` are the weights of the
/// points in the norm; `unit` is the weight of one token at each point (the whole weight, for the
/// flow of points). A point attracts with its weight times `gain`: without a mask the weights are
/// the masses and gain is 1; with a causal mask the weights are 1 and gain is the mass. Attraction
/// has the factor `e^{beta (G - top)}`, which fixes the unit of time, or `phi(G)`.
#[derive(Clone)]
pub(super) struct System {
    pub(super) softmax: bool,
    pub(super) causal: bool,
    pub(super) d: usize,
    pub(super) beta: I,
    pub(super) top: I,
    pub(super) phi: Option<Phi>,
    pub(super) m: Vec<I>,
    pub(super) unit: Vec<I>,
    pub(super) gain: Vec<I>,
}

impl System {
    /// The points that a token at point i sees; these include its own point if other tokens are
    /// there.
    pub(super) fn visible(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        let others = self.m[i] != self.unit[i];
        (0..if self.causal { i } else { self.m.len() }).filter(move |j| *j != i || others)
    }
    pub(super) fn weight(&self, g: &I) -> I {
        match &self.phi {
            None => (&self.beta * (g - &self.top)).exp(),
            Some(phi) => phi.at(g).0,
        }
    }
}

/// One series per coordinate, point or pair. The last coefficient of a product is the sum of the
/// products of one series with the other in reverse order.
type Table = Vec<Vec<I>>;

/// x, V, Z, `|x|^2`, `<x, V>`, `l beta G_l`, E.
pub(super) fn tables(s: &System) -> [Table; 7] {
    [s.d, s.d, 1, 1, 1, s.m.len(), s.m.len()].map(|size| vec![Vec::new(); s.m.len() * size])
}

/// The next Taylor coefficient of the field along a path, from the next coefficient of the path;
/// for phi, only the first two. Its slopes are in the place of `l beta G_l` for l = 0.
pub(super) fn field(
    s: &System,
    [x, v, z, square, radial, slope, e]: &mut [Table; 7],
    next: &[I],
) -> Vec<I> {
    let (n, d, k) = (s.m.len(), s.d, x[0].len());
    let product = |a: &Table, b: &Table, i: usize, j: usize| {
        sum((0..d).map(|c| dot(&a[i * d + c], b[j * d + c].iter().rev())))
    };
    x.iter_mut().zip(next).for_each(|(s, x)| s.push(x.clone()));
    for (i, j) in (1..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (g, pair) = (product(x, x, i, j), i * n + j);
        let new = if let Some(phi) = &s.phi {
            let (value, by_g) = if k == 0 { phi.at(&g) } else { (&slope[pair][0] * &g, int(0)) };
            slope[pair].push(by_g);
            value
        } else {
            slope[pair].push(&s.beta * &g * int(k as i64));
            let terms = dot(&slope[pair][1..], e[pair].iter().rev());
            if k == 0 { s.weight(&g) } else { terms.over(k as i64) }
        };
        [pair, j * n + i].iter().for_each(|p| e[*p].push(new.clone()));
    }
    let mass: Vec<I> = s.m.iter().zip(&s.gain).map(|(m, gain)| m * gain).collect();
    for i in 0..n {
        z[i].push(
            sum(s.visible(i).map(|j| &mass[j] * &e[i * n + j][k]))
                + if k == 0 { mass[i].clone() } else { int(0) },
        );
        for c in 0..d {
            let y =
                sum(s.visible(i).map(|j| &mass[j] * dot(&e[i * n + j], x[j * d + c].iter().rev())));
            let v = &mut v[i * d + c];
            v.push(if s.softmax { (y - dot(&z[i][1..], v.iter().rev())) / &z[i][0] } else { y });
        }
        square[i].push(product(x, x, i, i));
        radial[i].push(product(x, v, i, i));
    }
    (0..n * d)
        .map(|c| dot(&square[c / d], v[c].iter().rev()) - dot(&radial[c / d], x[c].iter().rev()))
        .collect()
}

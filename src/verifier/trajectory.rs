//! Certificates of convergence: from the start until all tokens are in an open hemisphere.

use crate::canonical::{canonical_lines, confirm, double, whole};
use crate::errors::{Row, curvature, derivative};
use crate::flow::{System, field, tables};
use crate::number::{I, Reader, count_below, dot, int, length, number, sum};

/// The constants of Lemma 6 in the prover's `trajectory/lemmas.md`. Errors of points are up to 1.01
/// r; Lambda and c of the tokens are at most 1.04 and 1.01 times those of the points; and C has the
/// factors 11 before `(1 + beta)^2 R (M/m)^{1/2}` and 3 before `mu + kappa |f|^2`.
const LEMMA_6: [(i64, i64); 5] = [(101, 100), (104, 100), (101, 100), (11, 1), (3, 1)];

/// The Taylor coefficient of order k of a polynomial about t.
fn taylor(p: &[Vec<I>], t: &I, k: usize) -> Vec<I> {
    let choose = |l: usize| (0..k).fold(1i64, |c, i| c * (l - i) as i64 / (i as i64 + 1));
    (0..p[0].len())
        .map(|c| (k..p.len()).rev().fold(int(0), |s, l| s * t + int(choose(l)) * &p[l][c]))
        .collect()
}

/// State of the proof: points, the weights of their tokens, and a bound of the distance of the
/// tokens from the points.
struct State {
    s: System,
    unit: Vec<I>,
    x: Vec<I>,
    error: I,
}

impl State {
    fn norm(&self, v: Vec<I>) -> I {
        sum(v.chunks(self.s.d).zip(&self.s.m).map(|(v, m)| m * dot(v, v).up())).sqrt().up()
    }

    /// The polynomial of a step in units of its length, bounds of its defect by order, and a bound
    /// of `||p|^2 - 1|`.
    fn path(&self, h: &I, order: usize) -> (Vec<Vec<I>>, Vec<I>, I) {
        let (s, mut t, mut p, mut defect) =
            (&self.s, tables(&self.s), vec![self.x.clone()], vec![]);
        for k in 0..order {
            // Rounded to points, because widths would grow with the order.
            let found: Vec<I> =
                field(s, &mut t, &p[k]).iter().map(|f| (h * f).over(k as i64 + 1)).collect();
            p.push(found.iter().map(I::mid).collect());
            defect
                .push(self.norm(found.iter().map(|f| int(k as i64 + 1) * (f.mid() - f)).collect()));
        }
        let (mut t, all) = (tables(s), I(int(0).0, int(1).1));
        let last =
            (0..=order).map(|k| field(s, &mut t, &taylor(&p, &all, k))).last().unwrap_or_default();
        defect.push(self.norm(last.iter().map(|f| h * f).collect()));
        let product = |i: usize, l: usize, k: usize| {
            Some(dot(&p.get(l)?[i..i + s.d], &p.get(k)?[i..i + s.d]))
        };
        let square = |i: usize, k: usize| {
            sum((0..=k).filter_map(|l| product(i * s.d, l, k - l))) - int((k == 0).into())
        };
        let norm_defect = (0..s.m.len())
            .map(|i| sum((0..=2 * order).map(|k| square(i, k).up())))
            .max()
            .unwrap_or(int(0));
        (p, defect, norm_defect)
    }

    /// Lemma 6: the bounds of `curvature` for points instead of their tokens, if the tokens of a
    /// point provably come together. Otherwise the error tells whether Lemma 4 holds for every
    /// kappa. `eta = kappa |f| r`, `steady = mu + kappa |f|^2`, and `spread` bounds `|S|`, the norm
    /// of the derivative.
    fn cluster_curvature(
        &self,
        x: &[I],
        norm: &I,
        r: &I,
        small: &I,
        [eta, steady, spread]: [&I; 3],
    ) -> Result<(I, I, Vec<Row>), bool> {
        let (s, steep) =
            ((self.s.m != self.unit).then_some(&self.s).ok_or(true)?, int(1) + &self.s.beta);
        let times = |x: &I, (p, q): (i64, i64)| (x * int(p)).over(q).up();
        let [points, of_lambda, of_c, bending, moving] = LEMMA_6;
        let (lambda, c, rows) = curvature(s, x, norm, &times(r, points), small);
        let (mass, near) =
            (sum(s.m.clone()), self.unit.iter().map(|m| (r / m.sqrt()).up()).max().ok_or(true)?);
        let unit = if s.softmax { &int(1) } else { &mass };
        let bend = &near
            * (int(bending.0) * &steep * &steep * unit * mass.sqrt() * &near / r
                + int(moving.0) * steady);
        let apart = (int(1) + eta) * bend + eta * (spread + int(2) * &steep * unit);
        let kept = |i: usize| {
            (if s.softmax { int(1) } else { s.m[i].clone() })
                - (int(1) + &steep) * dot(&s.m, &rows[i].e)
        };
        let spare =
            (0..s.m.len()).filter(|i| s.m[*i] != self.unit[*i]).map(kept).min().ok_or(true)?;
        let holds = near <= int(1).over(10) && &spare - &apart > int(0);
        let bounds = holds.then(|| (times(&lambda, of_lambda), times(&c, of_c), rows));
        bounds.ok_or(&spare - &steep * unit * r > int(0) && eta.up() <= int(1))
    }

    /// Lemma 2, piece by piece.
    fn step(&mut self, r: &mut Reader, order: usize) -> Result<(), String> {
        let h = &r.list("step", 1, number)?[0];
        let ((p, defect, norm_defect), mut a) = (self.path(h, order), int(0));
        while a < int(1) {
            let [end, mu, tube, kappa] = &r.list("piece", 4, number)?[..] else {
                return Err("a piece has four numbers".into());
            };
            // In units of the step; the last piece ends with the step.
            let b = if r.is("piece") { (end / h).mid() } else { int(1) };
            let ordered = h > &int(0)
                && h <= &int(1 << 60)
                && b > a
                && b <= int(1)
                && mu >= &int(0)
                && kappa >= &int(0);
            confirm(ordered, "the step has no length or its pieces are not in order")?;
            let (mid, span) = ((&a + &b).over(2).mid(), I(a.0.clone(), b.1.clone()));
            let range: Vec<I> = taylor(&p, &mid, 0)
                .into_iter()
                .zip(taylor(&p, &span, 1))
                .map(|(x, v)| x + v * (&span - &mid))
                .collect();
            let norm = int(1).around(&norm_defect).sqrt();
            let (f, flow) = derivative(&self.s, &range, &norm);
            let less = |(f, own): (&Vec<I>, &I)| {
                f.iter().zip(&flow).map(|(f, v)| f - kappa * own * v).collect()
            };
            let less: Vec<Vec<I>> = f.iter().zip(&flow).map(less).collect();
            confirm(
                count_below(mu, &less) == Some(f.len()),
                "errors may grow faster than the certificate states",
            )?;
            let (speed, spread) = (length(&flow), length(&f.concat()));
            self.error = self.error.clone().max((int(4) * &norm_defect).up());
            let (small, eta, time) =
                ((&norm_defect / &self.error).up(), kappa * &speed * tube, &b - &a);
            let bounds = [&eta, &(mu + kappa * &speed * &speed), &spread];
            let tokens = || {
                curvature(
                    &System { unit: self.unit.clone(), ..self.s.clone() },
                    &range,
                    &norm,
                    tube,
                    &small,
                )
            };
            let clusters = self.cluster_curvature(&range, &norm, tube, &small, bounds);
            confirm(
                !matches!(clusters, Err(false)) || kappa.1 == int(0).1,
                "kappa must be 0, as clusters may part",
            )?;
            let (lambda, c, _) = clusters.unwrap_or_else(|_| tokens());
            let rate = defect.iter().rev().fold(int(0), |rate, defect| rate * &b + defect)
                + h * c * &norm_defect * (int(1) + &eta);
            let growth = mu + &eta * &spread + (int(1) + &eta) * lambda * tube;
            self.error = ((&self.error + rate * &time) * (growth * time * h).exp()).up();
            confirm(self.error.1 <= tube.0, "the error leaves its tube")?;
            a = b;
        }
        let (end, next) = (taylor(&p, &int(1), 0), r.list("next", self.x.len(), number)?);
        (self.error, self.x) = (
            (&self.error + self.norm(end.iter().zip(&next).map(|(a, b)| a - b).collect())).up(),
            next,
        );
        if r.is("merge") { self.merge(r) } else { Ok(()) }
    }

    /// Points with equal labels become one point. A point without tokens would have no mass, and
    /// every test would fail.
    fn merge(&mut self, r: &mut Reader) -> Result<(), String> {
        let (d, labels): (usize, Vec<usize>) = (self.s.d, r.list("merge", self.s.m.len(), whole)?);
        let count = labels.iter().max().map_or(0, |l| l.saturating_add(1));
        confirm(count <= labels.len(), "there are more points than tokens")?;
        let points = r.list("points", count * d, number)?;
        let own: Vec<I> = labels.iter().flat_map(|l| points[l * d..(l + 1) * d].to_vec()).collect();
        (self.error, self.x) = (
            (&self.error + self.norm(self.x.iter().zip(&own).map(|(a, b)| a - b).collect())).up(),
            points,
        );
        let of = |v: &[I], p: usize| -> Vec<I> {
            v.iter().zip(&labels).filter(|(_, l)| **l == p).map(|(v, _)| v.clone()).collect()
        };
        let range = |v: Vec<I>| {
            v.into_iter().reduce(|a, b| I(a.0.min(b.0), a.1.max(b.1))).unwrap_or(int(0))
        };
        self.unit = (0..count).map(|p| range(of(&self.unit, p))).collect();
        self.s.m = (0..count).map(|p| sum(of(&self.s.m, p))).collect();
        self.s.unit = self.s.m.clone();
        confirm(!self.s.causal, "tokens of causal attention have an order")
    }
}

pub(super) fn check(text: &str) -> Result<String, String> {
    canonical_lines(text)?;
    let r = &mut Reader::new(text, "\n", " ");
    let (version, dynamics) =
        (r.list("metastable-trajectory", 1, whole::<u8>)?[0], r.list("dynamics", 1, Some)?[0]);
    let kinds = [
        ("sa", true, false),
        ("usa", false, false),
        ("causal-sa", true, true),
        ("causal-usa", false, true),
    ];
    let (dynamics, softmax, causal) =
        *kinds.iter().find(|k| k.0 == dynamics).ok_or(format!("no dynamics `{dynamics}`"))?;
    let (n, d): (usize, usize) =
        (r.list("tokens", 1, whole)?[0], r.list("dimension", 1, whole)?[0]);
    let words = (r.list("beta", 1, Some)?[0], r.list("radius", 1, Some)?[0]);
    let shown = |word: &str| double(word).ok_or(format!("{word} is not a double in its form"));
    let (beta_shown, radius_shown) = (shown(words.0)?, shown(words.1)?);
    let (beta, radius) =
        number(words.0).zip(number(words.1)).ok_or("beta or the radius is none")?;
    let words = r.list("masses", n, Some)?;
    let masses_shown: Result<Vec<String>, String> =
        words.iter().map(|w| shown(w).map(|m| m.to_string())).collect();
    let masses_shown = masses_shown?.join(", ");
    let positive = |w: &&str| number(w).filter(|m| m > &int(0));
    let masses: Vec<I> = words.iter().filter_map(positive).collect();
    confirm(masses.len() == n, "a mass is not positive")?;
    let size = n.saturating_mul(d);
    let (start, order, x) = (
        r.list("start", size, number)?,
        r.list("order", 1, whole)?[0],
        r.list("first", size, number)?,
    );
    confirm(
        version == 3 && (4..=40).contains(&order) && d >= 2 && (1..=512).contains(&size),
        "version, order or sizes: out of range",
    )?;
    confirm(
        beta >= int(0) && beta <= int(1000) && radius >= int(0),
        "beta or the radius: out of range",
    )?;
    // With a causal mask the norm weights all tokens alike. Points merge only without a mask,
    // where the gain stays 1.
    let (m, gain) = if causal { (vec![int(1); n], masses) } else { (masses, vec![int(1); n]) };
    let off = |(v, x): (&[I], &[I])| {
        length(&v.iter().zip(x).map(|(c, x)| c / dot(v, v).sqrt() - x).collect::<Vec<_>>())
            + radius.up()
    };
    let error =
        sum(start.chunks(d).zip(x.chunks(d)).map(off).zip(&m).map(|(far, m)| m * &far * far))
            .sqrt()
            .up();
    let (top, phi, unit) = (int(1), None, m.clone());
    let s = System { softmax, causal, d, beta, top, phi, unit, m: m.clone(), gain };
    let (mut state, mut steps) = (State { s, unit: m, x, error }, 0);
    while r.is("step") {
        steps += 1;
        state.step(r, order).map_err(|e| format!("step {steps}: {e}"))?;
    }
    let w = r.list("end", d, number)?;
    let lies = |(x, m): (&[I], &I)| dot(&w, x).0 > (length(&w) * &state.error / m.sqrt()).1;
    confirm(
        r.0.is_empty() && state.x.chunks(d).zip(&state.unit).all(lies),
        "the tokens do not provably end in an open hemisphere",
    )?;
    // Larger than the rounding to two digits.
    let error = (state.error * int(21)).over(20).show();
    let starts = format!(
        "all starts of {n} tokens with masses {masses_shown} in R^{d} within {radius_shown:e} of \
         the directions of the start rows"
    );
    Ok(format!(
        "{dynamics}, beta = {beta_shown}: {starts} converge to one point ({steps} steps, error at most {error:.1e})"
    ))
}

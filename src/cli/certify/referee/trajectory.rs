//! Certificates of convergence: from the start to an open hemisphere.

use super::errors::{FLOOR, curvature, derivative, local};
use super::flow::{System, field, tables};
use super::number::{I, Reader, below, confirm, dot, int, length, number, sum, whole};

/// The Taylor coefficient of order k of a polynomial about t.
fn taylor(p: &[Vec<I>], t: &I, k: usize) -> Vec<I> {
    let choose = |l: usize| (0..k).fold(1i64, |c, i| c * (l - i) as i64 / (i as i64 + 1));
    (0..p[0].len()).map(|c| (k..p.len()).rev().fold(int(0), |s, l| s * t + int(choose(l)) * &p[l][c])).collect()
}

/// A state of the proof: points, and a bound of the distance of the tokens from them.
struct State {
    s: System,
    x: Vec<I>,
    error: I,
}

impl State {
    fn norm(&self, v: impl IntoIterator<Item = I>) -> I {
        let v: Vec<I> = v.into_iter().collect();
        sum(v.chunks(self.s.d).zip(&self.s.m).map(|(v, m)| m * dot(v, v).up())).sqrt().up()
    }
    fn reach(&self, error: &I) -> Vec<I> {
        self.s.each.iter().map(|m| (error / m.sqrt()).up()).collect()
    }

    /// The polynomial of a step in units of its length, the bounds of its defect, and one of `||p|^2 - 1|`.
    fn path(&self, h: &I, order: usize) -> (Vec<Vec<I>>, Vec<I>, I) {
        let (s, mut t, mut p, mut defect) = (&self.s, tables(&self.s), vec![self.x.clone()], vec![]);
        for k in 0..order {
            // Rounded to points: widths would grow from order to order.
            let found: Vec<I> = field(s, &mut t, &p[k]).iter().map(|f| (h * f).over(k as i64 + 1)).collect();
            p.push(found.iter().map(I::mid).collect());
            defect.push(self.norm(found.iter().map(|f| int(k as i64 + 1) * (f.mid() - f))));
        }
        let (mut t, all) = (tables(s), I(int(0).0, int(1).1));
        let last = (0..=order).map(|k| field(s, &mut t, &taylor(&p, &all, k))).last().unwrap_or_default();
        defect.push(h * self.norm(last));
        let product = |i: usize, l: usize, k: usize| Some(dot(&p.get(l)?[i..i + s.d], &p.get(k)?[i..i + s.d]));
        let square = |i: usize, k: usize| sum((0..=k).filter_map(|l| product(i * s.d, l, k - l))) - int((k == 0).into());
        let bulge = (0..s.m.len()).map(|i| sum((0..=2 * order).map(|k| square(i, k).up()))).max().unwrap_or(int(0));
        (p, defect, bulge)
    }

    /// Lemma 2, piece by piece.
    fn step(&mut self, r: &mut Reader, order: usize) -> Result<(), String> {
        let h = &r.list("step", 1, number)?[0];
        let ((p, defect, bulge), mut a) = (self.path(h, order), int(0));
        while a < int(1) {
            let [end, mu, tube] = &r.list("piece", 3, number)?[..] else { return Err("three numbers".into()) };
            // In units of the step; the last one ends with it.
            let b = if r.is("piece") { (end / h).mid() } else { int(1) };
            let ordered = h > &int(0) && h <= &int(1 << 60) && b > a && b <= int(1) && mu >= &int(0);
            confirm(ordered, "the step has no length or its pieces are not in order")?;
            let (s, middle, span) = (&self.s, (&a + &b).over(2).mid(), I(a.0.clone(), b.1.clone()));
            let parts = taylor(&p, &middle, 0).into_iter().zip(taylor(&p, &span, 1));
            let range: Vec<I> = parts.map(|(x, v)| x + v * (&span - &middle)).collect();
            let norm = int(1).around(&bulge).sqrt();
            let positive = below(mu, &derivative(s, &local(s, &range, &norm, false), &norm));
            confirm(positive == Some(s.m.len() * (s.d - 1)), "errors may grow faster than is said")?;
            let reach = self.reach(tube);
            let wide: Vec<I> = range.iter().enumerate().map(|(c, x)| x.around(&reach[c / s.d])).collect();
            let norm = norm.around(reach.iter().max().unwrap_or(tube));
            let (lambda, c) = curvature(s, &local(s, &wide, &norm, true), &norm, &reach);
            let rate = defect.iter().rev().fold(int(0), |rate, defect| rate * &b + defect) + h * c * &bulge;
            let (least, time) = ((int(FLOOR) * &bulge).up(), &b - &a);
            self.error = ((self.error.clone().max(least) + rate * &time) * ((mu + lambda * tube) * time * h).exp()).up();
            confirm(self.error.1 <= tube.0, "the error leaves its tube")?;
            a = b;
        }
        let (end, next) = (taylor(&p, &int(1), 0), r.list("next", self.x.len(), number)?);
        (self.error, self.x) = ((&self.error + self.norm(end.iter().zip(&next).map(|(a, b)| a - b))).up(), next);
        if r.is("merge") { self.merge(r) } else { Ok(()) }
    }

    /// Points with one label are one. A point without tokens is one without mass, and makes every test fail.
    fn merge(&mut self, r: &mut Reader) -> Result<(), String> {
        let (d, labels) = (self.s.d, r.list("merge", self.s.m.len(), whole)?);
        let count = labels.iter().max().map_or(0, |l| l.saturating_add(1));
        confirm(count <= labels.len(), "there are more points than tokens")?;
        let points = r.list("points", count * d, number)?;
        let own: Vec<I> = labels.iter().flat_map(|l| points[l * d..(l + 1) * d].to_vec()).collect();
        (self.error, self.x) = ((&self.error + self.norm(self.x.iter().zip(&own).map(|(a, b)| a - b))).up(), points);
        let of = |v: &[I], p: usize| -> Vec<I> { v.iter().zip(&labels).filter(|(_, l)| **l == p).map(|(v, _)| v.clone()).collect() };
        let range = |v: Vec<I>| v.into_iter().reduce(|a, b| I(a.0.min(b.0), a.1.max(b.1))).unwrap_or(int(0));
        self.s.each = (0..count).map(|p| range(of(&self.s.each, p))).collect();
        self.s.m = (0..count).map(|p| sum(of(&self.s.m, p))).collect();
        confirm(!self.s.causal, "tokens of causal attention have an order")
    }
}

pub(super) fn check(text: &str) -> Result<String, String> {
    let r = &mut Reader::new(text, "\n", " ");
    let (version, said) = (r.list("metastable-trajectory", 1, whole)?[0], r.list("dynamics", 1, Some)?[0]);
    let kinds = [("sa", true, false), ("usa", false, false), ("causal-sa", true, true), ("causal-usa", false, true)];
    let (name, softmax, causal) = *kinds.iter().find(|k| k.0 == said).ok_or(format!("no dynamics `{said}`"))?;
    let (n, d) = (r.list("tokens", 1, whole)?[0], r.list("dimension", 1, whole)?[0]);
    let (beta, radius) = (r.list("beta", 1, number)?.remove(0), r.list("radius", 1, number)?.remove(0));
    let (m, size) = (r.list("masses", n, number)?, n.saturating_mul(d));
    let (start, order, x) = (r.list("start", size, number)?, r.list("order", 1, whole)?[0], r.list("first", size, number)?);
    let known = version == 1 && (4..=40).contains(&order) && d >= 2 && (1..=512).contains(&size);
    let small = beta >= int(0) && beta <= int(1000) && radius >= int(0) && m.iter().all(|m| m > &int(0));
    confirm(known && small, "the version, the order, sizes, beta, the radius or a mass are out of range")?;
    let off = |((v, x), m): ((&[I], &[I]), &I)| {
        let away: Vec<I> = v.iter().zip(x).map(|(c, x)| c / dot(v, v).sqrt() - x).collect();
        let far = radius.up() + length(&away);
        m * &far * far
    };
    let error = sum(start.chunks(d).zip(x.chunks(d)).zip(&m).map(off)).sqrt().up();
    let s = System { softmax, causal, d, beta, level: int(1), each: m.clone(), m };
    let (mut state, mut steps) = (State { s, x, error }, 0);
    while r.is("step") {
        steps += 1;
        state.step(r, order).map_err(|e| format!("step {steps}: {e}"))?;
    }
    let (w, reach) = (r.list("end", d, number)?, state.reach(&state.error));
    let lies = |(x, reach): (&[I], &I)| dot(&w, x).0 > (length(&w) * reach).1;
    confirm(r.0.is_empty() && state.x.chunks(d).zip(&reach).all(lies), "at the end the tokens are in no open hemisphere for certain")?;
    let [beta, radius, error] = [&state.s.beta, &radius, &state.error].map(I::show);
    let starts = format!("all starts of the {n} tokens in R^{d} within {radius:e} of the directions of the start rows");
    Ok(format!("{name}, beta = {beta}: {starts} converge to one point ({steps} steps, error at most {error:.1e})"))
}

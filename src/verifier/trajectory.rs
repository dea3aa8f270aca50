//! Certificates of convergence: from the start to an open hemisphere.

use crate::errors::{Row, curvature, derivative};
use crate::flow::{System, field, tables};
use crate::number::{I, Reader, below, confirm, dot, int, length, number, sum};

/// The Taylor coefficient of order k of a polynomial about t.
fn taylor(p: &[Vec<I>], t: &I, k: usize) -> Vec<I> {
    let choose = |l: usize| (0..k).fold(1i64, |c, i| c * (l - i) as i64 / (i as i64 + 1));
    (0..p[0].len()).map(|c| (k..p.len()).rev().fold(int(0), |s, l| s * t + int(choose(l)) * &p[l][c])).collect()
}

/// A state of the proof: points, the masses of their tokens, and a bound of the distance of the tokens from them.
struct State {
    s: System,
    each: Vec<I>,
    x: Vec<I>,
    error: I,
}

impl State {
    fn norm(&self, v: Vec<I>) -> I {
        sum(v.chunks(self.s.d).zip(&self.s.m).map(|(v, m)| m * dot(v, v).up())).sqrt().up()
    }

    /// The polynomial of a step in units of its length, the bounds of its defect, and one of `||p|^2 - 1|`.
    fn path(&self, h: &I, order: usize) -> (Vec<Vec<I>>, Vec<I>, I) {
        let (s, mut t, mut p, mut defect) = (&self.s, tables(&self.s), vec![self.x.clone()], vec![]);
        for k in 0..order {
            // Rounded to points: widths would grow from order to order.
            let found: Vec<I> = field(s, &mut t, &p[k]).iter().map(|f| (h * f).over(k as i64 + 1)).collect();
            p.push(found.iter().map(I::mid).collect());
            defect.push(self.norm(found.iter().map(|f| int(k as i64 + 1) * (f.mid() - f)).collect()));
        }
        let (mut t, all) = (tables(s), I(int(0).0, int(1).1));
        let last = (0..=order).map(|k| field(s, &mut t, &taylor(&p, &all, k))).last().unwrap_or_default();
        defect.push(self.norm(last.iter().map(|f| h * f).collect()));
        let product = |i: usize, l: usize, k: usize| Some(dot(&p.get(l)?[i..i + s.d], &p.get(k)?[i..i + s.d]));
        let square = |i: usize, k: usize| sum((0..=k).filter_map(|l| product(i * s.d, l, k - l))) - int((k == 0).into());
        let bulge = (0..s.m.len()).map(|i| sum((0..=2 * order).map(|k| square(i, k).up()))).max().unwrap_or(int(0));
        (p, defect, bulge)
    }

    /// Lemma 6: what `curvature` says of the points in the place of their tokens, when these provably come together; or whether Lemma 4 holds for any kappa.
    fn whole(&self, x: &[I], norm: &I, r: &I, small: &I, [eta, steady, spread]: [&I; 3]) -> Result<(I, I, Vec<Row>), bool> {
        let (s, steep) = ((self.s.m != self.each).then_some(&self.s).ok_or(true)?, int(1) + &self.s.beta);
        let (lambda, c, rows) = curvature(s, x, norm, &(r * int(101)).over(100).up(), small);
        let (mass, near) = (sum(s.m.clone()), self.each.iter().map(|m| (r / m.sqrt()).up()).max().ok_or(true)?);
        let unit = if s.softmax { &int(1) } else { &mass };
        let bend = &near * (int(11) * &steep * &steep * unit * mass.sqrt() * &near / r + int(3) * steady);
        let apart = (int(1) + eta) * bend + eta * (spread + int(2) * &steep * unit);
        let kept = |i: usize| (if s.softmax { int(1) } else { s.m[i].clone() }) - (int(1) + &steep) * dot(&s.m, &rows[i].e);
        let spare = (0..s.m.len()).filter(|i| s.m[*i] != self.each[*i]).map(kept).min().ok_or(true)?;
        let holds = near <= int(1).over(10) && &spare - &apart > int(0);
        let bounds = holds.then(|| ((lambda * int(104)).over(100).up(), (c * int(101)).over(100).up(), rows));
        bounds.ok_or(&spare - &steep * unit * r > int(0) && eta.up() <= int(1))
    }

    /// Lemma 2, piece by piece.
    fn step(&mut self, r: &mut Reader, order: usize) -> Result<(), String> {
        let h = &r.list("step", 1, number)?[0];
        let ((p, defect, bulge), mut a) = (self.path(h, order), int(0));
        while a < int(1) {
            let [end, mu, tube, kappa] = &r.list("piece", 4, number)?[..] else { return Err("four numbers".into()) };
            // In units of the step; the last one ends with it.
            let b = if r.is("piece") { (end / h).mid() } else { int(1) };
            let ordered = h > &int(0) && h <= &int(1 << 60) && b > a && b <= int(1) && mu >= &int(0) && kappa >= &int(0);
            confirm(ordered, "the step has no length or its pieces are not in order")?;
            let (mid, span) = ((&a + &b).over(2).mid(), I(a.0.clone(), b.1.clone()));
            let range: Vec<I> = taylor(&p, &mid, 0).into_iter().zip(taylor(&p, &span, 1)).map(|(x, v)| x + v * (&span - &mid)).collect();
            let norm = int(1).around(&bulge).sqrt();
            let (f, flow) = derivative(&self.s, &range, &norm);
            let less = |(f, own): (&Vec<I>, &I)| f.iter().zip(&flow).map(|(f, v)| f - kappa * own * v).collect();
            let less: Vec<Vec<I>> = f.iter().zip(&flow).map(less).collect();
            confirm(below(mu, &less) == Some(f.len()), "errors may grow faster than is said")?;
            let (speed, spread) = (length(&flow), length(&f.concat()));
            self.error = self.error.clone().max((int(4) * &bulge).up());
            let (small, eta, time) = ((&bulge / &self.error).up(), kappa * &speed * tube, &b - &a);
            let bounds = [&eta, &(mu + kappa * &speed * &speed), &spread];
            let tokens = || curvature(&System { each: self.each.clone(), ..self.s.clone() }, &range, &norm, tube, &small);
            let whole = self.whole(&range, &norm, tube, &small, bounds);
            confirm(!matches!(whole, Err(false)) || kappa.1 == int(0).1, "time is chosen for clusters that may part")?;
            let (lambda, c, _) = whole.unwrap_or_else(|_| tokens());
            let rate = defect.iter().rev().fold(int(0), |rate, defect| rate * &b + defect) + h * c * &bulge * (int(1) + &eta);
            let growth = mu + &eta * &spread + (int(1) + &eta) * lambda * tube;
            self.error = ((&self.error + rate * &time) * (growth * time * h).exp()).up();
            confirm(self.error.1 <= tube.0, "the error leaves its tube")?;
            a = b;
        }
        let (end, next) = (taylor(&p, &int(1), 0), r.list("next", self.x.len(), number)?);
        (self.error, self.x) = ((&self.error + self.norm(end.iter().zip(&next).map(|(a, b)| a - b).collect())).up(), next);
        if r.is("merge") { self.merge(r) } else { Ok(()) }
    }

    /// Points with one label are one. A point without tokens is one without mass, and makes every test fail.
    fn merge(&mut self, r: &mut Reader) -> Result<(), String> {
        let (d, labels): (usize, Vec<usize>) = (self.s.d, r.list("merge", self.s.m.len(), |w| w.parse().ok())?);
        let count = labels.iter().max().map_or(0, |l| l.saturating_add(1));
        confirm(count <= labels.len(), "there are more points than tokens")?;
        let points = r.list("points", count * d, number)?;
        let own: Vec<I> = labels.iter().flat_map(|l| points[l * d..(l + 1) * d].to_vec()).collect();
        (self.error, self.x) = ((&self.error + self.norm(self.x.iter().zip(&own).map(|(a, b)| a - b).collect())).up(), points);
        let of = |v: &[I], p: usize| -> Vec<I> { v.iter().zip(&labels).filter(|(_, l)| **l == p).map(|(v, _)| v.clone()).collect() };
        let range = |v: Vec<I>| v.into_iter().reduce(|a, b| I(a.0.min(b.0), a.1.max(b.1))).unwrap_or(int(0));
        self.each = (0..count).map(|p| range(of(&self.each, p))).collect();
        self.s.m = (0..count).map(|p| sum(of(&self.s.m, p))).collect();
        self.s.each = self.s.m.clone();
        confirm(!self.s.causal, "tokens of causal attention have an order")
    }
}

pub(super) fn check(text: &str) -> Result<String, String> {
    let r = &mut Reader::new(text, "\n", " ");
    let (version, said) = (r.list("metastable-trajectory", 1, |w| w.parse::<u8>().ok())?[0], r.list("dynamics", 1, Some)?[0]);
    let kinds = [("sa", true, false), ("usa", false, false), ("causal-sa", true, true), ("causal-usa", false, true)];
    let (said, softmax, causal) = *kinds.iter().find(|k| k.0 == said).ok_or(format!("no dynamics `{said}`"))?;
    let (n, d): (usize, usize) = (r.list("tokens", 1, |w| w.parse().ok())?[0], r.list("dimension", 1, |w| w.parse().ok())?[0]);
    let (beta, radius) = (r.list("beta", 1, number)?.remove(0), r.list("radius", 1, number)?.remove(0));
    let (masses, size) = (r.list("masses", n, |w| number(w).filter(|m| m > &int(0)))?, n.saturating_mul(d));
    let (start, order, x) = (r.list("start", size, number)?, r.list("order", 1, |w| w.parse().ok())?[0], r.list("first", size, number)?);
    confirm(version == 2 && (4..=40).contains(&order) && d >= 2 && (1..=512).contains(&size), "version, order or sizes: out of range")?;
    confirm(beta >= int(0) && beta <= int(1000) && radius >= int(0), "beta or the radius: out of range")?;
    // Under a causal mask the norm weighs all tokens alike. Where points merge there is none, and the pull stays 1.
    let (m, pull) = if causal { (vec![int(1); n], masses) } else { (masses, vec![int(1); n]) };
    let off = |(v, x): (&[I], &[I])| length(&v.iter().zip(x).map(|(c, x)| c / dot(v, v).sqrt() - x).collect::<Vec<_>>()) + radius.up();
    let error = sum(start.chunks(d).zip(x.chunks(d)).map(off).zip(&m).map(|(far, m)| m * &far * far)).sqrt().up();
    let s = System { softmax, causal, d, beta, level: int(1), each: m.clone(), m: m.clone(), pull };
    let (mut state, mut steps) = (State { s, each: m, x, error }, 0);
    while r.is("step") {
        steps += 1;
        state.step(r, order).map_err(|e| format!("step {steps}: {e}"))?;
    }
    let w = r.list("end", d, number)?;
    let lies = |(x, m): (&[I], &I)| dot(&w, x).0 > (length(&w) * &state.error / m.sqrt()).1;
    confirm(r.0.is_empty() && state.x.chunks(d).zip(&state.each).all(lies), "at the end the tokens are in no open hemisphere for certain")?;
    // More than rounding to two digits takes away.
    let [beta, radius, error] = [&state.s.beta, &radius, &(state.error * int(21)).over(20)].map(I::show);
    let starts = format!("all starts of the {n} tokens in R^{d} within {radius:e} of the directions of the start rows");
    Ok(format!("{said}, beta = {beta}: {starts} converge to one point ({steps} steps, error at most {error:.1e})"))
}

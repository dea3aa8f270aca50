//! Certificates of convergence: from the start to an open hemisphere.

use super::flow::{Local, System, field, tables};
use super::number::{I, Reader, below, dot, int, length, number, sum, whole};

/// Nothing is claimed of errors below this times the distance of the path from the sphere.
const FLOOR: i64 = 256;

/// `(Lambda, c)` with `|e_i| <= reach_i`.
fn curvature(s: &System, l: &Local, reach: &[I]) -> (I, I) {
    let (n, b, inverse) = (s.m.len(), &s.beta.up(), &(int(1) / &l.square));
    let (mut rows, mut columns, mut third, mut constant) = (vec![], vec![int(0); n], int(0), int(0));
    for i in 0..n {
        // A, |B w|, the sine, |g|, |<x, w>|, the mass.
        let pair = |j: usize| {
            let (g, a) = (l.g[i][j].up(), l.a[i][j].up());
            let a = if i == j { (a * &s.m[i] / (&s.m[i] - s.least(i))).up() } else { a };
            let far = reach[i].clone().max(reach[j].clone()).over(2);
            let sine = (length(&l.h[i][j]).max(length(&l.h[j][i])) + &g * inverse * far).up();
            let along = if s.softmax { (&l.g[i][j] - &l.radial[i]).up() } else { g.clone() };
            (j, [a, length(&l.lean[i][j]), sine, g, along, s.m[j].clone()])
        };
        let pairs: Vec<(usize, [I; 6])> = s.seen(i).chain((s.tokens[i].len() > 1).then_some(i)).map(pair).collect();
        let product = |p: &[I; 6], f: &[usize]| f.iter().fold(p[0].clone(), |s, k| s * &p[*k]);
        // Sums of A times the listed factors: of 1, and of eta_j by Cauchy and Schwarz.
        let plain = |f: &[usize]| sum(pairs.iter().map(|(_, p)| product(p, f))).up();
        let dual = |f: &[usize]| sum(pairs.iter().map(|(_, p)| product(p, f) * product(p, f) / &p[5])).sqrt().up();
        let q = &(pairs.iter().map(|p| &p.1[3]).max().unwrap_or(&int(0)) * inverse).over(FLOOR).up();
        let radial = (inverse.sqrt() * &l.square * (b * plain(&[1, 3]) + int(3) * length(&l.v[i]))).up();
        let (two, b2, a0, a2, w0) = (&int(2), &(b * b), &plain(&[2]), &dual(&[]), &plain(&[1, 2]));
        let tail = &(dual(&[2]) + q * plain(&[]));
        let (m0, m1) = if s.softmax { (a0, tail) } else { (&int(0), &int(0)) };
        let wq = &(dual(&[1, 2]) + q * plain(&[1]));
        // Of eta_i^2 u, eta_i u^2, eta_i^3: twice the covariance of e with l, w with l'', the third moment.
        let second = two * b * (dual(&[2]) + a2 * m0 + dual(&[1])) + two * b2 * (dual(&[1, 2, 2]) + q * w0 + m0 * wq + w0 * m1);
        let first = two * b * a2 * (q + m1) + b2 * (two * q * dual(&[1, 2]) + q * q * plain(&[1]) + two * m1 * wq);
        let cubic = b2 * (plain(&[1, 2, 2]) + two * m0 * w0);
        // 2 <x, V'>, and <x, e> <e, V'>.
        let (far, small) = (&(two * b * l.square.sqrt().up()), &int(1).over(FLOOR).up());
        let slow = &(a2 + far * tail);
        let second = &l.square * second + two * (tail + b * (dual(&[4, 2]) + q * plain(&[4]))) + &reach[i] * slow + small * far * a0;
        let cubic = &l.square * cubic + two * b * plain(&[4, 2]) + &reach[i] * far * a0;
        let first = (&l.square * first + small * slow).over(2);
        rows.push((second + (cubic + &radial) / s.least(i).sqrt()).over(2).up());
        third = third + &s.m[i] * &first * first;
        let mut drift = radial;
        for (j, p) in &pairs {
            let along = l.square.sqrt() * (&p[2] + b * &p[1] * &p[3]);
            let pull = &p[0] * (&l.square * (two * b * &p[2] + b2 * &p[1] * &p[2] * &p[2]) + &along).over(2) / &s.m[*j];
            columns[*j] = &columns[*j] + &s.m[i] * &pull * pull;
            drift = drift + &p[0] * along;
        }
        constant = constant + &s.m[i] * &drift * drift;
    }
    let worst = rows.into_iter().zip(columns).map(|(r, c)| (r + c.sqrt()).up()).max().unwrap_or(int(0));
    ((worst + third.sqrt()).up(), constant.sqrt().over(2).up())
}

/// `sum_l factor(l) p_l t^(l - from)`.
fn horner(p: &[Vec<I>], t: &I, from: usize, factor: impl Fn(usize) -> i64) -> Vec<I> {
    (0..p[0].len()).map(|c| (from..p.len()).rev().fold(int(0), |s, l| s * t + int(factor(l)) * &p[l][c])).collect()
}

/// The polynomial of a step in units of its length, the bounds of its defect, and one of `||p|^2 - 1|`.
type Path = (Vec<Vec<I>>, Vec<I>, I);

/// A state of the proof: points, and a bound of the distance of the tokens from them.
struct State {
    s: System,
    x: Vec<I>,
    error: I,
}

impl State {
    fn norm(&self, v: &[I]) -> I {
        sum(v.chunks(self.s.d).zip(&self.s.m).map(|(v, m)| m * dot(v, v).up())).sqrt().up()
    }
    fn reach(&self, error: &I) -> Vec<I> {
        (0..self.s.m.len()).map(|i| (error / self.s.least(i).sqrt()).up()).collect()
    }

    fn path(&self, h: &I, order: usize) -> Path {
        let (s, mut t, mut p, mut defect) = (&self.s, tables(&self.s), vec![self.x.clone()], vec![]);
        for k in 0..order {
            // Rounded to points: widths would grow from order to order.
            let found: Vec<I> = field(s, &mut t, &p[k]).iter().map(|f| (h * f).over(k as i64 + 1)).collect();
            let off: Vec<I> = found.iter().map(|f| int(k as i64 + 1) * (f.mid() - f)).collect();
            p.push(found.iter().map(I::mid).collect());
            defect.push(self.norm(&off));
        }
        let choose = |l: usize, k: usize| (0..k).fold(1i64, |c, i| c * (l - i) as i64 / (i as i64 + 1));
        let (mut t, all) = (tables(s), I(int(0).0, int(1).1));
        let last = (0..=order).map(|k| field(s, &mut t, &horner(&p, &all, k, |l| choose(l, k)))).last().unwrap_or_default();
        let square = |i: usize, l: usize, k: usize| dot(&p[l][i..i + s.d], &p[k - l][i..i + s.d]);
        let of = |i: usize, k: usize| sum((k.saturating_sub(order)..=k.min(order)).map(|l| square(i, l, k))) - int((k == 0).into());
        let bulge = (0..s.m.len()).map(|i| sum((0..=2 * order).map(|k| of(i * s.d, k).up()))).max().unwrap_or(int(0));
        defect.push(h * self.norm(&last));
        (p, defect, bulge)
    }

    fn step(&mut self, r: &mut Reader, order: usize) -> Result<(), String> {
        let h = r.list("step", 1..=1, number)?.remove(0);
        let (path, mut a) = (self.path(&h, order), int(0));
        while a < int(1) {
            let [end, mu, tube] = &r.list("piece", 3..=3, number)?[..] else { return Err("three numbers".into()) };
            // In units of the step; the last one ends with it.
            let b = if r.is("piece") { (end / &h).mid() } else { int(1) };
            if h <= int(0) || h > int(1 << 60) || b <= a || b > int(1) || mu < &int(0) {
                return Err("the step has no length or its pieces are not in order".into());
            }
            self.piece(&path, &h, (&a, &b), (mu, tube))?;
            a = b;
        }
        let labels: Vec<usize> = (0..self.s.m.len()).collect();
        self.jump(&horner(&path.0, &int(1), 0, |_| 1), &labels, r.list("next", self.x.len()..=self.x.len(), number)?);
        Ok(())
    }

    /// Lemma 2 from a to b.
    fn piece(&mut self, (p, defect, bulge): &Path, h: &I, (a, b): (&I, &I), (mu, tube): (&I, &I)) -> Result<(), String> {
        let (s, middle, span) = (&self.s, (a + b).over(2).mid(), I(a.0.clone(), b.1.clone()));
        let (centre, slope) = (horner(p, &middle, 0, |_| 1), horner(p, &span, 1, |k| k as i64));
        let range: Vec<I> = centre.iter().zip(slope).map(|(x, v)| x + v * (&span - &middle)).collect();
        let norm = int(1).around(bulge).sqrt();
        if below(mu, &Local::new(s, &range, &norm, false).derivative(s)) != Some(s.m.len() * (s.d - 1)) {
            return Err("errors may grow faster than is said".into());
        }
        let reach = self.reach(tube);
        let wide: Vec<I> = range.iter().enumerate().map(|(c, x)| x.around(&reach[c / s.d])).collect();
        let norm = norm.around(reach.iter().max().unwrap_or(tube));
        let (lambda, c) = curvature(s, &Local::new(s, &wide, &norm, true), &reach);
        let rate = defect.iter().rev().fold(int(0), |rate, defect| rate * b + defect) + h * c * bulge;
        let (time, growth) = (b - a, (mu + lambda * tube) * (b - a) * h);
        self.error = ((self.error.clone().max((int(FLOOR) * bulge).up()) + rate * time) * growth.exp()).up();
        if self.error.1 <= tube.0 { Ok(()) } else { Err("the error leaves its tube".into()) }
    }

    /// Each to the point of its label.
    fn jump(&mut self, from: &[I], labels: &[usize], to: Vec<I>) {
        let jump: Vec<I> = from.iter().enumerate().map(|(c, x)| x - &to[labels[c / self.s.d] * self.s.d + c % self.s.d]).collect();
        (self.error, self.x) = ((&self.error + self.norm(&jump)).up(), to);
    }

    /// A point without tokens is one without mass, and makes every test fail.
    fn merge(&mut self, r: &mut Reader) -> Result<(), String> {
        let labels = r.list("merge", self.s.m.len()..=self.s.m.len(), whole)?;
        let size = labels.iter().fold(0, |size, l| size.max(l.saturating_add(1))).saturating_mul(self.s.d);
        let (points, mut tokens) = (r.list("points", size..=size, number)?, vec![Vec::new(); size / self.s.d]);
        self.jump(&self.x.clone(), &labels, points);
        labels.iter().zip(&mut self.s.tokens).for_each(|(l, m)| tokens[*l].append(m));
        (self.s.m, self.s.tokens) = (tokens.iter().map(|m| sum(m.iter().cloned())).collect(), tokens);
        if self.s.causal { Err("tokens of causal attention have an order".into()) } else { Ok(()) }
    }
}

pub(super) fn check(r: &mut Reader) -> Result<String, String> {
    let version = r.list("metastable-trajectory", 1..=1, whole)?[0];
    let said = r.list("dynamics", 1..=1, Some)?[0];
    let kinds = [("sa", true, false), ("usa", false, false), ("causal-sa", true, true), ("causal-usa", false, true)];
    let (name, softmax, causal) = *kinds.iter().find(|k| k.0 == said).ok_or(format!("no dynamics `{said}`"))?;
    let (n, d) = (r.list("tokens", 1..=1, whole)?[0], r.list("dimension", 1..=1, whole)?[0]);
    let (beta, radius) = (r.list("beta", 1..=1, number)?.remove(0), r.list("radius", 1..=1, number)?.remove(0));
    let (m, size) = (r.list("masses", n..=n, number)?, n.saturating_mul(d));
    let (start, order, x) =
        (r.list("start", size..=size, number)?, r.list("order", 1..=1, whole)?[0], r.list("first", size..=size, number)?);
    let known = version == 1 && (4..=40).contains(&order);
    let small =
        d >= 2 && (1..=512).contains(&size) && beta >= int(0) && beta <= int(1000) && radius >= int(0) && m.iter().all(|m| m > &int(0));
    if !known || !small {
        return Err("the version, the order, sizes, beta, the radius or a mass are out of range".into());
    }
    let off = |i: usize| {
        let row = &start[i * d..(i + 1) * d];
        let away: Vec<I> = row.iter().zip(&x[i * d..]).map(|(v, x)| v / dot(row, row).sqrt() - x).collect();
        let far = radius.up() + length(&away);
        &m[i] * &far * far
    };
    let error = sum((0..n).map(off)).sqrt().up();
    let s = System { softmax, causal, d, beta, level: int(1), tokens: m.iter().map(|m| vec![m.clone()]).collect(), m };
    let (mut state, mut steps) = (State { s, x, error }, 0);
    while r.is("step") {
        steps += 1;
        state.step(r, order).map_err(|e| format!("step {steps}: {e}"))?;
        if r.is("merge") {
            state.merge(r)?;
        }
    }
    let (w, reach) = (r.list("end", d..=d, number)?, state.reach(&state.error));
    let lies = |(x, reach): (&[I], &I)| dot(&w, x).0 > (length(&w) * reach).1;
    if !r.0.is_empty() || !state.x.chunks(d).zip(&reach).all(lies) {
        return Err("at the end the tokens are in no open hemisphere for certain".into());
    }
    let [beta, radius, error] = [&state.s.beta, &radius, &state.error].map(I::show);
    let starts = format!("all starts of the {n} tokens in R^{d} within {radius:e} of the directions of the start rows");
    Ok(format!("{name}, beta = {beta}: {starts} converge to one point ({steps} steps, error at most {error:.1e})"))
}

//! Certificates of convergence: from the start to an open hemisphere.

use super::flow::{Local, System, axes, field, less, tables};
use super::{BigInt, I, Reader, dot, int, largest, length, max, positive, sum};

/// Nothing is claimed of errors below this times the distance of the path from the sphere.
const FLOOR: i64 = 256;

/// `(Lambda, c)` with `|e_i| <= reach_i`.
fn curvature(l: &Local, reach: &[I]) -> (I, I) {
    let (s, n, b, inverse) = (l.s, l.s.m.len(), &l.s.beta.up(), &(int(1) / &l.square));
    let (mut rows, mut columns, mut third, mut constant) = (vec![], vec![int(0); n], int(0), int(0));
    for i in 0..n {
        // A, |B w|, the sine, |g|, |<x, w>|, the mass.
        let pair = |j: usize| {
            let (g, a) = (l.g[i][j].up(), l.a[i][j].up());
            let a = if i == j { (a * &s.m[i] / (&s.m[i] - s.least(i))).up() } else { a };
            let far = largest([reach[i].clone(), reach[j].clone()]).over(2);
            let sine = (largest([length(&l.h[i][j]), length(&l.h[j][i])]) + &g * inverse * far).up();
            let along = if s.softmax { (&l.g[i][j] - &l.radial[i]).up() } else { g.clone() };
            (j, [a, length(&l.lean(i, j)), sine, g, along, s.m[j].clone()])
        };
        let pairs: Vec<(usize, [I; 6])> = s.seen(i).chain((s.tokens[i].len() > 1).then_some(i)).map(pair).collect();
        let product = |p: &[I; 6], f: &[usize]| f.iter().fold(p[0].clone(), |s, k| s * &p[*k]);
        // Sums of A times the listed factors: of 1, and of eta_j by Cauchy and Schwarz.
        let plain = |f: &[usize]| sum(pairs.iter().map(|(_, p)| product(p, f))).up();
        let dual = |f: &[usize]| sum(pairs.iter().map(|(_, p)| product(p, f).sqr() / &p[5])).sqrt().up();
        let q = &(largest(pairs.iter().map(|p| p.1[3].clone())) * inverse).over(FLOOR).up();
        let radial = (inverse.sqrt() * &l.square * (b * plain(&[1, 3]) + int(3) * length(&l.v[i]))).up();
        let (two, b2, a0, a2, w0) = (&int(2), &b.sqr(), &plain(&[2]), &dual(&[]), &plain(&[1, 2]));
        let tail = &(dual(&[2]) + q * plain(&[]));
        let (m0, m1) = if s.softmax { (a0, tail) } else { (&int(0), &int(0)) };
        let wq = &(dual(&[1, 2]) + q * plain(&[1]));
        // Of eta_i^2 u, eta_i u^2, eta_i^3: twice the covariance of e with l, w with l'', the third moment.
        let second = two * b * (dual(&[2]) + a2 * m0 + dual(&[1])) + two * b2 * (dual(&[1, 2, 2]) + q * w0 + m0 * wq + w0 * m1);
        let first = two * b * a2 * (q + m1) + b2 * (two * q * dual(&[1, 2]) + q.sqr() * plain(&[1]) + two * m1 * wq);
        let cubic = b2 * (plain(&[1, 2, 2]) + two * m0 * w0);
        // 2 <x, V'>, and <x, e> <e, V'>.
        let (far, small) = (&(two * b * l.square.sqrt().up()), &int(1).over(FLOOR).up());
        let slow = &(a2 + far * tail);
        let second = &l.square * second + two * (tail + b * (dual(&[4, 2]) + q * plain(&[4]))) + &reach[i] * slow + small * far * a0;
        let cubic = &l.square * cubic + two * b * plain(&[4, 2]) + &reach[i] * far * a0;
        let first = &l.square * first + small * slow;
        rows.push((second + (cubic + &radial) / s.least(i).sqrt()).over(2).up());
        third = third + &s.m[i] * first.over(2).sqr();
        let mut drift = radial;
        for (j, p) in &pairs {
            let along = l.square.sqrt() * (&p[2] + b * &p[1] * &p[3]);
            let pull = &l.square * (two * b * &p[2] + b2 * &p[1] * p[2].sqr()) + &along;
            columns[*j] = &columns[*j] + &s.m[i] * (&p[0] * pull).over(2).sqr() / s.m[*j].sqr();
            drift = drift + &p[0] * along;
        }
        constant = constant + &s.m[i] * drift.sqr();
    }
    let worst = largest(rows.into_iter().zip(columns).map(|(r, c)| r + c.sqrt()));
    ((worst + third.sqrt()).up(), constant.sqrt().over(2).up())
}
/// The polynomial of a step in units of its length, the bounds of its defect, and of `||p|^2 - 1|`.
fn path(s: &System, start: &[I], h: &I, order: usize) -> (Vec<Vec<I>>, Vec<I>, I) {
    let (mut t, mut p, mut defect) = (tables(s), vec![start.to_vec()], Vec::new());
    for k in 0..order {
        let found: Vec<I> = field(s, &mut t, &p[k]).iter().map(|f| h * f).collect();
        let next: Vec<I> = found.iter().map(|f| f.over(k as i64 + 1).mid()).collect();
        let delta: Vec<I> = found.iter().zip(&next).map(|(f, x)| int(k as i64 + 1) * x - f).collect();
        defect.push(s.norm(&delta));
        p.push(next);
    }
    let choose = |l: usize, k: usize| (0..k).fold(1i64, |c, i| c * (l - i) as i64 / (i as i64 + 1));
    let (mut t, all) = (tables(s), I(BigInt::ZERO, int(1).1));
    let last = (0..=order).map(|k| field(s, &mut t, &horner(&p, &all, k, |l| choose(l, k)))).last().unwrap_or_default();
    defect.push(s.norm(&last.iter().map(|f| h * f).collect::<Vec<_>>()));
    let square = |i: usize, l: usize, k: usize| dot(&p[l][i * s.d..(i + 1) * s.d], &p[k - l][i * s.d..(i + 1) * s.d]);
    let of = |i: usize, k: usize| sum((k.saturating_sub(order)..=k.min(order)).map(|l| square(i, l, k))) - int((k == 0).into());
    let bulge = largest((0..s.m.len()).map(|i| sum((0..=2 * order).map(|k| of(i, k).up()))));
    (p, defect, bulge)
}
fn horner(p: &[Vec<I>], t: &I, from: usize, factor: impl Fn(usize) -> i64) -> Vec<I> {
    (0..p[0].len()).map(|c| (from..p.len()).rev().fold(int(0), |s, l| s * t + int(factor(l)) * &p[l][c])).collect()
}

/// A state of the proof: points of the grid, and a bound of the distance of the tokens from them.
struct State {
    s: System,
    x: Vec<I>,
    error: I,
}

impl State {
    fn step(&mut self, r: &mut Reader, order: usize) -> Result<(), String> {
        let h = r.numbers("step", 1)?.remove(0).low();
        if h.0 <= BigInt::ZERO || h.0 > int(1).0 << 60usize || !r.is("piece") {
            return Err("the step has no length or no pieces".into());
        }
        let (p, defect, bulge) = path(&self.s, &self.x, &h, order);
        let mut a = int(0);
        while r.is("piece") {
            let [end, mu, tube] = &r.numbers("piece", 3)?[..] else { return Err("three numbers".into()) };
            // In units of the step; the last one ends with it.
            let b = if r.is("piece") { (end / &h).mid() } else { int(1) };
            if b.0 <= a.0 || b.0 > int(1).0 || mu.0 < BigInt::ZERO || tube.0 <= BigInt::ZERO {
                return Err("pieces are not in order".into());
            }
            self.piece((&p, &defect, &bulge), &h, (&a, &b), (mu, tube))?;
            a = b;
        }
        self.jump(horner(&p, &int(1), 0, |_| 1), &r.numbers("next", self.x.len())?, |c| c);
        Ok(())
    }

    /// Lemma 2 from a to b.
    fn piece(&mut self, (p, defect, bulge): (&[Vec<I>], &[I], &I), h: &I, (a, b): (&I, &I), (mu, tube): (&I, &I)) -> Result<(), String> {
        let (s, middle, span) = (&self.s, (a + b).over(2).mid(), I(a.0.clone(), b.1.clone()));
        let centre = horner(p, &middle, 0, |_| 1);
        let axes = axes(s.d, &centre);
        let slope = |c: usize| (1..p.len()).rev().fold(int(0), |s, k| s * &span + int(k as i64) * &p[k][c]);
        let range: Vec<I> = centre.iter().enumerate().map(|(c, x)| x + slope(c) * (&span - &middle)).collect();
        let norm = (int(1) + bulge.symmetric()).sqrt();
        if positive(&less(&mu.low(), &Local::new(s, &range, &norm, &axes, false).derivative())) != Some(s.m.len() * (s.d - 1)) {
            return Err("errors may grow faster than is said".into());
        }
        let reach = s.reach(tube);
        let wide: Vec<I> = range.iter().enumerate().map(|(c, x)| x + reach[c / s.d].symmetric()).collect();
        let (lambda, c) = curvature(&Local::new(s, &wide, &(norm + largest(reach.clone()).symmetric()), &axes, true), &reach);
        let rate = defect.iter().rev().fold(int(0), |s, d| s * b + d) + h * c * bulge;
        let (time, growth) = (b - a, (mu + lambda * tube) * (b - a) * h);
        self.error = ((largest([self.error.clone(), int(FLOOR) * bulge]) + rate * time) * growth.exp()).up();
        if self.error.1 <= tube.0 { Ok(()) } else { Err("the error leaves its tube".into()) }
    }

    /// To points of the grid, each coordinate to its own.
    fn jump(&mut self, from: Vec<I>, to: &[I], place: impl Fn(usize) -> usize) {
        let to: Vec<I> = to.iter().map(I::low).collect();
        let jump: Vec<I> = from.iter().enumerate().map(|(c, x)| x - &to[place(c)]).collect();
        (self.error, self.x) = ((&self.error + self.s.norm(&jump)).up(), to);
    }

    fn merge(&mut self, r: &mut Reader) -> Result<(), String> {
        let (d, labels) = (self.s.d, r.words("merge")?.iter().filter_map(|w| w.parse().ok()).collect::<Vec<usize>>());
        let in_order = labels.iter().try_fold(0, |next, l| (*l <= next).then_some(max(next, l + 1)));
        let count = in_order.filter(|_| labels.len() == self.s.m.len() && !self.s.causal).ok_or("`merge` has no labels of points")?;
        self.jump(self.x.clone(), &r.numbers("points", count * d)?, |c| labels[c / d] * d + c % d);
        self.s = self.s.merged(&labels, count);
        Ok(())
    }
}

/// Checks a certificate and returns its statement and how it was reached. **Errors** the first thing that could not be confirmed.
pub(super) fn check(text: &str) -> Result<String, String> {
    let mut r = Reader(text.lines().filter(|l| !l.starts_with('#')).rev().collect());
    r.count("metastable-trajectory", 1..=1)?;
    let name = r.words("dynamics")?.join(" ");
    let kinds = [("sa", true, false), ("usa", false, false), ("causal-sa", true, true), ("causal-usa", false, true)];
    let (_, softmax, causal) = *kinds.iter().find(|k| k.0 == name).ok_or(format!("no dynamics `{name}`"))?;
    let (n, d) = (r.count("tokens", 1..=256)?, r.count("dimension", 2..=256)?);
    let (beta, radius) = (r.numbers("beta", 1)?.remove(0), r.numbers("radius", 1)?.remove(0));
    let (m, start, order) = (r.numbers("masses", n)?, r.numbers("start", n * d)?, r.count("order", 4..=40)?);
    let x: Vec<I> = r.numbers("first", n * d)?.iter().map(I::low).collect();
    if n * d > 512 || beta.0 < BigInt::ZERO || beta.0 > int(1000).0 || radius.0 < BigInt::ZERO || m.iter().any(|m| m.0 <= BigInt::ZERO) {
        return Err("sizes, beta, the radius or a mass are out of range".into());
    }
    let off = |i: usize| {
        let (row, size) = (&start[i * d..(i + 1) * d], sum(start[i * d..(i + 1) * d].iter().map(I::sqr)).sqrt());
        let away: Vec<I> = row.iter().zip(&x[i * d..]).map(|(v, x)| v / &size - x).collect();
        &m[i] * (radius.up() + length(&away)).sqr()
    };
    let error = sum((0..n).map(off)).sqrt().up();
    let s = System { softmax, causal, d, beta, shift: int(0), tokens: m.iter().map(|m| vec![m.clone()]).collect(), m };
    let (mut state, mut steps) = (State { s, x, error }, 0);
    while r.is("step") {
        steps += 1;
        state.step(&mut r, order).map_err(|e| format!("step {steps}: {e}"))?;
        if r.is("merge") {
            state.merge(&mut r)?;
        }
    }
    let (w, reach) = (r.numbers("end", d)?, state.s.reach(&state.error));
    let lies = |(x, reach): (&[I], &I)| dot(&w, x).0 > (length(&w) * reach).1;
    if !r.0.is_empty() || !state.x.chunks(d).zip(&reach).all(lies) {
        return Err("at the end the tokens are in no open hemisphere for certain".into());
    }
    let [beta, radius, error] = [&state.s.beta, &radius, &state.error].map(I::show);
    let starts = format!("all starts of the {n} tokens in R^{d} within {radius:e} of the directions of the start rows");
    Ok(format!("{name}, beta = {beta}: {starts} converge to one point ({steps} steps, error at most {error:.1e})"))
}

//! Equiangular tokens under a normalisation scheme (arXiv:2510.22026): their common inner product and radius.

use crate::attention::normalisation::{Normalisation, Token};
use crate::error::{Error, Result, in_range};
use crate::num::{ode::advance, roots::bracketed_root};

/// n tokens with one inner product `gamma` and one radius `r`, Q = K = V = I, SA weights `a = e^beta / Z`, `b = e^{beta gamma} / Z`:
/// `gamma' = (2b/s) (1 - gamma) ((n-1) gamma + 1)`, `r' = rho` with the rates `1/s` and `rho` of the scheme at `<theta, A> = a + (n-1) b gamma` and
/// `|A|^2 = gamma + (1 - gamma) (a^2 + (n-1) b^2)`.
pub struct SchemeCurve {
    scheme: Box<dyn Normalisation>,
    n: f64,
    beta: f64,
}

/// Where the tokens are at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// `gamma`.
    pub gamma: f64,
    /// `-log(1 - gamma)`: keeps its digits where gamma is 1 to rounding.
    pub depth: f64,
    /// The radius; it stays where the scheme has none.
    pub radius: f64,
}

/// A time with depth and radius.
type State = [f64; 3];

/// Error of a step, relative.
const STEP: f64 = 1e-13;
/// Depth in which pieces of the curve are followed.
const PIECE: f64 = 0.5;
/// From this depth on gamma is 1 to far below rounding.
const TOGETHER: f64 = 45.0;
/// Steps of a piece.
const STEPS: u32 = 100_000;

impl SchemeCurve {
    /// **Errors** fewer than two tokens, beta outside [0, 700], a scheme whose tokens have no direction.
    pub fn new(scheme: impl Normalisation + 'static, n: usize, beta: f64) -> Result<Self> {
        in_range("n", n as f64, 2.0, 1e9)?;
        in_range("beta", beta, 0.0, 700.0)?;
        if !scheme.space().is_unit() {
            return Err(Error::parameter("scheme", scheme.name(), "one that keeps directions: tokens of R^d do not stay equiangular"));
        }
        Ok(Self { scheme: Box::new(scheme), n: n as f64, beta })
    }

    /// `y'` and `r'` of the depth `y = -log(1 - gamma)` and the radius.
    fn rates(&self, t: f64, y: f64, radius: f64) -> (f64, f64) {
        let (gap, gamma) = ((-y).exp(), -(-y).exp_m1());
        let others = self.n - 1.0;
        let cross = (-self.beta * gap).exp();
        let z = 1.0 + others * cross;
        let (a, b) = (1.0 / z, cross / z);
        // 0 at beta = 0 and the lowest gamma, where rounding may pass it.
        let size = (gamma + gap * (a * a + others * b * b)).max(0.0).sqrt();
        let (speed, rate) = self.scheme.rates(&Token { t, radius, radial: a + others * b * gamma, size });
        (2.0 * b * (others * gamma + 1.0) * speed, rate)
    }

    /// `gamma'` and `r'` at the start.
    pub fn first_rates(&self, gamma: f64, radius: f64) -> (f64, f64) {
        let (y, r) = self.rates(0.0, -(-gamma).ln_1p(), radius);
        ((1.0 - gamma) * y, r)
    }

    /// The places at ascending times, from inner product `gamma` and radius `radius`.
    ///
    /// Follows t and r as functions of the depth y, in which the long plateau before tokens meet is one step; **accuracy** 1e-10 relative of `1 - gamma` and the radius, beside what a
    /// rounding of t makes. **Errors** gamma outside `(-1/(n-1), 1)`, a radius that is not positive, times that are negative or not ascending.
    ///
    /// ```
    /// use metastable::{attention::normalisation::find, theory::normalised::SchemeCurve};
    /// // Pre-LN: orthonormal tokens of radius 1, until (1 - gamma) r^2 is 2.368356 for ever.
    /// let pre = SchemeCurve::new(find("pre").unwrap(), 16, 2.0).unwrap();
    /// let end = pre.at(0.0, 1.0, &[1e6]).unwrap()[0];
    /// assert!(((-end.depth).exp() * end.radius.powi(2) - 2.368356).abs() < 1e-5);
    /// ```
    pub fn at(&self, gamma: f64, radius: f64, times: &[f64]) -> Result<Vec<Place>> {
        let lowest = -1.0 / (self.n - 1.0);
        if !(gamma > lowest && gamma < 1.0) {
            return Err(Error::parameter("gamma0", gamma, format!("a value in ({lowest}, 1)")));
        }
        in_range("r0", radius, 1e-100, 1e100)?;
        let mut state = [0.0, -(-gamma).ln_1p(), radius];
        let mut out = Vec::new();
        for t in times {
            in_range("times", *t, state[0], 1e300)?;
            // Rates may jump once: never inside a piece.
            let mut early = None;
            if let Some(jump) = self.scheme.jump().filter(|jump| state[0] < *jump) {
                early = Some(jump);
                if *t > jump {
                    state = self.reach(state, jump, early)?;
                    early = None;
                }
            }
            state = self.reach(state, *t, early)?;
            out.push(Place { gamma: -(-state[1]).exp_m1(), depth: state[1], radius: state[2] });
        }
        Ok(out)
    }

    /// The radius at the depth `y = -log(1 - gamma)`, on the way from inner product `gamma` and radius `radius`: the orbit, whatever the time.
    ///
    /// **Errors** as [`SchemeCurve::at`]; a depth before the start.
    pub fn radius_at(&self, gamma: f64, radius: f64, depth: f64) -> Result<f64> {
        let start = self.at(gamma, radius, &[0.0])?[0];
        in_range("depth", depth, start.depth, 700.0)?;
        Ok(self.deeper([0.0, start.depth, radius], depth - start.depth, None)?[2])
    }

    /// The state at a later time; before `early`, where rates jump, those before it hold.
    fn reach(&self, mut from: State, t: f64, early: Option<f64>) -> Result<State> {
        while from[1] < TOGETHER && from[0] < t {
            let end = self.deeper(from, PIECE, early)?;
            if end[0] >= t {
                let short = |dy: f64| self.deeper(from, dy, early).map_or(f64::NAN, |s| s[0] - t);
                let dy = bracketed_root(short, 0.0, PIECE, 0.0);
                let dy = dy.ok_or_else(|| Error::Numerical { what: format!("the reduced equation was lost before t = {t:e}") })?;
                let [_, y, r] = self.deeper(from, dy, early)?;
                return Ok([t, y, r]);
            }
            from = end;
        }
        if from[0] < t {
            let start = from[0];
            let field = |s: &[f64], ds: &mut [f64]| {
                let (y, r) = self.rates(sided(start + s[0], early), s[1], s[2]);
                ds.copy_from_slice(&[1.0, y, r]);
            };
            let end = advance(field, &[0.0, from[1], from[2]], t - start, (STEP, STEP), STEPS)?;
            from = [t, end[1], end[2]];
        }
        Ok(from)
    }

    /// The state deeper by `dy`: time and radius as functions of the depth.
    fn deeper(&self, [t, y, r]: State, dy: f64, early: Option<f64>) -> Result<State> {
        let field = |s: &[f64], ds: &mut [f64]| {
            let (rate, radius) = self.rates(sided(s[0], early), s[2], s[1]);
            ds.copy_from_slice(&[1.0 / rate, radius / rate, 1.0]);
        };
        let end = advance(field, &[t, r, y], dy, (STEP, STEP), STEPS)?;
        Ok([end[0], y + dy, end[1]])
    }
}

/// A time on the early side of a jump.
fn sided(t: f64, early: Option<f64>) -> f64 {
    early.map_or(t, |jump| t.min(jump.next_down()))
}

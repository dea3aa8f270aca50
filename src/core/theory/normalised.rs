//! Equiangular tokens with a normalisation (arXiv:2510.22026): their common inner product and
//! radius.

use crate::attention::normalisation::{Normalisation, TokenState};
use crate::error::{Error, Result, in_range};
use crate::num::{ode::advance, roots::bracketed_root};

/// n tokens with one inner product `gamma` and one radius `r`, Q = K = V = I, SA weights
/// `a = e^beta / Z`, `b = e^{beta gamma} / Z`: `gamma' = (2b/s) (1 - gamma) ((n-1) gamma + 1)`,
/// `r' = rho` with the rates `1/s` and `rho` of the scheme at `<theta, A> = a + (n-1) b gamma` and
/// `|A|^2 = gamma + (1 - gamma) (a^2 + (n-1) b^2)`.
pub struct SchemeCurve {
    scheme: Box<dyn Normalisation>,
    n: f64,
    beta: f64,
}

/// The state of equiangular tokens at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EquiangularState {
    /// `gamma`.
    pub gamma: f64,
    /// `-log(1 - gamma)`, which is accurate also where gamma rounds to 1.
    pub depth: f64,
    /// The radius; constant if the scheme has none.
    pub radius: f64,
}

/// Time, radius and depth.
type State = [f64; 3];

/// What became of a piece of the curve.
enum Piece {
    /// It ends before the value.
    Whole(State),
    /// It ends where the coordinate has the value.
    Until(State),
}

/// Relative tolerance of a step.
const STEP_TOLERANCE: f64 = 1e-13;
/// Length of one piece of the curve, in depth and logarithm of the radius together.
const PIECE: f64 = 0.5;
/// Depth from which `1 - gamma` is far below rounding.
const MAX_DEPTH: f64 = 45.0;
/// Largest number of steps per piece.
const MAX_STEPS: u32 = 100_000;

impl SchemeCurve {
    /// The curve of n tokens. **Errors** fewer than two tokens, beta outside [0, 700], a scheme in
    /// `R^d`.
    pub fn new(scheme: impl Normalisation + 'static, n: usize, beta: f64) -> Result<Self> {
        in_range("n", n as f64, 2.0, 1e9)?;
        in_range("beta", beta, 0.0, 700.0)?;
        if !scheme.space().is_unit() {
            return Err(Error::parameter(
                "scheme",
                scheme.name(),
                "a normalisation on the sphere: tokens in R^d do not stay equiangular",
            ));
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
        // At beta = 0 and the lowest gamma the square is 0, and rounding may make it negative.
        let output_norm = (gamma + gap * (a * a + others * b * b)).max(0.0).sqrt();
        let (speed, rate) = self.scheme.rates(&TokenState {
            t,
            radius,
            radial_output: a + others * b * gamma,
            output_norm,
        });
        (2.0 * b * (others * gamma + 1.0) * speed, rate)
    }

    /// `gamma'` and `r'` at time 0.
    pub fn initial_rates(&self, gamma: f64, radius: f64) -> (f64, f64) {
        let (y, r) = self.rates(0.0, -(-gamma).ln_1p(), radius);
        ((1.0 - gamma) * y, r)
    }

    /// The states at ascending times, from inner product `gamma` and radius `radius`.
    ///
    /// Integrates t, r and the depth y as functions of the length `y + |log r|` of the curve, so
    /// that the long plateau before tokens meet takes one step, and a radius that grows a
    /// thousandfold while the depth hardly changes takes a few. **Accuracy** 1e-10 relative for
    /// `1 - gamma` and the radius, plus the effect of rounding t. **Errors** gamma outside
    /// `(-1/(n-1), 1)`, a radius that is not positive, times that are negative or not ascending.
    ///
    /// ```
    /// use metastable::{attention::normalisation::find, theory::normalised::SchemeCurve};
    /// // Pre-LN from orthonormal tokens of radius 1: (1 - gamma) r^2 tends to 2.368356.
    /// let pre = SchemeCurve::new(find("pre").unwrap(), 16, 2.0).unwrap();
    /// let end = pre.states(0.0, 1.0, &[1e6]).unwrap()[0];
    /// assert!(((-end.depth).exp() * end.radius.powi(2) - 2.368356).abs() < 1e-5);
    /// ```
    pub fn states(&self, gamma: f64, radius: f64, times: &[f64]) -> Result<Vec<EquiangularState>> {
        let lowest = -1.0 / (self.n - 1.0);
        if !(gamma > lowest && gamma < 1.0) {
            return Err(Error::parameter("gamma0", gamma, format!("a value in ({lowest}, 1)")));
        }
        in_range("r0", radius, 1e-100, 1e100)?;
        let mut state = [0.0, radius, -(-gamma).ln_1p()];
        let mut out = Vec::new();
        for t in times {
            in_range("times", *t, state[0], 1e300)?;
            // Rates may be discontinuous at one time: no piece crosses it.
            let mut jump_ahead = None;
            if let Some(jump) = self.scheme.jump().filter(|jump| state[0] < *jump) {
                jump_ahead = Some(jump);
                if *t > jump {
                    state = self.advance_to_time(state, jump, jump_ahead)?;
                    jump_ahead = None;
                }
            }
            state = self.advance_to_time(state, *t, jump_ahead)?;
            out.push(EquiangularState {
                gamma: -(-state[2]).exp_m1(),
                depth: state[2],
                radius: state[1],
            });
        }
        Ok(out)
    }

    /// The radius at the depth `y = -log(1 - gamma)` on the orbit from inner product `gamma` and
    /// radius `radius`, at whatever time.
    ///
    /// **Errors** as [`SchemeCurve::states`]; a depth before the start.
    pub fn radius_at_depth(&self, gamma: f64, radius: f64, depth: f64) -> Result<f64> {
        let start = self.states(gamma, radius, &[0.0])?[0];
        in_range("depth", depth, start.depth, 700.0)?;
        let (mut from, coordinate) = ([0.0, radius, start.depth], 2);
        while from[coordinate] < depth {
            match self.piece(from, (coordinate, depth), None)? {
                Piece::Whole(end) => from = end,
                Piece::Until([_, r, _]) => return Ok(r),
            }
        }
        Ok(from[1])
    }

    /// The state at time t. Up to the discontinuity `jump_ahead`, the rates before it apply.
    fn advance_to_time(&self, mut from: State, t: f64, jump_ahead: Option<f64>) -> Result<State> {
        while from[2] < MAX_DEPTH && from[0] < t {
            match self.piece(from, (0, t), jump_ahead)? {
                Piece::Whole(end) => from = end,
                Piece::Until([_, r, y]) => return Ok([t, r, y]),
            }
        }
        if from[0] < t {
            let start = from[0];
            let field = |s: &[f64], ds: &mut [f64]| {
                let (y, r) = self.rates(clamp_before_jump(start + s[0], jump_ahead), s[2], s[1]);
                ds.copy_from_slice(&[1.0, r, y]);
            };
            let end = advance(
                field,
                &[0.0, from[1], from[2]],
                t - start,
                (STEP_TOLERANCE, STEP_TOLERANCE),
                MAX_STEPS,
            )?;
            from = [t, end[1], end[2]];
        }
        Ok(from)
    }

    /// One piece of the curve, or its part up to where a coordinate, which grows, reaches a value.
    fn piece(
        &self,
        from: State,
        (coordinate, value): (usize, f64),
        jump_ahead: Option<f64>,
    ) -> Result<Piece> {
        let whole = self.longest_piece(from, (coordinate, value), jump_ahead);
        let end = self.advance_by(from, whole, jump_ahead)?;
        if end[coordinate] < value {
            return Ok(Piece::Whole(end));
        }
        let excess = |length: f64| {
            let end = self.advance_by(from, length, jump_ahead);
            end.map_or(f64::NAN, |end| end[coordinate] - value)
        };
        let length = bracketed_root(excess, 0.0, whole, 0.0).ok_or_else(|| Error::Numerical {
            what: format!("the integration of the reduced equation failed after t = {:e}", from[0]),
        })?;
        self.advance_by(from, length, jump_ahead).map(Piece::Until)
    }

    /// The length of the next piece. A time that lies far within a piece, as on a plateau of
    /// e^300, would need a bisection over hundreds of binary orders: the piece is then four times
    /// what the present speed needs.
    fn longest_piece(
        &self,
        from: State,
        (coordinate, value): (usize, f64),
        jump_ahead: Option<f64>,
    ) -> f64 {
        let needed = 4.0 * (value - from[coordinate]) * self.speed(from, jump_ahead)[0];
        if coordinate == 0 && needed > 0.0 && needed < 1e-3 * PIECE { needed } else { PIECE }
    }

    /// The rates of the length of the curve, of the radius and of the depth.
    fn speed(&self, at: State, jump_ahead: Option<f64>) -> [f64; 3] {
        let (depth, radius) = self.rates(clamp_before_jump(at[0], jump_ahead), at[2], at[1]);
        [depth + (radius / at[1]).abs(), radius, depth]
    }

    /// The state after a length of the curve.
    fn advance_by(&self, from: State, length: f64, jump_ahead: Option<f64>) -> Result<State> {
        // Per unit of a tiny length times change by e^300, whose square overflows.
        let unit = if length > 0.0 && length < 1e-3 * PIECE { length } else { 1.0 };
        let field = |s: &[f64], ds: &mut [f64]| {
            let [speed, radius, depth] = self.speed([s[0], s[1], s[2]], jump_ahead);
            ds.copy_from_slice(&[unit / speed, unit * radius / speed, unit * depth / speed]);
        };
        let tolerances = (STEP_TOLERANCE, STEP_TOLERANCE);
        let end = advance(field, &from, length / unit, tolerances, MAX_STEPS)?;
        Ok([end[0], end[1], end[2]])
    }
}

/// The time t, or the last double before the jump if t is later.
fn clamp_before_jump(t: f64, jump_ahead: Option<f64>) -> f64 {
    jump_ahead.map_or(t, |jump| t.min(jump.next_down()))
}

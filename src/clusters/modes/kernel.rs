//! Kernels in cell units: proved Taylor coefficients between cells and the error budget that goes with them.

use crate::num::interval::Interval;

/// Width of a cell in units of the kernel: a power of two, so that cell centres are exact.
pub(super) const CELL: f64 = 0.5;
/// Kept Taylor coefficients of the derivative of the estimate.
pub(super) const TERMS: usize = 20;
/// Range of the kernel in units: what lies beyond is bounded, not summed.
const RANGE: f64 = 10.0;

/// Which kernel.
enum Shape {
    /// `e^{-u^2/2}`.
    Gaussian,
    /// `e^{beta (cos(u / unit) - 1)}` on a circle of `cells` cells.
    VonMises { beta: f64, cells: usize },
}

/// A translation of moments from a cell to a cell `offset` cells further on.
pub(super) struct Shift {
    /// Source cell minus target cell.
    pub offset: i64,
    /// `table[k][l]`: the contribution of moment k to coefficient l.
    pub table: [[f64; TERMS]; TERMS],
    /// Error of the value per sample of the source cell: truncation and enclosure; then the magnitude that rounding multiplies.
    pub value_error: (f64, f64),
    /// The same for the slope.
    pub slope_error: (f64, f64),
}

/// A kernel with its translations.
pub(super) struct Kernel {
    shape: Shape,
    unit: f64,
    /// All translations within range.
    pub shifts: Vec<Shift>,
    /// Bounds of the derivative and second derivative of the estimate per sample beyond the range.
    pub tail: (f64, f64),
    /// Bounds of the second and third derivative of the kernel: what a displaced sample costs.
    pub stiffness: (f64, f64),
    /// Cells on each side of a sample outside which its kernel is convex.
    pub reach: i64,
}

impl Kernel {
    /// The Gaussian kernel of bandwidth `beta^{-1/2}` on the line.
    pub fn gaussian(beta: f64) -> Self {
        // e^{-u^2/2} is convex for |u| > 1.
        Self::finish(Shape::Gaussian, beta.sqrt(), (1.0 / CELL).ceil() as i64 + 1, -(RANGE / CELL) as i64..=(RANGE / CELL) as i64)
    }

    /// The kernel `e^{beta cos}` on the circle.
    pub fn von_mises(beta: f64) -> Self {
        let turn = std::f64::consts::TAU;
        let cells = ((turn * beta.sqrt() / CELL).ceil()).max(16.0);
        let unit = cells * CELL / turn;
        let cells = cells as usize;
        // e^{beta cos} is convex where beta sin^2 > cos, that is beyond tau*.
        let root = (1.0 + 4.0 * beta * beta).sqrt();
        let cosine = 2.0 * beta / (1.0 + root);
        let reach = (cosine.acos() * unit / CELL).ceil() as i64 + 1;
        let (all, near) = (cells as i64, (RANGE / CELL) as i64);
        let offsets = if 2 * near + 1 >= all { -((all - 1) / 2)..=all / 2 } else { -near..=near };
        let mut kernel = Self::finish(Shape::VonMises { beta, cells }, unit, reach, offsets);
        if 2 * near + 1 >= all {
            kernel.tail = (0.0, 0.0);
        }
        kernel
    }

    fn finish(shape: Shape, unit: f64, reach: i64, offsets: std::ops::RangeInclusive<i64>) -> Self {
        let mut kernel = Self { shape, unit, shifts: Vec::new(), tail: (0.0, 0.0), stiffness: (0.0, 0.0), reach };
        kernel.shifts = offsets.map(|q| kernel.shift(q)).collect();
        // Cauchy's estimate at the centre, where the kernel is largest, with radius sqrt(m).
        let factorial = |m: i32| (1..=m).map(f64::from).product::<f64>();
        let derivative = |m: i32| kernel.bound(0.0, f64::from(m).sqrt()) * factorial(m) / f64::from(m).powf(0.5 * f64::from(m));
        kernel.stiffness = (1.01 * derivative(2), 1.01 * derivative(3));
        // Beyond the range: Cauchy's estimate with radius 1/10.
        let beyond = kernel.bound(RANGE, 0.1);
        kernel.tail = (10.1 * beyond, 202.0 * beyond);
        kernel
    }

    /// Units per radian, or per unit of length.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Distance in units at which samples do not meet each other's kernels or cells.
    pub fn separation(&self) -> f64 {
        2.0 * (RANGE + CELL * self.reach as f64)
    }

    /// Number of cells of the circle.
    pub fn cells(&self) -> Option<usize> {
        match self.shape {
            Shape::Gaussian => None,
            Shape::VonMises { cells, .. } => Some(cells),
        }
    }

    /// Bound of the kernel, up to a constant, on the disc of radius `rho` about a point at this distance.
    fn bound(&self, distance: f64, rho: f64) -> f64 {
        let bound = (self.log_growth(rho) - self.decay(distance - rho)).exp();
        match self.shape {
            Shape::Gaussian => bound,
            // |e^h - 1| <= |h| e^{|h|}: small beta.
            Shape::VonMises { beta, .. } => {
                let h = beta * ((rho / self.unit).cosh() + 1.0);
                bound.min(h * h.exp())
            }
        }
    }

    /// `|kernel(u + i v)| <= e^{growth(v) - decay(u)}`.
    fn log_growth(&self, v: f64) -> f64 {
        match self.shape {
            Shape::Gaussian => 0.5 * v * v,
            // cosh b - 1 = 2 sinh^2(b/2)
            Shape::VonMises { beta, .. } => 2.0 * beta * (0.5 * v / self.unit).sinh().powi(2),
        }
    }

    fn decay(&self, u: f64) -> f64 {
        let u = u.max(0.0);
        match self.shape {
            Shape::Gaussian => 0.5 * u * u,
            Shape::VonMises { beta, .. } => 2.0 * beta * (0.5 * (u / self.unit).min(std::f64::consts::PI)).sin().powi(2),
        }
    }

    /// Taylor coefficients of the kernel at `delta`, enclosed: those of `e^h` from those of h by `m g_m = sum k h_k g_{m-k}`.
    fn taylor(&self, delta: f64) -> Vec<Interval> {
        let real = Interval::exact;
        let mut h = vec![real(0.0); TERMS + 2];
        match self.shape {
            Shape::Gaussian => {
                h[0] = -(real(delta).sqr() * real(0.5));
                h[1] = real(-delta);
                h[2] = real(-0.5);
            }
            Shape::VonMises { beta, cells } => {
                // The angle of a cell is 2 pi / cells; with delta = k CELL this is an enclosure of delta / unit.
                let turn = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
                let radian = turn / real(cells as f64 * CELL);
                let angle = real(delta) * radian;
                let (half_sin, _) = (angle * real(0.5)).sin_cos();
                let (sin, cos) = angle.sin_cos();
                h[0] = -(half_sin.sqr() * real(2.0) * real(beta));
                let mut factor = real(beta);
                for (k, entry) in h.iter_mut().enumerate().skip(1) {
                    factor = (factor * radian) / real(k as f64);
                    *entry = factor
                        * match k % 4 {
                            1 => -sin,
                            2 => -cos,
                            3 => sin,
                            _ => cos,
                        };
                }
            }
        }
        let mut g = vec![h[0].exp()];
        for m in 1..h.len() {
            let sum = (1..=m).fold(real(0.0), |s, k| s + real(k as f64) * h[k] * g[m - k]);
            g.push(sum / real(m as f64));
        }
        g
    }

    /// The translation from the source cell `offset` cells further on.
    fn shift(&self, offset: i64) -> Shift {
        let delta = -(offset as f64) * CELL;
        let g = self.taylor(delta);
        let half = 0.5 * CELL * (1.0 + 1e-9);
        let (mut table, mut value, mut slope) = ([[0.0; TERMS]; TERMS], (0.0, 0.0), (0.0, 0.0));
        for m in 0..TERMS {
            // Coefficient m of the derivative, and the binomials of (v - z)^m.
            let f = Interval::exact((m + 1) as f64) * g[m + 1];
            let mut binomial = 1.0;
            for l in 0..=m {
                let entry = f * Interval::exact(binomial);
                table[m - l][l] = entry.mid();
                let radius = (entry.hi() - entry.mid()).max(entry.mid() - entry.lo());
                let power = half.powi(m as i32);
                value = (value.0 + radius * power, value.1 + entry.mag() * power);
                let power = l as f64 * half.powi(m as i32 - 1);
                slope = (slope.0 + radius * power, slope.1 + entry.mag() * power);
                binomial = binomial * (m - l) as f64 / (l + 1) as f64;
            }
        }
        let truncation = self.truncation(delta.abs());
        // One per cent pays for the rounding of the bounds themselves.
        let widened = |(a, b): (f64, f64), rest: f64| (1.01 * (a + rest), 1.01 * b);
        Shift { offset, table, value_error: widened(value, truncation.0), slope_error: widened(slope, truncation.1) }
    }

    /// Remainders of the derivative and of its slope for `|v - z| <= CELL`: Cauchy's estimate `|g_m| <= B(rho) / rho^m`, best of several radii.
    fn truncation(&self, distance: f64) -> (f64, f64) {
        let (w, terms) = (CELL * (1.0 + 1e-9), TERMS as f64);
        let mut best = (f64::INFINITY, f64::INFINITY);
        for k in 4..60 {
            let rho = 0.25 * f64::from(k);
            let bound = self.bound(distance, rho);
            let ratio = w / rho;
            let lead = bound / rho * ratio.powi(TERMS as i32);
            let sum = |next: f64| if next < 1.0 { 1.0 / (1.0 - next) } else { f64::INFINITY };
            // sum_{m >= TERMS} (m + 1) r^m and sum (m + 1) m r^m / w, as geometric series with their largest quotient.
            best.0 = best.0.min(lead * (terms + 1.0) * sum(ratio * (terms + 2.0) / (terms + 1.0)));
            best.1 = best.1.min(lead * (terms + 1.0) * terms / w * sum(ratio * (terms + 2.0) / terms));
        }
        best
    }
}

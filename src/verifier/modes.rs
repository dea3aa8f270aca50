//! Certificates of the number of modes of a density estimate on the line or on the circle: pieces
//! on which the derivative h' of the estimate has a sign (`P`, `N`) or is monotone (`R`, `F`).
//!
//! **Lemma** h is analytic and not constant. It has a strict local maximum in a maximal run of
//! pieces F if and only if h' is positive at the left and negative at the right end of the run,
//! and none elsewhere. The documentation of `proofs::modes` has the proof. On a piece, h' is
//! enclosed by the mean value theorem about the middle, and h'' by the sum over all samples.

use crate::canonical::{Canonical, confirm};
use crate::expression::{Expression, confirm_names};
use crate::formula::{self, FUNCTIONS, Series};
use crate::interval::F;

/// The kernel of the estimate.
enum Kernel {
    /// `e^{-beta x^2 / 2}` on the line.
    Gauss(f64),
    /// `e^{beta cos}` on the circle.
    Exponential(f64),
    /// `phi(cos)` on the circle.
    Interaction(Expression<F>),
}

/// The exponential of numbers up to 600; below -600 it is between 0 and `e^-600`.
fn exp(x: F) -> F {
    if x.0 >= -600.0 {
        return x.exp();
    }
    let tiny = F::int(-600.0).exp();
    F(0.0, if x.1 >= -600.0 { F::int(x.1).exp().1 } else { tiny.1 })
}

impl Kernel {
    /// The derivative and the second one at a distance, up to a positive factor.
    fn derivatives(&self, d: F) -> (F, F) {
        let (zero, one) = (F::int(0.0), F::int(1.0));
        match self {
            Self::Gauss(beta) => {
                let square = F::int(*beta) * d.sqr();
                let e = exp(F::int(-0.5) * square);
                (zero - d * e, (square - one) * e)
            }
            Self::Exponential(beta) => {
                let (sin, cos) = formula::sin_cos_of(d);
                let e = exp(F::int(*beta) * (cos - one));
                (zero - sin * e, (F::int(*beta) * sin.sqr() - cos) * e)
            }
            Self::Interaction(phi) => {
                let variable: Series = std::array::from_fn(|k| [d, one, zero][k.min(2)]);
                let c = phi.at(&formula::sin_cos(&variable).1);
                (c[1], F::int(2.0) * c[2])
            }
        }
    }
}

/// The estimate.
struct Estimate {
    kernel: Kernel,
    samples: Vec<f64>,
}

impl Estimate {
    fn derivatives(&self, x: F) -> (F, F) {
        let start = (F::int(0.0), F::int(0.0));
        self.samples.iter().fold(start, |sum, s| {
            let (first, second) = self.kernel.derivatives(x - F::int(*s));
            (sum.0 + first, sum.1 + second)
        })
    }

    /// Whether a piece is as its letter says.
    fn holds(&self, (a, b): (f64, f64), letter: u8) -> bool {
        let second = self.derivatives(F(a, b)).1;
        match letter {
            b'R' => second.0 > 0.0,
            b'F' => second.1 < 0.0,
            _ => {
                let middle = 0.5 * a + 0.5 * b;
                let first = self.derivatives(F::int(middle)).0;
                let mean = first + second * (F(a, b) - F::int(middle));
                if letter == b'P' { mean.0 > 0.0 } else { mean.1 < 0.0 }
            }
        }
    }

    /// Whether the derivative is positive at a point. **Errors** a sign that is not certain.
    fn rises(&self, x: f64) -> Result<bool, String> {
        let first = self.derivatives(F::int(x)).0;
        confirm(first.has_sign(), "the sign of the derivative is not certain at the end of a run")?;
        Ok(first.0 > 0.0)
    }

    /// The number of modes by the lemma.
    fn count(&self, cuts: &[f64], letters: &[u8]) -> Result<usize, String> {
        let sign = |at: Option<&u8>, x: f64| match at {
            Some(b'P') => Ok(true),
            Some(b'N') => Ok(false),
            _ => self.rises(x),
        };
        let (mut count, mut x) = (0, 0);
        while x < letters.len() {
            let run = letters[x..].iter().take_while(|l| **l == b'F').count();
            if run > 0 {
                let before = x.checked_sub(1).and_then(|b| letters.get(b));
                let left = sign(before, cuts[x])?;
                let right = sign(letters.get(x + run), cuts[x + run])?;
                count += usize::from(left && !right);
            }
            x += run.max(1);
        }
        Ok(count)
    }
}

/// Reads the kernel; its words in the statement.
fn kernel(lines: &mut Canonical) -> Result<(Kernel, String), String> {
    if lines.is("gauss") {
        let beta = lines.double("gauss")?;
        confirm(beta > 0.0 && beta <= 1e300, "beta is out of range")?;
        return Ok((Kernel::Gauss(beta), format!("e^(-beta x^2 / 2), beta = {beta:?}")));
    }
    if lines.is("exponential") {
        let beta = lines.double("exponential")?;
        confirm(beta > 0.0 && beta <= 1e28, "beta is out of range")?;
        return Ok((Kernel::Exponential(beta), format!("e^(beta cos), beta = {beta}")));
    }
    let text = lines.words("interaction")?.join(" ");
    let (mut parameters, mut shown): (Vec<(String, f64)>, String) = Default::default();
    while lines.is("parameter") {
        let words = lines.words("parameter")?;
        let value = words.get(1).and_then(|w| crate::canonical::double(w));
        let value = value.filter(|_| words.len() == 2).ok_or("a parameter without value")?;
        shown.push_str(&format!(", {} = {value}", words[0]));
        parameters.push((words[0].to_owned(), value));
    }
    let names: Vec<&str> = parameters.iter().map(|p| p.0.as_str()).collect();
    confirm_names(&text, FUNCTIONS, &names)?;
    let phi = formula::read(&text, &parameters)?;
    Ok((Kernel::Interaction(phi), format!("phi(cos), phi(s) = {text}{shown}")))
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str) -> Result<String, String> {
    crate::interval::check_rounding()?;
    let mut lines = Canonical::new(text)?;
    confirm(lines.words("metastable-modes")? == ["1"], "the version is not 1")?;
    let (kernel, law) = kernel(&mut lines)?;
    let samples = lines.doubles("samples")?;
    let cuts = lines.doubles("cuts")?;
    let pieces = lines.words("pieces")?;
    let modes: usize = lines.whole("modes")?;
    lines.end()?;
    confirm(pieces.len() == 1, "the pieces are one word")?;
    let letters: &[u8] = if pieces[0] == "-" { b"" } else { pieces[0].as_bytes() };
    confirm(letters.iter().all(|l| b"PNRF".contains(l)), "a piece has no such letter")?;
    let ascending = cuts.windows(2).all(|c| c[0] < c[1]);
    confirm(ascending && cuts.len() == letters.len() + 1, "the cuts do not fit the pieces")?;
    confirm(!samples.is_empty(), "there is no sample")?;
    let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
    let line = matches!(kernel, Kernel::Gauss(_));
    let n = samples.len();
    if line {
        let inside = samples.iter().all(|s| first <= *s && *s <= last);
        confirm(inside, "a sample lies outside the pieces")?;
    } else {
        let small = |v: &f64| v.abs() <= 1e5;
        confirm(samples.iter().chain(&cuts).all(small), "an angle is too large")?;
        let turn = F::pi() * F::int(2.0);
        let reach = F::int(last) - F::int(first);
        let signed = letters.first().is_some_and(|l| b"PN".contains(l));
        let covers =
            signed && reach.0 >= turn.1 && reach.1 <= (turn + F::int(cuts[1]) - F::int(first)).0;
        confirm(covers, "the pieces are not a turn, with the first piece again at its end")?;
    }
    let estimate = Estimate { kernel, samples };
    for (x, letter) in letters.iter().enumerate() {
        let holds = estimate.holds((cuts[x], cuts[x + 1]), *letter);
        confirm(holds, &format!("piece {} is not confirmed", x + 1))?;
    }
    // Equal samples have one mode, at their place.
    let count = if letters.is_empty() { 1 } else { estimate.count(&cuts, letters)? };
    confirm(count == modes, &format!("the number of modes is {count}"))?;
    let place = if line { "line" } else { "circle" };
    let maxima = if modes == 1 { "maximum" } else { "maxima" };
    Ok(format!(
        "the density estimate of these {n} samples on the {place} with the kernel {law} has exactly \
         {modes} strict local {maxima}"
    ))
}

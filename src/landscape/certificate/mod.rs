//! Certificates: files that prove, by interval arithmetic, that a critical point exists near a computed one, is unique up to rotation, and
//! has the stated Morse index.
//!
//! The prover ([`prove`]) and the checker ([`check`]) share the interval type and this file format, nothing else.
//!
//! **The statement.** K clusters of `sizes` tokens on the unit sphere of `R^d`, `w_qp = e^{-beta |y_q - y_p|^2 / 2}`. There is exactly one critical point
//! of `E_beta` in the box of the given radius about the given points that meets the gauge conditions (no component along the listed
//! rotations), and there the Hessian on all n tokens has, modulo rotations, exactly the stated numbers of positive and negative eigenvalues.
//!
//! **Not certified** is the link from these formulas to a paper's: it is written here to be read.

mod check;
mod prove;

pub use check::check;
pub use prove::prove;

use crate::error::{Error, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What a certificate file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Inverse temperature.
    pub beta: f64,
    /// Ambient dimension.
    pub d: usize,
    /// Tokens per cluster.
    pub sizes: Vec<usize>,
    /// Centres of the box, one row per cluster.
    pub points: Vec<f64>,
    /// Half width of the box in every coordinate.
    pub radius: f64,
    /// Coordinate planes whose rotations move the points independently and span the orbit.
    pub rotations: Vec<(usize, usize)>,
    /// Positive eigenvalues of the Hessian of all tokens: unstable directions of the flow.
    pub unstable: usize,
    /// Negative eigenvalues: the Morse index of E.
    pub morse_index: usize,
}

/// First line of every certificate.
const KIND: &str = "metastable critical point, version 1";

/// The exact bits of a number, and its decimal form for the reader.
fn bits(v: f64) -> Value {
    json!(format!("{:016x} {v:e}", v.to_bits()))
}

impl Certificate {
    fn body(&self) -> Value {
        json!({
            "kind": KIND,
            "statement": format!(
                "exactly one critical point of E_beta, up to rotation, lies within {:e} of the points in every coordinate; its Hessian on {} tokens has {} positive, {} \
                 negative eigenvalues and {} rotations",
                self.radius, self.sizes.iter().sum::<usize>(), self.unstable, self.morse_index, self.rotations.len()
            ),
            "beta": bits(self.beta),
            "d": self.d,
            "sizes": self.sizes,
            "points": self.points.chunks(self.d.max(1)).map(|r| r.iter().map(|v| bits(*v)).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "radius": bits(self.radius),
            "rotations": self.rotations.iter().map(|(a, b)| vec![*a, *b]).collect::<Vec<_>>(),
            "unstable": self.unstable,
            "morse_index": self.morse_index,
        })
    }

    /// The file: the statement, and a digest that notices damage (the mathematics is checked besides).
    pub fn to_text(&self) -> String {
        let mut body = self.body();
        body["digest"] = json!(digest(&self.body()));
        format!("{body:#}\n")
    }

    /// Reads a file. **Errors** what is missing or damaged, and where.
    pub fn from_text(text: &str) -> Result<Self> {
        let bad = |what: String| {
            Error::parameter("certificate", what, "a file written by `metastable saddles --certificates` or `metastable certify`")
        };
        let value: Value = serde_json::from_str(text).map_err(|e| bad(format!("not JSON: {e}")))?;
        let field = |name: &str| value.get(name).ok_or_else(|| bad(format!("no field `{name}`")));
        if field("kind")? != KIND {
            return Err(bad(format!("kind {}", field("kind")?)));
        }
        let number = |v: &Value| {
            let text = v.as_str().and_then(|s| s.get(..16)).and_then(|s| u64::from_str_radix(s, 16).ok());
            text.map(f64::from_bits)
                .filter(|v| v.is_finite())
                .ok_or_else(|| bad(format!("{v}, not 16 hexadecimal digits of a finite number")))
        };
        let whole = |v: &Value| v.as_u64().and_then(|v| usize::try_from(v).ok()).ok_or_else(|| bad(format!("{v}, not a whole number")));
        let list = |v: &Value| v.as_array().cloned().ok_or_else(|| bad(format!("{v}, not a list")));
        let mut points = Vec::new();
        let d = whole(field("d")?)?;
        for row in list(field("points")?)? {
            let row = list(&row)?;
            if row.len() != d {
                return Err(bad(format!("a point with {} coordinates for d = {d}", row.len())));
            }
            for v in row {
                points.push(number(&v)?);
            }
        }
        let mut rotations = Vec::new();
        for pair in list(field("rotations")?)? {
            match &list(&pair)?[..] {
                [a, b] => rotations.push((whole(a)?, whole(b)?)),
                _ => return Err(bad(format!("rotation {pair}"))),
            }
        }
        let certificate = Self {
            beta: number(field("beta")?)?,
            d,
            sizes: list(field("sizes")?)?.iter().map(whole).collect::<Result<_>>()?,
            points,
            radius: number(field("radius")?)?,
            rotations,
            unstable: whole(field("unstable")?)?,
            morse_index: whole(field("morse_index")?)?,
        };
        let mut rest = value.clone();
        let own = rest.as_object_mut().and_then(|o| o.shift_remove("digest"));
        if own != Some(json!(digest(&certificate.body()))) || rest != certificate.body() {
            return Err(bad("a digest that does not belong to the contents: the file was changed".into()));
        }
        Ok(certificate)
    }

    /// Shape errors that would make the mathematics meaningless.
    fn validate(&self) -> Result<()> {
        let k = self.sizes.len();
        let bad = |what: String| Err(Error::parameter("certificate", what, "a statement about 1 to 400 clusters on a sphere"));
        if self.d < 2 || k == 0 || k > 400 || self.points.len() != k * self.d || self.sizes.contains(&0) {
            return bad(format!("{k} clusters, {} coordinates, d = {}", self.points.len(), self.d));
        }
        if self.sizes.iter().any(|s| *s > 1 << 40) || !(self.radius > 0.0 && self.radius < 0.1) || self.beta.abs() > 1e8 {
            return bad(format!("sizes up to {:?}, radius {}, beta {}", self.sizes.iter().max(), self.radius, self.beta));
        }
        match self.rotations.iter().find(|(a, b)| *a >= self.d || b >= a) {
            Some((a, b)) => bad(format!("the rotation plane ({a}, {b}) for d = {}", self.d)),
            None => Ok(()),
        }
    }
}

fn digest(body: &Value) -> String {
    Sha256::digest(body.to_string().as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

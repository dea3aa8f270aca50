//! Proofs that exactly one clustered critical point lies near a computed one, on the slice that
//! fixes rotations, and that it has the stated Morse index. A proof is a file, the certificate.
//!
//! The prover ([`prove`]) chooses a box and makes the tests that [`check`] makes for a certificate
//! that was read: both depend on the same equations. The independent check is the program
//! verifier, which shares nothing with them but the file format. It takes certificates of at most
//! 512 coordinates, `|beta| <= 1000` and 2^20 tokens in a cluster; beyond that these tests stand
//! alone.
//!
//! **The statement.** K clusters of `sizes` tokens on the unit sphere of `R^d`,
//! `w_qp = e^{-beta |y_q - y_p|^2 / 2}`. Among the *clustered* configurations y (all tokens of a
//! cluster at one point) whose coordinates lie within the radius of the given points p *and on the
//! gauge slice* `sum_q s_q <A p_q, y_q> = 0` for every listed rotation A, exactly one is a critical
//! point of `E_beta`. There the Hessian on all n tokens has exactly the stated numbers of positive
//! and negative eigenvalues, and its kernel is spanned by the rotations.
//!
//! **Not excluded** are critical points that split a cluster (only its own neighbourhood, of
//! unknown size, is free of them, as the Hessian is regular), and clustered ones of the box off the
//! slice: rotated onto it, they may leave the box.
//!
//! **Not certified** is that these formulas are those of a paper: the reader compares them.

mod check;
#[cfg(test)]
mod formulas;
mod pairs;
mod prove;
#[cfg(test)]
mod rejections;

pub use check::check;
pub use prove::{prove, prove_interaction};

use crate::error::{Error, Result};
use crate::num::formula::Formula;
use crate::sphere::{Tokens, geometry::dist};
use serde_json::{Value, json};

/// The contents of a certificate file.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Inverse temperature; 0 with a formula.
    pub beta: f64,
    /// The formula of an interaction phi, in the place of `e^{beta (s - 1)}`.
    pub formula: Option<Formula>,
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

/// First line of every certificate. (Version 1 said "unique up to rotation", which is more than is
/// proved. Version 2 had texts that the verifier did not check.)
const KIND: &str = "metastable critical point, version 3";

/// First line of certificates with an interaction.
const KIND_OF_INTERACTION: &str = "metastable critical point of an interaction, version 2";

/// Largest number of clusters of a certificate.
const MAX_CLUSTERS: usize = 400;

/// Largest number of unknowns `K (d + 1)`, without those of the rotations (at most as many again).
/// The memory is several times 16 bytes times its square, the time is cubic.
const MAX_UNKNOWNS: usize = 2000;

/// Checks that K clusters in `R^d` are few enough for a certificate.
///
/// **Errors** more than 400 clusters, or `K (d + 1)` above 2000.
pub fn check_size(clusters: usize, d: usize) -> Result<()> {
    let unknowns = clusters.saturating_mul(d.saturating_add(1));
    match () {
        () if clusters > MAX_CLUSTERS => Err(Error::parameter(
            "clusters",
            clusters,
            format!("at most {MAX_CLUSTERS} in a certificate"),
        )),
        () if unknowns > MAX_UNKNOWNS => Err(Error::parameter(
            "clusters times (d + 1)",
            format!("{clusters} x {} = {unknowns}", d + 1),
            format!("at most {MAX_UNKNOWNS} unknowns in a certificate"),
        )),
        () => Ok(()),
    }
}

/// The bits of a number in hexadecimal, and its decimal form for the reader.
fn bits(v: f64) -> Value {
    json!(format!("{:016x} {v:e}", v.to_bits()))
}

/// What the statement does not exclude.
const NOT_EXCLUDED: &str = "critical points that split a cluster; critical points of the box off the slice, which may leave the box when they are rotated onto it";

impl Certificate {
    /// The proved statement, in one sentence.
    pub fn statement(&self) -> String {
        format!(
            "among the configurations y of {} whole clusters (all tokens of a cluster at one point of the unit sphere) with every coordinate within {:e} of the points p and with \
             sum_q s_q <A p_q, y_q> = 0 for each of the listed rotations (A e_b = -e_a, A e_a = e_b for [a, b]; s_q tokens in cluster q), exactly one is a critical point of {}; the Hessian \
             there on all {} tokens has {} positive and {} negative eigenvalues, and its kernel is spanned by {} rotations",
            self.sizes.len(),
            self.radius,
            self.energy(),
            self.sizes.iter().sum::<usize>(),
            self.unstable,
            self.morse_index,
            self.rotations.len()
        )
    }

    /// Upper bound, in radians and over all rows, of the distance from a row to the proved position
    /// of its cluster, without a rotation: the distance to the points, plus that to the corners of
    /// the box.
    pub fn distance_from(&self, rows: &Tokens, labels: &[usize]) -> f64 {
        let to_points = rows
            .rows()
            .zip(labels)
            .map(|(r, l)| dist(r, &self.points[l * self.d..(l + 1) * self.d]))
            .fold(0.0, f64::max);
        // An arc is at most pi / 2 times its chord.
        to_points + std::f64::consts::FRAC_PI_2 * (self.d as f64).sqrt() * self.radius
    }

    /// What the statement does not exclude, as a noun phrase.
    pub fn not_excluded(&self) -> &'static str {
        NOT_EXCLUDED
    }

    /// The energy, in words.
    fn energy(&self) -> String {
        match &self.formula {
            None => format!("E_beta, beta = {:e}", self.beta),
            Some(f) => {
                let values = f.parameters().iter().map(|(k, v)| format!(", {k} = {v:e}"));
                let values: String = values.collect();
                format!("E = (1/2) sum W(<x_i, x_j>) with W' = phi, phi(s) = {}{values}", f.text())
            }
        }
    }

    fn body(&self) -> Value {
        let mut head = match &self.formula {
            None => json!({
                "kind": KIND,
                "statement": self.statement(),
                "not_excluded": NOT_EXCLUDED,
                "beta": bits(self.beta),
            }),
            Some(f) => json!({
                "kind": KIND_OF_INTERACTION,
                "statement": self.statement(),
                "not_excluded": NOT_EXCLUDED,
                "phi": f.text(),
                "parameters": f.parameters().iter().map(|(k, v)| json!([k, bits(*v)])).collect::<Vec<_>>(),
            }),
        };
        let rest = json!({
            "d": self.d,
            "sizes": self.sizes,
            "points": self.points.chunks(self.d.max(1)).map(|r| r.iter().map(|v| bits(*v)).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "radius": bits(self.radius),
            "rotations": self.rotations.iter().map(|(a, b)| vec![*a, *b]).collect::<Vec<_>>(),
            "unstable": self.unstable,
            "morse_index": self.morse_index,
        });
        if let (Some(head), Value::Object(rest)) = (head.as_object_mut(), rest) {
            head.extend(rest);
        }
        head
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.body())
    }

    /// Reads the text of a file. **Errors** what is missing or damaged, and where.
    pub fn from_text(text: &str) -> Result<Self> {
        let error = |what: String| {
            Error::parameter("certificate", what, "a certificate as this library writes it")
        };
        let value: Value =
            serde_json::from_str(text).map_err(|e| error(format!("not JSON: {e}")))?;
        let field = |name: &str| value.get(name).ok_or_else(|| error(format!("no field `{name}`")));
        let own = field("kind")? == KIND_OF_INTERACTION;
        if field("kind")? != KIND && !own {
            return Err(Error::parameter(
                "certificate",
                format!("kind {}", field("kind")?),
                format!(
                    "\"{KIND}\" (earlier versions say more than is checked: prove the point again)"
                ),
            ));
        }
        let number = |v: &Value| {
            let text =
                v.as_str().and_then(|s| s.get(..16)).and_then(|s| u64::from_str_radix(s, 16).ok());
            text.map(f64::from_bits)
                .filter(|v| v.is_finite())
                .ok_or_else(|| error(format!("{v}, not 16 hexadecimal digits of a finite number")))
        };
        let whole = |v: &Value| {
            v.as_u64()
                .and_then(|v| usize::try_from(v).ok())
                .ok_or_else(|| error(format!("{v}, not a whole number")))
        };
        let list =
            |v: &Value| v.as_array().cloned().ok_or_else(|| error(format!("{v}, not a list")));
        let mut points = Vec::new();
        let d = whole(field("d")?)?;
        for row in list(field("points")?)? {
            let row = list(&row)?;
            if row.len() != d {
                return Err(error(format!("a point with {} coordinates for d = {d}", row.len())));
            }
            for v in row {
                points.push(number(&v)?);
            }
        }
        let mut rotations = Vec::new();
        for pair in list(field("rotations")?)? {
            match &list(&pair)?[..] {
                [a, b] => rotations.push((whole(a)?, whole(b)?)),
                _ => return Err(error(format!("rotation {pair}"))),
            }
        }
        let mut parameters: Vec<(String, f64)> = Vec::new();
        for pair in if own { list(field("parameters")?)? } else { Vec::new() } {
            match &list(&pair)?[..] {
                [Value::String(name), value] => parameters.push((name.clone(), number(value)?)),
                _ => return Err(error(format!("the parameter {pair}"))),
            }
        }
        let given: Vec<(&str, f64)> = parameters.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        let formula = match field("phi") {
            Ok(text) if own => Some(Formula::parse(text.as_str().unwrap_or_default(), &given)?),
            Err(e) if own => return Err(e),
            _ => None,
        };
        let certificate = Self {
            beta: if own { 0.0 } else { number(field("beta")?)? },
            formula,
            d,
            sizes: list(field("sizes")?)?.iter().map(whole).collect::<Result<_>>()?,
            points,
            radius: number(field("radius")?)?,
            rotations,
            unstable: whole(field("unstable")?)?,
            morse_index: whole(field("morse_index")?)?,
        };
        if text != certificate.to_text() {
            return Err(error(
                "a text that this library writes otherwise: the file was changed".into(),
            ));
        }
        Ok(certificate)
    }

    /// Rejects shapes and values that make the statement meaningless or its check too expensive.
    fn validate(&self) -> Result<()> {
        let (k, d) = (self.sizes.len(), self.d);
        let error = |what: String| {
            Err(Error::parameter("certificate", what, "a statement about clusters on a sphere"))
        };
        check_size(k, d)?;
        if d < 2 || k == 0 || self.points.len() != k * d || self.sizes.contains(&0) {
            return error(format!(
                "{k} clusters, {} coordinates, d = {d}, sizes {:?}",
                self.points.len(),
                self.sizes
            ));
        }
        if self.sizes.iter().any(|s| *s > 1 << 40)
            || !(self.radius > 0.0 && self.radius < 0.1)
            || self.beta.is_nan()
            || self.beta.abs() > 1e8
        {
            return error(format!(
                "sizes up to {:?}, radius {}, beta {}",
                self.sizes.iter().max(),
                self.radius,
                self.beta
            ));
        }
        if self.rotations.len() > k * (d - 1) {
            return error(format!(
                "{} rotations of {} degrees of freedom",
                self.rotations.len(),
                k * (d - 1)
            ));
        }
        match self.rotations.iter().find(|(a, b)| *a >= d || b >= a) {
            Some((a, b)) => error(format!("the rotation plane ({a}, {b}) for d = {d}")),
            None => Ok(()),
        }
    }
}

//! Densities parsed from a line of text: terms `cos:1=0.2,2=-0.1`, `sin:2=0.1`,
//! `vmf:kappa=20,at=1.5,mass=0.3`, `noise:amplitude=0.01,modes=40,seed=1`, `uniform`, joined by
//! `+`.

use crate::error::{Error, Result};
use crate::num::bessel::{bessel_ratios, scaled_sphere_mean};
use crate::num::{gegenbauer::zonal_polynomials, key_values::KeyValues, stream::Stream};

/// A density relative to the uniform measure: a background plus von Mises-Fisher bumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// Coefficients of `cos k theta` (zonal: of `P_k`), by degree.
    cosines: Vec<(usize, f64)>,
    sines: Vec<(usize, f64)>,
    /// `(kappa, angle, mass)`.
    bumps: Vec<(f64, f64, f64)>,
    /// Azimuth of each bump, on S^2.
    azimuths: Vec<f64>,
    noises: Vec<RandomModes>,
}

/// Independent normal coefficients of all degrees `1..=modes`.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomModes {
    /// Standard deviation.
    pub amplitude: f64,
    /// Largest degree.
    pub modes: usize,
    /// Random seed.
    pub seed: u64,
    /// Cosine and sine coefficients by degree, from degree 1 (zonal: the first of each pair is that
    /// of `P_k`).
    waves: Vec<(f64, f64)>,
}

impl RandomModes {
    fn new(amplitude: f64, modes: usize, seed: u64) -> Self {
        let mut stream = Stream::new(seed, &["density", "noise"]);
        let waves = (0..modes)
            .map(|_| (amplitude * stream.normal(), amplitude * stream.normal()))
            .collect();
        Self { amplitude, modes, seed, waves }
    }
}

const FORMS: &str = "terms `uniform`, `cos:k=a,...`, `sin:k=a,...`, `vmf:kappa=K,at=ANGLE,mass=M`, `noise:amplitude=A,modes=K,seed=S`, joined by `+`";

impl Density {
    /// Parses the text. **Errors** the wrong term, with the expected form.
    ///
    /// ```
    /// use metastable::continuity::density::Density;
    /// let rho = Density::parse("cos:1=0.2,2=-0.1").unwrap();
    /// assert!((rho.on_circle(0.0) - 1.1).abs() < 1e-15);
    /// assert!(Density::parse("cos:1=x").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let mut out = Self {
            cosines: Vec::new(),
            sines: Vec::new(),
            bumps: Vec::new(),
            azimuths: Vec::new(),
            noises: Vec::new(),
        };
        for term in text.split('+').map(str::trim) {
            out.add(term)?;
        }
        let total: f64 = out.bumps.iter().map(|b| b.2).sum();
        if total > 1.0 + 1e-12 {
            return Err(Error::parameter(
                "density",
                format!("masses of sum {total}"),
                "bumps of total mass at most 1; the rest is uniform",
            ));
        }
        Ok(out)
    }

    /// Adds a term.
    fn add(&mut self, term: &str) -> Result<()> {
        let bad = |what: &str| Error::parameter("density", format!("`{term}`: {what}"), FORMS);
        let (kind, rest) = term.split_once(':').unwrap_or((term, ""));
        let number = |value: &str| {
            let number = value.parse::<f64>().ok().filter(|v| v.is_finite());
            number.ok_or_else(|| bad(&format!("`{value}` is not a finite number")))
        };
        let known = |keys: &[&str]| {
            KeyValues::parse(kind, rest)
                .with_keys("density parameter", keys)
                .map_err(|e| bad(&e.nested()))
        };
        match kind {
            "uniform" => {
                known(&[])?;
            }
            "cos" | "sin" => {
                for (key, value) in
                    KeyValues::parse(kind, rest).pairs().map_err(|e| bad(&e.nested()))?
                {
                    let value = number(value)?;
                    let degree = key
                        .parse::<usize>()
                        .ok()
                        .filter(|k| (1..=4096).contains(k))
                        .ok_or_else(|| bad(&format!("degree `{key}` outside 1..=4096")))?;
                    if kind == "cos" {
                        self.cosines.push((degree, value))
                    } else {
                        self.sines.push((degree, value))
                    }
                }
            }
            "vmf" => {
                let found = known(&["kappa", "at", "mass", "azimuth"])?;
                let get = |key: &str, default: f64| found.get(key).map_or(Ok(default), number);
                let (kappa, mass) = (get("kappa", 10.0)?, get("mass", 1.0)?);
                if !(mass > 0.0 && mass <= 1.0) || kappa.abs() > 1e5 {
                    return Err(bad("mass in (0, 1] and |kappa| <= 1e5"));
                }
                self.bumps.push((kappa, get("at", 0.0)?, mass));
                self.azimuths.push(get("azimuth", 0.0)?);
            }
            "noise" => {
                let found = known(&["amplitude", "modes", "seed"])?;
                let get = |key: &str, default: f64| found.get(key).map_or(Ok(default), number);
                let (amplitude, modes, seed) =
                    (get("amplitude", 0.01)?, get("modes", 40.0)?, get("seed", 1.0)?);
                if !(1.0..=2000.0).contains(&modes) || seed < 0.0 {
                    return Err(bad("modes in [1, 2000] and a seed >= 0"));
                }
                self.noises.push(RandomModes::new(amplitude, modes as usize, seed as u64));
            }
            _ => return Err(bad("unknown form")),
        }
        Ok(())
    }

    /// The noise terms.
    pub fn noises(&self) -> &[RandomModes] {
        &self.noises
    }

    fn background(&self) -> f64 {
        1.0 - self.bumps.iter().map(|b| b.2).sum::<f64>()
    }

    /// The density at the angle `theta` of the circle.
    pub fn on_circle(&self, theta: f64) -> f64 {
        let waves = self.cosines.iter().map(|(k, a)| a * (*k as f64 * theta).cos()).sum::<f64>()
            + self.sines.iter().map(|(k, a)| a * (*k as f64 * theta).sin()).sum::<f64>();
        let wave = |(k, (a, b)): (usize, &(f64, f64))| {
            let (s, c) = ((k + 1) as f64 * theta).sin_cos();
            a * c + b * s
        };
        let noise: f64 =
            self.noises.iter().flat_map(|n| n.waves.iter().enumerate().map(wave)).sum();
        let bump = |(kappa, at, mass): &(f64, f64, f64)| mass * bump(2, *kappa, (theta - at).cos());
        self.background() + waves + noise + self.bumps.iter().map(bump).sum::<f64>()
    }

    /// The zonal density at `s = <x, pole>` on `S^{d-1}`. A bump at angle 0 has its centre at the
    /// pole, at pi at the antipode.
    ///
    /// **Errors** sine terms, bumps at other angles.
    pub fn zonal(&self, d: usize, s: f64) -> Result<f64> {
        if !self.sines.is_empty() || self.bumps.iter().any(|b| b.1.sin().abs() > 1e-12) {
            return Err(Error::parameter(
                "density",
                "a term that is not zonal",
                "cos terms (coefficients of P_k) and bumps at 0 or pi",
            ));
        }
        let p = zonal_polynomials(d, self.waves(), s);
        let bump =
            |(kappa, at, mass): &(f64, f64, f64)| mass * bump(d, *kappa, at.cos().signum() * s);
        let noise: f64 = self
            .noises
            .iter()
            .flat_map(|n| n.waves.iter().enumerate().map(|(k, w)| w.0 * p[k + 1]))
            .sum();
        let waves: f64 = self.cosines.iter().map(|(k, a)| a * p[*k]).sum();
        Ok(self.background() + waves + noise + self.bumps.iter().map(bump).sum::<f64>())
    }

    /// Degree above which the harmonics of the density on `S^{d-1}` are negligible: exact for waves
    /// and noise, [`bump_degree`] for bumps.
    ///
    /// ```
    /// use metastable::continuity::density::Density;
    /// assert_eq!(Density::parse("cos:3=0.1+noise:modes=7").unwrap().degree(2), 7);
    /// assert_eq!(Density::parse("vmf:kappa=2000").unwrap().degree(2), 359);
    /// ```
    pub fn degree(&self, d: usize) -> usize {
        let sines = self.sines.iter().map(|c| c.0).max().unwrap_or(0);
        self.bumps
            .iter()
            .map(|b| bump_degree(d, b.0))
            .max()
            .unwrap_or(0)
            .max(self.waves())
            .max(sines)
    }

    /// Largest degree of the cosine and noise terms.
    fn waves(&self) -> usize {
        let noisy = self.noises.iter().map(|n| n.modes).max().unwrap_or(0);
        self.cosines.iter().map(|c| c.0).max().unwrap_or(0).max(noisy)
    }

    /// The density at `x = cos theta` and azimuth phi of S^2. Cosine terms are coefficients of
    /// `P_k(cos theta)`; bumps have their centre at colatitude `at` and `azimuth`. Noise terms are
    /// random harmonics, which [`super::sphere2::Sphere2::from_density`] adds, not this function.
    ///
    /// **Errors** sine terms.
    pub fn on_sphere(&self, x: f64, phi: f64) -> Result<f64> {
        if !self.sines.is_empty() {
            return Err(Error::parameter(
                "density",
                "a sine term",
                "cos terms (coefficients of P_k) and bumps with at and azimuth on S^2",
            ));
        }
        let p = zonal_polynomials(3, self.waves(), x);
        let s = (1.0 - x * x).max(0.0).sqrt();
        let bump = |((kappa, at, mass), azimuth): (&(f64, f64, f64), &f64)| {
            let cosine = x * at.cos() + s * at.sin() * (phi - azimuth).cos();
            mass * bump(3, *kappa, cosine)
        };
        let bumps: f64 = self.bumps.iter().zip(&self.azimuths).map(bump).sum();
        Ok(self.background() + self.cosines.iter().map(|(k, a)| a * p[*k]).sum::<f64>() + bumps)
    }
}

impl Density {
    /// Rounding error of the logarithms of its values: the exponent of a bump has some roundings.
    pub fn rounding_error(&self) -> f64 {
        let steepest = self.bumps.iter().fold(0.0, |m: f64, (kappa, ..)| m.max(kappa.abs()));
        8.0 * f64::EPSILON * (1.0 + steepest)
    }
}

/// Degree above which the orthonormal coefficients of `e^{kappa <x, y>}` on `S^{d-1}` are below
/// 1e-14 of the largest, about `sqrt(2 kappa log 1e14)`.
pub fn bump_degree(d: usize, kappa: f64) -> usize {
    let mut most = 64;
    loop {
        let (mut sizes, mut size, df) = (vec![1.0f64], 1.0, d as f64);
        for (k, ratio) in bessel_ratios(0.5 * df - 1.0, kappa.abs(), most).into_iter().enumerate() {
            let k = k as f64;
            // Ratio of the dimensions of the harmonics of degrees k + 1 and k.
            let dimension = if k == 0.0 {
                df
            } else {
                (2.0 * k + df) * (k + df - 2.0) / ((2.0 * k + df - 2.0) * (k + 1.0))
            };
            size *= ratio * dimension.sqrt();
            sizes.push(size);
        }
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let last = sizes.iter().rposition(|v| *v > 1e-14 * largest).unwrap_or(0);
        if last < most {
            return last;
        }
        most *= 2;
    }
}

/// `e^{kappa s}` divided by its mean on `S^{d-1}`.
fn bump(d: usize, kappa: f64, s: f64) -> f64 {
    (kappa * s - kappa.abs()).exp() / scaled_sphere_mean(d, kappa.abs())
}

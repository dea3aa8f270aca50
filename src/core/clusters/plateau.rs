//! Plateaus of the energy in log time: the metastable states of a run.

/// An interval of log time in which the energy hardly changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Time at which it begins.
    pub from: f64,
    /// Time at which it ends.
    pub to: f64,
    /// Median of the log energy.
    pub log_energy: f64,
}

impl Plateau {
    /// Its length in decades.
    pub fn decades(&self) -> f64 {
        (self.to / self.from).log10()
    }
}

/// Definition of a plateau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criterion {
    /// Largest range of the log energy.
    pub tolerance: f64,
    /// Smallest length in decades of time.
    pub decades: f64,
}

impl Default for Criterion {
    /// One per cent of the energy, half a decade.
    fn default() -> Self {
        Self { tolerance: 0.01, decades: 0.5 }
    }
}

/// Finds plateaus in samples `(t, log energy)` with ascending t: maximal intervals whose range of
/// log energy is within the tolerance, from left to right, without overlap. Samples at t <= 0 are
/// ignored. The last plateau ends at the last sample.
///
/// ```
/// use metastable::clusters::plateau::{Criterion, plateaus};
/// let sample = |k: i32| (10f64.powf(f64::from(k) * 0.1), if k < 30 { -1.0 } else { -0.5 });
/// let samples: Vec<(f64, f64)> = (0..60).map(sample).collect();
/// let found = plateaus(&samples, Criterion::default());
/// assert_eq!(found.len(), 2);
/// assert!((found[0].decades() - 2.9).abs() < 1e-9 && found[1].log_energy == -0.5);
/// ```
pub fn plateaus(samples: &[(f64, f64)], criterion: Criterion) -> Vec<Plateau> {
    let samples: Vec<(f64, f64)> =
        samples.iter().copied().filter(|s| s.0 > 0.0 && s.1.is_finite()).collect();
    let mut out = Vec::new();
    let mut start = 0;
    while start < samples.len() {
        let (mut low, mut high, mut end) = (samples[start].1, samples[start].1, start + 1);
        while end < samples.len() {
            let (l, h) = (low.min(samples[end].1), high.max(samples[end].1));
            if h - l > criterion.tolerance {
                break;
            }
            (low, high, end) = (l, h, end + 1);
        }
        let values: Vec<f64> = samples[start..end].iter().map(|s| s.1).collect();
        let plateau = Plateau {
            from: samples[start].0,
            to: samples[end - 1].0,
            log_energy: crate::num::stats::median(&values),
        };
        if plateau.decades() >= criterion.decades {
            out.push(plateau);
            start = end;
        } else {
            start += 1;
        }
    }
    out
}

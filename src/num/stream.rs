//! Named random streams. A stream is seeded by a hash of (seed, names), so adding a cell to an
//! experiment does not change the numbers of other cells.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// A PCG-64 generator, seeded by a root seed and a path of names.
///
/// ```
/// use metastable::num::stream::Stream;
/// let a = Stream::new(1, &["law", "uniform"]).uniform();
/// assert_eq!(a, Stream::new(1, &["law", "uniform"]).uniform());
/// assert_ne!(a, Stream::new(1, &["law", "cap"]).uniform());
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    rng: Pcg64,
    spare: Option<f64>,
}

impl Stream {
    /// The stream of `seed` and `names`: state and increment are the FNV-1a 128-bit hash of the
    /// joined key, salted twice.
    #[inline]
    pub fn new(seed: u64, names: &[&str]) -> Self {
        let key = format!("{seed}/{}", names.join("/"));
        Self { rng: Pcg64::new(fnv1a(&key, 0), fnv1a(&key, 1)), spare: None }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform on [0, 1) with 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (-53f64).exp2()
    }

    /// Uniform on `[a, b)`.
    #[inline]
    pub fn uniform_in(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.uniform()
    }

    /// Uniform on `{0, ..., n-1}`, `n >= 1`.
    #[inline]
    pub fn index(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Standard normal by the polar method (Marsaglia and Bray 1964).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = (-2.0 * s.ln() / s).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }

    /// Fills a slice with standard normals.
    #[inline]
    pub fn normals(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|z| *z = self.normal());
    }
}

fn fnv1a(key: &str, salt: u8) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in key.bytes().chain([salt]) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}

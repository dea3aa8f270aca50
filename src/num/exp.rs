//! The exponential `2^t` for `t <= 0`, in SIMD.
//!
//! `t = N + r`, where `N` is a multiple of `1/16` (AVX-512) or an integer (elsewhere). N is found
//! by adding and subtracting a constant whose last bit weighs `1/16` or `1`. Then
//! `2^t = 2^floor(N) 2^{frac N} 2^r`, with the middle factor from a table of 16 entries and
//! `2^r = 1 + r q(r)`.
//!
//! **Error bound** (`u = 2^-53`, `t > -1020`). AVX-512, `|r| <= 1/32`: `q` has degree 5 and
//! interpolates to `1.5e-17` (measured with its rounded coefficients against 60 digits). The sum
//! `1 + r q` rounds once (`u`) and inherits at most `0.022 * 3u`; the table is correctly rounded
//! (`u`) and the product rounds (`u`): below `3.3u`. AVX2, `|r| <= 1/2`: `q` has degree 10 and
//! interpolates to `2e-17`; `r q` is at most 0.42 with relative error `2u`, relative to a sum of at
//! least 0.7: below `2.7u`. The scaling by a power of two is exact. Portable, products rounded:
//! below `4u`. `exp2_product(a, b)` takes the argument `a b` exactly with fused operations, and
//! with relative error `u` in the portable version, which adds `0.7 u |t|`. `f32`: the same with
//! `u = 2^-24`, degree 5, `5e-9`.
//!
//! **Underflow** No result is subnormal: `2^t` is 0 for `t <= -1020` (`t <= -124` in `f32`) on
//! every instruction set, including `t = -inf`. `exp2_product(a, b, cut)` is 0 for `a >= cut`; the
//! caller chooses `cut <= 1020 / |b|`. Positive arguments up to 1 are also evaluated (rounding of a
//! chord may produce them); larger ones are not supported.

use pulp::Simd;
use std::f64::consts::LN_2;

/// `(2^r - 1) / r` on `|r| <= 1/32`, lowest power first: Chebyshev interpolation with 60 digits,
/// rounded.
#[cfg(target_arch = "x86_64")]
const SIXTEENTH_COEFFICIENTS: [f64; 6] = [
    0.6931471805599457,
    0.24022650695910075,
    0.0555041086566393,
    0.009618129106919537,
    0.0013333781576784268,
    0.00015403723980749256,
];

/// `(2^r - 1) / r` on `|r| <= 1/2`.
const HALF_COEFFICIENTS: [f64; 11] = [
    LN_2,
    0.24022650695910097,
    0.0555041086648216,
    0.009618129107606888,
    0.0013333558146416936,
    0.0001540353044173605,
    1.525273382983612e-05,
    1.321544258792169e-06,
    1.0178062445845774e-07,
    7.072585949269223e-09,
    4.4549605981865186e-10,
];

/// `(2^r - 1) / r` on `|r| <= 1/2` for `f32`.
const F32_COEFFICIENTS: [f32; 6] = [
    std::f32::consts::LN_2,
    0.240_226_5,
    0.055_503_573,
    0.009_618_082,
    0.001_339_086_3,
    0.000_154_531_63,
];

/// `2^{k/16}`, correctly rounded.
#[cfg(target_arch = "x86_64")]
const POWERS_OF_SIXTEENTHS: [f64; 16] = [
    1.0,
    1.0442737824274138,
    1.0905077326652577,
    1.1387886347566916,
    1.189207115002721,
    1.241857812073484,
    1.2968395546510096,
    1.3542555469368927,
    std::f64::consts::SQRT_2,
    1.4768261459394993,
    1.5422108254079407,
    1.6104903319492543,
    1.681792830507429,
    1.7562521603732995,
    1.8340080864093424,
    1.9152065613971474,
];

/// Adding this rounds to integers (the last bit of the sum weighs 1).
const ROUND_TO_INTEGER: f64 = 6755399441055744.0;
/// The same for `f32`.
const ROUND_TO_INTEGER_F32: f32 = 12582912.0;

/// For smaller exponents the result is 0.
pub const UNDERFLOW_EXPONENT: f64 = -1020.0;
/// [`UNDERFLOW_EXPONENT`] for `f32`.
pub const UNDERFLOW_EXPONENT_F32: f32 = -124.0;

/// Portable `2^t`, `t <= 0`.
#[inline(always)]
pub fn exp2_f64(t: f64) -> f64 {
    let m = t + ROUND_TO_INTEGER;
    let r = t - (m - ROUND_TO_INTEGER);
    let mut q = HALF_COEFFICIENTS[10];
    for c in HALF_COEFFICIENTS[..10].iter().rev() {
        q = q * r + c;
    }
    let scale = f64::from_bits(m.to_bits().wrapping_add(1023) << 52);
    if t > UNDERFLOW_EXPONENT { (1.0 + r * q) * scale } else { 0.0 }
}

/// Portable `2^t`, `t <= 0`, in `f32`.
#[inline(always)]
pub fn exp2_f32(t: f32) -> f32 {
    let m = t + ROUND_TO_INTEGER_F32;
    let r = t - (m - ROUND_TO_INTEGER_F32);
    let mut q = F32_COEFFICIENTS[5];
    for c in F32_COEFFICIENTS[..5].iter().rev() {
        q = q * r + c;
    }
    let scale = f32::from_bits(m.to_bits().wrapping_add(127) << 23);
    if t > UNDERFLOW_EXPONENT_F32 { (1.0 + r * q) * scale } else { 0.0 }
}

/// The exponential and other operations that `pulp` lacks, for an instruction set.
pub trait Exp2: Simd {
    /// `2^t`.
    fn exp2_f64(self, t: Self::f64s) -> Self::f64s;
    /// `2^(a b)` for `a b > -1020`.
    #[inline(always)]
    fn exp2_no_underflow_f64(self, a: Self::f64s, b: Self::f64s) -> Self::f64s {
        self.exp2_product_f64(a, b, self.splat_f64s(f64::INFINITY))
    }
    /// `2^t` of several vectors, interleaved; `NO_UNDERFLOW` promises `t > -1020`.
    #[inline(always)]
    fn exp2_array_f64<const U: usize, const NO_UNDERFLOW: bool>(
        self,
        mut t: [Self::f64s; U],
    ) -> [Self::f64s; U] {
        for t in &mut t {
            *t = self.exp2_f64(*t);
        }
        t
    }
    /// `2^(a b)`, 0 for `a >= cut`.
    fn exp2_product_f64(self, a: Self::f64s, b: Self::f64s, cut: Self::f64s) -> Self::f64s;
    /// `2^t`.
    fn exp2_f32(self, t: Self::f32s) -> Self::f32s;
    /// `2^(a b)` for `a b > -124`.
    #[inline(always)]
    fn exp2_no_underflow_f32(self, a: Self::f32s, b: Self::f32s) -> Self::f32s {
        self.exp2_product_f32(a, b, self.splat_f32s(f32::INFINITY))
    }
    /// `2^t` of several vectors; `NO_UNDERFLOW` promises `t > -124`.
    #[inline(always)]
    fn exp2_array_f32<const U: usize, const NO_UNDERFLOW: bool>(
        self,
        mut t: [Self::f32s; U],
    ) -> [Self::f32s; U] {
        for t in &mut t {
            *t = self.exp2_f32(*t);
        }
        t
    }
    /// `2^(a b)`, 0 for `a >= cut`.
    fn exp2_product_f32(self, a: Self::f32s, b: Self::f32s, cut: Self::f32s) -> Self::f32s;
    /// `1 / sqrt(a)`
    #[inline(always)]
    fn inverse_sqrt_f64(self, a: Self::f64s) -> Self::f64s {
        self.div_f64s(self.splat_f64s(1.0), self.sqrt_f64s(a))
    }
    /// `1 / sqrt(a)`
    #[inline(always)]
    fn inverse_sqrt_f32(self, a: Self::f32s) -> Self::f32s {
        self.div_f32s(self.splat_f32s(1.0), self.sqrt_f32s(a))
    }
    /// `table[i]` for whole numbers i from 0 to 15.
    #[inline(always)]
    fn lookup_f64(self, table: &[f64; 16], index: Self::f64s) -> Self::f64s {
        let (mut at, mut out) = ([0.0; 8], [0.0; 8]);
        Self::as_mut_simd_f64s(&mut at[..Self::F64_LANES]).0[0] = index;
        for (out, i) in out[..Self::F64_LANES].iter_mut().zip(at) {
            *out = table[i as usize & 15];
        }
        Self::as_simd_f64s(&out[..Self::F64_LANES]).0[0]
    }
    /// `m ? -a : a`
    fn negate_f64(self, m: Self::m64s, a: Self::f64s) -> Self::f64s;
    /// Transposes a square of as many rows as lanes; rows are `stride` apart.
    fn transpose_f64(self, rows: &[f64], stride: usize, out: &mut [Self::f64s]);
    /// Sums each of as many vectors as lanes; sum k is in lane k.
    #[inline(always)]
    fn sums_f64(self, v: &[Self::f64s]) -> Self::f64s {
        let mut sums = [0.0; 8];
        for (sum, v) in sums.iter_mut().zip(&v[..Self::F64_LANES]) {
            *sum = self.reduce_sum_f64s(*v);
        }
        Self::as_simd_f64s(&sums[..Self::F64_LANES]).0[0]
    }
    /// `m ? -a : a`
    fn negate_f32(self, m: Self::m32s, a: Self::f32s) -> Self::f32s;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{
        Exp2, F32_COEFFICIENTS, HALF_COEFFICIENTS, POWERS_OF_SIXTEENTHS, ROUND_TO_INTEGER,
        ROUND_TO_INTEGER_F32, SIXTEENTH_COEFFICIENTS, UNDERFLOW_EXPONENT, UNDERFLOW_EXPONENT_F32,
    };
    use pulp::x86::{V3, V4};
    use pulp::{Simd, b8, b16, cast, f32x8, f32x16, f64x4, f64x8, m32x8, m64x4};

    /// `1 + r q(r)` by Horner's rule.
    #[inline(always)]
    fn polynomial_f64<S: Simd, const N: usize>(s: S, c: &[f64; N], r: S::f64s) -> S::f64s {
        let mut q = s.splat_f64s(c[N - 1]);
        for k in (0..N - 1).rev() {
            q = s.mul_add_e_f64s(q, r, s.splat_f64s(c[k]));
        }
        s.mul_add_e_f64s(q, r, s.splat_f64s(1.0))
    }

    #[inline(always)]
    fn polynomial_f32<S: Simd>(s: S, r: S::f32s) -> S::f32s {
        let mut q = s.splat_f32s(F32_COEFFICIENTS[5]);
        for k in (0..5).rev() {
            q = s.mul_add_e_f32s(q, r, s.splat_f32s(F32_COEFFICIENTS[k]));
        }
        s.mul_add_e_f32s(q, r, s.splat_f32s(1.0))
    }

    /// Adding this rounds to sixteenths.
    const ROUND_TO_SIXTEENTH: f64 = ROUND_TO_INTEGER / 16.0;

    /// The table, with `k << 48` subtracted from the bits of entry k.
    const SHIFTED_POWERS: [u64; 16] = {
        let mut out = [0; 16];
        let mut k = 0;
        while k < 16 {
            out[k] = POWERS_OF_SIXTEENTHS[k].to_bits().wrapping_sub((k as u64) << 48);
            k += 1;
        }
        out
    };

    #[inline(always)]
    fn exp2_from_sixteenths(s: V4, m: f64x8, r: f64x8, normal: b8) -> f64x8 {
        let halves: [f64x8; 2] = cast(SHIFTED_POWERS);
        // The low four bits of m select the table entry, the higher bits are the exponent. Shifted
        // by 48, all bits of m complete the entry.
        let table = s.avx512f._mm512_permutex2var_pd(cast(halves[0]), cast(m), cast(halves[1]));
        let scale =
            s.avx512f._mm512_add_epi64(cast(table), s.avx512f._mm512_slli_epi64::<48>(cast(m)));
        let p = polynomial_f64(s, &SIXTEENTH_COEFFICIENTS, r);
        cast(s.avx512f._mm512_maskz_mul_pd(normal.0, cast(scale), cast(p)))
    }

    #[inline(always)]
    fn exp2_from_integers(s: V4, m: f32x16, r: f32x16, normal: b16) -> f32x16 {
        let one = s.avx512f._mm512_set1_epi32(127);
        let scale = s.avx512f._mm512_slli_epi32::<23>(s.avx512f._mm512_add_epi32(cast(m), one));
        cast(s.avx512f._mm512_maskz_mul_ps(normal.0, cast(scale), cast(polynomial_f32(s, r))))
    }

    /// Sums of neighbouring quarters of x, then of y.
    #[inline(always)]
    fn halves(s: V4, x: f64x8, y: f64x8) -> f64x8 {
        let (a, x, y) = (s.avx512f, cast(x), cast(y));
        s.add_f64s(
            cast(a._mm512_shuffle_f64x2::<0x88>(x, y)),
            cast(a._mm512_shuffle_f64x2::<0xdd>(x, y)),
        )
    }

    impl Exp2 for V4 {
        #[inline(always)]
        fn lookup_f64(self, table: &[f64; 16], index: f64x8) -> f64x8 {
            // The low four bits select the entry.
            let m = self.add_f64s(index, self.splat_f64s(ROUND_TO_INTEGER));
            let halves: [f64x8; 2] = cast(*table);
            let (low, high) = (cast(halves[0]), cast(halves[1]));
            cast(self.avx512f._mm512_permutex2var_pd(low, cast(m), high))
        }
        #[inline(always)]
        fn exp2_f64(self, t: f64x8) -> f64x8 {
            let round = self.splat_f64s(ROUND_TO_SIXTEENTH);
            let m = self.add_f64s(t, round);
            let r = self.sub_f64s(t, self.sub_f64s(m, round));
            exp2_from_sixteenths(
                self,
                m,
                r,
                self.greater_than_f64s(t, self.splat_f64s(UNDERFLOW_EXPONENT)),
            )
        }
        #[inline(always)]
        fn exp2_array_f64<const U: usize, const NO_UNDERFLOW: bool>(
            self,
            t: [f64x8; U],
        ) -> [f64x8; U] {
            let round = self.splat_f64s(ROUND_TO_SIXTEENTH);
            let (mut m, mut r, mut out) = (t, t, t);
            for u in 0..U {
                m[u] = self.add_f64s(t[u], round);
                r[u] = self.sub_f64s(t[u], self.sub_f64s(m[u], round));
            }
            for u in 0..U {
                let normal = if NO_UNDERFLOW {
                    b8(0xff)
                } else {
                    self.greater_than_f64s(t[u], self.splat_f64s(UNDERFLOW_EXPONENT))
                };
                out[u] = exp2_from_sixteenths(self, m[u], r[u], normal);
            }
            out
        }
        #[inline(always)]
        fn exp2_product_f64(self, a: f64x8, b: f64x8, cut: f64x8) -> f64x8 {
            let round = self.splat_f64s(ROUND_TO_SIXTEENTH);
            let m = self.mul_add_e_f64s(a, b, round);
            let r = self.avx512f._mm512_fmsub_pd(cast(a), cast(b), cast(self.sub_f64s(m, round)));
            exp2_from_sixteenths(self, m, cast(r), self.less_than_f64s(a, cut))
        }
        #[inline(always)]
        fn exp2_no_underflow_f64(self, a: f64x8, b: f64x8) -> f64x8 {
            let round = self.splat_f64s(ROUND_TO_SIXTEENTH);
            let m = self.mul_add_e_f64s(a, b, round);
            let r = self.avx512f._mm512_fmsub_pd(cast(a), cast(b), cast(self.sub_f64s(m, round)));
            exp2_from_sixteenths(self, m, cast(r), b8(0xff))
        }
        /// Two Newton steps from 14 bits. The first leaves a relative error of `5/16 2^-39`, the
        /// second only its own rounding.
        #[inline(always)]
        fn inverse_sqrt_f64(self, a: f64x8) -> f64x8 {
            let (one, half) = (self.splat_f64s(1.0), self.splat_f64s(0.5));
            let y = cast(self.avx512f._mm512_rsqrt14_pd(cast(a)));
            let e =
                cast(self.avx512f._mm512_fnmadd_pd(cast(self.mul_f64s(a, y)), cast(y), cast(one)));
            let y = self.mul_add_e_f64s(
                self.mul_f64s(y, e),
                self.mul_add_e_f64s(self.splat_f64s(0.375), e, half),
                y,
            );
            let e =
                cast(self.avx512f._mm512_fnmadd_pd(cast(self.mul_f64s(a, y)), cast(y), cast(one)));
            self.mul_add_e_f64s(self.mul_f64s(half, y), e, y)
        }
        #[inline(always)]
        fn exp2_f32(self, t: f32x16) -> f32x16 {
            let round = self.splat_f32s(ROUND_TO_INTEGER_F32);
            let m = self.add_f32s(t, round);
            let r = self.sub_f32s(t, self.sub_f32s(m, round));
            exp2_from_integers(
                self,
                m,
                r,
                self.greater_than_f32s(t, self.splat_f32s(UNDERFLOW_EXPONENT_F32)),
            )
        }
        #[inline(always)]
        fn exp2_product_f32(self, a: f32x16, b: f32x16, cut: f32x16) -> f32x16 {
            let round = self.splat_f32s(ROUND_TO_INTEGER_F32);
            let m = self.mul_add_e_f32s(a, b, round);
            let r = self.avx512f._mm512_fmsub_ps(cast(a), cast(b), cast(self.sub_f32s(m, round)));
            exp2_from_integers(self, m, cast(r), self.less_than_f32s(a, cut))
        }
        #[inline(always)]
        fn negate_f64(self, m: b8, a: f64x8) -> f64x8 {
            cast(self.avx512f._mm512_mask_sub_pd(
                cast(a),
                m.0,
                self.avx512f._mm512_setzero_pd(),
                cast(a),
            ))
        }
        #[inline(always)]
        fn transpose_f64(self, rows: &[f64], stride: usize, out: &mut [f64x8]) {
            let mut r = [self.splat_f64s(0.0); 8];
            for (i, r) in r.iter_mut().enumerate() {
                *r = Self::as_simd_f64s(&rows[i * stride..][..8]).0[0];
            }
            let a = self.avx512f;
            let out = &mut out[..8];
            for odd in 0..2 {
                // Columns of this parity: interleave pairs of rows, then pairs of pairs, then the
                // two halves.
                let mut t = [r[0]; 4];
                for (i, t) in t.iter_mut().enumerate() {
                    let (x, y) = (cast(r[2 * i]), cast(r[2 * i + 1]));
                    *t = cast(if odd == 0 {
                        a._mm512_unpacklo_pd(x, y)
                    } else {
                        a._mm512_unpackhi_pd(x, y)
                    });
                }
                let near = (
                    a._mm512_shuffle_f64x2::<0x88>(cast(t[0]), cast(t[1])),
                    a._mm512_shuffle_f64x2::<0x88>(cast(t[2]), cast(t[3])),
                );
                let far = (
                    a._mm512_shuffle_f64x2::<0xdd>(cast(t[0]), cast(t[1])),
                    a._mm512_shuffle_f64x2::<0xdd>(cast(t[2]), cast(t[3])),
                );
                out[odd] = cast(a._mm512_shuffle_f64x2::<0x88>(near.0, near.1));
                out[4 + odd] = cast(a._mm512_shuffle_f64x2::<0xdd>(near.0, near.1));
                out[2 + odd] = cast(a._mm512_shuffle_f64x2::<0x88>(far.0, far.1));
                out[6 + odd] = cast(a._mm512_shuffle_f64x2::<0xdd>(far.0, far.1));
            }
        }
        #[inline(always)]
        fn sums_f64(self, v: &[f64x8]) -> f64x8 {
            let (a, v) = (self.avx512f, &v[..8]);
            // Adds neighbouring elements, three times; the order of the vectors is kept.
            let mut pairs = [v[0]; 4];
            for (i, pair) in pairs.iter_mut().enumerate() {
                let (x, y) = (cast(v[2 * i]), cast(v[2 * i + 1]));
                *pair = self
                    .add_f64s(cast(a._mm512_unpacklo_pd(x, y)), cast(a._mm512_unpackhi_pd(x, y)));
            }
            halves(self, halves(self, pairs[0], pairs[1]), halves(self, pairs[2], pairs[3]))
        }
        #[inline(always)]
        fn negate_f32(self, m: b16, a: f32x16) -> f32x16 {
            cast(self.avx512f._mm512_mask_sub_ps(
                cast(a),
                m.0,
                self.avx512f._mm512_setzero_ps(),
                cast(a),
            ))
        }
    }

    /// `2^{m - ROUND_TO_INTEGER} p`, by moving the integer in the last bits of m into the exponent;
    /// 0 in lanes that are not `normal`.
    #[inline(always)]
    fn scaled_f64(s: V3, m: f64x4, p: f64x4, normal: m64x4) -> f64x4 {
        let bits =
            s.avx2._mm256_slli_epi64::<52>(s.avx2._mm256_add_epi64(cast(m), cast([1023u64; 4])));
        cast(s.avx._mm256_and_pd(cast(normal), cast(s.mul_f64s(p, cast(bits)))))
    }

    #[inline(always)]
    fn scaled_f32(s: V3, m: f32x8, p: f32x8, normal: m32x8) -> f32x8 {
        let bits =
            s.avx2._mm256_slli_epi32::<23>(s.avx2._mm256_add_epi32(cast(m), cast([127u32; 8])));
        cast(s.avx._mm256_and_ps(cast(normal), cast(s.mul_f32s(p, cast(bits)))))
    }

    impl Exp2 for V3 {
        #[inline(always)]
        fn exp2_f64(self, t: f64x4) -> f64x4 {
            let round = self.splat_f64s(ROUND_TO_INTEGER);
            let m = self.add_f64s(t, round);
            let r = self.sub_f64s(t, self.sub_f64s(m, round));
            scaled_f64(
                self,
                m,
                polynomial_f64(self, &HALF_COEFFICIENTS, r),
                self.greater_than_f64s(t, self.splat_f64s(UNDERFLOW_EXPONENT)),
            )
        }
        #[inline(always)]
        fn exp2_product_f64(self, a: f64x4, b: f64x4, cut: f64x4) -> f64x4 {
            let round = self.splat_f64s(ROUND_TO_INTEGER);
            let m = self.mul_add_e_f64s(a, b, round);
            let r = cast(self.fma._mm256_fmsub_pd(cast(a), cast(b), cast(self.sub_f64s(m, round))));
            scaled_f64(
                self,
                m,
                polynomial_f64(self, &HALF_COEFFICIENTS, r),
                self.less_than_f64s(a, cut),
            )
        }
        #[inline(always)]
        fn exp2_f32(self, t: f32x8) -> f32x8 {
            let round = self.splat_f32s(ROUND_TO_INTEGER_F32);
            let m = self.add_f32s(t, round);
            let r = self.sub_f32s(t, self.sub_f32s(m, round));
            scaled_f32(
                self,
                m,
                polynomial_f32(self, r),
                self.greater_than_f32s(t, self.splat_f32s(UNDERFLOW_EXPONENT_F32)),
            )
        }
        #[inline(always)]
        fn exp2_product_f32(self, a: f32x8, b: f32x8, cut: f32x8) -> f32x8 {
            let round = self.splat_f32s(ROUND_TO_INTEGER_F32);
            let m = self.mul_add_e_f32s(a, b, round);
            let r = cast(self.fma._mm256_fmsub_ps(cast(a), cast(b), cast(self.sub_f32s(m, round))));
            scaled_f32(self, m, polynomial_f32(self, r), self.less_than_f32s(a, cut))
        }
        #[inline(always)]
        fn negate_f64(self, m: m64x4, a: f64x4) -> f64x4 {
            self.select_f64s(m, self.neg_f64s(a), a)
        }
        #[inline(always)]
        fn transpose_f64(self, rows: &[f64], stride: usize, out: &mut [f64x4]) {
            let mut r = [self.splat_f64s(0.0); 4];
            for (i, r) in r.iter_mut().enumerate() {
                *r = Self::as_simd_f64s(&rows[i * stride..][..4]).0[0];
            }
            let a = self.avx;
            let out = &mut out[..4];
            for odd in 0..2 {
                let pair = |i: usize| {
                    let (x, y) = (cast(r[i]), cast(r[i + 1]));
                    if odd == 0 { a._mm256_unpacklo_pd(x, y) } else { a._mm256_unpackhi_pd(x, y) }
                };
                out[odd] = cast(a._mm256_permute2f128_pd::<0x20>(pair(0), pair(2)));
                out[2 + odd] = cast(a._mm256_permute2f128_pd::<0x31>(pair(0), pair(2)));
            }
        }
        #[inline(always)]
        fn negate_f32(self, m: m32x8, a: f32x8) -> f32x8 {
            self.select_f32s(m, self.neg_f32s(a), a)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dd::Dd;
    use crate::interval::Interval;
    use crate::simd::{Isa, SimdKernel, SimdOps};
    use crate::stats::nan_max;
    use crate::stream::Stream;

    /// In units of u: a bound of the approximation error `|1 + r q(r) - 2^r| / 2^r` on
    /// `|r| <= width`, by comparing coefficients with the Taylor series on short pieces; and a
    /// bound of the rounding error of Horner's rule without fused operations (Higham 2002, section
    /// 5.1), of the last product and of the last sum.
    fn error(q: &[f64], width: f64) -> (f64, f64) {
        let real = Interval::exact;
        // ln 2 and the coefficients of its powers in double-double arithmetic, with relative error
        // 1e-30.
        let log = Dd::from(LN_2) + Dd::from(2.319_046_813_846_299_6e-17);
        let (mut differences, mut factor) = (Vec::new(), Dd::from(1.0));
        for k in 0..26 {
            factor = factor * log / Dd::from(f64::from(k + 1));
            let own = q.get(k as usize).copied().unwrap_or(0.0);
            let difference = (Dd::from(own) - factor).to_f64();
            differences
                .push(real(difference) + Interval::symmetric(1e-16 * difference.abs() + 1e-28));
        }
        let log = Interval::new(LN_2, LN_2.next_up());
        let (mut worst, mut rounded) = (0.0f64, 0.0f64);
        for piece in 0..16_384 {
            let at = |k: i32| width * f64::from(k - 8192) / 8192.0;
            let r = Interval::new(at(piece), at(piece + 1));
            let value = differences.iter().rev().fold(real(0.0), |s, d| (s + *d) * r)
                + Interval::symmetric(1e-20);
            let whole = (r * log).exp();
            worst = nan_max(worst, (value / whole).mag());
            let size = r.mag();
            let horner: f64 = q
                .iter()
                .enumerate()
                .map(|(k, c)| (2 * k + 1) as f64 * c.abs() * size.powi(k as i32 + 1))
                .sum();
            let last = (1.0 + (whole - real(1.0)).mag() / whole.lo()) * 1.000_001;
            rounded = nan_max(rounded, last + horner / whole.lo());
        }
        (worst / (0.5 * f64::EPSILON), rounded)
    }

    /// The proofs of numbers of modes on S^2 rely on this: `2^t` has relative error at most 3 eps =
    /// 6 u on every instruction set.
    #[test]
    fn the_exponential_is_right_to_six_units() {
        let (approximation, rounding) = error(&HALF_COEFFICIENTS, 0.5);
        assert!(approximation < 1.0 && rounding < 3.0, "{approximation} {rounding}");
        #[cfg(target_arch = "x86_64")]
        {
            // The table entry and its product are rounded as well.
            let (approximation, rounding) = error(&SIXTEENTH_COEFFICIENTS, 1.0 / 32.0);
            assert!(approximation < 1.0 && rounding + 2.0 < 3.5, "{approximation} {rounding}");
            // If an entry has relative error u, its 16th power has relative error 16 u.
            for (k, entry) in POWERS_OF_SIXTEENTHS.iter().enumerate() {
                let power = (0..4).fold(Dd::from(*entry), |p, _| p * p);
                let off = (power / Dd::from((1u64 << k) as f64) - Dd::from(1.0)).to_f64();
                assert!(off.abs() <= 16.0 * 0.500_01 * f64::EPSILON, "{k}: {off}");
            }
        }
    }

    struct Powers(Vec<f64>);

    impl SimdKernel for Powers {
        type F = f64;
        type Output = Vec<f64>;
        fn run<L: SimdOps<F = f64>>(self, l: L) -> Vec<f64> {
            let mut out = self.0.clone();
            L::view_mut(&mut out).iter_mut().for_each(|v| *v = l.exp2(*v));
            out
        }
    }

    #[test]
    fn every_level_meets_the_enclosed_exponential() {
        let mut stream = Stream::new(1, &["exp2"]);
        let t: Vec<f64> = (0..64_000)
            .map(|k| {
                if k % 2 == 0 {
                    stream.uniform_in(-900.0, 0.0)
                } else {
                    stream.uniform_in(-2.0, 0.0)
                }
            })
            .collect();
        let log = Interval::new(LN_2, LN_2.next_up());
        for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512] {
            for (t, found) in t.iter().zip(isa.run(Powers(t.clone()))) {
                // The enclosure of t ln 2 has width 2 eps |t|; that of the exponential adds at most
                // 60 eps.
                let exact = (log * Interval::exact(*t)).exp();
                let slack = Interval::symmetric(3.0 * f64::EPSILON * exact.hi());
                let wide = exact + slack;
                assert!(
                    wide.contains(found)
                        && exact.width() <= (100.0 + 4.0 * t.abs()) * f64::EPSILON * exact.hi(),
                    "{isa:?} {t} {found:e} {exact:?}"
                );
            }
        }
    }
}

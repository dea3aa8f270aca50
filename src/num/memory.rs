//! What lanes and memory exchange: numbers, transposes, and the sums of several vectors.

/// Lanes of `f64` to and from memory.
pub mod same {
    use crate::num::exp::Exp2;
    use crate::num::simd::{Lanes, Wide};
    use pulp::Simd;

    #[inline(always)]
    pub fn load<S: Simd + Exp2>(_: Wide<S>, from: &[f64]) -> S::f64s {
        <Wide<S> as Lanes>::view(&from[..S::F64_LANES])[0]
    }

    #[inline(always)]
    pub fn store<S: Simd + Exp2>(_: Wide<S>, v: S::f64s, to: &mut [f64]) {
        <Wide<S> as Lanes>::view_mut(&mut to[..S::F64_LANES])[0] = v;
    }

    #[inline(always)]
    pub fn sums<S: Simd + Exp2>(l: Wide<S>, v: &[S::f64s]) -> S::f64s {
        l.0.sums_f64(v)
    }

    #[inline(always)]
    pub fn transpose<S: Simd + Exp2>(l: Wide<S>, rows: &[f64], stride: usize, out: &mut [S::f64s]) {
        l.0.transpose_f64(rows, stride, out);
    }
}

/// Other lanes, through arrays.
pub mod converted {
    use crate::num::simd::{Float, Lanes};

    #[inline(always)]
    pub fn load<L: Lanes>(_: L, from: &[f64]) -> L::V {
        let mut v = [L::F::default(); 16];
        for (v, x) in v.iter_mut().zip(&from[..L::WIDTH]) {
            *v = L::F::of(*x);
        }
        L::view(&v)[0]
    }

    #[inline(always)]
    pub fn store<L: Lanes>(_: L, v: L::V, to: &mut [f64]) {
        let mut x = [L::F::default(); 16];
        L::view_mut(&mut x)[0] = v;
        for (to, x) in to[..L::WIDTH].iter_mut().zip(x) {
            *to = x.to_f64();
        }
    }

    #[inline(always)]
    pub fn sums<L: Lanes>(l: L, v: &[L::V]) -> L::V {
        let mut sums = [L::F::default(); 16];
        for (sum, v) in sums.iter_mut().zip(&v[..L::WIDTH]) {
            *sum = l.sum(*v);
        }
        L::view(&sums[..L::WIDTH])[0]
    }

    #[inline(always)]
    pub fn transpose<L: Lanes>(_: L, rows: &[f64], stride: usize, out: &mut [L::V]) {
        for (c, out) in out[..L::WIDTH].iter_mut().enumerate() {
            let mut column = [L::F::default(); 16];
            for (r, v) in column[..L::WIDTH].iter_mut().enumerate() {
                *v = L::F::of(rows[r * stride + c]);
            }
            *out = L::view(&column)[0];
        }
    }
}

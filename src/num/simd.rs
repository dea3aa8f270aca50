//! Lanes: vectors of `f64` or `f32` behind one trait, at the width the processor has: AVX-512, AVX2 with FMA, or portable arrays.
//!
//! A kernel is written once over [`Lanes`] and started by [`Level::run`], which enters code compiled for the level; everything the
//! kernel calls must be `#[inline(always)]`. The exponential of the lanes is described in [`super::exp`].

use super::exp::Exp2;
use crate::error::{Error, Result};
use pulp::Simd;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Arrays of four, for every target.
    Portable,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

impl Level {
    /// The levels this processor has, the best one last.
    pub fn available() -> Vec<Self> {
        [Self::Portable, Self::Avx2, Self::Avx512].into_iter().filter(|l| l.exists()).collect()
    }

    /// The best level of this processor.
    pub fn best() -> Self {
        [Self::Avx512, Self::Avx2].into_iter().find(|l| l.exists()).unwrap_or(Self::Portable)
    }

    #[cfg(target_arch = "x86_64")]
    fn exists(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => pulp::x86::V3::try_new().is_some(),
            Self::Avx512 => pulp::x86::V4::try_new().is_some(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn exists(self) -> bool {
        self == Self::Portable
    }

    /// Parses `auto` (the best) or a name.
    ///
    /// **Errors** an unknown name, or a level this processor does not have.
    pub fn parse(name: &str) -> Result<Self> {
        let known = [Self::Portable, Self::Avx2, Self::Avx512];
        match known.into_iter().find(|l| l.name() == name) {
            _ if name == "auto" => Ok(Self::best()),
            None => Err(Error::unknown("instruction set", name, ["auto"].into_iter().chain(known.map(Self::name)))),
            Some(level) if level.exists() => Ok(level),
            Some(_) => Err(Error::parameter("simd", name, format!("a level of this processor, {} at most", Self::best().name()))),
        }
    }

    /// Name: `avx512`, `avx2`, `portable`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Elements per vector.
    pub fn width<F: Float>(self) -> usize {
        match self {
            Self::Portable => F::Portable::WIDTH,
            Self::Avx2 => 32 / std::mem::size_of::<F>(),
            Self::Avx512 => 64 / std::mem::size_of::<F>(),
        }
    }

    /// Runs a task at this level; at a lower one where the processor lacks it.
    pub fn run<T: Task>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        {
            struct On<S, T>(S, T);
            impl<T: Task> pulp::NullaryFnOnce for On<pulp::x86::V4, T> {
                type Output = T::Output;
                #[inline(always)]
                fn call(self) -> T::Output {
                    self.1.run(T::F::on(self.0))
                }
            }
            impl<T: Task> pulp::NullaryFnOnce for On<pulp::x86::V3, T> {
                type Output = T::Output;
                #[inline(always)]
                fn call(self) -> T::Output {
                    self.1.run(T::F::on(self.0))
                }
            }
            if self == Self::Avx512
                && let Some(s) = pulp::x86::V4::try_new()
            {
                return s.vectorize(On(s, task));
            }
            if self >= Self::Avx2
                && let Some(s) = pulp::x86::V3::try_new()
            {
                return s.vectorize(On(s, task));
            }
        }
        task.run(T::F::PORTABLE)
    }
}

/// Work to be done at a level.
pub trait Task {
    /// Its precision.
    type F: Float;
    /// What it returns.
    type Output;
    /// The work; must be `#[inline(always)]`.
    fn run<L: Lanes<F = Self::F>>(self, l: L) -> Self::Output;
}

/// A floating-point type a kernel may be evaluated in.
pub trait Float: Copy + Default + Send + Sync + PartialOrd + std::fmt::Debug + 'static {
    /// The exponential in lanes is 0 for `2^t` from here down.
    const SMALLEST: f64;
    /// Its lanes on a level of `pulp`.
    #[doc(hidden)]
    type On<S: Simd + Exp2>: Lanes<F = Self>;
    /// Its portable lanes.
    #[doc(hidden)]
    type Portable: Lanes<F = Self>;
    #[doc(hidden)]
    const PORTABLE: Self::Portable;
    #[doc(hidden)]
    fn on<S: Simd + Exp2>(s: S) -> Self::On<S>;
    /// Rounds.
    fn of(x: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
}

impl Float for f64 {
    const SMALLEST: f64 = super::exp::SMALLEST;
    type On<S: Simd + Exp2> = Wide<S>;
    type Portable = PortableF64;
    const PORTABLE: PortableF64 = PortableF64;
    #[inline(always)]
    fn on<S: Simd + Exp2>(s: S) -> Wide<S> {
        Wide(s)
    }
    fn of(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Float for f32 {
    const SMALLEST: f64 = super::exp::SMALLEST_F32 as f64;
    type On<S: Simd + Exp2> = Narrow<S>;
    type Portable = PortableF32;
    const PORTABLE: PortableF32 = PortableF32;
    #[inline(always)]
    fn on<S: Simd + Exp2>(s: S) -> Narrow<S> {
        Narrow(s)
    }
    fn of(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// Vectors of one level and one type.
pub trait Lanes: Copy + Send + Sync {
    /// Element.
    type F: Float;
    /// Vector.
    type V: Copy;
    /// Comparison result.
    type M: Copy;
    /// Elements per vector.
    const WIDTH: usize;
    /// True for vectors of 64 bytes, of which there are 32 registers. A branch on it leaves no code of the other side.
    const WIDE: bool = Self::WIDTH * size_of::<Self::F>() == 64;

    /// A slice as vectors; its length is a multiple of the width.
    fn view(s: &[Self::F]) -> &[Self::V];
    /// A mutable slice as vectors.
    fn view_mut(s: &mut [Self::F]) -> &mut [Self::V];
    /// The same element everywhere.
    fn splat(self, x: Self::F) -> Self::V;
    /// `a + b`
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a b`
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a b + c`, fused where the hardware does it.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a / b`
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    /// Square root.
    fn sqrt(self, a: Self::V) -> Self::V;
    /// `1 / sqrt(a)` for normal `a`, with a relative error of at most `2^-51`.
    fn inverse_sqrt(self, a: Self::V) -> Self::V;
    /// `min(a, b)`
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// `max(a, b)`
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a > b`
    fn greater(self, a: Self::V, b: Self::V) -> Self::M;
    /// `m ? a : b`
    fn select(self, m: Self::M, a: Self::V, b: Self::V) -> Self::V;
    /// `m ? -a : a`
    fn negate_where(self, m: Self::M, a: Self::V) -> Self::V;
    /// Sum of the elements, in a fixed order.
    fn sum(self, v: Self::V) -> Self::F;
    /// Largest element.
    fn largest(self, v: Self::V) -> Self::F;
    /// The sum of each of as many vectors as lanes, in a fixed order.
    #[inline(always)]
    fn sums(self, v: &[Self::V]) -> Self::V {
        let mut sums = [Self::F::default(); 16];
        for (sum, v) in sums.iter_mut().zip(&v[..Self::WIDTH]) {
            *sum = self.sum(*v);
        }
        Self::view(&sums[..Self::WIDTH])[0]
    }
    /// `2^t` for `t <= 0`.
    fn exp2(self, t: Self::V) -> Self::V;
    /// The same of several vectors, side by side; `NORMAL` promises that none is so small that its result is 0.
    fn exp2_each<const U: usize, const NORMAL: bool>(self, t: [Self::V; U]) -> [Self::V; U];
    /// The first numbers of a slice, rounded.
    #[inline(always)]
    fn load(self, from: &[f64]) -> Self::V {
        let mut v = [Self::F::default(); 16];
        for (v, x) in v.iter_mut().zip(&from[..Self::WIDTH]) {
            *v = Self::F::of(*x);
        }
        Self::view(&v)[0]
    }
    /// Into the first numbers of a slice, exactly.
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f64]) {
        let mut x = [Self::F::default(); 16];
        Self::view_mut(&mut x)[0] = v;
        for (to, x) in to[..Self::WIDTH].iter_mut().zip(x) {
            *to = x.to_f64();
        }
    }
    /// As many rows as lanes, `stride` apart, to columns: `out[c]` holds element c of every row.
    #[inline(always)]
    fn transpose(self, rows: &[f64], stride: usize, out: &mut [Self::V]) {
        for (c, out) in out[..Self::WIDTH].iter_mut().enumerate() {
            let mut column = [Self::F::default(); 16];
            for (r, v) in column[..Self::WIDTH].iter_mut().enumerate() {
                *v = Self::F::of(rows[r * stride + c]);
            }
            *out = Self::view(&column)[0];
        }
    }
    /// `2^(a b)` for `a b <= 0`, without rounding of the product where the hardware has fused operations; 0 for `a >= cut`.
    fn exp2_product(self, a: Self::V, b: Self::V, cut: Self::V) -> Self::V;
    /// The same where no result is so small that it is 0.
    fn exp2_normal(self, a: Self::V, b: Self::V) -> Self::V;

    /// Zeros.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(Self::F::default())
    }

    /// A rounded number everywhere.
    #[inline(always)]
    fn constant(self, x: f64) -> Self::V {
        self.splat(Self::F::of(x))
    }
}

/// `f64` lanes of a level.
#[derive(Clone, Copy)]
pub struct Wide<S>(pub(super) S);

/// `f32` lanes of a level.
#[derive(Clone, Copy)]
pub struct Narrow<S>(S);

macro_rules! lanes {
    ($name:ident, $f:ty, $vector:ident, $mask:ident, $width:ident, $view:ident, $view_mut:ident, $splat:ident, $add:ident, $sub:ident,
     $mul:ident, $fma:ident, $min:ident, $max:ident, $greater:ident, $select:ident, $sum:ident, $exp2:ident, $exp2_each:ident, $exp2_product:ident, $exp2_normal:ident, $negate:ident, $largest:ident, $div:ident, $sqrt:ident, $inverse_sqrt:ident, {$($own:item)*}) => {
        impl<S: Simd + Exp2> Lanes for $name<S> {
            type F = $f;
            type V = S::$vector;
            type M = S::$mask;
            const WIDTH: usize = S::$width;
            $($own)*

            #[inline(always)]
            fn view(s: &[$f]) -> &[Self::V] {
                S::$view(s).0
            }
            #[inline(always)]
            fn view_mut(s: &mut [$f]) -> &mut [Self::V] {
                S::$view_mut(s).0
            }
            #[inline(always)]
            fn splat(self, x: $f) -> Self::V {
                self.0.$splat(x)
            }
            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$add(a, b)
            }
            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$sub(a, b)
            }
            #[inline(always)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$mul(a, b)
            }
            #[inline(always)]
            fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                self.0.$fma(a, b, c)
            }
            #[inline(always)]
            fn div(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$div(a, b)
            }
            #[inline(always)]
            fn sqrt(self, a: Self::V) -> Self::V {
                self.0.$sqrt(a)
            }
            #[inline(always)]
            fn inverse_sqrt(self, a: Self::V) -> Self::V {
                self.0.$inverse_sqrt(a)
            }
            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$min(a, b)
            }
            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$max(a, b)
            }
            #[inline(always)]
            fn greater(self, a: Self::V, b: Self::V) -> Self::M {
                self.0.$greater(a, b)
            }
            #[inline(always)]
            fn select(self, m: Self::M, a: Self::V, b: Self::V) -> Self::V {
                self.0.$select(m, a, b)
            }
            #[inline(always)]
            fn negate_where(self, m: Self::M, a: Self::V) -> Self::V {
                self.0.$negate(m, a)
            }
            #[inline(always)]
            fn sum(self, v: Self::V) -> $f {
                self.0.$sum(v)
            }
            #[inline(always)]
            fn largest(self, v: Self::V) -> $f {
                self.0.$largest(v)
            }
            #[inline(always)]
            fn exp2(self, t: Self::V) -> Self::V {
                self.0.$exp2(t)
            }
            #[inline(always)]
            fn exp2_each<const U: usize, const NORMAL: bool>(self, t: [Self::V; U]) -> [Self::V; U] {
                self.0.$exp2_each::<U, NORMAL>(t)
            }
            #[inline(always)]
            fn exp2_product(self, a: Self::V, b: Self::V, cut: Self::V) -> Self::V {
                self.0.$exp2_product(a, b, cut)
            }
            #[inline(always)]
            fn exp2_normal(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$exp2_normal(a, b)
            }
        }
    };
}

lanes!(
    Wide,
    f64,
    f64s,
    m64s,
    F64_LANES,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    mul_add_e_f64s,
    min_f64s,
    max_f64s,
    greater_than_f64s,
    select_f64s,
    reduce_sum_f64s,
    exp2_f64,
    exp2_each_f64,
    exp2_product_f64,
    exp2_normal_f64,
    negate_f64,
    reduce_max_f64s,
    div_f64s,
    sqrt_f64s,
    inverse_sqrt_f64,
    {
        #[inline(always)]
        fn sums(self, v: &[Self::V]) -> Self::V {
            self.0.sums_f64(v)
        }
        #[inline(always)]
        fn load(self, from: &[f64]) -> Self::V {
            Self::view(&from[..Self::WIDTH])[0]
        }
        #[inline(always)]
        fn store(self, v: Self::V, to: &mut [f64]) {
            Self::view_mut(&mut to[..Self::WIDTH])[0] = v;
        }
        #[inline(always)]
        fn transpose(self, rows: &[f64], stride: usize, out: &mut [Self::V]) {
            self.0.transpose_f64(rows, stride, out);
        }
    }
);
lanes!(
    Narrow,
    f32,
    f32s,
    m32s,
    F32_LANES,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    mul_add_e_f32s,
    min_f32s,
    max_f32s,
    greater_than_f32s,
    select_f32s,
    reduce_sum_f32s,
    exp2_f32,
    exp2_each_f32,
    exp2_product_f32,
    exp2_normal_f32,
    negate_f32,
    reduce_max_f32s,
    div_f32s,
    sqrt_f32s,
    inverse_sqrt_f32,
    {}
);

macro_rules! portable {
    ($name:ident, $f:ty, $n:literal, $exp2:path) => {
        /// Arrays that every compiler turns into whatever vectors the target has.
        #[derive(Clone, Copy)]
        pub struct $name;

        impl Lanes for $name {
            type F = $f;
            type V = [$f; $n];
            type M = [bool; $n];
            const WIDTH: usize = $n;

            #[inline(always)]
            fn view(s: &[$f]) -> &[Self::V] {
                s.as_chunks().0
            }
            #[inline(always)]
            fn view_mut(s: &mut [$f]) -> &mut [Self::V] {
                s.as_chunks_mut().0
            }
            #[inline(always)]
            fn splat(self, x: $f) -> Self::V {
                [x; $n]
            }
            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] + b[i])
            }
            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] - b[i])
            }
            #[inline(always)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] * b[i])
            }
            #[inline(always)]
            fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] * b[i] + c[i])
            }
            #[inline(always)]
            fn div(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i] / b[i])
            }
            #[inline(always)]
            fn sqrt(self, a: Self::V) -> Self::V {
                std::array::from_fn(|i| a[i].sqrt())
            }
            #[inline(always)]
            fn inverse_sqrt(self, a: Self::V) -> Self::V {
                std::array::from_fn(|i| 1.0 / a[i].sqrt())
            }
            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
            }
            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
            }
            #[inline(always)]
            fn greater(self, a: Self::V, b: Self::V) -> Self::M {
                std::array::from_fn(|i| a[i] > b[i])
            }
            #[inline(always)]
            fn select(self, m: Self::M, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| if m[i] { a[i] } else { b[i] })
            }
            #[inline(always)]
            fn negate_where(self, m: Self::M, a: Self::V) -> Self::V {
                std::array::from_fn(|i| if m[i] { -a[i] } else { a[i] })
            }
            #[inline(always)]
            fn sum(self, v: Self::V) -> $f {
                let mut total = 0.0;
                for x in v {
                    total += x;
                }
                total
            }
            #[inline(always)]
            fn largest(self, v: Self::V) -> $f {
                let mut top = v[0];
                for x in v {
                    top = if x > top { x } else { top };
                }
                top
            }
            #[inline(always)]
            fn exp2(self, t: Self::V) -> Self::V {
                std::array::from_fn(|i| $exp2(t[i]))
            }
            #[inline(always)]
            fn exp2_each<const U: usize, const NORMAL: bool>(self, mut t: [Self::V; U]) -> [Self::V; U] {
                for t in &mut t {
                    *t = self.exp2(*t);
                }
                t
            }
            #[inline(always)]
            fn exp2_product(self, a: Self::V, b: Self::V, cut: Self::V) -> Self::V {
                std::array::from_fn(|i| if a[i] < cut[i] { $exp2(a[i] * b[i]) } else { 0.0 })
            }
            #[inline(always)]
            fn exp2_normal(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| $exp2(a[i] * b[i]))
            }
        }
    };
}

portable!(PortableF64, f64, 4, super::exp::exp2_f64);
portable!(PortableF32, f32, 8, super::exp::exp2_f32);

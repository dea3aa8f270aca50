//! SIMD vectors of `f64` or `f32` behind one trait, in the width of the processor: AVX-512, AVX2
//! with FMA, or portable arrays.
//!
//! A kernel is written once over [`SimdOps`]. [`Isa::run`] enters code that is compiled for the
//! instruction set; everything the kernel calls must be `#[inline(always)]`. [`super::exp`]
//! describes the exponential.

use super::exp::Exp2;
use crate::error::{Error, Result};
use pulp::Simd;
use std::fmt::Debug;
use std::ops;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// Arrays of four `f64`, for every target.
    Portable,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

impl Isa {
    /// The instruction sets of this processor, the best one last.
    pub fn available() -> Vec<Self> {
        [Self::Portable, Self::Avx2, Self::Avx512]
            .into_iter()
            .filter(|l| l.is_available())
            .collect()
    }

    /// The best instruction set of this processor.
    pub fn best() -> Self {
        [Self::Avx512, Self::Avx2].into_iter().find(|l| l.is_available()).unwrap_or(Self::Portable)
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 => pulp::x86::V3::try_new().is_some(),
            Self::Avx512 => pulp::x86::V4::try_new().is_some(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Self::Portable
    }

    /// Parses `auto` (the best) or a name.
    ///
    /// **Errors** an unknown name, or an instruction set that this processor does not have.
    pub fn parse(name: &str) -> Result<Self> {
        let known = [Self::Portable, Self::Avx2, Self::Avx512];
        match known.into_iter().find(|l| l.name() == name) {
            _ if name == "auto" => Ok(Self::best()),
            None => Err(Error::unknown(
                "instruction set",
                name,
                ["auto"].into_iter().chain(known.map(Self::name)),
            )),
            Some(isa) if isa.is_available() => Ok(isa),
            Some(_) => Err(Error::parameter(
                "simd",
                name,
                format!("an instruction set of this processor, at most {}", Self::best().name()),
            )),
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

    /// Runs a kernel on this instruction set, or on a lower one if the processor does not have it.
    pub fn run<T: SimdKernel>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        {
            struct WithToken<S, T>(S, T);
            impl<T: SimdKernel> pulp::NullaryFnOnce for WithToken<pulp::x86::V4, T> {
                type Output = T::Output;
                #[inline(always)]
                fn call(self) -> T::Output {
                    self.1.run(T::F::on(self.0))
                }
            }
            impl<T: SimdKernel> pulp::NullaryFnOnce for WithToken<pulp::x86::V3, T> {
                type Output = T::Output;
                #[inline(always)]
                fn call(self) -> T::Output {
                    self.1.run(T::F::on(self.0))
                }
            }
            if self == Self::Avx512
                && let Some(s) = pulp::x86::V4::try_new()
            {
                return s.vectorize(WithToken(s, task));
            }
            if self >= Self::Avx2
                && let Some(s) = pulp::x86::V3::try_new()
            {
                return s.vectorize(WithToken(s, task));
            }
        }
        task.run(T::F::PORTABLE)
    }
}

/// A computation that is compiled for every instruction set.
pub trait SimdKernel {
    /// Its floating-point type.
    type F: Float;
    /// Its result.
    type Output;
    /// The computation; must be `#[inline(always)]`.
    fn run<L: SimdOps<F = Self::F>>(self, l: L) -> Self::Output;
}

/// A floating-point type of kernels and of forward passes: `f64` or `f32`.
pub trait Float:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + ops::Add<Output = Self>
    + ops::Sub<Output = Self>
    + ops::Mul<Output = Self>
    + ops::Div<Output = Self>
    + ops::AddAssign
    + ops::MulAssign
    + ops::Neg<Output = Self>
{
    /// `2^t` is 0 for exponents t up to this.
    const UNDERFLOW_EXPONENT: f64;
    /// Its SIMD operations on an instruction set of `pulp`.
    #[doc(hidden)]
    type On<S: Simd + Exp2>: SimdOps<F = Self>;
    /// Its portable operations.
    #[doc(hidden)]
    type Portable: SimdOps<F = Self>;
    #[doc(hidden)]
    const PORTABLE: Self::Portable;
    #[doc(hidden)]
    fn on<S: Simd + Exp2>(s: S) -> Self::On<S>;
    /// Converts with rounding.
    fn from_f64(x: f64) -> Self;
    /// Converts exactly.
    fn to_f64(self) -> f64;
}

impl Float for f64 {
    const UNDERFLOW_EXPONENT: f64 = super::exp::UNDERFLOW_EXPONENT;
    type On<S: Simd + Exp2> = LanesF64<S>;
    type Portable = PortableF64;
    const PORTABLE: PortableF64 = PortableF64;
    #[inline(always)]
    fn on<S: Simd + Exp2>(s: S) -> LanesF64<S> {
        LanesF64(s)
    }
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Float for f32 {
    const UNDERFLOW_EXPONENT: f64 = super::exp::UNDERFLOW_EXPONENT_F32 as f64;
    type On<S: Simd + Exp2> = LanesF32<S>;
    type Portable = PortableF32;
    const PORTABLE: PortableF32 = PortableF32;
    #[inline(always)]
    fn on<S: Simd + Exp2>(s: S) -> LanesF32<S> {
        LanesF32(s)
    }
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// Operations on vectors of one instruction set and one element type. In kernels: `L: SimdOps`,
/// `l: L`, vectors `L::V`.
pub trait SimdOps: Copy + Send + Sync {
    /// Element.
    type F: Float;
    /// Vector.
    type V: Copy;
    /// Comparison result.
    type M: Copy;
    /// Elements per vector.
    const WIDTH: usize;
    /// True for 64-byte vectors, which come with 32 registers. A branch on this constant is
    /// resolved at compile time.
    const WIDE: bool = Self::WIDTH * size_of::<Self::F>() == 64;

    /// A slice as vectors; its length must be a multiple of the width.
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
    /// Sums each of as many vectors as lanes, in a fixed order; sum k is in lane k.
    #[inline(always)]
    fn sums(self, v: &[Self::V]) -> Self::V {
        let mut sums = [Self::F::default(); 16];
        for (sum, v) in sums.iter_mut().zip(&v[..Self::WIDTH]) {
            *sum = self.sum(*v);
        }
        Self::view(&sums[..Self::WIDTH])[0]
    }
    /// `table[i]` in every lane, for whole numbers i from 0 to 15.
    #[inline(always)]
    fn lookup(self, table: &[Self::F; 16], index: Self::V) -> Self::V {
        let (mut at, mut out) = ([Self::F::default(); 16], [Self::F::default(); 16]);
        Self::view_mut(&mut at)[0] = index;
        for (out, i) in out[..Self::WIDTH].iter_mut().zip(at) {
            *out = table[i.to_f64() as usize & 15];
        }
        Self::view(&out)[0]
    }
    /// `2^t` for `t <= 0`.
    fn exp2(self, t: Self::V) -> Self::V;
    /// `2^t` of several vectors, interleaved; `NO_UNDERFLOW` promises that no result underflows to
    /// 0.
    fn exp2_array<const U: usize, const NO_UNDERFLOW: bool>(self, t: [Self::V; U]) -> [Self::V; U];
    /// Loads the first numbers of a slice, with rounding.
    #[inline(always)]
    fn load(self, from: &[f64]) -> Self::V {
        let mut v = [Self::F::default(); 16];
        for (v, x) in v.iter_mut().zip(&from[..Self::WIDTH]) {
            *v = Self::F::from_f64(*x);
        }
        Self::view(&v)[0]
    }
    /// Stores into the first numbers of a slice, exactly.
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [f64]) {
        let mut x = [Self::F::default(); 16];
        Self::view_mut(&mut x)[0] = v;
        for (to, x) in to[..Self::WIDTH].iter_mut().zip(x) {
            *to = x.to_f64();
        }
    }
    /// Transposes a square of as many rows as lanes; rows are `stride` apart. `out[c]` holds
    /// element c of every row.
    #[inline(always)]
    fn transpose(self, rows: &[f64], stride: usize, out: &mut [Self::V]) {
        for (c, out) in out[..Self::WIDTH].iter_mut().enumerate() {
            let mut column = [Self::F::default(); 16];
            for (r, v) in column[..Self::WIDTH].iter_mut().enumerate() {
                *v = Self::F::from_f64(rows[r * stride + c]);
            }
            *out = Self::view(&column)[0];
        }
    }
    /// `2^(a b)` for `a b <= 0`; 0 for `a >= cut`. The product is not rounded if the hardware has
    /// fused operations.
    fn exp2_product(self, a: Self::V, b: Self::V, cut: Self::V) -> Self::V;
    /// `2^(a b)`, if no result underflows to 0.
    fn exp2_no_underflow(self, a: Self::V, b: Self::V) -> Self::V;

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(Self::F::default())
    }

    /// A number, rounded, in every lane.
    #[inline(always)]
    fn constant(self, x: f64) -> Self::V {
        self.splat(Self::F::from_f64(x))
    }
}

/// Operations on `f64` vectors of an instruction set.
#[derive(Clone, Copy)]
pub struct LanesF64<S>(pub(super) S);

/// Operations on `f32` vectors of an instruction set.
#[derive(Clone, Copy)]
pub struct LanesF32<S>(S);

macro_rules! lanes {
    ($name:ident, $f:ty, $vector:ident, $mask:ident, $width:ident, $view:ident, $view_mut:ident, $splat:ident, $add:ident, $sub:ident,
     $mul:ident, $fma:ident, $min:ident, $max:ident, $greater:ident, $select:ident, $sum:ident, $exp2:ident, $exp2_array:ident, $exp2_product:ident, $exp2_no_underflow:ident, $negate:ident, $largest:ident, $div:ident, $sqrt:ident, $inverse_sqrt:ident, {$($own:item)*}) => {
        impl<S: Simd + Exp2> SimdOps for $name<S> {
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
            fn exp2_array<const U: usize, const NO_UNDERFLOW: bool>(self, t: [Self::V; U]) -> [Self::V; U] {
                self.0.$exp2_array::<U, NO_UNDERFLOW>(t)
            }
            #[inline(always)]
            fn exp2_product(self, a: Self::V, b: Self::V, cut: Self::V) -> Self::V {
                self.0.$exp2_product(a, b, cut)
            }
            #[inline(always)]
            fn exp2_no_underflow(self, a: Self::V, b: Self::V) -> Self::V {
                self.0.$exp2_no_underflow(a, b)
            }
        }
    };
}

lanes!(
    LanesF64,
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
    exp2_array_f64,
    exp2_product_f64,
    exp2_no_underflow_f64,
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
        fn lookup(self, table: &[f64; 16], index: Self::V) -> Self::V {
            self.0.lookup_f64(table, index)
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
    LanesF32,
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
    exp2_array_f32,
    exp2_product_f32,
    exp2_no_underflow_f32,
    negate_f32,
    reduce_max_f32s,
    div_f32s,
    sqrt_f32s,
    inverse_sqrt_f32,
    {}
);

macro_rules! portable {
    ($name:ident, $f:ty, $n:literal, $exp2:path) => {
        /// Operations on arrays, which the compiler turns into the vectors of the target.
        #[derive(Clone, Copy)]
        pub struct $name;

        impl SimdOps for $name {
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
            fn exp2_array<const U: usize, const NO_UNDERFLOW: bool>(
                self,
                mut t: [Self::V; U],
            ) -> [Self::V; U] {
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
            fn exp2_no_underflow(self, a: Self::V, b: Self::V) -> Self::V {
                std::array::from_fn(|i| $exp2(a[i] * b[i]))
            }
        }
    };
}

portable!(PortableF64, f64, 4, super::exp::exp2_f64);
portable!(PortableF32, f32, 8, super::exp::exp2_f32);

//! Buffers that start on a cache line: a vector load then never touches two.

use std::fmt::{Debug, Formatter, Result};
use std::ops::{Deref, DerefMut};

/// A reusable buffer on a 64-byte boundary.
#[derive(Default)]
pub struct Aligned<F> {
    data: Vec<F>,
    offset: usize,
    len: usize,
}

impl<F: Copy + Default> Aligned<F> {
    /// Makes it `len` zeros; allocates only to grow.
    pub fn reset(&mut self, len: usize) {
        self.resize(len);
        self.fill(F::default());
    }

    /// Makes it `len` numbers, whatever they are.
    pub fn resize(&mut self, len: usize) {
        let slack = 64 / std::mem::size_of::<F>();
        self.data.resize(len + slack, F::default());
        // The allocator may not know the alignment (never so in practice): then the start is as good as any.
        self.offset = self.data.as_ptr().align_offset(64).min(slack);
        self.len = len;
    }

    /// Makes it these numbers, which are written once; allocates only to grow.
    pub fn assign(&mut self, numbers: &[F]) {
        let slack = 64 / std::mem::size_of::<F>();
        self.data.clear();
        self.data.reserve(numbers.len() + slack);
        self.offset = self.data.as_ptr().align_offset(64).min(slack);
        self.data.resize(self.offset, F::default());
        self.data.extend_from_slice(numbers);
        self.len = numbers.len();
    }
}

impl<F: Copy + Default> From<&[F]> for Aligned<F> {
    fn from(numbers: &[F]) -> Self {
        let mut buffer = Self::default();
        buffer.assign(numbers);
        buffer
    }
}

impl<F: Copy + Default> Clone for Aligned<F> {
    /// On a boundary of its own.
    fn clone(&self) -> Self {
        Self::from(&**self)
    }

    fn clone_from(&mut self, other: &Self) {
        self.assign(other);
    }
}

impl<F: PartialEq> PartialEq for Aligned<F> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<F: Debug> Debug for Aligned<F> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        (**self).fmt(f)
    }
}

impl<F> Deref for Aligned<F> {
    type Target = [F];
    fn deref(&self) -> &[F] {
        &self.data[self.offset..self.offset + self.len]
    }
}

impl<F> DerefMut for Aligned<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.data[self.offset..self.offset + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;

    #[test]
    fn buffers_start_on_a_cache_line() {
        let mut b = Aligned::<f64>::default();
        b.reset(5);
        assert_eq!((b.len(), b.as_ptr() as usize % 64), (5, 0));
        for len in [3, 700, 2] {
            b.assign(&vec![1.5; len]);
            assert_eq!((&b[..], b.as_ptr() as usize % 64), (&vec![1.5; len][..], 0));
        }
    }
}

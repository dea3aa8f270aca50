//! Buffers aligned to cache lines, so that a vector load never touches two lines.

use std::fmt::{Debug, Formatter, Result};
use std::ops::{Deref, DerefMut};

/// A reusable buffer, aligned to 64 bytes.
#[derive(Default)]
pub struct AlignedVec<F> {
    data: Vec<F>,
    offset: usize,
    len: usize,
}

impl<F: Copy + Default> AlignedVec<F> {
    /// Sets the length and fills with zeros; allocates only to grow.
    pub fn reset(&mut self, len: usize) {
        self.resize(len);
        self.fill(F::default());
    }

    /// Sets the length; the contents are unspecified.
    pub fn resize(&mut self, len: usize) {
        let slack = 64 / std::mem::size_of::<F>();
        self.data.resize(len + slack, F::default());
        // An allocator may be unable to align (not seen in practice); then any start is fine.
        self.offset = self.data.as_ptr().align_offset(64).min(slack);
        self.len = len;
    }

    /// Copies these numbers; allocates only to grow.
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

impl<F: Copy + Default> From<&[F]> for AlignedVec<F> {
    fn from(numbers: &[F]) -> Self {
        let mut buffer = Self::default();
        buffer.assign(numbers);
        buffer
    }
}

impl<F: Copy + Default> Clone for AlignedVec<F> {
    /// The copy is aligned too.
    fn clone(&self) -> Self {
        Self::from(&**self)
    }

    fn clone_from(&mut self, other: &Self) {
        self.assign(other);
    }
}

impl<F: PartialEq> PartialEq for AlignedVec<F> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<F: Debug> Debug for AlignedVec<F> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        (**self).fmt(f)
    }
}

impl<F> Deref for AlignedVec<F> {
    type Target = [F];
    fn deref(&self) -> &[F] {
        &self.data[self.offset..self.offset + self.len]
    }
}

impl<F> DerefMut for AlignedVec<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.data[self.offset..self.offset + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::AlignedVec;

    #[test]
    fn buffers_start_on_a_cache_line() {
        let mut b = AlignedVec::<f64>::default();
        b.reset(5);
        assert_eq!((b.len(), b.as_ptr() as usize % 64), (5, 0));
        for len in [3, 700, 2] {
            b.assign(&vec![1.5; len]);
            assert_eq!((&b[..], b.as_ptr() as usize % 64), (&vec![1.5; len][..], 0));
        }
    }
}

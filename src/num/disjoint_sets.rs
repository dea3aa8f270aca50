//! Disjoint sets (union-find). Each set is represented by its smallest member.

/// A partition of `0..n` whose sets can be united.
/// **Cost** `O(log n)` per operation, amortised.
///
/// ```
/// use metastable::num::disjoint_sets::DisjointSets;
/// let mut sets = DisjointSets::default();
/// sets.reset(4);
/// sets.union(3, 1);
/// assert_eq!([0, 1, 2, 3].map(|i| sets.find(i)), [0, 1, 2, 1]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// Makes every number of `0..n` a set by itself; allocates only to grow.
    #[inline]
    pub fn reset(&mut self, n: usize) {
        self.0.clear();
        self.0.extend(0..n);
    }

    /// Smallest member of the set of i.
    #[inline]
    pub fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    /// Unites the sets of a and b.
    #[inline]
    pub fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

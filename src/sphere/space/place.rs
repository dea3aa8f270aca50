/// The place of tokens. Their numbers are `n d` coordinates, which attention reads, then `n` times [`Space::own`] numbers of the space.
pub trait Space: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Numbers of a token beside its d coordinates.
    fn own(&self) -> usize {
        0
    }

    /// True where the coordinates of a token are a unit vector: what the kernel sums by chords are made for.
    fn is_unit(&self) -> bool;

    /// Brings n tokens back to the space; the first that cannot be brought back otherwise.
    ///
    /// # Errors
    /// The index of that token.
    fn settle(&self, d: usize, n: usize, numbers: &mut [f64]) -> Result<(), usize>;

    /// Makes `v` (n d numbers) tangent at the coordinates `x`.
    fn project(&self, d: usize, x: &[f64], v: &mut [f64]);

    /// Distance of two tokens with these coordinates.
    fn dist(&self, x: &[f64], y: &[f64]) -> f64;
}

//! The nodes of trees, and the first line of certificates, which have them.

use super::balance::Combination;

/// The first line of a certificate.
pub const KIND: &str = "metastable-landscape 1";

/// A node of a tree, in the order of a walk that visits a node before its children.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Two children: gap r below and above a multiple of `2^-48`.
    Gap(usize, i64),
    /// Two children: beta below and above.
    Beta(f64),
    /// One child: Newton's method leaves this box.
    Shrunk(Vec<(i64, i64)>),
    /// No gaps have the sum 1.
    Open,
    /// A symmetry maps the box elsewhere.
    Image,
    /// The force on an arc is not 0.
    Force(usize, usize),
    /// The two clusters of a gap cannot both be in equilibrium.
    Quotient(usize),
    /// A combination of forces, and of the quotient of a gap, is not 0.
    Balance(Combination),
    /// Newton's method leaves nothing.
    Empty,
    /// The box lies in that of a zero.
    Unique(usize),
    /// The derivative is regular.
    Regular,
    /// Moving an arc increases the energy.
    Cut(usize, usize),
    /// Moving along a vector increases the energy.
    Vector(Vec<i32>),
    /// Nothing was proved.
    Undecided,
}

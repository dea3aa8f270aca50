//! Attention as a particle system: weights and kernel sums, sublayers, normalisations, dynamics,
//! interaction energy.

#[doc(hidden)]
pub mod circle;
pub mod dynamics;
pub mod energy;
pub mod feed_forward;
pub mod hardmax;
mod hessian_spectrum;
pub mod interaction;
pub mod layer;
pub mod model;
pub mod multi_head;
pub mod noise;
pub mod normalisation;
mod pair_energy;
pub mod random_matrix;
pub mod random_values;
pub mod rescaled;
mod scales;
pub mod scheduled;
mod self_attention;
pub mod sinkhorn;
mod sublayer;
mod triangular;

pub use dynamics::{Dynamics, Spec};
pub use energy::Energy;
pub use hessian_spectrum::HessianSpectrum;
pub use kernel::OutputForm;
#[doc(hidden)]
pub use metastable_kernels::shifted_softmax;
pub use metastable_kernels::{Head, Matrix, heads};
#[doc(hidden)]
pub use metastable_kernels::{dense, kernel, pattern};
pub use pair_energy::PairEnergy;
pub use scales::{EnergyScale, RowWeights, TimeScale, Variant, kernel_width};
pub use sublayer::{Input, Properties, Sublayer};
pub use triangular::TriangularJacobian;

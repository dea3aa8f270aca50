//! The particle view: attention weights and kernel sums, dynamics, layer maps, interaction energy.

pub mod circle;
pub mod dynamics;
pub mod energy;
mod head;
pub mod kernel;
pub mod layer;
mod normalisation;
mod triangular;

pub use dynamics::{Dynamics, Facts, Spec};
pub use energy::Energy;
pub use head::Head;
pub use normalisation::{EnergyScale, TimeScale};
pub use triangular::Triangular;

#![doc = include_str!("crate.md")]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod guide;
#[cfg(feature = "figures")]
#[doc(hidden)]
#[path = "../paper_figs/mod.rs"]
pub mod paper_figs;
pub mod prelude;
#[cfg(feature = "figures")]
#[doc(hidden)]
pub mod study;

#[cfg(not(target_family = "wasm"))]
#[doc(inline)]
pub use metastable_claims::theorem;
#[cfg(not(target_family = "wasm"))]
#[doc(inline)]
pub use metastable_core::landscape;
#[doc(inline)]
pub use metastable_core::{attention, clusters, continuity, entropy, flow, prediction, theory};
#[cfg(feature = "figures")]
#[doc(hidden)]
pub use metastable_draw as draw;
#[cfg(feature = "files")]
#[doc(hidden)]
pub use metastable_lab as lab;
#[cfg(not(target_family = "wasm"))]
#[doc(inline)]
pub use metastable_models::{recurrent, transformer};
#[doc(inline)]
pub use metastable_num::{self as num, error};
#[doc(hidden)]
pub use metastable_operation::{self as operation, parameters};
#[cfg(not(target_family = "wasm"))]
#[doc(inline)]
pub use metastable_proofs as proofs;
#[doc(inline)]
pub use metastable_sphere as sphere;

pub use error::{Error, Result};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;

#[cfg(doctest)]
#[doc = include_str!("../.github/CONTRIBUTING.md")]
struct ContributingDoctests;

#![doc = include_str!("crate.md")]

pub mod attention;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod clusters;
pub mod continuity;
#[cfg(feature = "figures")]
pub mod draw;
pub mod entropy;
pub mod error;
pub mod flow;
#[cfg(feature = "figures")]
pub mod guide;
#[cfg(feature = "files")]
pub mod lab;
// A browser moves tokens: proofs, searches and claims stay outside.
#[cfg(not(target_family = "wasm"))]
pub mod landscape;
pub mod num;
#[cfg(feature = "figures")]
#[doc(hidden)]
#[path = "../paper_figs/mod.rs"]
pub mod paper_figs;
pub mod prelude;
pub mod recurrent;
pub mod sphere;
#[cfg(not(target_family = "wasm"))]
pub mod study;
#[cfg(not(target_family = "wasm"))]
pub mod theorem;
pub mod theory;
pub mod transformer;

pub use error::{Error, Result};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;

#[cfg(doctest)]
#[doc = include_str!("../.github/CONTRIBUTING.md")]
struct ContributingDoctests;

#![doc = include_str!("crate.md")]

pub mod attention;
// Tests inside `src` are of what stands before `study`; what stands after is tested from outside, and need not be compiled a second time for them.
#[cfg(all(feature = "cli", not(test)))]
#[doc(hidden)]
pub mod cli;
pub mod clusters;
pub mod continuity;
#[cfg(all(feature = "figures", not(test)))]
pub mod draw;
pub mod entropy;
pub mod error;
pub mod flow;
#[cfg(all(feature = "figures", not(test)))]
pub mod guide;
#[cfg(all(feature = "files", not(test)))]
pub mod lab;
// A browser moves tokens: proofs, searches and claims stay outside.
#[cfg(not(target_family = "wasm"))]
pub mod landscape;
pub mod num;
#[cfg(all(feature = "figures", not(test)))]
#[doc(hidden)]
#[path = "../paper_figs/mod.rs"]
pub mod paper_figs;
pub mod prelude;
pub mod recurrent;
pub mod sphere;
#[cfg(not(any(test, target_family = "wasm")))]
pub mod study;
#[cfg(not(any(test, target_family = "wasm")))]
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

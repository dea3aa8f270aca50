#![doc = include_str!("crate.md")]

pub mod attention;
pub mod cli;
pub mod clusters;
pub mod continuity;
pub mod draw;
pub mod entropy;
pub mod error;
pub mod flow;
pub mod lab;
pub mod landscape;
pub mod num;
#[path = "../paper_figs/mod.rs"]
pub mod paper_figs;
pub mod sphere;
pub mod study;
pub mod theorem;
pub mod theory;

pub use error::{Error, Result};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;

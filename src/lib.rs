#![doc = include_str!("crate.md")]

pub mod attention;
pub mod error;
pub mod flow;

pub mod num;
pub mod sphere;
pub mod theorem;
pub mod theory;

pub use error::{Error, Result};

//! Transformers, trained and random, and recurrent maps to compare with.

use metastable_core::attention;
use metastable_num::{self as num, error};

pub mod recurrent;
pub mod transformer;

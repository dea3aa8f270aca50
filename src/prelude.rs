//! The names that most experiments need: `use metastable::prelude::*;`.
//!
//! Tokens and the laws of initial tokens, dynamics and their energy, the solver and its observers,
//! random streams, and [`theorem`](mod@crate::theorem) for verdicts:
//! `theorem::check(theorem::find("cone-collapse")?, theorem::Effort::Quick, 1)`. Use everything
//! else by its full path.

pub use crate::attention::{Dynamics, Energy, EnergyScale, Head, Spec, TimeScale, dynamics};
pub use crate::flow::observable::{
    self, Frame, Observer, Recorder, RunParameters, linear_times, log_times,
};
pub use crate::flow::{Event, EventAction, Options, Outcome, Solution, solve};
pub use crate::num::stream::Stream;
pub use crate::sphere::{Tokens, law::Law};
#[cfg(not(target_family = "wasm"))]
pub use crate::theorem;

//! What an experiment of one's own begins with: `use metastable::prelude::*;`.
//!
//! Tokens and the laws they are drawn from, dynamics and their energy, the solver with what watches it, random streams, and [`theorem`](mod@crate::theorem)
//! for verdicts: `theorem::check(theorem::find("cone-collapse")?, theorem::Effort::Quick, 1)`. Everything else is used by its full path.

pub use crate::attention::{Dynamics, Energy, EnergyScale, Head, Spec, TimeScale, dynamics};
pub use crate::flow::observable::{self, Frame, Observer, Recorder, Setting, linear_times, log_times};
pub use crate::flow::{Action, Event, Options, Outcome, Solution, solve};
pub use crate::num::stream::Stream;
pub use crate::sphere::{Tokens, law::Law};
#[cfg(not(target_family = "wasm"))]
pub use crate::theorem;

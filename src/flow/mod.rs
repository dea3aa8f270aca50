//! Time stepping: integrators, step control, events, coalescence, observers, `solve`, layer iterations.

mod coalesce;
mod control;
mod dop853;
mod dopri5;
mod event;
pub mod hidden;
mod implicit;
mod integrator;
mod iterate;
mod lockstep;
mod mover;
pub mod observable;
mod outcome;
mod rest;
mod rodas5p;
mod run;
pub mod second;
mod solve;
mod tableau;
mod walk;

pub(crate) use coalesce::ClosePairs;
pub use coalesce::Merge;
pub use control::Options;
pub use event::{Action, EnergyLevel, EnterHemisphere, EscapeCap, Event, Hit};
pub use implicit::ImplicitStep;
pub use integrator::integrator;
#[doc(hidden)]
pub use iterate::together;
pub use iterate::{iterate, iterate_many};
pub use lockstep::solve_many;
pub use mover::Implicit;
pub use observable::{Frame, Observer, Recorder, Table};
pub use outcome::{Outcome, Solution, Stats, Summary};
pub use rest::Residual;
pub use solve::{solve, velocity_accuracy};
#[doc(hidden)]
pub use tableau::Step;
pub use tableau::Tableau;
pub use walk::{Walk, walk};

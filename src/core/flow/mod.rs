//! Time: one loop for tokens, many systems in lanes, layers, noise and densities; steppers, events, observers.
//!
//! A [`Stepper`] tries steps of an [`OdeSystem`] (tokens, densities) and a clock judges them: [`integrate`] is the loop for any system, [`solve`] the
//! one for tokens, with mergers, events and observers. A method of one's own is a [`Stepper`].

#[doc(hidden)]
pub mod clock;
mod coalesce;
mod control;
mod dop853;
mod dopri5;
mod event;
mod explicit;
pub mod hidden;
mod implicit;
mod integrator;
mod iterate;
mod lockstep;
mod mover;
pub mod observable;
mod ode_system;
mod outcome;
mod pause;
#[doc(hidden)]
pub mod rest;
mod rodas5p;
mod rows;
mod run;
pub mod second;
mod solve;
mod stepper;
mod system;
mod tableau;
mod token_system;
mod walk;

pub(crate) use coalesce::ClosePairs;
pub use coalesce::{Merge, clusters_within};
pub use control::Options;
pub use event::{Action, EnergyLevel, EnterHemisphere, EscapeCap, Event, Hit};
pub use implicit::ImplicitStep;
pub use integrator::integrator;
#[doc(hidden)]
pub use iterate::together;
pub use iterate::{iterate, iterate_many};
pub use lockstep::{solve_many, walk_many};
pub use mover::Implicit;
pub use observable::{Frame, Observer, Recorder, Table};
pub use ode_system::{Integrated, OdeOptions, OdeStep, OdeSystem, StepAction, integrate};
pub use outcome::{Outcome, Solution, Stats, Summary};
pub use pause::{Keeper, Pause};
pub use rest::Residual;
pub use run::Run;
pub use solve::{begin, solve, velocity_accuracy};
pub use stepper::{Integrator, Segment, Stepper};
pub use tableau::Tableau;
pub use token_system::TokenSystem;
pub use walk::{Splitting, WALK_ACCURACY, Walk, begin_walk, walk};

//! Integration in time of tokens, of ensembles of small systems, of layers, of noise and of
//! densities; with steppers, events and observers.
//!
//! A [`Stepper`] attempts steps of an [`OdeSystem`] (tokens, densities), and a step controller
//! accepts or rejects them. [`integrate`] is the loop for any system; [`solve`] is the loop for
//! tokens, with merges, events and observers. Implement [`Stepper`] to add a method.

mod block_norms;
mod checkpoint;
#[doc(hidden)]
pub mod cross_check;
mod dop853;
mod dopri5;
mod ensemble;
mod event;
mod explicit;
mod implicit;
mod integrate;
mod integrator;
mod layers;
mod merging;
pub mod observable;
mod options;
mod outcome;
#[doc(hidden)]
pub mod parameters;
mod rodas5p;
mod run;
pub mod sa_fit;
mod sde;
mod solve;
#[doc(hidden)]
pub mod steady_state;
#[doc(hidden)]
pub mod step_control;
mod stepper;
mod stiff_switch;
mod system;
mod tableau;
mod token_system;

pub use checkpoint::{CheckpointSink, RunCheckpoint};
pub use ensemble::{solve_many, solve_sde_many};
pub use event::{EnergyLevel, EnterHemisphere, EscapeCap, Event, EventAction, EventHit};
#[doc(hidden)]
pub use implicit::ImplicitStep;
pub use integrate::{OdeOptions, OdeSolution, OdeStep, OdeSystem, StepAction, integrate};
pub use integrator::integrator;
#[doc(hidden)]
pub use layers::preferred_batch;
pub use layers::{apply_layers, apply_layers_many};
pub(crate) use merging::ClosePairs;
pub use merging::{Merge, clusters_within};
pub use observable::{Frame, Observer, Recorder, Table};
pub use options::Options;
pub use outcome::{Outcome, Solution, Stats, Summary};
pub use run::Run;
pub use sde::{SDE_VELOCITY_ACCURACY, SdeOptions, Splitting, solve_sde, start_sde};
pub use solve::{solve, start_run, velocity_accuracy};
#[doc(hidden)]
pub use steady_state::Residual;
pub use stepper::{Integrator, StepAttempt, Stepper};
#[doc(hidden)]
pub use stiff_switch::ImplicitSteps;
#[doc(hidden)]
pub use tableau::Tableau;
#[doc(hidden)]
pub use token_system::TokenSystem;

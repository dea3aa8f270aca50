//! The guide: pages to be read in order, or looked up. Their commands and programs run in the tests.
//!
//! - [`first_experiment`]: a question, a grid, an answer
//! - [`command_line`]: every command by example, flags of all commands, exit codes
//! - [`experiments`]: the keys of an experiment file
//! - [`models`]: normalisations, masks, heads, positions, feed-forward layers, noise
//! - [`choosing`]: accuracy, kernels, integrators, merge radius, limits
//! - [`theorems`]: claims, trials, margins, verdicts, counterexamples
//! - [`certificates`]: what is proved, and how to check a proof
//! - [`results`]: reading, drawing and comparing results; Python and Julia
//! - [`measure`]: densities instead of tokens
//! - [`trained_models`]: BERT, GPT-2, Llama and others compared with the theory
//! - [`machines`]: parts of a grid on many machines, one run on many processes, and its cost
//! - [`own`]: a claim, a dynamics, an observable and a figure of your own
//! - [`figures_of_papers`]: the command that redraws each figure of a paper, or why there is none
//! - [`papers`]: for each paper its statements, their tests, its figures and their commands

#[doc = include_str!("links.txt")]
#[doc = include_str!("first_experiment.md")]
pub mod first_experiment {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("command_line.md")]
pub mod command_line {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("experiments.md")]
pub mod experiments {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("models.md")]
pub mod models {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("choosing.md")]
pub mod choosing {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("theorems.md")]
pub mod theorems {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("trained_models.md")]
pub mod trained_models {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("results.md")]
pub mod results {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("own.md")]
pub mod own {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("measure.md")]
pub mod measure {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("certificates.md")]
pub mod certificates {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("machines.md")]
pub mod machines {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("figures_of_papers.md")]
pub mod figures_of_papers {}

pub mod papers;

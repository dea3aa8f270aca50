//! The guide. The tests run its commands and programs.
//!
//! - [`first_experiment`]: from a question to a grid of runs and an answer
//! - [`glossary`]: every word of the field and of the program, defined once
//! - [`command_line`]: every command by example, the flags of all commands, exit codes
//! - [`experiments`]: the keys of an experiment file
//! - [`results`]: reading, drawing and comparing results; Python and Julia
//! - [`theorems`]: claims, trials, margins, verdicts, counterexamples
//! - [`measure`]: densities in place of tokens
//! - [`meanings`]: what proved, certified, supported and +- mean: checked by which code
//! - [`certificates`]: what is proved, and how to check a proof
//! - [`certificate_formats`]: the grammar of certificates, for a checker of your own
//! - [`landscapes`]: all critical points on the circle and on spheres, and benign landscapes
//! - [`partitions`]: all critical points on the circle for large beta, a theorem with its proof
//! - [`bifurcations`]: all branches of critical points over an interval of beta, with proofs
//! - [`rates`]: lifetimes under noise: two clusters, exits over saddles, phase slips
//! - [`models`]: normalisations, masks, heads, positions, feed-forward layers, noise
//! - [`interaction`]: any function of inner products in the place of the exponential
//! - [`trained_models`]: BERT, GPT-2, Llama and others compared with the theory
//! - [`machines`]: one grid on many machines, or one run on many processes
//! - [`choosing`]: accuracy, kernels, integrators, merge radius, limits
//! - [`own`]: how to write your own claim, dynamics, observable and figure
//! - [`gallery`]: every figure
//! - [`papers`]: how to see the statements, tests and figures of each paper

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
#[doc = include_str!("rates.md")]
pub mod rates {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("models.md")]
pub mod models {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("interaction.md")]
pub mod interaction {}

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
#[cfg_attr(feature = "figures", doc = include_str!("own.md"))]
pub mod own {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("measure.md")]
pub mod measure {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("certificates.md")]
pub mod certificates {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("certificate_formats.md")]
pub mod certificate_formats {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("meanings.md")]
pub mod meanings {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("landscapes.md")]
pub mod landscapes {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("partitions.md")]
pub mod partitions {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("bifurcations.md")]
pub mod bifurcations {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("machines.md")]
pub mod machines {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("glossary.md")]
pub mod glossary {}

#[doc = include_str!("links.txt")]
#[doc = include_str!("papers.md")]
pub mod papers {}

#[doc = include_str!("gallery.md")]
pub mod gallery {}

//! The claims: their verdicts, former counterexamples, and tests of the verdict machine.

mod counterexamples;
mod planted_nan;
mod sentences;
mod theorems;
mod verdicts;

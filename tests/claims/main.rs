//! The claims: their verdicts, former counterexamples, and tests of the verdict machine.

mod counterexamples;
mod sentences;
mod theorems;
mod verdicts;

//! The claims: their verdicts, what once refuted them, and the machine that judges them.

mod counterexamples;
mod seeds;
mod theorems;
mod verdicts;

//! `bench`: speed of this machine, compared with its own peaks.

pub mod heads;
mod peak;
pub mod right_hand_side;
mod timing;

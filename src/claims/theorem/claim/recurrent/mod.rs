//! Recurrent maps.

use super::Topic;

pub mod rnn_contraction;
pub mod rnn_influence;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "recurrent",
    title: "Recurrent maps",
    page: "A recurrent network passes a state from input to input; attention lets every input act \
           on every later one directly. How much of an input is left in the state is a product of \
           Jacobians. Read rnn-contraction first: if the norm of the state matrix is below 1, two \
           states under the same inputs approach each other at least at that rate, and this is \
           proved. Its variant with the spectral radius in place of the norm is a common belief, \
           and false: a matrix far from normal enlarges a perturbation before it decays. For \
           matrices of any norm rnn-influence is an observation: the logarithm of the influence \
           of an input changes by the largest Lyapunov exponent per step of its age. What gates \
           and fixed contexts do is checked by sentences.",
    claims: &[&rnn_contraction::ENTRY, &rnn_influence::ENTRY],
};

//! Encoder and decoder with attention whose scores are additive (Bahdanau).

use crate::recurrent::alignment::{Alignment, EncoderDecoder};
use crate::recurrent::{NamedMap, ReceptiveField, normal_matrix, one_layer};

/// Additive scores are bounded by `|v|_1`, so weights have a positive lower bound.
pub static ENTRY: NamedMap = NamedMap {
    name: "bahdanau",
    summary: "h by an rnn; s_i = tanh(W c_i + U s_{i-1} + b), c_i = sum_j softmax_j(v^T tanh(A s_{i-1} + B h_j)) h_j",
    citation: "Bahdanau, Cho, Bengio, arXiv:1409.0473",
    receptive_field: ReceptiveField::All,
    unit: one_layer,
    build: |spec| {
        let matrix =
            |name: &str, rows: usize| normal_matrix(spec.seed, name, (rows, spec.d), spec.gain);
        let alignment = Alignment::Additive {
            decoder_weights: matrix("states", spec.d),
            encoder_weights: matrix("kept", spec.d),
            score_vector: matrix("read", 1),
        };
        Box::new(EncoderDecoder::normal(spec.seed, spec.d, spec.gain, alignment))
    },
};

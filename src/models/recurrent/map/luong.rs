//! Encoder and decoder with attention whose scores are products (Luong).

use crate::recurrent::alignment::{Alignment, EncoderDecoder};
use crate::recurrent::{NamedMap, ReceptiveField, normal_matrix, one_layer};

/// The general product. Scores are not bounded.
pub static ENTRY: NamedMap = NamedMap {
    name: "luong",
    summary: "h by an rnn; s_i = tanh(W c_i + U s_{i-1} + b), c_i = sum_j softmax_j(s_{i-1}^T A h_j) h_j",
    citation: "Luong, Pham, Manning, arXiv:1508.04025 (general)",
    receptive_field: ReceptiveField::All,
    unit: one_layer,
    build: |spec| {
        let alignment =
            Alignment::General(normal_matrix(spec.seed, "general", (spec.d, spec.d), spec.gain));
        Box::new(EncoderDecoder::normal(spec.seed, spec.d, spec.gain, alignment))
    },
};

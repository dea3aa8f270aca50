//! The weights of a decoder on the states of its encoder: a fixed context, Bahdanau's additive
//! scores, Luong's products.

use super::TokenMap;
use super::cell::{Gate, RecurrentCell};
use super::map::rnn::Rnn;
use super::trace::{Trace, Var};

/// Scores `e_ij` of the state `s_{i-1}` of the decoder and the state `h_j` of the encoder. The
/// weights are their softmax over j.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Alignment {
    /// All weight on the last state of the encoder: a fixed context.
    Fixed,
    /// `v^T tanh(W s + U h)` (arXiv:1409.0473).
    Additive {
        /// W.
        decoder_weights: Vec<f64>,
        /// U.
        encoder_weights: Vec<f64>,
        /// v.
        score_vector: Vec<f64>,
    },
    /// `s^T h` (arXiv:1508.04025, "dot").
    Dot,
    /// `s^T W h` (arXiv:1508.04025, "general").
    General(Vec<f64>),
}

impl Alignment {
    /// Records the weights on the states of the encoder.
    pub fn weights<'a>(&'a self, trace: &mut Trace<'a>, state: Var, encoded: &[Var]) -> Var {
        let scores = match self {
            Self::Fixed => {
                let last: Vec<f64> =
                    (1..=encoded.len()).map(|j| f64::from(u8::from(j == encoded.len()))).collect();
                return trace.constant(&last);
            }
            Self::Additive { decoder_weights: w, encoder_weights: u, score_vector: v } => {
                let decoded = trace.matrix(w, state);
                let one = |h: &Var| {
                    let h = trace.matrix(u, *h);
                    let sum = trace.sum(decoded, 1.0, h);
                    let activated = trace.tanh(sum);
                    trace.matrix(v, activated)
                };
                let all: Vec<Var> = encoded.iter().map(one).collect();
                trace.join(&all)
            }
            Self::Dot => trace.scores(state, encoded),
            Self::General(w) => {
                let images: Vec<Var> = encoded.iter().map(|h| trace.matrix(w, *h)).collect();
                trace.scores(state, &images)
            }
        };
        trace.softmax(scores)
    }
}

/// An encoder that reads all rows, and a decoder with as many outputs:
/// `s_i = tanh(W c_i + U s_{i-1} + b)`, `c_i = sum_j a_ij h_j`, `s_0 = h_n`.
pub struct EncoderDecoder {
    /// The encoder.
    pub encoder: Rnn,
    /// The decoder.
    pub decoder: Gate,
    /// The weights of the decoder on the states of the encoder.
    pub alignment: Alignment,
}

impl EncoderDecoder {
    /// With normally distributed weights and this alignment.
    pub fn normal(seed: u64, d: usize, gain: f64, alignment: Alignment) -> Self {
        let encoder = Rnn { gate: Gate::normal(seed, "encoder", d, gain) };
        Self { encoder, decoder: Gate::normal(seed, "decoder", d, gain), alignment }
    }

    /// Records the states of the encoder on all rows.
    pub fn encode<'a>(&'a self, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let mut state = trace.constant(&vec![0.0; self.encoder.width()]);
        let mut encoded = Vec::with_capacity(rows.len());
        for row in rows {
            state = self.encoder.next(trace, *row, state);
            encoded.push(state);
        }
        encoded
    }

    /// Records `count` outputs and their contexts.
    pub fn decode<'a>(
        &'a self,
        trace: &mut Trace<'a>,
        encoded: &[Var],
        count: usize,
    ) -> (Vec<Var>, Vec<Var>) {
        let (mut outputs, mut contexts) = (Vec::new(), Vec::new());
        let Some(mut state) = encoded.last().copied() else { return (outputs, contexts) };
        for _ in 0..count {
            let weights = self.alignment.weights(trace, state, encoded);
            // A fixed context is the last state itself, without multiplications.
            let context = if let Alignment::Fixed = self.alignment {
                encoded[encoded.len() - 1]
            } else {
                trace.mix(weights, encoded)
            };
            let sum = self.decoder.record(trace, context, state);
            state = trace.tanh(sum);
            outputs.push(state);
            contexts.push(context);
        }
        (outputs, contexts)
    }
}

impl TokenMap for EncoderDecoder {
    fn record<'a>(&'a self, _: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let encoded = self.encode(trace, rows);
        self.decode(trace, &encoded, rows.len()).0
    }
}

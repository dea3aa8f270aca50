//! Transformer blocks as in trained models: heads with biases and output matrix, feed-forward
//! layers, norms with affine weights, decoders.
//!
//! Tokens are rows of an `n x d` array in `R^d`; a linear map is `y = x W^T + b` with W stored by
//! rows, one row per output, as in the files of trained models. Everything runs in `f64` or `f32`;
//! Jacobian-vector products and their transposes in `f64`.
//!
//! | file | contents |
//! |---|---|
//! | `norm`, `attention_layer` | the parts of a block, with `attention::feed_forward` |
//! | `block` | sublayers with norms and residual connections |
//! | `tangent` | the same parts linearised at given tokens |
//! | `positions` | sinusoidal positions |
//! | `decode` | one token after another with kept keys and values |
//! | `lipschitz` | Lipschitz bounds |
//! | `random` | blocks with random weights |
//! | `field` | a block as a vector field, to integrate in time |
//! | `trained` | models read from files (feature `models`) |
//! | `observe` | cosines, effective inverse temperatures and spectra of hidden states and heads |

pub mod attention_layer;
pub mod block;
pub mod decode;
pub mod field;
pub mod lipschitz;
pub mod norm;
pub mod observe;
pub mod positions;
pub mod random;
pub mod tangent;
#[cfg(feature = "trained")]
pub mod trained;

pub use crate::attention::dense::{Float, Linear};
pub use crate::attention::feed_forward::Mlp;
pub use attention_layer::{AttentionLayer, AttentionOutput, Grouping};
pub use block::{BlockPart, NormPlacement, ResidualSublayer, TransformerBlock};
pub use norm::{Centring, Norm};

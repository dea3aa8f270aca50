//! The block of a Transformer as it is trained: heads with biases and output matrix, feed-forward layers, norms with affine weights, decoders.
//!
//! Tokens are rows of an `n x d` array in `R^d`; a linear map is `y = x W^T + b` with W stored by rows, one row per output, as files of trained models
//! store it. Everything runs in `f64` or `f32`; what is linearised (Jacobian-vector products and their transposes) in `f64`.
//!
//! | file | what |
//! |---|---|
//! | `norm`, `projected` | the parts of a block beside `attention::feed_forward` |
//! | `block` | sublayers with norms before, after the output, after the sum |
//! | `tangent` | the same parts linearised at given tokens |
//! | `positions` | sinusoidal positions |
//! | `decode` | one token after another with kept keys and values |
//! | `lipschitz` | bounds |
//! | `random` | blocks with random weights |
//! | `field` | a block as a field that the flow integrates |
//! | `trained` | models read from files (feature `models`) |
//! | `observe` | what the theory asks of hidden states and heads |

pub mod block;
pub mod decode;
pub mod field;
pub mod lipschitz;
pub mod norm;
pub mod observe;
pub mod positions;
pub mod projected;
pub mod random;
pub mod tangent;
#[cfg(feature = "trained")]
pub mod trained;

pub use crate::attention::dense::{Linear, Real};
pub use crate::attention::feed_forward::Mlp;
pub use block::{BlockPart, NormPlace, Placed, TransformerBlock};
pub use norm::{Centring, Norm};
pub use projected::{Attended, Grouping, Projected};

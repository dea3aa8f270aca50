//! Trained models: what is read from their files, checked, and run layer by layer.
//!
//! Nothing here opens a file: whoever does gives a [`Bytes`]. Tensors are read one block at a time, so that a model needs the memory of one block.

mod albert;
mod architecture;
mod bert;
mod bytes;
mod config;
mod gguf;
mod gpt2;
mod keys;
mod kinds;
mod llama;
mod model;
mod rope;
mod safetensors;
mod settings;
mod tensors;
mod text;

pub use architecture::{Architecture, TensorStore};
pub use bytes::Bytes;
pub use config::Config;
pub use gguf::{SETTINGS as GGUF_SETTINGS, read as read_gguf};
pub use kinds::{ARCHITECTURES, block_parameters};
pub use model::{PassedLayer, Trained};
pub use rope::{RopeScaling, RotarySettings};
pub use safetensors::read as read_safetensors;
pub use settings::{KeyUse, ModelKey};
pub use tensors::{Stored, TensorPlace, Tensors};
pub use text::Vocabulary;

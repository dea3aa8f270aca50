//! Trained models: read from files, checked, and run layer by layer.
//!
//! This module opens no file: the caller passes a [`Bytes`]. Tensors are read one block at a time,
//! so a model needs the memory of one block.

mod albert;
mod architecture;
mod architectures;
mod bert;
mod bytes;
mod config;
mod gguf;
mod gpt2;
mod keys;
mod llama;
mod model;
mod rope;
mod safetensors;
mod settings;
mod tensors;
mod text;

pub use architecture::Architecture;
#[doc(hidden)]
pub use architecture::TensorStore;
#[doc(hidden)]
pub use architectures::{ARCHITECTURES, block_parameters};
#[doc(hidden)]
pub use bytes::Bytes;
pub use config::Config;
#[doc(hidden)]
pub use gguf::{SETTINGS as GGUF_SETTINGS, read as read_gguf};
pub use model::{LayerPass, TrainedModel};
pub use rope::{RopeScaling, RotarySettings};
#[doc(hidden)]
pub use safetensors::{Open, read as read_safetensors, read_shards};
#[doc(hidden)]
pub use settings::{KeyUse, ModelKey};
#[doc(hidden)]
pub use tensors::{NumberFormat, TensorEntry, Tensors};
pub use text::Vocabulary;

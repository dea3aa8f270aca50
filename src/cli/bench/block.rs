//! `bench block`: a pass of tokens through Transformer blocks with random weights, as large as a trained model's.

use super::timing::{Timing, time};
use crate::attention::pattern::{Causal, Everything, Pattern};
use crate::cli::output::Output;
use crate::error::{Result, in_range};
use crate::num::stream::Stream;
use crate::transformer::random::{BlockSizes, block};
use crate::transformer::{NormPlace, Real, TransformerBlock};
use serde_json::json;
use std::sync::Arc;

/// Flags of `bench block`; the defaults are the sizes of MiniLM-L6 with all its positions.
#[derive(clap::Args)]
pub struct Arguments {
    /// Tokens.
    #[arg(long, default_value_t = 512)]
    n: usize,
    /// Dimension.
    #[arg(long, default_value_t = 384)]
    d: usize,
    /// Heads.
    #[arg(long, default_value_t = 12)]
    heads: usize,
    /// Hidden units.
    #[arg(long, default_value_t = 1536)]
    hidden: usize,
    /// Blocks.
    #[arg(long, default_value_t = 6)]
    layers: usize,
    /// A token sees those before it.
    #[arg(long)]
    causal: bool,
    /// Single precision.
    #[arg(long)]
    f32: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        for (name, value, most) in [
            ("--n", self.n, 1 << 16),
            ("--d", self.d, 1 << 14),
            ("--heads", self.heads, 1 << 10),
            ("--hidden", self.hidden, 1 << 16),
            ("--layers", self.layers, 1 << 10),
        ] {
            in_range(name, value as f64, 1.0, f64::from(most))?;
        }
        let pass = if self.f32 { self.pass::<f32>()? } else { self.pass::<f64>()? };
        let [n, d, hidden, layers] = [self.n, self.d, self.hidden, self.layers].map(|v| v as f64);
        // Of a causal pass half of the scores are needed.
        let operations = layers * n * (8.0 * d * d + 4.0 * d * hidden + if self.causal { 2.0 } else { 4.0 } * n * d);
        let rate = 1e-9 * operations / pass.best;
        let precision = if self.f32 { "f32" } else { "f64" };
        let threads = rayon::current_num_threads();
        let json = json!({"n": self.n, "d": self.d, "heads": self.heads, "hidden": self.hidden, "layers": self.layers, "causal": self.causal,
            "precision": precision, "threads": threads, "seconds": pass.median, "seconds_best": pass.best, "repetitions": pass.repetitions, "gflops": rate});
        let text = format!(
            "{:.3e} s (median; fastest {:.3e} s) for {} tokens through {} blocks, d = {}, {} heads, {} hidden units, {precision}\n{rate:.0} GFLOP/s at the fastest, {threads} threads",
            pass.median, pass.best, self.n, self.layers, self.d, self.heads, self.hidden
        );
        out.result(&json, &text);
        Ok(0)
    }

    fn pass<T: Real>(&self) -> Result<Timing> {
        let pattern: Arc<dyn Pattern> = if self.causal { Arc::new(Causal) } else { Arc::new(Everything) };
        let sizes = BlockSizes { d: self.d, heads: self.heads, hidden: self.hidden, size: 1.0, place: NormPlace::Post };
        let mut stream = Stream::new(1, &["bench block"]);
        let blocks = (0..self.layers).map(|_| Ok(block(&mut stream, &sizes, pattern.clone())?.rounded()));
        let blocks: Vec<TransformerBlock<T>> = blocks.collect::<Result<_>>()?;
        let start: Vec<T> = (0..self.n * self.d).map(|_| T::of(stream.normal())).collect();
        let through = || blocks.iter().try_fold(start.clone(), |x, block| block.step(&x, None, 1.0));
        through()?;
        Ok(time(|| {
            let _ = std::hint::black_box(through());
        }))
    }
}

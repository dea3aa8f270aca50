//! Flags of a model: the parts of it, or a file with the same keys.

use crate::attention::model::Model;
use crate::error::{Error, Result};
use crate::lab::{Described, arrays, model::Words};
use crate::sphere::Tokens;
use std::path::{Path, PathBuf};

/// What a model is made of beside its registered dynamics.
#[derive(clap::Args)]
pub struct ModelArguments {
    /// A TOML file with the keys below (space, norm, ..., noise) instead of their flags.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    model: Option<PathBuf>,
    /// Where tokens live: sphere (post, cod, ngpt), flat (none), polar (pre, peri, mix, ln-scaling); that of the normalisation.
    #[arg(long, value_name = "SPACE", help_heading = "Model")]
    space: Option<String>,
    /// What a layer does with its output: post (default), pre, peri, mix:tau=T, ngpt:alpha=A, cod, ln-scaling or none (`list normalisations`). Off the sphere rows are points of R^d, and their
    /// lengths are the radii where it has them.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    norm: Option<String>,
    /// Tokens are z = e^{-tV} x in R^d, where x moves without normalisation.
    #[arg(long, help_heading = "Model")]
    rescaled: bool,
    /// Starting radii, one per token, where tokens have them; rows of the tokens file are then directions.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    radii: Option<PathBuf>,
    /// Row weights: softmax, exponential, sinkhorn or hardmax. With masses m a row of softmax is
    /// A_ij = m_j e^{beta <Qx_i, Kx_j>} over its sum; sinkhorn is A_ij = f_i e^{beta (<x_i, x_j> -
    /// 1)} f_j m_j with factors f such that every row of A sums to 1: then m_i A_ij is symmetric
    /// and doubly stochastic (rows and columns sum to m), A itself is not unless all masses are
    /// equal.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    weights: Option<String>,
    /// causal, window:w=8, or a file of n x n zeros and ones; repeated, a token sees what all let
    /// it see. causal: token i sees j <= i. window:w=W: token i sees j with |i - j| < W, on both
    /// sides of it (itself and the W - 1 before it with causal).
    #[arg(long, value_name = "MASK", help_heading = "Model")]
    mask: Vec<String>,
    /// alibi, or a file of n x n numbers (heads x n x n in NPY); repeated, they add up. A bias is
    /// added to beta times the score: the weight of j is e^{beta <Qx_i, Kx_j> + b_ij}, and beta
    /// does not multiply b. alibi: b_ij = -2^{-8h/H} |i - j| for head h of H, counted from 1 (one
    /// head: 2^{-8}); symmetric in i and j unless a causal mask stands beside it.
    #[arg(long, value_name = "BIAS", help_heading = "Model")]
    bias: Vec<String>,
    /// Rotary positions: base=10000,pairs=adjacent or halves.
    #[arg(long, value_name = "KEYS", help_heading = "Model")]
    rotary: Option<String>,
    /// Query matrix file, r x d, or a law of matrices (normal:scale=1, symmetric, low-rank:rank=2,
    /// rotation, diagonal:1,0.5), drawn from the stream of --seed unless a seed is written
    /// (normal:seed=3); repeat --q, --k, --v, --o for several heads.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    q: Vec<String>,
    /// Key matrix file, r x d, or a law.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    k: Vec<String>,
    /// Value matrix file, d x d, or s x d beside an output matrix, or a law.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    v: Vec<String>,
    /// Output matrix file, d x s, or a law.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    o: Vec<String>,
    /// Matrices over depth: layers (those of --q, --k, --v, --o are layers one after the other, each from one whole time to the next) or fresh (matrices by law are drawn anew at every whole time).
    #[arg(long, value_name = "HOW", help_heading = "Model")]
    schedule: Option<String>,
    /// Feed-forward sublayer: an NPZ file with w1 (h x d), b1, w2 (d x h), b2. Its output
    /// `W2 f(W1 x + b1) + b2` is added to that of attention at the same x, not after it as in a
    /// transformer's layer; peri and ngpt normalise the sum of the two.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    mlp: Option<String>,
    /// Of the feed-forward sublayer: gelu (default), gelu-tanh or relu.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    activation: Option<String>,
    /// Noise of `solve`: kappa=4,step=0.01 moves tokens by sqrt(2 h / kappa) per step of length h;
    /// seed=S (default: that of --seed).
    #[arg(long, value_name = "KEYS", help_heading = "Model", allow_hyphen_values = true)]
    noise: Option<String>,
}

impl ModelArguments {
    /// The model.
    pub fn described(&self) -> Result<Described> {
        let words = self.words();
        if let Some(path) = &self.model {
            if let Some(key) = words.keys().next() {
                return Err(Error::parameter(
                    format!("--{key}"),
                    format!("--{key} beside --model"),
                    "one of them: the file has this key too",
                ));
            }
            return Described::load(path);
        }
        Described::new(words, Path::new("")).map_err(|problems| {
            let mut errors: Vec<Error> = problems.into_iter().map(|p| p.1).collect();
            if errors.len() == 1 { errors.remove(0) } else { Error::Many(errors) }
        })
    }

    /// The starting radii.
    pub fn radii(&self) -> Result<Option<Vec<f64>>> {
        self.radii.as_deref().map(|path| arrays::list(path, None)).transpose()
    }

    fn words(&self) -> Words {
        let mut words = Words::new();
        for (key, one) in [
            ("space", &self.space),
            ("norm", &self.norm),
            ("weights", &self.weights),
            ("rotary", &self.rotary),
            ("schedule", &self.schedule),
            ("mlp", &self.mlp),
            ("activation", &self.activation),
            ("noise", &self.noise),
        ] {
            words.extend(one.clone().map(|w| (key, vec![w])));
        }
        for (key, list) in [("mask", &self.mask), ("bias", &self.bias), ("q", &self.q), ("k", &self.k), ("v", &self.v), ("o", &self.o)] {
            if !list.is_empty() {
                words.insert(key, list.clone());
            }
        }
        if self.rescaled {
            words.insert("rescaled", vec!["true".into()]);
        }
        words
    }
}

/// Says how many tokens see nothing; `causal` where the dynamics itself hides later tokens.
pub fn note_blind(model: &Model, x: &Tokens, causal: bool) -> Result<usize> {
    let blind = model.sees_nothing(x.n(), x.d(), causal)?;
    if blind > 0 {
        super::output::note(&format!("{blind} of {} tokens see nothing under the mask: attention adds 0 to them", x.n()));
    }
    Ok(blind)
}

//! The papers that are cited.

use crate::theorem;

/// A paper.
pub struct Paper {
    /// arXiv number.
    pub id: &'static str,
    /// Authors; empty if not verified.
    pub authors: &'static str,
    /// Title; empty if not verified.
    pub title: &'static str,
}

const fn paper(id: &'static str, authors: &'static str, title: &'static str) -> Paper {
    Paper { id, authors, title }
}

/// All papers that are cited, by number.
pub const ALL: [Paper; 42] = [
    paper(
        "1211.5063",
        "Pascanu, Mikolov, Bengio",
        "On the difficulty of training recurrent neural networks",
    ),
    paper(
        "1406.1078",
        "Cho, van Merriënboer, Gulcehre, Bahdanau, Bougares, Schwenk, Bengio",
        "Learning phrase representations using RNN encoder-decoder for statistical machine translation",
    ),
    paper(
        "1409.0473",
        "Bahdanau, Cho, Bengio",
        "Neural machine translation by jointly learning to align and translate",
    ),
    paper("1607.06450", "Ba, Kiros, Hinton", "Layer normalization"),
    paper(
        "1706.03762",
        "Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin",
        "Attention is all you need",
    ),
    paper("2006.04710", "Kim, Papamakarios, Mnih", "The Lipschitz constant of self-attention"),
    paper(
        "2103.03404",
        "Dong, Cordonnier, Loukas",
        "Attention is not all you need: pure attention loses rank doubly exponentially with depth",
    ),
    paper(
        "2104.09864",
        "Su, Lu, Pan, Murtadha, Wen, Liu",
        "RoFormer: Enhanced Transformer with rotary position embedding",
    ),
    paper(
        "2108.12409",
        "Press, Smith, Lewis",
        "Train short, test long: attention with linear biases enables input length extrapolation",
    ),
    paper(
        "2110.11773",
        "Sander, Ablin, Blondel, Peyré",
        "Sinkformers: Transformers with doubly stochastic attention",
    ),
    paper(
        "2206.06929",
        "Marion, Fermanian, Biau, Vert",
        "Scaling ResNets in the large-depth regime",
    ),
    paper(
        "2305.05465",
        "Geshkovski, Letrouit, Polyanskiy, Rigollet",
        "The emergence of clusters in self-attention dynamics",
    ),
    paper(
        "2312.10794",
        "Geshkovski, Letrouit, Polyanskiy, Rigollet",
        "A mathematical perspective on Transformers",
    ),
    paper("2312.14820", "Castin, Ablin, Peyré", "How smooth is attention?"),
    paper(
        "2405.18273",
        "Criscitiello, Rebjock, McRae, Boumal",
        "Synchronization on circles and spheres with nonlinear interactions",
    ),
    paper(
        "2407.01602",
        "Alcalde, Fantuzzi, Zuazua",
        "Clustering in pure-attention hardmax transformers and its role in sentiment analysis",
    ),
    paper(
        "2410.06833",
        "Geshkovski, Koubbi, Polyanskiy, Rigollet",
        "Dynamic metastability in the self-attention model",
    ),
    paper(
        "2410.23228",
        "Bruno, Pasqualotto, Agazzi",
        "Emergence of meta-stable clustering in mean-field transformer models",
    ),
    paper(
        "2411.04990",
        "Karagodin, Polyanskiy, Rigollet",
        "Clustering in causal attention masking",
    ),
    paper(
        "2412.02682",
        "Abella, Silvestre, Tabuada",
        "The asymptotic behavior of attention in transformers",
    ),
    paper(
        "2412.09080",
        "Geshkovski, Rigollet, Sun",
        "On the number of modes of Gaussian kernel density estimators",
    ),
    paper(
        "2501.03096",
        "Burger, Kabri, Korolev, Roith, Weigand",
        "Analysis of mean-field models arising from self-attention dynamics in transformer architectures with layer normalization",
    ),
    paper(
        "2501.18322",
        "Castin, Ablin, Carrillo, Peyré",
        "A unified perspective on the dynamics of deep transformers",
    ),
    paper(
        "2504.14697",
        "Chen, Lin, Polyanskiy, Rigollet",
        "Quantitative clustering in mean-field transformer models",
    ),
    paper(
        "2507.22857",
        "Polyanskiy, Rigollet, Yao",
        "Synchronization of mean-field models on the circle",
    ),
    paper(
        "2508.09628",
        "Alcalde, Geshkovski, Ruiz-Balet",
        "Attention's forward pass and Frank-Wolfe",
    ),
    paper(
        "2509.15958",
        "Cimetière, Chiri, Gharesifard",
        "Localmax dynamics for attention in transformers and its asymptotic behavior",
    ),
    paper(
        "2509.25040",
        "Bruno, Pasqualotto, Agazzi",
        "A multiscale analysis of mean-field transformers in the moderate interaction regime",
    ),
    paper(
        "2510.05554",
        "Chen, Lin, Polyanskiy, Rigollet",
        "Critical attention scaling in long-context transformers",
    ),
    paper(
        "2510.22026",
        "Karagodin, Ge, Polyanskiy, Rigollet",
        "Normalization in attention dynamics",
    ),
    paper("2512.01868", "Rigollet", "The mean-field dynamics of Transformers"),
    paper(
        "2601.21366",
        "Álvarez-López, Geshkovski, Ruiz-Balet",
        "Perceptrons and localization of attention's mean-field landscape",
    ),
    paper(
        "2601.21942",
        "Fedorov, Sander, Elie, Marion, Laurière",
        "Clustering in deep stochastic Transformers",
    ),
    paper(
        "2603.06187",
        "Engel, Shalova",
        "Random quadratic form on a sphere: synchronization by common noise",
    ),
    paper("2604.01978", "Koubbi, Geshkovski, Rigollet", "Homogenized Transformers"),
    paper(
        "2604.23681",
        "Cirrincione",
        "Rank, head-channel non-identifiability, and symmetry breaking: a precise analysis of representational collapse in Transformers",
    ),
    paper("2604.26085", "Kuehn, Yoon", "Spectral selection in symmetric self-attention dynamics"),
    paper(
        "2605.04279",
        "Pendharkar",
        "Gradient flow structure and quantitative dynamics of multi-head self-attention",
    ),
    paper(
        "2605.08505",
        "Bruno, Chen, Lin, Polyanskiy, Rigollet",
        "Scaling limits of long-context Transformers",
    ),
    paper(
        "2605.10931",
        "Alcalde, Bungert, Riedl, Roith",
        "Quantifying concentration phenomena of mean-field Transformers in the low-temperature regime",
    ),
    paper(
        "2605.30229",
        "Imaizumi, Koyama, Isobe, Hayashi",
        "Anti mode-collapse in mean-field Transformer via auxiliary variables",
    ),
    paper(
        "2606.05140",
        "Mun, Rosenzweig",
        "Phase transitions for the noisy transformer model in arbitrary dimension",
    ),
];

/// A paper by its number, with or without `arXiv:`.
pub fn find(name: &str) -> Option<&'static Paper> {
    let number = name.trim_start_matches("arXiv:");
    ALL.iter().find(|p| number == p.id)
}

impl Paper {
    /// The claims that cite it.
    pub fn claims(&self) -> impl Iterator<Item = &'static theorem::Claim> {
        theorem::ALL.iter().copied().filter(|c| c.source.contains(self.id))
    }

    /// Authors and title.
    pub fn summary(&self) -> String {
        let title = if self.title.is_empty() { "title not read" } else { self.title };
        [self.authors, title]
            .iter()
            .filter(|t| !t.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(": ")
    }
}

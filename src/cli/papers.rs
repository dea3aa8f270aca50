//! The papers: what of each is checked and drawn here, from the citations of what is registered.

use super::list;
use crate::lab::{experiment::BUILT_IN, report::table};
use crate::{paper_figs, study::ALL as STUDIES, theorem};

/// A paper of the programme.
pub struct Paper {
    /// Its number at arXiv.
    pub id: &'static str,
    authors: &'static str,
    title: &'static str,
}

const fn paper(id: &'static str, authors: &'static str, title: &'static str) -> Paper {
    Paper { id, authors, title }
}

/// All papers that are cited, by number.
pub const ALL: [Paper; 26] = [
    paper(
        "2103.03404",
        "Dong, Cordonnier, Loukas",
        "Attention is not all you need: pure attention loses rank doubly exponentially with depth",
    ),
    paper("2110.11773", "Sander, Ablin, Blondel, Peyré", "Sinkformers: Transformers with doubly stochastic attention"),
    paper("2305.05465", "Geshkovski, Letrouit, Polyanskiy, Rigollet", "The emergence of clusters in self-attention dynamics"),
    paper("2312.10794", "Geshkovski, Letrouit, Polyanskiy, Rigollet", "A mathematical perspective on Transformers"),
    paper("2405.18273", "Criscitiello, Rebjock, McRae, Boumal", "Synchronization on circles and spheres with nonlinear interactions"),
    paper(
        "2407.01602",
        "Alcalde, Fantuzzi, Zuazua",
        "Clustering in pure-attention hardmax transformers and its role in sentiment analysis",
    ),
    paper("2410.06833", "Geshkovski, Koubbi, Polyanskiy, Rigollet", "Dynamic metastability in the self-attention model"),
    paper("2410.23228", "Bruno, Pasqualotto, Agazzi", "Emergence of meta-stable clustering in mean-field transformer models"),
    paper("2411.04990", "Karagodin, Polyanskiy, Rigollet", "Clustering in causal attention masking"),
    paper("2412.09080", "Geshkovski, Rigollet, Sun", "On the number of modes of Gaussian kernel density estimators"),
    paper("2501.18322", "Castin, Ablin, Carrillo, Peyré", "A unified perspective on the dynamics of deep transformers"),
    paper("2504.14697", "Chen, Lin, Polyanskiy, Rigollet", "Quantitative clustering in mean-field transformer models"),
    paper("2507.22857", "Polyanskiy, Rigollet, Yao", "Synchronization of mean-field models on the circle"),
    paper("2508.09628", "Alcalde, Geshkovski, Ruiz-Balet", "Attention's forward pass and Frank-Wolfe"),
    paper(
        "2509.25040",
        "Bruno, Pasqualotto, Agazzi",
        "A multiscale analysis of mean-field transformers in the moderate interaction regime",
    ),
    paper("2510.05554", "Chen, Lin, Polyanskiy, Rigollet", "Critical attention scaling in long-context transformers"),
    paper("2510.22026", "Karagodin, Ge, Polyanskiy, Rigollet", "Normalization in attention dynamics"),
    paper("2512.01868", "Rigollet", "The mean-field dynamics of Transformers"),
    paper("2601.21366", "Álvarez-López, Geshkovski, Ruiz-Balet", "Perceptrons and localization of attention's mean-field landscape"),
    paper("2601.21942", "Fedorov, Sander, Elie, Marion, Laurière", ""),
    paper("2604.01978", "Koubbi, Geshkovski, Rigollet", "Homogenized Transformers"),
    paper(
        "2604.23681",
        "Cirrincione",
        "Rank, head-channel non-identifiability, and symmetry breaking: a precise analysis of representational collapse in Transformers",
    ),
    paper("2604.26085", "", ""),
    paper("2605.04279", "Pendharkar", "Gradient flow structure and quantitative dynamics of multi-head self-attention"),
    paper("2605.08505", "Bruno, Chen, Lin, Polyanskiy, Rigollet", "Scaling limits of long-context Transformers"),
    paper("2606.05140", "Mun, Rosenzweig", "Phase transitions for the noisy transformer model in arbitrary dimension"),
];

/// The first lines of every figure's file, in the order of the figures.
const ABOUT: &[&str] = include!(concat!(env!("OUT_DIR"), "/figure_docs.rs"));

/// A paper by its number, with or without `arXiv:`.
pub fn find(name: &str) -> Option<&'static Paper> {
    ALL.iter().find(|p| [p.id, &format!("arXiv:{}", p.id)].contains(&name))
}

impl Paper {
    /// Authors and title.
    pub fn summary(&self) -> String {
        [self.authors, self.title].iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>().join(": ")
    }

    /// Its page in Markdown: the claims that test it, what is computed for it, its figures with their commands.
    pub fn page(&self) -> String {
        let cites = |text: &str| text.contains(self.id);
        let printed = if self.title.is_empty() { String::new() } else { format!("*{}*", self.title) };
        let known = [self.authors, &printed, &format!("arXiv:{}", self.id)];
        let mut out = format!("{}.\n", known.iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>().join(", "));
        let bare = out.len();
        let claims: Vec<_> = theorem::ALL.iter().copied().filter(|c| cites(c.citation)).collect();
        if !claims.is_empty() {
            out.push_str("\n# Its statements, tested\n\n`metastable check NAME` tests one, `metastable explain NAME` says how, with `--proof` why.\n\n");
            out.push_str(&table(&claims));
        }
        let mut bullets = |heading: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                out.push_str(&format!("\n# {heading}\n\n{}\n", lines.join("\n")));
            }
        };
        let experiments = BUILT_IN.iter().filter(|(_, text)| cites(text));
        let studies = STUDIES.iter().filter(|s| cites(s.citation));
        bullets(
            "Computed for it",
            experiments
                .map(|(name, _)| format!("- `metastable run {name}`: {}", title("experiments", name)))
                .chain(studies.map(|s| format!("- `metastable run {}`: {}", s.name, s.title)))
                .collect(),
        );
        let figure = |(f, about): (&&paper_figs::PaperFigure, &&str)| {
            let data = f.experiments.iter().any(|e| BUILT_IN.iter().any(|(n, text)| n == e && cites(text)));
            let own = cites(about) || data || f.study.and_then(|p| p.study()).is_some_and(|s| cites(s.citation));
            own.then(|| format!("- `metastable figure {}`: {}", f.name, f.title))
        };
        bullets("Its figures", paper_figs::ALL.iter().zip(ABOUT).filter_map(figure).collect());
        let mut used = Vec::new();
        for kind in ["integrators", "kernels", "normalisations", "dynamics"] {
            used.extend(list::entries(kind).into_iter().filter(|(_, s)| cites(s)).map(|(n, s)| format!("- `{n}` ({kind}): {s}")));
        }
        bullets("Also here", used);
        if out.len() == bare {
            out.push_str("\nNothing registered cites it; its formulas are in the documentation of the library, where they are used.\n");
        }
        out
    }
}

fn title(kind: &str, name: &str) -> String {
    list::entries(kind).into_iter().find(|(n, _)| n == name).map_or_else(String::new, |(_, title)| title)
}

//! The section of figures in the report. A link enlarges a figure; a missing figure has a reason.

use super::terms::escape;
use base64::Engine;

/// A figure for the page.
pub struct Figure {
    /// The name of the figure.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The picture or the reason.
    pub picture: FigurePicture,
}

/// A picture, or the reason why it is missing.
pub enum FigurePicture {
    /// The picture.
    Drawn {
        /// The SVG text.
        svg: String,
        /// The PNG bytes, used if the SVG is too large for a page.
        png: Vec<u8>,
        /// The caption, also used as text alternative.
        caption: String,
    },
    /// The reason.
    Missing(&'static str),
}

/// Without its font, an SVG with more bytes is shown as PNG, so that the pictures of a page stay
/// below 3 MB.
const MAX_SVG_BYTES: usize = 120_000;

pub(super) fn section(figures: &[Figure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let all: String = figures.iter().map(figure).collect();
    let missing = missing(figures);
    format!(
        "<section id=\"figures\" aria-labelledby=\"h-figures\"><h2 \
        id=\"h-figures\">Figures</h2>\n<div class=\"gallery\">\n{all}</div>\n{missing}</section>\n"
    )
}

fn figure(f: &Figure) -> String {
    let (name, title) = (f.name, escape(f.title));
    match &f.picture {
        FigurePicture::Missing(_) => String::new(),
        FigurePicture::Drawn { svg, png, caption } => {
            let text = escape(caption.trim());
            let picture = match without_font(svg) {
                Some((svg, _)) if svg.len() <= MAX_SVG_BYTES => scoped(&svg, name).replacen(
                    "<svg ",
                    &format!(
                        "<svg role=\"img\" \
                        aria-label=\"{title}. {text}\" "
                    ),
                    1,
                ),
                _ => format!(
                    "<img alt=\"{title}. {text}\" src=\"data:image/png;base64,{}\">",
                    base64::engine::general_purpose::STANDARD.encode(png)
                ),
            };
            format!(
                "<figure id=\"figure-{name}\"><div class=\"frame\" tabindex=\"0\" role=\"group\" \
                aria-label=\"Picture of {name}\">{picture}</div><figcaption><b>{title}.</b> <a \
                class=\"open\" href=\"#figure-{name}\">Enlarge {name}</a><span \
                class=\"caption\">{text} <code>metastable figure {name}</code></span><a \
                class=\"close\" href=\"#figures\">Back to all figures from \
                {name}</a></figcaption></figure>\n"
            )
        }
    }
}

/// The missing figures, one list for each reason.
fn missing(figures: &[Figure]) -> String {
    let mut reasons: Vec<&str> = figures
        .iter()
        .filter_map(|f| if let FigurePicture::Missing(why) = f.picture { Some(why) } else { None })
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    let list = |why: &str| {
        let without =
            figures.iter().filter(|f| matches!(f.picture, FigurePicture::Missing(w) if w == why));
        let items: String = without
            .map(|f| {
                format!(
                    "<li id=\"figure-{0}\"><code>metastable figure {0}</code>: \
                {1}</li>\n",
                    f.name,
                    escape(f.title)
                )
            })
            .collect();
        format!(
            "<details><summary>Not in this report: {}</summary>\n<ul \
            class=\"absent\">\n{items}</ul></details>\n",
            escape(why)
        )
    };
    reasons.into_iter().map(list).collect()
}

/// The font rule of the figures, once for the page.
pub(super) fn font(figures: &[Figure]) -> String {
    let rule = |f: &Figure| {
        if let FigurePicture::Drawn { svg, .. } = &f.picture {
            without_font(svg).map(|(_, rule)| rule)
        } else {
            None
        }
    };
    figures.iter().find_map(rule).unwrap_or_default()
}

/// Splits an SVG into the picture without its font rule and the rule.
fn without_font(svg: &str) -> Option<(String, String)> {
    let (before, rest) = svg.split_once("<style>@font-face")?;
    let (rule, after) = rest.split_once("</style>")?;
    Some((format!("{before}{after}"), format!("@font-face{rule}")))
}

/// Adds the name of the figure to the ids in an SVG, so that ids of two figures do not clash.
fn scoped(svg: &str, name: &str) -> String {
    svg.replace(" id=\"", &format!(" id=\"{name}-"))
        .replace("url(#", &format!("url(#{name}-"))
        .replace("href=\"#", &format!("href=\"#{name}-"))
}

//! A page in sections, written as Markdown for a site and as plain text for a terminal.

/// Characters in a line of plain text.
pub const WIDTH: usize = 100;

/// The space between columns.
const GAP: &str = "  ";

/// Smallest width of the last column.
const NARROWEST: usize = 24;

/// A section: a heading and its text in both forms.
pub struct Section {
    heading: &'static str,
    markdown: String,
    plain: String,
}

/// A page.
pub struct Document {
    /// The text before the first section.
    pub lead: String,
    /// The sections.
    pub sections: Vec<Section>,
}

impl Section {
    /// A list of words in backticks with their meanings.
    pub fn list(heading: &'static str, entries: &[(String, String)]) -> Self {
        let markdown = entries.iter().map(|(word, text)| format!("- `{word}`: {text}\n")).collect();
        let rows: Vec<Vec<String>> =
            entries.iter().map(|(word, text)| vec![word.clone(), text.clone()]).collect();
        Self { heading, markdown, plain: columns(&[], &rows) }
    }

    /// A table with a sentence before it; its last column is wrapped in plain text.
    pub fn table(heading: &'static str, intro: &str, head: &[&str], rows: &[Vec<String>]) -> Self {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut markdown = line(&mut head.iter().map(ToString::to_string));
        markdown.push_str(&format!("|{}\n", "---|".repeat(head.len())));
        rows.iter()
            .for_each(|row| markdown.push_str(&line(&mut row.iter().map(|cell| escaped(cell)))));
        Self::of(heading, intro, &markdown, &columns(head, rows))
    }

    /// A sentence and a body in both forms.
    pub fn of(heading: &'static str, intro: &str, markdown: &str, plain: &str) -> Self {
        Self {
            heading,
            markdown: format!("{intro}\n\n{markdown}"),
            plain: format!("{}\n{plain}", filled(intro)),
        }
    }
}

impl Document {
    /// Markdown, with headings of the first level.
    pub fn markdown(&self) -> String {
        let section = |s: &Section| format!("\n# {}\n\n{}", s.heading, s.markdown);
        self.lead.clone() + &self.sections.iter().map(section).collect::<String>()
    }

    /// Plain text: headings in capitals, columns aligned, no marks of Markdown.
    pub fn plain(&self) -> String {
        let section = |s: &Section| format!("\n{}\n\n{}", s.heading.to_uppercase(), s.plain);
        filled(&self.lead) + &self.sections.iter().map(section).collect::<String>()
    }
}

/// Escapes asterisks, pipes and angle brackets outside backticks.
pub fn escaped(text: &str) -> String {
    let outside = |part: &str| part.replace('|', "\\|").replace('*', "\\*").replace('<', "\\<");
    let parts = text
        .split('`')
        .enumerate()
        .map(|(k, part)| if k % 2 == 0 { outside(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// Paragraphs without Markdown marks, wrapped.
fn filled(text: &str) -> String {
    let paragraph = |p: &str| wrapped(&p.replace(['*', '`'], ""), WIDTH).join("\n") + "\n";
    text.trim().split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n")
}

/// Rows in aligned columns without backticks; the last column is wrapped so that a line has at most
/// [`WIDTH`] characters.
pub fn columns(head: &[&str], rows: &[Vec<String>]) -> String {
    let heads =
        (!head.is_empty()).then(|| head.iter().map(ToString::to_string).collect::<Vec<_>>());
    let all: Vec<Vec<String>> = heads
        .iter()
        .chain(rows)
        .map(|row| row.iter().map(|cell| cell.replace('`', "")).collect())
        .collect();
    let Some(last) = all.first().and_then(|row| row.len().checked_sub(1)) else {
        return String::new();
    };
    let widths: Vec<usize> = (0..last)
        .map(|c| {
            all.iter().map(|row| row.get(c).map_or(0, |t| t.chars().count())).max().unwrap_or(0)
        })
        .collect();
    let indent = widths.iter().map(|w| w + GAP.len()).sum::<usize>();
    let room = WIDTH.saturating_sub(indent).max(NARROWEST);
    let mut out = String::new();
    for (k, row) in all.iter().enumerate() {
        let before: String = widths
            .iter()
            .zip(row)
            .map(|(w, cell)| format!("{cell}{}{GAP}", " ".repeat(w - cell.chars().count().min(*w))))
            .collect();
        for (j, line) in wrapped(row.get(last).map_or("", String::as_str), room).iter().enumerate()
        {
            let start = if j == 0 { before.clone() } else { " ".repeat(indent) };
            out.push_str(format!("{start}{line}").trim_end());
            out.push('\n');
        }
        if k == 0 && heads.is_some() {
            let rule: Vec<String> = widths.iter().chain([&room]).map(|w| "-".repeat(*w)).collect();
            out.push_str(&format!("{}\n", rule.join(GAP)));
        }
    }
    out
}

/// Lines of at most `room` characters, broken between words; one empty line for an empty text.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

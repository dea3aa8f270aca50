//! Groups of claims: by paper and by topic.

use crate::theorem::{Record, TOPICS, Topic, claim::topic, find};

/// A paper that claims are grouped by.
pub struct CitedPaper {
    /// arXiv number.
    pub id: &'static str,
    /// Authors and title.
    pub summary: String,
}

/// A group of claims, by the indices of their records.
pub struct Group {
    /// Anchor for links.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Indices of its records.
    pub records: Vec<usize>,
}

/// Title of the group of claims that cite no paper of the list.
const OTHER_SOURCES: &str = "Other sources: books, surveys, talks, derivations of this program";

/// Groups by paper. Every record appears once, under the first paper that its claim cites. Papers
/// with more claims come first; within a paper claims are ordered by theorem number. Claims that
/// cite no paper of the list come last.
pub fn by_paper(records: &[Record], papers: &[CitedPaper]) -> Vec<Group> {
    let cited: Vec<Option<(usize, TheoremNumber)>> =
        records.iter().map(|r| cited_theorem(r, papers)).collect();
    let group = |wanted: Option<usize>, name: &str, title: String| {
        let mut found: Vec<(TheoremNumber, usize)> = Vec::new();
        for (k, place) in cited.iter().enumerate() {
            if place.map(|(paper, _)| paper) == wanted {
                found.push((place.map_or(NO_NUMBER, |(_, place)| place), k));
            }
        }
        // Ties keep the order of the records.
        found.sort_unstable();
        Group { name: name.to_owned(), title, records: found.into_iter().map(|(_, k)| k).collect() }
    };
    let title = |p: &CitedPaper| {
        format!(
            "arXiv:{}{}",
            p.id,
            if p.summary.is_empty() { String::new() } else { format!(" {}", p.summary) }
        )
    };
    let mut groups: Vec<Group> =
        papers.iter().enumerate().map(|(k, p)| group(Some(k), p.id, title(p))).collect();
    groups.sort_by_key(|g| std::cmp::Reverse(g.records.len()));
    groups.push(group(None, "other", OTHER_SOURCES.to_owned()));
    groups.retain(|g| !g.records.is_empty());
    groups
}

/// Groups by topic, in the order of the topics; records keep their order. Every record of a
/// registered claim appears once.
pub fn by_topic(records: &[Record]) -> Vec<Group> {
    let of = |t: &Topic| {
        let inside = |k: &usize| topic(records[*k].name).is_some_and(|found| found.name == t.name);
        Group {
            name: t.name.to_owned(),
            title: t.title.to_owned(),
            records: (0..records.len()).filter(inside).collect(),
        }
    };
    let mut groups: Vec<Group> = TOPICS.iter().map(|t| of(t)).collect();
    groups.retain(|g| !g.records.is_empty());
    groups
}

/// Chapter and number of a theorem. Letters of appendices sort after numbers.
type TheoremNumber = (u32, u32);

/// Sorts after all numbers.
const NO_NUMBER: TheoremNumber = (u32::MAX, 0);

/// The first paper that a claim cites, and the place in it.
fn cited_theorem(record: &Record, papers: &[CitedPaper]) -> Option<(usize, TheoremNumber)> {
    let citation = find(record.name).ok()?.source;
    let found = papers.iter().enumerate().filter_map(|(k, p)| Some((citation.find(p.id)?, k)));
    let (from, paper) = found.min()?;
    Some((paper, number(&citation[from + papers[paper].id.len()..])))
}

/// Words before the number of a theorem.
const NUMBERED: [&str; 8] =
    ["theorem", "lemma", "proposition", "remark", "section", "appendix", "example", "problem"];

/// The first number of a chapter or a theorem in a text: `Theorem 5.1`, `(D.8)`, `section 7`.
pub fn number(text: &str) -> TheoremNumber {
    let mut named = false;
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '.')) {
        let word = word.trim_end_matches('.');
        let (first, second) = word.split_once('.').unwrap_or((word, ""));
        let chapter = match first.chars().next() {
            Some(c) if c.is_ascii_uppercase() && first.len() == 1 => Some(100 + u32::from(c)),
            _ => first.parse::<u32>().ok().filter(|n| *n < 100),
        };
        let item = second.parse::<u32>().ok();
        if let Some(chapter) = chapter.filter(|_| item.is_some() || named && second.is_empty()) {
            return (chapter, item.unwrap_or(0));
        }
        named = NUMBERED.contains(&word.to_lowercase().as_str());
    }
    NO_NUMBER
}

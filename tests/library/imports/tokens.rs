//! Rust text as words: names, `::`, text in quotes, and every other mark by itself; no comments.

/// The words of a source file. Literal texts are kept with one quote on either side, so that they are never names.
pub fn tokens(text: &str) -> Vec<String> {
    let c: Vec<char> = text.chars().collect();
    let at = |k: usize| c.get(k).copied().unwrap_or('\n');
    let (mut out, mut k) = (Vec::new(), 0);
    while k < c.len() {
        let start = k;
        match c[k] {
            '/' if at(k + 1) == '/' => k = end_of_line(&c, k),
            '/' if at(k + 1) == '*' => k = end_of_comment(&c, k),
            '"' => {
                k = end_of_text(&c, k + 1);
                out.push(c[start..k].iter().collect());
            }
            'r' | 'b' if raw_begins(&c, k) => k = end_of_raw(&c, k),
            '\'' if at(k + 1) == '\\' => k = (k + 3..c.len()).find(|e| c[*e] == '\'').map_or(c.len(), |e| e + 1),
            // A character; otherwise a lifetime, whose name is no word.
            '\'' if at(k + 2) == '\'' => k += 3,
            '\'' => k = end_of_name(&c, k + 1),
            ':' if at(k + 1) == ':' => {
                k += 2;
                out.push("::".into());
            }
            x if x.is_alphanumeric() || x == '_' => {
                k = end_of_name(&c, k);
                out.push(c[start..k].iter().collect());
            }
            x => {
                k += 1;
                if !x.is_whitespace() {
                    out.push(x.to_string());
                }
            }
        }
    }
    out
}

fn end_of_line(c: &[char], k: usize) -> usize {
    (k..c.len()).find(|e| c[*e] == '\n').unwrap_or(c.len())
}

fn end_of_comment(c: &[char], mut k: usize) -> usize {
    let mut depth = 0;
    while k + 1 < c.len() {
        match (c[k], c[k + 1]) {
            ('/', '*') => (depth, k) = (depth + 1, k + 1),
            ('*', '/') => (depth, k) = (depth - 1, k + 1),
            _ => {}
        }
        k += 1;
        if depth == 0 {
            return k;
        }
    }
    c.len()
}

fn end_of_text(c: &[char], mut k: usize) -> usize {
    while k < c.len() && c[k] != '"' {
        k += if c[k] == '\\' { 2 } else { 1 };
    }
    (k + 1).min(c.len())
}

/// Whether `r"`, `r#"`, `br"` or the like begin here: not raw names, not words that begin with these letters.
fn raw_begins(c: &[char], k: usize) -> bool {
    let after = k + c[k..].iter().take_while(|x| **x == 'r' || **x == 'b').count();
    let hashes = c[after.min(c.len())..].iter().take_while(|x| **x == '#').count();
    after - k <= 2 && c[k..after].contains(&'r') && c.get(after + hashes) == Some(&'"')
}

fn end_of_raw(c: &[char], k: usize) -> usize {
    let quote = (k..c.len()).find(|e| c[*e] == '"').unwrap_or(c.len());
    let hashes = c[k..quote].iter().filter(|x| **x == '#').count();
    let closes = |e: &usize| c[*e] == '"' && c[e + 1..].iter().take(hashes).filter(|x| **x == '#').count() == hashes;
    (quote + 1..c.len()).find(closes).map_or(c.len(), |e| e + 1 + hashes)
}

fn end_of_name(c: &[char], k: usize) -> usize {
    (k..c.len()).find(|e| !(c[*e].is_alphanumeric() || c[*e] == '_')).unwrap_or(c.len())
}

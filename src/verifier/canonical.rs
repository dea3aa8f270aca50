//! The one way in which certificates are written: words, numbers and lines.

/// Fails with `problem` unless `holds`.
pub(super) fn confirm(holds: bool, problem: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem.into()) }
}

/// Fails unless a text is ASCII without control characters but LF, its words are separated by one
/// blank, and no line is empty: there is one way to write a certificate.
pub(super) fn canonical_lines(text: &str) -> Result<Vec<&str>, String> {
    let lines: Vec<&str> =
        text.strip_suffix('\n').ok_or("the last line has no end")?.split('\n').collect();
    let plain = |l: &&str| {
        let printable = l.bytes().all(|b| (b' '..=b'~').contains(&b));
        printable && l.split(' ').all(|w| !w.is_empty())
    };
    match lines.iter().position(|l| !plain(l)) {
        Some(x) => {
            Err(format!("line {}: other characters than words with one blank between", x + 1))
        }
        None => Ok(lines),
    }
}

/// A whole number as it is printed.
pub(super) fn whole<T: std::str::FromStr + ToString>(word: &str) -> Option<T> {
    word.parse::<T>().ok().filter(|v| v.to_string() == word)
}

/// A double in the shortest decimal digits that give it back.
pub(super) fn real(word: &str) -> Option<f64> {
    let value: f64 = word.parse().ok().filter(|v: &f64| v.is_finite())?;
    (format!("{value:?}") == word && word != "-0.0").then_some(value)
}
/// A number of a list of this length.
pub(super) fn index(word: &str, below: usize) -> Result<usize, String> {
    let number = whole(word).filter(|x| *x < below);
    number.ok_or_else(|| format!("{word} is not a number below {below}"))
}

/// A double as an odd integer times a power of two, `mpk`; 0 is `0p0`.
fn spelled(v: f64) -> String {
    let bits = v.abs().to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i64);
    let (m, k) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    if m == 0 {
        return "0p0".into();
    }
    let zeros = m.trailing_zeros();
    format!("{}{}p{}", if v < 0.0 { "-" } else { "" }, m >> zeros, k + i64::from(zeros))
}

/// The double that a word spells, if it does so in the only way.
pub(super) fn double(word: &str) -> Option<f64> {
    let (m, k) = word.split_once('p')?;
    let (m, k): (i64, i32) = (m.parse().ok()?, k.parse().ok()?);
    let small = m.unsigned_abs() < 1 << 53 && (-1100..=1100).contains(&k);
    // Two halves, because 2^k alone may be no double; a rounded product is spelled otherwise.
    let power = |k: i32| f64::from_bits(((k + 1023) as u64) << 52);
    let value = small.then(|| m as f64 * power(k / 2) * power(k - k / 2))?;
    (value.is_finite() && spelled(value) == word).then_some(value)
}

/// The lines of a file in canonical form, `key word ..`, of which the last is `end`.
pub(super) struct Canonical<'a>(Vec<&'a str>);

impl<'a> Canonical<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, String> {
        let mut lines = canonical_lines(text)?;
        lines.reverse();
        Ok(Self(lines))
    }
    pub(super) fn is(&self, key: &str) -> bool {
        self.0.last().is_some_and(|l| l.split(' ').next() == Some(key))
    }
    /// The words after a key.
    pub(super) fn words(&mut self, key: &str) -> Result<Vec<&'a str>, String> {
        let line = self.0.last().copied().unwrap_or("the end");
        confirm(self.is(key), &format!("a line `{key}` is missing before `{line}`"))?;
        Ok(self.0.pop().unwrap_or("").split(' ').skip(1).collect())
    }
    fn list<T>(&mut self, key: &str, of: fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
        let all: Option<Vec<T>> = self.words(key)?.into_iter().map(of).collect();
        all.ok_or(format!("a number after `{key}` is not in its form"))
    }
    pub(super) fn doubles(&mut self, key: &str) -> Result<Vec<f64>, String> {
        self.list(key, double)
    }
    pub(super) fn double(&mut self, key: &str) -> Result<f64, String> {
        let all = self.doubles(key)?;
        confirm(all.len() == 1, &format!("`{key}` is followed by one number"))?;
        Ok(all[0])
    }
    pub(super) fn whole(&mut self, key: &str) -> Result<usize, String> {
        let all = self.list(key, whole::<usize>)?;
        confirm(all.len() == 1, &format!("`{key}` is followed by one number"))?;
        Ok(all[0])
    }
    /// The last line.
    pub(super) fn end(&mut self) -> Result<(), String> {
        confirm(self.0 == ["end"], "the file does not end here with the line `end`")
    }
}

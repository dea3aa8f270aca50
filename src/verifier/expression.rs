//! Formulas of s, read from text.
//!
//! `sum = [+|-] term {(+|-) term}`, `term = power {(*|/) power}`, `power = base [^ base]`,
//! `base = number | name | function(sum) | (sum)`. A power of a power needs parentheses.

use crate::canonical::confirm;

/// Fails unless the names of parameters are identifiers that mean nothing else, in ascending order,
/// and each occurs in the formula. A parameter called `2` would change the number 2.
pub(super) fn confirm_names(text: &str, functions: &str, names: &[&str]) -> Result<(), String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for name in names {
        let fixed = matches!(*name, "s" | "pi") || functions.split(' ').any(|f| f == *name);
        let identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(letter);
        let used = text.split(|c: char| !letter(c)).any(|word| word == *name);
        confirm(identifier && !fixed && used, &format!("`{name}` is no parameter of the formula"))?;
    }
    confirm(names.windows(2).all(|n| n[0] < n[1]), "the parameters are not in order")
}

/// A formula of s whose numbers and names are constants of a type C.
#[derive(Clone)]
pub(super) enum Expression<C> {
    Constant(C),
    Variable,
    Both(char, Box<Self>, Box<Self>),
    Of(String, Box<Self>),
}

/// The constant of a decimal number or a name.
type Meaning<'a, C> = &'a dyn Fn(&str) -> Option<C>;

/// The characters that are left.
struct Text<'a, C> {
    left: &'a str,
    functions: &'a str,
    constant: Meaning<'a, C>,
}

impl<C> Expression<C> {
    /// Reads a formula. Functions are words of a list. The meaning of numbers and names is that of
    /// a constant: it knows "0".
    ///
    /// **Errors** what is no formula, or longer than 1000 characters.
    pub(super) fn read(text: &str, functions: &str, of: Meaning<C>) -> Result<Self, String> {
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let parts: Vec<&str> = text.split_whitespace().collect();
        let apart = |p: &[&str]| !(p[0].ends_with(inside) && p[1].starts_with(inside));
        confirm(parts.windows(2).all(apart), "two words side by side in a formula")?;
        let dense = parts.concat();
        let short = dense.is_ascii() && dense.len() <= 1000;
        confirm(short && dense.matches('(').count() < 100, "a formula that is no short line")?;
        let mut rest = Text { left: &dense, functions, constant: of };
        let all = rest.sum()?;
        confirm(rest.left.is_empty(), "the formula has a part that is not understood")?;
        Ok(all)
    }
}

impl<C> Text<'_, C> {
    fn next(&mut self, of: &str) -> Option<char> {
        let c = self.left.chars().next().filter(|c| of.contains(*c))?;
        self.left = &self.left[1..];
        Some(c)
    }

    fn take(&mut self, length: usize) -> &str {
        let (word, left) = self.left.split_at(length);
        self.left = left;
        word
    }

    fn sum(&mut self) -> Result<Expression<C>, String> {
        let first = match self.next("+-") {
            None => self.term()?,
            Some(sign) => {
                let zero = self.constant("0")?;
                Expression::Both(sign, Box::new(zero), Box::new(self.term()?))
            }
        };
        self.chain("+-", first, Self::term)
    }

    fn term(&mut self) -> Result<Expression<C>, String> {
        let first = self.power()?;
        self.chain("*/", first, Self::power)
    }

    /// Operands with operators between them, from left to right.
    fn chain(
        &mut self,
        operators: &str,
        mut left: Expression<C>,
        operand: fn(&mut Self) -> Result<Expression<C>, String>,
    ) -> Result<Expression<C>, String> {
        while let Some(sign) = self.next(operators) {
            left = Expression::Both(sign, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<Expression<C>, String> {
        let base = self.base()?;
        if self.next("^").is_none() {
            return Ok(base);
        }
        let exponent = self.base()?;
        confirm(!self.left.starts_with('^'), "a power of a power without parentheses")?;
        Ok(Expression::Both('^', Box::new(base), Box::new(exponent)))
    }

    fn in_parentheses(&mut self) -> Result<Expression<C>, String> {
        let inner = self.sum()?;
        confirm(self.next(")").is_some(), "a parenthesis of the formula is not closed")?;
        Ok(inner)
    }

    fn base(&mut self) -> Result<Expression<C>, String> {
        if self.next("(").is_some() {
            return self.in_parentheses();
        }
        let length = match self.number() {
            0 => self.left.find(|c: char| !(c.is_alphanumeric() || c == '_')),
            length => Some(length),
        };
        let word = self.take(length.unwrap_or(self.left.len())).to_owned();
        if self.next("(").is_some() {
            let known = self.functions.split(' ').any(|f| f == word);
            confirm(known, &format!("unknown function {word}"))?;
            return Ok(Expression::Of(word, Box::new(self.in_parentheses()?)));
        }
        if word == "s" { Ok(Expression::Variable) } else { self.constant(&word) }
    }

    fn constant(&self, word: &str) -> Result<Expression<C>, String> {
        let value = (self.constant)(word).ok_or(format!("unknown constant `{word}`"))?;
        Ok(Expression::Constant(value))
    }

    /// Length of the decimal number that is next: digits with at most one point, and perhaps `e`,
    /// a sign and digits.
    fn number(&self) -> usize {
        let digits = |from: usize| {
            self.left[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(self.left.len() - from)
        };
        let mut end = digits(0);
        if self.left[end..].starts_with('.') {
            end += 1 + digits(end + 1);
        }
        if end > 0 && self.left[end..].starts_with(['e', 'E']) {
            let sign = usize::from(self.left[end + 1..].starts_with(['+', '-']));
            let size = digits(end + 1 + sign);
            end += if size > 0 { 1 + sign + size } else { 0 };
        }
        end
    }
}

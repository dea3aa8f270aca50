//! Certificates of critical points: equilibria of whole clusters, and the signs of the Hessian
//! there.
//!
//! **Equations** `G(y)_q = F(psi y)_q + (1 - |y_q|^2) y_q - sum_a g_a(y) A_a y_q`, where F is the
//! field of USA with the sizes as masses, `2 psi_q = 3 - |y_q|^2`,
//! `g_a = sum_q s_q <A_a p_q, y_q>`, and p are the given points. A zero of G in the box has
//! `|y_q| = 1`: take the inner product with `y_q`, to which F and `A_a y_q` are orthogonal; the box
//! excludes 0. So psi = 1. Then `sum_q s_q <F_q, A_b y_q> = 0`, hence
//! `sum_a g_a <A_a y, A_b y> = 0`, and as the displacements `A_a y` are independent, `g = 0`. So
//! the zeros of G in the box are the critical points on the slice. Krawczyk's test shows that there
//! is exactly one.
//!
//! **Signs**, in the coordinates `sqrt(s_q) e_q`. To first order psi y is y divided by its norm, so
//! at a critical point the derivative S of `F(psi y)` is the Hessian of whole clusters on the
//! tangent spaces and 0 on the radial directions. Let w_a be the displacements there. The matrix
//! `T = S - 2 y y^T - sum_a w_a w_a^T` is symmetric, and it is one of the matrices of Krawczyk's
//! test, in which p also ranges over the box. All matrices between T and the matrix of the test are
//! regular, so they have the same number of positive eigenvalues. T is regular, so the kernel of S
//! is spanned by the radial directions and the rotations; on these T is negative. Deviations within
//! a cluster have the diagonal block of S minus the number of tokens in the cluster, with
//! multiplicity `s_q - 1`.

use crate::canonical::{confirm, whole};
use crate::flow::{System, field, tables};
use crate::number::{I, Reader, count_below, dot, dyadic, eliminate, int, sum};
use crate::phi::Phi;

/// `A y`, where A generates the rotation in a plane.
fn rotation((a, b): (usize, usize), d: usize, y: &[I]) -> Vec<I> {
    let of = |c: usize| match c % d {
        k if k == a => int(0) - &y[c - a + b],
        k if k == b => y[c - b + a].clone(),
        _ => int(0),
    };
    (0..y.len()).map(of).collect()
}

/// The last Taylor coefficient of `sum_q m_q (F + (1 - |y|^2) y)_q` along a path with these
/// coefficients: the coordinates of q.
fn equations(s: &System, path: &[Vec<I>]) -> Vec<I> {
    let (mut t, mut g) = (tables(s), vec![]);
    for (k, y) in path.iter().enumerate() {
        let square = |i: usize, l: usize| {
            sum((0..=l).map(|m| dot(&path[m][i..i + s.d], &path[l - m][i..i + s.d])))
        };
        let twice_psi = |i: usize, l: usize| int(if l == 0 { 3 } else { 0 }) - square(i, l);
        let of =
            |c: usize| sum((0..=k).map(|l| twice_psi(c - c % s.d, l) * &path[k - l][c])).over(2);
        let near: Vec<I> = (0..y.len()).map(of).collect();
        // (1 - |y|^2) y = 2 (psi y - y).
        let of = |(c, f): (usize, &I)| (f + int(2) * (&near[c] - &y[c])) * &s.m[c / s.d];
        g = field(s, &mut t, &near).iter().enumerate().map(of).collect();
    }
    g
}

/// Number of positive and negative eigenvalues of a block, without the radial one, which is
/// negative.
fn block_signs(block: impl Fn(i64) -> Vec<Vec<I>>, d: usize) -> Option<(usize, usize)> {
    let (down, up) = count_below(&int(0), &block(1)).zip(count_below(&int(0), &block(-1)))?;
    Some((up, down.checked_sub(1)?)).filter(|_| up + down == d)
}

/// The inner product of two points, of the pair with the largest weight.
fn largest(beta: &I, points: &[I], d: usize) -> I {
    let pairs = points
        .chunks(d)
        .enumerate()
        .flat_map(|(q, a)| points.chunks(d).take(q).map(move |b| dot(a, b)));
    pairs.max_by_key(|g| beta * g).unwrap_or(int(1)).mid()
}

/// A number as bits and as the equal decimal (for readers), in the form in which it is printed.
fn number(word: &str) -> Option<I> {
    let (bits, decimal) = word.split_once(' ')?;
    let (number, value) = (u64::from_str_radix(bits, 16).ok()?, decimal.parse::<f64>().ok()?);
    let spelled = format!("{number:016x} {value:e}") == word;
    let (m, k) = ((number & ((1 << 52) - 1)) as i64, (number >> 52 & 0x7ff) as i64);
    let m = (if k == 0 { m } else { m | 1 << 52 }) * if value < 0.0 { -1 } else { 1 };
    let same = spelled && value.is_finite() && value.to_bits() == number;
    same.then(|| dyadic(m, k.max(1) - 1075))
}

/// What stands in the file.
enum Json {
    Word(String),
    List(Vec<Json>),
}

impl Json {
    fn text(of: &str) -> Self {
        Self::Word(format!("\"{of}\""))
    }

    fn list(of: impl Iterator<Item = Json>) -> Self {
        Self::List(of.collect())
    }

    /// As it is printed, with one item a line.
    fn print(&self, depth: usize) -> String {
        match self {
            Self::Word(w) => w.clone(),
            Self::List(all) if all.is_empty() => "[]".into(),
            Self::List(all) => {
                let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
                let items: Vec<String> =
                    all.iter().map(|i| format!("{inner}{}", i.print(depth + 1))).collect();
                format!("[\n{}\n{outer}]", items.join(",\n"))
            }
        }
    }
}

/// Kind and version of the certificate, without and with an interaction.
const KIND: &str = "metastable critical point, version 3";
const KIND_OF_INTERACTION: &str = "metastable critical point of an interaction, version 2";

/// What a statement does not exclude.
const NOT_EXCLUDED: &str = "critical points that split a cluster; critical points of the box off \
                            the slice, which may leave the box when they are rotated onto it";

/// The formula of an interaction, from its text and the words of its parameters.
fn interaction(text: &str, words: &[&str]) -> Result<Phi, String> {
    fn of<'a>(p: &[&'a str]) -> Option<(&'a str, I, &'a str)> {
        let word = *p.get(1)?;
        Some((p[0], number(word)?, decimal_of(word)))
    }
    let parameters: Option<Vec<_>> = words.chunks(2).map(of).collect();
    Phi::new(text, &parameters.ok_or("a parameter of phi without value")?)
}

/// The decimal form of a number.
fn decimal_of(word: &str) -> &str {
    word.split_once(' ').map_or(word, |(_, decimal)| decimal)
}

/// The contents of a file.
struct File {
    /// The statement, made from the other fields.
    statement: String,
    phi: Option<Phi>,
    beta: I,
    d: usize,
    sizes: Vec<usize>,
    points: Vec<I>,
    radius: I,
    planes: Vec<(usize, usize)>,
    unstable: usize,
    morse: usize,
}

/// Reads a file, and confirms that it is written as a certificate is.
fn read(text: &str) -> Result<File, String> {
    let r = &mut Reader::new(text, "\n  \"", "{}[],:\"\n");
    let mut fields: Vec<(&str, Json)> = vec![];
    let kind = r.list("kind", None, Some)?.join(", ");
    let known = kind == KIND || kind == KIND_OF_INTERACTION;
    confirm(known, &format!("`{kind}` is not the newest kind: prove the point again"))?;
    // The texts in words are compared with those that are made from the other fields.
    r.list("statement", None, Some)?;
    r.list("not_excluded", None, Some)?;
    let (mut phi, mut beta) = (None, int(0));
    let law;
    if kind == KIND_OF_INTERACTION {
        let formula = r.list("phi", 1, Some)?[0];
        let words = r.list("parameters", None, Some)?;
        let found = interaction(formula, &words)?;
        law = format!("E = (1/2) sum W(<x_i, x_j>) with W' = phi, phi(s) = {}", found.text);
        phi = Some(found);
        let pair = |p: &[&str]| Json::list(p.iter().map(|w| Json::text(w)));
        fields.push(("phi", Json::text(formula)));
        fields.push(("parameters", Json::list(words.chunks(2).map(pair))));
    } else {
        let word = r.list("beta", 1, Some)?[0];
        beta = number(word).ok_or("beta is not in its form")?;
        law = format!("E_beta, beta = {}", decimal_of(word));
        fields.push(("beta", Json::text(word)));
    }
    let whole_number = |r: &mut Reader, key: &'static str| {
        let value = r.list(key, 1, whole::<usize>)?[0];
        Ok::<_, String>(((key, Json::Word(value.to_string())), value))
    };
    let (field, d) = whole_number(r, "d")?;
    fields.push(field);
    let sizes: Vec<usize> = r.list("sizes", None, whole)?;
    fields.push(("sizes", Json::list(sizes.iter().map(|s| Json::Word(s.to_string())))));
    let words = r.list("points", sizes.len().saturating_mul(d), Some)?;
    let points: Option<Vec<I>> = words.iter().map(|w| number(w)).collect();
    let points = points.ok_or("a point is not in its form")?;
    let row = |row: &[&str]| Json::list(row.iter().map(|w| Json::text(w)));
    fields.push(("points", Json::list(words.chunks(d.max(1)).map(row))));
    let word = r.list("radius", 1, Some)?[0];
    let radius = number(word).ok_or("the radius is not in its form")?;
    fields.push(("radius", Json::text(word)));
    let words: Vec<usize> = r.list("rotations", None, whole)?;
    let planes = words.chunks(2).map(|p| (p[0], *p.get(1).unwrap_or(&d))).collect();
    let plane = |p: &[usize]| Json::list(p.iter().map(|v| Json::Word(v.to_string())));
    fields.push(("rotations", Json::list(words.chunks(2).map(plane))));
    let (field, unstable) = whole_number(r, "unstable")?;
    fields.push(field);
    let (field, morse) = whole_number(r, "morse_index")?;
    fields.push(field);
    let statement = format!(
        "among the configurations y of {} whole clusters (all tokens of a cluster at one point of \
         the unit sphere) with every coordinate within {} of the points p and with sum_q s_q <A \
         p_q, y_q> = 0 for each of the listed rotations (A e_b = -e_a, A e_a = e_b for [a, b]; s_q \
         tokens in cluster q), exactly one is a critical point of {law}; the Hessian there on all \
         {} tokens has {unstable} positive and {morse} negative eigenvalues, and its kernel is \
         spanned by {} rotations",
        sizes.len(),
        decimal_of(word),
        sizes.iter().fold(0usize, |s, own| s.saturating_add(*own)),
        words.chunks(2).len()
    );
    let texts =
        [("kind", kind.as_str()), ("statement", &statement), ("not_excluded", NOT_EXCLUDED)];
    fields.splice(0..0, texts.map(|(key, text)| (key, Json::text(text))));
    let lines: Vec<String> =
        fields.iter().map(|(key, value)| format!("  \"{key}\": {}", value.print(1))).collect();
    confirm(
        text == format!("{{\n{}\n}}\n", lines.join(",\n")),
        "the file has other parts, or another order or layout, than a certificate",
    )?;
    Ok(File { statement, phi, beta, d, sizes, points, radius, planes, unstable, morse })
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str) -> Result<String, String> {
    let File { statement, phi, beta, d, sizes, points, radius, planes, unstable, morse } =
        read(text)?;
    let (k, size) = (sizes.len(), points.len());
    let small = radius > int(0)
        && radius < int(1).over(10)
        && beta.up() <= int(1000)
        && (1..=512).contains(&size)
        && d > 1;
    let planar = planes.len() <= size && planes.iter().all(|(a, b)| b < a && *a < d);
    let fits = small && planar && sizes.iter().all(|s| (1..=1 << 20).contains(s));
    confirm(fits, "sizes, beta, the radius or a rotation are out of range")?;
    let y: Vec<I> = points.iter().map(|p| p.around(&radius)).collect();
    confirm(
        y.chunks(d).all(|row| dot(row, row) >= int(1).over(2)),
        "a point is not near the sphere",
    )?;
    let m: Vec<I> = sizes.iter().map(|s| int(*s as i64)).collect();
    let s = System {
        softmax: false,
        causal: false,
        d,
        top: largest(&beta, &points, d),
        beta,
        phi,
        unit: m.clone(),
        gain: vec![int(1); m.len()],
        m,
    };

    // The derivative on the box, column by column: `plain` without the rotations, `f` with them.
    let unit = |c: usize| (0..size).map(|q| int((q == c).into())).collect::<Vec<_>>();
    let plain: Vec<Vec<I>> = (0..size).map(|c| equations(&s, &[y.clone(), unit(c)])).collect();
    let moves: Vec<Vec<I>> = planes.iter().map(|p| rotation(*p, d, &y)).collect();
    let weighted =
        |w: &Vec<I>| w.iter().enumerate().map(|(c, v)| v * &s.m[c / d]).collect::<Vec<I>>();
    let turns: Vec<(Vec<I>, I)> =
        moves.iter().map(|w| (weighted(w), dot(&weighted(w), &y))).collect();
    let column = |q: usize| {
        let twists: Vec<Vec<I>> =
            planes.iter().map(|plane| weighted(&rotation(*plane, d, &unit(q)))).collect();
        let less = |p: usize| {
            sum(turns.iter().zip(&twists).map(|((w, g), twist)| &w[p] * &w[q] + g * &twist[p]))
        };
        (0..size).map(|p| &plain[q][p] - less(p)).collect()
    };
    let f: Vec<Vec<I>> = (0..size).map(column).collect();
    let middle =
        |p: usize| (0..size).map(|q| (&f[q][p] + &f[p][q]).over(2).mid()).chain(unit(p)).collect();
    let mut rows: Vec<Vec<I>> = (0..size).map(middle).collect();
    let up = eliminate(&mut rows).ok_or("the sign of an eigenvalue is not decided")?;
    // If elimination turns the identity into M and leaves the pivots D, the inverse is
    // `M^T D^-1 M`. The test holds for any matrix, so its midpoint is used.
    let part = |q: usize| {
        rows.iter().enumerate().map(|(k, row)| &row[size + q] / &row[k]).collect::<Vec<_>>()
    };
    let parts: Vec<Vec<I>> = (0..size).map(part).collect();
    let entry = |p: usize, q: usize| dot(rows.iter().map(|row| &row[size + p]), &parts[q]).mid();
    let inverse: Vec<Vec<I>> =
        (0..size).map(|p| (0..size).map(|q| entry(p, q)).collect()).collect();
    // Krawczyk's test, where C is the approximate inverse:
    // `|C G(p)|_i + r sum_j |1 - C G'|_ij < r`.
    let value = equations(&s, std::slice::from_ref(&points));
    let off = |p: usize, q: usize| (dot(&inverse[p], &f[q]) - int((p == q).into())).up();
    let bound =
        |p: usize| dot(&inverse[p], &value).up() + sum((0..size).map(|q| off(p, q))) * &radius;
    confirm(
        (0..size).all(|p| bound(p).1 < radius.0),
        "Newton's map does not send the box into itself",
    )?;

    let gram: Vec<Vec<I>> =
        moves.iter().map(|a| moves.iter().map(|b| int(0) - dot(a, b)).collect()).collect();
    let down = (size - up)
        .checked_sub(k + moves.len())
        .filter(|_| count_below(&int(0), &gram) == Some(moves.len()));
    let mut signs = (up, down.ok_or("the rotations are not independent")?);
    for (q, size) in sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
        let itself = &s.m[q] * &s.m[q] * s.weight(&int(1));
        let entry = |a: usize, b: usize| {
            &plain[q * d + b][q * d + a] - if a == b { itself.clone() } else { int(0) }
        };
        let block = |sign: i64| {
            (0..d).map(|a| (0..d).map(|b| int(sign) * entry(a, b)).collect()).collect::<Vec<_>>()
        };
        let (up, down) = block_signs(block, d)
            .ok_or("the sign of an eigenvalue within a cluster is not decided")?;
        signs = (signs.0 + (size - 1) * up, signs.1 + (size - 1) * down);
    }
    let (plus, minus) = signs;
    let found =
        format!("{plus} positive and {minus} negative eigenvalues, not {unstable} and {morse}");
    confirm(signs == (unstable, morse), &found)?;
    Ok(statement)
}

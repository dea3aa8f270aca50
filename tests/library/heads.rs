//! General attention heads against their definition in double-doubles: patterns, memories, large
//! logits, instruction sets, threads, invalid input.

use metastable::attention::Head;
use metastable::attention::heads::{HeadsProblem, HeadsWorkspace, apply, apply_f32, reference};
use metastable::attention::kernel::Weights;
use metastable::attention::pattern::{
    Alibi, BiasTable, Causal, CombinedPattern, FullAttention, Pairs, Pattern, Rotary, Window,
};
use metastable::num::{
    deviation::relative_difference, simd::Isa, stream::Stream, threads::sequentially,
};

/// The number of rows, and the entries row by row.
type Matrix = (usize, Vec<f64>);

fn numbers(count: usize, stream: &mut Stream) -> Vec<f64> {
    let mut out = vec![0.0; count];
    stream.normals(&mut out);
    out
}

fn matrix(rows: usize, columns: usize, stream: &mut Stream) -> Matrix {
    let scale = 1.0 / (columns as f64).sqrt();
    (rows, numbers(rows * columns, stream).into_iter().map(|x| scale * x).collect())
}

fn heads(count: usize, d: usize, (r, s): (usize, usize), stream: &mut Stream) -> Vec<Head> {
    let mut head = || {
        let (q, k, v, o) = (
            matrix(r, d, stream),
            matrix(r, d, stream),
            matrix(s, d, stream),
            matrix(d, s, stream),
        );
        Head::with_output(d, Some(q), Some(k), Some(v), o).expect("shapes agree")
    };
    (0..count).map(|_| head()).collect()
}

/// Tokens, masses and heads of a test.
struct Case {
    x: Vec<f64>,
    memory: Option<Vec<f64>>,
    masses: Vec<f64>,
    d: usize,
    beta: f64,
    heads: Vec<Head>,
}

impl Case {
    /// `n` tokens with unequal masses.
    fn new(n: usize, d: usize, heads: Vec<Head>, stream: &mut Stream) -> Self {
        let masses = (0..n).map(|j| 1.0 + (j % 3) as f64).collect();
        Self { x: numbers(n * d, stream), memory: None, masses, d, beta: 1.0, heads }
    }

    fn problem<'a>(&'a self, pattern: &'a dyn Pattern) -> HeadsProblem<'a> {
        let sources = self.memory.as_deref().unwrap_or(&self.x);
        HeadsProblem {
            queries: &self.x,
            sources,
            masses: &self.masses,
            d: self.d,
            beta: self.beta,
            heads: &self.heads,
            pattern,
            weights: Weights::Softmax,
            isa: Isa::best(),
        }
    }
}

fn run(problem: &HeadsProblem) -> Vec<f64> {
    let mut out = vec![f64::NAN; problem.queries.len()];
    apply(problem, &mut HeadsWorkspace::default(), &mut out).expect("valid");
    out
}

/// Asserts that every instruction set agrees with the definition to 1e-13.
fn assert_agrees(problem: &HeadsProblem, what: &str) {
    let expected = reference(problem).expect("valid");
    for isa in Isa::available() {
        let error = relative_difference(&run(&HeadsProblem { isa, ..*problem }), &expected);
        assert!(error < 1e-13, "{what}, {}: {error:e}", isa.name());
    }
}

fn patterns(
    heads: usize,
    queries: usize,
    sources: usize,
    rank: usize,
) -> Vec<(&'static str, Box<dyn Pattern>)> {
    let biases = (0..queries * sources)
        .map(|k| if k % 7 == 3 { f64::NEG_INFINITY } else { (0.7 * k as f64).sin() })
        .collect();
    let alibi = || Box::new(Alibi::new(heads).expect("heads"));
    let mut all: Vec<(&'static str, Box<dyn Pattern>)> = vec![
        ("everything", Box::new(FullAttention)),
        ("causal", Box::new(Causal)),
        ("window", Box::new(Window::new(3).expect("positive"))),
        ("alibi", alibi()),
        ("causal alibi", Box::new(CombinedPattern::new(vec![Box::new(Causal), alibi()]))),
        ("table", Box::new(BiasTable::biases(queries, sources, biases).expect("lengths agree"))),
    ];
    if rank.is_multiple_of(2) {
        for pairs in [Pairs::Adjacent, Pairs::Halves] {
            let rotary = Rotary::new(10_000.0, pairs, rank).expect("even").with_table(queries / 2);
            all.push((
                "causal rotary",
                Box::new(CombinedPattern::new(vec![Box::new(Causal), Box::new(rotary)])),
            ));
        }
    }
    all
}

#[test]
fn every_pattern_and_shape_agrees_with_the_definition() {
    let mut stream = Stream::new(1, &["heads"]);
    for (n, d, count, r, s) in [
        (1, 2, 1, 1, 3),
        (5, 2, 2, 1, 3),
        (37, 5, 3, 2, 3),
        (131, 24, 2, 13, 9),
        (67, 40, 1, 40, 40),
    ] {
        let heads = heads(count, d, (r, s), &mut stream);
        let case = Case::new(n, d, heads, &mut stream);
        for (name, pattern) in patterns(count, n, n, r) {
            assert_agrees(&case.problem(pattern.as_ref()), &format!("{name}, n {n}, d {d}"));
        }
    }
}

#[test]
fn heads_with_omitted_matrices_agree_with_the_definition() {
    let mut stream = Stream::new(2, &["heads"]);
    let d = 6;
    let (q, k, v) =
        (matrix(d, d, &mut stream), matrix(d, d, &mut stream), matrix(d, d, &mut stream));
    let output =
        Head::with_output(d, None, None, None, matrix(d, d, &mut stream)).expect("shapes agree");
    let all = vec![
        Head::default(),
        Head::new(d, Some(q), None, None).expect("shapes agree"),
        Head::new(d, None, Some(k), Some(v)).expect("shapes agree"),
        output,
    ];
    let mut case = Case::new(29, d, all, &mut stream);
    for beta in [-2.0, 0.0, 1e-300, 3.0] {
        case.beta = beta;
        assert_agrees(&case.problem(&Causal), &format!("beta {beta}"));
        let exponential = Weights::Exponential { log_factor: -1.5 };
        assert_agrees(
            &HeadsProblem { weights: exponential, ..case.problem(&FullAttention) },
            &format!("exponential, beta {beta}"),
        );
    }
}

#[test]
fn logits_up_to_a_million_agree_with_the_definition() {
    let mut stream = Stream::new(3, &["heads"]);
    for (d, r) in [(16, 4), (48, 16)] {
        let heads = heads(2, d, (r, r), &mut stream);
        let mut case = Case::new(50, d, heads, &mut stream);
        // Sources so near each other that logits of about a million differ by about one.
        let centre = numbers(d, &mut stream);
        for beta in [1.0f64, -1.0, 1e3, 1e6, -1e6] {
            let spread = 1.0 / beta.abs();
            let noise = numbers(70 * d, &mut stream);
            case.memory =
                Some(noise.iter().enumerate().map(|(k, x)| centre[k % d] + spread * x).collect());
            case.masses = (0..70).map(|j| 1.0 + (j % 2) as f64).collect();
            case.beta = beta / (r as f64).sqrt();
            for (name, pattern) in patterns(2, 50, 70, r) {
                let problem = case.problem(pattern.as_ref());
                assert_agrees(&problem, &format!("{name}, beta {beta}, d {d}"));
                if beta.abs() > 1e5 && name == "everything" {
                    let (mut work, mut out) = (HeadsWorkspace::default(), vec![0.0; 50 * d]);
                    apply(&problem, &mut work, &mut out).expect("valid");
                    assert!(
                        work.flagged_rows() > 50,
                        "{} of 100 rows are flagged",
                        work.flagged_rows()
                    );
                }
            }
        }
    }
}

#[test]
fn a_memory_or_a_block_of_tokens_can_be_the_sources() {
    let mut stream = Stream::new(4, &["heads"]);
    let heads = heads(2, 8, (4, 4), &mut stream);
    let mut case = Case::new(31, 8, heads, &mut stream);
    case.memory = Some(numbers(203 * 8, &mut stream));
    case.masses = vec![1.0; 203];
    for (name, pattern) in patterns(2, 31, 203, 4) {
        assert_agrees(&case.problem(pattern.as_ref()), name);
    }
    // A block of the tokens as sources is the same as a mask of all other tokens.
    case.memory = None;
    case.masses = vec![1.0; 31];
    let mask = BiasTable::mask(
        31,
        31,
        &(0..31 * 31).map(|k| (10..20).contains(&(k % 31))).collect::<Vec<_>>(),
    )
    .expect("lengths agree");
    let masked = run(&case.problem(&mask));
    let block = HeadsProblem {
        sources: &case.x[80..160],
        masses: &case.masses[10..20],
        ..case.problem(&FullAttention)
    };
    assert!(relative_difference(&run(&block), &masked) < 1e-14);
    assert_agrees(&block, "block");
}

#[test]
fn the_output_of_several_heads_is_the_sum_of_their_outputs() {
    let mut stream = Stream::new(5, &["heads"]);
    let case = Case::new(45, 12, heads(3, 12, (4, 5), &mut stream), &mut stream);
    let together = run(&case.problem(&Causal));
    let mut sum = vec![0.0; together.len()];
    for head in &case.heads {
        let one = run(&HeadsProblem { heads: std::slice::from_ref(head), ..case.problem(&Causal) });
        sum.iter_mut().zip(one).for_each(|(s, x)| *s += x);
    }
    assert!(relative_difference(&sum, &together) < 1e-13);
    // The same heads with O V as the value matrix.
    let collapsed = |h: &Head| {
        let [q, k, v] = h.matrices().map(|m| m.map(<[f64]>::to_vec));
        Head::new(12, q.map(|q| (4, q)), k.map(|k| (4, k)), v.map(|v| (12, v)))
            .expect("shapes agree")
    };
    let heads: Vec<Head> = case.heads.iter().map(collapsed).collect();
    assert!(
        relative_difference(
            &run(&HeadsProblem { heads: &heads, ..case.problem(&Causal) }),
            &together
        ) < 1e-13
    );
}

#[test]
fn rotary_positions_and_alibi_are_invariant_under_a_shift_of_positions() {
    let mut stream = Stream::new(6, &["heads"]);
    let case = Case::new(33, 12, heads(2, 12, (6, 6), &mut stream), &mut stream);
    for pairs in [Pairs::Adjacent, Pairs::Halves] {
        let rotary = Rotary::new(10_000.0, pairs, 6).expect("even");
        let here = run(&case.problem(&rotary));
        for first in [1, 1234, 1_000_003] {
            let error =
                relative_difference(&run(&case.problem(&rotary.clone().starting_at(first))), &here);
            assert!(error < 1e-10, "{pairs:?}, from {first}: {error:e}");
        }
        let other = relative_difference(&run(&case.problem(&FullAttention)), &here);
        assert!((1e-3..f64::INFINITY).contains(&other), "{pairs:?}, without positions: {other:e}");
    }
    // Two more tokens in front, visible to no query, shift every position by two.
    let alibi = || Box::new(Alibi::new(2).expect("heads"));
    let mut later = numbers(24, &mut stream);
    later.extend(&case.x);
    let visible: Vec<bool> = (0..35 * 35).map(|k| k % 35 >= 2).collect();
    let mask = CombinedPattern::new(vec![
        Box::new(BiasTable::mask(35, 35, &visible).expect("lengths agree")),
        alibi(),
    ]);
    let masses: Vec<f64> = [1.0, 1.0].iter().chain(&case.masses).copied().collect();
    let shifted =
        HeadsProblem { queries: &later, sources: &later, masses: &masses, ..case.problem(&mask) };
    assert!(
        relative_difference(&run(&shifted)[24..], &run(&case.problem(alibi().as_ref()))) < 1e-13
    );
}

#[test]
fn rows_without_visible_keys_are_zero_and_counted() {
    let mut stream = Stream::new(7, &["heads"]);
    let mut case = Case::new(30, 4, heads(2, 4, (2, 2), &mut stream), &mut stream);
    let visible: Vec<bool> = (0..900).map(|k| ![3, 17].contains(&(k / 30)) && k % 2 == 0).collect();
    let mask = BiasTable::mask(30, 30, &visible).expect("lengths agree");
    for beta in [1.0, -1.0, 0.0, 1e6] {
        case.beta = beta;
        for single in [false, true] {
            let (mut work, mut out) = (HeadsWorkspace::default(), vec![f64::NAN; 120]);
            let problem = case.problem(&mask);
            let masked = if single {
                apply_f32(&problem, &mut work, &mut out)
            } else {
                apply(&problem, &mut work, &mut out)
            };
            assert_eq!(masked, Ok(2), "beta {beta}");
            let zeros: Vec<usize> = out
                .chunks(4)
                .enumerate()
                .filter(|(_, r)| r.iter().all(|x| *x == 0.0))
                .map(|(i, _)| i)
                .collect();
            assert_eq!(zeros, [3, 17], "beta {beta}");
        }
        assert_agrees(&case.problem(&mask), "masked rows");
    }
}

#[test]
fn single_precision_agrees_to_1e_minus_5() {
    let mut stream = Stream::new(8, &["heads"]);
    let case = Case::new(77, 48, heads(3, 48, (16, 16), &mut stream), &mut stream);
    for (name, pattern) in patterns(3, 77, 77, 16) {
        let problem = case.problem(pattern.as_ref());
        let expected = reference(&problem).expect("valid");
        for isa in Isa::available() {
            let mut out = vec![0.0; expected.len()];
            apply_f32(&HeadsProblem { isa, ..problem }, &mut HeadsWorkspace::default(), &mut out)
                .expect("valid");
            let error = relative_difference(&out, &expected);
            assert!((1e-12..1e-5).contains(&error), "{name}, {}: {error:e}", isa.name());
        }
    }
}

#[test]
fn heads_give_the_same_bytes_for_any_number_of_threads() {
    let mut stream = Stream::new(9, &["heads"]);
    let mut case = Case::new(300, 64, heads(4, 64, (16, 16), &mut stream), &mut stream);
    let causal_alibi =
        CombinedPattern::new(vec![Box::new(Causal), Box::new(Alibi::new(4).expect("heads"))]);
    for beta in [0.25, 1e4] {
        case.beta = beta;
        let bits = |threads: usize| -> Vec<u64> {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| run(&case.problem(&causal_alibi))).iter().map(|x| x.to_bits()).collect()
        };
        let one = bits(1);
        for threads in [2, 3, 8] {
            assert!(one == bits(threads), "{threads} threads, beta {beta}");
        }
    }
}

#[test]
fn a_reused_workspace_allocates_nothing_and_follows_changed_tokens_and_heads() {
    let mut stream = Stream::new(10, &["heads"]);
    let mut case = Case::new(64, 16, heads(2, 16, (8, 8), &mut stream), &mut stream);
    let (mut work, mut out) = (HeadsWorkspace::default(), vec![0.0; 64 * 16]);
    for beta in [0.3, 1e5] {
        case.beta = beta;
        apply(&case.problem(&Causal), &mut work, &mut out).expect("valid");
        case.x.iter_mut().for_each(|x| *x *= 1.01);
        let again = allocation_counter::measure(|| {
            let count = sequentially(|| apply(&case.problem(&Causal), &mut work, &mut out));
            assert_eq!(count, Ok(0));
        });
        assert_eq!(again.count_total, 0, "beta {beta}");
        assert_eq!(out, run(&case.problem(&Causal)));
    }
    case.heads.swap(0, 1);
    case.heads[0] = heads(1, 16, (4, 2), &mut stream).remove(0);
    apply(&case.problem(&Causal), &mut work, &mut out).expect("valid");
    assert_eq!(out, run(&case.problem(&Causal)));
}

#[test]
fn errors_name_the_invalid_input() {
    let mut stream = Stream::new(11, &["heads"]);
    let case = Case::new(4, 3, heads(2, 3, (2, 2), &mut stream), &mut stream);
    let message = |problem: &HeadsProblem, len: usize| {
        apply(problem, &mut HeadsWorkspace::default(), &mut vec![0.0; len])
            .expect_err("invalid input")
            .to_string()
    };
    let good = case.problem(&FullAttention);
    let nan = [0.0, 1.0, f64::NAN, 0.0, 0.0, 0.0];
    let (mask, alibi) =
        (BiasTable::mask(3, 4, &[true; 12]).expect("lengths agree"), Alibi::new(3).expect("heads"));
    let rotary = Rotary::new(100.0, Pairs::Halves, 4).expect("even");
    let wrong_dimension = heads(1, 5, (2, 2), &mut stream);
    let expected = [
        (
            message(&HeadsProblem { queries: &case.x[1..], ..good }, 11),
            "queries: found 11 numbers, expected one or more rows of d = 3",
        ),
        (
            message(&HeadsProblem { sources: &nan, ..good }, 12),
            "sources: found NaN, expected finite numbers (row 1, column 3)",
        ),
        (
            message(&HeadsProblem { masses: &case.masses[1..], ..good }, 12),
            "masses: found 3 numbers, expected one for each of the 4 sources",
        ),
        (
            message(&HeadsProblem { masses: &[1.0, -1.0, 1.0, 1.0], ..good }, 12),
            "mass 2: found -1, expected a finite number >= 0",
        ),
        (
            message(&HeadsProblem { beta: f64::INFINITY, ..good }, 12),
            "beta: found inf, expected a finite number",
        ),
        (message(&good, 11), "output: found 11 numbers, expected 4 x 3 = 12"),
        (
            message(&HeadsProblem { heads: &[], ..good }, 12),
            "heads: found none, expected at least one",
        ),
        (
            message(&HeadsProblem { heads: &wrong_dimension, ..good }, 12),
            "dimension of head 1: found 5, expected d = 3",
        ),
        (
            message(&case.problem(&mask), 12),
            "mask: found 3 queries and 4 sources, expected 4 queries and 4 sources",
        ),
        (
            message(&case.problem(&alibi), 12),
            "ALiBi slopes: found 3, expected one for each of the 2 heads",
        ),
        (
            message(&case.problem(&rotary), 12),
            "rows of Q and K: found 2, expected 4, the rank of the rotary positions",
        ),
    ];
    for (found, wording) in expected {
        assert_eq!(found, wording);
    }
    let weights = Weights::Exponential { log_factor: 800.0 };
    assert!(message(&HeadsProblem { weights, ..good }, 12).contains("beyond double precision"));
    let odd = Rotary::new(100.0, Pairs::Halves, 3).expect_err("odd").to_string();
    assert_eq!(odd, "rotary rank: found 3, expected an even number of rows of Q and K");
    assert!(
        BiasTable::biases(1, 2, vec![0.0, f64::NAN])
            .expect_err("NaN")
            .to_string()
            .contains("(row 1, column 2)")
    );
    let wrong = Head::with_output(3, None, None, Some((2, vec![0.0; 6])), (3, vec![0.0; 9]))
        .expect_err("shapes")
        .to_string();
    assert_eq!(wrong, "O: found a 3 x 3 matrix, expected a 3 x 2 matrix");
}

//! The operators of formulas for the parser.

use super::jet::Jet;
use super::names::FUNCTIONS;
use crate::number::Number;
use exmex::{BinOp, MakeOperators, MatchLiteral, Operator};
use std::marker::PhantomData;

/// The operators over one number type.
#[derive(Clone, Debug)]
pub struct Operators<N>(PhantomData<N>);

impl<N: Number> MakeOperators<Jet<N>> for Operators<N> {
    fn make<'a>() -> Vec<Operator<'a, Jet<N>>> {
        let binary = |repr, apply, prio, is_commutative| {
            Operator::make_bin(repr, BinOp { apply, prio, is_commutative })
        };
        let function: [fn(Jet<N>) -> Jet<N>; FUNCTIONS.len()] = [
            Jet::exp,
            Jet::ln,
            Jet::sqrt,
            Jet::sin,
            Jet::cos,
            Jet::tan,
            Jet::sinh,
            Jet::cosh,
            Jet::tanh,
            Jet::abs,
            Jet::relu,
        ];
        let mut all = vec![
            binary("^", Jet::pow as fn(_, _) -> _, 4, false),
            binary("*", |a, b| a * b, 2, true),
            binary("/", |a, b| a / b, 3, false),
            binary("+", |a, b| a + b, 0, true),
            binary("-", |a, b| a - b, 1, false),
            Operator::make_constant("pi", Jet::constant(N::pi())),
        ];
        let functions = FUNCTIONS.into_iter().zip(function);
        all.extend(functions.map(|(name, f)| Operator::make_unary(name, f)));
        all
    }
}

/// Decimal numbers with an optional exponent.
#[derive(Clone, Debug)]
pub struct Literals;

impl MatchLiteral for Literals {
    fn is_literal(text: &str) -> Option<&str> {
        let end = super::text::number_end(text.as_bytes());
        (end > 0).then(|| &text[..end])
    }
}

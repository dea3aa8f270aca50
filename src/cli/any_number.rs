//! What a benign landscape says about other numbers of tokens: the third-derivative criterion.

use crate::num::formula::Formula;
use crate::proofs::landscape::Tokens;
use crate::theory::third_derivative::{ThirdDerivative, of_interaction};
use serde_json::{Value, json};

/// The condition under which the landscape is benign for any number of tokens with any masses, if
/// it holds at the only beta.
fn criterion(tokens: &Tokens) -> Option<ThirdDerivative> {
    let (low, high) = tokens.beta();
    let phi = match tokens.interaction() {
        Some((text, values)) => Formula::parse(&text, &values),
        None if low.to_bits() == high.to_bits() => Formula::parse("exp(beta*s)", &[("beta", low)]),
        None => return None,
    };
    phi.and_then(|phi| of_interaction(&phi)).ok().filter(ThirdDerivative::holds)
}

/// The two numbers of the condition; null if it does not hold.
pub fn json(tokens: &Tokens) -> Value {
    criterion(tokens).map_or(Value::Null, |c| json!({"ratio": c.ratio, "tau": c.tau}))
}

/// A line; none if the condition does not hold.
pub fn text(tokens: &Tokens) -> String {
    criterion(tokens).map_or(String::new(), |found| {
        format!(
            "any number of tokens with any masses: benign, too, by the third-derivative criterion \
             ({:.3} <= 1, in interval arithmetic; `explain third-derivative`)\n",
            found.ratio
        )
    })
}

//! Names that mean something in every formula.

/// The variable.
pub(super) const VARIABLE: &str = "s";

/// Names of the functions.
pub(super) const FUNCTIONS: [&str; 11] =
    ["exp", "ln", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "relu"];

//! Lipschitz bounds of attention on a ball.

/// `|V| (sqrt n + |A| R^2 (1 + sqrt n))` bounds the derivative of `y_i = sum_j P_ij V x_j`,
/// `P = softmax(<x_i, A x_j>)`, in the Euclidean norm of all n tokens, wherever `|x_i| <= R`;
/// masked attention too.
///
/// `dy_i[h] = sum_j P_ij h_j + Cov_i A^T h_i + sum_j P_ij (x_j - y_i) <x_i, A h_j>` for V = I, and
/// `|P| <= sqrt n`, `|Cov_i| <= R^2`. Compare arXiv:2312.14820.
///
/// ```
/// assert_eq!(metastable::transformer::lipschitz::attention(4, 1.0, 0.5, 2.0), 2.0 + 2.0 * 3.0);
/// ```
pub fn attention(n: usize, value: f64, form: f64, radius: f64) -> f64 {
    let root = (n as f64).sqrt();
    value * (root + form * radius * radius * (1.0 + root))
}

/// `max |gain| / sqrt eps` bounds the derivative of a norm; infinite without eps.
pub fn norm(largest_gain: f64, eps: f64) -> f64 {
    largest_gain / eps.sqrt()
}

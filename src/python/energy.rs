//! `Energy`: the interaction energy and its derivatives.

use crate::arrays::{matrix, number, rows, unit_tokens, vector};
use crate::to_py_err;
use crate::work::{interruptible, start_pool};
use metastable::attention::{self, EnergyScale};
use metastable::sphere::{Tokens, geometry::tangent_basis};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The interaction energy `E = (1/2 beta) sum_ij m_i m_j exp(beta <x_i, x_j>)` (`scale="mean"`;
/// sum, shifted and unit are other normalisations) and its Riemannian derivatives in the metric
/// `sum_i |u_i|^2`. Values that exceed double precision raise `ValueError`; `log_value` is finite
/// for every beta except 0.
///
/// >>> import numpy as np, metastable as ms
/// >>> e = ms.Energy(2.0)
/// >>> x = np.array([[1.0, 0.0], [0.6, 0.8]])
/// >>> bool(abs(e.value(x) - np.exp(2 * x @ x.T).sum() / 16) < 1e-15)
/// True
#[pyclass(frozen, module = "metastable", name = "Energy")]
pub struct Energy {
    energy: attention::Energy,
    scale: String,
}

/// Runs `work` on the thread pool without the interpreter's lock; Ctrl-C raises.
pub fn run_interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> metastable::Result<T> + Send + 'static,
) -> PyResult<T> {
    interruptible(py, &|| (), work)?.map_err(|e| to_py_err(&e))
}

/// Number of pairs times d from which a call can be interrupted; shorter calls run directly.
const INTERRUPTIBLE_WORK: f64 = 1e8;

impl Energy {
    fn evaluate<T: Send + 'static>(
        &self,
        py: Python<'_>,
        x: Tokens,
        work: impl FnOnce(attention::Energy, &Tokens) -> metastable::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let energy = self.energy;
        if x.n() as f64 * x.n() as f64 * x.d() as f64 > INTERRUPTIBLE_WORK {
            return run_interruptible(py, move || work(energy, &x));
        }
        start_pool()?;
        py.detach(|| work(energy, &x)).map_err(|e| to_py_err(&e))
    }
}

#[pymethods]
impl Energy {
    #[new]
    #[pyo3(signature = (beta, scale="mean"))]
    fn new(beta: &Bound<'_, PyAny>, scale: &str) -> PyResult<Self> {
        let beta = number("beta", beta)?;
        if !beta.is_finite() {
            return Err(PyValueError::new_err(format!(
                "beta: found {beta}, expected a finite number"
            )));
        }
        let parsed = EnergyScale::parse(scale).map_err(|e| to_py_err(&e))?;
        Ok(Self { energy: attention::Energy::new(beta, parsed), scale: scale.to_ascii_lowercase() })
    }

    /// Inverse temperature.
    #[getter]
    fn beta(&self) -> f64 {
        self.energy.beta
    }

    /// Normalisation.
    #[getter]
    fn scale(&self) -> &str {
        &self.scale
    }

    /// The energy E.
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy(1.0, "unit").value([[1.0, 0.0]])   # one point: 1
    /// 1.0
    #[pyo3(signature = (tokens, *, masses=None))]
    fn value(
        &self,
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        masses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<f64> {
        self.evaluate(py, unit_tokens(tokens, masses, false)?, |e, x| e.value(x))
    }

    /// log |E|, finite for every beta but 0.
    ///
    /// >>> import metastable as ms
    /// >>> round(ms.Energy(1e4).log_value([[1.0, 0.0]]), 3)   # 1e4 - log 2e4
    /// 9990.097
    #[pyo3(signature = (tokens, *, masses=None))]
    fn log_value(
        &self,
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        masses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<f64> {
        self.evaluate(py, unit_tokens(tokens, masses, false)?, |e, x| e.log_value(x))
    }

    /// The Riemannian gradient, an array of shape (n, d).
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy(1.0).grad([[1.0, 0.0], [-1.0, 0.0]]) + 0.0   # antipodes are critical
    /// array([[0., 0.],
    ///        [0., 0.]])
    #[pyo3(signature = (tokens, *, masses=None))]
    fn grad<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
        masses: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = unit_tokens(tokens, masses, false)?;
        let d = x.d();
        matrix(py, self.evaluate(py, x, |e, x| e.grad(x))?, d)
    }

    /// The Hessian times the tangent part of `u`, both of shape (n, d).
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> ms.Energy(1.0).hess_vec(np.eye(3), np.ones((3, 3))).shape
    /// (3, 3)
    #[pyo3(signature = (tokens, u, *, masses=None))]
    fn hess_vec<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
        u: &Bound<'py, PyAny>,
        masses: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = unit_tokens(tokens, masses, false)?;
        let (d, given) = rows("u", u)?;
        if d != x.d() || given.data.len() != x.coordinates().len() {
            let message = format!(
                "u: found an array of shape {:?}, expected that of the tokens, ({}, {})",
                given.shape,
                x.n(),
                x.d()
            );
            return Err(PyValueError::new_err(message));
        }
        let mut u = given.data;
        x.space().project(d, x.coordinates(), &mut u);
        matrix(py, self.evaluate(py, x, move |e, x| e.hess_vec(x, &u))?, d)
    }

    /// The dense Hessian in the bases of `tangent_basis`, an array of shape (n (d - 1), n (d - 1));
    /// at most 6000 unknowns.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> h = ms.Energy(1.0).hessian(np.eye(3))
    /// >>> h.shape, bool(np.all(h == h.T))
    /// ((6, 6), True)
    #[pyo3(signature = (tokens, *, masses=None))]
    fn hessian<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
        masses: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = unit_tokens(tokens, masses, false)?;
        let (energy, size) = (self.energy, x.n() * (x.d() - 1));
        matrix(py, run_interruptible(py, move || energy.hessian(&x))?, size)
    }

    /// The n (d - 1) eigenvalues of the Hessian, ascending.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> found = ms.Energy(1.0).eigenvalues([[1.0, 0.0], [1.0, 0.0]])
    /// >>> bool(np.allclose(found, [-np.e / 2, 0.0]))   # tokens separate, tokens rotate together
    /// True
    #[pyo3(signature = (tokens, *, masses=None))]
    fn eigenvalues<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
        masses: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (x, energy) = (unit_tokens(tokens, masses, false)?, self.energy);
        Ok(vector(py, run_interruptible(py, move || energy.hessian_eigenvalues(&x))?))
    }

    /// The number of negative eigenvalues of the Hessian; the flow increases E, so its unstable
    /// directions belong to positive eigenvalues.
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy(1.0).morse_index([[1.0, 0.0], [1.0, 0.0]])
    /// 1
    #[pyo3(signature = (tokens, *, masses=None))]
    fn morse_index(
        &self,
        py: Python<'_>,
        tokens: &Bound<'_, PyAny>,
        masses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let (x, energy) = (unit_tokens(tokens, masses, false)?, self.energy);
        Ok(run_interruptible(py, move || energy.hessian_spectrum(&x))?.inertia().0)
    }

    /// An orthonormal basis of the tangent space of every token, an array of shape (n, d - 1, d).
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy.tangent_basis([[1.0, 0.0]])
    /// array([[[-0.,  1.]]])
    #[staticmethod]
    fn tangent_basis<'py>(
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let x = unit_tokens(tokens, None, false)?;
        let all: Vec<f64> = x.rows().flat_map(tangent_basis).collect();
        matrix(py, all, x.d())?.call_method1("reshape", ((x.n(), x.d() - 1, x.d()),))
    }

    fn __repr__(&self) -> String {
        format!("metastable.Energy({}, '{}')", self.energy.beta, self.scale)
    }

    fn __getnewargs__(&self) -> (f64, &str) {
        (self.energy.beta, &self.scale)
    }
}

//! `Energy` and `InteractionEnergy`: energies of tokens and their derivatives.

use crate::arrays::{
    Masses, Object, PyMatrix, PyVector, matrix, number, rows, unit_tokens, vector,
};
use crate::interaction::Interaction;
use crate::to_py_err;
use crate::work::{interruptible, start_pool};
use metastable::attention::{self, EnergyScale, HessianSpectrum, interaction};
use metastable::sphere::{Tokens, geometry::tangent_basis};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Number of pairs times d from which a call can be interrupted; shorter calls run directly.
const INTERRUPTIBLE_WORK: f64 = 1e8;

/// An energy at unit vectors: the bodies of all methods that both classes have.
struct EnergyAt<'py, E> {
    py: Python<'py>,
    energy: E,
    x: Tokens,
    /// True if a sum over all pairs takes too little time to be interrupted.
    is_short: bool,
}

/// A function of an energy and of tokens.
type OfTokens<E, T> = fn(&E, &Tokens) -> metastable::Result<T>;

impl<'py, E: Send + 'static> EnergyAt<'py, E> {
    /// Evaluates f without the interpreter's lock. Unless `is_short`, Ctrl-C raises.
    fn evaluate<T: Send + 'static>(
        self,
        f: impl FnOnce(&E, &Tokens) -> metastable::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let Self { py, energy, x, is_short } = self;
        let work = move || f(&energy, &x);
        let found = if is_short {
            start_pool()?;
            py.detach(work)
        } else {
            interruptible(py, &|| (), work)?
        };
        found.map_err(|e| to_py_err(&e))
    }

    /// Evaluates f, which takes longer than a sum over all pairs; Ctrl-C raises.
    fn interruptible<T: Send + 'static>(self, f: OfTokens<E, T>) -> PyResult<T> {
        Self { is_short: false, ..self }.evaluate(f)
    }

    /// A gradient, an array of shape (n, d).
    fn gradient(self, f: OfTokens<E, Vec<f64>>) -> PyMatrix<'py> {
        let (py, d) = (self.py, self.x.d());
        matrix(py, self.evaluate(f)?, d)
    }

    /// A derivative of the gradient along the tangent part of `u`, both of shape (n, d).
    fn derivative_along(
        self,
        u: Object<'_, 'py>,
        f: fn(&E, &Tokens, &[f64]) -> metastable::Result<Vec<f64>>,
    ) -> PyMatrix<'py> {
        let (py, n, d) = (self.py, self.x.n(), self.x.d());
        let given = rows("u", u)?.1;
        let (shape, mut u) = (given.shape, given.data);
        if shape != [n, d] {
            return Err(PyValueError::new_err(format!(
                "u: found an array of shape {shape:?}, expected that of the tokens, ({n}, {d})"
            )));
        }
        self.x.space().project(d, self.x.coordinates(), &mut u);
        matrix(py, self.evaluate(move |e, x| f(e, x, &u))?, d)
    }

    /// A dense Hessian, an array of shape (n (d - 1), n (d - 1)).
    fn hessian(self, f: OfTokens<E, Vec<f64>>) -> PyMatrix<'py> {
        let (py, size) = (self.py, self.x.n() * (self.x.d() - 1));
        matrix(py, self.interruptible(f)?, size)
    }

    /// The eigenvalues of a Hessian.
    fn eigenvalues(self, f: OfTokens<E, HessianSpectrum>) -> PyVector<'py> {
        let py = self.py;
        Ok(vector(py, self.interruptible(f)?.values))
    }

    /// The number of negative eigenvalues of a Hessian.
    fn index(self, f: OfTokens<E, HessianSpectrum>) -> PyResult<usize> {
        Ok(self.interruptible(f)?.inertia().0)
    }
}

/// Writes the methods of a class. Those that both energies have take tokens, masses, and `u` where
/// it is named; the body of each is a method of [`EnergyAt`] with a function of the library. The
/// methods of the class alone follow after `own`.
macro_rules! energy_methods {
    (
        impl $class:ident;
        $($(#$text:tt)+ $name:ident($($u:ident)?) -> $out:ty = $body:ident($f:expr);)+
        own: $($own:tt)*
    ) => {
        #[pymethods]
        impl $class {
            $(
                $(#$text)+
                #[pyo3(signature = (tokens, $($u,)? *, masses=None))]
                fn $name<'py>(
                    &self,
                    tokens: Object<'_, 'py>,
                    $($u: Object<'_, 'py>,)?
                    masses: Masses<'_, 'py>,
                ) -> $out {
                    self.at(tokens, masses)?.$body($($u,)? $f)
                }
            )+

            $($own)*
        }
    };
}

/// The interaction energy `E = (1/(2 beta)) sum_ij m_i m_j exp(beta <x_i, x_j>)` (`scale="mean"`;
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

impl Energy {
    fn at<'py>(
        &self,
        tokens: Object<'_, 'py>,
        masses: Masses<'_, '_>,
    ) -> PyResult<EnergyAt<'py, attention::Energy>> {
        let x = unit_tokens(tokens, masses, false)?;
        let is_short = x.n() as f64 * x.n() as f64 * x.d() as f64 <= INTERRUPTIBLE_WORK;
        Ok(EnergyAt { py: tokens.py(), energy: self.energy, x, is_short })
    }
}

energy_methods! {
    impl Energy;

    /// The energy E.
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy(1.0, "unit").value([[1.0, 0.0]])   # one point: 1
    /// 1.0
    value() -> PyResult<f64> = evaluate(attention::Energy::value);

    /// log |E|, finite for every beta but 0.
    ///
    /// >>> import metastable as ms
    /// >>> round(ms.Energy(1e4).log_value([[1.0, 0.0]]), 3)   # 1e4 - log 2e4
    /// 9990.097
    log_value() -> PyResult<f64> = evaluate(attention::Energy::log_value);

    /// The Riemannian gradient, an array of shape (n, d).
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy(1.0).grad([[1.0, 0.0], [-1.0, 0.0]]) + 0.0   # antipodes are critical
    /// array([[0., 0.],
    ///        [0., 0.]])
    grad() -> PyMatrix<'py> = gradient(attention::Energy::grad);

    /// The Hessian times the tangent part of `u`, both of shape (n, d).
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> ms.Energy(1.0).hess_vec(np.eye(3), np.ones((3, 3))).shape
    /// (3, 3)
    hess_vec(u) -> PyMatrix<'py> = derivative_along(attention::Energy::hess_vec);

    /// The dense Hessian in the bases of `tangent_basis`, an array of shape (n (d - 1), n (d - 1));
    /// at most 6000 unknowns.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> h = ms.Energy(1.0).hessian(np.eye(3))
    /// >>> h.shape, bool(np.all(h == h.T))
    /// ((6, 6), True)
    hessian() -> PyMatrix<'py> = hessian(attention::Energy::hessian);

    /// The n (d - 1) eigenvalues of the Hessian, ascending.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> found = ms.Energy(1.0).eigenvalues([[1.0, 0.0], [1.0, 0.0]])
    /// >>> bool(np.allclose(found, [-np.e / 2, 0.0]))   # tokens separate, tokens rotate together
    /// True
    eigenvalues() -> PyVector<'py> = eigenvalues(attention::Energy::hessian_spectrum);

    /// The number of negative eigenvalues of the Hessian; the flow increases E, so its unstable
    /// directions belong to positive eigenvalues.
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy(1.0).morse_index([[1.0, 0.0], [1.0, 0.0]])
    /// 1
    morse_index() -> PyResult<usize> = index(attention::Energy::hessian_spectrum);

    own:

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

    /// An orthonormal basis of the tangent space of every token, an array of shape (n, d - 1, d).
    ///
    /// >>> import metastable as ms
    /// >>> ms.Energy.tangent_basis([[1.0, 0.0]])
    /// array([[[-0.,  1.]]])
    #[staticmethod]
    fn tangent_basis<'py>(py: Python<'py>, tokens: Object<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
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

/// The energy `E = (1/2) sum_ij m_i m_j W(<x_i, D x_j>)` of an interaction phi = W', with a
/// symmetric matrix D (the identity if `coupling` is None), and its Riemannian derivatives in the
/// metric `sum_i |u_i|^2`. `energy(interaction=...)` makes it.
///
/// >>> import numpy as np, metastable as ms
/// >>> e = ms.InteractionEnergy(ms.Interaction("s^3"))
/// >>> x = np.array([[1.0, 0.0], [0.6, 0.8]])
/// >>> bool(abs(e.value(x) - ((x @ x.T) ** 4).sum() / 32) < 1e-15)
/// True
#[pyclass(frozen, module = "metastable", name = "InteractionEnergy")]
pub struct InteractionEnergy {
    energy: interaction::InteractionEnergy,
    interaction: Py<PyAny>,
    coupling: Option<Py<PyAny>>,
}

impl InteractionEnergy {
    /// The energy at unit vectors of the dimension of D.
    fn at<'py>(
        &self,
        tokens: Object<'_, 'py>,
        masses: Masses<'_, '_>,
    ) -> PyResult<EnergyAt<'py, interaction::InteractionEnergy>> {
        let x = unit_tokens(tokens, masses, false)?;
        match self.energy.form() {
            Some(form) if form.len() != x.d() * x.d() => Err(PyValueError::new_err(format!(
                "coupling: found a matrix of {} numbers, expected a {d} x {d} matrix",
                form.len(),
                d = x.d()
            ))),
            _ => Ok(EnergyAt { py: tokens.py(), energy: self.energy.clone(), x, is_short: false }),
        }
    }
}

energy_methods! {
    impl InteractionEnergy;

    /// The energy.
    ///
    /// >>> import metastable as ms
    /// >>> ms.InteractionEnergy("power:p=3").value([[1.0, 0.0]])
    /// 0.125
    value() -> PyResult<f64> = evaluate(|e, x| Ok(e.value(x)));

    /// The Riemannian gradient, an array of shape (n, d).
    ///
    /// >>> import metastable as ms
    /// >>> ms.InteractionEnergy("power:p=3").grad([[1.0, 0.0], [0.0, 1.0]]) + 0.0
    /// array([[0., 0.],
    ///        [0., 0.]])
    grad() -> PyMatrix<'py> = gradient(|e, x| Ok(e.grad(x)));

    /// The Hessian times the tangent part of `u`, both of shape (n, d).
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> ms.InteractionEnergy("cosh").hess_vec(np.eye(3), np.ones((3, 3))).shape
    /// (3, 3)
    hess_vec(u) -> PyMatrix<'py> = derivative_along(|e, x, u| Ok(e.hess_vec(x, u)));

    /// The dense Hessian in the bases of `Energy.tangent_basis`, at most 6000 unknowns.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> h = ms.InteractionEnergy("cosh").hessian(np.eye(3))
    /// >>> h.shape, bool(np.allclose(h, h.T))
    /// ((6, 6), True)
    hessian() -> PyMatrix<'py> = hessian(interaction::InteractionEnergy::hessian);

    /// The n (d - 1) eigenvalues of the Hessian, ascending.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> found = ms.InteractionEnergy("s^3").eigenvalues([[1.0, 0.0], [1.0, 0.0]])
    /// >>> bool(np.allclose(found, [-0.5, 0.0]))   # tokens separate, tokens rotate together
    /// True
    eigenvalues() -> PyVector<'py> = eigenvalues(interaction::InteractionEnergy::hessian_spectrum);

    /// The number of negative eigenvalues of the Hessian.
    ///
    /// >>> import metastable as ms
    /// >>> ms.InteractionEnergy("s^3").morse_index([[1.0, 0.0], [1.0, 0.0]])
    /// 1
    morse_index() -> PyResult<usize> = index(interaction::InteractionEnergy::hessian_spectrum);

    own:

    #[new]
    #[pyo3(signature = (interaction, coupling=None))]
    fn new(interaction: &Bound<'_, PyAny>, coupling: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let text = match Interaction::text_of(interaction)? {
            Some(text) => text,
            None => interaction.extract::<String>().map_err(|_| {
                PyTypeError::new_err("interaction: expected an Interaction, a text or a function")
            })?,
        };
        let phi = interaction::Interaction::parse(&text, &[]).map_err(|e| to_py_err(&e))?;
        let mut energy = interaction::InteractionEnergy::new(phi);
        if let Some(form) = coupling {
            let (d, form) = rows("coupling", form)?;
            let form = (form.data.len() / d.max(1), form.data);
            energy = energy.with_form(d, form).map_err(|e| to_py_err(&e))?;
        }
        let (interaction, coupling) =
            (interaction.clone().unbind(), coupling.map(|c| c.clone().unbind()));
        Ok(Self { energy, interaction, coupling })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let with = if self.coupling.is_some() { ", coupling=..." } else { "" };
        Ok(format!("metastable.InteractionEnergy({}{with})", self.interaction.bind(py).repr()?))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (&self.interaction, &self.coupling).into_pyobject(py)
    }
}

//! `Interaction`: a function of the inner product, from text or from a Python function, and its
//! energy.

use crate::arrays::{
    Masses, Object, PyMatrix, PyVector, number, numeric_array, rows, unit_tokens, vector,
};
use crate::energy::EnergyAt;
use crate::to_py_err;
use metastable::attention::interaction::{self, ALL};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// A function phi(s) of the inner product s in [-1, 1], in the place of exp(beta s).
///
/// `phi` is a name (`power`, `relu`, `sigmoid`, ..., see `names("interactions")`) or a formula of s
/// with its parameters as keywords; or a Python function of an array, which is sampled at
/// Chebyshev points until the series is exact to rounding. `error` is then the largest difference
/// found at twice as many other points, and else the measured error of the series. The object is
/// accepted as `interaction` by `Dynamics`, `velocity`, `solve`, `energy`, `saddles` and `measure`.
///
/// >>> import numpy as np, metastable as ms
/// >>> cubic = ms.Interaction("s^p", p=3)
/// >>> float(cubic.value(0.5)), cubic.text
/// (0.125, 's^p; p=3')
/// >>> tanh = ms.Interaction(lambda s: 1 + np.tanh(2 * s))
/// >>> tanh.error < 1e-14, tanh.terms < 60
/// (True, True)
#[pyclass(frozen, module = "metastable", name = "Interaction")]
pub struct Interaction {
    phi: interaction::Interaction,
    text: String,
    error: f64,
}

impl Interaction {
    /// The text that the program reads.
    pub fn program_text(&self) -> &str {
        &self.text
    }

    /// From its text and its error; the measured error of the series if none is known.
    fn of_text(text: String, error: Option<f64>) -> PyResult<Self> {
        let phi = interaction::Interaction::parse(&text, &[]).map_err(|e| to_py_err(&e))?;
        let error = error.unwrap_or_else(|| phi.error());
        Ok(Self { phi, text, error })
    }

    /// From a Python function.
    ///
    /// **Errors** an exception of the function, another shape, values that are not finite, a
    /// function that is not smooth.
    pub fn of_function(f: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut raised = None;
        let values = |s: &[f64]| {
            values(f, s).map_err(|e| {
                raised = Some(e);
                metastable::Error::Numerical { what: "the function raised an exception".into() }
            })
        };
        match interaction::Interaction::text_of_values(values) {
            Ok((text, error)) => Self::of_text(text, Some(error)),
            Err(e) => Err(raised.unwrap_or_else(|| to_py_err(&e))),
        }
    }

    /// The text of an argument: an `Interaction`, a text or a function; `None` for other objects.
    pub fn text_of(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        if let Ok(own) = value.cast::<Self>() {
            return Ok(Some(own.get().text.clone()));
        }
        if value.is_callable() {
            return Ok(Some(Self::of_function(value)?.text));
        }
        Ok(None)
    }

    fn mapped<'py>(
        &self,
        s: &Bound<'py, PyAny>,
        f: impl Fn(f64) -> metastable::Result<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = numeric_array("s", s)?;
        let reach = self.phi.reach();
        let at = |s: &f64| {
            if s.abs() <= reach {
                return f(*s).map_err(|e| to_py_err(&e));
            }
            Err(PyValueError::new_err(format!("s: found {s}, expected a number in [-1, 1]")))
        };
        let all = found.data.iter().map(at).collect::<PyResult<Vec<f64>>>()?;
        vector(s.py(), all).call_method1("reshape", (PyTuple::new(s.py(), found.shape)?,))
    }
}

/// The values of a function of an array.
fn values(f: &Bound<'_, PyAny>, s: &[f64]) -> PyResult<Vec<f64>> {
    let py = f.py();
    let answer = f.call1((vector(py, s.to_vec()),)).map_err(|e| {
        let message = format!(
            "interaction: the function raised {e}; expected a function of an array s that returns \
             an array of the same shape"
        );
        let wrapped = PyValueError::new_err(message);
        wrapped.set_cause(py, Some(e));
        wrapped
    })?;
    let wrong = |found: String| {
        let expected = format!("({},), that of s", s.len());
        Err(PyValueError::new_err(format!(
            "interaction: the function returned {found}, expected an array of shape {expected}"
        )))
    };
    if answer.is_none() {
        return wrong("None (is a `return` missing?)".into());
    }
    let found = numeric_array("interaction", &answer)?;
    if found.shape != [s.len()] {
        let shape = PyTuple::new(py, &found.shape)?;
        return wrong(format!("an array of shape {shape}"));
    }
    Ok(found.data)
}

#[pymethods]
impl Interaction {
    #[new]
    #[pyo3(signature = (phi, **parameters))]
    fn new(phi: &Bound<'_, PyAny>, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Vec::new();
        for (key, value) in parameters.into_iter().flatten() {
            let key: String = key.extract()?;
            let value = number(&key, &value)?;
            given.push(format!("{key}={value}"));
        }
        if let Ok(text) = phi.cast::<PyString>() {
            let text = text.to_string();
            let named = ALL.iter().any(|e| e.name == text.trim());
            let mark = if named { ":" } else { "; " };
            let values =
                if given.is_empty() { String::new() } else { mark.to_owned() + &given.join(",") };
            return Self::of_text(text.trim().to_owned() + &values, None);
        }
        if !phi.is_callable() {
            let message = format!(
                "phi: found {}, expected a name, a formula such as \"s^p\" or a function of an array",
                phi.repr()?
            );
            return Err(PyTypeError::new_err(message));
        }
        if let Some(first) = given.first() {
            return Err(PyValueError::new_err(format!(
                "phi: found the parameter {first} together with a function, expected none"
            )));
        }
        Self::of_function(phi)
    }

    /// The text by which the program knows the interaction.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The largest difference found between the function and its series.
    #[getter]
    fn error(&self) -> f64 {
        self.error
    }

    /// The number of terms of the series, the largest one of its pieces.
    #[getter]
    fn terms(&self) -> usize {
        self.phi.terms()
    }

    /// phi(s), of the shape of s.
    ///
    /// >>> import metastable as ms
    /// >>> ms.Interaction("relu", p=2).value([-1.0, 0.5])
    /// array([0.  , 0.25])
    fn value<'py>(&self, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(s, |s| self.phi.value(s))
    }

    /// phi'(s), of the shape of s.
    ///
    /// >>> import metastable as ms
    /// >>> float(ms.Interaction("s^3").derivative(0.5))
    /// 0.75
    fn derivative<'py>(&self, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(s, |s| self.phi.derivative(s))
    }

    /// W(s) with W' = phi, of the shape of s: the energy is the mean of W/2 over all pairs.
    ///
    /// >>> import metastable as ms
    /// >>> float(ms.Interaction("s^3").potential(1.0))
    /// 0.25
    fn potential<'py>(&self, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(s, |s| Ok(self.phi.potential(s)))
    }

    fn __repr__(&self) -> String {
        if self.text.len() <= 80 {
            return format!("metastable.Interaction('{}')", self.text);
        }
        let Self { phi, error, .. } = self;
        format!("<metastable.Interaction of {} terms, error {error:.1e}>", phi.terms())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let rebuild = py.import("metastable._metastable")?.getattr("_rebuild_interaction")?;
        Ok((rebuild, (&self.text, self.error).into_pyobject(py)?))
    }
}

/// Rebuilds a pickled interaction.
#[pyfunction(name = "_rebuild_interaction")]
pub fn rebuild_interaction(text: String, error: f64) -> PyResult<Interaction> {
    Interaction::of_text(text, Some(error))
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

#[pymethods]
impl InteractionEnergy {
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

    /// The energy.
    ///
    /// >>> import metastable as ms
    /// >>> ms.InteractionEnergy("power:p=3").value([[1.0, 0.0]])
    /// 0.125
    #[pyo3(signature = (tokens, *, masses=None))]
    fn value(&self, tokens: Object<'_, '_>, masses: Masses<'_, '_>) -> PyResult<f64> {
        self.at(tokens, masses)?.evaluate(|e, x| Ok(e.value(x)))
    }

    /// The Riemannian gradient, an array of shape (n, d).
    ///
    /// >>> import metastable as ms
    /// >>> ms.InteractionEnergy("power:p=3").grad([[1.0, 0.0], [0.0, 1.0]]) + 0.0
    /// array([[0., 0.],
    ///        [0., 0.]])
    #[pyo3(signature = (tokens, *, masses=None))]
    fn grad<'py>(&self, tokens: Object<'_, 'py>, masses: Masses<'_, 'py>) -> PyMatrix<'py> {
        self.at(tokens, masses)?.gradient(|e, x| Ok(e.grad(x)))
    }

    /// The Hessian times the tangent part of `u`, both of shape (n, d).
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> ms.InteractionEnergy("cosh").hess_vec(np.eye(3), np.ones((3, 3))).shape
    /// (3, 3)
    #[pyo3(signature = (tokens, u, *, masses=None))]
    fn hess_vec<'py>(
        &self,
        tokens: Object<'_, 'py>,
        u: Object<'_, 'py>,
        masses: Masses<'_, 'py>,
    ) -> PyMatrix<'py> {
        self.at(tokens, masses)?.derivative_along(u, |e, x, u| Ok(e.hess_vec(x, u)))
    }

    /// The dense Hessian in the bases of `Energy.tangent_basis`, at most 6000 unknowns.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> h = ms.InteractionEnergy("cosh").hessian(np.eye(3))
    /// >>> h.shape, bool(np.allclose(h, h.T))
    /// ((6, 6), True)
    #[pyo3(signature = (tokens, *, masses=None))]
    fn hessian<'py>(&self, tokens: Object<'_, 'py>, masses: Masses<'_, 'py>) -> PyMatrix<'py> {
        self.at(tokens, masses)?.hessian(interaction::InteractionEnergy::hessian)
    }

    /// The n (d - 1) eigenvalues of the Hessian, ascending.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> found = ms.InteractionEnergy("s^3").eigenvalues([[1.0, 0.0], [1.0, 0.0]])
    /// >>> bool(np.allclose(found, [-0.5, 0.0]))   # tokens separate, tokens rotate together
    /// True
    #[pyo3(signature = (tokens, *, masses=None))]
    fn eigenvalues<'py>(&self, tokens: Object<'_, 'py>, masses: Masses<'_, 'py>) -> PyVector<'py> {
        let at = self.at(tokens, masses)?;
        Ok(vector(at.py, at.interruptible(interaction::InteractionEnergy::hessian_eigenvalues)?))
    }

    /// The number of negative eigenvalues of the Hessian.
    ///
    /// >>> import metastable as ms
    /// >>> ms.InteractionEnergy("s^3").morse_index([[1.0, 0.0], [1.0, 0.0]])
    /// 1
    #[pyo3(signature = (tokens, *, masses=None))]
    fn morse_index(&self, tokens: Object<'_, '_>, masses: Masses<'_, '_>) -> PyResult<usize> {
        let at = self.at(tokens, masses)?;
        Ok(at.interruptible(interaction::InteractionEnergy::hessian_spectrum)?.inertia().0)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let with = if self.coupling.is_some() { ", coupling=..." } else { "" };
        Ok(format!("metastable.InteractionEnergy({}{with})", self.interaction.bind(py).repr()?))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (&self.interaction, &self.coupling).into_pyobject(py)
    }
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

//! Do the tests notice bugs? Dynamics and energies with one deliberate bug each fail the
//! conformance suite, which the real ones pass. NaN in the output of a kernel is an infinite
//! deviation.

use metastable::Result;
use metastable::attention::interaction::{Interaction, InteractionAttention, RowSum};
use metastable::attention::kernel::{self, Attention, Kernel, KernelChoice, Workspace};
use metastable::attention::{
    Dynamics, Energy, EnergyScale, Input, OutputForm, Properties, Spec, Sublayer, dynamics,
};
use metastable::num::deviation::{max_difference, relative_difference};
use metastable::num::{stream::Stream, sum::dot};
use metastable::sphere::{Tokens, geometry::project, law::Law};
use metastable::theorem::conformance::{Check, suite};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bug {
    None,
    WrongSign,
    MissingProjection,
    BetaDoubled,
    SoftmaxNotNormalised,
    ValueTransposed,
    CausalMaskOffByOne,
    MassesIgnored,
    SelfExcluded,
    QueryAndKeySwapped,
    HeadsAveraged,
    NotFinite,
    OnlyNan,
}

/// Attention by plain sums, with one bug.
struct Faulty {
    bug: Bug,
    spec: Spec,
    softmax: bool,
    /// The dynamics without the bug: its properties and its definition.
    right: Dynamics,
}

impl Faulty {
    fn row(&self, x: &Tokens, i: usize, form: OutputForm) -> Vec<f64> {
        let (d, causal) = (x.d(), self.right.properties().causal);
        let times = |m: Option<&[f64]>, v: &[f64]| {
            m.map_or(v.to_vec(), |m| m.chunks_exact(d).map(|r| dot(r, v)).collect::<Vec<f64>>())
        };
        let heads = self.spec.heads.len().max(1);
        let mut total = vec![0.0; d];
        for h in 0..heads {
            let matrices = self.spec.heads.get(h).map(metastable::attention::Head::matrices);
            let [mut q, mut k, v] = matrices.unwrap_or([None; 3]);
            if self.bug == Bug::QueryAndKeySwapped {
                std::mem::swap(&mut q, &mut k);
            }
            let transposed: Option<Vec<f64>> =
                v.map(|v| (0..d * d).map(|p| v[(p % d) * d + p / d]).collect());
            let v = if self.bug == Bug::ValueTransposed { transposed.as_deref() } else { v };
            let beta = self.spec.beta * if self.bug == Bug::BetaDoubled { 2.0 } else { 1.0 };
            let visible = match (causal, self.bug) {
                (true, Bug::CausalMaskOffByOne) => (i + 2).min(x.n()),
                (true, _) => i + 1,
                _ => x.n(),
            };
            let query = times(q, x.row(i));
            let weight = |j: usize| {
                let mass =
                    if self.bug == Bug::MassesIgnored { 1.0 / x.n() as f64 } else { x.masses()[j] };
                let own = if self.bug == Bug::SelfExcluded && j == i { 0.0 } else { 1.0 };
                own * mass * (beta * dot(&query, &times(k, x.row(j)))).exp()
            };
            let weights: Vec<f64> = (0..visible).map(weight).collect();
            let normalise = self.softmax && self.bug != Bug::SoftmaxNotNormalised;
            let mass = if normalise { weights.iter().sum() } else { 1.0 };
            let share = if self.bug == Bug::HeadsAveraged { 1.0 / heads as f64 } else { 1.0 };
            for (j, w) in weights.iter().enumerate() {
                let own = if form == OutputForm::Difference { x.row(i) } else { &[0.0; 3][..] };
                let y: Vec<f64> = x.row(j).iter().zip(own).map(|(a, b)| a - b).collect();
                total.iter_mut().zip(times(v, &y)).for_each(|(t, y)| *t += share * w / mass * y);
            }
        }
        if self.bug == Bug::NotFinite && i == 2 {
            total[0] = f64::NAN;
        }
        total
    }
}

impl Sublayer for Faulty {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        let x = input.tokens;
        for (i, row) in out.chunks_exact_mut(x.d()).enumerate() {
            row.copy_from_slice(&self.row(x, i, form));
            if form == OutputForm::Tangent && self.bug != Bug::MissingProjection {
                project(x.row(i), row);
            }
            if form == OutputForm::Tangent && self.bug == Bug::WrongSign {
                row.iter_mut().for_each(|v| *v = -*v);
            }
        }
        if self.bug == Bug::OnlyNan {
            out.fill(f64::NAN);
        }
    }

    fn properties(&self) -> Properties {
        self.right.properties()
    }

    fn length_scale(&self) -> f64 {
        1.0
    }

    fn definition(&self, input: &Input, form: OutputForm) -> Option<Vec<f64>> {
        self.right.definition(input.t, input.tokens, form)
    }
}

fn checks(name: &str, bug: Bug) -> Vec<Check> {
    let build = |spec: &Spec| -> Result<Dynamics> {
        let right = dynamics::build(name, false, spec)?;
        Ok(Dynamics::single(Faulty {
            bug,
            spec: spec.clone(),
            softmax: name.ends_with("-sa") || name == "sa",
            right,
        }))
    };
    suite(&build, 3).expect("the suite runs")
}

fn failures(name: &str, bug: Bug) -> Vec<Check> {
    // The plain sums of this file have no difference form, so rounding alone may exceed the
    // sharpest bounds. The bound 1e-11 tells rounding from bugs.
    let failed = |c: &Check| c.value.is_nan() || c.value > c.bound.max(1e-11);
    checks(name, bug).into_iter().filter(failed).collect()
}

#[test]
fn plain_sums_without_a_bug_pass() {
    for name in ["sa", "usa", "causal-sa", "causal-usa"] {
        let found = failures(name, Bug::None);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn every_injected_bug_is_detected() {
    let everywhere = [
        Bug::WrongSign,
        Bug::MissingProjection,
        Bug::BetaDoubled,
        Bug::ValueTransposed,
        Bug::MassesIgnored,
        Bug::QueryAndKeySwapped,
        Bug::HeadsAveraged,
        Bug::NotFinite,
    ];
    for name in ["sa", "usa", "causal-sa", "causal-usa"] {
        for bug in everywhere {
            assert!(!failures(name, bug).is_empty(), "{name}: {bug:?} was not detected");
        }
    }
    for name in ["sa", "causal-sa"] {
        assert!(
            !failures(name, Bug::SoftmaxNotNormalised).is_empty()
                && !failures(name, Bug::SelfExcluded).is_empty(),
            "{name}"
        );
    }
    for name in ["causal-sa", "causal-usa"] {
        assert!(!failures(name, Bug::CausalMaskOffByOne).is_empty(), "{name}");
    }
}

#[test]
fn every_check_of_the_suite_fails_where_a_dynamics_gives_only_nan() {
    for entry in dynamics::ALL {
        for check in checks(entry.name, Bug::OnlyNan) {
            assert!(!check.passed(), "{}: {} = {}", entry.name, check.what, check.value);
        }
    }
}

/// The differences of a result are small, and infinite once it has a NaN in the first entry, in the
/// last, everywhere.
fn refuse_planted_nan(found: &[f64], exact: &[f64], name: &str) {
    assert!(relative_difference(found, exact) < 1e-4, "{name}");
    let last = found.len() - 1;
    for (from, to) in [(0, 0), (last, last), (0, last)] {
        let mut bad = found.to_vec();
        bad[from..=to].fill(f64::NAN);
        assert!(max_difference(&bad, exact).is_infinite(), "{name}");
        assert!(max_difference(exact, &bad).is_infinite(), "{name}");
        assert!(relative_difference(&bad, exact).is_infinite(), "{name}");
        assert!(relative_difference(exact, &bad).is_infinite(), "{name}");
        assert!(relative_difference(&bad, &bad).is_infinite(), "{name}");
    }
}

#[test]
fn nan_in_the_output_of_a_kernel_is_an_infinite_deviation() {
    let mut planted = BTreeSet::new();
    for d in [2, 3] {
        let law = Law::parse("uniform").expect("registered");
        let x = law.sample(24, d, &mut Stream::new(5, &["planted"])).expect("valid");
        let velocity = |kernel: &'static dyn Kernel| {
            let choice = KernelChoice::Named(kernel);
            let attention = Attention { kernel: choice, accuracy: 1e-2, ..Attention::new(4.0) };
            let mut out = vec![f64::NAN; 24 * d];
            let done =
                attention.apply(&x, OutputForm::Tangent, &mut Workspace::default(), &mut out);
            done.map(|_| out)
        };
        let exact = velocity(kernel::find("rows").expect("a kernel")).expect("every problem");
        for known in kernel::ALL {
            let Ok(found) = velocity(*known) else { continue };
            planted.insert(known.name());
            refuse_planted_nan(&found, &exact, known.name());
        }
    }
    // Arcs are for interactions with kinks.
    let phi = Interaction::parse("relu(s + 0.9)", &[]).expect("an interaction");
    let exact = InteractionAttention::new(phi, RowSum::Plain).expect("plain weights");
    let arcs = exact.clone().with_accuracy(1e-2);
    let law = Law::parse("uniform").expect("registered");
    let x = law.sample(1500, 2, &mut Stream::new(5, &["planted"])).expect("valid");
    let input = Input { t: 0.0, tokens: &x };
    let velocity = |flow: &InteractionAttention| {
        let mut out = vec![f64::NAN; 3000];
        flow.evaluate(&input, OutputForm::Tangent, &mut Workspace::default(), &mut out);
        out
    };
    let (found, exact) = (velocity(&arcs), velocity(&exact));
    refuse_planted_nan(&found, &exact, "arcs");
    planted.insert(arcs.algorithm(&x, OutputForm::Tangent).expect("a kernel"));
    let all: BTreeSet<&str> = kernel::ALL.iter().map(|k| k.name()).collect();
    assert_eq!(planted, all);
}

/// The number of violated properties of an energy: its value at a Dirac mass, that splitting a mass
/// changes nothing, its gradient.
fn energy_defects(value: &dyn Fn(f64, &Tokens) -> f64) -> usize {
    let beta = 2.0;
    let mut stream = Stream::new(4, &["energy"]);
    let x = Law::parse("uniform")
        .expect("registered")
        .sample(5, 3, &mut stream)
        .expect("valid")
        .with_masses(&[1.0, 2.0, 1.0, 0.5, 1.5])
        .expect("positive");
    let dirac = Tokens::new(3, [0.0, 0.0, 1.0].repeat(4)).expect("unit");
    let differs = |a: f64, b: f64, by: f64| usize::from(max_difference(&[a], &[b]) > by);
    let mut defects = differs(value(beta, &dirac), f64::exp(beta) / (2.0 * beta), 1e-12);
    let (mut coordinates, mut masses) = (x.coordinates().to_vec(), x.masses().to_vec());
    coordinates.extend_from_slice(x.row(1));
    masses[1] *= 0.5;
    masses.push(masses[1]);
    let split = Tokens::new(3, coordinates).expect("unit").with_masses(&masses).expect("positive");
    defects += differs(value(beta, &split), value(beta, &x), 1e-12);
    let g = Energy::new(beta, EnergyScale::Mean).grad(&x).expect("finite");
    let step: Vec<f64> = x.coordinates().iter().zip(&g).map(|(x, g)| x + 1e-6 * g).collect();
    let moved =
        Tokens::normalised(3, step).expect("not zero").with_masses(x.masses()).expect("positive");
    let rate = (value(beta, &moved) - value(beta, &x)) / 1e-6;
    defects + differs(rate / dot(&g, &g), 1.0, 1e-4)
}

#[test]
fn injected_energy_bugs_are_detected() {
    let right =
        |beta: f64, x: &Tokens| Energy::new(beta, EnergyScale::Mean).value(x).expect("finite");
    assert_eq!(energy_defects(&right), 0);
    let without_n2 =
        |beta: f64, x: &Tokens| Energy::new(beta, EnergyScale::Sum).value(x).expect("finite");
    assert!(energy_defects(&without_n2) > 0, "1/n^2 missing");
    assert!(energy_defects(&|beta, x| -right(beta, x)) > 0, "sign");
    assert!(energy_defects(&|beta, x| right(2.0 * beta, x)) > 0, "beta doubled");
    assert!(energy_defects(&|beta, x| 2.0 * right(beta, x)) > 0, "factor 2");
    let equal = |beta: f64, x: &Tokens| {
        right(beta, &Tokens::new(x.d(), x.coordinates().to_vec()).expect("unit"))
    };
    assert!(energy_defects(&equal) > 0, "masses ignored");
    assert_eq!(energy_defects(&|_, _| f64::NAN), 3, "not a number");
}

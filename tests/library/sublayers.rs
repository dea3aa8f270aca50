//! Dynamics beyond attention on the sphere: weights that depend on time, R^d, polar tokens,
//! feed-forward layers, weights that jump at some depths.

use metastable::Result;
use metastable::attention::dense::{Activation, Linear};
use metastable::attention::feed_forward::Mlp;
use metastable::attention::hardmax::Hardmax;
use metastable::attention::kernel::{Attention, Weights, Workspace};
use metastable::attention::layer::Layer;
use metastable::attention::normalisation::{
    Normalisation, Pre, RateDependence, Rescaled, TokenState, Unnormalised, find,
};
use metastable::attention::scheduled::{Layers, Schedule, Scheduled};
use metastable::attention::sinkhorn::Sinkhorn;
use metastable::attention::{Dynamics, Head, Input, OutputForm, Properties, Sublayer};
use metastable::flow::{Options, Outcome, apply_layers, cross_check, solve};
use metastable::num::deviation::{largest, max_difference};
use metastable::num::{dense, stats::nan_min, stream::Stream, sum::dot, vector::max_abs};
use metastable::sphere::{Tokens, law::Law, space::Space};

fn normals(count: usize, name: &str) -> Vec<f64> {
    let mut out = vec![0.0; count];
    Stream::new(3, &["sublayers", name]).normals(&mut out);
    out
}

fn exact() -> Options<'static> {
    Options { rtol: 1e-12, merge_radius: 0.0, ..Options::default() }
}

/// `e^{tM}` of a d x d matrix by its series.
fn exponential(m: &[f64], t: f64) -> Vec<f64> {
    let d = m.len().isqrt();
    let mut sum: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let mut term = sum.clone();
    for k in 1..60 {
        let last = term.clone();
        for (i, v) in term.iter_mut().enumerate() {
            *v = t / f64::from(k)
                * (0..d).map(|l| last[i / d * d + l] * m[l * d + i % d]).sum::<f64>();
        }
        sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
    }
    sum
}

/// The scores of `e^{tV} z`: Q and K are multiplied by it.
struct Growing {
    d: usize,
    v: Vec<f64>,
}

impl Schedule for Growing {
    fn heads(&self, t: f64) -> Vec<Head> {
        let image = || Some((self.d, exponential(&self.v, t)));
        vec![
            Head::new(self.d, image(), image(), Some((self.d, self.v.clone())))
                .expect("square matrices"),
        ]
    }
}

#[test]
fn the_rescaled_flow_with_weights_in_time_is_the_flow_in_rd() -> Result<()> {
    let (n, d, t) = (7, 3, 1.5);
    let v: Vec<f64> = normals(d * d, "value").iter().map(|v| 0.3 * v).collect();
    let start = Tokens::flat(d, normals(n * d, "start"))?;
    let head = Head::new(d, None, None, Some((d, v.clone())))?;
    let plain = Dynamics::single(Attention { heads: vec![head], ..Attention::new(1.0) })
        .with_normalisation(Unnormalised);
    let x = solve(&plain, &start, t, &exact(), &mut [])?;
    let scheduled =
        Scheduled { attention: Attention::new(1.0), schedule: Growing { d, v: v.clone() } };
    let z = solve(
        &Dynamics::single(scheduled).with_normalisation(Rescaled),
        &start,
        t,
        &exact(),
        &mut [],
    )?;
    assert_eq!((&x.outcome, &z.outcome), (&Outcome::Reached, &Outcome::Reached));
    let back = exponential(&v, -t);
    for (x, z) in x.clusters.rows().zip(z.clusters.rows()) {
        let mut expected = vec![0.0; d];
        dense::mat_vec(&back, x, &mut expected);
        assert!(expected.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-8), "{expected:?} {z:?}");
    }
    // Layers with a value matrix are Euler steps of the same flow.
    let scheduled =
        || Scheduled { attention: Attention::new(1.0), schedule: Growing { d, v: v.clone() } };
    let error = |count: usize| -> Result<f64> {
        let (dt, model) =
            (t / count as f64, Dynamics::single(scheduled()).with_normalisation(Rescaled));
        let end = apply_layers(&model, &start, Layer::new(dt)?, count, dt, None, &mut [])?.0;
        Ok(max_difference(end.coordinates(), z.clusters.coordinates()))
    };
    let (coarse, fine) = (error(200)?, error(400)?);
    assert!((coarse / fine - 2.0).abs() < 0.1 && fine < 0.05, "{coarse:e} {fine:e}");
    // The control: scores of z itself, without the growing factor.
    let head = Head::new(d, None, None, Some((d, v)))?;
    let frozen = Dynamics::single(Attention { heads: vec![head], ..Attention::new(1.0) })
        .with_normalisation(Rescaled);
    let other = solve(&frozen, &start, t, &exact(), &mut [])?;
    assert!(
        other
            .clusters
            .coordinates()
            .iter()
            .zip(z.clusters.coordinates())
            .any(|(a, b)| (a - b).abs() > 1e-3)
    );
    Ok(())
}

/// The same attention between directions, in the coordinates `x = r theta` of `R^d`.
struct OfDirections(Attention);

impl Sublayer for OfDirections {
    fn evaluate(&self, input: &Input, _: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        let x = Tokens::normalised(input.tokens.d(), input.tokens.coordinates().to_vec())
            .expect("no zero row");
        self.0.evaluate(&Input { t: input.t, tokens: &x }, OutputForm::Sum, work, out);
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn length_scale(&self) -> f64 {
        self.0.length_scale()
    }
}

#[test]
fn pre_norm_in_polar_form_is_its_equation_in_rd() -> Result<()> {
    let (n, d, t) = (9, 3, 2.5);
    let directions = Law::parse("uniform")?.sample(n, d, &mut Stream::new(1, &["pre"]))?;
    let radii: Vec<f64> = (0..n).map(|i| 0.5 + 0.3 * i as f64).collect();
    let rows: Vec<f64> =
        directions.rows().zip(&radii).flat_map(|(x, r)| x.iter().map(move |v| r * v)).collect();
    let polar = Dynamics::single(Attention::new(3.0)).with_normalisation(Pre);
    let start = directions.polar(&radii)?;
    let found = solve(&polar, &start, t, &exact(), &mut [])?.clusters;
    let flat = Dynamics::single(OfDirections(Attention::new(3.0))).with_normalisation(Unnormalised);
    let expected = solve(&flat, &Tokens::flat(d, rows.clone())?, t, &exact(), &mut [])?.clusters;
    let other = cross_check::solve_independently(&polar, &start, t, 1e-12)?;
    for (i, (x, y)) in found.rows().zip(expected.rows()).enumerate() {
        let r = found.extra_numbers()[i];
        assert!(
            x.iter().zip(y).all(|(x, y)| (r * x - y).abs() < 1e-10 * r),
            "token {i}: {r} {x:?} {y:?}"
        );
        assert!((other[n * d + i] / r - 1.0).abs() < 1e-10);
    }
    // Layers are Euler steps of both.
    let error = |x: &Tokens| {
        let deviation = |(x, y): (&[f64], &[f64])| -> f64 {
            x.iter().zip(y).map(|(a, b)| (a - b / dot(y, y).sqrt()).abs()).sum()
        };
        largest(x.rows().zip(expected.rows()).map(deviation))
    };
    let mut layers = Vec::new();
    for count in [100, 200] {
        layers.push(error(
            &apply_layers(
                &polar,
                &start,
                Layer::new(t / count as f64)?,
                count,
                1.0,
                None,
                &mut [],
            )?
            .0,
        ));
    }
    assert!((layers[0] / layers[1] - 2.0).abs() < 0.1, "{layers:?}");
    assert!(
        solve(&polar, &Tokens::flat(d, rows)?, t, &exact(), &mut []).is_err(),
        "tokens of another space"
    );
    Ok(())
}

/// A feed-forward layer of `W_1`, `b_1`, `W_2`, `b_2`.
fn mlp([first, shift, second, last]: [Vec<f64>; 4], activation: Activation) -> Result<Mlp> {
    let (d, h) = (last.len(), shift.len());
    Mlp::new(
        "mlp",
        Linear::new("W_1", d, first, shift)?,
        None,
        Linear::new("W_2", h, second, last)?,
        activation,
    )
}

#[test]
fn feed_forward_layers_add_to_attention() -> Result<()> {
    let (d, h) = (4, 6);
    let x = Law::parse("uniform")?.sample(5, d, &mut Stream::new(2, &["mlp"]))?;
    let mlp = mlp([h * d, h, d * h, d].map(|k| normals(k, &format!("mlp {k}"))), Activation::Gelu)?;
    let sum = Dynamics::single(Attention::new(2.0)).with_sublayer(mlp.clone());
    let parts =
        [Dynamics::single(Attention::new(2.0)).velocity(&x), Dynamics::single(mlp).velocity(&x)];
    for (k, v) in sum.velocity(&x).iter().enumerate() {
        assert!((v - parts[0][k] - parts[1][k]).abs() < 1e-14);
    }
    let facts = sum.properties();
    assert!(facts.common_field && !facts.rotation_equivariant && facts.energy_sign == 0);
    // Published values of both forms of GELU (rounded from 60 digits).
    assert!((Activation::Gelu.value(2.0) - 1.954_499_736_103_641_6).abs() < 3e-15);
    let worst = (0..6000)
        .map(|k| f64::from(k) * 1e-3)
        .map(|x| (Activation::Gelu.value(x) - Activation::GeluTanh.value(x)).abs());
    assert!((largest(worst) - 4.7324e-4).abs() < 1e-8);
    Ok(())
}

#[test]
fn no_step_crosses_a_depth_at_which_weights_jump() -> Result<()> {
    let (d, start) = (3, Law::parse("uniform")?.sample(6, 3, &mut Stream::new(4, &["jumps"]))?);
    let heads: Vec<Vec<Head>> = (0..4)
        .map(|k| {
            Ok(vec![Head::new(d, None, None, Some((d, normals(d * d, &format!("layer {k}")))))?])
        })
        .collect::<Result<_>>()?;
    let trained = Dynamics::single(Scheduled {
        attention: Attention::new(1.0),
        schedule: Layers::new(heads.clone())?,
    });
    let found = solve(&trained, &start, 3.5, &exact(), &mut [])?;
    let mut x = start;
    for (k, head) in heads.iter().enumerate() {
        let layer = Dynamics::single(Attention { heads: head.clone(), ..Attention::new(1.0) });
        x = solve(&layer, &x, if k == 3 { 0.5 } else { 1.0 }, &exact(), &mut [])?.clusters;
    }
    assert!(
        x.coordinates()
            .iter()
            .zip(found.clusters.coordinates())
            .all(|(a, b)| (a - b).abs() < 1e-10)
    );
    assert!(
        found.stats.rejected < 20,
        "too many rejected steps, so the jumps were not known: {:?}",
        found.stats
    );
    assert!(Layers::new(Vec::new()).is_err());
    Ok(())
}

#[test]
fn spaces_and_normalisations_are_found_by_name_and_refuse_wrong_numbers() -> Result<()> {
    assert_eq!(find("pre")?.space().extra_per_token(), 1);
    assert!(find("pst").expect_err("unknown").to_string().contains("`post`"));
    let x = Tokens::from_angles(&[0.0, 1.0])?;
    assert!(
        x.clone().polar(&[1.0]).is_err()
            && x.clone().polar(&[1.0, 0.0]).is_err()
            && x.clone().polar(&[1.0, f64::NAN]).is_err()
    );
    assert!(
        Tokens::flat(2, vec![1.0, f64::INFINITY]).is_err()
            && Tokens::flat(0, vec![1.0]).is_err()
            && Tokens::flat(2, vec![]).is_err()
    );
    // Sums and differences in R^d, against the definition in double-doubles.
    let flat = Tokens::flat(3, normals(15, "flat"))?.with_masses(&[1.0, 2.0, 0.5, 1.0, 3.0])?;
    for weights in [Weights::Softmax, Weights::Exponential { log_factor: -2.0 }] {
        let dynamics = Dynamics::single(Attention { weights, ..Attention::new(0.7) });
        for form in [OutputForm::Sum, OutputForm::Difference] {
            let mut out = vec![0.0; 15];
            dynamics.output(0.0, &flat, form, &mut Workspace::default(), &mut out);
            let exact = dynamics.definition(0.0, &flat, form).expect("attention has a definition");
            let size = max_abs(&exact);
            assert!(
                out.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-14 * size),
                "{form:?} {out:?} {exact:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn sinkhorn_weights_are_doubly_stochastic_and_modes_grow_at_the_known_rate() -> Result<()> {
    for (n, d, beta) in [(1, 2, 3.0), (40, 3, 0.0), (512, 3, 4.0), (200, 8, 30.0), (60, 2, 1000.0)]
    {
        let x = Law::parse("uniform")?.sample(n, d, &mut Stream::new(5, &["sinkhorn"]))?;
        let masses: Vec<f64> = (0..n).map(|i| 1.0 + (i % 5) as f64).collect();
        let x = x.with_masses(&masses)?;
        let (f, residual, rounds) = Sinkhorn::new(beta, 1e-12)?.scaling(&x);
        assert!(
            residual <= 1e-12 && rounds <= 40,
            "n {n} beta {beta}: {residual:e} after {rounds} rounds"
        );
        for i in 0..n {
            let weight =
                |j: usize| f[i] * (beta * (x.inner(i, j) - 1.0)).exp() * f[j] * x.masses()[j];
            let sum: f64 = (0..n).map(weight).sum();
            assert!((sum - 1.0).abs() < 1e-11 * (1.0 + beta), "row {i}: {sum}");
        }
    }
    // The rate of arXiv:2110.11773, k^2 kappa_k / (beta (1 + kappa_k)) = 0.3623420 at beta = 4, k =
    // 2.
    let (n, k, small) = (240, 2.0, 1e-6);
    let grid: Vec<f64> =
        (0..n).map(|i| std::f64::consts::TAU * f64::from(i) / f64::from(n)).collect();
    let x =
        Tokens::from_angles(&grid.iter().map(|t| t + small * (k * t).sin()).collect::<Vec<_>>())?;
    let v = Dynamics::single(Sinkhorn::new(4.0, 1e-14)?).velocity(&x);
    let rate = |i: usize| {
        (x.row(i)[0] * v[2 * i + 1] - x.row(i)[1] * v[2 * i]) / (small * (k * grid[i]).sin())
    };
    assert!((rate(17) - 0.362_342_0).abs() < 2e-7, "{}", rate(17));
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(Sinkhorn::new(wrong, 1e-12).is_err());
    }
    assert!(Sinkhorn::new(1.0, 0.0).is_err());
    Ok(())
}

#[test]
fn hardmax_is_the_limit_of_softmax_and_leaders_stay() -> Result<()> {
    let (n, d) = (20, 2);
    let x = Tokens::flat(d, normals(n * d, "hardmax"))?;
    let hard = Dynamics::single(Hardmax::new(None, 0.0)?).with_normalisation(Rescaled);
    let soft = Dynamics::single(Attention::new(1e5)).with_normalisation(Rescaled);
    let (a, b) = (hard.velocity(&x), soft.velocity(&x));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} {b:?}");
    // A token that leads itself does so forever, and all tokens converge to such leaders.
    let model = Hardmax::new(None, 1e-12)?;
    let first: Vec<usize> =
        (0..n).filter(|i| model.leaders(&x, *i).is_ok_and(|c| c == [*i])).collect();
    let (end, _) = apply_layers(&hard, &x, Layer::new(0.5)?, 400, 1.0, None, &mut [])?;
    // Leaders move only by rounding, when other tokens have reached them.
    assert!(
        !first.is_empty() && first.iter().all(|i| x.space().dist(end.row(*i), x.row(*i)) < 1e-13),
        "leaders moved"
    );
    let nearest = |i: usize| {
        first.iter().map(|j| end.space().dist(end.row(i), end.row(*j))).fold(f64::INFINITY, nan_min)
    };
    assert!((0..n).all(|i| nearest(i) < 1e-6), "a token is not at a leader");
    assert!(
        Hardmax::new(Some(vec![1.0; 3]), 0.0)?.leaders(&x, 0).is_err()
            && Hardmax::new(None, -1.0).is_err()
    );
    Ok(())
}

/// A custom normalisation: `x' = e^{-t} a` in `R^d`.
struct Damped;

impl Normalisation for Damped {
    fn name(&self) -> &'static str {
        "damped"
    }

    fn space(&self) -> Space {
        Space::Flat
    }

    fn form(&self) -> OutputForm {
        OutputForm::Sum
    }

    fn rate_dependence(&self) -> RateDependence {
        RateDependence::Time
    }

    fn rates(&self, token: &TokenState) -> (f64, f64) {
        ((-token.t).exp(), 0.0)
    }

    fn layer(&self, t: f64, eta: f64, _: usize, numbers: &mut [f64], a: &mut [f64]) {
        numbers.iter_mut().zip(a).for_each(|(x, a)| *x += eta * (-t).exp() * *a);
    }
}

/// A custom sublayer: the same velocity for every token.
struct ConstantField;

impl Sublayer for ConstantField {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        out.chunks_exact_mut(3).for_each(|row| row.copy_from_slice(&[3.0, 0.0, 0.0]));
        form.of_sums(input.tokens, out);
    }

    fn properties(&self) -> Properties {
        Properties { common_field: true, autonomous: true, ..Properties::default() }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}

#[test]
fn custom_normalisations_and_sublayers_need_only_the_public_interface() -> Result<()> {
    let start = Tokens::in_space(Space::Flat, 2, 3, vec![0.0, 0.0, 0.0, 1.0, -1.0, 0.0])?;
    let model = Dynamics::single(ConstantField).with_normalisation(Damped);
    let end = solve(&model, &start, 2.0, &exact(), &mut [])?;
    let distance = 1.0 - (-2f64).exp();
    let expected = [3.0 * distance, 0.0, 0.0, 1.0 + 3.0 * distance, -1.0, 0.0];
    assert!(
        end.clusters.coordinates().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-11),
        "{:?}",
        end.clusters
    );
    // Layers are Euler steps of this flow.
    let layers = apply_layers(&model, &start, Layer::new(1e-3)?, 2000, 1e-3, None, &mut [])?.0;
    assert!(
        layers.coordinates().iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-3),
        "{layers:?}"
    );
    let refused = Tokens::in_space(Space::Flat, 2, 3, vec![1.0; 5])
        .expect_err("a number is missing")
        .to_string();
    assert!(refused.contains("found 5, expected 6"), "{refused}");
    Ok(())
}

/// A constant field along the first axis. Its properties may or may not declare the common field.
struct DeclaredField(Properties);

impl Sublayer for DeclaredField {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        for v in out.chunks_exact_mut(input.tokens.d()) {
            v.fill(0.0);
            v[0] = 1.0;
        }
        form.of_sums(input.tokens, out);
    }

    fn properties(&self) -> Properties {
        self.0
    }

    fn length_scale(&self) -> f64 {
        1.0
    }
}

#[test]
fn an_ignored_merge_radius_is_reported() -> Result<()> {
    let x = Tokens::from_angles(&[0.4, -0.3, 1.0])?;
    let end = |common_field: bool, merge_radius: f64| {
        let field =
            Dynamics::single(DeclaredField(Properties { common_field, ..Properties::default() }));
        solve(&field, &x, 1e6, &Options { merge_radius, ..Options::default() }, &mut [])
    };
    // All tokens converge to the axis. They merge there only if the dynamics declares a common
    // field.
    let declared = end(true, 1e-8)?;
    assert!(declared.clusters.n() == 1 && !declared.merging_ignored);
    let undeclared = end(false, 1e-8)?;
    assert!(
        undeclared.clusters.n() == 3 && undeclared.merging_ignored && undeclared.merges.is_empty()
    );
    assert_eq!(undeclared.clusters_within(1e-8).n(), 1);
    // Without a merge radius nothing is ignored.
    assert!(!end(false, 0.0)?.merging_ignored && !end(true, 0.0)?.merging_ignored);
    Ok(())
}

#[test]
fn a_token_that_sees_nothing_stays_under_every_normalisation() -> Result<()> {
    use metastable::attention::model::{Model, PatternSpec};
    use metastable::attention::pattern::BiasTable;
    use metastable::attention::{Spec, normalisation::ALL};
    let (n, d) = (4, 3);
    let rows = Law::parse("uniform")?
        .sample(n, d, &mut Stream::new(4, &["blind"]))?
        .coordinates()
        .to_vec();
    // Token 1 sees no key; the others see all keys.
    let mask = BiasTable::mask(n, n, &(0..n * n).map(|k| k / n != 1).collect::<Vec<_>>())?;
    for scheme in ALL {
        let name = scheme.name();
        let rescaled = name == "rescaled";
        let model = Model {
            normalisation: (!rescaled).then(|| name.to_owned()),
            rescaled,
            patterns: vec![PatternSpec::Table(mask.clone())],
            ..Model::default()
        };
        assert_eq!(model.tokens_without_keys(n, d, false)?, 1);
        let x = model.tokens_from_rows(d, rows.clone(), false, None)?;
        let dynamics = model.build("sa", false, &Spec::new(2.0, n), d)?;
        let v = dynamics.velocity(&x);
        assert!(v.iter().all(|v| v.is_finite()), "{name}: {v:?}");
        let end = solve(&dynamics, &x, 2.0, &exact(), &mut [])?;
        assert!(end.outcome.is_success(), "{name}: {:?}", end.outcome);
        // If x stays, z = e^{-tV} x moves with velocity -z.
        let stays = if rescaled { (-2f64).exp() } else { 1.0 };
        let deviation =
            |row: &[f64]| largest(row.iter().zip(x.row(1)).map(|(a, b)| (a - stays * b).abs()));
        assert!(deviation(end.clusters.row(1)) < 1e-11, "{name}");
        assert!(rescaled || v[d..2 * d].iter().all(|v| *v == 0.0), "{name}: {v:?}");
        assert!(
            x.extra_numbers().is_empty()
                || (v[n * d + 1] == 0.0 && (end.clusters.extra_numbers()[1] - 1.0).abs() < 1e-15),
            "{name}: its radius"
        );
        // The other tokens move.
        assert!(v[..d].iter().any(|v| v.abs() > 1e-3), "{name}: {v:?}");
        // Layers leave it in place too, even mean shift, which replaces every token that sees a
        // key.
        for eta in [0.1, f64::INFINITY] {
            // Only schemes that normalise allow infinite steps.
            if rescaled
                || (eta.is_infinite() && !(x.extra_numbers().is_empty() && x.space().is_unit()))
            {
                continue;
            }
            let (last, _) = apply_layers(&dynamics, &x, Layer::new(eta)?, 3, 1.0, None, &mut [])?;
            assert!(
                last.row(1).iter().zip(x.row(1)).all(|(a, b)| (a - b).abs() < 1e-15),
                "{name}, eta = {eta}"
            );
        }
    }
    Ok(())
}

#[test]
fn outputs_of_any_size_have_a_direction() -> Result<()> {
    /// A pull of the given size towards the second axis.
    struct Pull(f64);
    impl Sublayer for Pull {
        fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
            out.copy_from_slice(&[0.6 * self.0, 0.8 * self.0]);
            form.of_sums(input.tokens, out);
        }
        fn properties(&self) -> Properties {
            Properties::default()
        }
        fn length_scale(&self) -> f64 {
            1.0
        }
    }
    let x = Tokens::from_angles(&[0.0])?;
    let polar = Tokens::from_angles(&[0.0])?.polar(&[2.0])?;
    // The squares of the first and the last size are beyond f64, so nGPT and peri must not divide
    // by squared lengths.
    for size in [1e-300, 1e-160, 1e-20, 1.0, 1e160, 1e300] {
        let v = Dynamics::single(Pull(size)).with_normalisation(find("ngpt")?).velocity(&x);
        assert!(v[0].abs() < 1e-15 && (v[1] - 0.8).abs() < 1e-15, "{size:e}: {v:?}");
        let v = Dynamics::single(Pull(size)).with_normalisation(find("peri")?).velocity(&polar);
        assert!((v[1] - 0.4).abs() < 1e-15 && (v[2] - 0.6).abs() < 1e-15, "{size:e}: {v:?}");
    }
    let v = Dynamics::single(Pull(0.0)).with_normalisation(find("peri")?).velocity(&polar);
    assert!(v.iter().all(|v| *v == 0.0), "{v:?}");
    Ok(())
}

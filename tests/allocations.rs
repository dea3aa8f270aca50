//! No step allocates after the first one. The counter counts allocations of the whole process, so
//! this file is a separate test binary.

use metastable::attention::kernel::{ALL, KernelChoice, Workspace};
use metastable::attention::{Spec, dynamics};
use metastable::flow::observable::{self, RunParameters, linear_times};
use metastable::flow::{Options, Recorder, solve, solve_many};
use metastable::num::{stream::Stream, threads::sequentially};
use metastable::sphere::law::Law;

#[test]
fn steps_do_not_allocate() {
    for (name, n, d) in [("sa", 24, 2), ("usa", 24, 3), ("causal-sa", 24, 3), ("sa", 40, 12)] {
        let x = Law::parse("uniform")
            .expect("registered")
            .sample(n, d, &mut Stream::new(4, &["allocations"]))
            .expect("valid");
        let dynamics = dynamics::build(name, false, &Spec::new(4.0, n)).expect("registered");
        // Two runs that differ only in their number of steps, and that end before the first merge.
        let run = |t_end: f64, max_steps: u64| {
            let options = Options { rtol: 1e-12, max_steps, ..Options::default() };
            let mut steps = 0;
            let info = allocation_counter::measure(|| {
                steps = sequentially(|| solve(&dynamics, &x, t_end, &options, &mut []))
                    .expect("valid")
                    .stats
                    .steps;
            });
            (info.count_total, steps)
        };
        run(1.0, 30);
        let (short, long) = (run(1.0, 3), run(1.0, 13));
        assert!(long.1 > short.1 + 5, "{name}: {} and {} steps", short.1, long.1);
        assert_eq!(
            short.0, long.0,
            "{name} n {n} d {d}: allocations of {} and {} steps",
            short.1, long.1
        );
    }
}

#[test]
fn steps_of_an_ensemble_do_not_allocate() -> metastable::Result<()> {
    let sample =
        |k: u64| Law::parse("uniform")?.sample(16, 2, &mut Stream::new(k, &["allocations"]));
    let starts = (0..11).map(sample).collect::<metastable::Result<Vec<_>>>()?;
    let share = observable::find("pair-share")?;
    let sa = dynamics::build("sa", false, &Spec::new(4.0, 16))?;
    // With the same number of samples a longer run allocates no more, although it merges tokens.
    let run = |t_end: f64| {
        let parameters = RunParameters { n: 16, d: 2, beta: 4.0 };
        let recorder = |_| Recorder::new(parameters, linear_times(t_end, 20), false, vec![share]);
        let mut recorders: Vec<Recorder> = starts.iter().map(recorder).collect();
        let options = Options { rtol: 1e-8, merge_radius: 1e-2, ..Options::default() };
        let (mut evaluations, mut merges) = (0, 0);
        let info = allocation_counter::measure(|| {
            for end in sequentially(|| solve_many(&sa, &starts, t_end, &options, &mut recorders))
                .expect("valid")
            {
                (evaluations, merges) = (evaluations + end.evaluations, merges + end.merges);
            }
        });
        (info.count_total, evaluations, merges)
    };
    run(30.0);
    let (short, long) = (run(8.0), run(30.0));
    assert!(long.1 > short.1 + 100 && long.2 > short.2, "{short:?} {long:?}");
    // The first merges may enlarge up to four buffers.
    assert!(
        long.0 <= short.0 + 4,
        "{} and {} allocations of {} and {} evaluations",
        short.0,
        long.0,
        short.1,
        long.1
    );
    Ok(())
}

#[test]
fn no_kernel_allocates_in_its_second_evaluation() {
    for (n, d) in [(24, 2), (24, 3), (40, 12), (300, 30)] {
        let x = Law::parse("uniform")
            .expect("registered")
            .sample(n, d, &mut Stream::new(5, &["allocations"]))
            .expect("valid");
        for kernel in ALL {
            let spec =
                Spec { kernel: KernelChoice::Named(*kernel), accuracy: 1e-2, ..Spec::new(4.0, n) };
            let dynamics = dynamics::build("sa", false, &spec).expect("registered");
            if dynamics.kernel(&x).is_err() {
                continue;
            }
            let mut v = vec![0.0; n * d];
            let mut work = Workspace::default();
            let mut run = || sequentially(|| dynamics.rates(0.0, &x, &mut work, &mut v));
            run();
            assert_eq!(
                allocation_counter::measure(run).count_total,
                0,
                "{} n {n} d {d}",
                kernel.name()
            );
        }
    }
}

//! Results are the same bytes for 1, 2, 3 and 8 threads, and for resumed and uninterrupted runs.

use metastable::attention::kernel::Workspace;
use metastable::attention::{Energy, EnergyScale, Spec, dynamics};
use metastable::flow::{Options, solve};
use metastable::lab::{Experiment, run::run, store::Store};
use metastable::num::stream::Stream;
use metastable::sphere::law::Law;
use std::sync::atomic::AtomicBool;

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[test]
fn velocities_energies_and_trajectories_do_not_depend_on_threads() {
    let x = Law::parse("uniform")
        .expect("registered")
        .sample(300, 5, &mut Stream::new(1, &["threads"]))
        .expect("valid");
    let work = || {
        let sa = dynamics::build("sa", false, &Spec::new(6.0, x.n())).expect("registered");
        let mut v = vec![0.0; 1500];
        sa.rates(0.0, &x, &mut Workspace::default(), &mut v);
        let end = solve(&sa, &x, 0.5, &Options { rtol: 1e-6, ..Options::default() }, &mut [])
            .expect("runs");
        let log = Energy::new(6.0, EnergyScale::Mean).log_value(&x).expect("finite");
        let bits: Vec<u64> =
            v.iter().chain(end.clusters.coordinates()).chain([&log]).map(|v| v.to_bits()).collect();
        bits
    };
    let one = with_threads(1, work);
    for threads in [2, 3, 8] {
        assert!(one == with_threads(threads, work), "{threads} threads give other bytes than one");
    }
}

#[test]
fn experiments_do_not_depend_on_threads_or_resuming() {
    // Runs one by one, then in ensembles: several, whose runs end at different times.
    assert_same_bytes(
        "name = 'small'\nn = [6, 9]\nd = 3\nbeta = [1, 4]\nt_end = 20\nrealisations = 3\nsamples = 5",
    );
    let ensembles = "observables = ['pair-share']\nmean = true\nmerge_radius = 1e-3\nrtol = 1e-6";
    assert_same_bytes(&format!(
        "name = 'lanes'\nn = 12\nd = [2, 5]\nbeta = [1, 4]\nt_end = 20\nrealisations = 70\nsamples = 30\n{ensembles}"
    ));
}

fn assert_same_bytes(text: &str) {
    let experiment = Experiment::parse("small.toml", text).expect("valid");
    let cancel = AtomicBool::new(false);
    let results =
        |store: &Store| std::fs::read(store.folder().join("results.csv")).expect("written");
    let mut all = Vec::new();
    for threads in [1, 2, 3, 8] {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            with_threads(threads, || run(&experiment, folder.path(), &cancel, &()).expect("runs"));
        all.push(results(&store));
        // After one cell is deleted, a second run restores the same bytes and writes no other cell.
        let cells: Vec<_> =
            std::fs::read_dir(store.folder().join("cells")).expect("cells").flatten().collect();
        let kept = cells[1].path().join("record.json");
        let modified = std::fs::metadata(&kept).expect("a record").modified().expect("a time");
        std::fs::remove_dir_all(cells[0].path()).expect("removed");
        drop(store);
        let store = run(&experiment, folder.path(), &cancel, &()).expect("resumes");
        all.push(results(&store));
        assert_eq!(
            modified,
            std::fs::metadata(&kept).expect("a record").modified().expect("a time"),
            "a finished cell was written a second time"
        );
    }
    assert!(all.iter().all(|r| *r == all[0]));
}

#[test]
fn a_new_cell_does_not_change_the_ids_of_others() {
    let parse = |beta: &str| {
        Experiment::parse("x.toml", &format!("name='x'\nn=5\nd=2\nbeta={beta}\nt_end=1"))
            .expect("valid")
    };
    let (small, large) = (parse("[1, 2]"), parse("[1, 1.5, 2]"));
    let ids = |e: &Experiment| metastable::lab::plan(e).iter().map(|c| c.id(e)).collect::<Vec<_>>();
    assert!(ids(&small).iter().all(|id| ids(&large).contains(id)));
}

#[test]
fn damaged_records_are_detected_and_computed_again() {
    let experiment =
        Experiment::parse("x.toml", "name='damaged'\nn=5\nd=2\nbeta=1\nt_end=1\nsamples=4")
            .expect("valid");
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = AtomicBool::new(false);
    let id = metastable::lab::plan(&experiment)[0].id(&experiment);
    let cell = {
        let store = run(&experiment, folder.path(), &cancel, &()).expect("runs");
        store.folder().join("cells").join(&id)
    };
    let path = cell.join("table.npy");
    let intact = std::fs::read(&path).expect("written");
    let reader = Store::reader(folder.path(), &experiment).expect("a store");
    for k in 0..intact.len() {
        let mut flipped = intact.clone();
        flipped[k] ^= 1 << (k % 8);
        std::fs::write(&path, &flipped).expect("writable");
        assert!(!reader.has(&id), "a flipped bit in byte {k} was accepted");
        std::fs::write(&path, &intact[..k]).expect("writable");
        assert!(!reader.has(&id), "a file cut at byte {k} was accepted");
    }
    run(&experiment, folder.path(), &cancel, &()).expect("runs again");
    assert_eq!(
        intact,
        std::fs::read(&path).expect("written"),
        "the second run must write the same bytes"
    );
}

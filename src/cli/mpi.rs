//! One run distributed over MPI processes: `mpirun -n P metastable solve --mpi ...` (feature
//! `mpi`). Without the feature there is a single process.

use super::session::Session;
use crate::attention::kernel::KernelChoice;
use crate::error::Result;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

#[cfg(feature = "mpi")]
pub use with_mpi::init;

/// **Errors** always: this program was built without MPI.
#[cfg(not(feature = "mpi"))]
pub fn init() -> Result<SingleProcess> {
    Err(crate::error::Error::parameter(
        "--mpi",
        "a program built without MPI",
        "one built with `cargo install --path . --features mpi`",
    ))
}

/// A run in one process.
#[cfg(not(feature = "mpi"))]
pub struct SingleProcess;

#[cfg(not(feature = "mpi"))]
impl SingleProcess {
    /// Ends the run.
    pub fn finish<T>(self, result: Result<T>) -> Result<T> {
        result
    }
}

/// The kernel: the distributed one in a run with `--mpi`.
///
/// **Errors** if another kernel was named.
pub fn choose_kernel(choice: KernelChoice) -> Result<KernelChoice> {
    #[cfg(feature = "mpi")]
    if let Some(kernel) = with_mpi::kernel() {
        return match choice {
            KernelChoice::Named(named) => Err(crate::error::Error::parameter(
                "--kernel",
                named.name(),
                "auto: with --mpi the kernel is `blocks`",
            )),
            KernelChoice::Auto => Ok(KernelChoice::Named(kernel)),
        };
    }
    Ok(choice)
}

/// True for the root process, which prints and writes.
pub fn is_root() -> bool {
    #[cfg(feature = "mpi")]
    if with_mpi::kernel().is_some() {
        return with_mpi::rank() == 0;
    }
    true
}

/// The flag that ends a run early. It is set by Ctrl-C; with MPI, once all processes know of it.
pub fn cancel_flag(session: &Session) -> &AtomicBool {
    #[cfg(feature = "mpi")]
    if with_mpi::kernel().is_some() {
        return &with_mpi::CANCEL_ALL;
    }
    session.cancel_flag()
}

/// Returns `own` if every process could prepare its run and all have the same settings.
///
/// **Errors** the error of this process; that another process failed; other settings than those of
/// the root.
pub fn agree<T>(settings: &Value, own: Result<T>) -> Result<T> {
    #[cfg(feature = "mpi")]
    if with_mpi::kernel().is_some() {
        return with_mpi::agree(settings, own);
    }
    let _ = settings;
    own
}

#[cfg(feature = "mpi")]
mod with_mpi {
    use crate::attention::kernel::{self, Kernel};
    use crate::error::{Error, Result};
    use crate::lab::provenance::hash;
    use mpi::Threading;
    use mpi::collective::SystemOperation;
    use mpi::datatype::PartitionMut;
    use mpi::environment::Universe;
    use mpi::topology::SimpleCommunicator;
    use mpi::traits::{Communicator as _, CommunicatorCollectives};
    use serde_json::Value;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// MPI, initialised until this is dropped.
    pub struct MpiSession(#[expect(dead_code, reason = "dropped at the end")] Universe);

    impl MpiSession {
        /// Ends the run. Tells the other processes of an error that came before all had started.
        pub fn finish<T>(self, result: Result<T>) -> Result<T> {
            if STARTED.load(Ordering::Relaxed) { result } else { agree(&Value::Null, result) }
        }
    }

    /// Set when every process has prepared its run.
    static STARTED: AtomicBool = AtomicBool::new(false);

    /// Set when a process was interrupted and all processes know it.
    pub static CANCEL_ALL: AtomicBool = AtomicBool::new(false);

    static KERNEL: OnceLock<kernel::Distributed> = OnceLock::new();

    pub fn kernel() -> Option<&'static dyn Kernel> {
        KERNEL.get().map(|k| k as &dyn Kernel)
    }

    pub fn rank() -> usize {
        SimpleCommunicator::world().rank() as usize
    }

    /// Initialises MPI, until the session is dropped.
    ///
    /// **Errors** an MPI library without threads.
    pub fn init() -> Result<MpiSession> {
        // Sums run on threads; one thread at a time calls MPI.
        let (universe, level) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| Error::Numerical { what: "MPI was initialised twice".into() })?;
        if level < Threading::Serialized {
            return Err(Error::Numerical {
                what: format!("this MPI library does not support threads ({level:?})"),
            });
        }
        KERNEL.get_or_init(|| kernel::Distributed::new(&World));
        if rank() > 0 {
            crate::cli::output::silence();
        }
        Ok(MpiSession(universe))
    }

    /// The processes that `mpirun` started.
    struct World;

    impl kernel::Communicator for World {
        fn size(&self) -> usize {
            SimpleCommunicator::world().size() as usize
        }

        fn rank(&self) -> usize {
            rank()
        }

        /// Each exchange also tells all processes of an interruption.
        fn gather(&self, numbers: &mut [f64], ends: &[usize]) {
            let world = SimpleCommunicator::world();
            let starts: Vec<i32> =
                std::iter::once(0).chain(ends.iter().map(|e| *e as i32)).take(ends.len()).collect();
            let counts: Vec<i32> = ends.iter().zip(&starts).map(|(e, s)| *e as i32 - s).collect();
            let rank = rank();
            let own = numbers[starts[rank] as usize..ends[rank]].to_vec();
            world.all_gather_varcount_into(
                &own[..],
                &mut PartitionMut::new(numbers, counts, starts),
            );
            let (mine, mut any) = (u8::from(super::super::cancel::cancelled()), 0u8);
            world.all_reduce_into(&mine, &mut any, SystemOperation::max());
            if any > 0 {
                CANCEL_ALL.store(true, Ordering::Relaxed);
            }
        }
    }

    pub fn agree<T>(settings: &Value, own: Result<T>) -> Result<T> {
        let world = SimpleCommunicator::world();
        // Hash of the settings; its last bit says whether this process could prepare its run.
        let head = u64::from_str_radix(&hash(settings.to_string())[..16], 16).unwrap_or(0) & !1;
        let word = head | u64::from(own.is_ok());
        let mut all = vec![0u64; world.size() as usize];
        world.all_gather_into(&word, &mut all[..]);
        STARTED.store(true, Ordering::Relaxed);
        let value = own?;
        if let Some(k) = all.iter().position(|w| w & 1 == 0) {
            return Err(Error::Numerical {
                what: format!("process {k} of {} could not start", all.len()),
            });
        }
        if let Some(k) = all.iter().position(|w| *w != all[0]) {
            let found = format!("in process {k} other settings or tokens than in process 0");
            return Err(Error::parameter(
                "--mpi",
                found,
                "the same command line and files in every process",
            ));
        }
        Ok(value)
    }
}

//! Processes that share one run: `mpirun -n P metastable solve --mpi ...` (feature `mpi`). Without them, one process alone.

use crate::attention::kernel::Choice;
use crate::error::Result;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

#[cfg(feature = "mpi")]
pub use with_mpi::join;

/// **Errors** always: there is no MPI in this program.
#[cfg(not(feature = "mpi"))]
pub fn join() -> Result<Nobody> {
    Err(crate::error::Error::parameter("--mpi", "a program without MPI", "one built with it: cargo install --path . --features mpi"))
}

/// No company.
#[cfg(not(feature = "mpi"))]
pub struct Nobody;

#[cfg(not(feature = "mpi"))]
impl Nobody {
    /// The work is over.
    pub fn left<T>(self, result: Result<T>) -> Result<T> {
        result
    }
}

/// The algorithm of the sums: that of the company, where there is one.
///
/// **Errors** another algorithm asked for by name.
pub fn shared(choice: Choice) -> Result<Choice> {
    #[cfg(feature = "mpi")]
    if let Some(kernel) = with_mpi::kernel() {
        return match choice {
            Choice::Named(named) => {
                Err(crate::error::Error::parameter("--kernel", named.name(), "auto with --mpi, whose processes share the kernel blocks"))
            }
            Choice::Auto => Ok(Choice::Named(kernel)),
        };
    }
    Ok(choice)
}

/// True for the process that prints and writes.
pub fn is_first() -> bool {
    #[cfg(feature = "mpi")]
    if with_mpi::kernel().is_some() {
        return with_mpi::rank() == 0;
    }
    true
}

/// What ends a run early: Ctrl-C, in a company when all have heard of it.
pub fn cancel() -> &'static AtomicBool {
    #[cfg(feature = "mpi")]
    if with_mpi::kernel().is_some() {
        return &with_mpi::AGREED;
    }
    &super::cancel::CANCEL
}

/// What every process is to begin with, if all of them can and have the same settings.
///
/// **Errors** its own, that another process has one, other settings than those of the first.
pub fn agreed<T>(settings: &Value, own: Result<T>) -> Result<T> {
    #[cfg(feature = "mpi")]
    if with_mpi::kernel().is_some() {
        return with_mpi::agreed(settings, own);
    }
    let _ = settings;
    own
}

#[cfg(feature = "mpi")]
mod with_mpi {
    use crate::attention::kernel::{Company, Kernel, Shared};
    use crate::error::{Error, Result};
    use crate::lab::provenance::hash;
    use mpi::Threading;
    use mpi::collective::SystemOperation;
    use mpi::datatype::PartitionMut;
    use mpi::environment::Universe;
    use mpi::topology::SimpleCommunicator;
    use mpi::traits::{Communicator, CommunicatorCollectives};
    use serde_json::Value;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Membership, until it is dropped.
    pub struct Membership(#[expect(dead_code, reason = "dropped at the end")] Universe);

    impl Membership {
        /// The work is over: the others hear of an error that came before all could begin.
        pub fn left<T>(self, result: Result<T>) -> Result<T> {
            if BEGUN.load(Ordering::Relaxed) { result } else { agreed(&Value::Null, result) }
        }
    }

    /// Set when all could begin.
    static BEGUN: AtomicBool = AtomicBool::new(false);

    /// Set when some process was interrupted and all know it.
    pub static AGREED: AtomicBool = AtomicBool::new(false);

    static KERNEL: OnceLock<Shared> = OnceLock::new();

    pub fn kernel() -> Option<&'static dyn Kernel> {
        KERNEL.get().map(|k| k as &dyn Kernel)
    }

    pub fn rank() -> usize {
        SimpleCommunicator::world().rank() as usize
    }

    /// Joins the other processes, until what is returned is dropped.
    ///
    /// **Errors** a library of MPI without threads.
    pub fn join() -> Result<Membership> {
        // Sums run on threads; only one of them at a time speaks to the others.
        let (universe, level) =
            mpi::initialize_with_threading(Threading::Serialized).ok_or_else(|| Error::Numerical { what: "MPI was begun twice".into() })?;
        if level < Threading::Serialized {
            return Err(Error::Numerical { what: format!("this library of MPI has no threads ({level:?})") });
        }
        KERNEL.get_or_init(|| Shared::among(&Peers));
        if rank() > 0 {
            crate::cli::output::silence();
        }
        Ok(Membership(universe))
    }

    /// The processes that `mpirun` started.
    struct Peers;

    impl Company for Peers {
        fn size(&self) -> usize {
            SimpleCommunicator::world().size() as usize
        }

        fn rank(&self) -> usize {
            rank()
        }

        /// An exchange is also where all hear of an interruption.
        fn gather(&self, numbers: &mut [f64], ends: &[usize]) {
            let world = SimpleCommunicator::world();
            let starts: Vec<i32> = std::iter::once(0).chain(ends.iter().map(|e| *e as i32)).take(ends.len()).collect();
            let counts: Vec<i32> = ends.iter().zip(&starts).map(|(e, s)| *e as i32 - s).collect();
            let rank = rank();
            let own = numbers[starts[rank] as usize..ends[rank]].to_vec();
            world.all_gather_varcount_into(&own[..], &mut PartitionMut::new(numbers, counts, starts));
            let (mine, mut any) = (u8::from(super::super::cancel::cancelled()), 0u8);
            world.all_reduce_into(&mine, &mut any, SystemOperation::max());
            if any > 0 {
                AGREED.store(true, Ordering::Relaxed);
            }
        }
    }

    pub fn agreed<T>(settings: &Value, own: Result<T>) -> Result<T> {
        let world = SimpleCommunicator::world();
        // The settings without their last bit, which says whether this process can begin.
        let head = u64::from_str_radix(&hash(settings.to_string())[..16], 16).unwrap_or(0) & !1;
        let word = head | u64::from(own.is_ok());
        let mut all = vec![0u64; world.size() as usize];
        world.all_gather_into(&word, &mut all[..]);
        BEGUN.store(true, Ordering::Relaxed);
        let value = own?;
        if let Some(k) = all.iter().position(|w| w & 1 == 0) {
            return Err(Error::Numerical { what: format!("process {k} of {} could not begin", all.len()) });
        }
        if let Some(k) = all.iter().position(|w| *w != all[0]) {
            let found = format!("process {k} has other settings or tokens than process 0");
            return Err(Error::parameter("--mpi", found, "the same command line and the same files everywhere"));
        }
        Ok(value)
    }
}

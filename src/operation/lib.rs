//! Operations: what a command, a function of Python and a key of a file have in common.
//!
//! An [`Operation`] states once its parameters, its results, its tables and its exit codes. Front
//! ends take flags, keys, keywords, help and errors from this description. The macro
//! [`parameters!`](crate::parameters) writes a struct with typed fields and the table of its
//! [`Parameter`]s from one list.
//!
//! ```
//! use metastable::operation::{Given, Parameters, within};
//!
//! metastable::parameters! {
//!     /// Parameters of a walk.
//!     #[derive(Debug)]
//!     pub struct Walk {
//!         /// Number of steps.
//!         steps: usize, within(1.0, 1e6);
//!         /// Length of a step.
//!         length: f64, within(0.0, 10.0).or("0.5");
//!         /// Print every step.
//!         all: bool;
//!     }
//! }
//!
//! let walk = Walk::of(&Given::of(&[("steps", "3")]))?;
//! assert!(walk.steps == 3 && walk.length == 0.5 && !walk.all);
//! // All problems are reported at once.
//! let e = Walk::of(&Given::of(&[("length", "-1")])).unwrap_err().to_string();
//! assert_eq!(
//!     e,
//!     "steps: found nothing, expected a whole number in [1, 1000000]\n\
//!      length: found -1, expected a number in [0, 10]"
//! );
//! # Ok::<(), metastable::Error>(())
//! ```

mod answer;
pub mod digits;
mod given;
mod parameter;
pub mod path;
pub mod range;
mod value;

pub use answer::{
    Answer, Array, Column, Exit, Operation, Quiet, Rows, Session, Snapshot, Table, column,
};
pub use given::{Given, Parameters};
pub use parameter::{
    Default, Kind, Limits, Parameter, above, any, at_least, below, checked, one_of, within,
};
pub use value::{Numbers, Span, Value};

use metastable_num::error;

#[doc(hidden)]
pub use metastable_num::error::Error as ParameterError;

/// Writes a struct of typed parameters and its table.
///
/// Each field has a comment, which is its help, a name, a type that implements
/// [`Value`](crate::Value), and if it has any, its limits: a range, a default, what it needs or
/// excludes. `..name: Struct;` before the fields includes the parameters of another such struct.
#[macro_export]
macro_rules! parameters {
    ($(#[$m:meta])* $v:vis struct $S:ident {
        $(..$b:ident: $B:ty;)*
        $($(#[doc = $w:literal])+ $f:ident: $t:ty $(, $p:expr)?;)*
    }) => {
        $(#[$m])*
        $v struct $S {
            $(
                /// Parameters of another group.
                pub $b: $B,
            )*
            $($(#[doc = $w])+ pub $f: $t,)*
        }

        impl $crate::Parameters for $S {
            fn table() -> Vec<$crate::Parameter> {
                #[allow(unused_mut, reason = "a struct may consist of groups only")]
                let mut all: Vec<$crate::Parameter> = Vec::new();
                $(all.extend(<$B as $crate::Parameters>::table());)*
                $({
                    #[allow(unused_variables, reason = "a field may have no limits of its own")]
                    let limits = $crate::any();
                    $(let limits = $p;)?
                    all.push(limits.parameter::<$t>(stringify!($f), concat!($($w),+)));
                })*
                all
            }

            fn read(
                given: &$crate::Given,
                table: &mut std::slice::Iter<'_, $crate::Parameter>,
                faults: &mut Vec<$crate::ParameterError>,
            ) -> Option<Self> {
                $(let $b = <$B as $crate::Parameters>::read(given, table, faults);)*
                $(let $f = given.value::<$t>(table.next()?, faults);)*
                Some(Self { $($b: $b?,)* $($f: $f?,)* })
            }
        }
    };
}

//! Which algorithm to use.

use super::job::Kernel;

/// Which algorithm to use.
#[derive(Clone, Copy, Default)]
pub enum Choice {
    /// The cheapest one that keeps the accuracy.
    #[default]
    Auto,
    /// This one.
    Named(&'static dyn Kernel),
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Choice {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named(kernel) => kernel.name(),
        }
    }
}

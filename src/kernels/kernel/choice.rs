//! The choice of a kernel.

use super::algorithm::Kernel;

/// Which kernel to use.
#[derive(Clone, Copy, Default)]
pub enum KernelChoice {
    /// The cheapest kernel that reaches the accuracy.
    #[default]
    Auto,
    /// This kernel.
    Named(&'static dyn Kernel),
}

impl std::fmt::Debug for KernelChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl KernelChoice {
    /// `auto`, or the name of the kernel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named(kernel) => kernel.name(),
        }
    }
}

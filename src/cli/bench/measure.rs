//! `bench measure`: right-hand sides of the continuity equation.

use super::timing::time;
use crate::cli::output::Output;
use crate::continuity::{Medium, circle::Circle, density::Density, sphere2::Sphere2};
use crate::error::{Result, in_range};
use serde_json::json;

/// Flags of `bench measure`.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Fourier modes on the circle.
    #[arg(long, default_value_t = 1024)]
    modes: usize,
    /// Degree on S^2.
    #[arg(long, default_value_t = 128)]
    degree: usize,
    /// sa, usa or sinkhorn (circle only).
    #[arg(long, default_value = "sa")]
    dynamics: String,
    /// Inverse temperature.
    #[arg(long, default_value_t = 5.0, allow_hyphen_values = true)]
    beta: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        in_range("--modes", self.modes as f64, 8.0, 65536.0)?;
        let medium = Medium::new(&self.dynamics, self.beta, 0.0)?;
        let density = Density::parse("vmf:kappa=2,at=1,mass=0.5")?;
        let circle = Circle::from_density(&density, self.modes)?;
        let rates = circle.right_hand_side(&medium);
        let on_circle = time(|| drop(rates(&circle.c))).median;
        let sphere = Sphere2::from_density(&density, self.degree)?;
        let rates = sphere.right_hand_side(&medium);
        let on_sphere = time(|| drop(rates(&sphere.a))).median;
        let json = json!({"circle_seconds": on_circle, "modes": self.modes, "sphere_seconds": on_sphere, "degree": self.degree, "beta": self.beta, "dynamics": self.dynamics});
        let text = format!(
            "{on_circle:.3e} s per right-hand side on the circle ({} modes), {on_sphere:.3e} s on S^2 (L = {})",
            self.modes, self.degree
        );
        out.result(&json, &text);
        Ok(0)
    }
}

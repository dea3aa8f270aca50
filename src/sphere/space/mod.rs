//! Where tokens live: one small trait, one file per space.

mod flat;
mod place;
mod polar;
mod unit;

pub use flat::Flat;
pub use place::Space;
pub use polar::Polar;
pub use unit::Sphere;

/// Space by name. `None` where there is none of that name.
///
/// ```
/// assert_eq!(metastable::sphere::space::find("polar").unwrap().own(), 1);
/// ```
pub fn find(name: &str) -> Option<&'static dyn Space> {
    let all: [&'static dyn Space; 3] = [&Sphere, &Flat, &Polar];
    all.into_iter().find(|s| s.name() == name)
}

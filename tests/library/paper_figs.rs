//! Computations of figures before they are drawn.

use metastable::flow::Table;
use metastable::paper_figs::connections::{covering, horizontal_positions};
use metastable::paper_figs::hessian_spectrum::curves;

#[test]
fn implied_connections_are_left_out_and_levels_are_spread() {
    // Five tokens at beta = 6: sizes 5; 4+1, 3+2; 3+1+1, 2+2+1; 2+1+1+1; 1+1+1+1+1.
    let rows = [
        (1, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (3, 2),
        (4, 0),
        (4, 1),
        (5, 0),
        (5, 1),
        (5, 2),
        (6, 0),
        (6, 2),
    ]
    .map(|(a, b)| [f64::from(a), f64::from(b)]);
    let links = covering(&rows);
    assert_eq!(links, [(1, 0), (2, 0), (3, 2), (4, 1), (5, 1), (5, 2), (6, 2)]);
    let across = horizontal_positions(&[0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0], &links);
    // 3+1+1 leads only to 3+2 and is drawn on its side; 2+2+1 is drawn on the side of 4+1.
    assert!(across[1] < across[2] && across[4] < across[3], "{across:?}");
    assert!(across.iter().all(|x| (0.1..=0.9).contains(x)), "{across:?}");
}

#[test]
fn curves_are_broken_where_a_direction_becomes_stable() {
    let rows = [(1.0, [0.3, 0.002, -0.1]), (2.0, [0.4, 0.002, -0.1]), (3.0, [0.002, -0.2, -0.2])];
    let rows = rows
        .iter()
        .flat_map(|(t, v)| v.iter().enumerate().map(|(k, v)| vec![*t, k as f64, *v]))
        .collect();
    let table = Table { columns: ["t", "k", "eigenvalue"].map(str::to_owned).to_vec(), rows };
    let unstable = curves(&table, 0.5, true);
    let finite = |c: &[(f64, f64)]| c.iter().map(|p| p.1.is_finite()).collect::<Vec<_>>();
    assert_eq!(unstable.len(), 2);
    assert_eq!(finite(&unstable[0]), [true, true, false, true]);
    assert_eq!(finite(&unstable[1]), [true, true, false]);
    assert_eq!(curves(&table, 0.5, false).len(), 2);
}

//! The forest of the merges of a run.

use metastable::clusters::tree::Tree;
use metastable::flow::Merge;

#[test]
fn merges_form_a_tree() {
    let merge = |t: f64, members: &[usize]| Merge {
        t,
        members: members.to_vec(),
        mass: 0.25 * members.len() as f64,
    };
    let tree = Tree::new(&[0.25; 4], &[merge(1.0, &[0, 2]), merge(1e3, &[0, 2, 3])]);
    assert_eq!(tree.order(), [1, 3, 0, 2]);
    assert_eq!(tree.roots, [1, 5]);
    assert_eq!(tree.newick(), "(x2,(x4:9.000000,(x1:6.000000,x3:6.000000):3.000000));");
    assert_eq!(tree.table().rows.len(), 2);
}

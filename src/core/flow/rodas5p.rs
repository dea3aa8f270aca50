//! The coefficients of Steinebach's Rosenbrock method Rodas5P: order 5 with an embedded method of
//! order 4, L-stable, stiffly accurate, with the conditions that keep its order on stiff and
//! differential-algebraic problems, and dense output of order 4 (Steinebach, BIT Numer. Math. 63,
//! 27 (2023)), rounded to double precision. `tests/library/stiff.rs` measures the order and the
//! damping at infinity.

/// `gamma`: the stages solve `(1/(h gamma) - J) u_s = f(x + sum_j a_sj u_j) + sum_j c_sj u_j / h`.
pub const GAMMA: f64 = 0.21193756319429014;

/// The row `a_8`. The rows `a_6` and `a_7` are its beginnings: the method is stiffly accurate.
const LAST: &[f64] = &[
    -7.502846399306121,
    2.561846144803919,
    -11.627539656261098,
    -0.18268767659942256,
    0.030198172008377946,
    1.0,
    1.0,
];

/// Rows `a_s`, `s = 2..8`; the solution is that of the last stage and its own increment.
pub const A: &[&[f64]] = &[
    &[3.0],
    &[2.849394379747939, 0.45842242204463923],
    &[-6.954028509809101, 2.489845061869568, -10.358996098473584],
    &[2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
    LAST.split_at(5).0,
    LAST.split_at(6).0,
    LAST,
];

/// Rows `c_s`, `s = 2..8`.
pub const C: &[&[f64]] = &[
    &[-14.155112264123755],
    &[-17.97296035885952, -2.859693295451294],
    &[147.12150275711716, -1.41221402718213, 71.68940251302358],
    &[165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
    &[
        24.854864614690072,
        -3.0009227002832186,
        47.4931110020768,
        5.5814197821558125,
        -0.6610691825249471,
    ],
    &[
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
    ],
    &[
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ],
];

/// Dense output: `theta (z + (1 - theta) (H_1 + theta (H_2 + theta H_3)))` with
/// `H_r = sum_s h_rs u_s` and z the whole step.
pub const H: [&[f64]; 3] = [
    &[
        25.948786856663858,
        -2.5579724845846235,
        10.433815404888879,
        -2.3679251022685204,
        0.524948541321073,
        1.1241088310450404,
        0.4272876194431874,
        -0.17202221070155493,
    ],
    &[
        -9.91568850695171,
        -0.9689944594115154,
        3.0438037242978453,
        -24.495224566215796,
        20.176138334709044,
        15.98066361424651,
        -6.789040303419874,
        -6.710236069923372,
    ],
    &[
        11.419903575922262,
        2.8879645146136994,
        72.92137995996029,
        80.12511834622643,
        -52.072871366152654,
        -59.78993625266729,
        -0.15582684282751913,
        4.883087185713722,
    ],
];

/// Order of the propagated solution.
pub const ORDER: u32 = 5;

/// Stages of one step.
pub const STAGES: usize = 8;

// The state of the page: sliders, address, settings of the engine, command line.
const DEFAULTS = { start: 'uniform', n: 64, d: 3, beta: 9, dynamics: 'sa', scale: 'u1', interaction: '', norm: '', kappa: 0, zipf: 0, seed: 1, end: 1e6, view: '30,20' };

const STARTS = [
  ['uniform', 'uniform on the sphere'], ['hemisphere', 'uniform on a hemisphere'], ['cap:radius=0.5', 'uniform on a cap of radius 0.5'],
  ['clusters:k=4,spread=0.1', 'four clusters'], ['polygon', 'regular polygon'], ['orthonormal', 'orthonormal (d ≥ n)'],
  ['five', 'five published tokens'], ['prepared', 'five well-prepared tokens'], ['pair', 'two tokens, nearly antipodal'],
];
const DYNAMICS = [
  ['sa', 'SA: softmax rows'], ['usa', 'USA: rows not normalised'], ['causal-sa', 'causal SA'], ['causal-usa', 'causal USA'],
  ['repulsive-sa', 'repulsive SA'], ['repulsive-usa', 'repulsive USA'],
];
const SCALES = [['u1', 'U1: (1/n) exp βG'], ['u2', 'U2: (1/n) exp β(G − 1)'], ['u3', 'U3: (1/n²) exp β(G − 1)'], ['u4', 'U4: exp βG']];
const NORMS = [
  ['', 'post-LN: on the sphere'], ['pre', 'pre-LN'], ['peri', 'peri-LN'], ['mix', 'mix-LN'], ['ngpt', 'nGPT'], ['cod', 'LN with damped depth'], ['ln-scaling', 'LN scaling'],
];

// Starts given as lists: the tokens of the papers.
const FIVE = [0.99806638, 0.06215705, 0.97712061, 0.21268594, -0.24578194, 0.96932515, -0.97354734, 0.2284854, -0.99892629, -0.04632772];
const PREPARED = [0, 0.5, 2, 4, 7].map((k) => k * 0.5 * Math.log(2000) / Math.sqrt(2000));
const LISTS = {
  five: { tokens: FIVE, n: 5, file: 'five.csv', rows: [0, 2, 4, 6, 8].map((k) => `${FIVE[k]},${FIVE[k + 1]}`), flag: '--normalise --tokens' },
  prepared: { angles: PREPARED, n: 5, file: 'angles.csv', rows: PREPARED.map(String), flag: '--angles' },
  pair: { angles: [0, 3.1], n: 2, file: 'angles.csv', rows: ['0', '3.1'], flag: '--angles' },
};

const PRESETS = [
  ['Sphere', {}, 'Uniform tokens on the sphere: clusters form, then merge one by one.'],
  ['Metastability', { start: 'five', n: 5, d: 2, beta: 4, end: 400 }, 'Five tokens on the circle, β = 4 (arXiv:2410.06833): two merge soon, the others wait.'],
  ['Staircase', { start: 'prepared', n: 5, d: 2, beta: 1000, dynamics: 'usa', scale: 'u2', end: 1e100 }, 'Five well-prepared tokens (arXiv:2410.06833, section 6): the energy climbs 0.2, 0.28, 0.44, 0.52, 1.'],
  ['One run to the end', { n: 64, d: 2, beta: 25, seed: 3, end: 1e30 }, 'Sixty-four tokens on the circle, β = 25: each plateau of the energy is a metastable state.'],
  ['A point of the phase diagram', { n: 32, d: 128, beta: 4, end: 30 }, 'One point of the phase diagram (arXiv:2312.10794, figure 3): d = 128, where uniform tokens move like equiangular ones, so the time of collapse is known.'],
  ['Causal centres', { n: 200, d: 2, beta: 64, dynamics: 'causal-sa', end: 5000 }, 'Causal attention (arXiv:2411.04990): tokens gather at the strong Rényi centres.'],
  ['Antipodal pair', { start: 'pair', n: 2, d: 2, beta: 200, end: 1e300 }, 'Two tokens nearly opposite, β = 200: they meet at the time of the two-cluster equation, which small time steps never reach.'],
  ['Cubes', { n: 64, d: 2, beta: 1, dynamics: 'usa', interaction: 's^3', end: 1e6 }, 'Weights s³ in the place of exp βs: a token and its opposite attract alike, so two opposite clusters remain.'],
  ['Noise', { n: 128, d: 2, beta: 4, dynamics: 'usa', kappa: 2, end: 50 }, 'USA with noise: clusters form only for κ above a threshold (arXiv:2606.05140).'],
];

const DIMENSIONS = [2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128];
const ENDS = [0.1, 0.3, 1, 3, 5, 10, 20, 30, 50, 100, 200, 400, 1000, 5000, 1e4, 1e5, 1e6, 1e8, 1e10, 1e12, 1e15, 1e20, 1e26, 1e30, 1e50, 1e100, 1e150, 1e200, 1e300];
const KAPPAS = [0, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1, 0.5];
const BETAS = [
  0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 64, 72, 81, 90, 100,
  120, 150, 200, 250, 300, 400, 500, 700, 1000, 1500, 2000, 3000, 4000,
];
const COUNTS = [...Array.from({ length: 63 }, (_, k) => k + 2), ...Array.from({ length: 59 }, (_, k) => 68 + 4 * k)];

// Sliders, each over a list of values: name, label, values, text of a value.
const SLIDERS = [
  ['n', 'tokens n', COUNTS, String], ['d', 'dimension d', DIMENSIONS, String], ['beta', 'β', BETAS, String],
  ['kappa', 'noise', KAPPAS, (v) => (v ? `κ = ${v}` : 'none')],
  ['zipf', 'masses', Array.from({ length: 21 }, (_, k) => k / 10), (v) => (v ? `i^−${v}` : 'equal')],
  ['seed', 'seed', Array.from({ length: 200 }, (_, k) => k + 1), String], ['end', 'end time', ENDS, (v) => power(v)],
];
const MENUS = [['start', 'start', STARTS], ['dynamics', 'dynamics', DYNAMICS], ['scale', 'time of USA', SCALES], ['norm', 'normalisation', NORMS]];

const FORMULAS = 'A formula of the inner product s and of beta, such as s^3 or exp(beta*s) + 0.3*s^3, or a name such as sigmoid:k=9; empty: exp(beta*s)';

function nearest(list, v) {
  return list.reduce((best, w, k) => (Math.abs(w - v) < Math.abs(list[best] - v) ? k : best), 0);
}

// Reads a state from an address. Missing and invalid values get the defaults, numbers the nearest value of their slider. A remark tells each value that is not taken as it is.
function readAddress(hash) {
  const state = { ...DEFAULTS }, remarks = [], given = new URLSearchParams(hash.replace(/^#/, ''));
  for (const [key, text] of given) {
    const slider = SLIDERS.find((s) => s[0] === key), menu = MENUS.find((m) => m[0] === key);
    const refuse = (why) => remarks.push(`${key}=${text} ${why}`);
    if (slider) {
      const number = text.trim() === '' ? NaN : Number(text);
      if (Number.isFinite(number)) state[key] = slider[2][nearest(slider[2], number)];
      if (!Number.isFinite(number)) refuse(`is not a number; ${state[key]} is used`);
      else if (state[key] !== number) refuse(`is not on the slider; the nearest value ${state[key]} is used`);
    } else if (menu) {
      if (menu[2].some((o) => o[0] === text)) state[key] = text;
      else refuse(`is unknown; ${menu[2].find((o) => o[0] === state[key])[1]} is used`);
    } else if (key === 'interaction') state.interaction = text.trim();
    else if (key === 'view' && /^-?\d+,-?\d+$/.test(text)) state.view = text;
    else refuse(key === 'view' ? 'is not a view, as 30,20' : 'is no setting of this page');
  }
  const asked = { ...state };
  fitting(state);
  for (const key of Object.keys(asked).filter((k) => given.has(k) && state[k] !== asked[k])) {
    remarks.push(`${key}=${asked[key]} does not fit the other settings; ${state[key]} is used`);
  }
  return { state, remarks };
}

function writeState(state) {
  const changed = Object.entries(state).filter(([k, v]) => v !== DEFAULTS[k]);
  return '#' + new URLSearchParams(changed).toString();
}

// Enforces the constraints between settings: a list has its own n and lies on the circle.
function fitting(state) {
  const list = LISTS[state.start];
  if (list) Object.assign(state, { n: list.n, d: 2 });
  if (state.start === 'orthonormal') state.n = Math.min(state.n, state.d);
  if (!state.dynamics.endsWith('usa') || state.interaction) state.scale = 'u1';
  return state;
}

function masses(state) {
  return state.zipf ? Array.from({ length: state.n }, (_, i) => (i + 1) ** -state.zipf) : [];
}

// Steps with noise have constant length; a run has at most a million of them.
const NOISE_STEP = 0.01, NOISE_END = 1e4;
const NOISE_NOTE = `With noise a run ends at t = ${power(NOISE_END)} at the latest:`
  + ` each step is ${NOISE_STEP} long.`;

function settingsOf(state) {
  const { tokens = [], angles = [] } = LISTS[state.start] ?? {};
  const t_end = state.kappa ? Math.min(state.end, NOISE_END) : state.end;
  return {
    n: state.n, d: state.d, beta: state.beta, dynamics: state.dynamics, time_scale: state.scale, interaction: state.interaction, norm: state.norm, kappa: state.kappa, step: NOISE_STEP,
    init: LISTS[state.start] ? 'uniform' : state.start, tokens, angles, masses: masses(state), seed: state.seed, t_end,
  };
}

// The command for the same run; with the portable kernels its velocities are bitwise equal.
function commandOf(state, name = 'solve') {
  const list = LISTS[state.start], lines = [], flags = [];
  const file = (to, rows) => lines.push(`printf '%s\\n' ${rows.map((r) => `'${r}'`).join(' ')} > ${to}`);
  if (list) {
    file(list.file, list.rows);
    flags.push(`${list.flag} ${list.file}`);
  } else flags.push(`--init ${state.start} --n ${state.n} --d ${state.d} --seed ${state.seed}`);
  if (state.zipf) flags.push(`--masses power:${state.zipf}`);
  flags.push(`--dynamics ${state.dynamics} --beta ${state.beta}`);
  if (state.scale !== 'u1') flags.push(`--time-scale ${state.scale}`);
  if (state.interaction) flags.push(`--interaction '${state.interaction.replaceAll("'", "'\\''")}'`);
  if (state.norm) flags.push(`--norm ${state.norm}`);
  if (name === 'solve') {
    if (state.kappa) flags.push(`--noise kappa=${state.kappa},seed=${state.seed},step=${NOISE_STEP}`);
    flags.push(`--t-end ${settingsOf(state).t_end}`);
  }
  lines.push(`metastable ${name} ${flags.join(' ')} --simd portable`);
  return lines.join('\n');
}

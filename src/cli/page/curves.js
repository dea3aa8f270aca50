// The points of drawn curves: pure functions, called directly by tests/page/browser.mjs.

// Keeps the first, last, lowest and highest point of every column (half a pixel). The picture equals
// that of all points, and both ends of every jump remain (algorithm M4 of Jugel et al., VLDB 2014).
// Points are [x, y] with x in ascending order.
function thinned(points, column = 0.5) {
  const out = [], place = (k) => Math.floor(points[k][0] / column);
  for (let from = 0, to; from < points.length; from = to) {
    const here = place(from);
    let low = from, high = from;
    for (to = from + 1; to < points.length && place(to) === here; to++) {
      if (points[to][1] < points[low][1]) low = to;
      if (points[to][1] > points[high][1]) high = to;
    }
    const [one, two] = low < high ? [low, high] : [high, low], last = to - 1;
    out.push(points[from]);
    if (one > from) out.push(points[one]);
    if (two > one) out.push(points[two]);
    if (last > two) out.push(points[last]);
  }
  return out;
}

// Points [log10 t, y] of the curve through rows [t, y] that is linear in t between rows. Over decades
// of log t such a chord is flat, then rises; a straight line would show the change too early. A row at
// t = 0 is drawn at the left edge.
const SHARES = [0.001, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75];
function overLogTime(rows, left) {
  const out = [], log = (t) => Math.max(left, Math.log10(t));
  rows.forEach(([t, y], k) => {
    const [s, z] = rows[k ? k - 1 : 0];
    if (t > 1.3 * s && y !== z) {
      for (const f of SHARES) out.push([log(s + f * (t - s)), z + f * (y - z)]);
    }
    out.push([log(t), y]);
  });
  return out;
}

// Points of a step function: the number of clusters is constant between changes.
function asStairs(rows, left) {
  const out = [], log = (t) => Math.max(left, Math.log10(t));
  rows.forEach(([t, y], k) => {
    if (k && rows[k - 1][1] !== y) out.push([log(t), rows[k - 1][1]]);
    out.push([log(t), y]);
  });
  return out;
}

// ---- angles in units of pi: a turn is 2

// The representative of an angle modulo a turn that is nearest to `before`.
const unwound = (share, before) => share + 2 * Math.round((before - share) / 2);

// Marks the bins of the circle that tokens have visited with 1.
const BINS = 720;
function swept(bins, from, to) {
  const k = (share) => Math.floor((share * BINS) / 2), ends = [k(from), k(to)];
  const last = Math.min(Math.max(...ends), Math.min(...ends) + BINS - 1);
  for (let b = Math.min(...ends); b <= last; b++) bins[((b % BINS) + BINS) % BINS] = 1;
}

// The interval of angles to draw: the complement of the longest arc without tokens if this arc is at
// least a quarter of the circle, else the whole circle.
function angleWindow(bins) {
  const used = [];
  bins.forEach((b, k) => { if (b) used.push(k); });
  let gap = 0, after = 0;
  used.forEach((k, at) => {
    const next = at + 1 < used.length ? used[at + 1] : used[0] + BINS;
    if (next - k - 1 > gap) [gap, after] = [next - k - 1, next];
  });
  if (gap < BINS / 4) return { middle: 0, half: 1, whole: true };
  const length = BINS - gap, middle = ((after + length / 2) * 2) / BINS;
  // Margins of a tenth above and below; the middle is in [-1, 1).
  return { middle: middle - 2 * Math.round(middle / 2), half: (1.2 * length) / BINS, whole: false };
}

// Cuts a curve of continuous angles into pieces inside a window of one turn: a curve that leaves it at
// the top continues at the bottom.
function pieces(points, { middle }) {
  const out = [];
  let piece = [];
  const lap = (y) => Math.floor((y - middle + 1) / 2);
  points.forEach(([x, y], k) => {
    if (k) {
      const [u, z] = points[k - 1], way = Math.sign(y - z);
      for (let at = lap(z); at !== lap(y); at += way) {
        const edge = middle + 2 * at + way, cut = u + ((x - u) * (edge - z)) / (y - z);
        piece.push([cut, edge - 2 * at]);
        out.push(piece);
        piece = [[cut, edge - 2 * (at + way)]];
      }
    }
    piece.push([x, y - 2 * lap(y)]);
  });
  if (piece.length) out.push(piece);
  return out;
}

// Round numbers in an interval, with their text.
function roundTicks(low, high, most) {
  const rough = (high - low) / most, ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((s) => s * ten).find((s) => s >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), out = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) {
    const words = (k * step).toFixed(digits).replace(/^-(?=[0.]*$)/, '');
    out.push([k * step, words.replace('-', '−')]);
  }
  return out;
}

// What is drawn of a curve: pure functions of numbers, which tests/page/browser.mjs calls alone.

// The first, last, lowest and highest point of every column (half a pixel), in order. The picture
// is that of all points, and the states before and after a jump stay (M4 of Jugel and others,
// VLDB 2014). Points are [x, y] with x that never falls.
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

// Points [log10 t, y] of a curve given by rows [t, y]. Between two rows it is linear in t. Over
// decades of log t such a chord is flat, then rises: a straight line there would show a change that
// began long before it did. A row at t = 0 stands at the left edge.
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

// A number of clusters stays until the row that has another.
function asStairs(rows, left) {
  const out = [], log = (t) => Math.max(left, Math.log10(t));
  rows.forEach(([t, y], k) => {
    if (k && rows[k - 1][1] !== y) out.push([log(t), rows[k - 1][1]]);
    out.push([log(t), y]);
  });
  return out;
}

// ---- angles, in units of pi: a turn is 2

// The value of an angle that is nearest to the one before.
const unwound = (share, before) => share + 2 * Math.round((before - share) / 2);

// The part of a turn where tokens have been: so many bins, 1 where one was.
const BINS = 720;
function swept(bins, from, to) {
  const k = (share) => Math.floor((share * BINS) / 2), ends = [k(from), k(to)];
  const last = Math.min(Math.max(...ends), Math.min(...ends) + BINS - 1);
  for (let b = Math.min(...ends); b <= last; b++) bins[((b % BINS) + BINS) % BINS] = 1;
}

// The interval of angles to draw: a part of the circle where tokens use less than three quarters
// of it, else the whole. The cut is in the middle of the longest arc without tokens.
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
  // A tenth of it stays free above and below; the middle is taken from [-1, 1).
  return { middle: middle - 2 * Math.round(middle / 2), half: (1.2 * length) / BINS, whole: false };
}

// The pieces of a curve of unwound angles inside a window of one turn or less: what leaves it above
// comes back below.
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

// Round numbers in an interval, and their words.
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

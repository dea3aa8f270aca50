// Draws the tokens: on the circle with the field that they generate, on the sphere, or as the matrix of
// their inner products.

// The rotation of the sphere for a view: longitude and latitude in degrees.
function turned(view) {
  const [lon, lat] = view.split(',').map((v) => (Number(v) * Math.PI) / 180);
  const [cl, sl, cb, sb] = [Math.cos(lon), Math.sin(lon), Math.cos(lat), Math.sin(lat)];
  // Coordinates: right, up, towards the viewer.
  return (x, y, z) => [-sl * x + cl * y, -sb * (cl * x + sl * y) + cb * z, cb * (cl * x + sl * y) + sb * z];
}

const sizeOf = (mass, n0) => 2.2 + 15 * Math.sqrt(mass) * Math.min(1, 8 / n0 ** 0.25 / 4);

function drawScene(pen, size, run, state) {
  if (!run) return;
  if (run.d === 2) drawCircle(pen, size, run, state);
  else if (run.d === 3) drawSphere(pen, size, run, state);
  else drawGram(pen, size, run);
}

const inkOf = (run, state, row) => (state.dynamics.startsWith('causal') && run.labels[0] === row ? RED : BLUE);

function drawCircle(pen, size, run, state) {
  const c = size / 2, r = size * 0.335, top = Math.max(...run.curve);
  const at = (cos, sin, radius) => [c + radius * cos, c - radius * sin];
  const curve = Array.from(run.curve, (f, k) => {
    const a = (2 * Math.PI * k) / run.curve.length;
    return at(Math.cos(a), Math.sin(a), r * (1.05 + 0.36 * (f / top)));
  });
  const ring = Array.from({ length: 181 }, (_, k) => at(Math.cos((Math.PI * k) / 90), Math.sin((Math.PI * k) / 90), r * 1.05));
  pen.path([...curve, curve[0], ...ring.reverse()], { fill: '#dbe8f1', closed: true });
  pen.path(curve, { stroke: '#6d9dbd', width: 1, closed: true });
  pen.disc(c, c, r * 1.05, { fill: PAPER });
  pen.disc(c, c, r, { stroke: '#8a857a', width: 1 });
  // The first token, the leader of causal attention, is drawn last.
  for (let i = run.n - 1; i >= 0; i--) {
    const [x, y] = at(run.x[2 * i], run.x[2 * i + 1], r);
    pen.disc(x, y, sizeOf(run.m[i], run.start), { fill: inkOf(run, state, i), stroke: PAPER, width: 0.7, alpha: 0.88 });
  }
  pen.text(c, c - 6, `t = ${power(run.t)}`, { size: 19, align: 'center', italic: true });
  pen.text(c, c + 18, run.clusters === 1 ? 'one cluster' : `${run.clusters} clusters`, { size: 14, align: 'center', fill: SOFT });
}

function drawSphere(pen, size, run, state) {
  const c = size / 2, r = size * 0.43, turn = turned(state.view);
  const at = ([x, y]) => [c + r * x, c - r * y];
  pen.disc(c, c, r, { fill: '#f8f6f0', stroke: '#8a857a', width: 1 });
  const arcs = [];
  for (let k = 0; k < 6; k++) arcs.push((s) => [Math.cos((k * Math.PI) / 6) * Math.cos(s), Math.sin((k * Math.PI) / 6) * Math.cos(s), Math.sin(s)]);
  for (const b of [-60, -30, 0, 30, 60].map((v) => (v * Math.PI) / 180)) arcs.push((s) => [Math.cos(b) * Math.cos(s), Math.cos(b) * Math.sin(s), Math.sin(b)]);
  for (const arc of arcs) {
    let piece = [];
    for (let k = 0; k <= 96; k++) {
      const p = turn(...arc((2 * Math.PI * k) / 96));
      if (p[2] > 0) piece.push(at(p));
      if ((p[2] <= 0 || k === 96) && piece.length) {
        pen.path(piece, { stroke: '#e2ded3', width: 0.8 });
        piece = [];
      }
    }
  }
  for (const trail of run.trails ?? []) {
    let piece = [];
    for (let k = 0; k < trail.length; k += 3) {
      const p = turn(trail[k], trail[k + 1], trail[k + 2]);
      if (p[2] > 0) piece.push(at(p));
      else piece = [];
    }
    if (piece.length > 1) pen.path(piece, { stroke: '#8db4cd', width: 1 });
  }
  const seen = Array.from({ length: run.n }, (_, i) => [i, turn(run.x[3 * i], run.x[3 * i + 1], run.x[3 * i + 2])]).sort((a, b) => a[1][2] - b[1][2]);
  for (const [i, p] of seen) {
    const [x, y] = at(p), front = p[2] > 0, ink = inkOf(run, state, i);
    const radius = sizeOf(run.m[i], run.start) * (0.86 + 0.14 * p[2]);
    if (front) pen.disc(x, y, radius, { fill: ink, stroke: PAPER, width: 0.7, alpha: 0.9 });
    else pen.disc(x, y, radius * 0.9, { fill: ink, alpha: 0.17 });
  }
}

// Blue for positive inner products, orange for negative ones.
function shade(g) {
  const to = g >= 0 ? [0, 84, 140] : [196, 92, 0], s = Math.min(1, Math.abs(g)) ** 0.9;
  return [252, 250, 244].map((v, k) => Math.round(v + (to[k] - v) * s));
}

function drawGram(pen, size, run) {
  const n = run.start, d = run.d;
  const order = Array.from({ length: n }, (_, i) => i).sort((a, b) => run.cluster[run.labels[a]] - run.cluster[run.labels[b]] || a - b);
  const gram = new Float64Array(run.n * run.n);
  for (let i = 0; i < run.n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < d; k++) sum += run.x[i * d + k] * run.x[j * d + k];
      gram[i * run.n + j] = gram[j * run.n + i] = sum;
    }
  }
  const picture = document.createElement('canvas');
  picture.width = picture.height = n;
  const context = picture.getContext('2d'), image = context.createImageData(n, n);
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < n; b++) {
      const [red, green, blue] = shade(gram[run.labels[order[a]] * run.n + run.labels[order[b]]]);
      image.data.set([red, green, blue, 255], 4 * (a * n + b));
    }
  }
  context.putImageData(image, 0, 0);
  const side = size * 0.84, left = (size - side) / 2, top = size * 0.04;
  pen.image(left, top, side, picture);
  pen.path([[left, top], [left + side, top], [left + side, top + side], [left, top + side]], { stroke: '#8a857a', width: 1, closed: true });
  pen.text(left, top + side + 24, `inner products by cluster, d = ${d}`, { size: 14, fill: SOFT });
  [-1, 0, 1].forEach((g, k) => {
    const x = left + side - 118 + 42 * k;
    pen.box(x, top + side + 12, 14, 14, `rgb(${shade(g)})`);
    pen.text(x + 18, top + side + 24, g < 0 ? '−1' : String(g), { size: 13, fill: SOFT });
  });
}

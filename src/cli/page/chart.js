// Energy, clusters and angles over log time; predictions are dotted.

function ticks(low, high, most) {
  const step = [1, 2, 5, 10, 20, 25, 50, 100].find((s) => (high - low) / s <= most) ?? 100;
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, k) => (Math.ceil(low / step) + k) * step);
}

function drawChart(pen, width, height, book) {
  const { rows } = book, began = rows.find((r) => r.t > 0);
  const first = began ? Math.log10(began.t) : -2;
  const now = began ? Math.log10(rows[rows.length - 1].t) : 0;
  const low = Math.max(-3, Math.floor(first)), next = book.plateaus[book.plateaus.length - 1]?.log10_time ?? -99;
  const high = Math.max(low + 2, Math.ceil(now + 0.02), next < now + 0.35 * (now - low) + 1 ? Math.ceil(next) : -99);
  const left = 46, right = width - 26, x = (log) => left + ((right - left) * (Math.min(high, Math.max(low, log)) - low)) / (high - low);
  const circle = book.d === 2, shares = circle ? [0.36, 0.24, 0.4] : [0.58, 0.42];
  const gap = 30, body = height - 30 - gap * (shares.length - 1) - 18;
  let top = 18;
  const panels = shares.map((s) => {
    const box = [top, top + s * body];
    top = box[1] + gap;
    return box;
  });
  const frame = ([a, b], title, labels, last) => {
    pen.text(left, a - 6, title, { size: 13.5, italic: true });
    pen.path([[left, a], [left, b], [right, b]], { stroke: '#8a857a', width: 1 });
    for (const k of ticks(low, high, 7)) {
      pen.path([[x(k), b], [x(k), b + 4]], { stroke: '#8a857a', width: 1 });
      if (last) pen.text(x(k), b + 18, `10${raised(k)}`, { size: 12.5, align: 'center', fill: SOFT });
    }
    for (const [y, words] of labels) {
      pen.path([[left - 4, y], [left, y]], { stroke: '#8a857a', width: 1 });
      pen.text(left - 7, y, words, { size: 12.5, align: 'right', fill: SOFT, base: 'middle' });
    }
    if (last) pen.text(right + 20, b + 5, 't', { size: 13.5, italic: true, align: 'right' });
  };
  // Draws a curve from points in log time and units of its panel; before the first step only its start.
  const line = (points, y, style, column) => {
    if (!began) for (const [l, v] of points) pen.disc(x(l), y(v), 2.2, { fill: style.stroke });
    else pen.path(thinned(points.map(([l, v]) => [x(l), y(v)]), column), style);
  };

  const [ea, eb] = panels[0], ey = (e) => eb - (eb - ea) * Math.min(1.02, e) / 1.04;
  frame(panels[0], book.own ? 'energy: 0 at the least W, 1 at the largest' : 'energy, its maximum 1', [0, 0.5, 1].map((e) => [ey(e), String(e)]), false);
  for (const p of book.plateaus) {
    const begin = Math.log10(p.t), gone = p.gone ? Math.log10(p.gone) : high;
    const end = Math.min(p.log10_time ?? high, Math.max(gone, p.log10_time ?? gone));
    pen.path([[x(begin), ey(p.level)], [x(end), ey(p.level)]], { stroke: RED, width: 1.3, dash: [2, 3] });
    if (p.log10_time !== undefined && p.log10_time < high) {
      pen.path([[x(p.log10_time), ey(p.level)], [x(p.log10_time), ey(p.next)]], { stroke: RED, width: 1.3, dash: [2, 3] });
      pen.disc(x(p.log10_time), ey(p.next), 2.4, { fill: PAPER, stroke: RED, width: 1.3 });
    }
  }
  const energies = overLogTime(rows.map((r) => [r.t, r.energy]), low);
  line(energies, ey, { stroke: BLUE, width: 1.8 });

  const [ca, cb] = panels[1], { most } = book, cy = (k) => cb - ((cb - ca) * k) / (most * 1.04);
  frame(panels[1], 'clusters', ticks(0, most, 5).map((k) => [cy(k), String(k)]), !circle);
  const stairs = asStairs(rows.map((r) => [r.t, r.clusters]), low);
  line(stairs, cy, { stroke: BLUE, width: 1.6 });

  if (circle) drawAngles(book, panels[2], frame, line, low);
}

// The angles of all tokens: the whole circle, or the part of it with tokens.
function drawAngles(book, [a, b], frame, line, low) {
  const part = angleWindow(book.swept), { middle, half, whole } = part;
  const y = (share) => (a + b) / 2 - ((b - a) / 2) * ((share - middle) / half);
  const radians = () => roundTicks((middle - half) * Math.PI, (middle + half) * Math.PI, 4);
  const labels = whole ? [[y(1), 'π'], [y(0), '0'], [y(-1), '−π']]
    : radians().map(([v, words]) => [y(v / Math.PI), words]);
  frame([a, b], whole ? 'angles' : 'angles in radians, a part of the circle', labels, true);
  const many = book.angles.length > 20;
  book.angles.forEach((strand, i) => {
    const stroke = book.leader && i === 0 ? RED : BLUE;
    const style = { stroke, width: many ? 0.7 : 1.1, alpha: many ? 0.55 : 0.9 };
    for (const piece of pieces(overLogTime(strand, low), part)) line(piece, y, style, many ? 1 : 0.5);
  });
}

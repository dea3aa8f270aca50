// Energy, clusters and angles over log time, with what is predicted dotted.

function ticks(low, high, most) {
  const step = [1, 2, 5, 10, 20, 25, 50, 100].find((s) => (high - low) / s <= most) ?? 100;
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, k) => (Math.ceil(low / step) + k) * step);
}

// Points that would fall on the same pixel are left out.
function thinned(points) {
  const out = [];
  for (const p of points) {
    const last = out[out.length - 1];
    if (!last || Math.abs(p[0] - last[0]) > 0.6 || Math.abs(p[1] - last[1]) > 0.6) out.push(p);
  }
  if (points.length && out[out.length - 1] !== points[points.length - 1]) out.push(points[points.length - 1]);
  return out;
}

function drawChart(pen, width, height, book) {
  const rows = book.rows.filter((r) => r.t > 0);
  const first = rows.length ? Math.log10(rows[0].t) : -2, now = rows.length ? Math.log10(rows[rows.length - 1].t) : 0;
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
  const line = (points, style) => pen.path(thinned(points), style);

  const [ea, eb] = panels[0], ey = (e) => eb - (eb - ea) * Math.min(1.02, e) / 1.04;
  frame(panels[0], 'energy, its maximum 1', [0, 0.5, 1].map((e) => [ey(e), String(e)]), false);
  for (const p of book.plateaus) {
    const begin = Math.log10(p.t), end = Math.min(p.log10_time ?? high, p.gone ? Math.max(Math.log10(p.gone), p.log10_time ?? 0) : high);
    pen.path([[x(begin), ey(p.level)], [x(end), ey(p.level)]], { stroke: RED, width: 1.3, dash: [2, 3] });
    if (p.log10_time !== undefined && p.log10_time < high) {
      pen.path([[x(p.log10_time), ey(p.level)], [x(p.log10_time), ey(p.next)]], { stroke: RED, width: 1.3, dash: [2, 3] });
      pen.disc(x(p.log10_time), ey(p.next), 2.4, { fill: PAPER, stroke: RED, width: 1.3 });
    }
  }
  line(rows.map((r) => [x(Math.log10(r.t)), ey(r.energy)]), { stroke: BLUE, width: 1.8 });

  const [ca, cb] = panels[1], most = Math.max(2, ...rows.map((r) => r.clusters)), cy = (k) => cb - ((cb - ca) * k) / (most * 1.04);
  frame(panels[1], 'clusters', ticks(0, most, 5).map((k) => [cy(k), String(k)]), !circle);
  const stairs = [];
  rows.forEach((r, k) => {
    if (k && r.clusters !== rows[k - 1].clusters) stairs.push([x(Math.log10(r.t)), cy(rows[k - 1].clusters)]);
    stairs.push([x(Math.log10(r.t)), cy(r.clusters)]);
  });
  line(stairs, { stroke: BLUE, width: 1.6 });

  if (circle) {
    const [a, b] = panels[2], y = (share) => (a + b) / 2 - ((b - a) / 2) * share;
    frame(panels[2], 'angles', [[y(1), 'π'], [y(0), '0'], [y(-1), '−π']], true);
    book.angles.forEach((strand, i) => {
      let piece = [];
      const style = { stroke: book.leader && i === 0 ? RED : BLUE, width: book.angles.length > 20 ? 0.7 : 1.1, alpha: book.angles.length > 20 ? 0.55 : 0.9 };
      strand.forEach(([t, share], k) => {
        // A strand that leaves above comes back below.
        if (k && Math.abs(share - strand[k - 1][1]) > 1) {
          line(piece, style);
          piece = [];
        }
        piece.push([x(Math.log10(t)), y(share)]);
      });
      line(piece, style);
    });
  }
}

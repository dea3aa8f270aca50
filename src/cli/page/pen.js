// Two pens with the same methods: one draws on a canvas, one writes an SVG.
const INK = '#1b1b1b', SOFT = '#595959', LINE = '#d8d4ca', PAPER = '#fffefb', BLUE = '#0072b2', RED = '#d55e00';
// Colours of Okabe and Ito that are visible on paper.
const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#4d4d4d'];
const SERIF = 'Palatino, "Palatino Linotype", "URW Palladio L", Georgia, serif';

function canvasPen(context) {
  const c = context;
  const paint = (fill, stroke, width, dash, alpha) => {
    c.globalAlpha = alpha ?? 1;
    if (fill) { c.fillStyle = fill; c.fill(); }
    if (stroke) { c.strokeStyle = stroke; c.lineWidth = width ?? 1; c.setLineDash(dash ?? []); c.lineJoin = 'round'; c.stroke(); }
    c.globalAlpha = 1;
  };
  return {
    path(points, { fill, stroke, width, dash, alpha, closed } = {}) {
      c.beginPath();
      points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
      if (closed) c.closePath();
      paint(fill, stroke, width, dash, alpha);
    },
    disc(x, y, r, { fill, stroke, width, alpha } = {}) {
      c.beginPath();
      c.arc(x, y, r, 0, 2 * Math.PI);
      paint(fill, stroke, width, null, alpha);
    },
    box(x, y, w, h, fill) {
      c.fillStyle = fill;
      c.fillRect(x, y, w, h);
    },
    text(x, y, words, { size = 13, fill = INK, align = 'left', italic = false, base = 'alphabetic' } = {}) {
      c.font = `${italic ? 'italic ' : ''}${size}px ${SERIF}`;
      c.textAlign = align;
      c.textBaseline = base;
      c.fillStyle = fill;
      c.fillText(words, x, y);
    },
  };
}

function svgPen(width, height) {
  const out = [], n = (v) => v.toFixed(2), escape = (s) => String(s).replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const look = ({ fill, stroke, width: w, dash, alpha }) =>
    `fill="${fill ?? 'none'}"` + (stroke ? ` stroke="${stroke}" stroke-width="${w ?? 1}" stroke-linejoin="round"` : '') +
    (dash?.length ? ` stroke-dasharray="${dash.join(' ')}"` : '') + (alpha !== undefined && alpha < 1 ? ` opacity="${n(alpha)}"` : '');
  return {
    path(points, style = {}) {
      if (points.length) out.push(`<path d="M${points.map(([x, y]) => `${n(x)} ${n(y)}`).join('L')}${style.closed ? 'Z' : ''}" ${look(style)}/>`);
    },
    disc(x, y, r, style = {}) {
      out.push(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}" ${look(style)}/>`);
    },
    box(x, y, w, h, fill) {
      out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${fill}"/>`);
    },
    text(x, y, words, { size = 13, fill = INK, align = 'left', italic = false, base = 'alphabetic' } = {}) {
      const anchor = { left: 'start', center: 'middle', right: 'end' }[align], down = base === 'middle' ? 0.32 * size : 0;
      out.push(`<text x="${n(x)}" y="${n(y + down)}" font-family='${SERIF}' font-size="${size}" fill="${fill}" text-anchor="${anchor}"${italic ? ' font-style="italic"' : ''}>${escape(words)}</text>`);
    },
    finish(title, description) {
      return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>${escape(title)}</title><desc>${escape(description)}</desc>` +
        `<rect width="${width}" height="${height}" fill="${PAPER}"/>${out.join('\n')}</svg>\n`;
    },
  };
}

const SUPER = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };
const raised = (k) => String(k).replace(/[-\d]/g, (c) => SUPER[c]);

// A time with three digits: 12.3, 4.5·10⁶.
function power(v) {
  if (v === 0) return '0';
  const k = Math.floor(Math.log10(Math.abs(v)) + 1e-12);
  if (k >= -2 && k < 4) return String(Number(v.toPrecision(3)));
  const m = (v / 10 ** k).toPrecision(3).replace(/\.?0+$/, '');
  return m === '1' ? `10${raised(k)}` : `${m}·10${raised(k)}`;
}
const powerOfLog = (log) => (log < 290 ? power(10 ** log) : `10${raised(Math.round(log))}`);

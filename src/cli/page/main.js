// The page: controls, loop over frames, history of a run.
(async () => {
  const $ = (id) => document.getElementById(id);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  let ask, { state, remarks } = readAddress(location.hash), run = null, playing = false, book = null, timing = { frames: 0, busy: 0, steps: 0 };

  const complain = (e) => {
    $('alert').textContent = e.message;
    $('alert').hidden = false;
  };
  try {
    ask = await loadEngine($('engine').textContent);
  } catch (e) {
    complain(e);
    return;
  }

  // ---- history of the run
  function unpacked(reply) {
    const { n, d, start, numbers } = reply;
    let at = 0;
    const take = (count) => numbers.subarray(at, (at += count));
    return { ...reply, x: take(n * d), m: take(n), labels: take(start), cluster: take(n) };
  }

  // Stores a row for every attempted step, later for every fifth, whatever the speed of the page.
  const [FINE, STRIDE] = [60, 5];
  const tried = () => run.steps + run.rejected;
  function remember() {
    if (tried() > FINE && tried() % STRIDE && !run.ended) return;
    const last = book.rows[book.rows.length - 1];
    const row = { t: run.t, energy: run.energy, clusters: run.clusters, tokens: run.n };
    if (last && run.t > 0 && Object.entries(row).every(([k, v]) => v === last[k])) return;
    book.rows.push(row);
    book.most = Math.max(book.most, run.clusters);
    for (const p of book.plateaus) if (!p.gone && run.clusters < p.clusters) p.gone = run.t;
    if (run.t > 0 && book.asked !== run.clusters && run.clusters <= 40) foresee();
    if (run.d === 2) strands();
    if (run.d === 3) trails();
  }

  // Records a plateau when the energy is that of the clusters as points; once for every number of
  // clusters.
  function foresee() {
    const reply = ask({ ask: 'forecast' });
    if (Math.abs(reply.level - run.energy) > 0.004 * reply.level || run.clusters < 2) return;
    book.asked = run.clusters;
    book.plateaus.push({ t: run.t, energy: run.energy, ...reply });
  }

  // Stores the angles of every row. A long curve is thinned to 400 columns.
  const [LONG, COLUMNS] = [3200, 400];
  function strands() {
    for (let i = 0; i < run.start; i++) {
      const row = run.labels[i], strand = (book.angles[i] ??= []);
      const angle = Math.atan2(run.x[2 * row + 1], run.x[2 * row]) / Math.PI;
      const before = strand.length ? strand[strand.length - 1][1] : angle;
      const now = unwound(angle, before);
      swept(book.swept, before, now);
      strand.push([run.t, now]);
      if (strand.length > LONG) book.angles[i] = shortened(strand);
    }
  }

  function shortened(strand) {
    const begun = strand.find(([t]) => t > 0)[0], decades = Math.max(1, Math.log10(run.t / begun));
    const points = strand.map(([t, angle]) => [Math.log10(t), angle, t]);
    return thinned(points, decades / COLUMNS).map(([, angle, t]) => [t, angle]);
  }

  function trails() {
    if (run.start > 150) return;
    if (book.trails.length !== run.n) book.trails = Array.from({ length: run.n }, () => []);
    for (let i = 0; i < run.n; i++) {
      book.trails[i].push(run.x[3 * i], run.x[3 * i + 1], run.x[3 * i + 2]);
      if (book.trails[i].length > 180) book.trails[i].splice(0, 3);
    }
    run.trails = book.trails;
  }

  // ---- the run
  function begin() {
    halt();
    $('alert').hidden = true;
    $('status').textContent = '';
    book = {
      rows: [], plateaus: [], angles: [], trails: [], swept: new Uint8Array(BINS), most: 2,
      d: state.d, own: Boolean(state.interaction), leader: state.dynamics.startsWith('causal'), asked: 0,
    };
    try {
      run = unpacked(ask({ ask: 'begin', settings: settingsOf(state) }));
      remember();
      say(sentencesOf(ask({ ask: 'theory', settings: settingsOf(state) }), state));
    } catch (e) {
      run = null;
      complain(e);
    }
    show();
    drawGraphs();
  }

  // Makes up to `steps` steps within the given time; stores a row after each piece.
  function advance(steps, milliseconds) {
    const until = performance.now() + milliseconds;
    let done = 0;
    try {
      while (done < steps && !run.ended) {
        const piece = Math.min(steps - done, tried() < FINE ? 1 : STRIDE - (tried() % STRIDE));
        run = unpacked(ask({ ask: 'go', steps: piece }));
        remember();
        done += piece;
        if (performance.now() > until) break;
      }
    } catch (e) {
      pause();
      complain(e);
    }
    return done;
  }

  let drawn = 0, moved = 0, drawing = 0, frame = 0;
  function tick(now) {
    if (!playing) return;
    frame = requestAnimationFrame(tick);
    // With the preference for reduced motion: two pictures per second.
    if (calm.matches && now - moved < 500) return;
    moved = now;
    const from = performance.now();
    timing.steps += advance(Number($('speed').value) * (calm.matches ? 30 : 1), calm.matches ? 200 : 13);
    drawTokens();
    numbers();
    // Drawing the graphs takes at most a quarter of the time, for any number of curves.
    if (now - drawn > Math.max(120, 4 * drawing)) {
      const since = performance.now();
      drawGraphs();
      drawing = performance.now() - since;
      drawn = now;
    }
    timing.frames += 1;
    timing.busy += performance.now() - from;
    if (!run || run.ended) pause();
  }

  function play() {
    // A run that has ended starts again.
    if (run?.ended) begin();
    if (!run) return;
    playing = true;
    Object.assign(timing, { frames: 0, busy: 0, steps: 0 });
    label();
    $('status').textContent = '';
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(tick);
  }

  function halt() {
    playing = false;
    cancelAnimationFrame(frame);
    label();
  }

  function pause() {
    const was = playing;
    halt();
    if (was) {
      show();
      drawGraphs();
    }
  }

  function label() {
    $('play').textContent = playing ? 'Pause' : 'Play';
    $('play').setAttribute('aria-pressed', playing);
  }

  // ---- display
  function fitted(canvas, height) {
    const ratio = Math.min(2, devicePixelRatio || 1), width = canvas.clientWidth;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return [Object.assign(canvasPen(context), { image: (x, y, side, picture) => { context.imageSmoothingEnabled = false; context.drawImage(picture, x, y, side, side); } }), width];
  }

  function drawTokens() {
    if (run?.d === 2) run.curve ??= ask({ ask: 'curve' }).numbers;
    const [pen, size] = fitted($('sphere'), $('sphere').clientHeight);
    drawScene(pen, size, run, state);
  }

  function drawGraphs() {
    if (!book) return;
    const [pen, width] = fitted($('stairs'), $('stairs').clientHeight);
    drawChart(pen, width, $('stairs').clientHeight, book);
    const last = book.plateaus[book.plateaus.length - 1], dotted = 'Dotted: the energy of the present clusters as points, and the next merger by the equation for two clusters';
    $('caption').textContent = last?.log10_time !== undefined && !last.gone ? `${dotted}: t = ${powerOfLog(last.log10_time)}.` : `${dotted}.`;
    table();
  }

  function table() {
    const rows = book.plateaus.filter((p) => p.log10_time !== undefined).slice(-5);
    $('plateaus').hidden = !rows.length;
    $('plateaus').tBodies[0].replaceChildren(...rows.map((p) => {
      const row = document.createElement('tr');
      for (const words of [p.clusters, p.energy.toFixed(4), p.level.toFixed(4), powerOfLog(p.log10_time), p.gone ? power(p.gone) : '']) {
        row.insertCell().textContent = words;
      }
      return row;
    }));
  }

  function numbers() {
    if (!run) return;
    $('now-t').textContent = power(run.t);
    $('now-clusters').textContent = run.clusters;
    $('now-energy').textContent = run.energy.toFixed(4);
    $('now-steps').textContent = run.steps;
  }

  function show() {
    drawTokens();
    numbers();
    const words = run ? `${run.clusters} clusters of ${run.start} tokens at time ${power(run.t)}, energy ${run.energy.toFixed(3)} of 1` : 'nothing';
    $('sphere').setAttribute('aria-label', `Tokens in dimension ${state.d}: ${words}`);
    $('stairs').setAttribute('aria-label', `Energy and number of clusters over logarithmic time: ${words}`);
    $('sphere').classList.toggle('turns', state.d === 3);
    const ended = run?.ended && (run.n === 1 ? 'all tokens are one cluster' : run.ended);
    $('status').textContent = ended ? `${ended[0].toUpperCase()}${ended.slice(1)}.` : '';
    $('command').textContent = commandOf(state);
    for (const b of $('presets').children) b.setAttribute('aria-pressed', b.dataset.hash === writeState({ ...state, view: DEFAULTS.view }));
  }

  // Says which values of the address are not taken as they are.
  function remark(lines) {
    $('remarks').hidden = !lines.length;
    $('remarks').textContent = lines.length ? `Of the address, ${lines.join('; ')}.` : '';
  }

  function say(lines) {
    $('said').replaceChildren(...lines.map((l) => Object.assign(document.createElement('li'), { textContent: l })));
  }

  // ---- controls
  function change(next) {
    remark([]);
    state = fitting({ ...state, ...next });
    reflect();
    save();
    begin();
    play();
  }

  function save() {
    try {
      history.replaceState(null, '', writeState(state) === '#' ? location.pathname + location.search : writeState(state));
    } catch {
      // A page inside another page may have no address to write to.
    }
  }

  function reflect() {
    for (const [name, , values, words] of SLIDERS) {
      const input = $(`set-${name}`), k = nearest(values, state[name]);
      input.value = k;
      input.setAttribute('aria-valuetext', words(values[k]));
      $(`out-${name}`).textContent = words(values[k]);
      input.disabled = Boolean(LISTS[state.start]) && (name === 'n' || name === 'd');
    }
    const end = settingsOf(state).t_end;
    $('out-end').textContent = power(end);
    $('set-end').setAttribute('aria-valuetext', power(end));
    $('note-end').hidden = end === state.end;
    for (const [name] of MENUS) $(`set-${name}`).value = state[name];
    $('set-interaction').value = state.interaction;
    $('set-scale').disabled = !state.dynamics.endsWith('usa') || Boolean(state.interaction);
    $('set-norm').title = state.norm;
  }

  function controls() {
    const form = $('form'), add = (tag, of) => form.appendChild(Object.assign(document.createElement(tag), of));
    const menu = ([name, label, options]) => {
      add('label', { htmlFor: `set-${name}`, textContent: label });
      const select = add('select', { id: `set-${name}` });
      options.forEach(([value, words]) => select.add(new Option(words, value)));
      select.addEventListener('change', () => change({ [name]: select.value }));
    };
    const slider = ([name, label, values]) => {
      add('label', { htmlFor: `set-${name}`, textContent: label });
      const input = add('input', { id: `set-${name}`, type: 'range', min: 0, max: values.length - 1, step: 1 });
      const output = add('output', { id: `out-${name}` });
      output.setAttribute('for', input.id);
      input.addEventListener('input', () => change({ [name]: values[Number(input.value)] }));
    };
    SLIDERS.slice(0, 3).forEach(slider);
    MENUS.forEach(menu);
    add('label', { htmlFor: 'set-interaction', textContent: 'interaction' });
    const formula = add('input', { id: 'set-interaction', type: 'text', placeholder: 'exp(beta*s)', maxLength: 200, spellcheck: false, title: FORMULAS });
    formula.addEventListener('change', () => change({ interaction: formula.value.trim() }));
    SLIDERS.slice(3).forEach(slider);
    add('p', { id: 'note-end', className: 'quiet note', textContent: NOISE_NOTE });
    $('set-end').setAttribute('aria-describedby', 'note-end');
    for (const [name, preset, about] of PRESETS) {
      const button = $('presets').appendChild(Object.assign(document.createElement('button'), { textContent: name, title: about }));
      button.dataset.hash = writeState(fitting({ ...DEFAULTS, ...preset }));
      button.addEventListener('click', () => {
        change({ ...DEFAULTS, ...preset });
        $('status').textContent = about;
      });
    }
    form.addEventListener('submit', (e) => e.preventDefault());
    $('play').addEventListener('click', () => (playing ? pause() : play()));
    $('step').addEventListener('click', () => { pause(); if (run) { advance(1, 1e3); show(); drawGraphs(); } });
    $('reset').addEventListener('click', begin);
    const speed = () => { $('speed-value').textContent = $('speed').value; };
    $('speed').addEventListener('input', speed);
    speed();
  }

  function turn(lon, lat) {
    const [a, b] = state.view.split(',').map(Number);
    state.view = `${Math.round((((a + lon) % 360) + 360) % 360)},${Math.round(Math.max(-90, Math.min(90, b + lat)))}`;
    drawTokens();
  }

  function gestures() {
    const canvas = $('sphere');
    let from = null;
    canvas.addEventListener('pointerdown', (e) => { if (state.d === 3) { from = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); } });
    canvas.addEventListener('pointermove', (e) => {
      if (!from) return;
      const [dx, dy] = [Math.trunc((e.clientX - from[0]) / 2), Math.trunc((e.clientY - from[1]) / 2)];
      if (dx || dy) {
        from = [from[0] + 2 * dx, from[1] + 2 * dy];
        turn(-dx, dy);
      }
    });
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, () => { if (from) { from = null; save(); } });
    const arrows = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, -5], ArrowDown: [0, 5] };
    canvas.addEventListener('keydown', (e) => {
      if (state.d === 3 && arrows[e.key]) {
        e.preventDefault();
        turn(...arrows[e.key]);
        save();
      }
    });
    addEventListener('keydown', (e) => {
      if (e.target.closest?.('button,input,select,pre') || e.ctrlKey || e.metaKey || e.altKey) return;
      const id = { ' ': 'play', s: 'step', r: 'reset' }[e.key];
      if (id) {
        e.preventDefault();
        $(id).click();
      }
    });
    addEventListener('hashchange', () => {
      ({ state, remarks } = readAddress(location.hash));
      remark(remarks);
      reflect();
      begin();
      play();
    });
    new ResizeObserver(() => { drawTokens(); drawGraphs(); }).observe($('sphere'));
  }

  // ---- downloads
  const SIZE = [1140, 580];
  function composed(pen) {
    const shift = (dx, dy) => {
      const moved = (points) => points.map(([x, y]) => [x + dx, y + dy]);
      return {
        path: (p, s) => pen.path(moved(p), s), disc: (x, y, r, s) => pen.disc(x + dx, y + dy, r, s), box: (x, y, w, h, f) => pen.box(x + dx, y + dy, w, h, f),
        text: (x, y, w, s) => pen.text(x + dx, y + dy, w, s), image: (x, y, side, p) => pen.image(x + dx, y + dy, side, p),
      };
    };
    drawScene(shift(10, 10), 520, run, state);
    drawChart(shift(550, 10), 580, 540, book);
    pen.text(20, 566, commandOf(state).split('\n').pop(), { size: 11, fill: SOFT });
  }

  function download(name, type, content) {
    const href = URL.createObjectURL(new Blob([content], { type }));
    const link = Object.assign(document.createElement('a'), { download: name, href });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }

  function svg() {
    const pen = svgPen(...SIZE), images = [];
    pen.image = (x, y, side, picture) => images.push(`<image x="${x}" y="${y}" width="${side}" height="${side}" style="image-rendering:pixelated" href="${picture.toDataURL()}"/>`);
    composed(pen);
    return pen.finish(document.title, `${commandOf(state)} ${location.href}`).replace('</svg>', `${images.join('')}</svg>`);
  }

  function picture() {
    const [width, height] = SIZE, canvas = document.createElement('canvas');
    Object.assign(canvas, { width: 2 * width, height: 2 * height });
    const context = canvas.getContext('2d');
    context.scale(2, 2);
    const pen = canvasPen(context);
    pen.image = (x, y, side, image) => {
      context.imageSmoothingEnabled = false;
      context.drawImage(image, x, y, side, side);
    };
    pen.box(0, 0, width, height, PAPER);
    composed(pen);
    return canvas;
  }

  function csv() {
    const comments = [...commandOf(state).split('\n'), `link: ${location.hash || '#'}`].map((l) => `# ${l}\n`).join('');
    return `${comments}t,energy,clusters,tokens\n${book.rows.map((r) => `${r.t},${r.energy},${r.clusters},${r.tokens}\n`).join('')}`;
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      tell(`The ${what} is copied.`);
    } catch {
      tell(`The browser does not allow this page to copy the ${what}.`);
    }
  }

  const tell = (words) => { $('told').textContent = words; };
  // Waits until the page is redrawn, at most a tenth of a second.
  const shown = () => new Promise((then) => {
    requestAnimationFrame(() => setTimeout(then));
    setTimeout(then, 100);
  });

  // Saves the picture at the time of the click. It is encoded synchronously: `toBlob` waits until the
  // page is idle, which takes seconds while a run plays.
  async function png() {
    const canvas = picture();
    tell('Drawing metastable.png …');
    $('png').setAttribute('aria-busy', true);
    await shown();
    const text = atob(canvas.toDataURL('image/png').split(',')[1]);
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    $('png').removeAttribute('aria-busy');
    saveAs('metastable.png', 'image/png', bytes);
  }

  function saveAs(name, type, content) {
    download(name, type, content);
    tell(`${name} is saved.`);
  }

  $('png').addEventListener('click', png);
  $('svg').addEventListener('click', () => saveAs('metastable.svg', 'image/svg+xml', svg()));
  $('csv').addEventListener('click', () => saveAs('metastable.csv', 'text/csv', csv()));
  $('copy').addEventListener('click', () => copy($('command').textContent, 'command'));
  $('link').addEventListener('click', () => copy(location.href, 'link'));

  controls();
  gestures();
  remark(remarks);
  reflect();
  begin();
  play();
  // For the console, and for tests.
  window.metastable = { ask, timing, PRESETS, get state() { return state; }, get run() { return run; }, get book() { return book; }, commandOf, settingsOf, svg, csv };
})();

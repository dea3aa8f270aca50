// The page in a real browser: `BROWSER=/usr/bin/chromium node tests/page/browser.mjs PROGRAM FOLDER`, where FOLDER holds node_modules/playwright-core and gets
// the screenshots. No console error, no request, the native velocities bit by bit, sliders by keyboard, every preset, phone width, contrast, frame rate.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [program, folder] = process.argv.slice(2).map((p) => resolve(p));
const { chromium } = createRequire(`${folder}/`)('playwright-core');
const native = (args) => execFileSync('sh', ['-c', args], { cwd: folder, env: { ...process.env, PATH: `${program.replace(/\/[^/]*$/, '')}:${process.env.PATH}` }, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
const done = (what) => console.log(`page: ${what}`);

execFileSync(program, ['page', '--out', `${folder}/page.html`], { stdio: 'ignore' });
const browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox'] });

async function open(hash = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, acceptDownloads: true, ...options });
  const page = await context.newPage(), wrong = [], requests = [];
  page.on('console', (m) => m.type() === 'error' && wrong.push(m.text()));
  page.on('pageerror', (e) => wrong.push(String(e)));
  page.on('request', (r) => /^(https?|ws):/.test(r.url()) && requests.push(r.url()));
  await page.goto(`file://${folder}/page.html${hash}`);
  await page.waitForFunction(() => window.metastable || !document.getElementById('alert').hidden);
  return Object.assign(page, { clean: () => { assert.deepEqual(wrong, []); assert.deepEqual(requests, []); return context.close(); } });
}

// Doubles that differ in any bit differ here: -0 and NaN too.
const same = (a, b) => a.length === b.length && a.every((v, k) => Object.is(v, b[k]));

const rows = (x, d) => Array.from({ length: x.length / d }, (_, i) => `${x.slice(i * d, (i + 1) * d).join(',')}\n`).join('');

// ---- the same numbers
{
  const page = await open();
  for (const change of [
    { n: 5, d: 2, beta: 4 }, { n: 64, d: 3, beta: 9 }, { n: 64, d: 3, beta: 9, zipf: 0.7 }, { n: 33, d: 2, beta: 25.1, dynamics: 'usa', scale: 'u2' },
    { n: 48, d: 3, beta: 4, dynamics: 'causal-sa' }, { n: 40, d: 16, beta: 2, norm: 'pre' }, { start: 'prepared', n: 5, d: 2, beta: 1000, dynamics: 'usa', scale: 'u2' },
    { start: 'five', n: 5, d: 2, beta: 4 },
  ]) {
    // The start goes through digits: a law draws with logarithms and sines, whose last bit is that of each machine's library.
    const { x, masses, flags } = await page.evaluate((c) => {
      const m = window.metastable, s = { ...m.state, ...c };
      const reply = m.ask({ ask: 'begin', settings: m.settingsOf(s) });
      const flags = m.commandOf({ ...s, zipf: 0 }, 'velocity').split('\n').pop().replace(/--init.*--seed \d+|--normalise --tokens \S+|--angles \S+/, '--normalise --tokens start.csv');
      return { x: [...reply.numbers.subarray(0, s.n * s.d)], masses: m.settingsOf(s).masses, flags };
    }, change);
    writeFileSync(`${folder}/start.csv`, rows(x, change.d));
    writeFileSync(`${folder}/masses.csv`, masses.map((m) => `${m}\n`).join(''));
    const numbers = await page.evaluate(([c, tokens, masses]) => {
      const m = window.metastable, settings = { ...m.settingsOf({ ...m.state, ...c }), tokens, angles: [], masses };
      m.ask({ ask: 'begin', settings });
      return [...m.ask({ ask: 'velocity' }).numbers];
    }, [change, x, masses]);
    const command = `${flags}${masses.length ? ' --masses masses.csv' : ''}`;
    const json = JSON.parse(native(`${command} --format json --full`));
    const expected = [...json.velocity.flat(), ...(json.radial_velocity ?? [])];
    assert.ok(same(numbers, expected), `${command}: ${numbers.filter((v, k) => !Object.is(v, expected[k])).length} of ${numbers.length} velocities differ`);
  }
  // A whole run ends where the native one ends. (Lengths of steps go through a power, whose last bit is the library's: not bit by bit.)
  const ended = await page.evaluate(() => {
    const m = window.metastable, s = { ...m.state, n: 24, d: 2, beta: 9, end: 50 };
    m.ask({ ask: 'begin', settings: m.settingsOf(s) });
    let reply;
    do reply = m.ask({ ask: 'go', steps: 50 }); while (!reply.ended);
    return { command: m.commandOf(s), steps: reply.steps, n: reply.n, x: [...reply.numbers.subarray(0, reply.n * 2)] };
  });
  const json = JSON.parse(native(`${ended.command} --format json --full`));
  const survivors = [...new Set(json.labels)].sort((a, b) => a - b).flatMap((l) => json.final_tokens[json.labels.indexOf(l)]);
  assert.equal(ended.x.length, survivors.length, 'another number of clusters');
  // Local errors of 1e-10 a unit of way, over a way of order one.
  ended.x.forEach((v, k) => assert.ok(Math.abs(v - survivors[k]) < 1e-8, `${ended.command}: ${v} and ${survivors[k]}`));
  assert.ok(Math.abs(ended.steps - json.stats.steps) <= 2, `${ended.steps} steps, natively ${json.stats.steps}`);
  await page.clean();
  done('velocities are the native portable ones bit by bit, and a run ends where the native one ends');
}

// ---- controls by keyboard
{
  const page = await open();
  for (const name of ['n', 'd', 'beta', 'kappa', 'zipf', 'seed', 'end']) {
    const before = await page.evaluate(() => JSON.stringify(window.metastable.state));
    await page.focus(`#set-${name}`);
    await page.keyboard.press('ArrowRight');
    const [after, value, said, hash] = await page.evaluate((k) => [JSON.stringify(window.metastable.state), String(window.metastable.state[k]), document.getElementById(`out-${k}`).textContent, location.hash], name);
    assert.notEqual(before, after, `${name} did not move`);
    assert.ok(said.length && new URLSearchParams(hash.slice(1)).get(name) === value, `${name} = ${value} is not in ${hash}`);
  }
  await page.evaluate(() => { location.hash = '#n=12&d=3&beta=4'; });
  await page.waitForFunction(() => window.metastable.run.start === 12);
  await page.focus('#sphere');
  await page.keyboard.press('ArrowLeft');
  assert.match(await page.evaluate(() => location.hash), /view=/);
  await page.keyboard.press('s');
  assert.equal(await page.evaluate(() => window.metastable.run.steps), 1);
  await page.keyboard.press(' ');
  await page.waitForFunction(() => window.metastable.run.steps > 20);
  await page.keyboard.press('r');
  assert.equal(await page.evaluate(() => window.metastable.run.t), 0);
  const box = await page.locator('#sphere').boundingBox(), view = await page.evaluate(() => window.metastable.state.view);
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 260, box.y + 230, { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await page.evaluate(() => window.metastable.state.view), view, 'the sphere does not turn');
  const link = await page.evaluate(() => location.hash);
  await page.clean();
  // The link alone brings the state back.
  const again = await open(link);
  assert.equal(await again.evaluate(() => window.metastable.run.start), 12);
  await again.clean();
  done('sliders, keys, drag, link');
}

// ---- every preset, looked at
{
  const page = await open();
  for (const [k, [name]] of (await page.evaluate(() => window.metastable.PRESETS)).entries()) {
    await page.locator('#presets button').nth(k).click();
    assert.equal(await page.locator('#presets button').nth(k).getAttribute('aria-pressed'), 'true', name);
    await page.click('#play');
    await page.waitForFunction(() => window.metastable.run.ended || window.metastable.timing.busy > 4000, null, { timeout: 120000 });
    if (await page.locator('#play').textContent() === 'Pause') await page.click('#play');
    const run = await page.evaluate(() => ({ t: window.metastable.run.t, energy: window.metastable.run.energy, clusters: window.metastable.run.clusters, alert: document.getElementById('alert').hidden }));
    assert.ok(run.alert && run.t > 0 && run.energy > 0 && run.energy <= 1 + 1e-12 && run.clusters >= 1, `${name}: ${JSON.stringify(run)}`);
    await page.screenshot({ path: `${folder}/${name.toLowerCase().replace(/ /g, '-')}.png`, fullPage: true });
  }
  // The staircase climbs the levels of the paper, and each was predicted.
  await page.locator('#presets button', { hasText: 'Staircase' }).click();
  await page.click('#play');
  await page.waitForFunction(() => window.metastable.run.ended, null, { timeout: 120000 });
  const levels = await page.evaluate(() => window.metastable.book.plateaus.map((p) => p.level));
  for (const level of [0.28, 0.44, 0.52]) assert.ok(levels.some((l) => Math.abs(l - level) < 1e-3), `no plateau at ${level}: ${levels}`);
  // What is taken home is whole.
  const svg = await page.evaluate(() => window.metastable.svg());
  writeFileSync(`${folder}/staircase.svg`, svg);
  assert.equal(await page.evaluate((s) => new DOMParser().parseFromString(s, 'image/svg+xml').querySelector('parsererror') === null, svg), true);
  for (const name of ['png', 'svg', 'csv']) {
    const [file] = await Promise.all([page.waitForEvent('download'), page.click(`#${name}`)]);
    await file.saveAs(`${folder}/export.${name}`);
  }
  await page.clean();
  done('every preset, exports');
}

// ---- a phone, less motion, no WebAssembly, contrast
{
  const phone = await open('#d=2&n=32', { viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than a phone');
  await phone.click('#play');
  await phone.waitForFunction(() => window.metastable.run.steps > 40);
  await phone.click('#play');
  await phone.screenshot({ path: `${folder}/phone.png`, fullPage: true });
  await phone.clean();

  const calm = await open('', { reducedMotion: 'reduce' });
  await calm.click('#play');
  await calm.waitForTimeout(2200);
  assert.ok(await calm.evaluate(() => window.metastable.timing.frames) <= 6, 'too much motion');
  await calm.clean();

  const context = await browser.newContext(), bare = await context.newPage();
  await bare.addInitScript(() => { delete window.WebAssembly; });
  await bare.goto(`file://${folder}/page.html`);
  await bare.waitForFunction(() => !document.getElementById('alert').hidden);
  assert.match(await bare.textContent('#alert'), /no WebAssembly/);
  await context.close();

  const page = await open();
  const faint = await page.evaluate(() => {
    const light = ([r, g, b]) => [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((s, v, k) => s + v * [0.2126, 0.7152, 0.0722][k], 0);
    const parse = (c) => c.match(/[\d.]+/g).map(Number), out = [];
    for (const e of document.querySelectorAll('body *')) {
      if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName) || !e.offsetParent) continue;
      let ground = e, back = parse(getComputedStyle(e).backgroundColor);
      while (back[3] === 0 && ground.parentElement) back = parse(getComputedStyle((ground = ground.parentElement)).backgroundColor);
      const [a, b] = [light(parse(getComputedStyle(e).color)), light(back)].sort((x, y) => y - x);
      if ((a + 0.05) / (b + 0.05) < 4.5 && !e.matches(':disabled,:disabled *')) out.push(`${e.tagName} ${e.textContent.slice(0, 30)}`);
    }
    return out;
  });
  assert.deepEqual(faint, [], 'contrast below 4.5');
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('input,select,button,canvas')].filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).length);
  assert.equal(unnamed, 0, 'controls without a name');
  await page.clean();
  done('phone, less motion, no WebAssembly, contrast, names');
}

// ---- how fast
for (const [n, steps, beta, most] of [[64, 20, 9, 1000 / 60], [64, 20, 1000, 1000 / 60], [300, 1, 9, 100]]) {
  const page = await open(`#n=${n}&d=3&beta=${beta}&end=1e300`);
  const told = await page.evaluate(async ([steps]) => {
    const m = window.metastable;
    // The steps alone, at the best of each: other work on the machine makes most of them slow.
    let best = Infinity;
    m.ask({ ask: 'begin', settings: m.settingsOf(m.state) });
    for (let k = 0; k < 150; k++) {
      const from = performance.now();
      m.ask({ ask: 'go', steps: 1 });
      best = Math.min(best, performance.now() - from);
    }
    best *= steps;
    document.getElementById('speed').value = steps;
    document.getElementById('reset').click();
    document.getElementById('play').click();
    // A run of few tokens is over within a second.
    const from = performance.now();
    while (!m.run.ended && performance.now() - from < 3000) await new Promise((r) => setTimeout(r, 5));
    const { frames, busy, steps: taken } = m.timing, seconds = (performance.now() - from) / 1000;
    return { best, fps: frames / seconds, busy: busy / frames, taken: taken / frames };
  }, [steps]);
  done(`n = ${n}, d = 3, beta = ${beta}: ${steps} steps take ${told.best.toFixed(2)} ms at best; played: ${told.fps.toFixed(1)} frames a second, ${told.busy.toFixed(1)} ms and ${told.taken.toFixed(1)} steps a frame`);
  assert.ok(told.best < most, `${steps} steps at n = ${n} take ${told.best} ms`);
  await page.clean();
}
await browser.close();

// The engine: WebAssembly from the page itself, asked in JSON.
async function loadEngine(text) {
  const refused = (what) => new Error(`This browser has no WebAssembly${what}: nothing can be computed here. The command metastable solve does the same.`);
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function') throw refused(' (or an old one without decompression)');
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
  const module = await WebAssembly.compile(bytes).catch(() => { throw refused(' with vectors (it is from before 2023)'); });
  // What libraries would ask of a browser and this program never does (a clock, random bytes).
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => { throw new Error(`${name} is not there`); };
  }
  const wasm = (await WebAssembly.instantiate(module, imports)).exports;
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  // The reply, with its numbers as an array of their own.
  return (request) => {
    const bytes = encoder.encode(JSON.stringify(request));
    // A call may move the memory: where things lie is asked before the memory is looked at.
    const room = wasm.room(bytes.length);
    new Uint8Array(wasm.memory.buffer, room, bytes.length).set(bytes);
    const length = wasm.ask(), at = wasm.reply();
    const reply = JSON.parse(decoder.decode(new Uint8Array(wasm.memory.buffer, at, length)));
    if (reply.error) throw new Error(reply.error);
    reply.numbers = new Float64Array(wasm.memory.buffer, wasm.numbers(), wasm.count()).slice();
    return reply;
  };
}

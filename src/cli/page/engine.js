// The engine: WebAssembly embedded in the page. Requests and replies are JSON.
async function loadEngine(text) {
  const refused = (what) => new Error(`This browser has no WebAssembly${what}: the page cannot compute. The command metastable solve does the same.`);
  if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function') throw refused(' (or an old one without decompression)');
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
  const module = await WebAssembly.compile(bytes).catch(() => { throw refused(' with vectors (it is from before 2023)'); });
  // Functions of the browser that libraries import and this program never calls (clock, random bytes).
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => { throw new Error(`${name} is not there`); };
  }
  const wasm = (await WebAssembly.instantiate(module, imports)).exports;
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  // Sends a request; the numbers of the reply are an array of their own.
  return (request) => {
    const bytes = encoder.encode(JSON.stringify(request));
    // A call may move the memory: ask for addresses before making views of the memory.
    const buffer = wasm.request_buffer(bytes.length);
    new Uint8Array(wasm.memory.buffer, buffer, bytes.length).set(bytes);
    const length = wasm.answer_request(), at = wasm.reply();
    const reply = JSON.parse(decoder.decode(new Uint8Array(wasm.memory.buffer, at, length)));
    if (reply.error) throw new Error(reply.error);
    reply.numbers = new Float64Array(wasm.memory.buffer, wasm.numbers(), wasm.numbers_len()).slice();
    return reply;
  };
}

"""Tiny trained-like models with random weights, and their hidden states by an independent float64 implementation.

    python make.py        writes a folder (or .gguf file) for every kind of model beside this file

Needs NumPy alone. The forward passes below follow the papers and the published layouts of the files, one token and one head at a
time, and share no code with the library. Weights are stored in single precision (or quantised); the reference takes the stored numbers.
"""

import json
import math
import struct
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
IDS = [1, 7, 3, 3, 12, 25, 9, 2]


def weights(rng, *shape, scale=0.3):
    return (scale * rng.standard_normal(shape)).astype(np.float32)


def norms(rng, d):
    return (1 + 0.1 * rng.standard_normal(d)).astype(np.float32), weights(rng, d, scale=0.1)


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(t.tobytes() for t in tensors.values()))


def layer_norm(x, gain, shift, eps):
    return np.array([gain * (r - r.mean()) / math.sqrt(((r - r.mean()) ** 2).mean() + eps) + shift for r in x])


def rms_norm(x, gain, eps):
    return np.array([gain * r / math.sqrt((r ** 2).mean() + eps) for r in x])


def gelu(x):
    return np.vectorize(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))))(x)


def gelu_new(x):
    return np.vectorize(lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3))))(x)


def silu(x):
    return x / (1 + np.exp(-x))


def attend(q, k, v, heads, sets, causal, rotate=lambda p, u: u):
    """q: n x heads r, k and v: n x sets r; the outputs of all heads side by side, and the weights."""
    n, r = len(q), q.shape[1] // heads
    out, seen = np.zeros((n, heads * r)), np.zeros((heads, n, n))
    for h in range(heads):
        g = h // (heads // sets)
        for i in range(n):
            last = i + 1 if causal else n
            query = rotate(i, q[i, h * r:(h + 1) * r])
            logits = np.array([query @ rotate(j, k[j, g * r:(g + 1) * r]) / math.sqrt(r) for j in range(last)])
            e = np.exp(logits - logits.max())
            seen[h, i, :last] = e / e.sum()
            out[i, h * r:(h + 1) * r] = sum(seen[h, i, j] * v[j, g * r:(g + 1) * r] for j in range(last))
    return out, seen


def linear(t, name, x):
    return x @ t[f"{name}.weight"].T.astype(float) + t[f"{name}.bias"].astype(float)


def affine(t, name):
    return t[f"{name}.weight"].astype(float), t[f"{name}.bias"].astype(float)


def add_linear(rng, t, name, inputs, outputs):
    t[f"{name}.weight"], t[f"{name}.bias"] = weights(rng, outputs, inputs), weights(rng, outputs, scale=0.1)


def add_norm(rng, t, name, d):
    t[f"{name}.weight"], t[f"{name}.bias"] = norms(rng, d)


def save(folder, tensors, config, states, seen, last=None):
    folder.mkdir(exist_ok=True)
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_states(folder, states, seen, last)


def save_states(folder, states, seen, last):
    np.save(folder / "states.npy", np.array(states))
    np.save(folder / "attention.npy", np.array(seen).reshape(-1, len(IDS)))
    if last is not None:
        np.save(folder / "last.npy", last)


WORDS = ["[PAD]", "[CLS]", "[SEP]", "the", "tokens", "of", "a", "text", "attend", "to", "each", "other", "and", "cluster", "slowly"]


def embedded(t, e, eps):
    x = t["embeddings.word_embeddings.weight"].astype(float)[IDS]
    x = x + t["embeddings.position_embeddings.weight"].astype(float)[:len(IDS)] + t["embeddings.token_type_embeddings.weight"].astype(float)[0]
    return layer_norm(x, *affine(t, "embeddings.LayerNorm"), eps)


def add_embeddings(rng, t, words, positions, e):
    t["embeddings.word_embeddings.weight"] = weights(rng, words, e, scale=1.0)
    t["embeddings.position_embeddings.weight"] = weights(rng, positions, e)
    t["embeddings.token_type_embeddings.weight"] = weights(rng, 2, e)
    add_norm(rng, t, "embeddings.LayerNorm", e)


def post_norm_layer(t, x, names, heads, eps, act):
    q, k, v = (linear(t, names[w], x) for w in "qkv")
    out, seen = attend(q, k, v, heads, heads, False)
    a = layer_norm(x + linear(t, names["o"], out), *affine(t, names["norm"]), eps)
    f = linear(t, names["second"], act(linear(t, names["first"], a)))
    return layer_norm(a + f, *affine(t, names["last"]), eps), seen


def bert():
    rng, t = np.random.default_rng(1), {}
    d, heads, hidden, layers, words = 16, 2, 24, 2, 30
    add_embeddings(rng, t, words, 12, d)
    states, attention = [embedded(t, d, 1e-12)], []
    for l in range(layers):
        p = f"encoder.layer.{l}."
        names = dict(q=p + "attention.self.query", k=p + "attention.self.key", v=p + "attention.self.value", o=p + "attention.output.dense",
                     norm=p + "attention.output.LayerNorm", first=p + "intermediate.dense", second=p + "output.dense", last=p + "output.LayerNorm")
        for w in "qkvo":
            add_linear(rng, t, names[w], d, d)
        add_linear(rng, t, names["first"], d, hidden)
        add_linear(rng, t, names["second"], hidden, d)
        add_norm(rng, t, names["norm"], d)
        add_norm(rng, t, names["last"], d)
        x, seen = post_norm_layer(t, states[-1], names, heads, 1e-12, gelu)
        states.append(x)
        attention.append(seen)
    add_linear(rng, t, "pooler.dense", d, d)
    config = dict(model_type="bert", hidden_size=d, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=hidden, hidden_act="gelu",
                  layer_norm_eps=1e-12, max_position_embeddings=12, vocab_size=words, type_vocab_size=2, position_embedding_type="absolute")
    save(HERE / "bert", t, config, states, attention)
    vocabulary = {w: k for k, w in enumerate(WORDS + [f"[{k}]" for k in range(words - len(WORDS))])}
    save_tokenizer("bert", [special(vocabulary, w) for w in ("[PAD]", "[CLS]", "[SEP]")], normalizer=dict(type="Lowercase"),
                   pre_tokenizer=dict(type="Whitespace"), post_processor=dict(type="BertProcessing", sep=["[SEP]", 2], cls=["[CLS]", 1]),
                   truncation=dict(direction="Right", max_length=4, strategy="LongestFirst", stride=0),
                   model=dict(type="WordLevel", vocab=vocabulary, unk_token="[PAD]"))


def special(vocabulary, word):
    return dict(id=vocabulary[word], content=word, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)


def save_tokenizer(folder, added, **parts):
    """A tokenizer.json as the published models have them."""
    whole = dict(version="1.0", truncation=None, padding=None, added_tokens=added, normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None)
    whole.update(parts)
    (HERE / folder / "tokenizer.json").write_text(json.dumps(whole, indent=1) + "\n")


def template(vocabulary, before, after):
    """Marks at the ends of a text."""
    one = lambda w: dict(SpecialToken=dict(id=w, type_id=0))
    single = [one(w) for w in before] + [dict(Sequence=dict(id="A", type_id=0))] + [one(w) for w in after]
    return dict(type="TemplateProcessing", single=single, pair=single,
                special_tokens={w: dict(id=w, ids=[vocabulary[w]], tokens=[w]) for w in before + after})


def pairs_of(space, marks):
    """Words and merges of byte pairs: "the" and, after a space, "tokens" are one word each in the end."""
    merges = ["t h", "th e", f"{space} t", f"{space}t o", f"{space}to k", f"{space}tok e", f"{space}toke n", f"{space}token s"]
    words = marks + [space] + list("theoknscur") + [m.replace(" ", "") for m in merges]
    return words + [f"[{k}]" for k in range(30 - len(words))], merges


def tokenizers():
    # ALBERT: pieces of the largest probability.
    pieces = [["<pad>", 0.0], ["<unk>", -9.0], ["[CLS]", 0.0], ["[SEP]", 0.0], ["\u2581the", -2.0], ["\u2581token", -3.0], ["s", -2.5], ["\u2581", -2.0],
              ["t", -4.0], ["h", -4.0], ["e", -4.0]]
    vocabulary = {w: k for k, (w, _) in enumerate(pieces)}
    space = dict(type="Metaspace", replacement="\u2581", prepend_scheme="always", split=True)
    save_tokenizer("albert", [special(vocabulary, w) for w in ("[CLS]", "[SEP]")], normalizer=dict(type="Lowercase"), pre_tokenizer=space,
                   post_processor=template(vocabulary, ["[CLS]"], ["[SEP]"]), model=dict(type="Unigram", unk_id=1, vocab=pieces, byte_fallback=False))
    # GPT-2: byte pairs, a space is a letter.
    words, merges = pairs_of("\u0120", [])
    bytes_ = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
    model = lambda words, merges, **more: dict(type="BPE", vocab={w: k for k, w in enumerate(words)}, merges=merges, **more)
    save_tokenizer("gpt2", [], pre_tokenizer=bytes_, model=model(words, merges))
    # Llama: the same with the mark of a beginning.
    words, merges = pairs_of("\u2581", ["<unk>", "<s>", "</s>"])
    prefix = dict(type="Sequence", normalizers=[dict(type="Prepend", prepend="\u2581"), dict(type="Replace", pattern=dict(String=" "), content="\u2581")])
    vocabulary = {w: k for k, w in enumerate(words)}
    save_tokenizer("llama", [special(vocabulary, w) for w in ("<unk>", "<s>", "</s>")], normalizer=prefix,
                   post_processor=template(vocabulary, ["<s>"], []), model=model(words, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=False))


def albert():
    rng, t = np.random.default_rng(2), {}
    d, e, heads, hidden, layers, words = 16, 8, 4, 24, 3, 30
    add_embeddings(rng, t, words, 12, e)
    add_linear(rng, t, "encoder.embedding_hidden_mapping_in", e, d)
    p = "encoder.albert_layer_groups.0.albert_layers.0."
    names = dict(q=p + "attention.query", k=p + "attention.key", v=p + "attention.value", o=p + "attention.dense", norm=p + "attention.LayerNorm",
                 first=p + "ffn", second=p + "ffn_output", last=p + "full_layer_layer_norm")
    for w in "qkvo":
        add_linear(rng, t, names[w], d, d)
    add_linear(rng, t, names["first"], d, hidden)
    add_linear(rng, t, names["second"], hidden, d)
    add_norm(rng, t, names["norm"], d)
    add_norm(rng, t, names["last"], d)
    states, attention = [linear(t, "encoder.embedding_hidden_mapping_in", embedded(t, e, 1e-12))], []
    for _ in range(layers):
        x, seen = post_norm_layer(t, states[-1], names, heads, 1e-12, gelu_new)
        states.append(x)
        attention.append(seen)
    config = dict(model_type="albert", hidden_size=d, embedding_size=e, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=hidden,
                  hidden_act="gelu_new", layer_norm_eps=1e-12, max_position_embeddings=12, vocab_size=words, type_vocab_size=2, num_hidden_groups=1,
                  inner_group_num=1)
    save(HERE / "albert", {f"albert.{k}": v for k, v in t.items()}, config, states, attention)


def gpt2():
    rng, t = np.random.default_rng(3), {}
    d, heads, hidden, layers, words = 16, 4, 64, 2, 30
    t["wte.weight"], t["wpe.weight"] = weights(rng, words, d, scale=1.0), weights(rng, 12, d)
    columns = lambda name, x: x @ t[f"{name}.weight"].astype(float) + t[f"{name}.bias"].astype(float)
    states, attention = [t["wte.weight"].astype(float)[IDS] + t["wpe.weight"].astype(float)[:len(IDS)]], []
    for l in range(layers):
        p = f"h.{l}."
        for name in ("ln_1", "ln_2"):
            add_norm(rng, t, p + name, d)
        for name, i, o in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d), ("mlp.c_fc", d, hidden), ("mlp.c_proj", hidden, d)):
            t[f"{p}{name}.weight"], t[f"{p}{name}.bias"] = weights(rng, i, o), weights(rng, o, scale=0.1)
        x = states[-1]
        q, k, v = np.split(columns(p + "attn.c_attn", layer_norm(x, *affine(t, p + "ln_1"), 1e-5)), 3, axis=1)
        out, seen = attend(q, k, v, heads, heads, True)
        x = x + columns(p + "attn.c_proj", out)
        x = x + columns(p + "mlp.c_proj", gelu_new(columns(p + "mlp.c_fc", layer_norm(x, *affine(t, p + "ln_2"), 1e-5))))
        states.append(x)
        attention.append(seen)
    add_norm(rng, t, "ln_f", d)
    config = dict(model_type="gpt2", n_embd=d, n_layer=layers, n_head=heads, n_inner=None, activation_function="gelu_new", layer_norm_epsilon=1e-5,
                  n_positions=12, vocab_size=words)
    save(HERE / "gpt2", t, config, states, attention, layer_norm(states[-1], *affine(t, "ln_f"), 1e-5))


def llama_states(t, d, heads, sets, layers, eps, base, adjacent):
    r = d // heads

    def rotate(p, u):
        out = u.copy()
        for k in range(r // 2):
            a, b = (2 * k, 2 * k + 1) if adjacent else (k, k + r // 2)
            c, s = math.cos(p * base ** (-2 * k / r)), math.sin(p * base ** (-2 * k / r))
            out[a], out[b] = c * u[a] - s * u[b], s * u[a] + c * u[b]
        return out

    get = lambda name: t[f"{name}.weight"].astype(float)
    states, attention = [get("embed_tokens")[IDS]], []
    for l in range(layers):
        p, x = f"layers.{l}.", states[-1]
        y = rms_norm(x, get(p + "input_layernorm"), eps)
        q, k, v = (y @ get(f"{p}self_attn.{w}_proj").T for w in "qkv")
        out, seen = attend(q, k, v, heads, sets, True, rotate)
        x = x + out @ get(p + "self_attn.o_proj").T
        y = rms_norm(x, get(p + "post_attention_layernorm"), eps)
        x = x + (silu(y @ get(p + "mlp.gate_proj").T) * (y @ get(p + "mlp.up_proj").T)) @ get(p + "mlp.down_proj").T
        states.append(x)
        attention.append(seen)
    return states, attention, rms_norm(states[-1], get("norm"), eps)


def llama_tensors(rng, d, heads, sets, hidden, layers, words):
    t, r = {"embed_tokens.weight": weights(rng, words, d, scale=1.0), "norm.weight": norms(rng, d)[0]}, d // heads
    for l in range(layers):
        p = f"layers.{l}."
        t[p + "input_layernorm.weight"], t[p + "post_attention_layernorm.weight"] = norms(rng, d)[0], norms(rng, d)[0]
        for name, i, o in (("self_attn.q_proj", d, heads * r), ("self_attn.k_proj", d, sets * r), ("self_attn.v_proj", d, sets * r),
                           ("self_attn.o_proj", heads * r, d), ("mlp.gate_proj", d, hidden), ("mlp.up_proj", d, hidden), ("mlp.down_proj", hidden, d)):
            t[f"{p}{name}.weight"] = weights(rng, o, i)
    return t


def llama():
    d, heads, sets, hidden, layers, words = 16, 4, 2, 24, 2, 30
    t = llama_tensors(np.random.default_rng(4), d, heads, sets, hidden, layers, words)
    states, attention, last = llama_states(t, d, heads, sets, layers, 1e-5, 100.0, False)
    config = dict(model_type="llama", hidden_size=d, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=sets,
                  intermediate_size=hidden, max_position_embeddings=12, rms_norm_eps=1e-5, rope_theta=100.0, vocab_size=words, hidden_act="silu")
    save(HERE / "llama", {f"model.{k}": v for k, v in t.items()}, config, states, attention, last)


def halves(v):
    return np.asarray(v, np.float16)


def q8_0(t):
    blocks = t.reshape(-1, 32)
    scale = halves(np.abs(blocks).max(1) / 127)
    q = np.clip(np.round(blocks / np.where(scale > 0, scale, 1).astype(np.float32)[:, None]), -127, 127).astype(np.int8)
    data = b"".join(s.tobytes() + row.tobytes() for s, row in zip(scale, q))
    return 8, data, (scale.astype(float)[:, None] * q).reshape(t.shape)


def q4_1(t):
    blocks = t.reshape(-1, 32)
    least, scale = halves(blocks.min(1)), halves((blocks.max(1) - blocks.min(1)) / 15)
    q = np.clip(np.round((blocks - least.astype(np.float32)[:, None]) / scale.astype(np.float32)[:, None]), 0, 15).astype(np.uint8)
    data = b"".join(s.tobytes() + m.tobytes() + (row[:16] | row[16:] << 4).tobytes() for s, m, row in zip(scale, least, q))
    return 3, data, (scale.astype(float)[:, None] * q + least.astype(float)[:, None]).reshape(t.shape)


def f32(t):
    return 0, t.astype(np.float32).tobytes(), t.astype(float)


def f16(t):
    return 1, halves(t).tobytes(), halves(t).astype(float)


def gguf():
    d, heads, sets, hidden, layers, words = 32, 4, 2, 32, 1, 30
    t = llama_tensors(np.random.default_rng(5), d, heads, sets, hidden, layers, words)
    names = {"embed_tokens": "token_embd", "norm": "output_norm", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
             "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
             "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    stored, exact = {}, {}
    for name, v in t.items():
        bare = name.removesuffix(".weight")
        layer, part = (bare.split(".", 2)[1], bare.split(".", 2)[2]) if bare.startswith("layers.") else (None, bare)
        kind = f32 if v.ndim == 1 else q8_0 if part == "embed_tokens" else f16 if part == "mlp.up_proj" else q4_1
        code, data, exact[name] = kind(v)
        own = names[part] + ".weight"
        stored[f"blk.{layer}.{own}" if layer else own] = (code, v.shape, data)
    string = lambda s: struct.pack("<Q", len(s.encode())) + s.encode()
    strings = lambda words: struct.pack("<IQ", 8, len(words)) + b"".join(map(string, words))
    settings = [("general.architecture", 8, string("llama")), ("llama.embedding_length", 4, struct.pack("<I", d)),
                ("llama.block_count", 4, struct.pack("<I", layers)), ("llama.attention.head_count", 4, struct.pack("<I", heads)),
                ("llama.attention.head_count_kv", 4, struct.pack("<I", sets)), ("llama.feed_forward_length", 4, struct.pack("<I", hidden)),
                ("llama.context_length", 4, struct.pack("<I", 12)), ("llama.attention.layer_norm_rms_epsilon", 12, struct.pack("<d", 1e-5)),
                ("llama.rope.freq_base", 12, struct.pack("<d", 100.0)), ("llama.vocab_size", 4, struct.pack("<I", words)),
                ("tokenizer.ggml.model", 8, string("gpt2")), *((f"tokenizer.ggml.{k}", 9, strings(v)) for k, v in zip(("tokens", "merges"), pairs_of("\u0120", [])))]
    head = b"GGUF" + struct.pack("<IQQ", 3, len(stored), len(settings))
    head += b"".join(string(k) + struct.pack("<I", kind) + v for k, kind, v in settings)
    body = b""
    for name, (code, shape, data) in stored.items():
        head += string(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape)) + struct.pack("<IQ", code, len(body))
        body += data + b"\0" * (-len(data) % 32)
    (HERE / "gguf").mkdir(exist_ok=True)
    (HERE / "gguf" / "model.gguf").write_bytes(head + b"\0" * (-len(head) % 32) + body)
    states, attention, last = llama_states(exact, d, heads, sets, layers, 1e-5, 100.0, True)
    save_states(HERE / "gguf", states, attention, last)


for make in (bert, albert, gpt2, llama, gguf, tokenizers):
    make()
np.savetxt(HERE / "ids.csv", np.array(IDS)[:, None], fmt="%d")

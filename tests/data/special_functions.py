"""60-digit values of the special functions under test; needs mpmath. Writes special_functions.json beside itself."""
import json, os
import mpmath as mp

mp.mp.dps = 60
out = {"bessel": [], "bessel_half": [], "funk_hecke": [], "zonal": [], "log_sum_exp": [], "integral": []}
for x in ["1e-3", "0.5", "1", "7.5", "40", "300", "1e4", "1e6"]:
    for k in [0, 1, 2, 5, 10, 50, 200]:
        v = mp.besseli(k, mp.mpf(x)) * mp.exp(-mp.mpf(x))
        if v > mp.mpf("1e-290"):
            out["bessel"].append({"x": float(x), "k": k, "value": mp.nstr(v, 20)})
        v = mp.besseli(k + mp.mpf(1) / 2, mp.mpf(x)) * mp.exp(-mp.mpf(x))
        if v > mp.mpf("1e-290"):
            out["bessel_half"].append({"x": float(x), "k": k, "value": mp.nstr(v, 20)})
for d in [2, 3, 4, 7, 8, 33, 128, 1024]:
    for beta in ["0.01", "1", "20", "500"]:
        b = mp.mpf(beta)
        for k in [0, 1, 3, 12]:
            v = mp.gamma(mp.mpf(d) / 2) * (2 / b) ** (mp.mpf(d) / 2 - 1) * mp.besseli(k + mp.mpf(d) / 2 - 1, b) * mp.exp(-b)
            if v > mp.mpf("1e-290"):
                out["funk_hecke"].append({"d": d, "beta": float(beta), "k": k, "value": mp.nstr(v, 20)})
for d in [2, 3, 5, 9]:
    for s in ["-0.9", "0.1", "0.73"]:
        s_ = mp.mpf(float(s))
        for k in [1, 4, 20]:
            lam = mp.mpf(d - 2) / 2
            v = mp.chebyt(k, s_) if d == 2 else mp.gegenbauer(k, lam, s_) / mp.gegenbauer(k, lam, 1)
            out["zonal"].append({"d": d, "s": float(s), "k": k, "value": mp.nstr(v, 20)})
for logits in [[0.0, 0.0], [1.5, -2.25, 700.0], [-1e5, -1e5 + 0.5, -1e5 - 3.0], [1e-8, -1e-8, 3e-9]]:
    v = mp.log(sum(mp.exp(mp.mpf(l)) for l in logits))
    out["log_sum_exp"].append({"logits": logits, "value": mp.nstr(v, 20)})
for name, f, a, b in [
    ("exp(-x^2)", lambda x: mp.exp(-x * x), 0, 3),
    ("exp(50 cos x)", lambda x: mp.exp(50 * mp.cos(x)), 0, mp.pi),
    ("1/(1+25x^2)", lambda x: 1 / (1 + 25 * x * x), -1, 1),
]:
    out["integral"].append({"name": name, "value": mp.nstr(mp.quad(f, mp.linspace(a, b, 9)), 20)})
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "special_functions.json")
json.dump(out, open(path, "w"), indent=0)

"""60-digit values for the rows beyond the sphere: equiangular tokens under normalisation schemes, the Boolean limit, participation, one-step means.

Shares no code with the program: the schemes are integrated in time (gamma, r) by mpmath's Taylor method, the limit by quadrature in the plain variable.
"""
import json
from mpmath import mp, mpf, odefun, quad, exp, tanh, sqrt, gamma, pi, inf, cos, log, nstr

mp.dps = 40


def rates(scheme, n, beta, t, g, r):
    z = exp(beta) + (n - 1) * exp(beta * g)
    a, b = exp(beta) / z, exp(beta * g) / z
    radial = a + (n - 1) * b * g
    size = sqrt(g + (1 - g) * (a * a + (n - 1) * b * b))
    s, rho = {
        "post": (1, 0),
        "pre": (r, radial),
        "peri": (r * size, radial / size),
        "ngpt": (size, 0),
        "cod": (sqrt(t + 1), 0),
        "ln-scaling": (r * sqrt(t + 1), radial / sqrt(t + 1)),
    }[scheme]
    return 2 * b / s * (1 - g) * ((n - 1) * g + 1), rho


def curve(scheme, n, beta, g0, r0, times):
    f = odefun(lambda t, y: list(rates(scheme, n, beta, t, y[0], y[1])), 0, [mpf(g0), mpf(r0)], tol=mpf(10) ** -22)
    return [f(mpf(t)) for t in times]


out = []
for scheme in ["post", "pre", "peri", "ngpt", "cod", "ln-scaling"]:
    for n, beta, g0, r0 in [(16, 2, "0", "3"), (4, 6, "0.1", "0.7"), (8, 1, "-0.125", "1")]:
        times = ["0.5", "2", "8"]
        places = curve(scheme, n, mpf(beta), g0, r0, times)
        out.append({"scheme": scheme, "n": n, "beta": beta, "gamma0": g0, "r0": r0, "times": times,
                    "gamma": [nstr(p[0], 20) for p in places], "radius": [nstr(p[1], 20) for p in places]})
# Mix: post until 1, then pre.
for n, beta in [(16, 2), (8, 3)]:
    (g1, _), = curve("post", n, mpf(beta), "0", "1", ["1"])
    places = curve("pre", n, mpf(beta), nstr(g1, 30), "1", ["0.5", "3"])
    out.append({"scheme": "mix", "n": n, "beta": beta, "gamma0": "0", "r0": "1", "times": ["1", "1.5", "4"],
                "gamma": [nstr(g1, 20)] + [nstr(p[0], 20) for p in places], "radius": ["1"] + [nstr(p[1], 20) for p in places]})
with open("normalised.json", "w") as f:
    json.dump(out, f, indent=1)

mp.dps = 60
out = []
for eps in ["0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "3"]:
    e = mpf(eps)
    integral = quad(lambda u: (1 - tanh(u)) / (2 * u * tanh(u)), [e**2, 2 * e**2, 4 * e**2, 16 * e**2, 1 + 16 * e**2, 4 + 16 * e**2, 70 + 16 * e**2])
    out.append({"eps": eps, "log_limit": nstr(log(e) - integral, 30)})
with open("boolean_limit.json", "w") as f:
    json.dump(out, f, indent=1)

mp.dps = 30
out = []
for d in [2, 3, 5, 8]:
    for tau in ["0.01", "0.05"]:
        t, m = mpf(tau), d - 1
        density = lambda r: r ** (m - 1) * exp(-r * r / 2) / (mpf(2) ** (mpf(m) / 2 - 1) * gamma(mpf(m) / 2))
        s = sqrt(2 * t)
        c = sqrt(2 * t * (1 - (d - 2) * t / 3))
        grid = [0, 1, 2, 4, 8, 16]
        row = [quad(lambda r: density(r) / sqrt(1 + s * s * r * r), grid), quad(lambda r: density(r) * cos(s * r), grid),
               quad(lambda r: density(r) * cos(c * r), grid)]
        out.append({"d": d, "tau": tau, "means": [nstr(v, 20) for v in row]})
with open("noise_step.json", "w") as f:
    json.dump(out, f, indent=1)

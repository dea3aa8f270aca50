"""Twenty interactions drawn at random with 60-digit reference values; needs mpmath. Writes interactions.json beside itself.

Formulas come from a small grammar with a fixed seed. Velocities, energies and Hessians are direct sums over pairs from
their definitions. W is the integral of phi from 0 by Gauss-Legendre quadrature. Runs are extrapolated midpoint steps
(Gragg, Bulirsch, Stoer), each computed with two step sizes. Growth rates are k (k + d - 2) times the Funk-Hecke
coefficients of W. Nothing is shared with the program.
"""
import json, os, random
import mpmath as mp

mp.mp.dps = 60
draw = random.Random(46)
NAMES = ["exp", "sin", "cos", "sinh", "cosh", "tanh"]
FUNCTIONS = {name: getattr(mp, name) for name in NAMES} | {"ln": mp.log, "sqrt": mp.sqrt}


def number(low, high):
    return f"{draw.uniform(low, high):.3f}"


def linear():
    return f"({number(0.3, 2.5)}*s + {number(0.1, 1.0)})"


def term():
    kind = draw.randrange(8)
    if kind < 3:
        return f"{draw.choice(NAMES)}({linear()})"
    if kind == 3:
        return f"(s^{draw.randrange(1, 7)})"
    if kind == 4:
        return f"sqrt({number(1.5, 3.0)} + s)"
    if kind == 5:
        return f"ln({number(1.5, 3.0)} - s)"
    if kind == 6:
        return f"(1/({number(1.4, 3.0)} - s))"
    return f"(1/(1 + exp({number(0.5, 4.0)}*s)))"


def formula():
    text = term()
    for _ in range(draw.randrange(1, 4)):
        kind = draw.randrange(4)
        other = term()
        if kind == 0:
            text = f"({text} + {number(0.2, 2.0)}*{other})"
        elif kind == 1:
            text = f"({text} - {number(0.2, 1.0)}*{other})"
        elif kind == 2:
            text = f"({text}*{other})"
        else:
            text = f"({text}/({number(1.0, 3.0)} + ({other})^2))"
    return text


def function(text):
    """The formula as a function of an mp number; decimal numbers are exact."""
    code = text.replace("^", "**")
    out, k = "", 0
    while k < len(code):
        end = k
        while end < len(code) and (code[end].isdigit() or code[end] == "."):
            end += 1
        if end > k and "." in code[k:end]:
            out += f"mpf('{code[k:end]}')"
            k = end
        else:
            out += code[k]
            k += 1
    compiled = compile(out, text, "eval")
    return lambda s: mp.mpf(eval(compiled, {"mpf": mp.mpf, "s": s, **FUNCTIONS}))


def gauss(count):
    """Nodes and weights of Gauss-Legendre quadrature on [-1, 1]."""
    rule = []
    for k in range(count):
        x = mp.cos(mp.pi * (k + mp.mpf(3) / 4) / (count + mp.mpf(1) / 2))
        for _ in range(100):
            p0, p1 = mp.mpf(1), x
            for j in range(2, count + 1):
                p0, p1 = p1, ((2 * j - 1) * x * p1 - (j - 1) * p0) / j
            slope = count * (x * p1 - p0) / (x * x - 1)
            step = p1 / slope
            x -= step
            if abs(step) < mp.mpf(10) ** -55:
                break
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


RULE = gauss(48)


def integral(f, a, b):
    half, middle = (b - a) / 2, (a + b) / 2
    return half * sum(w * f(middle + half * x) for x, w in RULE)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def velocity(phi, x, m, kappa):
    """Rows are divided by the sums of kappa, or by nothing."""
    out = []
    for xi in x:
        weights = [mj * phi(dot(xi, xj)) for mj, xj in zip(m, x)]
        total = sum(mj * kappa(dot(xi, xj)) for mj, xj in zip(m, x)) if kappa else mp.mpf(1)
        a = [sum(w * xj[c] for w, xj in zip(weights, x)) / total for c in range(len(xi))]
        radial = dot(a, xi)
        out.append([v - radial * c for v, c in zip(a, xi)])
    return out


def unit(rows):
    return [[v / mp.sqrt(dot(r, r)) for v in r] for r in rows]


def run(phi, x, m, kappa, end, steps):
    """Extrapolated midpoint steps of order 24; the flow keeps |x_i| = 1."""
    n, d = len(x), len(x[0])
    rates = lambda y: [v for row in velocity(phi, [y[i * d : i * d + d] for i in range(n)], m, kappa) for v in row]
    y, big = [v for row in x for v in row], mp.mpf(end) / steps
    for _ in range(steps):
        table = []
        for k in range(1, 13):
            count = 2 * k
            h = big / count
            before, now = y, [a + h * b for a, b in zip(y, rates(y))]
            for _ in range(count - 1):
                before, now = now, [a + 2 * h * b for a, b in zip(before, rates(now))]
            row = [[(a + b + h * r) / 2 for a, b, r in zip(before, now, rates(now))]]
            for j in range(1, k):
                factor = (mp.mpf(k) / (k - j)) ** 2 - 1
                row.append([a + (a - b) / factor for a, b in zip(row[j - 1], table[-1][j - 1])])
            table.append(row)
        y = table[-1][-1]
    return unit([y[i * d : i * d + d] for i in range(n)])


def hessian_eigenvalues(phi, x, m):
    n, d = len(x), len(x[0])
    bases = []
    for xi in x:
        basis = [xi]
        for axis in range(d):
            v = [mp.mpf(int(c == axis)) for c in range(d)]
            for b in basis:
                s = dot(v, b)
                v = [p - s * q for p, q in zip(v, b)]
            if dot(v, v) > mp.mpf("0.01") and len(basis) < d:
                basis.append([p / mp.sqrt(dot(v, v)) for p in v])
        bases.append(basis[1:])
    t = d - 1
    h = mp.zeros(n * t)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            s = dot(x[i], x[j])
            w, b = m[i] * m[j] * phi(s), m[i] * m[j] * mp.diff(phi, s, h=mp.mpf(10) ** -20)
            for p in range(t):
                ep = bases[i][p]
                for q in range(t):
                    eq = bases[j][q]
                    h[i * t + p, j * t + q] += w * dot(ep, eq) + b * dot(ep, x[j]) * dot(eq, x[i])
                    own = bases[i][q]
                    h[i * t + p, i * t + q] += b * dot(ep, x[j]) * dot(own, x[j]) - (w * s if p == q else 0)
    return sorted(mp.eigsy(h, eigvals_only=True))


def growth_rates(phi, d, kmax):
    """k (k + d - 2)/d times the Funk-Hecke coefficients of phi in dimension d + 2, to 1e-25."""
    ends, lam = mp.linspace(0, mp.pi, 13), mp.mpf(d) / 2

    def mean(f):
        return mp.quad(lambda a: f(mp.cos(a)) * mp.sin(a) ** d, ends)

    def coefficient(k):
        return mean(lambda s: phi(s) * mp.gegenbauer(k, lam, s)) / mp.gegenbauer(k, lam, 1)

    total = mean(lambda s: 1)
    return [k * (k + d - 2) * coefficient(k - 1) / (d * total) for k in range(1, kmax + 1)]


def text(v):
    return [text(e) for e in v] if isinstance(v, list) else mp.nstr(v, 20)


# Positive row weights of their own, one after the other.
ROW_WEIGHTS = ["(exp(1.3*s) + 0.4*cos(2.0*s))", "(1.2 + s^3)", "(1/(1.5 - s))"]

cases = []
while len(cases) < 20:
    formula_text = formula()
    phi = function(formula_text)
    samples = [phi(mp.mpf(k) / 50 - 1) for k in range(101)]
    size = max(abs(v) for v in samples)
    if size > 60 or size < mp.mpf("0.05"):
        continue
    n, d = draw.randrange(2, 6), draw.randrange(2, 5)
    tokens = [[draw.gauss(0, 1) for _ in range(d)] for _ in range(n)]
    tokens = [[v / sum(c * c for c in r) ** 0.5 for v in r] for r in tokens]
    masses = [draw.uniform(0.5, 2.0) for _ in range(n)]
    x = unit([[mp.mpf(v) for v in r] for r in tokens])
    m = [mp.mpf(v) / sum(map(mp.mpf, masses)) for v in masses]
    positive = min(samples) > size / 100
    end = float(mp.nstr(1 / (2 * size), 3))
    pair = lambda a, b: integral(phi, mp.mpf(0), dot(a, b))
    case = {
        "formula": formula_text,
        "tokens": tokens,
        "masses": masses,
        "t_end": end,
        "usa": text(velocity(phi, x, m, None)),
        "energy": text(sum(p * q * pair(a, b) for p, a in zip(m, x) for q, b in zip(m, x)) / 2),
        "hessian_eigenvalues": text(hessian_eigenvalues(phi, x, m)),
        "growth_rates": text(growth_rates(phi, d, 5)),
    }
    case["row_weights"] = ROW_WEIGHTS[len(cases) % len(ROW_WEIGHTS)]
    kappa = function(case["row_weights"])
    case["divided"] = text(velocity(phi, x, m, kappa))
    runs = {"usa_end": None} | ({"sa_end": phi} if positive else {})
    if positive:
        case["sa"] = text(velocity(phi, x, m, phi))
    with mp.workdps(30):
        for key, divisor in runs.items():
            coarse, fine = (run(phi, x, m, divisor, end, steps) for steps in (3, 6))
            worst = max(abs(a - b) for r, s in zip(coarse, fine) for a, b in zip(r, s))
            assert worst < mp.mpf(10) ** -20, (formula_text, worst)
            case[key] = text(fine)
    cases.append(case)
    print(len(cases), formula_text, "n", n, "d", d, "positive", positive)
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interactions.json")
json.dump(cases, open(path, "w"), indent=0)

"""A second checker of certificates, in one file, with nothing but Python's standard library.

    python checker.py FILE ...

prints the sentence of every certificate that it accepts, or why it refuses one, and then returns 1.
It reads certificates of landscapes on the circle and on spheres, and of critical points. It is
written from the page `certificate_formats` of the guide, which has the grammar, the conditions and
the lemmas, and it shares nothing with the verifier in Rust: numbers are intervals between multiples
of 2^-P, P at least 128, rounded outwards.
"""

import ast
import itertools
import json
import math
import re
import struct
import sys
from decimal import Decimal
from fractions import Fraction


class Refused(Exception):
    """The certificate is not accepted, and why."""


class Undecided(Refused):
    """A formula has no bounds on an interval."""


def confirm(holds, why):
    if not holds:
        raise Refused(why)


# Intervals, and functions of them.


class I:
    """All numbers between two multiples of 2^-P."""

    P = 128
    __slots__ = ("lo", "hi")

    def __init__(a, lo, hi): a.lo, a.hi = lo, hi
    def __add__(a, b): return I(a.lo + b.lo, a.hi + b.hi)
    def __sub__(a, b): return I(a.lo - b.hi, a.hi - b.lo)
    def __neg__(a): return I(-a.hi, -a.lo)
    def __mul__(a, b): return a.ends(b, lambda x, y: x * y, lambda v: v >> I.P)
    def ends(a, b, of, down):
        p = of(a.lo, b.lo), of(a.lo, b.hi), of(a.hi, b.lo), of(a.hi, b.hi)
        return I(down(min(p)), -down(-max(p)))
    def __truediv__(a, b):
        if not b.has_sign():  # So wide that no test holds.
            return I(-1 << I.P + 8000, 1 << I.P + 8000)
        return a.ends(b, lambda x, y: Fraction(x << I.P, y), math.floor)
    def has_sign(a): return a.lo > 0 or a.hi < 0
    def mag(a): return max(-a.lo, a.hi)
    def mid(a): return (a.lo + a.hi) // 2 / (1 << I.P)
    def sqr(a): return I(0 if not a.has_sign() else min(a.lo**2, a.hi**2) >> I.P,
                         -(-a.mag() ** 2 >> I.P))
    def sqrt(a): return I(*(math.isqrt(max(v, 0) << I.P) + k for v, k in ((a.lo, 0), (a.hi, 1))))
    def join(a, b): return I(min(a.lo, b.lo), max(a.hi, b.hi))
    def meet(a, b):
        lo, hi = max(a.lo, b.lo), min(a.hi, b.hi)
        return I(lo, hi) if lo <= hi else None
    def around(a, radius): return I(a.lo - radius, a.hi + radius)
    def exp(a): return I(exp_ends(a.lo)[0], exp_ends(a.hi)[1])


def num(v):
    """A whole number, fraction or double, rounded outwards."""
    n, d = v.as_integer_ratio()
    return I((n << I.P) // d, -((-n << I.P) // d))


def total(values):
    all = list(values)
    return I(sum(v.lo for v in all), sum(v.hi for v in all))


def dot(a, b): return total(x * y for x, y in zip(a, b))


# Digits beyond P in which functions are computed, and constants with them, within 2^13.
GUARD = 64
CONSTANTS: dict = {}


def constant(name):
    def series(q, sign):  # arctan(1/q) or, with sign 1, artanh(1/q)
        s, t, k = 0, (1 << I.P + GUARD) // q, 1
        while t not in (0, -1):
            s, t, k = s + t // k, sign * t // q**2, k + 2
        return s
    if (name, I.P) not in CONSTANTS:
        CONSTANTS["pi", I.P] = 16 * series(5, -1) - 4 * series(239, -1)
        CONSTANTS["ln 2", I.P] = 2 * series(3, 1)
    return CONSTANTS[name, I.P]


def pi(): return I((constant("pi") >> GUARD) - 1, (constant("pi") >> GUARD) + 2)


def exp_ends(v):
    """Bounds of e^v. With v = k ln 2 + r, the sum for r / 256 is squared eight times. Every step
    is off by some units of 2^-(P + GUARD), in all by less than 2^30 of them."""
    w = I.P + GUARD
    if v.bit_length() > I.P + 12:
        return (0, 1) if v < 0 else (1 << I.P, 1 << I.P + 8000)
    k = (v << GUARD) // constant("ln 2")
    y, s, t, j = (v << GUARD) - k * constant("ln 2") >> 8, 0, 1 << w, 1
    while t:
        s, t, j = s + t, (t * y >> w) // j, j + 1
    for _ in range(8):
        s = s * s >> w
    lo, hi, by = s - (1 << 30), s + (1 << 30), GUARD - k
    return (lo >> by, -(-hi >> by)) if by > 0 else (lo << -by, hi << -by)


def sin_cos(x):
    """Taylor sums for the middle over 2^r, r doublings, each of which loses two digits, and the
    radius."""
    w, middle = I.P + GUARD, x.lo + x.hi >> 1
    r = max(middle.bit_length() - I.P + 8, 0)
    if r > 16:
        raise Undecided("a sine of a large number")
    y, sums, t, j = middle << GUARD >> r, [0, 0], 1 << w, 0
    while t not in (0, -1):
        sums[j % 2] += (t, t, -t, -t)[j % 4]
        t, j = (t * y >> w) // (j + 1), j + 1
    c, s = sums
    for _ in range(r):
        s, c = s * c >> w - 1, (1 << w) - (s * s >> w - 1)
    one = I(-1 << I.P, 1 << I.P)
    return [I(v >> GUARD, (v >> GUARD) + 1).around(x.hi - middle + 2).meet(one) for v in (s, c)]


def ln(x):
    def end(v):  # Each step has three times as many digits.
        shift = v.bit_length() - 60
        y = num(math.log(v >> shift if shift > 0 else v << -shift)).lo
        y += (shift - I.P) * (constant("ln 2") >> GUARD)
        for _ in range(4):
            e = exp_ends(y)[0]
            y += (v - e << I.P + 1) // (v + e)
        off = (I(v, v) / I(*exp_ends(y)) - num(1)).mag()
        return I(y, y).around(2 * off + 1)
    if x.lo <= 0:
        raise Undecided("a logarithm of 0")
    return I(end(x.lo).lo, end(x.hi).hi)


class S(list):
    """Taylor coefficients."""

    def __add__(a, b): return S(x + y for x, y in zip(a, b))
    def __sub__(a, b): return S(x - y for x, y in zip(a, b))
    def __mul__(a, b): return S(dot(a[: k + 1], b[k::-1]) for k in range(len(a)))
    def __truediv__(a, b):
        if not b[0].has_sign():
            raise Undecided("a division by 0")
        q = S()
        for k, v in enumerate(a):
            q.append((v - dot(b[1 : k + 1], q[::-1])) / b[0])
        return q
    def like(a, v): return S([v] + [num(0)] * (len(a) - 1))
    def slopes(a): return [num(k) * v for k, v in enumerate(a)]
    def exp(a):
        e, d = S([a[0].exp()]), a.slopes()
        for k in range(1, len(a)):
            e.append(dot(d[1 : k + 1], e[::-1]) / num(k))
        return e
    def ln(a):
        out = S([ln(a[0])])
        for k in range(1, len(a)):
            out.append((a[k] - dot(out.slopes()[1:], a[k - 1 : 0 : -1]) / num(k)) / a[0])
        return out
    def sin_cos(a):
        (s, c), d = ([v] for v in sin_cos(a[0])), a.slopes()
        for k in range(1, len(a)):
            more = dot(d[1 : k + 1], c[::-1]) / num(k), -dot(d[1 : k + 1], s[::-1]) / num(k)
            s.append(more[0])
            c.append(more[1])
        return S(s), S(c)
    def power(a, b, most):
        k, one = b[0].lo >> I.P, a.like(num(1))
        flat = all(v.lo == v.hi == 0 for v in b[1:]) and b[0].lo == b[0].hi == k << I.P
        if not flat or abs(k) > most:
            return (b * a.ln()).exp()
        out, square = one, a
        for x, bit in enumerate(reversed(f"{abs(k):b}")):
            square = square * square if x else a
            out = out * square if bit == "1" else out
        return one / out if k < 0 else out
    def call(a, name):
        half, zero = a.like(num(0.5)), a.like(num(0))
        if name in ("exp", "ln"):
            return a.exp() if name == "exp" else a.ln()
        if name == "sqrt":
            return (half * a.ln()).exp()
        if name in ("sin", "cos", "tan"):
            s, c = a.sin_cos()
            return {"sin": s, "cos": c}.get(name) or s / c
        if name in ("sinh", "cosh", "tanh"):
            up, down = a.exp(), (zero - a).exp()
            return {"sinh": half * (up - down), "cosh": half * (up + down)}.get(name) or (
                up - down) / (up + down)
        if not a[0].has_sign():
            raise Undecided("a kink")
        return a if a[0].lo > 0 else zero - a if name == "abs" else zero


FUNCTIONS = "exp ln sqrt sin cos tan sinh cosh tanh abs relu".split()
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?(?![\w.])"
NAME = r"[A-Za-z_]\w*"
SIGNS = {ast.Add: S.__add__, ast.Sub: S.__sub__, ast.Mult: S.__mul__, ast.Div: S.__truediv__}


class Formula:
    """A formula of s, read from text; whole exponents up to `most` are products."""

    def __init__(self, text, parameters, most):
        self.values, self.most, self.words = dict(parameters), most, []
        for name in self.values:
            own = re.fullmatch(NAME, name) and name not in ["s", "pi"] + FUNCTIONS
            confirm(own and name in re.split(r"\W", text), f"`{name}` is no parameter")
        names = [p[0] for p in parameters]
        confirm(all(a < b for a, b in zip(names, names[1:])), "the parameters are not in order")
        confirm(not re.search(r"[\w.] +[\w.]", text), "two words side by side in a formula")
        dense = text.replace(" ", "")
        fine = re.fullmatch(f"(?:{NUMBER}|{NAME}|[-+*/^()])*", dense)
        fine = fine and len(dense) <= 1000 and dense.count("(") < 100
        confirm(fine and not re.search(r"[-+*/^][-+]", dense), "no formula, or a long one")
        # Python reads the signs; numbers and names are put into a list.
        code = re.sub(f"{NUMBER}|{NAME}", self.word, dense).replace("^", "**")
        try:
            self.tree = ast.parse(code, mode="eval").body
        except SyntaxError:
            raise Refused("a formula that is not understood") from None
        self.code = code

    def word(self, found):
        self.words.append(found[0])
        return f"w{len(self.words) - 1}"

    def at(self, s, tree=None):
        """The coefficients of the formula along those of s."""
        tree = tree or self.tree
        if isinstance(tree, ast.Name):
            word = self.words[int(tree.id[1:])]
            if word in self.values or word == "pi":
                return s.like(pi() if word == "pi" else num(self.values[word]))
            confirm(word == "s" or re.fullmatch(NUMBER, word), f"unknown constant `{word}`")
            # Only digits alone are a whole number.
            return s if word == "s" else s.like(num(Fraction(word)).around(not word.isdigit()))
        if isinstance(tree, ast.Call) and len(tree.args) == 1 and isinstance(tree.func, ast.Name):
            word = self.words[int(tree.func.id[1:])]
            confirm(word in FUNCTIONS, f"unknown function {word}")
            return self.at(s, tree.args[0]).call(word)
        if isinstance(tree, ast.UnaryOp):
            zero = s.like(num(0))
            b = self.at(s, tree.operand)
            return zero - b if isinstance(tree.op, ast.USub) else zero + b
        confirm(isinstance(tree, ast.BinOp), "a formula that is not understood")
        a, b, op = self.at(s, tree.left), self.at(s, tree.right), type(tree.op)
        if op is not ast.Pow:
            return SIGNS[op](a, b)
        again = isinstance(tree.right, ast.BinOp) and isinstance(tree.right.op, ast.Pow)
        inside = self.code[tree.right.col_offset - 1] == "("
        confirm(not again or inside, "a power of a power without parentheses")
        return a.power(b, self.most)


# The circle. Distances are whole multiples of 2^-48 turns.

TURN = 1 << 48
HALF = TURN // 2


def radians(lo, hi):
    a, b = (pi() * num(Fraction(t, HALF)) for t in (lo, hi))
    return I(a.lo, b.hi)


class Law:
    """The pull u(d) = phi(cos d) sin d and the weight w = u', with ranges over distances."""

    def __init__(self, formula):
        self.formula, self.points = formula, {}
        self.own = formula.at(S([num(1)]))[0]
        self.turns = [self.turning(0, HALF, f) for f in (0, 1)]

    def series(self, lo, hi, count):
        """Coefficients of u over distances."""
        s, c = S([radians(lo, hi), num(1), num(0), num(0)][:count]).sin_cos()
        return self.formula.at(c) * s

    def positive(self, lo, hi):
        """The end of the cells, 4096 in half a turn, in which phi is positive one after another."""
        try:
            if self.formula.at(S([sin_cos(radians(lo, hi))[1]]))[0].lo > 0:
                return hi
        except Undecided:
            pass
        middle = (lo + hi) // 2
        if hi - lo == HALF // 4096:
            return lo
        first = self.positive(lo, middle)
        return first if first < middle else self.positive(middle, hi)

    def turning(self, lo, hi, f):
        """Narrow cells in which the derivative of u or w may be 0, and the ranges there."""
        middle = (lo + hi) // 2
        try:
            wide = self.series(lo, hi, 4)
            if wide[f + 1].has_sign():
                return []
        except Undecided:
            confirm(hi - lo > HALF >> 15, "the formula has no bounds")
        if hi - lo > HALF >> 15:
            return self.turning(lo, middle, f) + self.turning(middle, hi, f)
        x, c = radians(lo - middle, hi - middle), self.series(middle, middle, 4)[:3] + [wide[3]]
        c = [num(k) * c[k] for k in (1, 2, 3)] if f else c
        value = num(0)
        for v in reversed(c):
            value = value * x + v
        return [(lo, hi, value)]

    def at(self, t):
        if t not in self.points:
            u, w = self.series(t, t, 2)
            self.points[t] = num(0) if t in (0, HALF) else u, w
        return self.points[t]

    def half(self, lo, hi):
        """Ranges over distances up to half a turn: between turns, u and w are monotone."""
        out = [a.join(b) for a, b in zip(self.at(lo), self.at(hi))]
        for f in (0, 1):
            for a, b, value in self.turns[f]:
                if lo < hi and a <= hi and lo <= b:
                    out[f] = out[f].join(value)
        return out


LAWS: dict = {}


class Laws:
    """The ranges for a formula, or for the exponential with beta in an interval."""

    def __init__(self, formula=None):
        self.known, self.fixed = {}, formula and Law(formula)
        self.own = self.fixed.own if formula else num(1)

    def law(self, beta):
        """Kept from one certificate to the next."""
        if not self.fixed and (I.P, beta) not in LAWS:
            LAWS.update({(I.P, beta): Law(Formula("exp(b*(s-1))", [("b", beta)], 0))})
        return self.fixed or LAWS[I.P, beta]

    def half(self, beta, lo, hi):
        """For a fixed distance, u falls with beta, and w has only a minimum, at 0 of the slope."""
        (u, w), (v, z) = (self.law(b).half(lo, hi) for b in beta)
        if self.fixed:
            return u, w
        u, w = I(max(v.lo, 0), max(u.hi, 0)), w.join(z)
        if beta[0] < beta[1]:
            cos = I(sin_cos(radians(hi, hi))[1].lo, sin_cos(radians(lo, lo))[1].hi)
            b, more = I(num(beta[0]).lo, num(beta[1]).hi), num(1) + cos
            if not (more + cos - b * (num(1) - cos.sqr())).has_sign():
                w = I(min(w.lo, -(more * (b * (cos - num(1))).exp()).hi), w.hi)
        return u, w

    def ranges(self, beta, lo, hi):
        if (beta, lo, hi) not in self.known:
            if hi <= HALF:
                found = self.half(beta, lo, hi)
            elif lo >= HALF:
                u, w = self.half(beta, TURN - hi, TURN - lo)
                found = -u, w
            else:
                (u, w), (v, z) = self.half(beta, lo, HALF), self.half(beta, TURN - hi, HALF)
                found = u.join(-v), w.join(z)
            self.known[beta, lo, hi] = found
        return self.known[beta, lo, hi]


def close(gaps):
    """The gaps whose sum can be a turn; None if there are none."""
    for _ in range(2):
        (low, high), gaps = (sum(g[e] for g in gaps) for e in (0, 1)), list(gaps)
        for x, (lo, hi) in enumerate(gaps):
            gaps[x] = max(lo, TURN - (high - hi)), min(hi, TURN - (low - lo))
            if gaps[x][0] > gaps[x][1]:
                return None
            low, high = low + gaps[x][0] - lo, high + gaps[x][1] - hi
    return gaps


def widest(gaps): return max(range(len(gaps)), key=lambda x: (gaps[x][1] - gaps[x][0], -x))


def inverse(a):
    """The inverse of a matrix of doubles, without a bound of its error; None if it has none."""
    n = len(a)
    rows = [list(r) + [float(x == y) for y in range(n)] for x, r in enumerate(a)]
    for c in range(n):
        size = lambda x: abs(rows[x][c]) / max([1e-300] + [abs(v) for v in rows[x][c:n]])
        pivot = max(range(c, n), key=size)
        rows[c], rows[pivot] = rows[pivot], rows[c]
        if rows[c][c] == 0 or not math.isfinite(rows[c][c]):
            return None
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for x in range(n):
            if x != c:
                rows[x] = [v - rows[x][c] * r for v, r in zip(rows[x], rows[c])]
    return [r[n:] for r in rows]


def inertia(a):
    """Number of positive eigenvalues of a symmetric matrix, by elimination of one row, or of two
    that have one eigenvalue of each sign."""
    a, left, count = [list(r) for r in a], list(range(len(a))), 0
    size = lambda x, y: max(a[x][y].lo, -a[x][y].hi)
    while left:
        d = max(left, key=lambda x: size(x, x))
        p, q = max(itertools.combinations(left, 2), key=lambda p: size(*p), default=(d, d))
        two = p != q and size(d, d) * 10 < size(p, q)
        det = a[p][p] * a[q][q] - a[p][q].sqr()
        if two and det.hi < 0:
            left = [x for x in left if x not in (p, q)]
            for x in left:
                one = (a[q][q] * a[x][p] - a[p][q] * a[x][q]) / det
                other = (a[p][p] * a[x][q] - a[p][q] * a[x][p]) / det
                a[x] = [v - one * b - other * c for v, b, c in zip(a[x], a[p], a[q])]
            count += 1
        else:
            confirm(a[d][d].has_sign(), "the sign of an eigenvalue is not decided")
            left.remove(d)
            for x in left:
                factor = a[x][d] / a[d][d]
                a[x] = [v - factor * b for v, b in zip(a[x], a[d])]
            count += a[d][d].lo > 0
    return count


class Circle:
    """Clusters in cyclic order."""

    def __init__(self, clusters, most, laws):
        self.clusters, self.laws, self.k = clusters, laws, len(clusters)
        self.mass = [I(sum(c) << I.P, sum(most[m] for m in c) << I.P) for c in clusters]
        k, turns = self.k, [(r, s) for s in (1, -1) for r in range(len(clusters))]
        # Cluster x goes to r + s x; images of the gaps, and whether it is a reflection.
        keeps = lambda r, s: all(clusters[(r + s * x) % k] == clusters[x] for x in range(k))
        self.symmetries = [([(r + s * x - (s < 0)) % k for x in range(k)], s < 0)
                           for r, s in turns if keeps(r, s)]

    def pairs(self, gaps, beta):
        """Distances, and u and w times both masses, of p < q."""
        distance, u, w = {}, {}, {}
        low_all, high_all = (sum(g[e] for g in gaps) for e in (0, 1))
        for p, q in itertools.combinations(range(self.k), 2):
            low, high = (sum(g[e] for g in gaps[p:q]) for e in (0, 1))
            lo, hi = max(low, TURN - (high_all - high), 0), min(high, TURN - (low_all - low), TURN)
            distance[p, q], mass = (lo, hi), self.mass[p] * self.mass[q]
            u[p, q], w[p, q] = (v * mass for v in self.laws.ranges(beta, lo, hi))
        return distance, u, w

    def between(self, table, arc, sign):
        """The sum over pairs of a cluster of an arc and another, those before it with the sign."""
        pairs = ((p, q) for p in arc for q in range(self.k) if q not in arc)
        term = lambda p, q: table[p, q] if p < q else table[q, p] if sign > 0 else -table[q, p]
        return total(term(p, q) for p, q in pairs)

    def hulls(self, gaps, beta, p):
        """Others, with the hull of the distances to both clusters of gap p; None if there is none."""
        distance, q = self.pairs(gaps, beta)[0], (p + 1) % self.k
        to = lambda t, x: distance[t, x] if t < x else [TURN - d for d in distance[x, t][::-1]]
        all = [(t, to(t, p)[0], to(t, q)[1]) for t in range(self.k) if t not in (p, q)]
        return None if any(lo > hi for _, lo, hi in all) else all

    def quotient(self, gaps, beta, p):
        """Lemma 2: the clusters of gap p are not both in equilibrium unless they coincide."""
        (lo, hi), hulls, ranges = gaps[p], self.hulls(gaps, beta, p), self.laws.ranges
        if hi > HALF or hulls is None:
            return False
        own = ranges(beta, 0, hi)[1]
        if lo > 0:
            own = own.meet(ranges(beta, lo, hi)[0] / radians(lo, hi)) or own
        rest = total(ranges(beta, a, b)[1] * self.mass[t] for t, a, b in hulls)
        return (own * (self.mass[p] + self.mass[(p + 1) % self.k]) + rest).has_sign()

    def balances(self, gaps, beta, gap, a):
        """Forces times a, and a quotient, do not add up to 0. Sine and cosine have beta = 0."""
        k, b, m = self.k, I(num(beta[0]).lo, num(beta[1]).hi), self.mass
        distance, a = self.pairs(gaps, beta)[0], [num(v) for v in a]
        direction = lambda lo, hi: self.laws.ranges((0.0, 0.0), lo, hi)

        def kernel(lo, hi):
            sin, cos = direction(lo, hi)
            e = (b * cos).exp()
            return (e - num(1)) * sin, (e - num(1)) * cos - b * e * sin.sqr()
        places = [(0, 0)] + [distance[0, q] for q in range(1, k)]
        at = [direction(*d) for d in places]
        r, s = ([dot(v, [d[e] for d in at]) for e in (1, 0)] for v in (m, a))
        terms = [(a[p] * m[q] - a[q] * m[p]) * kernel(*distance[p, q])[0] for p, q in distance]
        if gap:
            (p, own), q = gap, (gap[0] + 1) % k
            hulls = self.hulls(gaps, beta, p)
            if hulls is None:
                return False
            sin, cos = direction(places[p][0], places[q][1] if q else TURN)
            s = [s[0] + num(own) * sin, s[1] - num(own) * cos]
            rest = [m[t] * kernel(lo, hi)[1] for t, lo, hi in hulls]
            terms.append(num(own) * total(rest + [(m[p] + m[q]) * kernel(0, gaps[p][1])[1]]))
        return (total(terms) + r[1] * s[0] - r[0] * s[1]).has_sign() and not self.laws.fixed

    def derivative(self, r, w):
        """Of the forces on the first clusters after gap r, by the other gaps in radians."""
        at, n = [(r + 1 + x) % self.k for x in range(self.k)], self.k - 1
        weight = lambda x, y: w[min(at[x], at[y]), max(at[x], at[y])]
        entry = lambda l, m: total(
            weight(x, y) for x in range(min(l, m) + 1) for y in range(max(l, m) + 1, n + 1))
        return [[entry(l, m) for m in range(n)] for l in range(n)]

    def newton(self, gaps, beta, r):
        """What Newton's method leaves of the gaps, whether it proves a single zero, and whether the
        derivative is regular."""
        at, ns = [(r + 1 + x) % self.k for x in range(self.k)], range(self.k - 1)
        low, wide = sum(g[0] for g in gaps), sum(g[1] - g[0] for g in gaps)
        share, own = (TURN - low) / wide if wide > 0 else 0.5, [gaps[x] for x in at]
        centre = [min(max(math.floor(lo + share * (hi - lo)), lo), hi) for lo, hi in own[:-1]]
        centre.append(TURN - sum(centre))
        point, middle = [(centre[at.index(x)],) * 2 for x in range(self.k)], sum(beta) / 2
        a = self.derivative(r, self.pairs(gaps, beta)[2])
        y = inverse([[v.mid() for v in row]
                     for row in self.derivative(r, self.pairs(point, (middle, middle))[2])])
        if not own[-1][0] <= centre[-1] <= own[-1][1] or y is None:
            return gaps, False, False
        u, y = self.pairs(point, beta)[1], [[num(v) for v in row] for row in y]
        pull = lambda p, q: u[p, q] if p < q else -u[q, p]
        force = [total(pull(p, q) for p in at[: l + 1] for q in at[l + 1 :]) for l in ns]
        unit = pi() / num(HALF)  # 2^-48 turns in radians
        yg = [dot(row, force) / unit for row in y]
        ya = [[dot(row, [a[t][m] for t in ns]) for m in ns] for row in y]
        off = [[num(int(l == m)) - ya[l][m] for m in ns] for l in ns]
        z = [I(g[0] - c << I.P, g[1] - c << I.P) for g, c in zip(own[:-1], centre)]
        image = [dot(off[l], z) - yg[l] for l in ns]
        unique = all(z[l].lo < image[l].lo and image[l].hi < z[l].hi for l in ns)
        sizes = [[v.mag() for v in row] for row in off]
        regular = all(sum(row) < 1 << I.P for row in sizes) or all(
            sum(v * b.mag() for v, b in zip(sizes[l], z)) < z[l].mag() << I.P for l in ns)
        out = list(gaps)
        for l in ns:
            if ya[l][l].has_sign():
                others = total(ya[l][m] * z[m] for m in ns if m != l)
                z[l] = z[l].meet((-yg[l] - others) / ya[l][l])
                if z[l] is None:
                    return None, False, regular
        for l in ns:
            lo, hi = (z[l].lo >> I.P) + centre[l], -(-z[l].hi >> I.P) + centre[l]
            out[at[l]] = max(own[l][0], lo), min(own[l][1], hi)
        return out, unique, regular

    def zero(self, r, alone, beta):
        """A narrow enclosure of the only zero of a box."""
        low, high = (sum(g[e] for x, g in enumerate(alone) if x != r) for e in (0, 1))
        cut = any(lo <= 0 or hi >= TURN for lo, hi in alone)
        cut = cut or alone[r] != (TURN - high, TURN - low)
        place, unique, _ = self.newton(alone, beta, r)
        confirm(unique and not cut, "the box of a zero is not proved")
        for _ in range(8):
            place = place and close(place)
            place = place and self.newton(place, beta, widest(place))[0]
        confirm(place and close(place), "the box of a zero has none")
        return close(place)

    def splitting(self, w):
        """Number of directions of ascent that split a cluster."""
        count = 0
        for p, c in enumerate(self.clusters):
            v = self.mass[p] * self.mass[p] * self.laws.own + self.between(w, [p], 1)
            confirm(len(c) == 1 or v.has_sign(), "the sign of an eigenvalue is not decided")
            count += len(c) - 1 if v.hi < 0 else 0
        return count

    def ascents(self, place, beta):
        w = self.pairs(place, beta)[2]
        a = self.derivative(widest(place), w)
        return len(a) - inertia(a) + self.splitting(w)


# Reading.


def whole(word, low=-(1 << 62), high=1 << 62):
    confirm(re.fullmatch(r"0|-?[1-9]\d{0,18}", word), f"`{word}` is no whole number")
    confirm(low <= int(word) < high, f"{word} is out of range")
    return int(word)


def real(word):
    """A double in the shortest digits that give it back."""
    confirm(re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", word), f"`{word}` is no number")
    v = float(word)
    shortest = re.sub(r"e\+?(-?)0?", r"e\1", repr(v))
    confirm(math.isfinite(v) and shortest == word != "-0.0", f"{word} is written otherwise")
    return v


def plain(v):
    text = format(Decimal(repr(v)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def range_of(low, high):
    if low == high:
        return f"beta = {plain(low)}"
    return f"all beta in [{plain(low)}, {plain(high)}]"


def turns(word):
    fits = re.fullmatch(r"z|0|[0-9a-f]{0,11}[1-9a-f]", word)
    confirm(fits, f"{word} is no fraction of a turn")
    return TURN if word == "z" else int(word.ljust(12, "0"), 16)


def bounds(words):
    all = list(zip(words[::2], words[1::2]))
    confirm(len(words) % 2 == 0 and all == [p for p in all if p[0] <= p[1]], "no bounds in order")
    return all


class Lines:
    """The lines of a certificate: printed characters, words with one blank between."""

    def __init__(self, text):
        self.all, self.at = text.split("\n"), 0
        confirm(self.all.pop() == "", "the last line has no end")
        fine = all(re.fullmatch(r"[!-~]+( [!-~]+)*", line) for line in self.all)
        confirm(fine, "a line with other characters, or other blanks")

    def next_is(self, key):
        return self.at < len(self.all) and self.all[self.at].split(" ")[0] == key

    def words(self, key=None):
        fits = self.at < len(self.all) and (key is None or self.next_is(key))
        confirm(fits, f"line {self.at + 1}: no `{key or 'node'}`")
        self.at += 1
        return self.all[self.at - 1].split(" ")[0 if key is None else 1 :]

    def end(self):
        confirm(self.words("end") == [] and self.at == len(self.all), "more after the end")

    def tree(self, root, visit):
        """Visits the nodes of a tree; a visit returns the boxes of the children, or whether the
        reason holds."""
        left = [root]
        while left:
            words, where = self.words(), self.at
            try:
                found = visit(words, left.pop())
            except Refused as e:
                raise Refused(f"line {where}, {' '.join(words)}: {e}") from None
            confirm(found is not False, f"line {where}: {' '.join(words)} is not confirmed")
            left += [] if found is True else found[::-1]


def turned(clusters):
    """The largest order of clusters that rotations and reflections give, members largest first."""
    own = [tuple(sorted(c, reverse=True)) for c in clusters]
    return max(tuple(o[r:] + o[:r]) for o in (own, own[::-1]) for r in range(len(own)))


def strata(masses):
    """All ways in which tokens can coincide: every token joins a cluster, or stands between two."""
    all = {((masses[0],),)}
    for m in masses[1:]:
        ways = [(c, x) for c in all for x in range(len(c))]
        all = {turned(c[:x] + (c[x] + (m,),) + c[x + 1 :]) for c, x in ways}
        all |= {turned(c[: x + 1] + ((m,),) + c[x + 1 :]) for c, x in ways}
    return all


def orders(tokens):
    """Number of permutations of equal masses."""
    return math.prod(math.factorial(tokens.count(m)) for m in set(tokens))


class Landscape:
    """A certificate of a landscape on the circle."""

    def __init__(self, text):
        self.lines = lines = Lines(text)
        confirm(lines.words("metastable-landscape") == ["1"], "the version is not 1")
        kind = " ".join(lines.words("kind"))
        self.masses = masses = [whole(w, 1, 10**6 + 1) for w in lines.words("masses")]
        upper = masses
        if lines.next_is("upper"):
            upper = [whole(w, 1, 10**6 + 1) for w in lines.words("upper")]
            confirm(kind == "benign" and upper != masses, "masses with intervals that have none")
        self.most = dict(zip(masses, upper))
        fits = 2 <= len(masses) <= 12 and upper == [self.most[m] for m in masses]
        confirm(fits and all(a <= b for a, b in self.most.items()), "masses without bounds")
        if lines.next_is("interaction"):
            I.P, self.beta = 320, (0.0, 0.0)
            law = self.interaction()
        else:
            self.beta = low, high = tuple((real(w) for w in lines.words("beta")))
            confirm(-100 <= low <= high <= 100, "beta is out of range")
            I.P = 128 + math.ceil(3 * max(-low, high))
            self.laws, self.gaps = Laws(), HALF
            law = range_of(low, high)
        point = self.beta[0] == self.beta[1]
        self.at = (self.beta[0] if point else 0.5 * (self.beta[0] + self.beta[1]),) * 2
        fewest, every = 2 if self.gaps > HALF else 3, strata(masses)
        several = [s for s in every if len(s) >= fewest]
        self.labelled, self.orbits, maximum = [0] * len(masses), 0, None
        goals = {"complete": {(g, s) for s in several for g in ("zeros", "regular")[: 2 - point]},
                 "benign": {("ascent", s) for s in several if len(s) == len(masses)},
                 "maximum": {("zeros", s) for s in several if point}}.get(kind)
        confirm(goals is not None, f"unknown kind {kind}")
        for s in every.difference(several if kind == "complete" else every):
            self.simple(s)
        while lines.next_is("tree"):
            goal, *words = lines.words("tree")
            stratum = tuple(tuple(whole(m, 1) for m in w.split(",")) for w in words)
            confirm((goal, stratum) in goals, "a tree that is not wanted, or comes twice")
            goals.remove((goal, stratum))
            circle = Circle(stratum, self.most, self.laws)
            zeros = self.zeros(circle) if goal == "zeros" else []
            if kind == "maximum":
                confirm(len(zeros) == 1 and self.labelled[0], "there is not one local maximum")
                goals, maximum = {}, circle.k
                continue
            root = [(0, self.gaps)] * circle.k, self.at if goal == "zeros" else self.beta
            lines.tree(root, lambda words, cell: self.visit(words, cell, goal, circle, zeros))
        confirm(not goals, "a stratum without a tree")
        if kind == "complete":
            counts = [self.orbits] + self.labelled
            confirm([whole(w) for w in lines.words("counts")] == counts, f"the counts are {counts}")
            rest = 0  # The Morse inequalities of the torus of n - 1 angles.
            for k, count in enumerate(self.labelled):
                rest = count - math.comb(len(masses) - 1, k) - rest
                last = k == len(masses) - 1
                confirm(rest == 0 if last else rest >= 0, "the Morse inequalities are violated")
        lines.end()
        tokens = f"{len(masses)} tokens on the circle with masses {masses}"
        tokens += f" and all up to {upper}" if masses != upper else ""
        self.statement = f"{tokens}, {law}: " + {
            "complete": f"exactly {self.orbits} critical points up to rotations, reflections and "
            "permutations of equal masses; labelled, modulo rotations, by directions of ascent: "
            f"{self.labelled}",
            "benign": "every critical point except one cluster has a direction in which the energy "
            "increases at second order",
            "maximum": f"a configuration of {maximum} clusters is a strict local maximum of the "
            "energy modulo rotations"}[kind]

    def interaction(self):
        lines, parameters = self.lines, []
        text = " ".join(lines.words("interaction"))
        while lines.next_is("parameter"):
            words = lines.words("parameter")
            confirm(len(words) == 2, "a parameter without value")
            parameters.append((words[0], real(words[1])))
        key, gaps = (I.P, text, *parameters), lines.words("gaps")
        if key not in LAWS:
            LAWS[key] = Laws(Formula(text, parameters, 1024))
        confirm(len(gaps) == 1, "gaps without a bound")
        self.laws, self.gaps = LAWS[key], turns(gaps[0])
        least = TURN - self.laws.fixed.positive(0, HALF)
        confirm(self.gaps >= least, "the bound of the gaps is not proved")
        return f"phi(s) = {text}" + "".join(f", {k} = {plain(v)}" for k, v in parameters)

    def add(self, circle, ascents, rotations, mirror):
        inside = math.prod(orders(c) for c in circle.clusters)
        self.labelled[ascents] += orders(self.masses) // inside // rotations * (2 - mirror)
        self.orbits += 1

    def simple(self, clusters):
        """One cluster, or two opposite ones, for all beta."""
        circle, own = Circle(clusters, self.most, self.laws), self.laws.own
        if circle.k == 1:
            confirm(own.has_sign(), "the sign of an eigenvalue is not decided")
            return self.add(circle, 0 if own.lo > 0 else len(self.masses) - 1, 1, True)
        w = circle.pairs([(HALF, HALF)] * 2, self.beta)[2]
        return self.add(circle, 1 + circle.splitting(w), 1 + (clusters[0] == clusters[1]), True)

    def zeros(self, circle):
        """The boxes of zeros, each alone there; symmetric zeros are counted once."""
        boxes, found = [], []
        within = lambda a, b: all(v[0] <= u[0] and u[1] <= v[1] for u, v in zip(a, b))
        apart = lambda a, b: any(u[1] < v[0] or v[1] < u[0] for u, v in zip(a, b))
        while self.lines.next_is("zero"):
            r, *words = self.lines.words("zero")
            r, alone = whole(r, 0, circle.k), bounds([turns(w) for w in words])
            confirm(len(alone) == circle.k, "a zero without its box")
            place, known, rotations, mirror = circle.zero(r, alone, self.at), False, 0, False
            for to, back in circle.symmetries:
                image, here = [place[x] for x in to], within([place[x] for x in to], alone)
                for box, other in found:
                    confirm(within(image, box) or apart(image, other), "two zeros too close")
                    known |= within(image, box)
                confirm(here or apart(image, place), "a symmetry of a zero is not decided")
                rotations, mirror = rotations + (here and not back), mirror or (here and back)
            boxes.append(alone)
            if not known:
                self.add(circle, circle.ascents(place, self.at), rotations, mirror)
                found.append((alone, place))
        return boxes

    def visit(self, words, cell, goal, circle, zeros):
        """Confirms a node of a tree: its children, or whether its reason holds."""
        (gaps, beta), k, (key, *words), full = cell, circle.k, words, goal != "ascent"
        gaps, small = close(gaps), lambda w: whole(w, -(1 << 20), (1 << 20) + 1)
        lengths = {"G": 2, "F": 2, "C": 2, "B": 1, "Q": 1, "U": 1, "K": 2 * k, "A": 2 + k, "V": k}
        if len(words) != lengths.get(key, 0) or (gaps is None) != (key == "E"):
            return False
        if key == "G":
            r, t = whole(words[0], 0, k), turns(words[1])
            parts = bounds((gaps[r][0], t, t, gaps[r][1]))
            return [(gaps[:r] + [p] + gaps[r + 1 :], beta) for p in parts]
        if key == "B":
            b = real(words[0])
            confirm(beta[0] <= b <= beta[1], "beta is not split inside")
            return [(gaps, (beta[0], b)), (gaps, (b, beta[1]))]
        if key == "K" and full:
            claimed = bounds([turns(w) for w in words])
            found = circle.newton(gaps, beta, widest(gaps))[0] or []
            holds = all(c[0] <= f[0] and f[1] <= c[1] for c, f in zip(claimed, found))
            new = [(max(g[0], c[0]), min(g[1], c[1])) for g, c in zip(gaps, claimed)]
            return holds and [(new, beta)]
        if key == "Y":  # The first gap that a symmetry moves is smaller than its image.
            moved = [[(x, y) for x, y in enumerate(to) if x != y] for to, _ in circle.symmetries]
            return any(gaps[m[0][0]][1] < gaps[m[0][1]][0] for m in moved if m)
        if key == "F" or key == "C" and not full:
            a, b = (whole(w, 0, k) for w in words)
            table, arc = circle.pairs(gaps, beta)[1 if key == "F" else 2], range(a, b + 1)
            sum_ = circle.between(table, arc, -1 if key == "F" else 1)
            return 0 < len(arc) < k and (sum_.has_sign() if key == "F" else sum_.hi < 0)
        if key == "V" and not full:
            v, w = [small(x) for x in words], circle.pairs(gaps, beta)[2]
            return total(num((v[p] - v[q]) ** 2) * w[p, q] for p, q in w).hi < 0
        if key == "Q" and full:
            return circle.quotient(gaps, beta, whole(words[0], 0, k))
        if key == "A" and full:
            own, *a = [small(x) for x in words[1:]]
            confirm(words[0] != "-" or own == 0, "a number without its quotient")
            gap = None if words[0] == "-" else (whole(words[0], 0, k), own)
            return circle.balances(gaps, beta, gap, a)
        if key == "N" and full or key == "R" and goal == "regular":
            found = circle.newton(gaps, beta, widest(gaps))
            return found[0] is None if key == "N" else found[2]
        if key == "U" and goal == "zeros":
            return all(a[0] <= g[0] and g[1] <= a[1]
                       for g, a in zip(gaps, zeros[whole(words[0], 0, len(zeros))]))
        return key == "E"


# Spheres. Inner products are whole multiples of 2^-40.

ONE = 1 << 40


def third(p, q):
    """Bounds of the third inner product of three vectors, in doubles with a margin: the rule of the
    grammar, so that boxes are the same everywhere."""
    def root(x, y): return math.sqrt((1 - x) * (1 + x) * ((1 - y) * (1 + y)))
    def near(x, y): return math.ceil((x * y + root(x, y) + 2.0**-44) * ONE)
    def far(x, y): return math.floor((x * y - root(x, y) - 2.0**-44) * ONE)
    (a, b), (c, d) = ([v / ONE for v in pair] for pair in (p, q))
    high = near(b, c) if b < c else near(a, d) if d < a else ONE
    low = far(b, d) if b < -d else far(a, c) if a > -c else -ONE
    return max(low, -ONE), min(high, ONE)


def jacobian(f, x):
    """Values and derivatives of a function of series."""
    one, zero = num(1), num(0)
    columns = [f([S([v, one if i == j else zero]) for i, v in enumerate(x)]) for j in range(len(x))]
    return [v[0] for v in columns[0]], [[c[i][1] for c in columns] for i in range(len(x))]


def krawczyk(value, slopes, radii):
    """The differences from the centre to the only zero in a box with these radii, from the value at
    the centre and the derivative on the box."""
    rows = [[v.mid() * r for v, r in zip(row, radii)] for row in slopes]
    sizes = [max([1e-290] + [abs(v) for v in row]) for row in rows]
    y = inverse([[v / size for v in row] for row, size in zip(rows, sizes)])
    confirm(y, "a point has no inverse")
    y = [[num(v * r / size) for v, size in zip(row, sizes)] for row, r in zip(y, radii)]
    radii, columns, out = [num(r) for r in radii], list(zip(*slopes)), []
    for x, row in enumerate(y):
        off = ((num(int(x == z)) - dot(row, c)) * I(-r.lo, r.lo).around(1)
               for z, (c, r) in enumerate(zip(columns, radii)))
        out.append(total(off) - dot(row, value))
        confirm(out[-1].mag() < radii[x].lo, "Newton's map does not send the box into itself")
    return out


class Spheres:
    """A certificate of a landscape on spheres."""

    def __init__(self, text):
        I.P, self.lines = 128, Lines(text)
        lines = self.lines
        confirm(lines.words("metastable-spheres") == ["1"], "the version is not 1")
        masses, beta = [whole(w, 1, 10**6 + 1) for w in lines.words("masses")], lines.words("beta")
        beta, self.n = [real(w) for w in beta], len(masses)
        low, high = beta if len(beta) == 2 else beta * 2
        fits = 2 <= self.n <= 5 and -100 <= low <= high <= 100 and (low < high or len(beta) == 1)
        confirm(fits, "the masses or beta are out of range")
        I.P = 128 + math.ceil(3 * max(-low, high))
        law = range_of(low, high)
        header = f"{self.n} tokens with masses {masses} on spheres, {law}:"
        benign = "every critical point but consensus has a direction of ascent"
        if lines.next_is("average"):
            (d,) = (whole(w, 3, 1001) for w in lines.words("average"))
            b = Fraction(-low)
            holds = low >= -0.5 or 4 * b * (d - 2 - b) > 1
            confirm(holds, "the average may be negative")
            lines.end()
            self.statement = f"{header} benign in R^{d}; {benign}"
            return
        confirm(low > 0 or high < 0, "beta may be 0")
        self.mass, self.pairs = masses, list(itertools.combinations(range(self.n), 2))
        self.at = {p: t for t, (a, b) in enumerate(self.pairs) for p in ((a, b), (b, a))}
        fits = lambda p: all(masses[x] == m for x, m in zip(p, masses))
        self.permutations = [p for p in itertools.permutations(range(self.n)) if fits(p)]
        self.order, stable = [], [self.moved(p) for p in self.permutations]
        for t in range(len(self.pairs)):
            self.order += [(t, u) for u in sorted({p[t] for p in stable} - {t})]
            stable = [p for p in stable if p[t] == t]
        self.middle, self.points = 0.5 * (low + high), []
        while lines.next_is("point"):
            self.points.append(Point(self, lines))
        self.apart()
        root = [(-ONE, ONE)] * len(self.pairs)
        for b in ((self.middle,) * 2, (low, high))[: 1 + (low < high)]:
            lines.tree((root, b), lambda words, cell: self.visit(words, *cell))
        lines.end()
        for d in range(2, self.n + 2):
            self.morse(d)
        ascends = all(p.signs[0] + (max(p.rank, 2) - p.rank) * p.signs[1] > 0 or p.is_consensus
                      for p in self.points)
        shown = [f"rank {p.rank} [{p.signs[0]} + {p.signs[1]} (d - {p.rank}), {p.copies}x]"
                 for p in self.points]
        self.statement = (
            f"{header} exactly {len(self.points)} critical points up to rotations, reflections and "
            "permutations of equal masses; rank, directions of ascent in R^d, and labelled points "
            f"modulo rotations and reflections: {', '.join(shown)}"
            + (f"; benign in all: {benign}" if ascends else ""))

    def moved(self, p): return [self.at[p[a], p[b]] for a, b in self.pairs]

    def close(self, cell):
        """Shrinks a box to ordered Gram matrices; None if there are none."""
        cell, rest = list(cell), lambda t, lo, hi: (max(cell[t][0], lo), min(cell[t][1], hi))
        for _ in range(3):
            before = list(cell)
            for t, (a, b) in enumerate(self.pairs):
                for c in range(self.n):
                    if cell[t][0] == ONE and c not in (a, b):
                        both = rest(self.at[a, c], *cell[self.at[b, c]])
                        cell[self.at[a, c]] = cell[self.at[b, c]] = both
                        if both[0] > both[1]:
                            return None
            for t, u in self.order:
                low, high = cell[u][0], cell[t][1]
                cell[t], cell[u] = rest(t, low, ONE), rest(u, -ONE, high)
                if low > high:
                    return None
            for a in range(self.n):
                for t, (b, c) in enumerate(self.pairs):
                    if a not in (b, c):
                        cell[t] = rest(t, *third(cell[self.at[a, b]], cell[self.at[a, c]]))
                        if cell[t][0] > cell[t][1]:
                            return None
            if before == cell:
                break
        return cell

    def groups(self, g, beta):
        """First tokens, masses, inner products and kernels of groups of coinciding tokens."""
        first, mass = [], []
        for x in range(self.n):
            own = next((k for k, y in enumerate(first) if g[self.at[y, x]].lo >= 1 << I.P), None)
            if own is None:
                first.append(x)
                mass.append(self.mass[x])
            else:
                mass[own] += self.mass[x]
        table = [[num(1) if x == y else g[self.at[x, y]] for y in first] for x in first]
        phi = [[(beta * (v - num(1))).exp() for v in row] for row in table]
        return first, [num(m) for m in mass], table, phi

    def quotient(self, s, beta, i, j):
        """Lemma 4."""
        _, m, g, phi = s
        more, all = num(1) + g[i][j], []
        for c in range(len(m)):
            if c not in (i, j):
                p, q = g[i][c], g[j][c]
                most = min(max((num(2) - (p + q).sqr() / more).hi, 0), num(2).hi)
                slope = beta * phi[i][c].join(phi[j][c])
                all.append(m[c] * (p * phi[i][c] + q * phi[j][c] - I(0, most) * slope))
        return total(all + [(m[i] + m[j]) * phi[i][j] * more])

    def forces(self, s, beta):
        """E_ik for groups, and the derivatives by their inner products."""
        _, m, g, phi = s
        k, forces, lines = len(m), [], []
        at = {p: t for t, (a, b) in enumerate(itertools.combinations(range(k), 2))
              for p in ((a, b), (b, a))}
        for i, to in itertools.permutations(range(k), 2):
            line, along, force = [num(0)] * len(set(at.values())), num(0), num(0)
            for x in set(range(k)) - {i}:
                weight = m[x] * phi[i][x]
                rest = num(1) - g[i][to].sqr() if x == to else g[x][to] - g[i][x] * g[i][to]
                force = force + weight * rest
                if x == to:
                    along = along + weight * (beta * rest - g[i][to] - g[i][to])
                else:
                    line[at[i, x]], line[at[x, to]] = weight * (beta * rest - g[i][to]), weight
                    along = along - weight * g[i][x]
            line[at[i, to]] = along
            forces.append(force)
            lines.append(line)
        return forces, lines

    def linear(self, g, beta):
        """Y, the derivatives on a box, Y times them, forces and slopes by beta at a point, with the
        change of beta, and the group's tokens and the point."""
        point = [(x.lo + x.hi) // 2 >> I.P - 40 << I.P - 40 for x in g]
        point = [I(v, v) for v in point]
        b = [num(v) for v in beta]
        middle, b = num(sum(beta) / 2), I(b[0].lo, b[1].hi)
        wide, centre = self.groups(g, b), self.groups(point, middle)
        confirm(wide[0] == centre[0], "the groups of a box are not those of its middle")
        lines, forces, slopes = self.forces(wide, b)[1], self.forces(centre, middle)[0], None
        if beta[0] < beta[1]:
            first, m, table, phi = self.groups(point, b)
            phi = [[v * (x - num(1)) for v, x in zip(*rows)] for rows in zip(phi, table)]
            slopes = self.forces((first, m, table, phi), b)[0]
        slopes, middles = slopes or [num(0)] * len(forces), [[v.mid() for v in l] for l in lines]
        sizes = [max([1e-290] + [abs(v) for v in l]) for l in middles]
        scaled = [[v / size for v in l] for l, size in zip(middles, sizes)]
        columns = list(zip(*scaled))
        rows = inverse([[math.fsum(map(float.__mul__, x, y)) for y in columns] for x in columns])
        confirm(rows is not None, "Newton's method has no preconditioner")
        y = [[num(sum(a * b for a, b in zip(row, l)) / size) for l, size in zip(scaled, sizes)]
             for row in rows]
        product = [[dot(row, c) for c in zip(*lines)] for row in y]
        tokens = [self.at[centre[0][a], centre[0][b]]
                  for a, b in itertools.combinations(range(len(centre[0])), 2)]
        return y, lines, product, forces, slopes, b - middle, tokens, point

    def is_unique(self, g, beta):
        """Whether a box has at most one zero for every beta."""
        if len(self.groups(g, num(0))[0]) < 2:
            return True
        try:
            product = self.linear(g, beta)[2]
        except Refused:
            return False
        off = lambda x, row: sum((v - num(int(x == z))).mag() for z, v in enumerate(row))
        return all(off(x, row) < 1 << I.P for x, row in enumerate(product))

    def newton(self, g, beta):
        """What Newton's method leaves of a box; None if that is nothing."""
        y, lines, product, forces, slopes, change, at, point = self.linear(g, beta)
        g, off = list(g), lambda t: g[t] - point[t]
        start = [f + s * change for f, s in zip(forces, slopes)]
        if any((v + dot(line, map(off, at))).has_sign() for v, line in zip(start, lines)):
            return None
        for x, t in enumerate(at):
            own = product[x][x]
            if own.has_sign():
                rest = dot(y[x], forces) + dot(y[x], slopes) * change
                others = total(product[x][z] * off(u) for z, u in enumerate(at) if z != x)
                g[t] = g[t].meet((-rest - others) / own + point[t])
                if g[t] is None:
                    return None
        return g

    def visit(self, words, cell, beta):
        """Confirms a node: its children, or whether its reason holds."""
        n, at, (key, *words) = self.n, self.at, words
        if key == "B":
            (b,) = (real(w) for w in words)
            confirm(beta[0] < b < beta[1], "beta is not split inside")
            return [(cell, (beta[0], b)), (cell, (b, beta[1]))]
        v, cell = [whole(w) for w in words], self.close(cell)
        lengths = {"S": 1, "H": 1, "J": 2, "F": 2, "Q": 2, "P": n, "K": n * (n - 1), "Z": 1 + n}
        if len(v) != lengths.get(key, 0) or (cell is None) != (key == "E"):
            return False
        if key == "E":
            return True
        g, b = [I(lo << I.P - 40, hi << I.P - 40) for lo, hi in cell], [num(x) for x in beta]
        b = I(b[0].lo, b[1].hi)
        with_cell = lambda t, *part: cell[:t] + [part] + cell[t + 1 :]
        if key == "S":
            t, middle = whole(words[0], 0, len(cell)), sum(cell[v[0]]) // 2
            parts = (cell[t][0], middle), (middle, cell[t][1])
            return [(with_cell(t, *part), beta) for part in parts]
        if key in "JQF":
            s = self.groups(g, b)
            if v[0] == v[1] or not set(v) <= set(s[0]):
                return False
            t, (i, j) = at[v[0], v[1]], (s[0].index(x) for x in v)
            if key == "F":
                row = list(itertools.permutations(range(len(s[0])), 2)).index((i, j))
                return self.forces(s, b)[0][row].has_sign()
            holds = self.quotient(s, b, i, j).has_sign() and (cell[t][1] == ONE) == (key == "J")
            return holds and (key == "Q" or [(with_cell(t, ONE, ONE), beta)])
        if key == "H":
            low = lambda x, y: ONE if x == y else cell[at[x, y]][0]
            chosen = [x for x in range(n) if whole(words[0], 0, 1 << n) >> x & 1]
            sums = [sum(low(x, y) for x in chosen) for y in range(n)]
            return min(sums) >= 0 < max(sums)
        if key == "P":
            own = sum(x * x for x in v) * ONE
            for (a, b), (lo, hi) in zip(self.pairs, cell):
                own += 2 * v[a] * v[b] * (hi if v[a] * v[b] > 0 else lo)
            return own < 0 and max(map(abs, v)) < 1 << 10
        if key == "N":
            return self.newton(g, beta) is None
        if key == "K":
            claimed, found = bounds(v), self.newton(g, beta)
            confirm(all(-ONE <= lo and hi <= ONE for lo, hi in claimed), "bounds beyond 1")
            new = [(max(c[0], o[0]), min(c[1], o[1])) for c, o in zip(claimed, cell)]
            inside = lambda v, f: v[0] << I.P - 40 <= f.lo and f.hi <= v[1] << I.P - 40
            return all(inside(v, f) for v, f in zip(new, found or [])) and [(new, beta)]
        if key == "Z" and beta[0] == beta[1]:
            z, p = self.points[whole(words[0], 0, len(self.points))], tuple(v[1:])
            confirm(p in self.permutations, "not a permutation of equal masses")
            return self.is_unique([a.join(b) for a, b in zip(g, self.image(z, p))], beta)
        return key == "R" and beta[0] < beta[1] and self.is_unique(g, beta)

    def image(self, point, p): return [point.place[t] for t in self.moved(p)]

    def same(self, a, b):
        """Whether two enclosures contain the same zero, if that is certain."""
        if any(x.meet(y) is None for x, y in zip(a, b)):
            return False
        hull = [x.join(y) for x, y in zip(a, b)]
        confirm(self.is_unique(hull, (self.middle,) * 2), "two points are too close")
        return True

    def apart(self):
        for x, p in enumerate(self.points):
            images = [(s, self.image(q, s)) for q in self.points[:x] for s in self.permutations]
            confirm(not any(self.same(i, p.place) for _, i in images), "a point is listed twice")
            stable = sum(self.same(self.image(p, s), p.place) for s in self.permutations)
            confirm(p.copies * stable == len(self.permutations), "a wrong multiplicity")
        confirm(any(p.is_consensus for p in self.points), "consensus is not listed")

    def morse(self, d):
        """The Morse inequalities in R^d: orbits are Stiefel manifolds."""
        size = 2 * self.n * d + 1

        def times(term, spheres):
            for k in spheres:
                term = [v + (term[x - k] if x >= k else 0) for x, v in enumerate(term)]
            return term
        unit = lambda x, v: [v if y == x else 0 for y in range(size)]
        all = [times(unit(p.signs[0] + (d - p.rank) * p.signs[1], p.copies), range(d - p.rank, d))
               for p in self.points if p.rank <= d] + [times(unit(0, -1), [d - 1] * self.n)]
        rest = 0
        for counts in zip(*all):
            rest = sum(counts) - rest
            confirm(rest >= 0, "the Morse inequalities are violated")
        confirm(rest == 0, "the Morse inequalities are violated")


class Point:
    """A critical point on spheres: existence, rank and directions of ascent."""

    def __init__(self, sphere, lines):
        n = sphere.n

        def double(word):
            confirm(re.fullmatch(r"0|[1-9a-f][0-9a-f]{0,15}", word), f"{word} are no bits")
            (v,) = struct.unpack(">d", int(word, 16).to_bytes(8, "big"))
            confirm(math.isfinite(v), "a number is not finite")
            return v
        cluster, base = ([whole(w, 0, n) for w in lines.words(key)] for key in ("point", "base"))
        at, pull, radii = ([double(w) for w in lines.words(key)] for key in ("at", "pull", "radii"))
        signs, copies = ([whole(w, 0) for w in lines.words(key)] for key in ("signs", "copies"))
        k, rank = len(pull), len(base)
        fits = len(cluster) == n and set(cluster) == set(range(k)) and 1 <= rank <= k
        fits = fits and len(set(base)) == rank and set(base) <= set(range(k))
        confirm(fits and len(at) == k * rank and len(copies) == 1, "a point is malformed")
        free = [base.index(c) + 1 if c in base else rank for c in range(k)]
        names = [(i, a) for i in range(k) for a in [*range(free[i]), rank]]
        start = [at[i * rank + a] if a < rank else pull[i] for i, a in names]
        fits = all(r > 0 and r >= 2.0**-52 * abs(v) for r, v in zip(radii, start))
        confirm(fits and len(radii) == len(start), "the radii of a point are malformed")
        # A larger box is as good, and here the digits end at 2^-P.
        radii = [max(r, 2.0**-100) for r in radii]
        mass = [sum(m for m, c in zip(sphere.mass, cluster) if c == i) for i in range(k)]
        beta = num(sphere.middle)

        def state(values, zero):
            known = dict(zip(names, values))
            x = [[known.get((i, a), zero) for a in range(rank)] for i in range(k)]
            return x, [known[i, rank] for i in range(k)]

        def inner(a, b):
            terms = [x * y for x, y in zip(a, b)]
            return sum_of(terms)

        def equations(values):
            like = values[0].like
            (x, mu), out, one = state(values, like(num(0))), [], like(num(1))
            weight = {(i, j): like(num(mass[j])) * (like(beta) * (inner(x[i], x[j]) - one)).exp()
                      for i in range(k) for j in range(k) if i != j}
            for i, a in names:
                if a == rank:
                    out.append(like(num(0.5)) * (inner(x[i], x[i]) - one))
                else:
                    terms = [weight[i, j] * x[j][a] for j in range(k) if j != i]
                    out.append(sum_of(terms + [like(num(0)) - mu[i] * x[i][a]]))
            return out
        exact = [num(v) for v in start]
        value = jacobian(equations, exact)[0]
        box = [c.around(num(r).hi) for c, r in zip(exact, radii)]
        slopes = jacobian(equations, box)[1]
        zero = [c + v for c, v in zip(exact, krawczyk(value, slopes, radii))]
        x, _ = state(zero, num(0))
        confirm(all(x[b][p].lo > 0 for p, b in enumerate(base)), "the base may be dependent")
        one = I(-1 << I.P, 1 << I.P)
        y = [x[c] for c in cluster]
        self.place = [num(1) if cluster[a] == cluster[b] else dot(y[a], y[b]).meet(one)
                      for a, b in sphere.pairs]
        g = lambda a, b: num(1) if a == b else self.place[sphere.at[a, b]]
        self.rank, self.copies, self.is_consensus = rank, copies[0], set(cluster) == {0}
        # The second variation of all tokens. Of each independent cluster, one token is held by the
        # coordinates that are left out.
        held = {cluster.index(c): p for p, c in enumerate(base)}
        m = [num(v) for v in sphere.mass]
        phi = lambda a, b: (beta * (g(a, b) - num(1))).exp()
        pull = [[m[a] * m[b] * phi(a, b) for b in range(n)] for a in range(n)]
        mu = [total(pull[a][b] * g(a, b) for b in range(n) if b != a) for a in range(n)]
        basis = []
        for t in range(n):
            free = held[t] + 1 if t in held else rank
            pivot = max(range(free), key=lambda a: abs(y[t][a].lo + y[t][a].hi))
            for a in set(range(free)) - {pivot}:
                v = [num(0)] * rank
                v[a], v[pivot] = num(1), -y[t][a] / y[t][pivot]
                basis.append((t, v))

        def form(v, w):
            (a, v), (b, w) = v, w
            if a != b:
                return pull[a][b] * (dot(v, w) + beta * dot(v, y[b]) * dot(w, y[a]))
            others = [c for c in range(n) if cluster[c] != cluster[a]]
            own = (pull[a][c] * beta * dot(v, y[c]) * dot(w, y[c]) for c in others)
            return total(own) - mu[a] * dot(v, w)
        rest = [t for t in range(n) if t not in held]
        normal = [[-mu[a] if a == b else pull[a][b] for b in rest] for a in rest]
        self.signs = inertia([[form(v, w) for w in basis] for v in basis]), inertia(normal)
        confirm(list(self.signs) == signs, "a point has other signs")


def sum_of(terms):
    out = terms[0]
    for t in terms[1:]:
        out = out + t
    return out


# Critical points.

KINDS = {"beta": "metastable critical point, version 3",
         "phi": "metastable critical point of an interaction, version 2"}


NOT_EXCLUDED = ("critical points that split a cluster; critical points of the box off the slice, "
                "which may leave the box when they are rotated onto it")


def bits(text):
    """A double, from its bits and the equal decimal."""
    confirm(re.fullmatch(r"[0-9a-f]{16} -?\d(\.\d+)?e-?\d+", text), f"`{text}` is no number")
    (v,) = struct.unpack(">d", int(text[:16], 16).to_bytes(8, "big"))
    same = math.isfinite(v) and struct.pack(">d", float(text[17:])) == struct.pack(">d", v)
    confirm(same and text[17:] == scientific(v), f"`{text}` is written otherwise")
    return v


def scientific(v):
    sign, all, power = Decimal(repr(v)).as_tuple()
    digits = "".join(map(str, all)).rstrip("0") or "0"
    power = power + len(all) - 1 if any(all) else 0
    return "-" * sign + digits[0] + "." * (len(digits) > 1) + digits[1:] + f"e{power}"


class CriticalPoint:
    """A certificate of one critical point of whole clusters."""

    def __init__(self, text):
        try:
            file = json.loads(text)
        except ValueError as e:
            raise Refused(f"no JSON: {e}") from None
        law = "phi" if "phi" in file else "beta"
        head = ["kind", "statement", "not_excluded", law] + ["parameters"] * (law == "phi")
        rest = ["d", "sizes", "points", "radius", "rotations", "unstable", "morse_index"]
        layout = text == json.dumps(file, indent=2) + "\n" and list(file) == head + rest
        confirm(layout and file["kind"] == KINDS[law], "not the parts or layout of a certificate")
        d, sizes, planes = file["d"], file["sizes"], file["rotations"]
        for v in [d, file["unstable"], file["morse_index"], *sizes, *itertools.chain(*planes)]:
            confirm(type(v) is int and v >= 0, f"{v} is no whole number")
        points, radius = [[bits(v) for v in row] for row in file["points"]], bits(file["radius"])
        k, size, I.P = len(sizes), len(sizes) * d, 192
        fits = 0 < radius < 0.1 and 0 < size <= 512 and d > 1 and len(points) == k
        fits = fits and {len(row) for row in points} == {d} and 1 <= min(sizes)
        fits = fits and max(sizes) <= 1 << 20
        planar = len(planes) <= size and all(len(p) == 2 and p[1] < p[0] < d for p in planes)
        confirm(fits and planar, "sizes, the radius or a rotation are out of range")
        if law == "phi":
            values = [(name, bits(word)) for name, word in file["parameters"]]
            phi = Formula(file["phi"], values, 200)
            weight = phi.at
            shown = "".join(f", {name} = {word[17:]}" for name, word in file["parameters"])
            energy = f"E = (1/2) sum W(<x_i, x_j>) with W' = phi, phi(s) = {file['phi']}{shown}"
        else:
            beta, energy = bits(file["beta"]), f"E_beta, beta = {file['beta'][17:]}"
            confirm(abs(beta) <= 1000, "beta is out of range")
            # In units of about the largest weight.
            inner = [sum(x * y for x, y in zip(a, b)) for a, b in itertools.combinations(points, 2)]
            top = num(max(inner, key=lambda g: beta * g, default=1.0))
            weight = lambda g: (g.like(num(beta)) * (g - g.like(top))).exp()
        self.statement = (
            f"among the configurations y of {k} whole clusters (all tokens of a cluster at one "
            f"point of the unit sphere) with every coordinate within {file['radius'][17:]} of the "
            "points p and with sum_q s_q <A p_q, y_q> = 0 for each of the listed rotations (A e_b "
            "= -e_a, A e_a = e_b for [a, b]; s_q tokens in cluster q), exactly one is a critical "
            f"point of {energy}; the Hessian there on all {sum(sizes)} tokens has "
            f"{file['unstable']} positive and {file['morse_index']} negative eigenvalues, and its "
            f"kernel is spanned by {len(planes)} rotations")
        confirm(file["statement"] == self.statement, "the statement is not that of the numbers")
        confirm(file["not_excluded"] == NOT_EXCLUDED, "other points that are not excluded")
        mass, centre = [num(s) for s in sizes], [num(v) for row in points for v in row]
        box = [v.around(num(radius).hi) for v in centre]
        clusters = lambda y: [y[q * d : q * d + d] for q in range(k)]
        inner = lambda a, b: sum_of([x * y for x, y in zip(a, b)])
        near = all(dot(y, y).lo << 1 >= 1 << I.P for y in clusters(box))
        confirm(near, "a point is not near the sphere")

        def equations(y):
            """m_q (F(psi y) + (1 - |y|^2) y)_q with 2 psi_q = 3 - |y_q|^2."""
            out, near, like = [], [], y[0].like
            for row in clusters(y):
                psi = like(num(0.5)) * (like(num(3)) - inner(row, row))
                near.append([psi * v for v in row])
            pull = {}
            for p, q in itertools.combinations(range(k), 2):
                pull[p, q] = pull[q, p] = weight(inner(near[p], near[q]))
            for q, (x, row) in enumerate(zip(near, clusters(y))):
                others = [p for p in range(k) if p != q]
                terms = [[like(mass[p]) * pull[p, q] * v for v in near[p]] for p in others]
                field = [sum_of(t) for t in zip([like(num(0))] * d, *terms)]
                square, radial = inner(x, x), inner(x, field)
                for a in range(d):
                    stay = like(num(2)) * (x[a] - row[a])
                    out.append(like(mass[q]) * (square * field[a] - radial * x[a] + stay))
            return out

        def rotated(plane, y):
            return [-y[c - c % d + plane[1]] if c % d == plane[0] else y[c - c % d + plane[0]]
                    if c % d == plane[1] else num(0) for c in range(size)]
        weighted = lambda w: [mass[c // d] * v for c, v in enumerate(w)]
        plain = jacobian(equations, box)[1]
        moves = [rotated(p, box) for p in planes]
        turning = [(weighted(w), dot(weighted(w), box)) for w in moves]
        units = [[num(int(c == q)) for c in range(size)] for q in range(size)]
        twist = [[weighted(rotated(p, e)) for e in units] for p in planes]
        less = lambda p, q: total(
            w[p] * w[q] + g * t[q][p] for (w, g), t in zip(turning, twist))
        slopes = [[plain[p][q] - less(p, q) for q in range(size)] for p in range(size)]
        value = jacobian(equations, centre)[0]
        krawczyk(value, slopes, [radius] * size)
        half = lambda p, q: (slopes[p][q] + slopes[q][p]) * num(0.5)
        middle = [[I(v.lo + v.hi >> 1, v.lo + v.hi >> 1) for v in (half(p, q) for q in range(size))]
                  for p in range(size)]
        up = inertia(middle)
        independent = inertia([[dot(a, b) for b in moves] for a in moves]) == len(moves)
        confirm(independent, "the rotations are not independent")
        down = size - up - k - len(moves)
        for q, s in enumerate(sizes):
            if s > 1:
                own = mass[q] * mass[q] * weight(S([num(1), num(0)]))[0]
                part = range(q * d, q * d + d)
                entry = lambda a, b: plain[a][b] + plain[b][a] - (own + own if a == b else num(0))
                block = [[entry(a, b) for b in part] for a in part]
                more = inertia(block)
                up, down = up + (s - 1) * more, down + (s - 1) * (d - 1 - more)
        found = f"{up} positive and {down} negative eigenvalues"
        confirm((up, down) == (file["unstable"], file["morse_index"]), f"there are {found}")


def check(text):
    """The sentence of a certificate. **Raises** Refused."""
    kinds = {"metastable-landscape": Landscape, "metastable-spheres": Spheres}
    kind = text.split("\n")[0].split(" ")[0]
    kinds["{"] = CriticalPoint
    confirm(kind in kinds, f"`{kind}` is no kind of certificate that this program reads")
    try:
        return kinds[kind](text).statement
    except (OverflowError, RecursionError, ValueError, TypeError) as e:
        raise Refused(f"malformed: {e}") from None


def main(files):
    """Checks files and prints a line for each. Returns 1 if one is refused, else 0."""
    code = 0
    for name in files:
        try:
            # No translation of line ends: a certificate with others is refused.
            with open(name, newline="") as file:
                print(f"{name}: Ok({json.dumps(check(file.read()))})")
        except (Refused, OSError, UnicodeDecodeError) as e:
            print(f"{name}: Err({json.dumps(str(e))})")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

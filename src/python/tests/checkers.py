"""Compares the two checkers: whatever one accepts, the other accepts, with the same sentence.

    python checkers.py PROGRAM VERIFIER [FORGERIES]

The program writes certificates of all kinds that both read. They are changed in many ways. Prints a
table, and returns 1 if the checkers differ.
"""

import importlib.util
import json
import multiprocessing
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

FILE = os.path.join(os.path.dirname(__file__), "..", "metastable", "checker.py")
spec = importlib.util.spec_from_file_location("checker", FILE)
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)

# Commands with the share of forgeries.
COMMANDS = [
    ("circle", "landscape --n 3 --beta 1", 8),
    ("circle", "landscape --n 3 --beta 9", 8),
    ("circle", "landscape --n 3 --masses 3,2,1 --beta 2", 12),
    ("circle", "landscape --n 3 --masses 2,1,1 --beta 0.1", 4),
    ("circle", "landscape --n 4 --beta 2", 2),
    ("circle, interval", "landscape --n 3 --beta 1..1.5", 10),
    ("circle, interaction", "landscape --n 3 --interaction softplus:k=10", 2),
    ("circle, benign", "landscape --n 3 --benign --beta 0.1..2", 10),
    ("circle, benign", "landscape --n 3 --benign --masses 1..1.1,1..1.1,2..2.2 --beta 1", 8),
    ("circle, maximum", "landscape --n 3 --benign --beta -0.7", 10),
    ("circle, maximum", "landscape --n 3 --benign --interaction s^3", 4),
    ("spheres", "landscape --n 3 --d 3 --beta 2", 5),
    ("spheres", "landscape --n 3 --d 3 --masses 2,1,1 --beta 1", 5),
    ("spheres, interval", "landscape --n 3 --d 3 --beta 1..1.2", 5),
    ("spheres, average", "landscape --n 4 --d 3 --beta 1..2 --benign", 2),
    ("critical point", "certify critical-point --angles triangle.csv --beta 8 --sizes 2,1,2 "
     "--radius any", 8),
    ("critical point", "certify critical-point --angles triangle.csv --interaction power:p=2", 6),
]
# Larger ones, of which only the true certificate is compared.
LARGE = [
    "landscape --n 4 --beta 0.05",
    "landscape --n 4 --masses 1,2,2,3 --beta 2",
    "landscape --n 4 --beta 1..1.2",
    "landscape --n 5 --beta 4",
    "landscape --n 5 --benign --beta 0.5..1",
    "landscape --n 4 --d 3 --beta 1",
    "landscape --n 4 --d 3 --masses 1,2,2,3 --beta 2",
    "landscape --n 4 --interaction sigmoid:k=3",
]


def changed_word(word, draw):
    """Another number in place of a word."""
    if re.fullmatch(r"-?\d+", word):
        v = int(word)
        return str(draw.choice([v + 1, v - 1, -v, 2 * v, 0, v + 2, draw.randrange(10)]))
    try:
        v = float(word)
        if "." in word or "e-" in word:
            new = [v * (1 + 2**-52), v * 1.001, v * 0.9, -v, v + 0.1, 2 * v, 0.0]
            return repr(draw.choice(new))
    except ValueError:
        pass
    if not word:
        return "0"
    at = draw.choice([len(word) - 1, draw.randrange(len(word))])
    return word[:at] + draw.choice("0123456789abcdef, ") + word[at + 1 :]


def respelled(word, draw):
    forms = "0" + word, "+" + word, word + "0", word + " ", word.upper(), word + ".0", word + "\r"
    return draw.choice(forms)


def widened(words, key):
    """Bounds further out, in a line of pairs."""
    words, first = list(words), 2 if key == "zero" else 1
    at = random.Random(len(words)).randrange(first, max(first + 1, len(words) - 1))
    at -= (at - first) % 2
    for place, sign in ((at, -1), (at + 1, 1)):
        if place < len(words) and re.fullmatch(r"[0-9a-f]{1,12}", words[place]):
            v = int(words[place].ljust(12, "0"), 16) + sign * (1 << 20)
            words[place] = f"{min(max(v, 0), (1 << 48) - 1):012x}".rstrip("0") or "0"
    return words


def forged(text, draw):
    """A changed certificate of lines."""
    lines = [line.split(" ") for line in text[:-1].split("\n")]
    heads = [x for x, line in enumerate(lines) if len(line[0]) > 1]
    at = draw.choice([draw.choice(heads), draw.randrange(len(lines))])
    line, way = lines[at], draw.randrange(14)
    value = draw.randrange(min(1, len(line) - 1), len(line))
    if way <= 3:
        line[value] = changed_word(line[value], draw)
    elif way == 4:
        other = draw.randrange(len(line))
        line[value], line[other] = line[other], line[value]
    elif way == 5:
        other = draw.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif way == 6:
        lines.insert(draw.randrange(len(lines)), line)
    elif way == 7:
        del lines[at]
    elif way == 8:
        shadow = line[:value] + [changed_word(line[value], draw)] + line[value + 1 :]
        lines.insert(at + draw.randrange(2), shadow)
    elif way == 9:
        lines[at] = widened(line, line[0])
    elif way == 10:
        line[value] = respelled(line[value], draw)
    elif way == 11:
        line[0] = draw.choice(["E", "Y", "N", "R", "X", lines[draw.choice(heads)][0], "tree", "K"])
    elif way == 12:
        first = 2 if line[0] == "tree" else 1
        tail = line[first + 1 :] + line[first : first + 1]
        lines[at] = line[:first] + draw.choice([tail, tail[::-1]])
    else:
        for x, own in enumerate(lines):
            if own[0] in ("masses", "upper", "tree"):
                double = lambda w: re.sub(r"\d+", lambda m: str(2 * int(m[0])), w)
                lines[x] = own[:1] + [double(w) for w in own[1:]]
    return "\n".join(" ".join(line) for line in lines) + draw.choice(["\n"] * 40 + ["", "\r\n"])


def number(v):
    """A double as its bits and its decimal digits."""
    digits = "%s%s" % ("-" * (struct.pack(">d", v)[0] >> 7), "0e0") if v == 0 else None
    return struct.pack(">d", v).hex() + " " + (digits or checker.scientific(v))


def forged_json(text, draw):
    """A changed certificate of a critical point, with texts that fit in half of the cases."""
    old, file = json.loads(text), json.loads(text)
    way, k, d = draw.randrange(12), len(file["sizes"]), file["d"]
    value = lambda word: struct.unpack(">d", bytes.fromhex(word[:16]))[0]
    near = lambda v: draw.choice([v * (1 + 2**-52), v * 1.001, v * 0.9, -v, 2 * v, v + 1e-15])
    if way <= 1:
        row = file["points"][draw.randrange(k)]
        at = draw.randrange(d)
        row[at] = number(near(value(row[at])))
    elif way == 2:
        file["radius"] = number(near(value(file["radius"])))
    elif way == 3 and "beta" in file:
        file["beta"] = number(near(value(file["beta"])))
    elif way == 3:
        file["phi"] = draw.choice([file["phi"] + "+0", "s^3", file["phi"] + "*1", "(" + file["phi"]])
    elif way == 4:
        file["sizes"][draw.randrange(k)] += draw.choice([1, -1])
    elif way == 5:
        draw.shuffle(file["sizes"])
    elif way == 6:
        file[draw.choice(["unstable", "morse_index", "d"])] += draw.choice([1, -1])
    elif way == 7:
        file["unstable"], file["morse_index"] = file["morse_index"], file["unstable"]
    elif way == 8:
        file["rotations"] = draw.choice([[], [[0, 1]], file["rotations"] * 2])
    elif way == 9:
        draw.shuffle(file["points"])
    elif way == 10:
        words = file["points"][0]
        words[0] = draw.choice([words[0].upper(), "0" + words[0], words[0][:-1], words[0] + "0"])
    else:
        keys = list(file)
        a, b = draw.randrange(len(keys)), draw.randrange(len(keys))
        keys[a], keys[b] = keys[b], keys[a]
        file = {key: file[key] for key in keys}
    if draw.random() < 0.7:
        # The statement that belongs to the numbers.
        statement = file["statement"].replace(old["radius"][17:], file["radius"][17:])
        if "beta" in old:
            statement = statement.replace("= " + old["beta"][17:], "= " + file["beta"][17:])
        else:
            statement = statement.replace("phi(s) = " + old["phi"], "phi(s) = " + file["phi"])
        statement = re.sub(r"all \d+ tokens", f"all {sum(file['sizes'])} tokens", statement)
        found = f"{file['unstable']} positive and {file['morse_index']} negative"
        statement = re.sub(r"\d+ positive and \d+ negative", found, statement)
        count = f"by {len(file['rotations'])} rotations"
        file["statement"] = re.sub(r"by \d+ rotations", count, statement)
    text = json.dumps(file, indent=2) + "\n"
    return draw.choice([text] * 20 + [text.replace("  ", " "), json.dumps(file) + "\n"])


def of_checker(file):
    with open(file, newline="") as text:
        try:
            return True, checker.check(text.read())
        except checker.Refused as e:
            return False, str(e)


def main(program, verifier, count):
    program, verifier, scratch = os.path.abspath(program), os.path.abspath(verifier), tempfile.mkdtemp()
    os.chdir(scratch)
    with open("triangle.csv", "w") as file:
        file.write("0\n2.0943951\n-2.0943951\n")
    shares, rows, files = sum(c[2] for c in COMMANDS), {}, []
    for x, (kind, command, share) in enumerate(COMMANDS + [("large", c, 0) for c in LARGE]):
        name = f"{x}.certificate"
        subprocess.run([program, *command.split(" "), "--out", name], capture_output=True)
        with open(name) as file:
            text = file.read()
        files.append((kind, name, True))
        for k in range(count * share // shares):
            draw, own = random.Random(f"{x} {k}"), f"{x}.{k}.forged"
            change = (forged_json if text[0] == "{" else forged)(text, draw)
            if change != text:
                with open(own, "w", newline="") as file:
                    file.write(change)
                files.append((kind, own, False))
    answers = {}
    for start in range(0, len(files), 500):
        names = [f[1] for f in files[start : start + 500]]
        out = subprocess.run([verifier, *names], capture_output=True, text=True).stdout
        for line in out.splitlines():
            name, found = line.split(": ", 1)
            answers[name] = json.loads(found[3:-1]) if found.startswith("Ok(") else None
    with multiprocessing.Pool() as pool:
        own = pool.map(of_checker, [f[1] for f in files], chunksize=50)
    wrong = 0
    for (kind, name, true), (accepted, sentence) in zip(files, own):
        row = rows.setdefault(kind, [0, 0, 0])
        row[0 if true else 1] += 1
        row[2] += accepted and not true
        if (sentence if accepted else None) != answers[name] or true and not accepted:
            wrong += 1
            print(f"{kind}, {os.path.join(scratch, name)}: the verifier says {answers[name]!r}, "
                  f"the checker says {sentence!r}")
    print("kind, certificates, forgeries, accepted forgeries")
    for kind, row in rows.items():
        print(f"{kind}, {row[0]}, {row[1]}, {row[2]}")
    # A comparison of few forgeries, or of none that is accepted, says nothing.
    forged_all, accepted_all = (sum(row[k] for row in rows.values()) for k in (1, 2))
    if forged_all < count // 2 or accepted_all == 0:
        print(f"only {forged_all} forgeries, {accepted_all} of them accepted")
        wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000))

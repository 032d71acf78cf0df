"""Reads equations as they stand on the page and works them out again with the numbers that are printed, as a reader
with a pocket calculator does. Knows nothing of how the page makes them."""

import ast
import math
import re
from decimal import Decimal
from typing import NamedTuple

# The text of what may hold an equation, with what CSS alone says put into signs: what stands over a line, under a root,
# raised. Words that are lowered are of names. Of a sum the words that say how many terms a number stands for go.
READ = r"""() => {
  const written = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".at-others, canvas, svg")) return "";
    const parts = (of) => [...of.childNodes].map(written).join("");
    if (node.matches(".gp-fraction")) return `((${parts(node.firstChild)}) / (${parts(node.lastChild)}))`;
    if (node.matches(".gp-root")) return `√(${parts(node.querySelector(".gp-under"))})`;
    if (node.matches(".position-matrix")) return " matrix ";
    if (node.matches("sup")) return parts(node).startsWith("^") ? parts(node) : `^(${parts(node)})`;
    if (node.matches("sub")) return `_${parts(node)}`;
    return parts(node);
  };
  // What a table takes from what: of both runs, or of two scores.
  const taken = (row) => {
    const [first, second, change] = [...row.cells].slice(1, 4).map((cell) => `(${written(cell)})`);
    if (row.matches(".mn-table tbody tr:not(.is-others)")) return `${second} − ${first} = ${change}`;
    return row.matches(".wy-scores tbody tr") ? `${first} − ${second} = ${change}` : "";
  };
  const found = [];
  for (const part of document.querySelectorAll("[data-scene]:not([hidden]), section.glass-panel:not(.page-away)")) {
    if (!part.getClientRects().length) continue;
    const name = part.dataset.scene ?? part.dataset.kind;
    for (const one of part.querySelectorAll("p, li, div, tr, span.gp-readout")) {
      if (!one.getClientRects().length) continue;
      const isBlock = one.matches("div") && one.querySelector("p, li, div, table");
      if (isBlock || one.closest(".gp-explain, .gp-code")) continue;
      const cells = one.matches("tr") ? [...one.cells].map(written).join(" | ") : written(one);
      for (const text of [cells, one.matches("tr") ? taken(one) : ""])
        if (/\d/.test(text)) found.push([name, text.replace(/[\u00a0\u202f]/g, " ")]);
    }
  }
  return found;
}"""

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?%?"
FUNCTIONS = {
    "σ": "sigmoid",
    "SiLU": "silu",
    "ReLU": "relu",
    "tanh": "tanh",
    "Φ": "phi",
    "ln": "log",
    "√": "sqrt",
    "max": "max",
}
WORKED = {
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "relu": lambda x: max(x, 0.0),
    "tanh": math.tanh,
    "phi": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
    "log": math.log,
    "sqrt": math.sqrt,
    "max": max,
    "e": math.e,
    "abs": abs,
}


class Equation(NamedTuple):
    """What is printed: operands put together, and the result."""

    place: str
    text: str
    left: float
    printed: float
    unit: float  # of the result's last digit

    @property
    def holds(self) -> bool:
        """Within half a unit of the last digit that is printed, and what a double may be off."""
        return abs(self.left - self.printed) <= self.unit / 2 + 1e-9 * max(abs(self.left), abs(self.printed))


def number(text: str) -> tuple[float, float]:
    """A printed number, and the unit of its last digit."""
    text = text.strip().replace("−", "-").replace(",", "").replace("+", "")
    scale = 1.0
    if text.endswith("%"):
        text, scale = text[:-1], 0.01
    mantissa, _, power = text.partition("×10")
    shift = Decimal(10) ** int(power.translate(RAISED) or 0)
    value = Decimal(mantissa)
    decimals = len(mantissa.partition(".")[2])
    return float(value * shift) * scale, float(shift / Decimal(10) ** decimals) * scale


TOKEN = re.compile(rf"\s*({NUMBER}|[A-Za-zσΦ√]+|\*\*|[-−+·×/÷^(),²|])")


def worked_out(text: str) -> tuple[float, int] | None:
    """What an expression of numbers alone comes to, and how many numbers are in it; None where it is none."""
    out: list[str] = []
    at, counted, bars = 0, 0, 0
    text = text.strip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            return None
        at, token = found.end(), found[1]
        if token[0].isdecimal():
            counted += 1
            out.append(repr(number(token)[0]))
        elif token in FUNCTIONS:
            out.append(FUNCTIONS[token])
        elif token == "e":
            out.append("e")
        elif token == "|":
            out.append(")" if bars % 2 else "abs(")
            bars += 1
        elif token in "+(),":
            out.append(token)
        elif token in "-−·×/÷^²":
            out.append({"−": "-", "-": "-", "·": "*", "×": "*", "/": "/", "÷": "/", "^": "**", "²": "**2"}[token])
        else:
            return None
    code = " ".join(out).replace("e **", "e**")
    code = re.sub(r"sqrt (\d[\d.]*)", r"sqrt(\1)", code)
    try:
        ast.parse(code, mode="eval")
        value = eval(code, {"__builtins__": {}}, WORKED)
    except (SyntaxError, TypeError, ZeroDivisionError, OverflowError, ValueError):
        return None
    return (float(value), counted) if isinstance(value, int | float) else None


# In which a chain of equations ends, or another begins.
ENDS = re.compile(r";|,\s|: |\s{2,}|→| · \w+=")
RESULT = re.compile(rf"^\(?([−-]?\s?\+?{NUMBER})\)?(?:\s+[^\d·×/+−=]*)?\.?$")


def chains(place: str, text: str) -> list[Equation]:
    """Equations that are written with signs alone, each side by side with the number it is said to be."""
    found = []
    for statement in ENDS.split(text):
        parts = re.split(r"[=≈]", statement)
        for i, part in enumerate(parts[:-1]):
            came = worked_out(part)
            if came is None:
                words = re.match(r".*?[:)\]]\s+(.*)$", part)  # a name of what is worked out stands before it
                came = worked_out(words[1]) if words else None
            if came is None or came[1] < 1 or RESULT.match(part.strip()):
                continue
            result = next((one for one in map(RESULT.match, map(str.strip, parts[i + 1 :])) if one), None)
            if result:
                found.append(Equation(place, statement.strip(), came[0], *number(result[1])))
    return found


N = rf"([−+]?{NUMBER})"


def _silu(x: float) -> float:
    return x / (1 + math.exp(-x))


# Equations in words: a pattern of the numbers, what they come to, and which of them is the result.
WORDS = [
    (rf"q·k = {N}, divided by √{N}: a score of {N},", lambda product, dim: product / math.sqrt(dim)),
    (rf"SiLU turns gate {N} into {N}; times up", _silu),
    (rf"SiLU leaves gate {N} almost as it is: {N}; times up", _silu),
    (rf"The dials add {N}, the other .* together {N}: q·k = {N}\.", lambda drawn, rest: drawn + rest),
]


def in_words(place: str, text: str) -> list[Equation]:
    """Equations that are told in a sentence."""
    found = []

    def add(said: str, left: float, result: str) -> None:
        found.append(Equation(place, said, left, *number(result)))

    for pattern, by in WORDS:
        for one in re.finditer(pattern, text):
            *operands, result = one.groups()
            add(one[0], by(*(number(x)[0] for x in operands)), result)  # pyright: ignore
    if one := re.search(rf"The difference is {N}: what lower heads .* makes {N} of it, all else .* {N}\.", text):
        add(one[0], number(one[2])[0] + number(one[3])[0], one[1])
    if one := re.search(rf"\|x\| = {N}, {N} times the median magnitude {N} of", text):
        add(one[0], number(one[1])[0] / number(one[3])[0], one[2])
    for one in re.finditer(rf"A {N}[,，] ?B {N}[,，] ?B − A = {N}", text):
        add(one[0], number(one[2])[0] - number(one[1])[0], one[3])
    if one := re.search(rf": {N} − {N} = {N}", text):
        add(one[0], number(one[1])[0] - number(one[2])[0], one[3])
    return found


def of_scenes(read: list[tuple[str, str]]) -> list[Equation]:
    """Equations of a scene whose numbers stand in several places of it."""
    found = []
    rows: dict[str, list[list[str]]] = {}
    for place, text in read:
        if " | " in text:
            rows.setdefault(place, []).append(text.split(" | "))
    whole = {place: " ".join(text for name, text in read if name == place) for place, _ in read}
    for _, *cells in rows.get("norm", []):
        if len(cells) == 3 and all(re.fullmatch(N, cell) for cell in cells):
            x, gamma, result = cells
            about, _ = number(result)  # as the table's head says: of operands with three digits
            found.append(Equation("norm", " · ".join(cells), number(x)[0] * number(gamma)[0], about, 0.03 * abs(about)))
    scores = [cells[-1] for cells in rows.get("match", []) if re.fullmatch(N, cells[-1])]
    gap = re.search(rf"[dD]ifference (?:of|is) {N}[,:]", whole.get("match", ""))
    if gap and len(scores) == 2:
        first, second = (number(one)[0] for one in scores)
        found.append(Equation("match", f"{scores[0]} − {scores[1]} = {gap[1]}", first - second, *number(gap[1])))
    return found


def equations(read: list[tuple[str, str]]) -> list[Equation]:
    """All of them, of a page's texts by place."""
    found = [one for place, text in read for one in (*chains(place, text), *in_words(place, text))]
    unique = {(one.place, one.text, one.printed): one for one in (*found, *of_scenes(read))}
    return list(unique.values())

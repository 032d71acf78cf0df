"""python -m model.evaluate.zoo: the small networks of the families side by side, and their table in model/zoo.

Parameters, held-out loss and cache are measured here, skills read from each one's evaluation.json (`python -m
model.evaluate --model model/zoo/NAME --json model/zoo/NAME/evaluation.json`); with `--speed`, on a quiet machine,
training and decoding too, as a ratio to the LLaMA in the same run. All of it goes to figures.json and, as a table, into
the README beside it; `--table` prints what figures.json has.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from ..checkpoint import LanguageModel, load
from ..corpus import documents
from ..kv_math import KvOptions, kv_bytes_per_token, kv_cache_bytes
from ..published.hf_spec import spec_from_config
from ..published.parameters import active_parameter_count
from ..published.spec import ModelSpec
from ..train.balance import loads
from ..train.progress import heldout_loss
from ..train.zoo import SHAPES, ZOO
from .cases import SKILLS

FIGURES = ZOO / "figures.json"
README = ZOO / "README.md"
BEGIN, END = "<!-- the table: python -m model.evaluate.zoo -->", "<!-- the end of the table -->"
STORIES = "free stories"
TOKENS = 96  # of the cache that is measured
DOCUMENTS = 64  # that the experts' load is counted on


def main() -> None:
    """Measure, write, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m model.evaluate.zoo", description="The families side by side.")
    parser.add_argument("--table", action="store_true", help="print what was measured last, and measure nothing")
    parser.add_argument(
        "--speed", action="store_true", help="time training and decoding against the LLaMA; quiet machine"
    )
    given = parser.parse_args()
    if not given.table:
        known = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.is_file() else {}
        found = {name: known.get(name, {}) | figures(ZOO / name) for name in SHAPES if (ZOO / name).is_dir()}
        if given.speed:
            from .zoo_speed import speeds

            for name, speed in speeds([ZOO / name for name in found]).items():
                found[name] |= speed
        FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        written = README.read_text(encoding="utf-8")
        before, after = written.split(BEGIN)[0], written.split(END)[1]
        README.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{after}", encoding="utf-8")
    print(table(json.loads(FIGURES.read_text(encoding="utf-8"))))


def figures(directory: Path) -> dict[str, Any]:
    """What is said of one network: losses in nats a token, bytes in float16, shares of held-out cases."""
    lm = load(directory, device="cpu")
    spec = spec_from_config((directory / "config.json").read_text(encoding="utf-8"))
    encoded = lm.reads_source
    return {
        "parameters": lm.n_parameters,
        "active": active_parameter_count(spec),
        "heldout": None if encoded else round(heldout_loss(lm.net, lm.tokenizer), 3),
        "continued": round(heldout_loss(lm.net, lm.tokenizer, continued=True), 3),
        "kv_token": kv_bytes_per_token(spec, "fp16"),
        "kv_source": _per_source_token(spec) if encoded else 0,
        **_measured(lm),
        **_loads(lm),
        "skills": _skills(directory / "evaluation.json"),
    }


def _per_source_token(spec: ModelSpec) -> int:
    one, two = (kv_cache_bytes(spec, 1, dtype="fp16", options=KvOptions(encoder_tokens=n)) for n in (1, 2))
    return two - one


def _measured(lm: LanguageModel) -> dict[str, int]:
    """Bytes that a token adds to a cache, counted from its tensors; a source's tokens lie in it from the start."""
    net, _ = lm.net.start_decoding([1] * TOKENS)
    held = net.cache(TOKENS)
    halves = 2 / held.keys[0].element_size()  # float16, whatever this machine runs in
    return {
        "kv_token_measured": round((held.nbytes(2) - held.nbytes(1)) * halves),
        "kv_source_measured": round(held.nbytes(0) * halves) // TOKENS,
    }


def _loads(lm: LanguageModel) -> dict[str, float]:
    """The least and the most that any expert gets, in even shares of its layer; nothing where there are no experts."""
    stream = documents(0, "heldout")
    shares = loads(lm.net, [lm.tokenizer.encode(next(stream).text) for _ in range(DOCUMENTS)])
    even = [float(share) * len(layer) for layer in shares for share in layer]
    return {"least": round(min(even), 2), "most": round(max(even), 2)} if even else {}


def _skills(report: Path) -> dict[str, float]:
    """The share of right cases of each skill, its languages averaged."""
    if not report.is_file():
        return {}
    shares: dict[str, list[float]] = {}
    for line in json.loads(report.read_text(encoding="utf-8"))["figures"]:
        shares.setdefault(line["name"], []).append(line["share"])
    return {name: round(sum(own) / len(own), 4) for name, own in shares.items()}


def table(found: dict[str, dict[str, Any]]) -> str:
    """The figures as a table in Markdown, a network a column."""

    def share(name: str) -> list[str]:
        return [
            f"{one['skills'][name]:.0%}".replace("%", " %") if name in one["skills"] else "" for one in found.values()
        ]

    def ratio(name: str) -> list[str]:
        return [f"{one[name]:.2f}" if name in one else "not timed" for one in found.values()]

    ones = list(found.values())
    skills = [
        name for name in (*(skill.name for skill in SKILLS), STORIES) if any(name in one["skills"] for one in ones)
    ]
    rows = {
        "parameters": [f"{one['parameters']:,}" for one in ones],
        "of which a token uses": [f"{one['active']:,}" for one in ones],
        "held-out loss, nats a token": ["" if one["heldout"] is None else f"{one['heldout']:.3f}" for one in ones],
        "held-out loss after a point": [f"{one['continued']:.3f}" for one in ones],
        **{name: share(name) for name in skills},
        "cache, bytes a token (formula)": [_bytes(one, "") for one in ones],
        "cache, bytes a token (measured)": [_bytes(one, "_measured") for one in ones],
        "busiest and idlest expert, in even shares": [
            f"{one['most']:.2f}, {one['least']:.2f}" if "most" in one else "" for one in ones
        ],
        "speed of training": ratio("training"),
        "speed of decoding": ratio("decoding"),
    }
    lines = ["| | " + " | ".join(found) + " |", "|---|" + "---|" * len(found)]
    return "\n".join(
        [*lines, *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items() if any(cells))]
    )


def _bytes(one: dict[str, Any], which: str) -> str:
    own, source = one[f"kv_token{which}"], one[f"kv_source{which}"]
    return f"{own:,} and {source:,} a source token" if source else f"{own:,}"


if __name__ == "__main__":
    main()

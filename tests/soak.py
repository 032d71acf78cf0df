"""How much memory the page takes after a long day: `python -m tests.soak`. Prints the figures; no part of the suite.

3,000 runs by 1,000 visitors, 300 calls with 5 MB each, on the server as `python app.py` starts it, asked over HTTP as a
browser does. The bar: what it takes afterwards is at most 1.25 times what it took after the first 300 runs, when the
store of runs was full.
"""

import argparse
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.page import running_process
from tests.visitor import Site, Visitor

RUNS_EACH = 3
FIRST, BAR = 300, 1.25
OVERSIZED_BYTES = 5_000_000
SENTENCES = (
    "Tom is in the kitchen. Lily is in the garden. The cat sleeps on the sofa. ",
    "汤姆在厨房里。莉莉在花园里。猫在沙发上睡觉。",
    "Once upon a time there was a little dog who wanted a red ball. ",
)


def resident(pid: int) -> float:
    """MB of memory that the process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def visit(site: Site, seed: int) -> None:
    """One visitor: a few runs, a look at some layers, now and then text written on."""
    draw = random.Random(seed)
    visitor = Visitor(site)
    settings = [12, 0.8, 20, 0.95, seed]
    for turn in range(RUNS_EACH):
        prompt = "".join(draw.choice(SENTENCES) for _ in range(draw.randint(2, 12)))
        if turn == 2 and seed % 5 == 0:
            run = visitor.press("generate", prompt, site.model, {"layer": 1, "ticket": str(seed)}, *settings)[-1]
        else:
            run = visitor.press("run", prompt, site.model, {"layer": draw.randrange(8)})[-1]
        if run.get("kind") != "run":
            raise RuntimeError(f"no run for {prompt!r}: {str(run)[:300]}")
        for _ in range(2):
            visitor.ask("layers", {"run": run["id"], "layers": [draw.randrange(8)], "token": 0})
        visitor.ask(
            "detail",
            {
                "run": run["id"],
                "what": draw.choice(("stream", "lens", "ffn_firing", "values")),
                "layer": 0,
                "follow": False,
            },
        )


def oversized(site: Site, number: int) -> int:
    """A call with 5 MB in one field or another; the status of its answer."""
    long = "x" * OVERSIZED_BYTES
    visitor = Visitor(site)
    bodies: tuple[tuple[str, dict[str, Any]], ...] = (
        ("recall", {"prompt": "The cat", "model": site.model, "layer": 0, "changes": {"note": long}}),
        ("rerun", {"prompt": long, "model": site.model, "ids": [5, 6, 7], "n_prompt": 3, "layer": 0}),
        ("recall", {"prompt": "The cat", "model": site.model, "layer": 0, "extra": long}),
    )
    function, data = bodies[number % 3]
    body = {"data": data, "component_id": site.bus, "fn_name": function, "session_hash": visitor.session}
    if number % 4 == 3:
        event = site.event("stop")
        body = {"data": [{"ticket": f"{number}{long}"}], "fn_index": event["id"], "session_hash": visitor.session}
        return site.post("run/predict", body).status_code
    return site.post("component_server", body).status_code


def main() -> int:
    """Run it all and print the figures; 1 where the bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--oversized", type=int, default=300)
    parser.add_argument("--app", nargs=argparse.REMAINDER, default=[], help="arguments for app.py")
    asked = parser.parse_args()
    with running_process(*asked.app) as (address, pid):
        site = Site(address)
        print(f"at the start: {resident(pid):,.0f} MB", flush=True)
        begun, first, after = time.perf_counter(), 0.0, 0.0
        with ThreadPoolExecutor(4) as visitors:
            for done in range(0, asked.runs, FIRST):
                seeds = range(done // RUNS_EACH, (done + FIRST) // RUNS_EACH)
                list(visitors.map(lambda seed: visit(site, seed), seeds))
                after = resident(pid)
                first = first or after
                spent = time.perf_counter() - begun
                print(f"{done + FIRST:5d} runs: {after:,.0f} MB, {after / first:.2f} × ({spent:.0f} s)", flush=True)
            statuses = list(visitors.map(lambda number: oversized(site, number), range(asked.oversized)))
        told = {status: statuses.count(status) for status in sorted(set(statuses))}
        after = resident(pid)
        print(f"{asked.oversized} calls of 5 MB, answered {told}: {after:,.0f} MB, {after / first:.2f} ×", flush=True)
    return 0 if after <= BAR * first else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except httpx.HTTPError as error:
        sys.exit(f"tests.soak: {error!r}")

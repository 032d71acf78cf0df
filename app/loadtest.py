"""How many visitors a server carries: `python -m app.loadtest`. Prints figures; no part of the tests.

Each visitor goes round and round: run a text, look at two layers, write 24 tokens. With --pause a visitor reads for so
long after the look and after the tokens. With --page they ask, in place of two layers, what the workbench asks in
Chromium where it opens, in its first chapter, after a run and once all tokens are shown: whether the text is of the
small world, all layers that the run did not bring along, and where these are small the neurons of one; and while the
tokens are shown word by word, the run of those that are, a few times. With --story they ask what the page asks where it
opens, too: at once what the answer rests on, and, as a reader goes down to its end, what each scene asks; some of it is
long work that has budgets. Both do without what a reader asks by pressing something. What an older checkout does not
know it refuses, and counts as `refused`. Several --tree, checkouts of this repository, are measured in
turn in the same minutes, --rounds times, each with every --engine: on a machine with other work the ratio of two of
them says more than a figure by itself. `loops/s` are all visitors' together; `loops/cpu s` go by the processor time of
all of the server, and `ms of …` is what a part of it takes of that for a loop; `share` is what the visitor with the
fewest loops has of the one with the most. A cluster (--engine ray://…) is one that is up on this machine; no other
one's processor time is known. `MB` is the memory at the end, `MB at half` that of half-way. --presses measures instead
how long visitors wait who press Run once each, all within one second. --alone measures instead the processor time of
200 tokens that one visitor has written, through the engine and as the page has them, with no server around.
"""

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from .command import engine

HERE = Path(__file__).parent.parent
TOKENS = 24
GOLDEN = (5**0.5 - 1) / 2  # whose multiples spread evenly over a unit
PROMPTS = (
    "Tom is in the kitchen. Lily is in the garden. The cat sleeps on the sofa. Where is Lily? Lily is in the",
    "Once upon a time there was a little dog who wanted a red",
    "The sun is warm. Ben and Anna go to the",
    "汤姆在厨房里。莉莉在花园里。莉莉在",
)
NEURON_BYTES = 300_000  # all tokens' neurons of a layer are fetched ahead up to so many (visuals/static/prefetch.js)
SHOWN = range(5, TOKENS, 5)  # tokens that are shown each time that the page asks for their run: four words a second


def of_page(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The details of a run that the first chapter of the workbench asks for by itself."""
    return [{"what": "outside"}]


def of_story(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that the story asks for besides, at its first scene and on the way down, as seen in Chromium."""
    last, best = len(run["tokens"]["ids"]) - 1, run["next"]["ids"][0]
    return [
        {"what": "rests", "token": last},
        {"what": "words", "token": last},
        {"what": "looks_back", "token": last},
        {"what": "told_apart", "token": last},
        {"what": "norm_vectors", "layer": 4, "norm": "attn", "token": None},
        {"what": "values", "layer": 4},
        {"what": "head_write", "layer": 4, "head": 0, "query": last},
        {"what": "logit_terms", "token": last, "target": best, "against": None},
        {"what": "ffn_written", "layer": 7, "token": last, "neuron": None, "target": best},
        {"what": "lens", "follow": False, "token": last},
        {"what": "logits"},
        {"what": "kv_live"},
    ]


def neuron_bytes(run: dict[str, Any]) -> float:
    """About how many bytes all neurons of a layer take, as the page reckons."""
    return len(run["tokens"]["ids"]) * run["model"]["ffn_hidden"] * 8 * 4 / 3


# What one visitor's 200 tokens take, in milliseconds a token, in a checkout: by its engine, and by its service.
ALONE = """
import time
from dataclasses import replace
import torch, model
from app.engine import LocalEngine, Settings
from app.service import Service
torch.set_num_threads(1)
lm = model.load()
lm = replace(lm, config=replace(lm.config, eos_ids=()))
engine = LocalEngine([lm])
ids, text = engine.encode(engine.names[0], "The cat sleeps on the sofa."), "The cat sleeps on the sofa."
def by_engine():
    return sum(1 for _ in engine.generate(engine.names[0], ids, 200, Settings()))
def by_service():
    *_, last = Service(engine).generate(text, engine.names[0], 200, (0, 0, 1, 0), {"layer": 0})
    return len(last["steps"])
for work in (by_engine, by_service):
    work()
    start = time.process_time()
    assert work() == 200
    print((time.process_time() - start) / 200 * 1e3)
"""


class Server(NamedTuple):
    """A server that is up: its process, and those that it has started."""

    address: str
    pid: int
    on_ray: bool

    @property
    def parts(self) -> dict[str, list[int]]:
        """Their numbers, by what they do."""
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
        return {"page": [self.pid], "models": children} | (processes_of_ray() if self.on_ray else {})

    @property
    def processor_seconds(self) -> dict[str, float]:
        """What each part has taken of the processors so far, in user and system time."""
        return {part: sum(map(processor_seconds, pids)) for part, pids in self.parts.items()}

    @property
    def megabytes(self) -> float:
        """Resident memory; what they share counts for each."""
        pids = [pid for pids in self.parts.values() for pid in pids]
        lines = [line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def processor_seconds(pid: int) -> float:
    """Of a process; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processes_of_ray() -> dict[str, list[int]]:
    """Those of this machine's cluster: its replicas, Serve's proxies, and all else of it."""
    found: dict[str, list[int]] = {"replicas": [], "proxies": [], "rest of Ray": []}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_text(errors="replace")
            if command.startswith("ray::ServeReplica"):
                found["replicas"].append(int(folder.name))
            elif command.startswith("ray::Proxy"):
                found["proxies"].append(int(folder.name))
            elif command.startswith("ray::") or "/ray/core/" in command or "/ray/dashboard/" in command:
                found["rest of Ray"].append(int(folder.name))
    return found


class Asks(NamedTuple):
    """What visitors ask besides a run, two layers and 24 tokens: what the workbench does, and what the story does."""

    page: bool
    story: bool


class Side(NamedTuple):
    """What is measured: a checkout, and where its models run ("" where it has no choice)."""

    tree: Path
    engine: str = ""

    def __str__(self) -> str:
        return f"{self.tree.name} {self.engine}".rstrip()


class Round(NamedTuple):
    """What visitors had of a server: loops of each, and the seconds of every action by its name."""

    loops: list[int]
    seconds: dict[str, list[float]]
    wall: float
    cpu: dict[str, float]
    failed: int
    refused: int
    megabytes_at_half: float

    @property
    def figures(self) -> dict[str, float]:
        """By name; 95th percentiles in seconds."""
        done = sum(self.loops)
        times = {f"{name} p95": percentile(found) for name, found in self.seconds.items()}
        rates = {"loops/s": done / self.wall, "loops/cpu s": done / max(sum(self.cpu.values()), 1e-9)}
        costs = {f"ms of {part}": 1000 * taken / max(1, done) for part, taken in self.cpu.items() if taken}
        share = {"share": min(self.loops) / max(1, *self.loops)}
        return (
            rates
            | costs
            | share
            | times
            | {"MB at half": self.megabytes_at_half, "failed": self.failed, "refused": self.refused}
        )


def percentile(found: list[float], share: float = 0.95) -> float:
    """The value below which this share lies."""
    return sorted(found)[min(len(found) - 1, int(share * len(found)))] if found else float("nan")


@cache
def takes(tree: Path, option: str) -> bool:
    """Whether `python app.py` of a checkout has this option, as its own help says."""
    told = subprocess.run([sys.executable, "app.py", "--help"], cwd=tree, stdout=subprocess.PIPE, text=True, check=True)
    return option in told.stdout


@contextmanager
def served(side: Side, port: int) -> Iterator[Server]:
    """`python app.py` of a checkout, once it answers. Visitors' addresses are what they say.

    A checkout that is too old to believe a proxy has no bounds by address either: all may come from one.
    """
    command = [sys.executable, "app.py", "--port", str(port)]
    command += ["--trusted-proxy", "127.0.0.1"] if takes(side.tree, "--trusted-proxy") else []
    command += ["--engine", side.engine] if side.engine else []
    with subprocess.Popen(command, cwd=side.tree, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = next((line for line in process.stdout if "http://" in line), "")
            if not line:
                raise SystemExit(f"{side}: app.py ended before it was up")
            yield Server(line[line.index("http://") :].strip().rstrip("/"), process.pid, "://" in side.engine)
        finally:
            process.terminate()


class Site:
    """What a page tells a browser: which number gradio gives each event, and which component carries the questions."""

    def __init__(self, address: str):
        config = httpx.get(f"{address}/config", timeout=120).json()
        parts = config["components"]
        self.address = address
        bus = next(part for part in parts if "page-bus" in (part["props"].get("elem_classes") or []))
        self.bus, self.functions = bus["id"], bus["props"]["server_fns"]
        ids = {part["props"]["elem_id"]: part["id"] for part in parts if part["props"].get("elem_id")}
        self.model = next(part["props"]["value"] for part in parts if part["props"].get("elem_id") == "model")
        self.events = {
            name: next(
                one["id"]
                for one in config["dependencies"]
                if [ids[name], "click"] in one["targets"] and one["backend_fn"] and not one["cancels"]
            )
            for name in ("generate",)
        } | {"run": next(one["id"] for one in config["dependencies"] if [ids["run"], "click"] in one["targets"])}


class Visitor:
    """One tab at an address of its own."""

    def __init__(self, site: Site, number: int):
        self.site, self.session, self.number = site, secrets.token_hex(6), number
        headers = {"x-forwarded-for": f"203.0.113.{number + 1}", "accept-encoding": "gzip, br, zstd"}
        self.http = httpx.Client(base_url=f"{site.address}/gradio_api/", timeout=120, headers=headers)
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.loops = self.pauses = self.failed = self.refused = 0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """A context whose seconds are noted under this name."""
        start = time.perf_counter()
        yield
        self.seconds[name].append(time.perf_counter() - start)

    def press(self, event: str, *values: Any) -> dict[str, Any]:
        """Press a button; the last whole message that comes of it: gradio sends others as changes of those before."""
        body = {"data": values, "fn_index": self.site.events[event], "session_hash": self.session, "trigger_id": 8}
        self.http.post("queue/join", json=body).raise_for_status()
        whole = "{}"
        with self.http.stream("GET", "queue/data", params={"session_hash": self.session}) as lines:
            for line in lines.iter_lines():
                message: dict[str, Any] = json.loads(line[5:]) if line.startswith("data:") else {"msg": ""}
                if message["msg"] == "close_stream":
                    break
                data = ((message.get("output") or {}).get("data") or [None])[0]
                whole = data if isinstance(data, str) else whole
        return json.loads(whole)

    def ask(self, function: str, data: dict[str, Any]) -> dict[str, Any]:
        """A server function's answer."""
        body = {"data": data, "component_id": self.site.bus, "fn_name": function, "session_hash": self.session}
        answer = self.http.post("component_server", json=body).json()
        self.refused += answer.get("kind") == "message"
        return answer

    def read(self, pause: tuple[float, float], meanwhile: Sequence[Callable[[], object]] = ()) -> None:
        """Do nothing for as many seconds as `pause` says: another share of the way for each visitor and time. What is
        asked `meanwhile` comes evenly."""
        share = (self.number * GOLDEN + self.pauses * GOLDEN**2) % 1
        self.pauses += 1
        part = (pause[0] + share * (pause[1] - pause[0])) / (len(meanwhile) + 1)
        for ask in meanwhile:
            time.sleep(part)
            ask()
        time.sleep(part)

    def loop(self, asks: Asks, pause: tuple[float, float]) -> None:
        """Once round."""
        prompt, model = PROMPTS[(self.number + self.loops) % len(PROMPTS)], self.site.model
        with self.timed("run"):
            run = self.press("run", prompt, model, {"layer": 0})
        self.look(run, asks)
        self.read(pause)
        with self.timed("24 tokens"):
            view = {"layer": 0, "run": run.get("id"), "ticket": secrets.token_hex(4)}
            written = self.press("generate", prompt, model, view, TOKENS, 0.8, 20, 0.95, self.loops)
        if asks.page:
            self.read(pause, self.following(written))
            self.look(written, asks)
        else:
            self.read(pause)
        self.loops += run.get("kind") == "run"
        self.failed += run.get("kind") != "run"

    def following(self, written: dict[str, Any]) -> list[Callable[[], object]]:
        """What the page asks while it shows a text word by word: the run of so many of its tokens. It lets go of those
        that were shown before the one that is."""
        shown: list[str] = []

        def cut(count: int) -> None:
            asked = {"run": written.get("id"), "count": count, "layer": 0, "instead": shown[:-1]}
            del shown[:-1]
            with self.timed("cut"):
                shown.append(self.ask("cut", asked).get("id", ""))

        return [partial(cut, count) for count in SHOWN if count < len(written.get("steps", ()))]

    def look(self, run: dict[str, Any], asks: Asks) -> None:
        """At two layers; with `asks.page` at what the workbench asks of a run, with `asks.story` at that of the story
        too."""
        of_run, is_run = {"run": run.get("id")}, run.get("kind") == "run"
        details = [
            one for asked, of in ((asks.page, of_page), (asks.story, of_story)) if is_run and asked for one in of(run)
        ]
        for detail in details:
            with self.timed(str(detail["what"])):
                self.ask("detail", {**of_run, **detail})
        others = list(range(1, 8)) if asks.page else [1, 2]
        at_once = "layers" in self.site.functions
        for asked in ({"layers": others},) if at_once else [{"layer": layer} for layer in others]:
            with self.timed("layers"):
                self.ask("layers" if at_once else "layer", {**of_run, **asked, "token": 0, "ahead": asks.page})
        if is_run and asks.page and neuron_bytes(run) <= NEURON_BYTES:
            self.ask("neurons", {**of_run, "layer": 0, "token": None, "ahead": True})


def measured(server: Server, count: int, seconds: float, pause: tuple[float, float], asks: Asks) -> Round:
    """So many visitors for so many seconds, who wait as long as `pause` says after a run and after what is written.

    They come evenly, within as long as two pauses are on average: a crowd that reads does not press in step.
    """
    site = Site(server.address)
    visitors = [Visitor(site, number) for number in range(count)]
    end = time.perf_counter() + seconds

    def stay(visitor: Visitor) -> None:
        time.sleep(visitor.number * GOLDEN % 1 * sum(pause))
        while time.perf_counter() < end:
            try:
                visitor.loop(asks, pause)
            except httpx.HTTPError:
                visitor.read(pause)

    begun, cpu = time.perf_counter(), server.processor_seconds
    threads = [threading.Thread(target=stay, args=(visitor,)) for visitor in visitors]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 2)
    at_half = server.megabytes
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - begun
    taken = {part: seconds - cpu.get(part, 0.0) for part, seconds in server.processor_seconds.items()}
    together: dict[str, list[float]] = defaultdict(list)
    for visitor in visitors:
        visitor.http.close()
        for name, found in visitor.seconds.items():
            together[name] += found
    failed, refused = (sum(getattr(one, name) for one in visitors) for name in ("failed", "refused"))
    return Round([one.loops for one in visitors], together, wall, taken, failed, refused, at_half)


def pressed(server: Server, count: int) -> dict[str, float]:
    """So many visitors press Run once each, spread over one second: how long they wait, in seconds."""
    site = Site(server.address)
    visitors = [Visitor(site, number) for number in range(count)]
    begun = time.perf_counter() + 1

    def press(visitor: Visitor) -> bool:
        time.sleep(max(0.0, begun + visitor.number / count - time.perf_counter()))
        with suppress(httpx.HTTPError), visitor.http, visitor.timed("run"):
            run = visitor.press("run", PROMPTS[visitor.number % len(PROMPTS)], site.model, {"layer": 0})
            return run.get("kind") == "run"
        return False

    with ThreadPoolExecutor(count) as threads:
        done = sum(threads.map(press, visitors))
    waits = [wait for visitor in visitors for wait in visitor.seconds["run"]]
    figures = {"median": statistics.median(waits), "p95": percentile(waits), "longest": max(waits)}
    return figures | {"failed": count - done}


def alone(trees: list[Path], rounds: int) -> int:
    """Milliseconds of the processor for each of 200 tokens of one visitor, and ratios to the first tree's.

    Trees take turns; each figure is the least of its rounds: what others do on the machine only adds to it.
    """
    found: dict[Path, list[list[float]]] = defaultdict(list)
    for _ in range(rounds):
        for tree in trees:
            told = subprocess.run(
                [sys.executable, "-c", ALONE], cwd=tree, stdout=subprocess.PIPE, text=True, check=True
            )
            found[tree].append([float(line) for line in told.stdout.split()])
    base = [min(column) for column in zip(*found[trees[0]], strict=True)]
    for tree in trees:
        best = [min(column) for column in zip(*found[tree], strict=True)]
        words = zip(("engine", "page"), best, base, strict=True)
        said = ", ".join(f"{name} {ms:.2f} ms a token (ratio {ms / first:.2f})" for name, ms, first in words)
        print(f"alone, {tree.name}: {said}")
    return 0


def sides_of(tree: Path, engines: list[str]) -> list[Side]:
    """A checkout with each of these engines; as it is where it has no choice of one."""
    return [Side(tree, engine) for engine in engines] if (tree / "app" / "far").is_dir() else [Side(tree)]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m app.loadtest", description=__doc__)
    parser.add_argument("--tree", action="append", type=Path, help="a checkout to serve (default: this one)")
    parser.add_argument(
        "--engine", nargs="+", default=["here"], type=engine, help="where the models run, in turn, as app.py has it"
    )
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 5, 15, 30])
    parser.add_argument("--seconds", type=float, default=20, help="of each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--pause",
        type=float,
        nargs=2,
        default=(0.0, 0.0),
        metavar=("FROM", "TO"),
        help="seconds between two actions (default: none)",
    )
    parser.add_argument("--page", action="store_true", help="ask what the workbench asks by itself")
    parser.add_argument("--story", action="store_true", help="ask that, and what the story asks down to its end")
    parser.add_argument("--presses", type=int, metavar="N", help="so many press Run within a second, and wait")
    parser.add_argument("--alone", action="store_true", help="one visitor's 200 tokens, in processor time")
    parser.add_argument("--port", type=int, default=8500)
    asked = parser.parse_args()
    asks = Asks(asked.page or asked.story, asked.story)
    trees = [tree.resolve() for tree in asked.tree or [HERE]]
    if asked.alone:
        return alone(trees, asked.rounds)
    sides = [side for tree in trees for side in sides_of(tree, asked.engine)]
    for count in [asked.presses] if asked.presses else asked.visitors:
        found: dict[Side, list[dict[str, float]]] = defaultdict(list)
        for _ in range(asked.rounds):
            for number, side in enumerate(sides):
                with served(side, asked.port + number) as server:
                    measured(server, min(count, 2), 2, (0, 0), asks)  # until all is loaded
                    if asked.presses:
                        one = pressed(server, count)
                    else:
                        one = measured(server, count, asked.seconds, tuple(asked.pause), asks).figures
                    found[side].append(one | {"MB": server.megabytes})
        report(count, found)
    return 0


def report(count: int, found: dict[Side, list[dict[str, float]]]) -> None:
    """Print each side's medians, and their ratios to the first side's."""
    base: dict[str, float] = {}
    for side, rounds in found.items():
        medians = {name: statistics.median(one.get(name, 0.0) for one in rounds) for name in rounds[0]}
        print(f"{count:3d} visitors, {side}: " + ", ".join(f"{k} {v:.3g}" for k, v in medians.items()))
        if base:
            ratios = ", ".join(f"{name} {medians[name] / base[name]:.2f}" for name in medians if base.get(name))
            print(f"    ratio to {next(iter(found))}: {ratios}", flush=True)
        base = base or medians


if __name__ == "__main__":
    sys.exit(main())

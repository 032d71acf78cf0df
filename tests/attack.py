"""Plays back what once brought the page down, against a fresh server: `python -m tests.attack`. No part of the suite.

Each attack comes from addresses of its own (this program speaks for a trusted proxy) and lasts some seconds, while
somebody else presses Run again and again. The bars: nobody else's run waits longer than WAIT, what the server takes of
memory stays within MEMORY times of what it took before, no line of its log is longer than LINE.
At last a class of visitors that behave is there beside three who attack in every way at once: 95 of 100 of their runs
come within CLASS_WAIT.
"""

import argparse
import asyncio
import itertools
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import httpx

from tests.page import ROOT, free_port
from tests.soak import resident
from tests.visitor import Site

WAIT, MEMORY, LINE, CLASS_WAIT = 2.0, 1.25, 2_500, 1.0
EACH_SECONDS, CLASS_SECONDS, CLASS, PAUSE, START_SECONDS = 7.0, 36.0, 15, (3.0, 7.0), 120.0
# To fill the store of runs: four visitors have a quarter each.
VISITORS, RUNS_EACH = 4, 12
PROMPT = "Tom is in the kitchen. Lily is in the garden. Tom is in the"
OTHER = "Tom is in the bedroom. Lily is in the garden. Tom is in the"
LONG = "The cat sleeps on the sofa. " * 60
LAYERS = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 1000,
          "intermediate_size": 999, "vocab_size": 999, "num_key_value_heads": 2}  # fmt: skip


@dataclass
class Target:
    """The server under attack: where it is, what its events are called, and the numbers that made-up names go by."""

    url: str
    numbers: Any = field(default_factory=itertools.count)

    @cached_property
    def site(self) -> Site:
        """What the page is made of."""
        return Site(self.url)

    @property
    def place(self) -> tuple[str, int]:
        """Its address for a plain connection."""
        parts = urlsplit(self.url)
        return str(parts.hostname), int(parts.port or 80)

    def name(self) -> str:
        """A session that nobody has."""
        return f"made-up-{os.getpid()}-{next(self.numbers)}"

    def event(self, control: str) -> int:
        """The number of the event that a control starts."""
        return self.site.event(control)["id"]


class Person:
    """Somebody at an address, who asks as the page does."""

    def __init__(self, target: Target, address: str):
        self.target = target
        headers = {"x-forwarded-for": address}
        limits = httpx.Limits(max_connections=None)
        self.http = httpx.AsyncClient(base_url=target.url, headers=headers, timeout=60, limits=limits)

    async def join(self, control: str, *values: Any, session: str = "") -> str:
        """Press a control; gives the session. Raises httpx.HTTPError where that is refused."""
        session = session or self.target.name()
        body = {"data": list(values), "fn_index": self.target.event(control), "session_hash": session}
        (await self.http.post("gradio_api/queue/join", json=body)).raise_for_status()
        return session

    async def press(self, control: str, *values: Any, session: str = "") -> dict[str, Any]:
        """Press a control and read to the end; the last message."""
        session, last = await self.join(control, *values, session=session), "{}"
        async with self.http.stream("GET", "gradio_api/queue/data", params={"session_hash": session}) as stream:
            async for line in stream.aiter_lines():
                message = json.loads(line[5:]) if line.startswith("data:") else {}
                if message.get("msg") == "process_completed":
                    last = ((message["output"] or {}).get("data") or ["{}"])[0]
                if message.get("msg") == "close_stream":
                    break
        return json.loads(last)

    async def run(self, prompt: str = PROMPT) -> dict[str, Any]:
        """Press Run."""
        return await self.press("run", prompt, self.target.site.model, {"layer": 0})

    async def ask(self, function: str, data: Any) -> httpx.Response:
        """Ask a server function."""
        bus = self.target.site.bus
        body = {"data": data, "component_id": bus, "fn_name": function, "session_hash": self.target.name()}
        return await self.http.post("gradio_api/component_server", json=body)


Attack = Callable[[Person, Callable[[], bool]], Awaitable[None]]


async def many(count: int, work: Callable[[], Awaitable[Any]], goes_on: Callable[[], bool]) -> None:
    """The same from so many hands, again and again while it goes on; what is refused is part of it."""

    async def one() -> None:
        while goes_on():
            try:
                answer = await work()
            except (httpx.HTTPError, OSError, ValueError):
                answer = None
            if answer is None or (isinstance(answer, httpx.Response) and not answer.is_success):
                await asyncio.sleep(0.1)

    await asyncio.gather(*(one() for _ in range(count)))


async def line_breaks(person: Person, goes_on: Callable[[], bool]) -> None:
    """A text of nothing but line breaks, as pasted metadata and through the endpoint."""
    text = "general.architecture = llama" + "\n" * 95_000

    async def work() -> httpx.Response:
        await person.ask("calculate", {"what": "kv_cache", "config": text, "tokens": 1, "batch": 1, "dtype": "bf16"})
        return await person.http.post("gradio_api/call/v2/kv_cache", json={"model": "x", "config": text})

    await many(4, work, goes_on)


async def never_reads(person: Person, goes_on: Callable[[], bool]) -> None:
    """Opens the stream of answers, asks and asks, and reads none."""
    model = person.target.site.model

    async def work() -> None:
        session = await person.join("run", LONG, model, {"layer": 0})
        _, writer = await asyncio.open_connection(*person.target.place, limit=1024)
        writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        host = person.http.headers["x-forwarded-for"]
        head = (
            f"GET /gradio_api/queue/data?session_hash={session} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {host}\r\n\r\n"
        )
        writer.write(head.encode())
        for _ in range(100):
            if not goes_on():
                break
            await person.join("run", LONG, model, {"layer": 0}, session=session)
        writer.close()

    await many(3, work, goes_on)


async def long_work(person: Person, goes_on: Callable[[], bool]) -> None:
    """Thirty-two causal maps at once."""
    run = await person.run()
    place = {"run": run["id"], "token": len(run["tokens"]["ids"]) - 1, "text": OTHER}
    await many(32, lambda: person.ask("detail", {"what": "causal_map", **place}), goes_on)


async def pasted_layers(person: Person, goes_on: Callable[[], bool]) -> None:
    """Places of a slider, times layers of a pasted model, each of another kind than its neighbours."""
    kinds = [random.Random(i).choice(("full_attention", "sliding_attention")) for i in range(1000)]
    config = json.dumps({**LAYERS, "model_type": "qwen2", "layer_types": kinds, "sliding_window": 99})
    asked = {"what": "kv_places", "config": config, "tokens": 8192, "batch": 1, "dtype": "bf16"}
    await many(4, lambda: person.ask("calculate", asked), goes_on)


async def empty_lists(person: Person, goes_on: Callable[[], bool]) -> None:
    """A megabyte of empty lists."""
    bus = person.target.site.bus
    body = b'{"data": [%s0], "component_id": %d, "fn_name": "layers", "session_hash": "s"}' % (b"[]," * 310_000, bus)
    headers = {"content-type": "application/json"}
    await many(2, lambda: person.http.post("gradio_api/component_server", content=body, headers=headers), goes_on)


async def silence(person: Person, goes_on: Callable[[], bool]) -> None:
    """Connections that say nothing, or a head that never ends."""
    held: list[asyncio.StreamWriter] = []

    async def work() -> None:
        if len(held) >= 600:
            await asyncio.sleep(0.2)
            return
        _, writer = await asyncio.open_connection(*person.target.place)
        held.append(writer)
        if len(held) % 2:
            writer.write(b"GET / HTTP/1.1\r\nX: ")

    await many(8, work, goes_on)
    for writer in held:
        writer.close()


async def nobodys_answers(person: Person, goes_on: Callable[[], bool]) -> None:
    """Answers of sessions that there are not, and requests that are none."""

    async def work() -> None:
        await person.http.get("gradio_api/queue/data", params={"session_hash": person.target.name()})
        reader, writer = await asyncio.open_connection(*person.target.place)
        writer.write(b"\x16\x03\x01 no request\r\n\r\n")
        await reader.read(100)
        writer.close()

    await many(3, work, goes_on)


async def generations(person: Person, goes_on: Callable[[], bool]) -> None:
    """Thirty-six long generations of one address, each by a session of its own."""
    values = ("The cat", person.target.site.model, {}, 256, 1, 0, 1, 0)
    await many(36, lambda: person.press("generate", *values), goes_on)


ATTACKS: dict[str, Attack] = {
    "line breaks": line_breaks,
    "never reads": never_reads,
    "long work": long_work,
    "pasted layers": pasted_layers,
    "empty lists": empty_lists,
    "silence": silence,
    "nobody's answers": nobodys_answers,
    "generations": generations,
}
OF_THE_CLASS = ("line breaks", "never reads", "long work", "pasted layers", "empty lists", "generations")


@contextmanager
def attacked(url: str, names: Sequence[str], address: str, seconds: float) -> Iterator[None]:
    """A context in which these attacks come one after the other, from a process of their own."""
    process = multiprocessing.Process(target=attack, args=(url, names, address, seconds), daemon=True)
    process.start()
    try:
        yield
        process.join(seconds + 10)
    finally:
        process.kill()


def attack(url: str, names: Sequence[str], address: str, seconds: float) -> None:
    """Attack for so many seconds, for as long in each way. Leaves the processor to the server, as if from elsewhere."""
    os.nice(15)
    person = Person(Target(url), address)

    async def one(name: str) -> None:
        until = time.perf_counter() + seconds / len(names)
        attacking = asyncio.create_task(ATTACKS[name](person, lambda: time.perf_counter() < until))
        await asyncio.wait([attacking], timeout=seconds / len(names) + 3)  # an answer may be long in coming
        attacking.cancel()

    for name in names:
        asyncio.run(one(name))


async def under(target: Target, seconds: float) -> list[float]:
    """Seconds of somebody's runs."""
    until = time.perf_counter() + seconds
    somebody, waits = Person(target, "8.8.8.8"), []
    while time.perf_counter() < until:
        waits.append(await timed(somebody))
        await asyncio.sleep(0.3)
    return waits


async def timed(person: Person) -> float:
    """Seconds of a run. Raises RuntimeError where something else comes."""
    begun = time.perf_counter()
    message = await person.run()
    if message.get("kind") != "run":
        raise RuntimeError(f"no run: {str(message)[:300]}")
    return time.perf_counter() - begun


async def in_class(target: Target, seconds: float) -> list[float]:
    """Seconds of the runs of a class, each of which presses Run now and then."""
    until, waits = time.perf_counter() + seconds, list[float]()

    async def pupil(number: int) -> None:
        person, pause = Person(target, f"8.8.4.{number + 1}"), random.Random(number)
        await asyncio.sleep(pause.uniform(0, PAUSE[0]))
        while time.perf_counter() < until:
            waits.append(await timed(person))
            await asyncio.sleep(pause.uniform(*PAUSE))

    await asyncio.gather(*map(pupil, range(CLASS)))
    return waits


@contextmanager
def fresh(log: IO[str]) -> Iterator[tuple[str, int]]:
    """A new server that trusts this program as its proxy, and that has to end when it is asked to."""
    port = free_port()
    command = [sys.executable, "app.py", "--port", str(port), "--trusted-proxy", "127.0.0.1", "--log-requests"]
    with subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, text=True) as server:
        try:
            url = f"http://127.0.0.1:{port}/"
            until = time.monotonic() + START_SECONDS
            while not answers(f"{url}healthz"):
                if time.monotonic() > until or server.poll() is not None:
                    raise RuntimeError("the server does not start")
                time.sleep(0.1)
            yield url, server.pid
            server.terminate()
            if server.wait(30):
                raise RuntimeError(f"the server ended with status {server.returncode}")
        finally:
            server.kill()


def answers(url: str) -> bool:
    """Whether a server answers there."""
    try:
        return httpx.get(url).status_code == 200
    except httpx.HTTPError:
        return False


def warmed(target: Target) -> None:
    """Have the server do a little of everything, and fill its store of runs: from then on it takes no more memory."""
    for number, name in enumerate(ATTACKS):
        with attacked(target.url, [name], f"7.7.7.{number}", 1.0):
            pass
    for number in range(VISITORS):
        asyncio.run(filled(Person(target, f"7.7.8.{number}")))


async def filled(person: Person) -> None:
    """As many long runs as the store keeps of a visitor."""
    session = person.target.name()
    for _ in range(RUNS_EACH):
        await person.press("run", LONG, person.target.site.model, {"layer": 0}, session=session)


def main() -> int:
    """Attack, and print the figures; 1 where a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=ATTACKS, help="one attack alone, and no class")
    parser.add_argument("--seconds", type=float, default=EACH_SECONDS, help="how long each attack lasts")
    asked = parser.parse_args()
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("w", encoding="utf-8") as log, fresh(log) as (url, pid):
            target = Target(url)
            warmed(target)
            before = resident(pid)
            for number, name in enumerate([asked.only] if asked.only else ATTACKS):
                with attacked(url, [name], f"6.6.7.{number}", asked.seconds):
                    waits = asyncio.run(under(target, asked.seconds))
                failed += told(name, waits, max(waits), WAIT, resident(pid))
            if not asked.only:
                with ExitStack() as attackers:
                    for number in range(3):
                        names = OF_THE_CLASS[2 * number :] + OF_THE_CLASS[: 2 * number]
                        attackers.enter_context(attacked(url, names, f"6.6.6.{number}", CLASS_SECONDS))
                    waits = sorted(asyncio.run(in_class(target, CLASS_SECONDS)))
                late = waits[int(0.95 * (len(waits) - 1))]
                failed += told(f"{CLASS} beside 3", waits, late, CLASS_WAIT, resident(pid))
            after = resident(pid)
        lines = path.read_text(encoding="utf-8").splitlines()
    print(f"memory: {before:,.0f} MB before, {after:,.0f} MB after, {after / before:.2f} ×")
    failed += [f"memory: {after / before:.2f} ×"] if after > MEMORY * before else []
    longest, size = max(map(len, lines)), sum(map(len, lines))
    errors = sum("Traceback" in line for line in lines)
    print(f"log: {len(lines):,} lines, the longest of {longest} characters, {size:,} in all, {errors} tracebacks")
    failed += [f"log: a line of {longest}"] if longest > LINE else []
    print("\n".join(["Bars not met:", *failed]) if failed else "All bars are met.")
    return 1 if failed else 0


def told(name: str, waits: list[float], figure: float, bar: float, megabytes: float) -> list[str]:
    """Print the figures of an attack; what of them is over the bar."""
    middle, late = statistics.median(waits), sorted(waits)[int(0.95 * (len(waits) - 1))]
    print(
        f"{name:18s} {len(waits):3d} runs of others: median {middle:5.2f} s, 95 of 100 within {late:5.2f} s, "
        f"longest {max(waits):5.2f} s; {megabytes:5,.0f} MB",
        flush=True,
    )
    return [f"{name}: {figure:.2f} s"] if figure > bar else []


if __name__ == "__main__":
    sys.exit(main())

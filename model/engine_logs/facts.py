"""What is read off a log, whatever the engine: facts with the line that each stands on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from ..kv_math.options import Layout
from .amounts import Printed
from .lines import Cut, Found

Engine = Literal["llama.cpp", "vLLM", "SGLang", "TensorRT-LLM", "Ollama"]


@dataclass(frozen=True)
class Fact:
    """A value as the log has it. `code` is a key of the page's texts, such as "cells"."""

    code: str
    value: str
    line: int


@dataclass(frozen=True)
class Pool:
    """Cells of one size for some layers: `cells` for each of `streams` sequences, and the bytes printed for them. Of
    states, `streams` counts what is kept of each: the state itself and its snapshots.

    `kind` is what they hold: "full", "sliding" or "state"; "all" where no line tells one cache from another. `cells`
    is 0 where the log does not say, and `printed` None. `k` and `v` are the engine's names of the formats, "" where it
    prints none. `parts` are the bytes of K and of V, where both are printed.
    """

    kind: Literal["full", "sliding", "state", "all"]
    cells: int
    layers: int | None
    streams: int
    k: str
    v: str
    printed: Printed | None
    parts: tuple[Printed, ...] = ()


@dataclass(frozen=True)
class Conflict:
    """Two lines of a log that cannot both be right: what each says.

    Of a "part" the line's figure of K or of V is `one`, and `other` what it would be by the tokens.
    Of a "row" one line does not go with the others: `other` is what the engine would print of those, as `quantity`. Of
    a "format" it names one, and the bytes are those of `other`.
    """

    one: str
    line: int
    other: str
    other_line: int
    code: Literal["lines", "row", "format", "part"] = "lines"
    quantity: str = ""


@dataclass(frozen=True)
class LoadedWeights:
    """What an engine says that the weights take: `size` as printed on `line`, of `stated` format, "" where no line says
    it. `computed` is the number type that is computed in, which quantised files do not have. `whole`: of the model's
    file, or of all devices together; else of one GPU. `measured`: by the memory in use before and after."""

    size: Printed
    line: int
    stated: str
    computed: str
    whole: bool
    measured: bool


@dataclass(frozen=True)
class EngineLog:
    """What a log says. None or 0 stands for what it does not: of `tp` and `pp`, a 1 is stated.

    `dtype` is the cache's format in the calculator's words, where K and V have the same and it is known; `stated` are
    the engine's own words for those of K and of V. `tokens` is what the cache holds by the log, `logged` its bytes on
    one rank: of vLLM those that are there for it. `length` is the longest request, `concurrency` how many of
    those fit at once, `batched` the tokens that one step takes at most, `page` the tokens that a pool holds beside its
    own. `partition` are the layers of each pipeline stage, where they are set by hand.
    `needed` is what one request of that length takes and does not find, `longest` the length that it may have.
    `seen` ranks say what they have, and `logged` is the least of it; `rooms` are all of these, the least first. `stage`
    is the pipeline stage whose rank prints them, counted from 0. `per_token` are the bytes of a token by the
    log. `version` is the release that prints it. `served` are the tokens that the engine hands out, where a line of its
    own says so. `drafts` is a draft model's cache, `draft_states` what is kept of each drafted token's state; both
    stand beside the pools. `printed` is what the engine prints of the model's shape, each value with its line.
    `weights` is what it says of the weights' size, `beside` are its buffers beside weights and cache. `cut` is where
    the log ends within a number, which is not read. `layout` is what the engine stores of MLA's latents (KvOptions): as
    the log prints it, else as the calculator is set.
    """

    engine: Engine
    facts: tuple[Fact, ...]
    logged: Printed | None = None
    tokens: int | None = None
    dtype: str | None = None
    stated: tuple[str, str] | None = None
    model: str = ""
    pools: tuple[Pool, ...] = ()
    blocks: int | None = None
    block_size: int | None = None
    page: int = 1
    sequences: int = 1
    batched: int | None = None
    length: int | None = None
    concurrency: Decimal | None = None
    tp: int | None = None
    pp: int | None = None
    partition: tuple[int, ...] = ()
    seen: int = 1
    rooms: tuple[Printed, ...] = ()
    stage: int | None = None
    needed: Printed | None = None
    longest: int | None = None
    version: tuple[int, int] | None = None
    served: int | None = None
    per_token: int | None = None
    drafts: Printed | None = None
    draft_states: Printed | None = None
    printed: Mapping[str, Found] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    weights: LoadedWeights | None = None
    beside: tuple[Fact, ...] = ()
    cut: Cut | None = None
    layout: Layout = "formula"


@dataclass
class Facts:
    """Gathers facts as they are read."""

    found: list[Fact] = field(default_factory=list)

    def take(self, code: str, one: Found | None, name: str = "value") -> str:
        """The group `name` of what was found, noted as a fact; "" where nothing was."""
        if one is None or not one.get(name):
            return ""
        self.note(code, one[name], one.line)
        return one[name]

    def note(self, code: str, value: str, line: int) -> None:
        self.found.append(Fact(code, value, line))

    @property
    def ordered(self) -> tuple[Fact, ...]:
        """In the log's order, each once."""
        return tuple(dict.fromkeys(sorted(self.found, key=lambda fact: fact.line)))

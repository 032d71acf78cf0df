"""llama.cpp's lines about its cache, also where Ollama or LM Studio run it.

Formats (ggml-org/llama.cpp; compared/sources.py): src/llama-kv-cache.cpp prints one line a cache, since 2025 with
cells, layers and sequences; before, llama_new_context_with_model printed "KV self size", and from 2024 on "kv_size = …,
type_k = …, n_layer = …" before it. All print a "KV buffer size" for each device. Models with windows have two caches
(llama_kv_cache_iswa), those with an indexer one more for its keys (llama_kv_cache_dsa), hybrid ones a recurrent one
(llama_memory_recurrent), since 2026 with snapshots of each state ("2 rs_seq") where drafted tokens may be taken back.
"""

from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Literal

from ..kv_math.formats import PAIRED
from .amounts import Printed, count, printed
from .facts import Conflict, EngineLog, Facts, Pool
from .lines import Found, LogLines, pattern
from .model_info import contradictions, printed_info

MIB = r"~#size:n# (?P<unit>[KMG]iB)"
_POOL = pattern(
    rf"llama_kv_cache\w{{0,16}}: size ={MIB} \(~#cells:w# cells,~#layers:w# layers"
    r"(?:,~#seqs:w#(?:/~#streams:w#)? seqs)?\)"
    r"(?:,~K \((?P<k>\w{1,10})\):~#ksize:n# [KMG]iB,~V \((?P<v>\w{1,10})\):(?:~#vsize:n# [KMG]iB)?)?"
)
_STATE = pattern(
    rf"llama_memory_recurrent: size ={MIB} \(~#cells:w# cells,~#layers:w# layers(?:,~#seqs:w# seqs)?"
    r"(?:~#snapshots:w# rs_seq)?[^)\n]{0,40}\)"
)
_OLD = pattern(
    rf"KV self size~={MIB}(?:, K \((?P<k>\w{{1,10}})\):~#ksize:n# MiB, V \((?P<v>\w{{1,10}})\):(?:~#vsize:n# MiB)?)?"
)
_OLD_SIZE = pattern(
    r"kv_size = #cells:w#,[^\n]{0,30}?(?: type_k = '(?P<k>\w{1,10})', type_v = '(?P<v>\w{1,10})',)?"
    r" n_layer = #layers:w#"
)
_BUFFER = pattern(rf"(?P<value>(?P<device>[\w.]{{1,40}}) KV buffer size ={MIB})")
_WINDOW = pattern(r"creating {1,8}(?P<kind>non-SWA|SWA) KV cache, size =~#cells:w# cells")
_INDEXER = pattern(r"creating indexer KV cache, size =~#cells:w# cells")
_NAMED = {
    name: pattern(rf"(?:llama_context|llama_new_context_with_model|llama_init_from_model): {name}~=~#value:w#")
    for name in ("n_seq_max", "n_ctx", "n_ubatch")
}
_NAME = pattern(r"general\.name {1,60}(?:str {1,20})?= (?P<value>[^\n]{1,100})")
_ARCHIVE = pattern(r"from (?P<value>[^\s]{1,200}\.gguf)")
# ggml's names of the formats that a cache may have (llama.cpp's --cache-type-k and --cache-type-v), and ours.
FORMATS = {{"fp32": "f32", "fp16": "f16"}.get(name, name): name for name in PAIRED}
SPARE = 1 << 20  # bytes that backends may add to fill up tensors, and half digits of what is printed
PADDED = 256  # cells come in multiples of it at most
LOOKED_FOR = (
    "llama_kv_cache: size = … MiB (… cells, … layers, … seqs), K (f16): … MiB, V (f16): … MiB",
    "KV self size = … MiB, K (f16): … MiB, V (f16): … MiB",
    "… KV buffer size = … MiB",
    "kv_size = …, type_k = '…', type_v = '…', n_layer = …",
)


def read(lines: LogLines) -> EngineLog | None:
    """What the log says of llama.cpp's caches; None where no line is llama.cpp's."""
    facts = Facts()
    named = {name: facts.take(name, lines.last(wanted)) for name, wanted in _NAMED.items()}
    pools = _pools(lines, facts, count(named["n_ctx"] or "0"))
    if not pools:
        return None
    told = next((one["seqs"] for one in lines.all(_POOL) if one.get("seqs")), "1")
    sequences = count(named["n_seq_max"] or told)
    name = facts.take("model", lines.last(_NAME)) or facts.take("file", lines.last(_ARCHIVE))
    keeping = [pool for pool in pools if pool.kind != "state"]
    formats = {(pool.k, pool.v) for pool in keeping}
    k, v = next(iter(formats)) if len(formats) == 1 else ("", "")
    printed_of = printed_info(lines)
    sizes = [pool.printed for pool in pools if pool.printed]
    logged = reduce(add, sizes) if sizes else None
    full = next((pool for pool in keeping if pool.kind != "sliding"), keeping[0] if keeping else None)
    return EngineLog(
        "llama.cpp",
        facts.ordered,
        logged,
        tokens=full.cells * full.streams if full and full.cells else None,
        dtype=FORMATS.get(k) if k == v else None,
        stated=(k, v) if k and v else None,
        model=name.strip(),
        pools=tuple(pools),
        sequences=sequences,
        batched=count(named["n_ubatch"]) if named["n_ubatch"] else None,
        printed=printed_of,
        conflicts=(*contradictions(lines, printed_of), *_contradictions(lines, pools, full)),
    )


def _contradictions(lines: LogLines, pools: list[Pool], full: Pool | None) -> Iterator[Conflict]:
    """Lines on the cache of which one must be wrong."""
    before = 0
    buffers = lines.all(_BUFFER)
    for whole in [*lines.all(_POOL), *lines.all(_OLD)]:
        size = printed(whole["size"], whole["unit"])
        held = {one["device"]: one for one in buffers if before < one.line <= whole.line}
        if held:
            yield from _sums(whole, size, [(printed(one["size"], one["unit"]), one) for one in held.values()])
        if whole.get("ksize") and whole.get("vsize"):
            parts = [printed(whole[part], "MiB") for part in ("ksize", "vsize")]
            if abs(parts[0].bytes + parts[1].bytes - size.bytes) > SPARE:
                yield Conflict(f"K + V = {parts[0].text} + {parts[1].text}", whole.line, size.text, whole.line)
        before = whole.line
    contexts = [one for one in lines.all(_NAMED["n_ctx"]) if full and full.cells]
    if full and full.cells and contexts and pools[0] is full:
        held_cells = full.cells * full.streams
        near = [one for one in contexts if 0 <= held_cells - count(one["value"]) < PADDED * full.streams]
        cells = next(iter([*lines.all(_POOL), *lines.all(_OLD_SIZE)]), None)
        if not near and cells:
            said = f"{full.streams} × {full.cells:,}" if full.streams > 1 else f"{full.cells:,}"
            yield Conflict(f"n_ctx = {count(contexts[0]['value']):,}", contexts[0].line, f"{said} cells", cells.line)


def _sums(whole: Found, size: Printed, parts: list[tuple[Printed, Found]]) -> Iterator[Conflict]:
    """The devices' parts of a cache beside the whole."""
    told = sum((part.bytes for part, _ in parts), 0)
    if abs(told - size.bytes) > SPARE:
        said = " + ".join(part.text for part, _ in parts)
        yield Conflict(f"KV buffer size = {said}", parts[0][1].line, f"size = {size.text}", whole.line)


def _pools(lines: LogLines, facts: Facts, context: int) -> list[Pool]:
    windows = lines.all(_WINDOW)
    # A second context, such as a draft model's, prints its own caches: those of the first count.
    pools = [_pool(one, _kind(one, windows), facts) for one in _first_context(lines.all(_POOL), windows)]
    if (told := lines.last(_INDEXER)) and (keys := [one for one in lines.all(_POOL) if one.line > told.line]):
        facts.note("indexer_cache", keys[0].text, keys[0].line)
    if not pools and (old := lines.last(_OLD)):
        pools = [_old_pool(old, lines.last(_OLD_SIZE), facts, context)]
    buffers = _buffers(lines, facts)
    if not pools and buffers:
        pools = [_buffered_pool(buffers, lines.last(_OLD_SIZE), facts, context)]
    if not pools and (layout := lines.last(_OLD_SIZE)):  # a log that is cut before the bytes
        pools = [_plain_pool("full", None, layout, layout, facts, context)]
    if states := lines.all(_STATE):
        one = states[0]
        facts.note("state_cache", one.text, one.line)
        kept = 1 + count(one.get("snapshots") or "0")
        pools.append(Pool("state", count(one["cells"]), None, kept, "f32", "f32", printed(one["size"], one["unit"])))
    return pools


def _first_context(found: list[Found], windows: list[Found]) -> list[Found]:
    """One cache, or the two of a model with windows."""
    return found[: 2 if len(windows) > 1 else 1]


def _kind(one: Found, windows: list[Found]) -> str:
    before = [window for window in windows if window.line < one.line]
    return "sliding" if before and before[-1]["kind"] == "SWA" else "full"


def _pool(one: Found, kind: str, facts: Facts) -> Pool:
    facts.note("window_cache" if kind == "sliding" else "cache", one.text, one.line)
    streams = one.get("streams") or "1"
    return Pool(
        "sliding" if kind == "sliding" else "full",
        count(one["cells"]),
        count(one["layers"]),
        count(streams),
        one.get("k"),
        one.get("v"),
        printed(one["size"], one["unit"]),
    )


def _old_pool(old: Found, size: Found | None, facts: Facts, context: int) -> Pool:
    """One cache of all layers; without a line of its cells it has as many as the context."""
    facts.note("cache", old.text, old.line)
    return _plain_pool("full", printed(old["size"], old["unit"]), old, size, facts, context)


def _buffers(lines: LogLines, facts: Facts) -> list[Found]:
    """What each device holds of the cache; a load that is tried anew prints its devices again, and the last try counts.

    Devices that hold nothing are left out: a dry run prints them so.
    """
    found = [one for one in lines.all(_BUFFER) if printed(one["size"], one["unit"]).bytes]
    for one in found:
        facts.note("device_cache", one["value"], one.line)
    return found


def _buffered_pool(buffers: list[Found], size: Found | None, facts: Facts, context: int) -> Pool:
    """All that the devices hold together, where no line has the cache's own size."""
    kept = {one["device"]: printed(one["size"], one["unit"]) for one in buffers}
    first, *others = kept.values()
    return _plain_pool("full" if size else "all", sum(others, first), buffers[-1], size, facts, context)


def _plain_pool(
    kind: Literal["full", "all"], size: Printed | None, one: Found, layout: Found | None, facts: Facts, context: int
) -> Pool:
    cells, layers = context or 0, None
    k, v = one.get("k"), one.get("v")
    if layout:
        facts.note("layout", layout.text, layout.line)
        cells, layers = count(layout["cells"]), count(layout["layers"])
        k, v = k or layout.get("k"), v or layout.get("v")
    return Pool(kind, cells, layers, 1, k, v, size)

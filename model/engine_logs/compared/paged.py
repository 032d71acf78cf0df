"""SGLang, TensorRT-LLM and Ollama: one pool of token slots, each with all layers; of SGLang's layers with a window one
apart."""

from collections.abc import Iterator
from dataclasses import replace

from ...published.spec import ModelSpec
from ..amounts import Printed
from ..facts import Conflict, EngineLog, Pool
from .figures import Cell, Difference, Row, back_to_tokens, no_tokens, product, rest
from .layers import Layers, kept_tokens, layers_of, plain, rate, rate_how, state_bytes

GB, GIB = 10**9, 1 << 30


def compare(
    log: EngineLog, spec: ModelSpec, dtype: str, tp: int, stage: range | None = None
) -> tuple[list[Row], list[Difference]]:
    """Rows and differences, on one rank; `stage` are the layers of its pipeline stage, where there are several."""
    layers = layers_of(spec, plain(dtype), plain(dtype), tp, stage, log.layout)
    each, tokens = rate(layers), log.tokens
    if windows := next((one for one in log.pools if one.kind == "sliding"), None):
        return _two_pools(log, spec, layers, windows)
    rows, steps = [_token_row(log, each, rate_how(layers))], [*_beside(log, each)]
    pool = next((one.printed for one in log.pools if one.kind == "full"), log.logged)
    if tokens is None:
        return ([*rows, *back_to_tokens(pool, each)], [_told_back(log, pool, each), *steps]) if pool else (rows, steps)
    needed, sequences = 0, max(1, log.sequences)
    for one in layers:
        kept = kept_tokens(spec, one.kind, tokens // sequences) * sequences if log.engine == "Ollama" else tokens
        needed += one.count * one.each * kept
    held = tokens + (log.page if log.engine == "SGLang" else 0)
    told = needed + each * (held - tokens)
    blocks = product(log.blocks, log.block_size) if log.blocks and log.block_size else ""
    slots = (
        Cell(log.blocks * log.block_size, blocks) if log.blocks and log.block_size else Cell(held, _more(tokens, held))
    )
    fit = Cell(pool.bytes // each, f"{pool.bytes:,} // {each:,}") if pool else None
    rows += [Row("tokens", fit, slots, Cell(tokens)), *_served(log)]
    rows.append(
        Row(
            "bytes",
            Cell(needed, product(tokens, each) if needed == tokens * each else ""),
            Cell(told, product(held, each) if held > tokens else ""),
            Cell(pool.bytes, pool.text) if pool else None,
        )
    )
    own = [*_named(log, spec, each, pool.bytes if pool else 0), *filter(None, [rest(told, pool)])]
    states = _state(log, state_bytes(spec, dtype, tp, stage), own)
    return rows + states, own + steps


def odd_parts(log: EngineLog, spec: ModelSpec, dtype: str, tp: int, stage: range | None = None) -> Iterator[Conflict]:
    """K or V as SGLang prints it, where that is not what the tokens take and the two do not go together either."""
    pool = next((one for one in log.pools if one.kind == "full"), None)
    if pool is None or not pool.parts or any(one.kind == "sliding" for one in log.pools):
        return
    layers = layers_of(spec, plain(dtype), plain(dtype), tp, stage, log.layout)
    each = (sum(one.count * one.of_k for one in layers), sum(one.count * one.of_v for one in layers))
    if not all(each):
        return
    (k, v), (of_k, of_v) = pool.parts, each
    if abs(k.bytes * of_v - v.bytes * of_k) <= k.slack * of_v + v.slack * of_k:
        return
    line = next(fact.line for fact in log.facts if fact.code == "cache")
    for name, part, size in (("K", k, of_k), ("V", v, of_v)):
        if not part.holds((pool.cells + log.page) * size):
            said = f"{product(pool.cells, size)} B = {pool.cells * size / GIB:.2f} GiB"
            yield Conflict(f"{name} size: {part.text}", line, said, 0, "part")


def _served(log: EngineLog) -> list[Row]:
    """The tokens that SGLang hands out by a line of its own: as many as its pool has."""
    if log.served is None or log.tokens is None:
        return []
    return [Row("served", None, Cell(log.tokens), Cell(log.served), log.served != log.tokens)]


def _told_back(log: EngineLog, size: Printed, each: int) -> Difference:
    """What is said of bytes without tokens: TensorRT-LLM's newer manager prints a quota alone."""
    if log.engine == "TensorRT-LLM":
        return replace(no_tokens("quota", size, each), source="trt_per_token" if log.per_token else "trt_quota")
    return no_tokens("no_tokens", size, each)


def _two_pools(
    log: EngineLog, spec: ModelSpec, layers: list[Layers], windows: Pool
) -> tuple[list[Row], list[Difference]]:
    """SGLang's layers with a window in a pool apart, each pool with a page beside its tokens."""
    sliding = [one for one in layers if one.kind == "sliding"]
    each, of_windows, page = rate(layers), rate(sliding), log.page
    full, tokens = each - of_windows, log.tokens or 0
    needed = tokens * full + windows.cells * of_windows
    told = needed + page * each
    how = f"{product(tokens, full)} + {product(windows.cells, of_windows)}"
    paged = f"{product(tokens + page, full)} + {product(windows.cells + page, of_windows)}"
    rows = [
        Row("token", Cell(each, rate_how(layers))),
        Row("tokens", None, Cell(tokens + page, _more(tokens, tokens + page)), Cell(tokens)),
        *_served(log),
        Row("bytes", Cell(needed, how), Cell(told, paged), log.logged and Cell(log.logged.bytes, log.logged.text)),
    ]
    params = {"layers": sum(one.count for one in sliding), "slots": windows.cells, "full": tokens}
    apart = Difference("window_pool", None, "sglang_windows", {**params, "window": spec.attention.window or 0})
    steps = [apart, *_named(log, spec, each, log.logged.bytes if log.logged else 0)]
    return rows, [*steps, *filter(None, [rest(told, log.logged)]), *_beside(log, each)]


def _token_row(log: EngineLog, each: int, how: str) -> Row:
    """The bytes of a token: as the log has them, else on the mean of its pool."""
    if log.per_token is None:
        return Row("token", Cell(each, how), None, _mean(log))
    return Row("token", Cell(each, how), None, Cell(log.per_token), log.per_token != each)


def _beside(log: EngineLog, each: int) -> Iterator[Difference]:
    """Remarks on what stands beside the cache that is compared: ranks, a draft model's cache, drafted tokens."""
    if log.engine == "TensorRT-LLM" and log.tp and log.tp > 1:
        yield Difference("mpi_ranks", None, "trt_world", {"ranks": log.tp})
    if log.per_token and log.per_token != each:
        yield Difference("per_token", None, "trt_per_token", {"counted": log.per_token, "own": each})
    if log.drafts and log.tokens:
        mean = log.drafts.bytes // log.tokens
        yield Difference("drafts", None, "sglang_drafts", {"size": log.drafts.text, "slots": log.tokens, "each": mean})
    if log.draft_states:
        yield Difference("draft_states", None, "sglang_draft_states", {"size": log.draft_states.text})


def _mean(log: EngineLog) -> Cell | None:
    pool = next((one.printed for one in log.pools if one.kind == "full"), log.logged)
    if pool is None or not log.tokens:
        return None
    return Cell(pool.bytes // log.tokens, f"{pool.bytes:,} // {log.tokens:,}", True)


def _more(tokens: int, held: int) -> str:
    return f"{tokens:,} + {held - tokens:,}" if held > tokens else ""


def _named(log: EngineLog, spec: ModelSpec, each: int, logged: int) -> list[Difference]:
    """What each of these engines does to the sum."""
    if log.engine == "SGLang":
        pool = "sglang_latents" if spec.mla else "sglang_pool"
        page = Difference("padded_page", log.page * each, pool, {"page": log.page})
        return [page, Difference("gb_is_gib", None, pool, {"decimal": logged * GB // GIB, "binary": logged})]
    if log.engine == "TensorRT-LLM":
        block = log.block_size or 0
        return [Difference("whole_pages", 0, "trt_pool", {"block": block, "blocks": log.blocks or 0})] if block else []
    return [Difference("one_digit", None, "ollama_log", {})]


def _state(log: EngineLog, own: int, steps: list[Difference]) -> list[Row]:
    """The pool of states of `own` bytes a sequence: SGLang keeps one slot more than it hands out."""
    pool = next((one for one in log.pools if one.kind == "state"), None)
    if pool is None or not own:
        return []
    steps.append(Difference("state_slot", own, "sglang_pool", {"slots": pool.cells}))
    formula, reserved = (
        Cell(pool.cells * own, product(pool.cells, own)),
        Cell((pool.cells + 1) * own, product(pool.cells + 1, own)),
    )
    logged = Cell(pool.printed.bytes, pool.printed.text) if pool.printed else None
    return [Row("state", formula, reserved, logged)]

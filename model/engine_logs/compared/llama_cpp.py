"""llama.cpp: every layer has as many cells as its cache, which is padded; windows get a micro-batch more."""

from dataclasses import replace

from ...kv_math.formats import KvFormat
from ...kv_math.options import own_layers
from ...published.spec import ModelSpec
from ..amounts import Printed
from ..facts import EngineLog, Pool
from .figures import Cell, Difference, Row, back_to_tokens, no_tokens, pad, product, rest
from .layers import (
    GGML,
    Layers,
    kept_tokens,
    layers_of,
    linear_layers,
    plain,
    rate,
    rate_how,
    state_bytes,
    state_elements,
)

UBATCH, PADDED = 512, 256  # llama.cpp's own micro-batch, and the multiple that cells come in
LEAST_PADDED = 32  # the multiple without flash attention, until 2025


def formats(log: EngineLog, dtype: str) -> tuple[KvFormat, KvFormat]:
    """Those of K and of V: what the log says, else the calculator's."""
    return stated(log) or (plain(dtype).of_k, plain(dtype).of_v)


def without_formats(log: EngineLog) -> EngineLog:
    """The log as if it named no format of K and V."""
    pools = tuple(pool if pool.kind == "state" else replace(pool, k="", v="") for pool in log.pools)
    return replace(log, dtype=None, pools=pools)


def stated(log: EngineLog) -> tuple[KvFormat, KvFormat] | None:
    """Those that the log names, None where one of them is not known or it names none."""
    named = next((pool for pool in log.pools if pool.k in GGML and pool.v in GGML and pool.kind != "state"), None)
    return (GGML[named.k], GGML[named.v]) if named else None


def compare(log: EngineLog, spec: ModelSpec, dtype: str, _tp: int) -> tuple[list[Row], list[Difference]]:
    """Rows and differences. llama.cpp's lines are of all devices together."""
    layers = layers_of(spec, *formats(log, dtype), layout=log.layout)
    pools = {pool.kind: pool for pool in log.pools}
    base = pools.get("full") or pools.get("all") or pools.get("sliding")
    alike = len(layers) == 1 and not state_bytes(spec, dtype)
    if base and base.printed and (not base.cells or (base.kind == "all" and not alike)):
        return _without_cells(layers, base.printed, base.kind == "full", alike)
    rows: list[Row] = []
    steps: list[Difference] = []
    needed = kept = 0
    if base:
        window = pools.get("sliding")
        needed, kept = _attention(log, spec, layers, base, window if window and window.cells else None, steps)
        cells = Cell(base.cells * base.streams, product(base.streams, base.cells))
        rows += [Row("token", Cell(rate(layers), rate_how(layers))), Row("tokens", None, None, cells)]
    if own := state_bytes(spec, dtype):
        state = pools.get("state")
        rows.append(_state(log, spec, own, state, steps))
        needed += own * log.sequences
        kept += 4 * state_elements(spec) * state.cells * state.streams if state else 0
    kept += _latent_v(log, spec, dtype, kept, steps)
    logged = Cell(log.logged.bytes, log.logged.text) if log.logged else None
    rows.append(Row("bytes", Cell(needed), Cell(kept), logged))
    left = rest(kept, log.logged) or Difference("no_bytes", None, "", {})
    return rows, [*steps, left]


def _latent_v(log: EngineLog, spec: ModelSpec, dtype: str, kept: int, steps: list[Difference]) -> int:
    """Bytes of a V beside MLA's latents, which K holds already: llama.cpp until January 2026. 0 where the log has none
    of it."""
    base = next((pool for pool in log.pools if pool.kind == "full"), None)
    if spec.mla is None or log.layout != "formula" or base is None or log.logged is None or log.logged.holds(kept):
        return 0
    width, layers = spec.mla.kv_lora_rank, len(own_layers(spec, None))
    each = formats(log, dtype)[1].vector_bytes(width)
    more = layers * each * base.cells * base.streams
    if not log.logged.holds(kept + more):
        return 0
    told = {"layers": layers, "width": width, "cells": base.cells * base.streams}
    steps.append(Difference("latent_v", more, "llama_latent_v", told))
    return more


def _without_cells(layers: list[Layers], size: Printed, full: bool, alike: bool) -> tuple[list[Row], list[Difference]]:
    """What is left to say where no line tells the cells: the tokens that the bytes are of, if the rest is right.

    They are not told where a cell of the cache is not one of every layer: with windows beside others, or states.
    """
    each = rate(layers)
    rows = [Row("token", Cell(each, rate_how(layers)))]
    if not (alike or full):
        return [*rows, Row("bytes", None, None, Cell(size.bytes, size.text))], [no_tokens("several_caches", size, each)]
    return [*rows, *back_to_tokens(size, each)], [no_tokens("no_tokens", size, each), *_odd(size, each)]


def _odd(size: Printed, each: int) -> list[Difference]:
    """Where the bytes are those of no number of cells that llama.cpp makes."""
    near = pad(size.bytes // each, LEAST_PADDED)
    if any(size.holds(cells * each) for cells in (near - LEAST_PADDED, near, near + LEAST_PADDED)):
        return []
    return [Difference("odd_tokens", None, "llama_padding", {"multiple": LEAST_PADDED})]


def _state(log: EngineLog, spec: ModelSpec, own: int, state: Pool | None, steps: list[Difference]) -> Row:
    """States of linear layers: llama.cpp keeps both parts in fp32, and as many as it has cells."""
    stored, cells = 4 * state_elements(spec), state.cells if state else log.sequences
    more = {"layers": linear_layers(spec), "own": own, "stored": stored}
    steps.append(Difference("state_fp32", (stored - own) * log.sequences, "llama_state", more))
    if cells != log.sequences:
        steps.append(Difference("state_cells", stored * (cells - log.sequences), "llama_state", {"cells": cells}))
    each = state.streams if state else 1
    if each > 1:
        told = {"snapshots": each - 1}
        steps.append(Difference("state_snapshots", stored * cells * (each - 1), "llama_snapshots", told))
    reserved = product(cells, each, stored) if each > 1 else product(cells, stored)
    return Row(
        "state",
        Cell(own * log.sequences, product(log.sequences, own)),
        Cell(stored * cells * each, reserved),
        Cell(state.printed.bytes, state.printed.text) if state and state.printed else None,
    )


def _attention(
    log: EngineLog, spec: ModelSpec, layers: list[Layers], base: Pool, window: Pool | None, steps: list[Difference]
) -> tuple[int, int]:
    """Bytes that the formula needs, and that the cells take; what lies between is noted in `steps`."""
    needed = kept = 0
    for one in layers:
        pool = window if one.kind != "full" and window else base
        tokens = kept_tokens(spec, one.kind, base.cells)
        needed += one.count * one.each * tokens * base.streams
        kept += one.count * one.each * pool.cells * pool.streams
        if one.kind != "full" and pool.cells != tokens:
            more = one.count * one.each * (pool.cells - tokens) * pool.streams
            steps.append(_window(log, spec, one, base, pool, more))
    everywhere = sum(one.count for one in layers)
    full = sum(one.count for one in layers if one.kind == "full")
    for pool, number in ((base, full if window else everywhere), (window, everywhere - full)):
        if pool and pool.layers is not None and pool.layers != number:
            code = "other_window_layers" if pool is window else "other_full_layers" if window else "other_layers"
            steps.append(Difference(code, None, "", {"logged": pool.layers, "model": number}))
    return needed, kept


def _window(log: EngineLog, spec: ModelSpec, one: Layers, base: Pool, pool: Pool, more: int) -> Difference:
    """Why layers with a window have other cells than their window has tokens."""
    size, ubatch = spec.attention.window or spec.attention.chunk or 0, log.batched or UBATCH
    sharing = log.sequences if base.streams == 1 else 1
    expected = pad(min(base.cells, size * sharing + ubatch), PADDED)
    params = {"window": size, "cells": pool.cells, "ubatch": ubatch, "sequences": sharing, "layers": one.count}
    if pool.cells == base.cells and pool.cells != expected:
        return Difference("window_ignored", more, "llama_swa", params)
    if pool.cells == expected:
        return Difference("window_room", more, "llama_iswa", params)
    return Difference("window_cells", more, "", {**params, "expected": expected})

"""vLLM: blocks of one size for all groups of layers; what a request of the longest length takes of them.

Layers of one kind form groups of as many layers as the rarest kind has (the most, where no kind has half as many more);
the last group is filled up. All groups share one pool, so that a block is as many bytes in each: `group size` × page.
Pipeline stages have the same groups: layers are dealt out to them in turn, and a rank's block is that of its own layers
(vllm/v1/core/kv_cache_utils.py, _get_kv_cache_groups_uniform_page_size).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from ...kv_math.options import KvOptions, caches_latents
from ...kv_math.vllm_rule import BLOCK, LATENT_BLOCK
from ...published.spec import ModelSpec
from ..amounts import Printed
from ..facts import Conflict, EngineLog
from .figures import Cell, Difference, Row, product, rest
from .layers import Layers, kept_tokens, layers_of, linear_layers, plain, rate, rate_how, state_bytes

DIVIDES = (0, 19)  # the last release known to print blocks ÷ groups, vllm-project/vllm #40691
SPARSE_BLOCK = 64  # tokens of a block of MLA with an indexer: FlashMLA's sparse kernel takes no other, nor the indexer


def stored_formats(spec: ModelSpec, stated: str) -> tuple[str, ...]:
    """What vLLM stores under the name that a log states, the likeliest first.

    For MLA with an indexer "fp8" is fp8_ds_mla with FlashMLA's kernels, and a byte a number with FlashInfer's.
    """
    return ("fp8_ds_mla", stated) if stated == "fp8" and spec.mla and spec.indexer else (stated,)


@dataclass(frozen=True)
class Plan:
    """How vLLM lays a model's layers out, on one rank."""

    spec: ModelSpec
    model_kinds: dict[str, int]  # layers of each kind in the whole model, states among them
    layers: list[Layers]  # of the rank, as is `linear`
    state: int  # bytes of one layer's state, 0 without any
    linear: int
    block_size: int
    told: bool  # whether the log or the calculator says the block's size
    latents: bool  # whether kernels for a latent decide it

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Layers of each kind on the rank."""
        return _kinds(self.layers, self.linear)

    @cached_property
    def group(self) -> int:
        """Layers of one group on the rank, the most of any group."""
        return max(-(-self.kinds.get(kind, 0) // number) for kind, number in self.groups.items())

    @cached_property
    def groups(self) -> dict[str, int]:
        """Groups of each kind."""
        least, most = min(self.model_kinds.values()), max(self.model_kinds.values())
        size = most if most < least * 1.5 else least
        return {kind: -(-count // size) for kind, count in self.model_kinds.items()}

    @property
    def page(self) -> int:
        """Bytes of a block in one layer."""
        return self.block_size * self.layers[0].each

    @property
    def block(self) -> int:
        """Bytes of a block in all layers of a group."""
        return self.page * self.group

    @property
    def padding(self) -> int:
        """Layers that groups are filled up with."""
        return sum(self.groups.values()) * self.group - sum(self.kinds.values())

    def blocks_of(self, kind: str, length: int, batched: int | None) -> int:
        """Blocks that one group of this kind holds of a request of `length` tokens; without `batched` the most."""
        if kind == "state":
            return 1
        size = {"sliding": self.spec.attention.window, "chunked": self.spec.attention.chunk}.get(kind)
        if size is None:
            return -(-length // self.block_size)
        step = length if batched is None else batched
        past = size - 1 if kind == "sliding" else size
        return -(-min(past + step, length) // self.block_size) + (1 if kind == "sliding" else 0)

    def request(self, length: int, batched: int | None) -> int:
        """Blocks of a request in all groups."""
        return sum(number * self.blocks_of(kind, length, batched) for kind, number in self.groups.items())

    def needs_step(self, length: int) -> bool:
        """Whether a request holds more blocks the more tokens a step brings in. How many that may be without a word in
        the log depends on vLLM's version, the GPU and how it was started."""
        return self.request(length, 1) != self.request(length, None)


def _kinds(layers: list[Layers], linear: int) -> dict[str, int]:
    counts: dict[str, int] = {one.kind: one.count for one in layers}
    return {**counts, "state": linear} if linear else counts


def aligned_block(state: int, each: int) -> int:
    """The block size that makes an attention page at least a state's page: in steps of 16 tokens."""
    return BLOCK * -(-state // (BLOCK * each))


def compare(
    log: EngineLog, spec: ModelSpec, dtype: str, tp: int, block: int = 1, stage: range | None = None
) -> tuple[list[Row], list[Difference]]:
    """Rows and differences, on one rank; `block` is the calculator's block size, where it has one, `stage` the layers
    of the rank's pipeline stage, where there are several."""
    steps: list[Difference] = []
    plan = _plan(log, spec, dtype, tp, block, stage)
    if plan is None:
        return [], steps
    layers, state = plan.layers, plan.state
    if log.dtype and log.dtype != dtype:
        steps.append(Difference("stored_format", None, "vllm_ds_mla", {"stated": log.dtype, "stored": dtype}))
    rows = [Row("token", Cell(rate(layers), rate_how(layers)))]
    if len({one.each for one in layers}) > 1:
        steps.append(Difference("pages_differ", None, "vllm_groups", {}))
        return rows, steps
    if plan.linear:
        aligned = aligned_block(state, layers[0].each)
        rows.append(
            Row(
                "block_size",
                None,
                Cell(aligned, f"16 × ceil({state:,} / (16 × {layers[0].each:,}))"),
                Cell(log.block_size) if log.block_size else None,
            )
        )
    rows += _pool(log, plan, tp * (log.pp or 1), steps)
    rows += _request(log, plan, steps)
    return rows, steps


def _plan(log: EngineLog, spec: ModelSpec, dtype: str, tp: int, block: int, stage: range | None = None) -> Plan | None:
    """How the layers are laid out; None where none keeps K and V."""
    fmt, linear = plain(dtype), linear_layers(spec)
    layers = layers_of(spec, fmt, fmt, tp, stage, log.layout)
    if not layers:
        return None
    kinds = _kinds(layers_of(spec, fmt, fmt, tp, layout=log.layout), linear)
    state = _state_of_layer(log, spec, dtype, tp, layers[0].each) if linear else 0
    latents = caches_latents(spec, KvOptions(layout=log.layout))
    usual = SPARSE_BLOCK if spec.mla and spec.indexer else _latent_block(log) if latents else BLOCK
    aligned = aligned_block(state, layers[0].each) if linear else usual
    told = log.block_size or (block if block > 1 else None)
    return Plan(spec, kinds, layers, state, linear_layers(spec, stage), told or aligned, told is not None, latents)


def _state_of_layer(log: EngineLog, spec: ModelSpec, dtype: str, tp: int, each: int) -> int:
    """Bytes of one layer's state: as vLLM keeps it by default, or in fp32 where the log's block is one for that."""
    linear, asked = linear_layers(spec), spec.state is not None and spec.state.vllm_fp32
    own, default = (state_bytes(spec, dtype, tp, kept=kept) // linear for kept in ("own", "own" if asked else "dtype"))
    return own if log.block_size == aligned_block(own, each) else default


def _latent_block(log: EngineLog) -> int:
    """Tokens of a block of latents: the kernels that vLLM prefers for them take 64, others the usual 16, where a log's
    own figures are those of 16 alone."""
    if log.blocks and log.concurrency and log.length:
        for size in (LATENT_BLOCK, BLOCK):
            if _as_printed(Fraction(log.blocks * size, log.length), log.concurrency):
                return size
    in_sixteens = log.tokens is not None and log.tokens % LATENT_BLOCK != 0 and log.tokens % BLOCK == 0
    return BLOCK if in_sixteens else LATENT_BLOCK


def contradictions(log: EngineLog, spec: ModelSpec, dtype: str, tp: int, block: int = 1) -> Iterator[Conflict]:
    """Tokens and requests at once of which one must be wrong: where one group of layers has all blocks, each follows
    from the other."""
    plan = _plan(log, spec, dtype, tp, block)
    if plan is None or not (log.tokens and log.length and log.concurrency) or sum(plan.groups.values()) > 1:
        return
    if log.batched is None and plan.needs_step(log.length):
        return
    times = Fraction(-(-log.tokens // plan.block_size), plan.request(log.length, log.batched))
    if _as_printed(times, log.concurrency) or _as_printed(Fraction(log.tokens, log.length), log.concurrency):
        return
    lines = {fact.code: fact.line for fact in log.facts}
    said = f"{log.concurrency}x × {log.length:,} tokens = {int(log.concurrency * log.length):,} tokens"
    yield Conflict(said, lines["concurrency"], f"{log.tokens:,} tokens", lines["pool_tokens"])


def _as_printed(times: Fraction, printed: Decimal, share: Fraction = Fraction(0)) -> bool:
    """Whether vLLM would print `times` so, to two digits; `share` of it is let pass where blocks are estimated."""
    return abs(times - Fraction(printed)) <= Fraction(1, 100) + times * share


def _pool(log: EngineLog, plan: Plan, ranks: int, steps: list[Difference]) -> list[Row]:
    blocks, tokens = _blocks(log, plan), log.tokens
    groups = sum(plan.groups.values())
    if blocks is None:
        return []
    reserved = blocks * plan.block
    rows = [Row("blocks", None, Cell(blocks, _blocks_how(log, plan)), Cell(log.blocks) if log.blocks else None)]
    each = rate(plan.layers)
    if groups == 1:
        slots = blocks * plan.block_size
        fit = Cell(log.logged.bytes // each, f"{log.logged.bytes:,} // {each:,}") if log.logged else None
        rows.append(Row("tokens", fit, Cell(slots, product(blocks, plan.block_size)), Cell(tokens) if tokens else None))
        if tokens and tokens != slots:
            steps.append(Difference("tokens_rest", None, "vllm_report", {"tokens": tokens, "slots": slots}))
        formula = Cell((tokens or slots) * each, product(tokens or slots, each))
    else:
        formula = None
        rows.append(_tokens_of_groups(log, plan, blocks, groups, steps))
    if not plan.told and not plan.linear:
        steps.append(_untold_block(plan))
    rows.append(
        Row(
            "bytes",
            formula,
            Cell(reserved, product(blocks, plan.block_size, plan.group, plan.layers[0].each)),
            Cell(log.logged.bytes, log.logged.text) if log.logged else None,
        )
    )
    if log.blocks is None:  # a log of V1, whose pool keeps one back
        params = {"block": plan.block_size, "block_bytes": plan.block}
        windowed = {"sliding", "chunked"} & plan.groups.keys()
        steps.append(Difference("null_block_window" if windowed else "null_block", None, "vllm_null", params))
    if log.logged:
        steps.append(_left(log, log.logged, reserved, plan.block, ranks))
    return rows


def _untold_block(plan: Plan) -> Difference:
    """That no line says how many tokens a block has, and why so many are taken."""
    params = {"block": plan.block_size}
    if plan.spec.mla and plan.spec.indexer:
        return Difference("block_sparse", None, "vllm_sparse", params)
    if plan.latents:
        return Difference("block_latent", None, "vllm_latent", params)
    return Difference("block_assumed", None, "vllm_blocks", params)


def _left(log: EngineLog, room: Printed, reserved: int, block: int, ranks: int) -> Difference:
    """What of the memory for the cache no block takes."""
    left = room.bytes - reserved
    if room.holds(reserved):
        return Difference("rounding", left, "", {"slack": room.slack})
    if 0 < left < block + room.slack:
        return Difference("whole_blocks", left, "vllm_blocks", {"block_bytes": block, "slack": room.slack})
    if left > 0 and log.seen < ranks:
        params = {"ranks": ranks, "seen": log.seen, "needed": reserved}
        whole = abs(room.bytes - ranks * reserved) <= ranks * block + room.slack
        return Difference("one_gpu" if whole else "least_rank", left, "vllm_least", params)
    return Difference("unexplained", left, "", {"slack": room.slack})


def _blocks(log: EngineLog, plan: Plan) -> int | None:
    """Blocks of the pool: as logged, from the tokens, else as many as the memory holds."""
    if log.blocks:
        return log.blocks
    groups, room = sum(plan.groups.values()), log.logged
    if log.tokens and groups == 1:
        return -(-log.tokens // plan.block_size)
    if room is None:
        return None
    held = room.bytes // plan.block
    if not log.tokens or log.tokens % plan.block_size:
        return held
    least = log.tokens // plan.block_size * groups
    slack = room.slack // plan.block + 1
    near = min(max(held, least), least + groups - 1)
    return near if abs(near - held) <= slack else held


def _blocks_how(log: EngineLog, plan: Plan) -> str:
    if log.blocks or not log.logged:
        return ""
    if log.tokens and len(plan.groups) == 1:
        return f"{log.tokens:,} / {plan.block_size:,}"
    each = f"({product(plan.block_size, plan.group, plan.layers[0].each)})"
    if log.logged.bytes // plan.block == _blocks(log, plan):
        return f"{log.logged.bytes:,} // {each}"
    return f"{log.logged.text} ± {log.logged.slack:,} B // {each}"  # as many as the tokens make, within the rounding


def _tokens_of_groups(log: EngineLog, plan: Plan, blocks: int, groups: int, steps: list[Difference]) -> Row:
    """What "tokens" means where several groups share the blocks: it changed from version to version."""
    divided = blocks // groups * plan.block_size
    how = f"{blocks:,} // {groups} × {plan.block_size}"
    divides = log.version is not None and log.version <= DIVIDES
    if log.tokens and log.length and log.concurrency is not None and log.tokens != divided and not divides:
        product_of = log.concurrency * log.length
        if abs(product_of - log.tokens) <= Decimal("0.005") * log.length + 1:
            params = {"concurrency": str(log.concurrency), "length": log.length}
            steps.append(Difference("tokens_product", None, "vllm_report", params))
            return Row("tokens", None, Cell(int(product_of), f"{log.concurrency} × {log.length:,}"), Cell(log.tokens))
    room = (log.logged.slack // plan.block // groups + 1) * plan.block_size if log.logged else 0
    differs = log.tokens is not None and abs(log.tokens - divided) > room
    if log.tokens and differs and not divides and _is_product(log, plan, blocks):
        return _tokens_of_requests(log, plan, blocks, {"divided": divided, "groups": groups}, steps)
    source = "vllm_tokens_states" if plan.linear else "vllm_tokens"
    steps.append(Difference("tokens_divided", None, source, {"groups": groups}))
    if log.tokens and differs and _without_windows(log, plan):
        params = {"tokens": log.tokens, "layers": sum(plan.kinds.values())}
        steps.append(Difference("tokens_whole", None, "vllm_groups", params))
    return Row("tokens", None, Cell(divided, how), Cell(log.tokens) if log.tokens else None, differs)


def _tokens_of_requests(
    log: EngineLog, plan: Plan, blocks: int, params: dict[str, object], steps: list[Difference]
) -> Row:
    """Tokens that may be requests at once × their length. Without the tokens of a step that cannot be checked."""
    length, tokens = log.length or 0, log.tokens or 0
    if log.batched is None and plan.needs_step(length):
        steps.append(Difference("tokens_unchecked", None, "vllm_tokens", params))
        return Row("tokens", None, None, Cell(tokens))
    taken = plan.request(length, log.batched)
    return Row("tokens", None, Cell(blocks * length // taken, f"{blocks:,} / {taken:,} × {length:,}"), Cell(tokens))


def _without_windows(log: EngineLog, plan: Plan) -> bool:
    """Whether the tokens are as many as the memory holds where each layer keeps all of them."""
    if plan.linear or not (log.tokens and log.logged):
        return False
    taken = log.tokens * rate(plan.layers)
    return 0 <= log.logged.bytes + log.logged.slack - taken < plan.block_size * rate(plan.layers) + 2 * log.logged.slack


def _is_product(log: EngineLog, plan: Plan, blocks: int) -> bool:
    """Whether the tokens may be requests at once × their length, of which the log says the length alone."""
    if not (log.tokens and log.length) or log.concurrency is not None:
        return False
    known = (log.batched,) if log.batched or not plan.needs_step(log.length) else (1, None)
    times = [Fraction(blocks, plan.request(log.length, batched)) for batched in known]
    share = Fraction(log.tokens, log.length)
    return min(times) * Fraction(99, 100) <= share <= max(times) * Fraction(101, 100)


def _request(log: EngineLog, plan: Plan, steps: list[Difference]) -> list[Row]:
    """A request of the longest length, and how many of them fit at once."""
    blocks, length = _blocks(log, plan), log.length
    if not (blocks and length):
        return []
    needed = sum(one.count * one.each * kept_tokens(plan.spec, one.kind, length) for one in plan.layers)
    needed += plan.state * plan.linear
    share = log.logged.bytes / log.concurrency if log.logged and log.concurrency else None
    logged = Cell(int(share), f"{log.logged.text if log.logged else ''} / {log.concurrency}", True) if share else None
    if log.needed:
        logged = Cell(log.needed.bytes, log.needed.text)
    fit = Cell(Fraction(log.logged.bytes, needed), "") if log.logged else None
    printed_times = Cell(log.concurrency) if log.concurrency else None
    if log.batched is None and plan.needs_step(length):
        steps.append(_unknown_step(plan, length, blocks))
        return [Row("request", Cell(needed), None, logged), Row("concurrency", fit, None, printed_times)]
    taken = plan.request(length, log.batched)
    reserved = taken * plan.block
    _request_steps(log, plan, length, steps)
    steps += filter(None, [rest(reserved, log.needed, "request")])
    rows = [Row("request", Cell(needed), Cell(reserved, product(taken, plan.block)), logged)]
    rows += _longest(log, plan, blocks)
    times = Fraction(blocks, taken)
    # Windows and states leave room for other versions' rules; blocks that are worked out of GiB are as good as these.
    slack = Fraction(1, 100) if len(plan.groups) > 1 or not (log.blocks or log.tokens) else Fraction(0)
    differs = log.concurrency is not None and not _as_printed(times, log.concurrency, slack)
    if differs:
        told = {"logged": str(log.concurrency), "times": f"{float(times):.2f}", "taken": taken, "blocks": blocks}
        steps.append(Difference("concurrency", None, "", told, "request"))
    shown = Cell(times, f"{blocks:,} / {taken:,}")
    return [*rows, Row("concurrency", fit, shown, printed_times, differs)]


def _longest(log: EngineLog, plan: Plan, blocks: int) -> list[Row]:
    """The longest request that the room holds, where vLLM says it and all layers share the tokens."""
    if log.longest is None or log.logged is None or set(plan.groups) != {"full"}:
        return []
    each, slots = rate(plan.layers), blocks * plan.block_size
    slack = (log.logged.slack // plan.block + 1) * plan.block_size
    fit = Cell(log.logged.bytes // each, f"{log.logged.bytes:,} // {each:,}")
    differs = abs(slots - log.longest) > slack
    return [Row("longest", fit, Cell(slots, product(blocks, plan.block_size)), Cell(log.longest), differs)]


def _unknown_step(plan: Plan, length: int, blocks: int) -> Difference:
    """That no line says how many tokens a step brings in, and how many requests fit with one, and with all."""
    windows = [one for one in plan.layers if one.kind in ("sliding", "chunked")]
    most, least = (f"{blocks / plan.request(length, step):.2f}" for step in (1, None))
    params: dict[str, object] = {
        "layers": sum(one.count for one in windows),
        "window": kept_tokens(plan.spec, windows[0].kind, length),
        "length": length,
        "most": most,
        "least": least,
    }
    return Difference("window_unknown", None, "vllm_window", params, "request")


def _request_steps(log: EngineLog, plan: Plan, length: int, steps: list[Difference]) -> None:
    """Each reason why a request takes more than the formula; together they are all of it."""
    each, size = plan.layers[0].each, plan.block_size
    for one in plan.layers:
        tokens = kept_tokens(plan.spec, one.kind, length)
        held = plan.blocks_of(one.kind, length, log.batched) * size
        if one.kind == "full":
            if held > tokens:
                params = {"block": size, "length": length, "held": held}
                steps.append(
                    Difference("last_block", one.count * each * (held - tokens), "vllm_blocks", params, "request")
                )
        elif held > tokens:
            params = {"window": tokens, "batched": log.batched or length, "held": held, "layers": one.count}
            steps.append(
                Difference("window_blocks", one.count * each * (held - tokens), "vllm_window", params, "request")
            )
    if plan.linear:
        params = {"state": plan.state, "page_bytes": plan.page, "layers": plan.linear, "block": size}
        steps.append(
            Difference("state_page", plan.linear * (plan.page - plan.state), "vllm_aligned", params, "request")
        )
    filled = 0
    for kind, number in plan.groups.items():
        empty = number * plan.group - plan.kinds.get(kind, 0)
        filled += empty * plan.page * plan.blocks_of(kind, length, log.batched)
    if filled:
        params = {"layers": plan.padding, "group": plan.group, "groups": sum(plan.groups.values())}
        steps.append(Difference("padding_layers", filled, "vllm_groups", params, "request"))

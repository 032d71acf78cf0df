"""SGLang's lines about its cache.

Formats (sgl-project/sglang, see compared/sources.py): "KV Cache is allocated. #tokens: N, K size: X GB, V size: Y GB",
since 2026 with a dtype, for a latent "KV size"; GB is 1024³ bytes there. A draft model's pool (EAGLE, NEXTN) has as
many tokens and prints the line once more, and so does each rank. Where drafted tokens have states, that line goes on
with what is kept of them: "intermediate_ssm_state_cache size: XGB intermediate_conv_window_cache size: YGB". Layers
with a window have a pool of their own, which is printed before that of the others; "Use sliding window memory pool.
full_layer_tokens=N, swa_layer_tokens=M" and "SWAKVPool mem usage: X GB, swa size: M, full size: N" say so.
The scheduler hands out the pool's tokens: "max_total_num_tokens=N".
"""

import re
from functools import reduce
from operator import add
from typing import Literal

from .amounts import Printed, count, printed
from .facts import Conflict, EngineLog, Facts, Pool
from .lines import Found, LogLines, pattern
from .vllm import dtype_of, stated_in

_ALLOCATED = pattern(
    r"KV Cache is allocated\. (?:dtype: (?:torch\.)?(?P<dtype>\w{4,16}), )?#tokens: #tokens:w#, "
    r"(?:K size: #k:n# GB, V size: #v:n# GB|KV size: #kv:n# GB)"
)
_STATES = pattern(
    r"Mamba Cache is allocated\. max_mamba_cache_size: #slots:w#, "
    r"conv_state size: #conv:n# ?GB, ssm_state size: #ssm:n# ?GB"
    r"(?:,? intermediate_ssm_state_cache size: #drafts:n# ?GB,? intermediate_conv_window_cache size: #windows:n# ?GB)?"
)
_WINDOWS = (
    pattern(r"full_layer_tokens=#full:w#, swa_layer_tokens=#swa:w#"),
    pattern(r"SWAKVPool mem usage: #size:n# GB, swa size: #swa:w#, full size: #full:w#"),
)
_USING = pattern(r"Using KV cache dtype: (?:torch\.)?(?P<value>\w{4,16})")
_KV_DTYPE = pattern(r"kv_cache_dtype=['\"]?(?P<value>\w{2,16})")
_LOADED = pattern(r"Load weight end\.[^\n]{0,200}? dtype=torch\.(?P<value>\w{4,10})")
_USED = pattern(r"Load weight end\.[^\n]{0,300}? mem usage=(?P<value>#size:n# GB)")
_LEFT = pattern(r"Memory pool end\. avail mem=(?P<value>#size:n# GB)")
_MODEL = pattern(r"model_path=['\"](?P<value>[^'\"\n]{1,200})['\"]")
_TP = pattern(r"\btp_size=#value:w#")
_PP = pattern(r"\bpp_size=#value:w#")
_SERVED = pattern(r"max_total_num_tokens=#value:w#")
_PAGE = pattern(r"page_size=#value:w#")
_RUNNING = pattern(r"max_running_requests=#value:w#")
_LENGTH = pattern(r"context_len=#value:w#")
_RANK = re.compile(r"\bTP(\d{1,4})\b")
_STAGE = re.compile(r"\bPP(\d{1,4})\b")
_FP8 = {"float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "uint8": "fp8"}
LOOKED_FOR = ("KV Cache is allocated. #tokens: …, K size: … GB, V size: … GB",)


def read(lines: LogLines) -> EngineLog | None:
    """What the log says of SGLang's cache; None where no line is SGLang's."""
    found = _of_one_rank(lines)
    if not found:
        return None
    facts, split = Facts(), next(filter(None, map(lines.last, _WINDOWS)), None)
    first, windowed = _own_pools(found, split)
    draft = _draft(found, first, windowed)
    codes = {id(first): "cache", id(windowed): "window_cache", id(draft): "draft_cache"}
    for one in found:
        facts.note(codes.get(id(one), "other_pool"), one.text, one.line)
    for code, wanted in (("used_memory", _USED), ("left_memory", _LEFT), ("running", _RUNNING), ("length", _LENGTH)):
        facts.take(code, lines.last(wanted))
    weights, told = facts.take("weights_dtype", lines.last(_LOADED)), facts.take("cache_dtype", lines.last(_KV_DTYPE))
    stated = found[0].get("dtype") or facts.take("cache_dtype", lines.last(_USING))
    tp, pp = facts.take("tp", lines.last(_TP)), facts.take("pp", lines.last(_PP))
    page = facts.take("page_size", lines.last(_PAGE))
    served = _after(lines.all(_SERVED), (first or found[0]).line)
    facts.take("served", served)
    ranks, stages = _numbers(lines, _RANK), _numbers(lines, _STAGE)
    stage = _STAGE.search(lines.lines[found[0].line - 1])
    untold = Pool("full", count(split["full"]) if split else 0, None, 1, "", "", None)
    pool = _pool(first, "full") if first else untold
    sliding, (state, draft_states) = _pool(windowed, "sliding") if windowed else None, _states(lines, facts)
    conflicts = _other_tokens(first, served)
    sizes = [one.printed for one in (pool, sliding) if one and one.printed]
    return EngineLog(
        "SGLang",
        facts.ordered,
        logged=reduce(add, sizes) if first else None,
        tokens=pool.cells,
        dtype=_FP8.get(stated) or dtype_of(stated or weights, told),
        stated=(stated, stated) if stated else stated_in(weights, told),
        model=facts.take("model", lines.last(_MODEL)),
        pools=tuple(filter(None, (pool, sliding, state))),
        page=count(page or "1"),
        # older versions write TP0 without any parallelism, so that one rank alone says nothing of others
        tp=count(tp) if tp else len(ranks) if len(ranks) > 1 else None,
        pp=count(pp) if pp else len(stages) if len(stages) > 1 else None,
        stage=int(stage[1]) if stage else None,
        drafts=_pool(draft, "full").printed if draft else None,
        draft_states=draft_states,
        served=count(served["value"]) if served else None,
        conflicts=conflicts,
    )


def _of_one_rank(lines: LogLines) -> list[Found]:
    """The lines of the first rank that printed any."""
    found = lines.all(_ALLOCATED)
    ranks = [_rank(lines.lines[one.line - 1]) for one in found]
    return [one for one, rank in zip(found, ranks, strict=True) if rank == ranks[0]]


def _rank(line: str) -> tuple[str, ...]:
    """Which rank of which stage prints a line, as far as it says so."""
    return tuple(match[0] for wanted in (_RANK, _STAGE) if (match := wanted.search(line)))


def _numbers(lines: LogLines, wanted: re.Pattern[str]) -> set[str]:
    """The ranks or the stages that print any line."""
    return {match[1] for line in lines.lines if (match := wanted.search(line))}


def _after(found: list[Found], line: int) -> Found | None:
    """The first after a line: a server that starts anew prints all again."""
    return next((one for one in found if one.line > line), None)


def _other_tokens(pool: Found | None, served: Found | None) -> tuple[Conflict, ...]:
    """That the scheduler hands out other tokens than the pool has."""
    if pool is None or served is None or count(pool["tokens"]) == count(served["value"]):
        return ()
    return (
        Conflict(
            f"#tokens: {count(pool['tokens']):,}",
            pool.line,
            f"max_total_num_tokens={count(served['value']):,}",
            served.line,
        ),
    )


def _own_pools(found: list[Found], told: Found | None) -> tuple[Found | None, Found | None]:
    """The line of the model's own pool, None where the log is cut before it, and of that of its layers with a window,
    where these have one apart, as is `told`."""
    if told is None or count(found[0]["tokens"]) != count(told["swa"]):
        return found[0], None
    full = next((one for one in found[1:2] if count(one["tokens"]) == count(told["full"])), None)
    return full, found[0]


def _draft(found: list[Found], first: Found | None, windowed: Found | None) -> Found | None:
    """The line of a draft model's pool: it has as many tokens as the model's own, and comes after it."""
    others = [one for one in found if first and one.line > first.line and one is not windowed]
    return next((one for one in others if first and one["tokens"] == first["tokens"]), None)


def _gib(number: str) -> Printed:
    return printed(number, "GiB", f"{number} GB")


def _pool(one: Found, kind: Literal["full", "sliding"]) -> Pool:
    parts = () if one.get("kv") else (_gib(one["k"]), _gib(one["v"]))
    size = reduce(add, parts) if parts else _gib(one["kv"])
    return Pool(kind, count(one["tokens"]), None, 1, "", "", size, parts)


def _states(lines: LogLines, facts: Facts) -> tuple[Pool | None, Printed | None]:
    """The pool of states, and what is kept of each drafted token beside it."""
    one = lines.last(_STATES)
    if one is None:
        return None, None
    facts.note("state_cache", one.text, one.line)
    drafts = _gib(one["drafts"]) + _gib(one["windows"]) if one.get("drafts") else None
    return Pool("state", count(one["slots"]), None, 1, "", "", _gib(one["conv"]) + _gib(one["ssm"])), drafts

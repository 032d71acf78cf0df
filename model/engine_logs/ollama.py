"""Ollama's own lines about its cache; where it runs llama.cpp, that one's lines say more (llama_cpp.py).

Formats (ollama/ollama; compared/sources.py): its own engine prints `msg="kv cache" device=… size="X MiB"` for each
device, and the load request with KvSize and KvCacheType; before, `msg=offload … memory.required.kv="X GiB"` was its
estimate.
"""

from .amounts import count, printed
from .facts import EngineLog, Facts
from .lines import LogLines, pattern

_DEVICE = pattern(r"msg=\"kv cache\" device=\S{1,40} size=\"(?P<value>#size:n# (?P<unit>[KMGT]iB|B))\"")
_ESTIMATE = pattern(r"memory\.required\.kv=\"(?P<value>#size:n# (?P<unit>[KMGT]iB|B))\"")
_KV_SIZE = pattern(r"KvSize:#value:w#")
_CTX_SIZE = pattern(r"--ctx-size #value:w#")
_PARALLEL = (pattern(r"Parallel:#value:w#"), pattern(r"--parallel #value:w#"))
_BATCH = (pattern(r"BatchSize:#value:w#"), pattern(r"--batch-size #value:w#"))
_TYPE = pattern(r"KvCacheType:(?P<value>\w{2,8})? ")
_NAME = pattern(r"architecture=\S{1,40}[^\n]{0,80} name=(?P<value>\"[^\"\n]{1,100}\"|[^\s\"]{1,100})")
FORMATS = {"": "fp16", "f16": "fp16", "q8_0": "q8_0", "q4_0": "q4_0"}
LOOKED_FOR = ('msg="kv cache" device=… size="… MiB"', 'memory.required.kv="… GiB"')


def read(lines: LogLines) -> EngineLog | None:
    """What the log says of Ollama's cache; None where no line is Ollama's."""
    facts, devices, estimate = Facts(), lines.all(_DEVICE), lines.last(_ESTIMATE)
    if not devices and estimate is None:
        return None
    if devices:
        # A load that is tried anew prints its devices again: those of the last try count.
        names = [one.text.split(" size=")[0] for one in devices]
        kept = [one for i, one in enumerate(devices) if names[i] not in names[i + 1 :]]
        for one in kept:
            facts.note("allocated", one["value"], one.line)
        sizes = [printed(one["size"], one["unit"], one["value"]) for one in kept]
        logged = sizes[0]
        for size in sizes[1:]:
            logged = logged + size
    else:
        facts.take("estimated", estimate)
        logged = printed(estimate["size"], estimate["unit"], estimate["value"]) if estimate else None
    size = facts.take("kv_size", lines.last(_KV_SIZE) or lines.last(_CTX_SIZE))
    parallel = facts.take("parallel", next(filter(None, map(lines.last, _PARALLEL)), None))
    batch = facts.take("batched", next(filter(None, map(lines.last, _BATCH)), None))
    told = lines.last(_TYPE)
    cache = facts.take("cache_dtype", told)
    return EngineLog(
        "Ollama",
        facts.ordered,
        logged=logged,
        tokens=count(size) if size else None,
        dtype=FORMATS.get(cache) if told else None,
        stated=(cache, cache) if cache else None,
        model=facts.take("model", lines.last(_NAME)).strip('"'),
        sequences=count(parallel or "1"),
        batched=count(batch) if batch else None,
    )

"""An engine's lines about the weights, and about the buffers beside weights and cache.

Formats: llama.cpp prints "file size = 4.58 GiB (4.89 BPW)" (until 2025 "model size") and "file type = Q4_K - Medium"
with print_info, then a model, compute and output buffer for each device. vLLM prints "Model loading took 15.27 GiB"
(before, "Loading model weights took 14.99 GB", which are GiB), SGLang "Load weight end. … mem usage=15.11 GB" (GiB
again), TensorRT "Loaded engine size: 15317 MiB". Ollama's own engine prints
`msg="model weights" device=… size="4.3 GiB"`.
"""

import re
from collections.abc import Mapping
from functools import reduce
from operator import add
from types import MappingProxyType

from .amounts import Printed, printed
from .facts import Engine, Fact, LoadedWeights
from .lines import Found, LogLines, pattern

_SIZE = r"#size:n# ?(?P<unit>[KMGT]iB|GB)"
_LOADED: Mapping[Engine, tuple] = MappingProxyType(
    {
        "llama.cpp": (pattern(rf"(?:print_info|llm_load_print_meta): (?:file|model) size~=~(?P<value>{_SIZE})"),),
        "vLLM": (
            pattern(rf"[Ll]oading(?: model weights)? took (?P<value>{_SIZE})"),
            pattern(rf"model weights take (?P<value>{_SIZE})"),
        ),
        "SGLang": (pattern(rf"Load weight end\.[^\n]{{0,300}}? mem usage=(?P<value>{_SIZE})"),),
        "TensorRT-LLM": (pattern(rf"Loaded engine size: (?P<value>{_SIZE})"),),
        "Ollama": (pattern(rf"memory\.weights\.total=\"(?P<value>{_SIZE})\""),),
    }
)
_OLLAMA = pattern(rf"msg=\"model weights\" device=(?P<device>\S{{1,40}}) size=\"(?P<value>{_SIZE})\"")
_QUANTIZATION = pattern(r"[ (]quantization=['\"]?(?!None)(?P<value>[\w-]{2,30})")
_STATED: Mapping[Engine, tuple] = MappingProxyType(
    {
        "llama.cpp": (
            pattern(r"(?:print_info|llm_load_print_meta): (?:file type|model ftype)~=~(?P<value>[^\n]{1,40})"),
        ),
        "vLLM": (_QUANTIZATION,),
        "SGLang": (_QUANTIZATION,),
        "TensorRT-LLM": (),
        "Ollama": (pattern(r"file_type=\"?(?P<value>\w{2,12})"),),
    }
)
# What is computed in. vLLM's quantization=None is said of the files, SGLang's of its own options alone.
_COMPUTED: Mapping[Engine, re.Pattern[str]] = MappingProxyType(
    {
        "vLLM": pattern(r"[ (]dtype=torch\.(?P<value>\w{4,10})"),
        "SGLang": pattern(r"Load weight end\.[^\n]{0,200}? dtype=torch\.(?P<value>\w{4,10})"),
    }
)
_UNQUANTISED = pattern(r"[ (]quantization=None")
# The engines' names of formats that one product counts, and the calculators'.
FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "bfloat16": "bf16",
        "float16": "fp16",
        "float32": "fp32",
        "fp8": "fp8",
        "BF16": "bf16",
        "F16": "fp16",
        "all F32": "fp32",
        "F32": "fp32",
        "Q8_0": "q8_0",
        "Q4_0": "q4_0",
    }
)
_BUFFERS = {
    "model_buffer": (pattern(r"(?P<value>[\w.]{1,40} model buffer size~=~#size:n# [KMG]iB)"),),
    "compute_buffer": (
        pattern(r"(?P<value>[\w.]{1,40} compute buffer size~=~#size:n# [KMG]iB)"),
        pattern(rf"msg=\"compute graph\" device=(?P<value>\S{{1,40}} size=\"{_SIZE}\")"),
    ),
    "output_buffer": (pattern(r"(?P<value>[\w.]{1,40}~output buffer size~=~#size:n# [KMG]iB)"),),
    "graph_memory": (
        pattern(r"Graph capturing finished in [^\n]{1,20}, took (?P<value>#size:n# GiB)"),
        pattern(r"Capture cuda graph end\.[^\n]{0,60} mem usage=(?P<value>#size:n# GB)"),
    ),
    "peak_memory": (pattern(r"Peak memory during memory usage profiling[^\n:]{0,40}: (?P<value>#size:n# GiB)"),),
}


def loaded_weights(lines: LogLines, engine: Engine) -> LoadedWeights | None:
    """The last line on the weights of `engine`, of llama.cpp the first: a draft model prints its own after it."""
    found = [found for wanted in _LOADED[engine] if (found := lines.all(wanted))]
    stated = next((one[-1]["value"].strip() for wanted in _STATED[engine] if (one := lines.all(wanted))), "")
    typed = lines.last(_COMPUTED[engine]) if engine in _COMPUTED else None
    computed = typed["value"] if typed else ""
    if engine == "vLLM" and not stated and lines.last(_UNQUANTISED):
        stated = computed
    whole, measured = engine in ("llama.cpp", "Ollama"), engine in ("vLLM", "SGLang")
    if engine == "Ollama" and (devices := {one["device"]: one for one in lines.all(_OLLAMA)}):
        sizes = [_size(one) for one in devices.values()]
        line = min(one.line for one in devices.values())
        return LoadedWeights(reduce(add, sizes), line, stated, computed, whole, measured)
    if not found:
        return None
    one = found[0][0 if engine == "llama.cpp" else -1]
    return LoadedWeights(_size(one), one.line, stated, computed, whole, measured)


def buffers(lines: LogLines) -> tuple[Fact, ...]:
    """What else takes memory, in the log's order; of each line as often as it is printed."""
    found = [
        Fact(code, " ".join(one["value"].split()), one.line)
        for code, patterns in _BUFFERS.items()
        for wanted in patterns
        for one in lines.all(wanted)
    ]
    return tuple(sorted(found, key=lambda fact: fact.line))


def _size(one: Found) -> Printed:
    """Engines that write GB divide by 1024³."""
    return printed(one["size"], "GiB" if one["unit"] == "GB" else one["unit"], one["value"])

"""What an inference engine's log says of its KV cache. Pure text: no torch, no model, no arithmetic of a cache.

`read_log` finds whose log it is and reads it; model/engine_logs/compared sets it beside the calculators' formula.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from . import llama_cpp, ollama, sglang, tensorrt_llm, vllm
from .facts import Engine, EngineLog, Fact, Pool
from .lines import MAX_CHARACTERS, MAX_LINES, LogLines, log_lines, trouble
from .weights import buffers, loaded_weights

__all__ = ["ENGINES", "MAX_CHARACTERS", "MAX_LINES", "Engine", "EngineLog", "Fact", "Pool", "read_log"]

# llama.cpp before Ollama, which may run it and then prints its lines as well.
ENGINES: Mapping[Engine, Callable[[LogLines], EngineLog | None]] = MappingProxyType(
    {
        "llama.cpp": llama_cpp.read,
        "vLLM": vllm.read,
        "SGLang": sglang.read,
        "TensorRT-LLM": tensorrt_llm.read,
        "Ollama": ollama.read,
    }
)
LOOKED_FOR: Mapping[Engine, tuple[str, ...]] = MappingProxyType(
    {
        "llama.cpp": llama_cpp.LOOKED_FOR,
        "vLLM": vllm.LOOKED_FOR,
        "SGLang": sglang.LOOKED_FOR,
        "TensorRT-LLM": tensorrt_llm.LOOKED_FOR,
        "Ollama": ollama.LOOKED_FOR,
    }
)


def read_log(text: str) -> EngineLog:
    """What the lines of an engine's log say of its cache, at most MAX_CHARACTERS characters and MAX_LINES lines.

    Raises GlassLlamaError (code "engine_log"; params `reason`: "empty", "long", "lines", "none", "cut" or "several").
    """
    lines = log_lines(text)
    read = {name: log for name, reader in ENGINES.items() if (log := reader(lines))}
    if "llama.cpp" in read:
        read.pop("Ollama", None)
    if not read:
        wanted = [line for lines_of in LOOKED_FOR.values() for line in lines_of]
        said = f"No line about a KV cache that this reader knows. It looks for: {'; '.join(wanted)}."
        if cut := lines.cut:
            said = f"The log ends within a number, in line {cut.line}: {cut.end!r}. Without it: {said}"
            raise trouble("cut", said, lines=wanted, line=cut.line, end=cut.end)
        raise trouble("none", said, lines=wanted)
    if len(read) > 1:
        raise trouble("several", f"Lines of {' and '.join(read)}; paste one engine's log.", engines=list(read))
    log = next(iter(read.values()))
    return replace(log, cut=lines.cut, weights=loaded_weights(lines, log.engine), beside=buffers(lines))

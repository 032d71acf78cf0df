"""The LLaMA itself and other families: loading, running, recording, generating, the bytes of KV caches. No page.

A name is imported when it is first asked for: `import model.kv_math` counts bytes without torch.
"""

from typing import TYPE_CHECKING

from .lazy import names_of

if TYPE_CHECKING:
    from .analysis.circuit import Circuit, circuit
    from .analysis.knock_out import knock_out
    from .analysis.nodes import Node
    from .analysis.other_words import OtherWord, other_words
    from .analysis.score_terms import ScoreTerms, score_terms
    from .analysis.why import Why, why
    from .checkpoint import LanguageModel, load
    from .config import LlamaConfig
    from .errors import GlassLlamaError
    from .generation import Step, generate
    from .interventions import Intervention
    from .kv_math import kv_cache_bytes
    from .published.catalogue import catalogue
    from .published.hf_spec import spec_from_config
    from .published.spec import ModelSpec
    from .replaced.parts import Parts
    from .trace import LayerTrace, Trace, run_trace
    from .trace_files import read_trace, save_trace

__all__ = [
    "Circuit",
    "GlassLlamaError",
    "Intervention",
    "LanguageModel",
    "LayerTrace",
    "LlamaConfig",
    "ModelSpec",
    "Node",
    "OtherWord",
    "Parts",
    "ScoreTerms",
    "Step",
    "Trace",
    "Why",
    "catalogue",
    "circuit",
    "generate",
    "knock_out",
    "kv_cache_bytes",
    "load",
    "other_words",
    "read_trace",
    "run_trace",
    "save_trace",
    "score_terms",
    "spec_from_config",
    "why",
]

# In which module each name is defined. No module has the name of what is defined in it: to import it would hide that.
_MODULES = {
    ".analysis.circuit": ("Circuit", "circuit"),
    ".analysis.knock_out": ("knock_out",),
    ".analysis.nodes": ("Node",),
    ".analysis.other_words": ("OtherWord", "other_words"),
    ".analysis.score_terms": ("ScoreTerms", "score_terms"),
    ".analysis.why": ("Why", "why"),
    ".checkpoint": ("LanguageModel", "load"),
    ".config": ("LlamaConfig",),
    ".errors": ("GlassLlamaError",),
    ".generation": ("Step", "generate"),
    ".interventions": ("Intervention",),
    ".kv_math": ("kv_cache_bytes",),
    ".published.catalogue": ("catalogue",),
    ".published.hf_spec": ("spec_from_config",),
    ".published.spec": ("ModelSpec",),
    ".replaced.parts": ("Parts",),
    ".trace": ("LayerTrace", "Trace", "run_trace"),
    ".trace_files": ("read_trace", "save_trace"),
}
__getattr__ = names_of(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""The LLaMA itself and other families: loading, running, recording, generating, the bytes of KV caches. No page."""

from .analysis.circuit import Circuit, circuit
from .analysis.nodes import Node
from .analysis.score_terms import ScoreTerms, score_terms
from .checkpoint import LanguageModel, load
from .config import LlamaConfig
from .errors import GlassLlamaError
from .generate import Step, generate
from .interventions import Intervention
from .kv_math import kv_cache_bytes
from .published.catalogue import catalogue
from .published.hf_spec import spec_from_config
from .published.spec import ModelSpec
from .trace import LayerTrace, Trace, run_trace

__all__ = [
    "Circuit",
    "GlassLlamaError",
    "Intervention",
    "LanguageModel",
    "LayerTrace",
    "LlamaConfig",
    "ModelSpec",
    "Node",
    "ScoreTerms",
    "Step",
    "Trace",
    "catalogue",
    "circuit",
    "generate",
    "kv_cache_bytes",
    "load",
    "run_trace",
    "score_terms",
    "spec_from_config",
]

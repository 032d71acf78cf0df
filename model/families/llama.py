"""LLaMA, for whom everything stands in model/llama.py and model/config.py."""

from ..config import LlamaConfig
from ..llama import TENSORS, Llama
from .family import Family

FAMILIES = {"llama": Family(LlamaConfig.from_hf, Llama, TENSORS)}

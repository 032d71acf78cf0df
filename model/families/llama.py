"""LLaMA: its network is in model/llama.py, and its config in model/config.py."""

from ..config import LlamaConfig
from ..llama import TENSORS, Llama
from .family import Family

FAMILIES = {"llama": Family(LlamaConfig.from_hf, Llama, TENSORS)}

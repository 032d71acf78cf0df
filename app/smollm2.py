"""The real LLaMA that the page offers where its weights have been fetched (`make smollm2`)."""

from pathlib import Path

from model.on_demand import OnDemand, WeightCache
from model.smollm2 import NAME, WEIGHTS

from .memory import give_back


def smollm2(weights: Path = WEIGHTS, device: str = "auto", dtype: str = "auto") -> list[OnDemand]:
    """SmolLM2, whose weights are read at first use and then stay; nothing where they are not there.

    Raises GlassLlamaError for a damaged file.
    """
    return [OnDemand(weights, WeightCache(0, give_back), NAME, device, dtype)] if weights.is_file() else []

"""A language model with another network in place of its own: its encoder, or its decoder once it has a source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from .checkpoint import LanguageModel
from .config import NetworkConfig
from .errors import GlassLlamaError
from .network import Network
from .tiled import count_weights


@dataclass(frozen=True, eq=False)
class View:
    """Takes the place of a LanguageModel. All but network and config is the model's own.

    Each access to `net` asks the model for its network again: so a view holds no weights, and a model that drops them
    (model/on_demand.py) can do so.
    """

    model: LanguageModel
    see: Callable[[Network], Network]
    config: NetworkConfig

    @classmethod
    def of(cls, model: LanguageModel, see: Callable[[Network], Network], config: NetworkConfig) -> LanguageModel:
        """The model whose network is what `see` makes of its own, and that network's config."""
        return cast(LanguageModel, cls(model, see, config))

    @property
    def net(self) -> Network:
        return self.see(self.model.net)

    @property
    def n_parameters(self) -> int:
        """Parameters of what is seen; a tied head counts once."""
        return count_weights(self.net)

    @property
    def reads_source(self) -> bool:
        """Whether what is seen reads a source text first."""
        return hasattr(self.net, "encoder")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def with_prefix_mask(lm: LanguageModel, prefix: int) -> LanguageModel:
    """The model whose first `prefix` tokens all see each other; 0 is the model itself.

    Raises GlassLlamaError where the network has no such mask.
    """
    if not prefix:
        return lm
    if not lm.net.can_have_prefix:
        raise GlassLlamaError("bad_request", f"prefix is {prefix}; expected 0: this network has no such mask.")
    return View.of(lm, lambda net: net.with_prefix(prefix), lm.config)

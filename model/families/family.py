"""What makes a family: its config's reader, its network, and the names and order of the tensors in its files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ..config import NetworkConfig
from ..network import Network

Names = dict[str, tuple[str, ...]]


def unchanged_name(name: str) -> str:
    """A name that needs no change."""
    return name


def unchanged_tensors(raw: dict[str, Tensor], _config: Any) -> dict[str, Tensor]:
    """Tensors that are the network's as they are."""
    return raw


def unchanged_rows(_config: Any) -> dict[str, Tensor]:
    """No order of rows: the files have them as we do."""
    return {}


@dataclass(frozen=True)
class Family:
    """A family of checkpoints.

    `tensors` is the table of tensor names (of a config, where it depends on that): ours -> Hugging Face's, {i} the
    layer, {e} the expert. Several names are matrices one below the other in ours. `rename` brings the names of other
    files of the family to those of the table, `unpack` parts what some files pack into one tensor. `row_order` gives,
    by our names with {i}, the row of the file's tensor that is each row of ours.
    """

    read: Callable[[dict[str, Any]], NetworkConfig]
    build: Callable[[Any], Network]
    tensors: Names | Callable[[Any], Names]
    rename: Callable[[str], str] = unchanged_name
    unpack: Callable[[dict[str, Tensor], Any], dict[str, Tensor]] = unchanged_tensors
    row_order: Callable[[Any], dict[str, Tensor]] = unchanged_rows

    def names(self, config: NetworkConfig) -> Names:
        """The table of tensor names of a network with this config."""
        return self.tensors(config) if callable(self.tensors) else self.tensors

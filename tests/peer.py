"""transformers' own pass over the tokens that the page shows, with what its modules saw on the way."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from tests.reference import reference, run_reference


class Peer:
    """One run of a checkpoint. `off` are (layer, head) whose output never reaches the head's columns of W_O."""

    def __init__(self, directory: Path, ids: list[int], off: Sequence[tuple[int, int]] = ()):
        net = reference(directory)
        self.inputs, self.outputs = {}, {}
        self.config: Any = net.config
        self.net: Any = net
        for layer in {at for at, _ in off}:
            heads = [head for at, head in off if at == layer]
            self.net.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(self._silence(heads))
        for name, module in net.named_modules():
            module.register_forward_hook(self._keep(name))
        self.run = run_reference(net, torch.tensor([ids]))

    def _silence(self, heads: Sequence[int]) -> Any:
        def hook(_module: Any, given: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            columns = given[0].clone()
            for head in heads:
                columns[..., head * self.config.head_dim : (head + 1) * self.config.head_dim] = 0
            return (columns,)

        return hook

    def _keep(self, name: str) -> Any:
        def hook(_module: Any, given: tuple, result: Any) -> None:
            if given and isinstance(given[0], torch.Tensor):
                self.inputs[name] = given[0]
            if isinstance(result, torch.Tensor):
                self.outputs[name] = result[0]

        return hook

    def rms(self, layer: int, token: int) -> float:
        stream = self.run.hidden_states[layer][0, token].double()
        return float((stream.square().mean() + self.config.rms_norm_eps).sqrt())

    def head(self, layer: int, name: str, head: int, token: int) -> torch.Tensor:
        width = self.config.head_dim
        return self.outputs[f"model.layers.{layer}.self_attn.{name}_proj"][token, head * width : (head + 1) * width]

    def neuron(self, layer: int, name: str, token: int, neuron: int) -> float:
        return float(self.outputs[f"model.layers.{layer}.mlp.{name}_proj"][token, neuron])

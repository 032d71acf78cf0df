"""Reading what configs and files of networks with experts have in common."""

from torch import Tensor

from ..fields import refusal
from ..published.hf.sizes import Routed

MOST_EXPERTS = 1024  # more than any published model has; a network is built before its files are read


def checked_experts(experts: Routed, field: str) -> Routed:
    """The experts, if a network can be built with them; `field` is config.json's name for their number."""
    if experts.n_experts > MOST_EXPERTS:
        raise refusal(field, experts.n_experts, f"at most {MOST_EXPERTS}")
    if experts.top_k > experts.n_experts:
        raise refusal("num_experts_per_tok", experts.top_k, f"at most the {experts.n_experts} experts")
    return experts


def unpacked(raw: dict[str, Tensor], gate: str, up: str, down: str) -> dict[str, Tensor]:
    """Each expert's own tensors, called by these names, from what transformers 5 packs into one for all of a layer.

    The packed ones are `experts.gate_up_proj` (E, 2f, d), a gate above an up, and `experts.down_proj` (E, d, f).
    """
    found: dict[str, Tensor] = {}
    for name, tensor in raw.items():
        stem, _, last = name.rpartition(".")
        parts = {"gate_up_proj": (gate, up), "down_proj": (down,)}.get(last)
        if parts is None or not stem.endswith(".experts") or tensor.dim() != 3:
            found[name] = tensor
            continue
        for number, matrix in enumerate(tensor):
            for part, rows in zip(parts, matrix.chunk(len(parts)), strict=True):
                found[f"{stem}.{number}.{part}.weight"] = rows
    return found

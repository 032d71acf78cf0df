"""Reading what configs and files of networks with experts have in common."""

from typing import Any

from torch import Tensor

from ..fields import count, refusal

MOST_EXPERTS = 1024  # more than any published model has; a network is built before its files are read


def expert_counts(raw: dict[str, Any], field: str, experts: int, chosen: int | None = None) -> tuple[int, int]:
    """How many routed experts there are and how many a token goes to, with what stands in for absent fields."""
    n_experts, top_k = count(raw, field, experts), count(raw, "num_experts_per_tok", chosen)
    if n_experts > MOST_EXPERTS:
        raise refusal(field, n_experts, f"at most {MOST_EXPERTS}")
    if top_k > n_experts:
        raise refusal("num_experts_per_tok", top_k, f"at most the {n_experts} experts")
    return n_experts, top_k


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

"""python -m model.train.norms: does a LLaMA with LayerNorm learn more than one with RMSNorm?

Zhang and Sennrich (2019, arXiv 1910.07467) find the two alike. Here pairs of networks are trained that differ in this
alone: weights begin from the same seed, and the same documents come in the same order. Of each pair the losses on
held-out documents are told, and of all pairs their mean difference beside what the seed alone does.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ..llama import Llama
from ..norms import LayerNorm, Norm
from . import zoo
from .trainer import Settings, Trainer, keep_memory

SHAPE = replace(zoo.LLAMA, n_layers=4, d_model=128, n_heads=4, ffn_hidden=344)  # 1.25 million parameters
TOKENS, SEEDS = 1_000_000, 5


class LayerNormLlama(Llama):
    """A LLaMA whose norms subtract the mean and add a bias, too."""

    def make_norm(self) -> Norm:
        """A LayerNorm of the stream, in place of the RMSNorm."""
        return LayerNorm(self.config.d_model, self.config.norm_eps)


NETWORKS: dict[str, Callable[[Any], Llama]] = {"rms_norm": Llama, "layer_norm": LayerNormLlama}


class Unsaved(Trainer):
    """A training whose network is only measured: no checkpoint has a place for a LLaMA's LayerNorms."""

    def _save(self, loss: float) -> None:
        """Write nothing."""


def trained_loss(build: Callable[[Any], Llama], seed: int, tokens: int) -> float:
    """Held-out loss, in nats a token, of a network of SHAPE after so many tokens."""
    settings = Settings(zoo.stages(tokens), SHAPE, seed=seed, parts=1)
    with TemporaryDirectory() as out:
        return Unsaved(settings, Path(out), torch.device("cpu"), build, zoo.tokenizer(SHAPE)).run()


def main() -> None:
    """Train what FILE does not have yet, and print its table."""
    parser = argparse.ArgumentParser(
        prog="python -m model.train.norms", description="The same LLaMA with RMSNorm and with LayerNorm, seed by seed."
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="pairs of networks (default: %(default)s)")
    parser.add_argument("--tokens", type=float, default=TOKENS, help="that each is trained on (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where losses are kept, and taken from")
    given = parser.parse_args()
    keep_memory()
    torch.set_num_threads(1)
    known = json.loads(given.keep.read_text()) if given.keep and given.keep.is_file() else {}
    losses: dict[str, dict[str, float]] = known.setdefault(f"{int(given.tokens)} tokens", {})
    for seed in range(given.seeds):
        of_seed = losses.setdefault(str(seed), {})
        for name, build in NETWORKS.items():
            if name not in of_seed:
                of_seed[name] = round(trained_loss(build, seed, int(given.tokens)), 4)
                if given.keep:
                    given.keep.write_text(json.dumps(known, indent=2) + "\n")
    print(told(list(losses.values())[: given.seeds]))


def told(pairs: list[dict[str, float]]) -> str:
    """The losses of each pair, and what they say together. Needs two pairs."""
    lines = [
        f"seed {i}: " + ", ".join(f"{name} {loss:.4f}" for name, loss in pair.items()) for i, pair in enumerate(pairs)
    ]
    differences = [pair["layer_norm"] - pair["rms_norm"] for pair in pairs]
    error = statistics.stdev(differences) / len(differences) ** 0.5
    spread = statistics.mean(statistics.stdev(pair[name] for pair in pairs) for name in NETWORKS)
    lines.append(
        f"layer_norm − rms_norm: {statistics.mean(differences):+.4f} nats a token, standard error {error:.4f}; "
        f"seeds of one network differ by {spread:.4f} (standard deviation)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""python -m model.train: a checkpoint from nothing but the corpus that this project generates."""

import argparse
from pathlib import Path

import torch

from ..checkpoint import BUNDLED, pick_device
from .curriculum import TOKENS, recipe
from .trainer import Settings, Trainer, keep_memory


def main() -> None:
    """Train in one run, or go on with one that was interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m model.train", description="Train a checkpoint from nothing but the generated corpus."
    )
    parser.add_argument(
        "--out", type=Path, default=BUNDLED, help="directory to write (default: in place of the bundled model)"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, …")
    parser.add_argument("--tokens", type=float, default=TOKENS, help="in all stages together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of weights and corpus (default: %(default)s)")
    given = parser.parse_args()
    keep_memory()
    torch.set_num_threads(1)  # each part of a batch has a core of its own
    Trainer(Settings(recipe(int(given.tokens)), seed=given.seed), given.out, pick_device(given.device)).run()


if __name__ == "__main__":
    main()

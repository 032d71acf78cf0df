"""python -m model.train: a checkpoint from nothing but the corpus that this project generates."""

import argparse
from pathlib import Path

import torch

from ..checkpoint import BUNDLED, pick_device
from ..families import family_of
from . import zoo
from .curriculum import TOKENS, recipe
from .trainer import Settings, Trainer, keep_memory


def main() -> None:
    """Train in one run, or go on with one that was interrupted."""
    given = _arguments()
    keep_memory()
    torch.set_num_threads(1)  # each part of a batch has a core of its own
    device, family = pick_device(given.device), given.family
    if family is None:
        settings = Settings(recipe(int(given.tokens or TOKENS)), seed=given.seed, parts=given.parts)
        _run(Trainer(settings, given.out or BUNDLED, device))
        return
    shape = zoo.SHAPES[family]
    stages = zoo.stages(int(given.tokens or zoo.TOKENS))
    settings = Settings(stages, shape, seed=given.seed, parts=given.parts, save_every=zoo.SAVE_EVERY)
    build = family_of(shape.to_hf()).build
    _run(Trainer(settings, given.out or zoo.ZOO / family, device, build, zoo.tokenizer(shape)))


def _run(trainer: Trainer) -> None:
    print(f"held-out loss {trainer.run():.4f} nats a token; wrote {trainer.out}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m model.train", description="Train a checkpoint from nothing but the generated corpus."
    )
    parser.add_argument(
        "--family", choices=list(zoo.SHAPES), help="one of the small networks of model/zoo (default: the bundled model)"
    )
    parser.add_argument(
        "--out", type=Path, help="directory to write (default: in place of the bundled model, or model/zoo/FAMILY)"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, …")
    parser.add_argument(
        "--tokens", type=float, help=f"in all stages together (default: {TOKENS}, of a family {zoo.TOKENS})"
    )
    parser.add_argument("--seed", type=int, default=0, help="of weights and corpus (default: %(default)s)")
    parser.add_argument(
        "--parts",
        type=int,
        default=2,
        help="cores, each of which works out its share of a batch (default: %(default)s)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()

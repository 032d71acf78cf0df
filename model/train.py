"""python -m model.train: make the bundled checkpoint from nothing but the corpus that this project generates.

Trains the tokenizer, then the network through the stages of curriculum.py, and writes config.json, tokenizer.json,
model.safetensors (float16) and the training log. Interrupted, it goes on from its last saved state when started again
with the same settings. A stage starts from the weights of the one before with a fresh optimiser, so that it can also be
run by itself: `--from DIR --first STAGE`.
"""

import argparse
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from .checkpoint import BUNDLED, load, pick_device, save_weights
from .config import LlamaConfig
from .curriculum import STAGES, Stage
from .judged import Storyteller
from .llama import Llama
from .packing import END, Rows, pack
from .progress import heldout_answers, heldout_loss
from .record import LOG
from .tokenizer import Tokenizer
from .train_tokenizer import train_tokenizer

EXPLICIT_UP_TO = 128  # tokens a row: below, attention written out is faster on a CPU than PyTorch's fused backward pass

SHAPE = LlamaConfig(
    n_layers=8,
    d_model=256,
    n_heads=8,
    n_kv_heads=2,
    head_dim=32,
    ffn_hidden=688,
    vocab_size=4096,
    norm_eps=1e-5,
    rope_theta=10_000.0,
    max_context=1024,
    tied_embeddings=True,
    eos_ids=(END,),
)


@dataclass(frozen=True)
class Settings:
    """What a run is made of: its stages, the first to run, and what all of them share."""

    stages: tuple[Stage, ...] = STAGES
    first: int = 0
    weight_decay: float = 0.1
    clip: float = 1.0
    seed: int = 0
    save_every: int = 200  # steps; a tenth of them where the network tells stories, which takes its time


def loss_of(net: Callable[[Tensor], Tensor], rows: Rows) -> Float[Tensor, ""]:
    """Weighted mean cross-entropy of each next token, in nats."""
    logits = net(rows.ids[:, :-1])
    losses = F.cross_entropy(logits.flatten(0, 1).float(), rows.ids[:, 1:].flatten(), reduction="none")
    weights = rows.weights.flatten()
    return (losses * weights).sum() / weights.sum()


def rate(stage: Stage, step: int) -> float:
    """The learning rate at a step of a stage: a linear warm-up to `rate`, then a cosine to `last_rate`."""
    if step < stage.warmup:
        return stage.rate * (step + 1) / stage.warmup
    done = min(1.0, (step - stage.warmup) / max(1, stage.steps - stage.warmup))
    return stage.last_rate + (stage.rate - stage.last_rate) * 0.5 * (1 + math.cos(math.pi * done))


def initialise(net: Llama, seed: int) -> None:
    """Normal weights of deviation 0.02; what writes to the residual stream is smaller, as 2·L add up (GPT-2)."""
    random = torch.Generator().manual_seed(seed)
    for name, weight in net.named_parameters():
        if weight.dim() == 2:
            writes = name.endswith(("o_proj.weight", "down_proj.weight"))
            deviation = 0.02 / math.sqrt(2 * net.config.n_layers) if writes else 0.02
            with torch.no_grad():
                weight.copy_(torch.randn(weight.shape, generator=random) * deviation)


def optimiser(net: Llama, weight_decay: float) -> torch.optim.AdamW:
    """AdamW; norms are not decayed."""
    matrices = [p for p in net.parameters() if p.dim() == 2]
    vectors = [p for p in net.parameters() if p.dim() < 2]
    return torch.optim.AdamW(
        [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}],
        betas=(0.9, 0.95),
        fused=True,
    )


class Trainer:
    """One training run, its state, and where it keeps them. `start` is a checkpoint directory to go on from."""

    def __init__(
        self, settings: Settings, out: Path, device: torch.device, compiled: bool = False, start: Path | None = None
    ):
        self.settings, self.out, self.device = settings, out, device
        self.state_file = out / "training_state.pt"
        self.net = Llama(SHAPE)
        self.tokenizer = self._begin(start)
        self.net.to(device)
        self.optimiser = optimiser(self.net, settings.weight_decay)
        self.before = Llama(SHAPE).requires_grad_(False).to(device)  # as the network was when its stage began
        self.ends = {} if start is None else {settings.stages[settings.first - 1].name: self._weights()}
        self._check_averages()
        self.storyteller = Storyteller(self.net, self.before, self.tokenizer)
        self.stage, self.step = self._resume()
        self.compute = torch.compile(self.net) if compiled else self.net

    def run(self) -> None:
        """Train to the end, saving as it goes, and write the checkpoint."""
        for number in range(self.stage, len(self.settings.stages)):
            if number > self.stage:
                self.stage, self.step = number, 0
                self.optimiser = optimiser(self.net, self.settings.weight_decay)
            if self.step == 0:
                self.before.load_state_dict(self.net.state_dict())
            stage = self.settings.stages[number]
            self._run_stage(stage)
            if any(later.averaged_with == stage.name for later in self.settings.stages[number + 1 :]):
                self.ends[stage.name] = self._weights()
        self.state_file.unlink(missing_ok=True)
        print(f"wrote {self.out}; held-out loss {heldout_loss(self.net, self.tokenizer):.4f} nats a token")

    def _run_stage(self, stage: Stage) -> None:
        started, tokens = time.perf_counter(), 0
        save_every = max(1, self.settings.save_every // 10) if stage.judged else self.settings.save_every
        bar = tqdm(
            self._batches(stage), stage.name, initial=self.step, total=stage.steps, unit="step", dynamic_ncols=True
        )
        for rows in bar:
            loss = self._update(stage, rows)
            self.step += 1
            if stage.averaged_with and self.step == stage.steps:
                self._average(self.ends[stage.averaged_with])
            tokens += rows.weights.numel()
            speed = tokens / (time.perf_counter() - started)
            told = {"sound": self.storyteller.sound} if stage.judged else {}
            bar.set_postfix({"loss": f"{loss:.3f}", "tokens_s": f"{speed:.0f}"} | told)
            if self.step % save_every == 0 or self.step == stage.steps:
                self._save(loss, speed)

    def _update(self, stage: Stage, rows: Rows) -> float:
        for group in self.optimiser.param_groups:
            group["lr"] = rate(stage, self.step)
        explicit = self.device.type == "cpu" and stage.context <= EXPLICIT_UP_TO
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            loss = loss_of(
                lambda ids: self.compute(ids, explicit=explicit),
                Rows(rows.ids.to(self.device), rows.weights.to(self.device)),
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if stage.judged:
            for part in self.storyteller.losses(stage.judged, self._seed(self.step)):
                part.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        self.optimiser.step()
        return float(loss.detach())

    def _weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().clone() for name, weight in self.net.named_parameters()}

    def _average(self, other: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.net.named_parameters():
                weight.lerp_(other[name], 0.5)

    def _check_averages(self) -> None:
        """SystemExit where a stage is to be averaged with one that this run does not have."""
        for stage in self.settings.stages[self.settings.first :]:
            other = stage.averaged_with
            if other and stage_number(self.settings.stages, other) < self.settings.first and other not in self.ends:
                raise SystemExit(
                    f"--first: {stage.name!r} is averaged with the weights after {other!r}, which this run does not "
                    "have; start with the stage that follows it."
                )

    def _batches(self, stage: Stage) -> Iterator[Rows]:
        for step in range(self.step, stage.steps):
            yield pack(self.tokenizer, stage, self._seed(step))

    def _seed(self, step: int) -> int:
        """The seed of a batch's documents, another for every step of every stage."""
        return (self.settings.seed * 100 + self.stage) * 1_000_003 + step

    def _begin(self, start: Path | None) -> Tokenizer:
        """New weights, or those of `start`; the tokenizer of `start`, of the run to be resumed, or a new one."""
        path = self.out / "tokenizer.json"
        if start is not None:
            begun = load(start, device="cpu", dtype="float32")
            if begun.config != SHAPE:
                raise SystemExit(f"--from: {start} is not of the bundled model's shape.")
            self.net.load_state_dict(begun.net.state_dict())
        else:
            initialise(self.net, self.settings.seed)
        if not (self.state_file.is_file() and path.is_file()):
            self.out.mkdir(parents=True, exist_ok=True)
            if start is None:
                train_tokenizer(SHAPE.vocab_size, self.settings.seed).save(str(path))
            elif start.resolve() != self.out.resolve():
                for name in ("tokenizer.json", LOG):
                    if (start / name).is_file():
                        shutil.copy(start / name, self.out)
        return Tokenizer.from_file(path)

    def _save(self, loss: float, speed: float) -> None:
        state = {
            "settings": asdict(self.settings),
            "stage": self.stage,
            "step": self.step,
            "net": self.net.state_dict(),
            "before": self.before.state_dict(),
            "ends": self.ends,
            "optimiser": self.optimiser.state_dict(),
        }
        partial = self.state_file.with_suffix(".part")  # a kill in the middle leaves the last state whole
        torch.save(state, partial)
        os.replace(partial, self.state_file)
        save_weights(self.net, self.out)
        stage = self.settings.stages[self.stage]
        before = sum(earlier.tokens for earlier in self.settings.stages[: self.stage])
        line = {
            "stage": stage.name,
            "step": self.step,
            "tokens": before + self.step * stage.rows * stage.context,
            "loss": round(loss, 4),
            "heldout": round(heldout_loss(self.net, self.tokenizer), 4),
            "tokens_per_second": round(speed),
            "answers": heldout_answers(self.net, self.tokenizer),
        } | ({"sound": self.storyteller.sound} if stage.judged else {})
        with (self.out / LOG).open("a") as log:
            log.write(json.dumps(line) + "\n")

    def _resume(self) -> tuple[int, int]:
        """(stage, step) of the saved state, its weights taken over; the run's own beginning where there is none."""
        if not self.state_file.is_file():
            if self.settings.first == 0:
                (self.out / LOG).unlink(missing_ok=True)
            return self.settings.first, 0
        state = torch.load(self.state_file, map_location=self.device, weights_only=True)
        if state["settings"] != asdict(self.settings):
            raise SystemExit(
                f"{self.state_file} belongs to a run with other settings; start again with those, or delete the file "
                "to begin anew."
            )
        self.net.load_state_dict(state["net"])
        self.before.load_state_dict(state["before"])
        self.ends = state["ends"]
        self.optimiser.load_state_dict(state["optimiser"])
        return state["stage"], state["step"]


def stage_number(stages: Sequence[Stage], name: str) -> int:
    """The place of the stage of this name. SystemExit, naming those that there are, for another."""
    names = [stage.name for stage in stages]
    if name not in names:
        raise SystemExit(f"--first: there is no stage {name!r}; there are {', '.join(names)}.")
    return names.index(name)


def scaled(stage: Stage, tokens: float, rows: int) -> Stage:
    """The stage with so many times its tokens, and its rows and stories in each batch."""
    judged = stage.judged and replace(stage.judged, stories=stage.judged.stories * rows)
    return replace(stage, tokens=round(stage.tokens * tokens), rows=stage.rows * rows, judged=judged)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m model.train", description="Make the bundled checkpoint from nothing but the generated corpus."
    )
    parser.add_argument("--out", type=Path, default=BUNDLED, help="directory to write (default: the bundled model)")
    parser.add_argument("--from", dest="start", type=Path, help="checkpoint directory to go on from (with --first)")
    parser.add_argument("--first", default=STAGES[0].name, help="first stage to run (default: %(default)s)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, …")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="times as many tokens in each stage as planned (default: %(default)s)"
    )
    parser.add_argument(
        "--rows", type=int, default=1, help="times as many rows in each batch; for a GPU (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of weights and corpus (default: %(default)s)")
    parser.add_argument(
        "--compile",
        action=argparse.BooleanOptionalAction,
        help="compile the network first, a third faster; on a CPU it needs a C++ compiler (default: on CUDA only)",
    )
    given = parser.parse_args()
    first = stage_number(STAGES, given.first)
    if (first > 0) != (given.start is not None):
        raise SystemExit("--from and --first go together: a later stage needs the weights of the one before.")
    device = pick_device(given.device)
    stages = tuple(scaled(stage, given.scale, given.rows) for stage in STAGES)
    compiled = device.type == "cuda" if given.compile is None else given.compile
    Trainer(Settings(stages, first, seed=given.seed), given.out, device, compiled, given.start).run()


if __name__ == "__main__":
    main()

"""The trainer: a network of any shape, from nothing but the corpus that this project generates.

Trains the tokenizer, or takes one, then the network through the stages of curriculum.py in one run, and writes
config.json, tokenizer.json, model.safetensors (float16) and the training log. Interrupted, it goes on from its last
saved state when started again with the same settings.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from ..checkpoint import save_weights
from ..config import LlamaConfig, NetworkConfig
from ..llama import Llama
from ..record import LOG
from ..tokenizer import Tokenizer
from . import balance
from .curriculum import Stage, recipe
from .initial import initialise
from .optimisers import Average, optimisers, set_lr
from .packing import END, Rows, pack_pairs, pack_rows, start_of
from .progress import heldout_answers, heldout_loss
from .score_scale import scale_scores, unscale_scores
from .tokenizer import train_tokenizer

EAGER_UP_TO = 256  # tokens a row: below, attention written out is faster on a CPU than PyTorch's fused backward pass

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
    """What a run is made of: its stages, the network's shape, and what all stages share.

    A batch is worked out in `parts` at once, each on a core of its own; what it costs to wait for one another after
    every operation is more than what it costs to add the gradients up once a step.
    """

    stages: tuple[Stage, ...] = field(default_factory=recipe)
    shape: NetworkConfig = SHAPE
    weight_decay: float = 0.1
    clip: float = 1.0
    average: float = 0.99  # of the averaged weights kept at each step; they are what is measured and written
    parts: int = 2
    seed: int = 0
    save_every: int = 200  # steps


def loss_of(net: Callable[..., Tensor], rows: Rows) -> Float[Tensor, ""]:
    """Weighted sum of the cross-entropy of each next token, in nats."""
    logits = net(*rows.texts)
    losses = F.cross_entropy(logits.flatten(0, 1).float(), rows.ids[:, 1:].flatten(), reduction="none")
    return (losses * rows.weights.flatten()).sum()  # a product of vectors would be rounded to bfloat16 by autocast


class Trainer:
    """One training run, its state, and where it keeps them.

    `build` makes the network of a shape. `tokenizer` is taken as it is; where there is none, one is trained.
    """

    def __init__(
        self,
        settings: Settings,
        out: Path,
        device: torch.device,
        build: Callable[[Any], Any] = Llama,
        tokenizer: Tokenizer | None = None,
    ):
        self.settings, self.out, self.device = settings, out, device
        self.state_file = out / "training_state.pt"
        self.build, build = build, scale_scores(build)
        self.net = build(settings.shape)
        initialise(self.net, settings.seed)
        self.net.to(device)
        self.average = Average(self.net, settings.average)
        self.optimisers = optimisers(self.net, settings.weight_decay, settings.parts)
        self.replicas = [self._replica(build) for _ in range(settings.parts)]
        self.tokenizer = self._tokenizer(tokenizer)
        self.stage, self.step = self._resume()

    def run(self) -> float:
        """Train to the end, saving as it goes, and give the loss on held-out documents, in nats a token."""
        with ThreadPoolExecutor(self.settings.parts) as pool:
            for number in range(self.stage, len(self.settings.stages)):
                if number > self.stage:
                    self.stage, self.step = number, 0
                self._run_stage(self.settings.stages[number], pool)
        self.state_file.unlink(missing_ok=True)
        return heldout_loss(self.average.net, self.tokenizer)

    def _run_stage(self, stage: Stage, pool: ThreadPoolExecutor) -> None:
        started, tokens = time.perf_counter(), 0
        bar = tqdm(
            self._batches(stage), stage.name, initial=self.step, total=stage.steps, unit="step", dynamic_ncols=True
        )
        for batch in bar:
            loss = self._update(stage, batch, pool)
            self.step += 1
            self.average.update(self.net, self._steps_before() + self.step)
            tokens += sum(rows.weights.numel() for rows in batch)
            bar.set_postfix({"loss": f"{loss:.3f}", "tokens_s": f"{tokens / (time.perf_counter() - started):.0f}"})
            if self.step % self.settings.save_every == 0 or self.step == stage.steps:
                self._save(loss)

    def _update(self, stage: Stage, batch: Sequence[Rows], pool: ThreadPoolExecutor) -> float:
        """One step on a batch, which gives its loss before the step."""
        set_lr(self.optimisers, stage.lr_at(self.step))
        split = [rows.parts(self.settings.parts) for rows in batch]
        shares = [[parts[i] for parts in split if i < len(parts)] for i in range(self.settings.parts)]
        counted = sum(float(rows.weights.sum()) for rows in batch)
        done = list(pool.map(lambda net, share: self._backward(net, share, counted), self.replicas, shares))
        for weight, *copies in zip(*(net.parameters() for net in (self.net, *self.replicas)), strict=True):
            grads = [copy.grad for copy in copies if copy.grad is not None]  # none of an expert that no token went to
            weight.grad = torch.stack(grads).sum(0) if grads else None
        nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        list(pool.map(lambda optimiser: optimiser.step(), self.optimisers))
        balance.correct(self.net, [seen for _, runs in done for seen in runs])
        return sum(loss for loss, _ in done)

    def _backward(self, net: Any, share: Sequence[Rows], counted: float) -> tuple[float, list[balance.Seen]]:
        """A share's part of the batch's mean loss, and what routers did; its gradients are left in `net`."""
        net.zero_grad(set_to_none=True)
        total, runs = 0.0, []
        for rows in share:
            rows = rows.to(self.device)
            eager = self.device.type == "cpu" and rows.weights.shape[1] <= EAGER_UP_TO
            with torch.autocast(self.device.type, dtype=torch.bfloat16), balance.watched(net) as seen:
                loss = loss_of(lambda *texts, eager=eager: net(*texts, eager=eager), rows) / counted
            total += float(loss.detach())
            part = float(rows.weights.sum()) / counted
            (loss + part * balance.loss(net, seen)).backward()
            runs.append({name: value.detach() for name, value in seen.items()})
        return total, runs

    def _replica(self, build: Callable[[Any], Any]) -> Any:
        """A network whose weights are the trained one's own, with gradients to itself."""
        replica = build(self.settings.shape)
        for copy, weight in zip(replica.parameters(), self.net.parameters(), strict=True):
            copy.data = weight.data
        return replica

    def _batches(self, stage: Stage) -> Iterator[Sequence[Rows]]:
        """What each step sees: rows of one width; for a network that reads with an encoder, groups of documents."""
        start = start_of(self.settings.shape)
        for step in range(self.step, stage.steps):
            seed = self._seed(step)
            if start is None:
                yield [pack_rows(self.tokenizer, stage, seed)]
            else:
                yield pack_pairs(self.tokenizer, stage, seed, start)

    def _seed(self, step: int) -> int:
        """The seed of a batch's documents, another for every step of every stage."""
        return (self.settings.seed * 100 + self.stage) * 1_000_003 + step

    def _steps_before(self) -> int:
        return sum(earlier.steps for earlier in self.settings.stages[: self.stage])

    def _tokenizer(self, given: Tokenizer | None) -> Tokenizer:
        """Of the run to be resumed, the one given, or a new one."""
        path = self.out / "tokenizer.json"
        if not (self.state_file.is_file() and path.is_file()):
            self.out.mkdir(parents=True, exist_ok=True)
            back_end = given.back_end if given else train_tokenizer(self.settings.shape.vocab_size, self.settings.seed)
            back_end.save(str(path))
        return Tokenizer.from_file(path)

    def _save(self, loss: float) -> None:
        state = {
            "settings": self._done(),
            "stage": self.stage,
            "step": self.step,
            "net": self.net.state_dict(),
            "average": self.average.net.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }
        stage = self.settings.stages[self.stage]
        before = sum(earlier.tokens for earlier in self.settings.stages[: self.stage])
        line = {
            "stage": stage.name,
            "step": self.step,
            "tokens": before + self.step * stage.batch_size * stage.context,
            "loss": round(loss, 4),
            "heldout": round(heldout_loss(self.average.net, self.tokenizer), 4),
            "answers": heldout_answers(self.average.net, self.tokenizer),
        }
        partial = self.state_file.with_suffix(".part")  # a kill in the middle leaves the last state whole
        torch.save(state, partial)
        os.replace(partial, self.state_file)
        save_weights(unscale_scores(self.average.net, self.build, self.settings.shape), self.out)
        with (self.out / LOG).open("a") as log:
            log.write(json.dumps(line) + "\n")

    def _done(self, stage: int | None = None) -> dict[str, Any]:
        """The settings as far as they have had a say up to this stage: later stages may still change."""
        number = self.stage if stage is None else stage
        settings = asdict(self.settings)
        return settings | {"stages": settings["stages"][: number + 1]}

    def _resume(self) -> tuple[int, int]:
        """(stage, step) of the saved state, its weights taken over; the run's own beginning where there is none."""
        if not self.state_file.is_file():
            (self.out / LOG).unlink(missing_ok=True)
            return 0, 0
        state = torch.load(self.state_file, map_location=self.device, weights_only=True)
        if state["settings"] != self._done(state["stage"]):
            raise SystemExit(
                f"{self.state_file} belongs to a run with other settings; start again with those, or delete the file "
                "to begin anew."
            )
        self.net.load_state_dict(state["net"])
        self.average.net.load_state_dict(state["average"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        return state["stage"], state["step"]


def keep_memory() -> None:
    """Have glibc keep what a step has freed for the next one: asking the kernel anew takes a third of the time."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        for option, value in ((-4, 0), (-1, 2**31 - 1), (-8, 1)):  # M_MMAP_MAX, M_TRIM_THRESHOLD, M_ARENA_MAX
            getattr(libc, "mallopt", lambda *_: 0)(option, value)

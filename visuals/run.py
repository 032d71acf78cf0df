"""A run, and the steps of a text that is being written, put together as the messages that the page opens them from."""

from collections.abc import Sequence
from typing import Protocol

import torch

from model import LayerTrace, Step, Trace
from model.sampling import Candidates, candidates

from .messages.run import Changes, NextMessage, RunMessage, StepsMessage
from .payload import (
    About,
    Pieces,
    layer_payload,
    next_payload,
    run_payload,
    source_payload,
    step_payload,
    steps_payload,
    truncate_candidates,
)

RUN_CANDIDATES = 64
STEP_CANDIDATES = 20
STEPS_A_MESSAGE = 32


class Run(Protocol):
    """A run that is held (app/session.py); `steps` are its tokens from n_prompt on, as far as they are known."""

    @property
    def id(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def n_prompt(self) -> int: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def steps(self) -> Sequence[Step]: ...
    @property
    def seconds(self) -> float: ...
    @property
    def changes(self) -> Changes: ...
    @property
    def source(self) -> "Run | None": ...
    def chose(self, step: int) -> bool: ...


def run_message(run: Run, about: About, pieces: Pieces, index: int, layer: LayerTrace) -> RunMessage:
    """A run, with its layer `index` and there the neurons of its last token; `pieces` names token ids."""
    offered = candidates(torch.from_numpy(run.trace.logits), RUN_CANDIDATES)
    return run_payload(
        run.id,
        run.prompt,
        run.n_prompt,
        about,
        run.trace,
        offers(offered, about, pieces),
        layer_payload(run.id, index, len(run.trace.token_ids) - 1, layer, run.trace.network.ffn[index]),
        [step_payload(i, step, pieces([step.token_id])[0], own=run.chose(i)) for i, step in enumerate(run.steps)],
        run.seconds,
        run.changes,
        None if run.source is None else source_payload(run.source.id, about, run.source.trace, run.source.changes),
    )


def steps_message(run_id: str, steps: Sequence[Step], about: About, pieces: Pieces) -> StepsMessage:
    """The last few steps, and the candidates of the last: a page that misses one message has it from the next."""
    first = max(0, len(steps) - STEPS_A_MESSAGE)
    following = offers(truncate_candidates(steps[-1].candidates, STEP_CANDIDATES), about, pieces)
    told = [
        step_payload(i, steps[i], pieces([steps[i].token_id])[0], following if i == len(steps) - 1 else None)
        for i in range(first, len(steps))
    ]
    return steps_payload(run_id, told)


def offers(offered: Candidates, about: About, pieces: Pieces) -> NextMessage:
    """Candidates for the next token under their pieces."""
    return next_payload(offered, pieces(offered.ids.tolist()), about.config.vocab_size)

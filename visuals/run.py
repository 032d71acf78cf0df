"""A run, and the steps of a text that is being written, put together as the messages that the page opens them from."""

from collections.abc import Sequence
from typing import Protocol

import torch

from model import LanguageModel, Step, Trace
from model.analysis.neurons import neurons_of
from model.sampling import Candidates, candidates

from .messages.run import Changes, LayerMessage, NeuronsMessage, NextMessage, RunMessage, StepsMessage
from .payload import (
    About,
    Pieces,
    layer_payload,
    neurons_payload,
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


def layer_messages(
    _lm: LanguageModel, trace: Trace, run_id: str, indices: Sequence[int], token: int
) -> list[LayerMessage]:
    """Some layers of a run, and in each the neurons of one token."""
    return [layer_payload(run_id, i, token, trace.layer(i), trace.network.ffn[i]) for i in indices]


def neurons_message(_lm: LanguageModel, trace: Trace, run_id: str, index: int, token: int | None) -> NeuronsMessage:
    """All neurons of a layer at one token; at every token where that is None."""
    return neurons_payload(run_id, index, token, neurons_of(trace.layer(index), trace.network.ffn[index]))


def run_message(run: Run, about: About, pieces: Pieces, layer: LayerMessage) -> RunMessage:
    """A run, with one of its layers; `pieces` names token ids."""
    offered = candidates(torch.from_numpy(run.trace.logits), RUN_CANDIDATES)
    return run_payload(
        run.id,
        run.prompt,
        run.n_prompt,
        about,
        run.trace,
        offers(offered, about, pieces),
        layer,
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

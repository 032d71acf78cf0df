"""python -m model.bench: speed and memory of the model as ratios against a peer, measured in one run.

Peers are transformers (eager where it must show attention weights) and our own plain forward pass. Rounds of both sides
alternate, so that a busy machine slows both alike, and a ratio is that of the medians. What a process did before
decides whether its heap keeps the large arrays that transformers frees or asks the system for them anew in every pass,
which moves the peer's time by a third: so each part is measured in fresh processes of its own, and a figure is the
median of what they found. Weights are random, in the shape of the bundled model; `--long` takes SmolLM2's (`make
smollm2`). Needs transformers (requirements-dev.txt); memory needs Linux.
"""

import argparse
import json
import logging
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import torch

from .analysis.attention_map import attention_map
from .analysis.circuit import circuit
from .analysis.effects import effects
from .analysis.paths import edges
from .analysis.score_terms import score_terms
from .checkpoint import BUNDLED, LanguageModel, load, save_weights
from .config import LlamaConfig
from .generation import generate
from .llama import Llama
from .smollm2 import WEIGHTS
from .trace import Trace, run_trace
from .train.zoo import ZOO

TRACE_TOKENS, PROMPT_TOKENS, NEW_TOKENS, WHY_TOKENS, LONG_TOKENS = 512, 32, 64, 64, 8192
WHY_BARS = (10.0, 20.0, 45.0, 1.0)  # times a forward and a backward pass over the same tokens
FAMILY_BARS = (0.8, 1.3)  # of tracing, a share of the peer's time; of decoding, times its tokens a second
DECODERS = sorted(one.parent for one in ZOO.glob("*/config.json") if one.parent.name != "t5")


class Figure(NamedTuple):
    """One line of a report: `value` must not pass `bar` (sign "≤") or must reach it ("≥")."""

    what: str
    value: float
    sign: str
    bar: float

    @property
    def met(self) -> bool:
        return self.value <= self.bar if self.sign == "≤" else self.value >= self.bar

    def __str__(self) -> str:
        verdict = "met" if self.met else "NOT met"
        return f"{self.what:<78} {self.value:>9.3g}  {self.sign} {self.bar:<6g} {verdict}"


Part = Callable[[int], list[Figure]]  # from the number of rounds


def main() -> int:
    """Print every figure beside its bar; the exit status is 1 if one is not met."""
    parser = argparse.ArgumentParser(prog="python -m model.bench", description="Speed and memory, as ratios to a peer.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each side (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=5, help="fresh processes (default: %(default)s)")
    parser.add_argument("--families", action="store_true", help="the small networks of model/zoo in place of all else")
    parser.add_argument("--long", action="store_true", help="the memory of a long text's trace in place of all else")
    args = parser.parse_args()
    if args.long and not WEIGHTS.is_file():
        parser.error("--long needs the weights of SmolLM2: make smollm2")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {args.rounds} rounds in each process")
    if args.families:
        parts: list[Part] = [partial(family, directory=one) for one in DECODERS]
    elif args.long:
        parts = [long_text]
    else:
        parts = [partial(of_random_model, one) for one in (differences, tracing, decoding, explaining)]
    met = [report(same) for part in parts for same in zip(*in_fresh_processes(part, args), strict=True)]
    return int(not all(met))


def in_fresh_processes(part: Part, args: argparse.Namespace) -> list[list[Figure]]:
    """The figures of one part, from each of its processes; they run one after another."""
    spawn = get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn, max_tasks_per_child=1) as fresh:
        return list(fresh.map(measure, [part] * args.processes, [args.rounds] * args.processes))


def report(figures: Sequence[Figure]) -> bool:
    """Print one figure: its median, its bar, and how far the processes differ; True if the bar is met."""
    values = [figure.value for figure in figures]
    middle = figures[0]._replace(value=statistics.median(values))
    print(f"{middle!s:<110} {min(values):.3g} to {max(values):.3g}")
    return middle.met


def family(rounds: int, directory: Path) -> list[Figure]:
    """Tracing and decoding of one of the small networks, which each has a Python of its own in transformers."""
    lm = load(directory)
    measured = [tracing(lm, str(directory), rounds)[0], decoding(lm, str(directory), rounds)[0]]
    return [
        one._replace(what=f"{directory.name}: {one.what}", bar=bar)
        for one, bar in zip(measured, FAMILY_BARS, strict=True)
    ]


def of_random_model(part: Callable[[LanguageModel, str, int], list[Figure]], rounds: int) -> list[Figure]:
    """The figures of one part, of a network of the bundled shape."""
    with tempfile.TemporaryDirectory() as directory:
        return part(random_model(Path(directory)), directory, rounds)


def measure(part: Part, rounds: int) -> list[Figure]:
    """The figures of one part, measured in this process."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    return part(rounds)


def bundled_config() -> LlamaConfig:
    """The shape of the bundled model."""
    return LlamaConfig.from_hf(json.loads((BUNDLED / "config.json").read_text(encoding="utf-8")))


def random_model(directory: Path) -> LanguageModel:
    """A model of the bundled shape with random weights (norms too), loaded from `directory`, as the peer is."""
    config = bundled_config()
    net = Llama(config).requires_grad_(False)
    random = torch.Generator().manual_seed(0)
    for weight in net.parameters():
        if weight.dim() == 1:
            weight.copy_(torch.rand(weight.shape, generator=random) + 0.5)
        else:
            weight.copy_(torch.randn(weight.shape, generator=random) * weight.shape[1] ** -0.5)
    for name, weight in net.named_parameters():
        if name.endswith(("o_proj.weight", "down_proj.weight")):  # 2·L outputs add up: the residual stream stays near 1
            weight.mul_((2 * config.n_layers) ** -0.5)
    save_weights(net, directory, torch.float32)
    shutil.copy(BUNDLED / "tokenizer.json", directory)
    return load(directory)


def differences(lm: LanguageModel, directory: str, rounds: int) -> list[Figure]:
    """Largest absolute differences from transformers, float32; one round is as good as many."""
    ids = _ids(TRACE_TOKENS)
    peer = _peer(directory, "eager")
    with torch.inference_mode():
        theirs = peer(ids, output_attentions=True, output_hidden_states=True)
        logits = float((lm.net(ids) - theirs.logits).abs().max())
    trace = run_trace(lm, ids[0].tolist())
    hidden = max(
        float((torch.from_numpy(trace.residual[i]) - theirs.hidden_states[i][0]).abs().max())
        for i in range(trace.n_layers)  # transformers' last entry is after the final norm
    )
    weights = max(
        float((torch.from_numpy(trace.layer(i).attention) - theirs.attentions[i][0]).abs().max())
        for i in range(trace.n_layers)
    )
    return [
        Figure("logits: largest difference from transformers", logits, "≤", 1e-5),
        Figure("hidden states: largest difference from transformers", hidden, "≤", 1e-5),
        Figure("attention weights: largest difference from transformers", weights, "≤", 1e-5),
    ]


def tracing(lm: LanguageModel, directory: str, rounds: int) -> list[Figure]:
    """run_trace at 512 tokens, against transformers with its weights shown and against our own plain forward pass."""
    ids = _ids(TRACE_TOKENS)
    peer = _peer(directory, "eager")
    held: list[Trace] = []

    def traced() -> None:
        held[:] = [run_trace(lm, ids[0].tolist())]

    traced_s, peer_s, plain_s = _medians(
        rounds,
        traced,
        torch.inference_mode()(lambda: peer(ids, output_attentions=True, output_hidden_states=True)),
        torch.inference_mode()(lambda: lm.net(ids)),
    )
    peer_name = "transformers eager, attentions and hidden states"
    return [
        Figure(f"run_trace({TRACE_TOKENS}) time / {peer_name}", traced_s / peer_s, "≤", 0.55),
        Figure(f"run_trace({TRACE_TOKENS}) time / our plain forward", traced_s / plain_s, "≤", 1.15),
        Figure("MB held by that trace", held[0].nbytes / 1e6, "≤", 20),
    ]


def long_text(rounds: int) -> list[Figure]:
    """The most memory that tracing 8,192 tokens of SmolLM2 takes beyond the weights; one round is as good as many."""
    lm = load(WEIGHTS)
    run_trace(lm, [1] * 64)
    Path("/proc/self/clear_refs").write_text("5")  # the process's high-water mark is what it holds now
    before = _memory("VmRSS")
    trace = run_trace(lm, [number % 97 + 1 for number in range(LONG_TOKENS)])
    taken = _memory("VmHWM") - before
    attention_map(trace, lm.config.n_layers // 2)
    with_map, stream = _memory("VmHWM") - before, trace.residual.nbytes
    name = f"run_trace({LONG_TOKENS}) of SmolLM2: memory at most / its residual stream"
    return [
        Figure(name, taken / stream, "≤", 2.0),
        Figure("with the map of a layer's heads, of tiles / the same", with_map / stream, "≤", 2.0),
    ]


def _memory(field: str) -> int:
    """Bytes of this process, as Linux counts them: `VmRSS`, now, or `VmHWM`, at most."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def decoding(lm: LanguageModel, directory: str, rounds: int) -> list[Figure]:
    """Greedy tokens per second with every step recorded, against transformers' generate."""
    ids = _ids(PROMPT_TOKENS)
    peer = _peer(directory)
    endless = replace(lm, config=replace(lm.config, eos_ids=()))  # so that both write as many tokens
    ours_s, peer_s = _medians(
        rounds,
        lambda: list(generate(endless, ids[0].tolist(), max_new_tokens=NEW_TOKENS)),
        lambda: peer.generate(ids, max_new_tokens=NEW_TOKENS, do_sample=False, eos_token_id=None, pad_token_id=0),
    )
    return [Figure(f"tokens/s, {NEW_TOKENS} after {PROMPT_TOKENS}, greedy / transformers", peer_s / ours_s, "≥", 1.8)]


def explaining(lm: LanguageModel, directory: str, rounds: int) -> list[Figure]:
    """The analyses of why at 64 tokens, against transformers' forward and backward pass over the same tokens.

    A random model's circuits explain nothing, but take as long as those of a trained one.
    """
    ids = _ids(WHY_TOKENS)
    peer = _peer(directory, "eager").requires_grad_(False)
    trace = run_trace(lm, ids[0].tolist())
    other = _other_answer(lm, ids[0].tolist(), int(trace.logits.argmax()))
    found = circuit(lm, trace.token_ids, other, nodes=20)
    layer, last = trace.n_layers - 1, WHY_TOKENS - 1

    def both_ways() -> None:
        embedded = peer.get_input_embeddings()(ids).requires_grad_(True)
        peer(inputs_embeds=embedded).logits[0, -1].max().backward()

    rounds = max(3, rounds // 5)
    peer_s, *ours = _medians(
        rounds,
        both_ways,
        lambda: effects(run_trace(lm, trace.token_ids)),
        lambda: circuit(lm, trace.token_ids, other, nodes=20),
        lambda: list(edges(found.pair, found.nodes)),
        lambda: score_terms(trace, layer, 0, last, last // 2),
    )
    names = ("first explanation", "circuit of 20 nodes", "its edges", "one score's terms")
    return [
        Figure(f"{name}, {WHY_TOKENS} tokens: time / transformers forward and backward", seconds / peer_s, "≤", bar)
        for name, seconds, bar in zip(names, ours, WHY_BARS, strict=True)
    ]


def _other_answer(lm: LanguageModel, ids: list[int], answer: int) -> list[int]:
    """The same tokens but for one of the last, after which another token is the most probable."""
    for token in range(1, lm.config.vocab_size):
        changed = [*ids[:-4], token, *ids[-3:]]
        if int(run_trace(lm, changed).logits.argmax()) != answer:
            return changed
    raise ValueError("no change of one token changes this model's answer")


def _ids(count: int) -> torch.Tensor:
    return torch.randint(1, bundled_config().vocab_size, (1, count), generator=torch.Generator().manual_seed(2))


def _peer(directory: str, attention: str | None = None) -> Any:
    """transformers' network of a directory, with the attention that it chooses itself (scaled_dot_product_attention
    where it has that) or the one that is named."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(directory, attn_implementation=attention, dtype=torch.float32).eval()


def _medians(rounds: int, *sides: Callable[[], object]) -> list[float]:
    """Median seconds of each side; the sides take turns."""
    seconds: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side()
    for _ in range(rounds):
        for taken, side in zip(seconds, sides, strict=True):
            start = time.perf_counter()
            side()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in seconds]


if __name__ == "__main__":
    raise SystemExit(main())

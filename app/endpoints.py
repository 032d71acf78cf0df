"""The named endpoints /trace, /generate and /kv_cache: what programs call, through gradio_client or plain HTTP."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from typing import Any

import gradio as gr
import numpy as np
import torch

from model import GlassLlamaError, ModelSpec, catalogue
from model.kv_math import KvOptions, kv_breakdown
from model.kv_math.beside import CONTEXT_MIB, FRAGMENTATION_MIB
from model.kv_math.gpus import GPUS, Gpu, find_gpu, own_gpu
from model.kv_math.growth import kv_growth
from model.kv_math.memory import Setup, gpus_needed, largest_batch, largest_context, memory_use
from model.kv_math.options import options_from
from model.kv_math.options import refusal as kv_refusal
from model.kv_math.speed import decode_bound
from model.kv_math.weights import AS_CONFIG
from model.published.expected import expected
from model.published.hf_spec import spec_from_text
from model.refusals import refusal
from model.sampling import candidates

from .endpoint_answers import Candidate, GenerateAnswer, KvAnswer, MemoryAnswer, ModelAnswer, Product, TraceAnswer
from .engine import Engine
from .lookups import LOOKUPS
from .prompts import checked_ids
from .requests import count_of, settings_of
from .waiting import asker, is_abandoned

CANDIDATES = 10


def digits(array: np.ndarray) -> list[Any]:
    """A float32 array as nested lists, each number with the seven digits that float32 has."""
    return [digits(row) for row in array] if array.ndim > 1 else [float(f"{x:.7g}") for x in array]


def describe(engine: Engine) -> ModelAnswer:
    """The first model in a few words."""
    about = engine.about(engine.names[0])
    return {"name": about.name, "n_parameters": about.n_parameters, "device": about.device, "dtype": about.dtype}


def endpoints(engine: Engine) -> tuple[Callable, Callable, Callable]:
    """The functions behind /trace, /generate and /kv_cache; the first two run the first of the engine's models."""
    name = engine.names[0]

    def trace(prompt: str) -> TraceAnswer:
        """Run the model on a prompt and say what happened inside.

        Args:
            prompt: the text to run, up to 512 tokens.

        Returns:
            JSON with `model`, `token_ids`, `pieces`, `attn_norm_rms` and `ffn_norm_rms` (layers × tokens: what each
            norm divides by; null where there is no norm before the feed-forward), `final_norm_rms` (tokens), and
            `next`: the ten most probable next tokens, each with `id`, `piece`, `logit` and `probability` (over the
            whole vocabulary).
        """
        with public_errors():
            run = engine.asked_by(asker().address).trace(name, checked_ids(engine, name, prompt))
            run.check_finite()
        return {
            "model": describe(engine),
            "token_ids": run.token_ids,
            "pieces": run.pieces,
            "attn_norm_rms": digits(run.attn_norm_rms),
            "ffn_norm_rms": digits(run.ffn_norm_rms) if "ffn_norm_rms" in run.figures else None,
            "final_norm_rms": digits(run.final_norm_rms),
            "next": next_tokens(engine, name, run.logits),
        }

    def generate(
        prompt: str,
        max_new_tokens: int = 32,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
    ) -> GenerateAnswer:
        """Continue a prompt, one token at a time over the KV cache.

        Args:
            prompt: the text to continue, up to 512 tokens.
            max_new_tokens: how many tokens to add at most, 1 to 256.
            temperature: 0 always takes the most probable token; 1 draws from the model's own probabilities.
            top_k: draw from this many most probable tokens; 0 for all.
            top_p: draw from the most probable tokens that together reach this probability; 1 for all.
            seed: the same seed gives the same text again.

        Returns:
            JSON with `model`, `prompt`, `text` (what was added), `stop` (why it ended: "end_of_text", "max_context" or
            "max_new_tokens") and `steps`, each with `token_id`, `piece`, `probability`, `cache_bytes` and `seconds`.
        """
        with public_errors():
            given = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
            settings, count = settings_of(none_missing(given)), count_of(max_new_tokens)
            ids = checked_ids(engine, name, prompt)
            written = engine.asked_by(asker().address).generate(name, ids, count, settings)
            steps = list(takewhile(lambda _step: not is_abandoned(), written))
        pieces = engine.pieces(name, [step.token_id for step in steps])
        return {
            "model": describe(engine),
            "prompt": prompt,
            "text": "".join(step.text for step in steps),
            "stop": steps[-1].stop,
            "steps": [
                {
                    "token_id": step.token_id,
                    "piece": piece,
                    "probability": step.probability,
                    "cache_bytes": step.cache_bytes,
                    "seconds": step.seconds,
                }
                for step, piece in zip(steps, pieces, strict=True)
            ],
        }

    return trace, generate, kv_cache


def none_missing(given: dict[str, Any]) -> list[Any]:
    """The values. Raises GlassLlamaError for one that is null: a program that means the default leaves it out."""
    for name, value in given.items():
        if value is None:
            raise refusal(name, value, "a number, or the field left out")
    return list(given.values())


def kv_cache(
    model: str,
    tokens: int = 8192,
    batch: int = 1,
    dtype: str = "bf16",
    config: str = "",
    gpu: str = "",
    weights: str = AS_CONFIG,
    embeddings: str = "",
    usable_percent: float | None = None,
    memory_gb: int = 0,
    bandwidth_gb_per_s: int = 0,
    hub: str = "",
    options: dict | None = None,
    step_tokens: int | None = None,
    context_mib: int = CONTEXT_MIB,
    fragmentation_mib: int = FRAGMENTATION_MIB,
    weight_bytes: int | None = None,
    vllm: bool = False,
) -> KvAnswer:
    """Say how many bytes a model's KV cache takes, with every multiplication, and what fits on a GPU with the weights.

    Args:
        model: a name in the catalogue, such as "Llama-3 8B"; with config, a name of your own; with hub, nothing.
        tokens: tokens of each sequence.
        batch: sequences.
        dtype: how keys and values are stored, such as bf16, fp8 or q8_0; two formats of llama.cpp as K/V, such as
            q8_0/q4_0.
        config: the text of a Hugging Face config.json, or GGUF metadata as llama.cpp logs it, instead of a model of the
            catalogue; the answer to a model_type that is not read lists those that are.
        gpu: "B300", "B200", "H200", "H20", "H100", "A100 80", "A100 40", "L40S", "5090", "4090", "T4", "MI325X",
            "MI300X", "M3 Ultra" or "M4 Max": count the weights too, say what fits there.
        weights: with gpu, how the weights are stored, such as bf16, fp8 or int4_g128; "config", the default, is as the
            quantization_config of config or hub says (mxfp4, fp8, gptq, awq, bitsandbytes, compressed-tensors,
            modelopt), else in the number type that it names, else bf16. Where it says something that is not counted,
            `notes` says why.
        embeddings: with gpu, how the embedding tables are stored, where not as the weights' format has them.
        usable_percent: with gpu, how much of its memory weights and cache may take, in per cent such as 92.5, or up
            to 1 as a share such as 0.925, as --gpu-memory-utilization has it (vLLM's own rule is stricter: vllm).
            Left out, they may take what step_tokens, context_mib and fragmentation_mib leave of the memory. On an Apple
            chip at most 75 per cent count in either case.
        memory_gb: your own GPU instead of gpu: its memory in GB (10^9 bytes).
        bandwidth_gb_per_s: your own GPU: its memory bandwidth in GB/s.
        hub: OWNER/NAME on the Hugging Face Hub, whose config.json is read instead of a model of the catalogue.
        options: how the cache is kept, by name, such as {"tp": 8, "block_size": 16}: encoder_tokens, window,
            batched_tokens, block_size, shared_prefix, shared_layers, reserved_tokens, reserved_batch, tp, pp, dcp,
            layout, indexer, state, draft, mtp, prompt_tokens. `python -m model.kv_math --help` says what each means.
        step_tokens: with gpu, the tokens that a step reads at once: the activations are counted for them. Left out,
            8192 as in vLLM, on an Apple chip 512 as in llama.cpp.
        context_mib: with gpu, what CUDA's own context takes, in MiB.
        fragmentation_mib: with gpu, what fragmentation makes unusable, in MiB; with usable_percent, the rest of the
            share is left for it.
        weight_bytes: with gpu, the weights' bytes as the model's files have them (the total_size of
            model.safetensors.index.json), in the place of the count from its parameters.
        vllm: with usable_percent, count by vLLM's own rule for --gpu-memory-utilization: activations, context and CUDA
            graphs come out of the share as well, and the cache takes whole blocks where these are counted.

    Returns:
        JSON with `model`, `tokens`, `batch`, `dtype`, `bytes` (exact), `bytes_per_token` (what each further token of a
        sequence adds while every layer keeps it), `bytes_per_token_windows_full` (what it adds once every sliding
        window or chunk is full; the same in a model without them), `windows_full_at` (the token that fills the last of
        them; null without them), `products` (each with `what`, its multiplication as text, and `bytes`; they sum to
        the total), `bytes_per_gpu`, `notes` and `source`. With gpu also `memory` (where the config states what the
        weights are counted from; else a note names what it lacks): `gpu`, `gpus`, `decided_by` ("lines",
        "share" or "vllm"), `usable_bytes`, `kept_back` (what weights and cache may not take: `bytes`, `activations`,
        each with its multiplication, `context_bytes`, `fragmentation_bytes`, by vLLM's rule all that is outside the
        share; below 0, so much is lacking), `weights` (the format counted), `weights_bytes`, `weights_products`,
        `fits`, `free_bytes`, `largest_batch`, `largest_context` (null where the options fix it),
        `tokens_per_second_at_most` (of all sequences together, at one token a step for each: without a draft model or
        MTP; null where it does not fit) and `gpus_needed`: for each kind of GPU the count that bytes alone demand (null
        where the lines take all of one) and the fewest that fit.
    """
    with public_errors():
        spec, kept = chosen_spec(model, config, hub), chosen_options(options)
        device = chosen_gpu(gpu, memory_gb, bandwidth_gb_per_s)
        setup = Setup(
            dtype,
            weights,
            None if embeddings == "" else embeddings,
            kept,
            usable_percent,
            step_tokens=step_tokens,
            context_mib=context_mib,
            fragmentation_mib=fragmentation_mib,
            weight_bytes=weight_bytes,
            vllm=vllm,
        )
        breakdown = kv_breakdown(spec, tokens, batch, dtype, kept)
        *filling, full = kv_growth(breakdown.spec, breakdown.dtype, breakdown.options)
        answer: KvAnswer = {
            "model": breakdown.spec.name,
            "tokens": breakdown.tokens,
            "batch": breakdown.batch,
            "dtype": breakdown.dtype,
            "bytes": breakdown.total_bytes,
            "bytes_per_token": (filling or [full])[0].bytes,
            "bytes_per_token_windows_full": full.bytes,
            "windows_full_at": filling[-1].until if filling else None,
            "bytes_per_gpu": breakdown.per_gpu_bytes,
            "products": [product(term.label, term.factors, term.bytes) for term in breakdown.terms],
            "notes": [note.text for note in breakdown.notes] + (list(spec.notes) if config or hub else []),
            "source": list(breakdown.spec.source),
        }
        if device and (weight_bytes or not spec.unstated):  # else a note says why
            answer["memory"] = memory_answer(spec, tokens, batch, device, setup)
        return answer


def chosen_spec(model: str, config: str, hub: str) -> ModelSpec:
    """The model of a question: of the Hub, of a pasted config.json, else of the catalogue.

    Raises GlassLlamaError for a model of the Hub with another beside it.
    """
    if hub:
        if model or config:
            raise kv_refusal("hub", hub, "a model of the Hub alone, with model and config empty")
        return LOOKUPS.spec(hub)
    return spec_from_text(config, model or "Pasted config") if config else catalogue()[model]


def chosen_options(options: object) -> KvOptions:
    """How the cache is kept, by name. Raises GlassLlamaError for what is no object."""
    if not isinstance(options, Mapping | None):
        raise kv_refusal("options", options, expected("object"))
    return options_from(options or {})


def chosen_gpu(gpu: str, memory_gb: int, bandwidth_gb_per_s: int) -> Gpu | None:
    """The named GPU, else one's own where its figures are given, else none. Raises GlassLlamaError for both at once."""
    if gpu:
        if memory_gb or bandwidth_gb_per_s:
            raise kv_refusal("gpu", gpu, "a name, or memory_gb and bandwidth_gb_per_s for one's own, not both")
        return find_gpu(gpu)
    return own_gpu(memory_gb, bandwidth_gb_per_s) if memory_gb or bandwidth_gb_per_s else None


def product(what: str, factors: Iterable[object], count: int) -> Product:
    """One multiplication as text."""
    return {"what": what, "product": " × ".join(map(str, factors)), "bytes": count}


def memory_answer(spec: ModelSpec, tokens: int, batch: int, gpu: Gpu, setup: Setup) -> MemoryAnswer:
    """What fits on a GPU beside the weights, and how many GPUs of each kind the load needs."""
    use = memory_use(spec, tokens, batch, gpu, setup)
    bound = decode_bound(spec, tokens, batch, gpu, setup) if use.fits and not spec.unstated else None
    kept = setup.options
    kinds = [*GPUS, *([gpu] if gpu.own else [])]
    needs = gpus_needed(spec, batch, tokens, kinds, replace(setup, options=replace(kept, tp=1, pp=1, dcp=1)))
    fixed_context = kept.reserved_tokens or kept.prompt_tokens
    return {
        "gpu": use.gpu.name,
        "gpus": use.gpus,
        "decided_by": use.by,
        "usable_bytes": use.usable_bytes,
        "kept_back": {
            "bytes": use.kept_back,
            "activations": [product(term.label, term.factors, term.bytes) for term in use.beside.activations],
            "context_bytes": use.beside.context,
            "fragmentation_bytes": use.left_bytes,
        },
        "weights": use.weights.dtype,
        "weights_bytes": use.weights.total_bytes,
        "weights_products": [product(term.label, term.factors, term.bytes) for term in use.weights.terms],
        "fits": use.fits,
        "free_bytes": use.free_bytes,
        "largest_batch": None if kept.reserved_batch else largest_batch(spec, tokens, gpu, setup).value,
        "largest_context": None if fixed_context else largest_context(spec, batch, gpu, setup).value,
        "tokens_per_second_at_most": bound.batch_tokens_per_second if bound else None,
        "gpus_needed": [
            {"gpu": need.gpu.name, "at_least": need.at_least, "fits_on": need.use.gpus if need.use else None}
            for need in needs.gpus
        ],
    }


def next_tokens(engine: Engine, name: str, logits: np.ndarray) -> list[Candidate]:
    """The most probable next tokens with their logits and probabilities."""
    best = candidates(torch.from_numpy(logits), CANDIDATES)
    ids = best.ids.tolist()
    rows = zip(ids, engine.pieces(name, ids), best.logits.tolist(), best.probabilities.tolist(), strict=True)
    return [{"id": i, "piece": piece, "logit": logit, "probability": share} for i, piece, logit, share in rows]


@contextmanager
def public_errors() -> Iterator[None]:
    """A context in which a visitor's mistake becomes gradio's error, whose text reaches the caller."""
    try:
        yield
    except GlassLlamaError as error:
        raise gr.Error(str(error), print_exception=False) from error

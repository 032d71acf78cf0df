"""Show the code: the lines of `model/` that made the numbers of a panel, read from the files as they are.

What makes a captured tensor is found by its tap (visuals/tensors.py), so that each family shows its own code. What no
tap holds is named here, by panel.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES

import model
from model import cache as kv_cache
from model import kv_math, masks, positions, sampling
from model.analysis import (
    bpe,
    cacheless,
    causal_map,
    knock_out,
    lens,
    logit_terms,
    score_terms,
    stream,
    why,
)
from model.engine_logs import compared
from model.kv_math import growth, kinds, memory, speed
from model.network import Layer
from model.replaced import (
    activations,
    batch_norm,
    capacity,
    deep_norm,
    low_rank,
    norm_placement,
    norm_speed,
    pooled_heads,
    rms_outside,
    routing,
    scaled_scores,
    sinusoidal,
    sparse_attention,
    token_masks,
    width,
)

from .messages.code import CodeDetail, CodeExcerpt
from .tensors import Made, Source, made_by, source_of

# The parts of a layer whose own `forward` a panel is about: of whichever class a network has there.
PARTS: dict[str, tuple[str, ...]] = {
    "overview": ("",),
    "residual": ("",),
    "norm-vector": ("attn_norm",),
    "norm-scale": ("attn_norm",),
    "rmsnorm": ("attn_norm",),
    "norm-kinds": ("attn_norm",),
    "swiglu": ("ffn",),
    "ffn-token": ("ffn",),
    "attention": ("attn",),
    "qkv": ("attn",),
}
FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "why": (why.support, knock_out.knocked_out),
    "heads": (why.missed_heads,),
    "residual": (stream.stream_sizes,),
    "merges": (bpe.byte_pairs,),
    "norm-kinds": (
        batch_norm.batch_statistics,
        batch_norm.batch_norm,
        norm_speed.layer_norm_written,
        deep_norm.deep_norm,
        rms_outside.rms_norm_outside,
    ),
    "norm-placement": (norm_placement.chain, norm_placement.step, deep_norm.decoder_scales),
    "rope": (positions.rope_frequencies, positions.rotation, positions.rotate),
    "rope-score": (positions.rotate,),
    "rope-layout": (positions.rotate, positions.interleaved),
    "rope-scaling": (positions.rope_frequencies,),
    "position-kinds": (sinusoidal.sinusoidal_positions, positions.alibi_slopes, positions.buckets, positions.rotate),
    "rope-derivation": (positions.rotation, positions.rotate),
    "activation-kinds": (activations.gelu_sigmoid, activations.silu_slope, activations.relu_slope),
    "ffn-width": (width.llama_width,),
    "routing-kinds": (routing.switch, routing.gshard, capacity.capacity, capacity.fitting),
    "sqrt-d": (
        scaled_scores.weights_at,
        scaled_scores.softmax_gradient,
    ),
    "token-groups": (token_masks.group_mask,),
    "sparse-attention": (sparse_attention.index_scores, sparse_attention.index_target, sparse_attention.top_k_mask),
    "mask-kinds": (masks.causal_mask, masks.prefix_mask, masks.window_mask, token_masks.blank_infilling),
    "attention-kinds": (
        pooled_heads.pooled,
        pooled_heads.pooled_attention,
        low_rank.joint_directions,
        low_rank.Latents.forward,
    ),
    "score-terms": (score_terms.score_terms,),
    "next": (sampling.candidates,),
    "sampling": (sampling.filtered_logits, sampling.choose),
    "lens": (lens.logit_lens,),
    "contributions": (lens.contributions,),
    "logit-terms": (logit_terms.logit_terms,),
    "causal-map": (causal_map.causal_map,),
    "kv-live": (kv_cache.KVCache.write,),
    "kv-race": (cacheless.race, cacheless.multiply_adds),
    "kv-calculator": (kv_math.kv_cache_bytes, kv_math.kv_token_terms),
    "kv-kinds": (kinds.attention_kinds,),
    "kv-chart": (growth.kv_growth,),
    "kv-fit": (memory.memory_use, speed.decode_bound),
    "kv-log": (compared.compare,),
}
CODED = frozenset((*PARTS, *FUNCTIONS))


def code_payload(lm: model.LanguageModel, layer: int, panel: str, tensors: Sequence[str]) -> CodeDetail:
    """The code behind a panel of one layer: what makes those of its `tensors` that the network has, then the rest."""
    made = made_by(lm.net, layer)
    found: dict[Source, list[tuple[str, Made]]] = {}
    for name in tensors:
        if name in made:
            found.setdefault(made[name].source, []).append((name, made[name]))
    for source in _named(lm.net.block(layer), panel):
        found.setdefault(source, [])
    return {"excerpts": [_excerpt(source, makes) for source, makes in found.items()]}


def _named(block: Layer, panel: str) -> Iterator[Source]:
    for path in PARTS.get(panel, ()):
        yield source_of(type(block.get_submodule(path)).forward)
    for function in FUNCTIONS.get(panel, ()):
        yield source_of(function)


def _excerpt(source: Source, makes: Iterable[tuple[str, Made]]) -> CodeExcerpt:
    return {
        "name": source.name,
        "file": source.file,
        "first": source.first,
        "lines": _pieces(source),
        "makes": [{"tensor": name, "line": made.line} for name, made in makes],
    }


@cache
def _pieces(source: Source) -> list[list[tuple[str, str]]]:
    """The lines without the indent that all share, each as pieces of one kind."""
    indent = min(len(line) - len(line.lstrip()) for line in source.lines if line.strip())
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, text in PythonLexer(stripnl=False).get_tokens("\n".join(line[indent:] for line in source.lines)):
        for i, piece in enumerate(text.split("\n")):
            if i:
                lines.append([])
            if piece:
                lines[-1].append((STANDARD_TYPES.get(kind, ""), piece))
    return lines[: len(source.lines)]

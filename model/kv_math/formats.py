"""How many bytes a cached vector takes in each number format, block scales included. Pure integers."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..errors import GlassLlamaError
from ..published.expected import expected


@dataclass(frozen=True, kw_only=True)
class KvFormat:
    """One way to store a vector: `block_bytes` for every `block` elements, and `vector_extra` bytes once a vector.

    `engine` is "" for a plain number type, else the program whose format it is. `about` says what the bytes are, and
    `source` where that was read. A pair has the format of K in `k` and that of V in `v`; its own bytes are K's.
    """

    name: str
    block: int
    block_bytes: int
    vector_extra: int = 0
    about: str
    engine: str = ""
    source: str = ""
    k: "KvFormat | None" = None
    v: "KvFormat | None" = None

    @property
    def of_k(self) -> "KvFormat":
        """The format of K, and of what is neither K nor V alone, such as a latent."""
        return self.k or self

    @property
    def of_v(self) -> "KvFormat":
        """The format of V."""
        return self.v or self

    def vector_bytes(self, width: int) -> int:
        """Bytes of one vector of `width` elements. Raises GlassLlamaError where the width is not whole blocks."""
        if width % self.block:
            raise GlassLlamaError(
                "kv_format",
                f"dtype {self.name} stores blocks of {self.block} elements, which do not divide a vector of {width}; "
                f"expected a dtype without blocks, such as bf16 or fp8.",
                field="dtype",
                value=self.name,
                block=self.block,
                width=width,
            )
        return width // self.block * self.block_bytes + self.vector_extra

    def vector_formula(self, width: int) -> str:
        """How `vector_bytes` comes about, such as "128 / 32 × 34"."""
        blocks = f"{width} × {self.block_bytes}" if self.block == 1 else f"{width} / {self.block} × {self.block_bytes}"
        return blocks + (f" + {self.vector_extra}" if self.vector_extra else "")


_VLLM_CODE = "vLLM vllm/v1/kv_cache_interface.py"
_GGML = "ggml ggml-common.h"


def _ggml(name: str, block_bytes: int, about: str) -> KvFormat:
    return KvFormat(name=name, block=32, block_bytes=block_bytes, about=about, engine="llama.cpp", source=_GGML)


def _per_token_head(name: str) -> KvFormat:
    about = "1 byte an element and an fp32 scale per token and head"
    return KvFormat(name=name, block=1, block_bytes=1, vector_extra=4, about=about, engine="vLLM", source=_VLLM_CODE)


_ALL = (
    KvFormat(name="fp32", block=1, block_bytes=4, about="4 bytes an element"),
    KvFormat(name="fp16", block=1, block_bytes=2, about="2 bytes an element"),
    KvFormat(name="bf16", block=1, block_bytes=2, about="2 bytes an element"),
    KvFormat(name="fp8", block=1, block_bytes=1, about="1 byte an element; the scale per tensor is not counted"),
    KvFormat(name="int8", block=1, block_bytes=1, about="1 byte an element; no scale counted"),
    KvFormat(name="int4", block=2, block_bytes=1, about="2 elements a byte; no scale counted"),
    _per_token_head("fp8_per_token_head"),
    _per_token_head("int8_per_token_head"),
    KvFormat(
        name="nvfp4",
        block=16,
        block_bytes=9,
        about="16 4-bit elements and their fp8 scale",
        engine="vLLM",
        source=_VLLM_CODE,
    ),
    _ggml("q8_0", 34, "32 int8 elements and their fp16 scale"),
    _ggml("q5_1", 24, "32 5-bit elements, an fp16 scale and an fp16 least value"),
    _ggml("q5_0", 22, "32 5-bit elements and their fp16 scale"),
    _ggml("q4_1", 20, "32 4-bit elements, an fp16 scale and an fp16 least value"),
    _ggml("q4_0", 18, "32 4-bit elements and their fp16 scale"),
    _ggml("iq4_nl", 18, "32 4-bit places in a table of 16 values, and their fp16 scale"),
    KvFormat(
        name="hf_int4",
        block=64,
        block_bytes=36,
        about="64 4-bit elements with a scale and a shift of 16 bits each; the newest tokens stay in 16 bits",
        engine="transformers",
        source="transformers 5.23.0 QuantizedLayer with optimum-quanto 0.2.7",
    ),
    KvFormat(
        name="fp8_ds_mla",
        block=128,
        block_bytes=132,
        about="128 fp8 elements of the latent and their fp32 scale; the RoPE key stays in 16 bits",
        engine="vLLM",
        source="vLLM flashmla_sparse.py",
    ),
)
FORMATS: Mapping[str, KvFormat] = MappingProxyType({f.name: f for f in _ALL})
# Those that llama.cpp's --cache-type-k and --cache-type-v take, each for itself; other engines have one for both.
PAIRED = ("fp32", "fp16", "bf16", *(f.name for f in _ALL if f.engine == "llama.cpp"))


def _pair(k: str, v: str) -> KvFormat:
    own, of_v = FORMATS[k], FORMATS[v]
    about = f"K in {k}, V in {v}"
    return replace(own, name=f"{k}/{v}", k=own, v=of_v, about=about, engine="llama.cpp", source=_GGML)


# Every two of them, by the name that the two have together.
PAIRS: Mapping[str, KvFormat] = MappingProxyType(
    {pair.name: pair for pair in (_pair(k, v) for k in PAIRED for v in PAIRED if k != v)}
)
_SAME = {f"{name}/{name}": FORMATS[name] for name in PAIRED}  # K and V in one format

# The newest tokens of hf_int4 and the RoPE key of fp8_ds_mla.
SIXTEEN_BIT = FORMATS["bf16"]
INDEXER_FP8 = KvFormat(
    name="indexer_fp8",
    block=1,
    block_bytes=1,
    vector_extra=4,
    about="1 fp8 byte an element and an fp32 scale per token",
    source="DeepSeek-V3.2-Exp inference/model.py",
)


def kv_format(name: str) -> KvFormat:
    """The format called `name`, or one of PAIRS, such as "q8_0/q4_0".

    Raises GlassLlamaError, which lists them all and names the closest, for any other.
    """
    found = next((known[name] for known in (FORMATS, PAIRS, _SAME) if isinstance(name, str) and name in known), None)
    if found is None:
        raise _unknown(name)
    return found


def _unknown(name: object) -> GlassLlamaError:
    shown = f"{name!r:.60}" if isinstance(name, str) else f"of type {type(name).__name__}"
    right, known = {"expected": tuple(FORMATS)}, tuple(FORMATS)
    said = f"one of {', '.join(FORMATS)}"
    if isinstance(name, str) and "/" in name:
        pair = expected("pair", names=", ".join(PAIRED))
        right, known, said = pair.as_params(), tuple(PAIRS), str(pair)
    close = difflib.get_close_matches(name.lower()[:40], known, n=1) if isinstance(name, str) else []
    text = f"dtype is {shown}; expected {said}." + (f" Did you mean {close[0]}?" if close else "")
    return GlassLlamaError("kv_dtype", text, field="dtype", value=shown, **right)

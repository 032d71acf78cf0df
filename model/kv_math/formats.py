"""How many bytes a cached vector takes in each number format, block scales included. Pure integers."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..errors import GlassLlamaError


@dataclass(frozen=True, kw_only=True)
class KvFormat:
    """One way to store a vector: `block_bytes` for every `block` elements, and `vector_extra` bytes once a vector.

    `v` is the format of V where that is another (the format itself is then K's). `engine` is "" for a plain number
    type, else the program whose format it is. `about` says what the bytes are, and `source` where that was read.
    """

    name: str
    block: int
    block_bytes: int
    vector_extra: int = 0
    about: str
    engine: str = ""
    source: str = ""
    v: "KvFormat | None" = None

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
    # Those that llama.cpp's --cache-type-k and --cache-type-v take.
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
_BY_NAME = {f.name: f for f in _ALL}


def _pair(k: str, v: str) -> KvFormat:
    """K in one format and V in another, as --cache-type-k and --cache-type-v set them apart."""
    own = _BY_NAME[k]
    about = f"K in {k}, V in {v}"
    return replace(own, name=f"{k}/{v}", v=_BY_NAME[v], about=about, engine="llama.cpp", source=_GGML)


_PAIRS = (_pair("fp16", "q8_0"), _pair("q8_0", "fp16"), _pair("q8_0", "q5_1"), _pair("q8_0", "q4_0"))
FORMATS: Mapping[str, KvFormat] = MappingProxyType(_BY_NAME | {f.name: f for f in _PAIRS})

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
    """The format called `name`. Raises GlassLlamaError, which lists them all and names the closest, for any other."""
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    close = difflib.get_close_matches(name.lower()[:40], FORMATS, n=1) if isinstance(name, str) else []
    shown = f"{name!r:.60}" if isinstance(name, str) else f"of type {type(name).__name__}"
    raise GlassLlamaError(
        "kv_dtype",
        f"dtype is {shown}; expected one of {', '.join(FORMATS)}." + (f" Did you mean {close[0]}?" if close else ""),
        field="dtype",
        value=shown,
        expected=tuple(FORMATS),
    )

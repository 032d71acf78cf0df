"""What the page asks the KV-cache calculators, one pydantic model for each question.

What `model/kv_math` checks by itself is checked by the same function here, so that both refuse it in the same words.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, ValidationInfo, model_validator

from model import ModelSpec, catalogue
from model.kv_math import KvOptions
from model.kv_math.beside import CONTEXT_MIB, FRAGMENTATION_MIB, MAX_MIB
from model.kv_math.formats import kv_format
from model.kv_math.gpus import MAX_GB, Gpu, find_gpu, own_gpu
from model.kv_math.memory import Setup
from model.kv_math.options import MAX_BATCH, MAX_TOKENS, options_from, percentage, whole
from model.kv_math.weights import AS_CONFIG, MAX_BYTES, weight_format
from model.published.expected import any_of, expected
from model.published.hf_spec import PASTED as UNNAMED
from model.published.hf_spec import spec_from_text

from ..fields import Flag, Request, Text, TokenId, among, checked, is_object, listed, text, wrong
from ..lookups import LOOKUPS
from ..requests import ANY

OWN_CONFIG, OWN_HUB, OWN_GPU = ":config", ":hub", ":gpu"
PASTED = "text:kv.pasted"  # what a pasted config is called: a key of the page's texts
OPTIONS = tuple(field.name for field in fields(KvOptions))
MOST_PLACES = 200
MAX_CALLED = 60  # characters of a reader's name for a pasted config
# Each question that has sliders, and the settings that they move.
SIZE, LOAD = ("tokens", "batch"), ("users", "user_tokens")
SLIDERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"kv": SIZE, "kv_chart": SIZE, "kv_fit": SIZE, "kv_needs": LOAD}
)


def _model_name(_name: str, value: Any) -> str:
    return value if value in (OWN_CONFIG, OWN_HUB) else catalogue()[value].name


def _options(_name: str, value: Any) -> KvOptions:
    return options_from(value)


def _cache_format(_name: str, value: Any) -> str:
    return kv_format(value).name


def _weight_format(name: str, value: Any) -> str:
    return value if value == AS_CONFIG else weight_format(name, value).name


def _head_count(_name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(expected("whole_from", low=1))
    return value


def _slider(value: object, info: ValidationInfo) -> str:
    moved = SLIDERS.get(info.data.get("asked", ""), ())
    if not isinstance(value, str) or value not in moved:
        raise wrong(any_of(moved))
    return value


def _count(low: int, high: int) -> PlainValidator:
    return checked(lambda name, value: whole(name, value, low, high))


Tokens = Annotated[int, _count(1, MAX_TOKENS)]
Batch = Annotated[int, _count(1, MAX_BATCH)]
Mebibytes = Annotated[int, _count(0, MAX_MIB)]
Gigabytes = Annotated[int, _count(1, MAX_GB)]
NONE = Field(default_factory=list)
Axis = Annotated[Literal["log", "linear"], among(("log", "linear"))]


class OfSpec(Request):
    """A model: a name in the catalogue, OWN_CONFIG with a pasted `config`, or OWN_HUB with an id in `hub`.

    A pasted one is called `config_name`, where that is not empty.
    """

    code: ClassVar[str] = "kv_value"

    model: Annotated[str, checked(_model_name)]
    config: Text = ""
    config_name: Annotated[str, text(MAX_CALLED)] = ""
    hub: Text = ""

    def spec(self) -> ModelSpec:
        """What is known of it. Raises GlassLlamaError for what cannot be read or reached."""
        if self.model == OWN_CONFIG:
            return _renamed(self.config, self.config_name.strip())
        return LOOKUPS.spec(self.hub) if self.model == OWN_HUB else catalogue()[self.model]

    def own_name(self) -> str | None:
        """What a pasted config calls itself, for the files that are saved; None where it has no name, or is none."""
        if self.model != OWN_CONFIG:
            return None
        name = self.config_name.strip() or _pasted(self.config).name
        return None if name == UNNAMED else name


class OfCache(OfSpec):
    """How its cache is kept: the number format, and each of OPTIONS by its name."""

    options: Annotated[KvOptions, checked(_options)]
    dtype: Annotated[str, checked(_cache_format)] = "bf16"

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: object) -> object:
        """The options together, in one field."""
        if not is_object(data):
            return data
        return {**data, "options": {name: data[name] for name in OPTIONS if name in data}}


class OfSize(OfCache):
    """A cache of `batch` sequences of `tokens` tokens."""

    tokens: Tokens = 8192
    batch: Batch = 1


class Breakdown(OfSize):
    """`n_kv_heads` are those of GQA, where the four kinds of attention are compared.

    `compared`: the model stands beside another one, whose options these are.
    """

    compared: Flag = False
    n_kv_heads: Annotated[int, checked(_head_count)] | None = None


class Chart(OfSize):
    """Bytes against context ("lines"), or what takes them ("stack"): of this model and of those in `compare`.

    `weights`: count them as well; `few`: a chart of few bars, for a narrow screen.
    """

    compare: Annotated[list[str], listed("{name}: expected a list of models.", MAX_BATCH, of=str), NONE]
    view: Annotated[Literal["lines", "stack"], among(("lines", "stack"))] = "lines"
    unit: Annotated[Literal["gib", "gb"], among(("gib", "gb"))] = "gib"
    x: Axis = "log"
    y: Axis = "log"
    weights: Flag = False
    few: Flag = False


class OnGpu(OfCache):
    """Weights and cache on a GPU: a name in GPUS, or OWN_GPU with its figures. `usable_percent` and what follows it
    decide how much of its memory they may take, as in Setup."""

    gpu: Text = "H100 80 GB"
    memory_gb: Gigabytes = 0  # less than any GPU has: own_gpu says so where one's own GPU comes without figures
    bandwidth_gb_per_s: Gigabytes = 0
    weights: Annotated[str, checked(_weight_format)] = AS_CONFIG
    embeddings: Annotated[str, checked(_weight_format)] | None = None
    usable_percent: Annotated[int | Fraction, checked(percentage)] | None = None
    step_tokens: Tokens | None = None
    context_mib: Mebibytes = CONTEXT_MIB
    fragmentation_mib: Mebibytes = FRAGMENTATION_MIB
    weight_bytes: Annotated[int, _count(1, MAX_BYTES)] | None = None
    vllm: Flag = False

    def device(self) -> Gpu:
        """The GPU. Raises GlassLlamaError for an unknown name, and for one's own without figures."""
        return own_gpu(self.memory_gb, self.bandwidth_gb_per_s) if self.gpu == OWN_GPU else find_gpu(self.gpu)

    def setup(self) -> Setup:
        """Formats, options, and what decides how much of the memory may be taken."""
        return Setup(
            self.dtype,
            self.weights,
            self.embeddings,
            self.options,
            self.usable_percent,
            step_tokens=self.step_tokens,
            context_mib=self.context_mib,
            fragmentation_mib=self.fragmentation_mib,
            weight_bytes=self.weight_bytes,
            vllm=self.vllm,
        )


class Fit(OnGpu, OfSize):
    """What fits on the GPU beside the weights."""


class Load(OnGpu):
    """What `users` with `user_tokens` tokens each need."""

    users: Batch = 64
    user_tokens: Tokens = 32_768


class Places(OfSpec):
    """A slider's places: `values` of the setting `along`, for the question `asked`."""

    asked: Annotated[str, among(SLIDERS)]
    along: Annotated[str, PlainValidator(_slider)]
    values: Annotated[list[object], listed("{name}: expected 1 to {most} numbers.", MOST_PLACES, least=1)]


class Race(Request):
    """The text of a race, as token ids."""

    ids: Annotated[list[TokenId], listed("{name}: expected a list of token ids.", ANY)]


@lru_cache(maxsize=64)
def _renamed(config: str, called: str) -> ModelSpec:
    return replace(_pasted(config), name=called or PASTED)


@lru_cache(maxsize=64)
def _pasted(text: str) -> ModelSpec:
    return spec_from_text(text)

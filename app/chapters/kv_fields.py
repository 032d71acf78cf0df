"""What the page sends to the KV-cache chapter's calculators, read field by field."""

from dataclasses import fields, replace
from functools import lru_cache

from model import GlassLlamaError, ModelSpec, catalogue
from model.errors import shortly
from model.kv_math import KvOptions
from model.kv_math.gpus import Gpu, find_gpu, own_gpu
from model.kv_math.memory import USABLE_PERCENT, Setup
from model.kv_math.options import options_from
from model.kv_math.weights import AS_CONFIG
from model.published.hf_spec import PASTED as UNNAMED
from model.published.hf_spec import spec_from_text

from ..lookups import LOOKUPS
from ..requests import Sent

OWN_CONFIG, OWN_HUB, OWN_GPU = ":config", ":hub", ":gpu"
PASTED = "text:kv.pasted"  # what a pasted config is called: a key of the page's texts
OPTIONS = tuple(field.name for field in fields(KvOptions))


def spec_from(data: Sent) -> ModelSpec:
    """The model of a question: a known name, or OWN_CONFIG with a pasted `config`, or OWN_HUB with an id in `hub`.

    Raises GlassLlamaError for what cannot be read or reached.
    """
    name = data.get("model")
    if name == OWN_CONFIG:
        return _renamed(words(data, "config"))
    return LOOKUPS.spec(words(data, "hub")) if name == OWN_HUB else catalogue()[str(name)]


def words(data: Sent, name: str) -> str:
    """The field `name`, a text; "", which its reader refuses, where it is none."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=64)
def _renamed(text: str) -> ModelSpec:
    return replace(_pasted(text), name=PASTED)


@lru_cache(maxsize=64)
def _pasted(text: str) -> ModelSpec:
    return spec_from_text(text)


def own_name(data: Sent) -> str | None:
    """What a pasted config calls itself, for the files that are saved; None where it has no name, or is none."""
    name = _pasted(words(data, "config")).name if data.get("model") == OWN_CONFIG else UNNAMED
    return None if name == UNNAMED else name


def asked_options(data: Sent) -> KvOptions:
    """The options of a question; what is absent or null keeps its default."""
    return options_from({name: data[name] for name in OPTIONS if name in data})


def size_from(data: Sent) -> Sent:
    """tokens, batch and dtype of a question, as they were sent."""
    return {"tokens": data.get("tokens", 8192), "batch": data.get("batch", 1), "dtype": data.get("dtype", "bf16")}


def choice_from(data: Sent, name: str, choices: tuple[str, ...]) -> str:
    """The field `name`, the first choice where it is absent. Raises GlassLlamaError for anything else."""
    value = data.get(name) or choices[0]
    if value not in choices:
        raise GlassLlamaError("kv_value", f"{name} is {shortly(value)}; expected {' or '.join(choices)}.", field=name)
    return value


def gpu_from(data: Sent) -> Gpu:
    """The GPU of a question: a name, or OWN_GPU with `memory_gb` and `bandwidth_gb_per_s`."""
    if data.get("gpu") == OWN_GPU:
        return own_gpu(data.get("memory_gb", 0), data.get("bandwidth_gb_per_s", 0))
    return find_gpu(data.get("gpu", "H100 80 GB"))


def setup_from(data: Sent) -> Setup:
    """Formats, options and usable percent of a question."""
    percent = data.get("usable_percent", USABLE_PERCENT)
    formats = {"dtype": data.get("dtype", "bf16"), "weights": data.get("weights") or AS_CONFIG}
    formats["embeddings"] = data.get("embeddings") or None
    return Setup(**formats, options=asked_options(data), usable_percent=percent)

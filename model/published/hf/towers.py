"""Files of models that see: the text model stands under text_config, the tower beside it is not counted."""

from .class_heads import text_part
from .deepseek import deepseek_mla
from .dense import windowed
from .fields import Fields
from .llama_like import mistral, outer, qwen
from .shape import Shape

_MISTRALS = ("mistral", "ministral3")
_KIMIS = ("kimi_k2", "deepseek_v3")


def mistral3(f: Fields) -> Shape:
    """Mistral Small 3.1 and later, Ministral 3."""
    text = text_part(f, *_MISTRALS)
    return outer(f, text, (mistral if text.raw["model_type"] == "mistral" else windowed)(text))


def kimi_k25(f: Fields) -> Shape:
    text = text_part(f, *_KIMIS)
    return outer(f, text, deepseek_mla(text))


def qwen2_vl(f: Fields) -> Shape:
    """Qwen2-VL and 2.5-VL: published files hold the text model's fields beside vision_config, newer ones apart. Tied
    where either object says so (transformers' Qwen2_5_VLConfig)."""
    if f.get("text_config") is None:
        return qwen(f, "none", "qkv")
    text = text_part(f, f"{f.raw['model_type']}_text")
    shape = outer(f, text, qwen(text, "none", "qkv"))
    shape.spec["tied_embeddings"] = any(one.flag("tie_word_embeddings", default=False) for one in (f, text))
    return shape


def qwen3_vl(f: Fields) -> Shape:
    """Qwen3-VL, dense or with experts."""
    text = text_part(f, f"{f.raw['model_type']}_text")
    return outer(f, text, qwen(text, "rms_per_head", None))

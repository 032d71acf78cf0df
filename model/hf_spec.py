"""A ModelSpec from a Hugging Face config.json: a parsed one, pasted text, or a Hub id. No torch, no weights.

A field that is missing, malformed, or would change the cache or the weights in a way that is not counted here is
refused by its name; nothing is guessed.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from .errors import GlassLlamaError
from .expected import expected, one_of
from .hf import FAMILIES
from .hf.fields import Fields, missing, refusal
from .hub import config_text
from .spec import ModelSpec

MAX_CHARACTERS = 100_000


def spec_from_config(config: Mapping[str, Any], name: str) -> ModelSpec:
    """The shape that a parsed config.json describes, called `name`. `source` says that it was read from a config.

    Fields that the file leaves out mean what transformers takes them for (`num_key_value_heads`: as many as heads);
    where the value then rests on a default of transformers' class, `notes` names the field and the value.
    `max_context` is None where the file states no limit (BLOOM). Raises GlassLlamaError (code "hf_config", params
    `field`, `value`, `expected`): the field's name and what would be right.
    """
    if not isinstance(config, Mapping):
        raise refusal("file", config, expected("json_object"))
    kind = config.get("model_type")
    if kind is None:
        raise missing("model_type", one_of(FAMILIES))
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise refusal("model_type", kind, one_of(FAMILIES))
    family = FAMILIES[kind]
    fields = Fields(config, defaults=family.defaults)
    shape = family.read(fields)
    notes = [f"Not in the file, so as transformers' class has it: {field} {value}." for field, value in shape.assumed()]
    if config.get("quantization_config"):
        notes.append("The checkpoint is quantised (quantization_config); the weights are counted in the dtype chosen.")
    inner = config.get("text_config")
    text = inner if isinstance(inner, Mapping) else config
    ahead = [name for name in ("num_nextn_predict_layers", "mtp_num_hidden_layers") if text.get(name)]
    if ahead and not shape.spec.get("mtp_layers"):
        notes.append(f"The multi-token-prediction layers ({ahead[0]}) are not counted.")
    if config.get("audio_config"):
        notes.append("The text model alone: the audio tower (audio_config) is not counted.")
    if config.get("vision_config"):
        notes.append("The text model alone: the vision tower (vision_config) is not counted.")
    try:
        return ModelSpec(
            name=name,
            family=kind,
            source=(f"config.json of {name}",),
            verified="every number as the config.json states it",
            notes=tuple(notes),
            **shape.spec,
        )
    except GlassLlamaError as error:  # numbers that do not fit each other, such as heads that K/V heads do not divide
        raise GlassLlamaError(
            "hf_config", f"config.json: {str(error).removeprefix(f'{name}: ')}", **error.params
        ) from error


def spec_from_text(text: str, name: str = "Pasted config") -> ModelSpec:
    """As `spec_from_config`, from the text of a config.json, at most 100,000 characters; a byte order mark may lead it.

    `name` stands where the file has no `_name_or_path`. Raises GlassLlamaError for what is no JSON object, with line
    and column.
    """
    text = text.removeprefix("\ufeff") if isinstance(text, str) else ""
    if not text.strip():
        raise missing("text", expected("content"))
    if len(text) > MAX_CHARACTERS:
        raise refusal("length", len(text), expected("at_most_characters", value=MAX_CHARACTERS))
    try:
        config = json.loads(text, parse_constant=_no_number)
    except GlassLlamaError:  # a ValueError too
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        message = f"config.json: the text is no JSON at {where}: {error.msg}."
        place = {"line": error.lineno, "column": error.colno, "problem": error.msg}
        raise GlassLlamaError("hf_config", message, field="text", reason="no_json", **place) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets within brackets
        message = "config.json: the text is no JSON that can be read: a number is too long or it is nested too deeply."
        raise GlassLlamaError("hf_config", message, field="text", reason="unreadable") from error
    if not isinstance(config, dict):
        raise refusal("text", config, expected("braces"))
    given = config.get("_name_or_path")
    return spec_from_config(config, given if isinstance(given, str) and 0 < len(given) <= 100 else name)


def spec_from_hub(model_id: str) -> ModelSpec:
    """As `spec_from_config`, from the config.json of a model on the Hub, the only file that is fetched.

    `model_id` is OWNER/NAME. Raises GlassLlamaError (code "hub") where there is none; its params say the `reason`, one
    of model.hub.REASONS.
    """
    return spec_from_text(config_text(model_id), model_id.strip())


def _no_number(constant: str) -> NoReturn:
    raise refusal("number", constant, expected("finite"))

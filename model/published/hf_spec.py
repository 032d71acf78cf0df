"""A ModelSpec from a Hugging Face config.json or GGUF metadata: parsed, pasted, or by a Hub id. No torch, no weights.

A field that is missing, malformed, or would change the cache or the weights in a way that is not counted here is
refused by its name; nothing is guessed.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from ..errors import GlassLlamaError, shortly
from .expected import expected
from .hf import FAMILIES, MODEL_TYPES, gguf
from .hf.fields import Fields, UnreadFieldError, missing, refusal
from .hf.shape import Shape
from .hub import config_text
from .quantised import UnreadError, check_counted, quantised_note, quantised_of
from .spec import ModelSpec

MAX_CHARACTERS = 100_000
WIDE = 4  # all heads together, in widths of the stream, from which on a head_dim is remarked on
PASTED = "Pasted config"  # what a file is called that does not say its name


def spec_from_config(config: Mapping[str, Any] | str, name: str | None = None) -> ModelSpec:
    """The shape that a config.json describes, a parsed one or its text (as `spec_from_text`). `source` says so.

    GGUF metadata, by its key general.architecture, is read as the config.json of the same model (hf/gguf.py). The spec
    is called `name`, else as the file's `_name_or_path` (or general.name) says, else "Pasted config".
    Fields that the file leaves out mean what transformers takes them for (`num_key_value_heads`: as many as heads);
    where the value then rests on a default of transformers' class, `notes` names the field and the value.
    `max_context` is None where the file states no limit (BLOOM). Raises GlassLlamaError (code "hf_config", params
    `field`, `value`, `expected`): the field's name and what would be right.
    """
    if isinstance(config, str):
        return spec_from_config(parsed(config), name)
    if not isinstance(config, Mapping):
        raise refusal("file", config, expected("json_object"))
    name, metadata = name or _own_name(config) or PASTED, gguf.metadata_of(config)
    return _from_file(config, name) if metadata is None else _from_gguf(metadata, name)


def _from_gguf(metadata: Mapping[str, Any], name: str) -> ModelSpec:
    """The shape that GGUF metadata describes. What is wrong with it is told by its own keys, not by config.json's."""
    architecture, known = metadata.get(gguf.PLACE), ", ".join(gguf.ARCHITECTURES)
    if not isinstance(architecture, str) or architecture not in gguf.ARCHITECTURES:
        said = f"this calculator does not read the architecture {shortly(architecture)} yet; it reads: {known}"
        raise _unread(said, "unread_architecture", shortly(architecture), known, "GGUF")
    keys: dict[str, str] = {}
    try:
        config, keys = gguf.config_of(metadata)
        spec = _from_file(config, name)
    except GlassLlamaError as error:
        told, key = gguf.told_by_keys(error, keys)
        params = {**error.params, "field": key, "file": "GGUF"}
        raise GlassLlamaError("hf_config", told, **params) from error
    tied = gguf.tied_of(metadata)
    said = "GGUF metadata does not say whether the output reuses the embedding; it is counted once."
    return replace(
        spec,
        tied_embeddings=tied,
        source=(f"GGUF metadata of {name}",),
        verified="every number as the GGUF metadata states it",
        notes=(*spec.notes, said) if tied is None else spec.notes,
    )


def _from_file(config: Mapping[str, Any], name: str) -> ModelSpec:
    kind, names = config.get("model_type"), ", ".join(MODEL_TYPES)
    if kind is None:
        raise _unread(f"model_type is missing; this calculator reads: {names}", "no_type", None, names)
    if not isinstance(kind, str) or kind not in FAMILIES:
        said = f"this calculator does not read model_type {shortly(kind)} yet; it reads: {names}"
        raise _unread(said, "unread_type", shortly(kind), names)
    family = FAMILIES[kind]
    fields = Fields(config, defaults=family.defaults)
    try:
        shape = family.read(fields)
    except UnreadFieldError as error:
        told = refusal(error.field, error.value, expected("absent", kind=kind))
        others = ", ".join(known for known in MODEL_TYPES if known != kind)
        message = f"{str(told).removesuffix('.')}; besides {kind} without it, it reads: {others}."
        raise GlassLlamaError("hf_config", message, **told.params, names=others) from error
    try:
        spec = ModelSpec(
            name=name,
            family=kind,
            source=(f"config.json of {name}",),
            verified="every number as the config.json states it",
            kv_heads_assumed=any(field.endswith("num_key_value_heads") for field, _ in shape.assumed()),
            notes=tuple(_notes(config, shape)),
            **shape.spec,
        )
        return _with_quantised(spec, config)
    except GlassLlamaError as error:  # numbers that do not fit each other, such as heads that K/V heads do not divide
        raise GlassLlamaError(
            "hf_config", f"config.json: {str(error).removeprefix(f'{name}: ')}", **error.params
        ) from error


def _with_quantised(spec: ModelSpec, config: Mapping[str, Any]) -> ModelSpec:
    """With how the weights are stored, or why what quantization_config says of it is not counted."""
    try:
        quantised = quantised_of(config)
        if quantised:
            check_counted(spec, quantised)
        spec = replace(spec, quantised=quantised)
    except UnreadError as error:
        spec = replace(spec, quantised_unread=str(error))
    return replace(spec, notes=(*spec.notes, *filter(None, [quantised_note(spec)])))


def _notes(config: Mapping[str, Any], shape: Shape) -> list[str]:
    """What a reader of the figures should know: fields that were assumed, and parts that are not counted."""
    notes = [f"Not in the file, so as transformers' class has it: {field} {value}." for field, value in shape.assumed()]
    notes += [f"{key} is no field that is read; was {near} meant?" for key, near in shape.misspelt()]
    inner = config.get("text_config")
    text = inner if isinstance(inner, Mapping) else config
    width, heads, stream = text.get("head_dim"), shape.spec["n_heads"], shape.spec["d_model"]
    if isinstance(width, int) and not shape.spec.get("mla") and width * heads > WIDE * stream:
        notes.append(
            f"Unusually wide: head_dim {width:,} × {heads:,} heads are more than {WIDE} × hidden_size {stream:,}."
        )
    ahead = [name for name in ("num_nextn_predict_layers", "mtp_num_hidden_layers") if text.get(name)]
    if ahead and not shape.spec.get("mtp_layers"):
        notes.append(f"The multi-token-prediction layers ({ahead[0]}) are not counted.")
    if config.get("audio_config"):
        notes.append("The text model alone: the audio tower (audio_config) is not counted.")
    if config.get("vision_config"):
        notes.append("The text model alone: the vision tower (vision_config) is not counted.")
    return notes


def _unread(said: str, reason: str, kind: str | None, names: str, file: str = "config.json") -> GlassLlamaError:
    """The error for a model_type that no reader knows, with all that are known."""
    return GlassLlamaError("hf_config", f"{file}: {said}.", field="model_type", reason=reason, kind=kind, names=names)


def spec_from_text(text: str, name: str = PASTED) -> ModelSpec:
    """As `spec_from_config`, from the text of a config.json, at most 100,000 characters; a byte order mark may lead it.

    Up to 10,000 lines of GGUF metadata, as llama.cpp's loader logs them or gguf-dump prints them, will do, too.
    `name` stands where the file has no `_name_or_path`. Raises GlassLlamaError for what is no JSON object, with line
    and column.
    """
    config = parsed(text)
    return spec_from_config(config, _own_name(config) or name)


def _own_name(config: Mapping[str, Any]) -> str | None:
    given = config.get("_name_or_path") or (gguf.metadata_of(config) or {}).get("general.name")
    return given if isinstance(given, str) and 0 < len(given) <= 100 else None


def parsed(text: str) -> dict[str, Any]:
    """The JSON object that `text` holds, or the GGUF metadata that its lines list. Raises as `spec_from_text`."""
    text = text.removeprefix("\ufeff") if isinstance(text, str) else ""
    if not text.strip():
        raise missing("text", expected("content"))
    if len(text) > MAX_CHARACTERS:
        raise refusal("length", len(text), expected("at_most_characters", value=MAX_CHARACTERS))
    if not text.lstrip().startswith("{") and (metadata := gguf.metadata_in(text)) is not None:
        return metadata
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
    return config


def spec_from_hub(model_id: str) -> ModelSpec:
    """As `spec_from_config`, from the config.json of a model on the Hub, the only file that is fetched.

    `model_id` is OWNER/NAME. Raises GlassLlamaError (code "hub") where there is none; its params say the `reason`, one
    of model.hub.REASONS.
    """
    return spec_from_text(config_text(model_id), model_id.strip())


def _no_number(constant: str) -> NoReturn:
    raise refusal("number", constant, expected("finite"))

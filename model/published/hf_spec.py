"""A ModelSpec from a Hugging Face config.json or GGUF metadata: parsed, pasted, or by a Hub id. No torch, no weights.

A field that the cache depends on, and that is missing, malformed or not read here, is refused by its name, with all
others that are; nothing is guessed. A fault that the weights alone depend on leaves these uncounted
(ModelSpec.unstated).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from ..errors import GlassLlamaError, shortly
from .expected import expected
from .hf import FAMILIES, MODEL_TYPES, gguf
from .hf.fields import Faults, Fields, UnreadFieldError, missing, refusal
from .hf.judged import ACTIVATIONS, Judged, by_name, judged
from .hf.shape import Shape
from .hub import config_text
from .quantised import UnreadError, cache_note, check_counted, number_type_of, quantised_note, quantised_of
from .spec import TEXT_ALONE, AssumedHeads, ModelSpec
from .unstated import Unstated

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
    `field`, `value`, `expected`): the field's name and what would be right; of several faults the first, and in
    `faults` these particulars of all.
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
    keys: Mapping[str, str] = {}

    def told(error: GlassLlamaError) -> GlassLlamaError:
        message, key = gguf.told_by_keys(error, keys)
        return GlassLlamaError("hf_config", message, **{**error.params, "field": key, "file": "GGUF"})

    try:
        config, keys, unread_keys = gguf.config_of(metadata)
    except GlassLlamaError as error:
        raise told(error) from error
    spec = _from_file(config, name, told, unread_keys)
    tied = gguf.tied_of(metadata)
    said = "GGUF metadata does not say whether the output reuses the embedding; it is counted once."
    return replace(
        spec,
        tied_embeddings=tied,
        source=(f"GGUF metadata of {name}",),
        verified="every number as the GGUF metadata states it",
        notes=(*spec.notes, said) if tied is None else spec.notes,
        kv_heads_assumed=spec.kv_heads_assumed
        and AssumedHeads(keys["num_key_value_heads"], "gguf", metadata[gguf.PLACE]),
    )


def _from_file(
    config: Mapping[str, Any],
    name: str,
    told: Callable[[GlassLlamaError], GlassLlamaError] = lambda error: error,
    besides: Sequence[GlassLlamaError] = (),
) -> ModelSpec:
    """The shape that the file describes; `told` words an error by the names that the reader of it knows. `besides` is
    what else is wrong with it."""
    kind, names = config.get("model_type"), ", ".join(MODEL_TYPES)
    if kind is None:
        near = Fields(config).near("model_type")
        meant = f" (the file has {near}: did you mean model_type?)" if near else ""
        said = f"model_type is missing{meant}; this calculator reads: {names}"
        raise _unread(said, "no_type_near" if near else "no_type", None, names, near=near)
    if not isinstance(kind, str) or kind not in FAMILIES:
        said = f"this calculator does not read model_type {shortly(kind)} yet; it reads: {names}"
        raise _unread(said, "unread_type", shortly(kind), names)
    try:
        shape, found = _read(config, kind)
        if besides:
            raise _FaultyError([], found.weights)
    except _FaultyError as error:
        needed = [told(one) for one in (*besides, *error.faults)]
        raise _together(needed, [told(one) for one in error.spare], kind) from error
    shape.spec.update(_unnamed(shape.spec, found))
    try:
        spec = ModelSpec(
            name=name,
            family=kind,
            source=(f"config.json of {name}",),
            verified="every number as the config.json states it",
            kv_heads_assumed=shape.assumed_heads(),
            head_dim_assumed=shape.assumed_width(),
            head_dim_passed_over=tuple(shape.passed_over()),
            notes=(*_notes(config, shape), *dict.fromkeys(_aside(told(one)) for one in found.nothing)),
            unstated=tuple(map(told, found.weights)),
            **shape.spec,
        )
        return _with_quantised(spec, config)
    except GlassLlamaError as error:  # numbers that do not fit each other, such as heads that K/V heads do not divide
        message = f"config.json: {str(error).removeprefix(f'{name}: ')}"
        raise told(GlassLlamaError("hf_config", message, **error.params)) from error


class _FaultyError(Exception):
    """Faults without which there is no cache to count, and `spare` ones, which the weights alone depend on."""

    def __init__(self, faults: list[GlassLlamaError], spare: Sequence[GlassLlamaError] = ()):
        super().__init__(faults, spare)
        self.faults, self.spare = faults, spare


def _read(config: Mapping[str, Any], kind: str) -> tuple[Shape, Judged]:
    """What the reader of `kind` finds, and the faults that leave the cache as it is. Raises all of them where it could
    not read to the end, or where the cache depends on one."""
    family, faults = FAMILIES[kind], Faults()
    try:
        shape = family.read(Fields(config, defaults=family.defaults, faults=faults))
    except UnreadFieldError as error:
        faults.unread.append(error)
    except GlassLlamaError as error:
        if not faults.layers:  # else it may come of the count of layers alone
            faults.add(error)
    else:
        found = judged(shape, faults, kind)
        if not found.cache:
            return shape, found
        raise _FaultyError(found.cache, found.weights)
    found = by_name(faults, kind)
    if not found.cache:  # what the reader stopped at is needed, whatever its name says
        raise _FaultyError([*found.weights, *found.nothing])
    raise _FaultyError(found.cache, found.weights)


def _unnamed(spec: dict[str, Any], found: Judged) -> dict[str, Any]:
    """What is not known for a fault that no figure depends on, where it could be read off the spec."""
    unknown: dict[str, Any] = {"max_context": None} if isinstance(spec["max_context"], Unstated) else {}
    if any(str(one.params["field"]).rpartition(".")[2] in ACTIVATIONS for one in found.nothing):
        unknown["ffn"] = replace(spec["ffn"], activation="")
    return unknown


def _together(faults: list[GlassLlamaError], spare: list[GlassLlamaError], kind: str) -> GlassLlamaError:
    """One error that names all faults: those last after which it says what else is read, and after these the spare
    ones, which the cache does not need."""
    first, *others = sorted(faults, key=_says_what_is_read)
    said = " ".join([str(first), *map(_without_file, others)])
    params = dict(first.params)
    if others or spare:
        marked = [{**one.params, "spare": True} for one in spare]
        params["faults"] = [*(dict(one.params) for one in (first, *others)), *marked]
    if _says_what_is_read([first, *others][-1]):
        params["names"] = ", ".join(known for known in MODEL_TYPES if known != kind)
        said = f"{said.removesuffix('.')}; besides {kind} without it, it reads: {params['names']}."
    if spare:
        said = f"{said} Not needed for the cache: {' '.join(map(_without_file, spare))}"
    return GlassLlamaError("hf_config", said, **params)


def _says_what_is_read(error: GlassLlamaError) -> bool:
    return error.params.get("expected_code") == "absent"


def _without_file(error: GlassLlamaError) -> str:
    """An error's text after the first that names the file."""
    return str(error).partition(": ")[2]


def _aside(error: GlassLlamaError) -> str:
    """A remark on a fault that changes no figure."""
    value = error.params["value"]
    said = "is missing" if value is None else f"is {value}"
    return f"Not read, and no figure here depends on it: {error.params['field']} {said}."


def _with_quantised(spec: ModelSpec, config: Mapping[str, Any]) -> ModelSpec:
    """With how the weights are stored, or why what quantization_config says of it is not counted."""
    spec = replace(spec, notes=(*spec.notes, *filter(None, [cache_note(config)])))
    if spec.unstated:  # the weights are not counted at all
        return spec
    try:
        quantised = quantised_of(config)
        if quantised:
            check_counted(spec, quantised)
        spec = replace(spec, quantised=quantised, number_type=number_type_of(config))
    except UnreadError as error:
        spec = replace(spec, quantised_unread=str(error))
    return replace(spec, notes=(*spec.notes, *filter(None, [quantised_note(spec)])))


def _notes(config: Mapping[str, Any], shape: Shape) -> list[str]:
    """What a reader of the figures should know: fields that were assumed, and parts that are not counted."""
    notes = [
        f"Not in the file, so as transformers' class has it: {field} {value}."
        for field, value in shape.assumed()
        if field.rpartition(".")[2] not in ("num_key_value_heads", "head_dim")  # said beside the cache
    ]
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
        notes.append(f"{TEXT_ALONE}: the audio tower (audio_config) is not counted.")
    if config.get("vision_config"):
        notes.append(f"{TEXT_ALONE}: the vision tower (vision_config) is not counted.")
    return notes


def _unread(
    said: str, reason: str, kind: str | None, names: str, file: str = "config.json", **more: str
) -> GlassLlamaError:
    """The error for a model_type that no reader knows, with all that are known."""
    told = {"reason": reason, "kind": kind, "names": names, **more}
    return GlassLlamaError("hf_config", f"{file}: {said}.", field="model_type", **told)


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
    except json.JSONDecodeError as raised:
        if not text.lstrip().startswith(("{", "[")):
            message = "config.json: this is no JSON: a config.json stands in braces, from { to }."
            raise GlassLlamaError("hf_config", message, field="text", reason="no_braces") from raised
        error = _named(raised)
        where = f"line {error.lineno}, column {error.colno}"
        message = f"config.json: the text is no JSON at {where}: {error.msg}."
        place = {"line": error.lineno, "column": error.colno, "problem": error.msg}
        raise GlassLlamaError("hf_config", message, field="text", reason="no_json", **place) from raised
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or brackets within brackets
        message = "config.json: the text is no JSON that can be read: a number is too long or it is nested too deeply."
        raise GlassLlamaError("hf_config", message, field="text", reason="unreadable") from error
    if not isinstance(config, dict):
        raise refusal("text", config, expected("braces"))
    return config


def _named(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """`error`, or where it is at a closing brace or bracket after a comma, that there is this comma too many, in the
    words and at the place of Python 3.13."""
    ended = {"}": "object", "]": "array"}.get(error.doc[error.pos : error.pos + 1])
    before = error.doc[: error.pos].rstrip()
    if ended is None or not before.endswith(","):
        return error
    return json.JSONDecodeError(f"Illegal trailing comma before end of {ended}", error.doc, len(before) - 1)


def spec_from_hub(model_id: str) -> ModelSpec:
    """As `spec_from_config`, from the config.json of a model on the Hub, the only file that is fetched.

    `model_id` is OWNER/NAME. Raises GlassLlamaError (code "hub") where there is none; its params say the `reason`, one
    of model.hub.REASONS.
    """
    return spec_from_text(config_text(model_id), model_id.strip())


def _no_number(constant: str) -> NoReturn:
    raise refusal("number", constant, expected("finite"))

"""Reading what a browser or a program sent: each field checked by name before anything uses or keeps it.

Every refusal is a GlassLlamaError that names the field, says what it holds (a few characters of it) and what would be
right. What is kept beside a run is built here anew from the fields that are known, so nothing else is kept with it.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from itertools import takewhile
from typing import Any, NamedTuple, cast

from model import GlassLlamaError
from model.errors import shortly
from model.sampling import Sampling
from visuals.messages.run import Changes, Notice
from visuals.payload import message_payload

from .engine import Engine, Settings
from .prompts import MAX_TOKENS
from .session import OF_ENCODER, HeldRun

MAX_NEW_TOKENS = 256
PAIR_TOKENS = 64  # of a text that is compared with another part by part: the work grows with their square
MAP_WORK = 1e12
MAX_NAME = 200  # characters of a model's name, a run's id or a ticket
MAX_SEED = 2**63 - 1
# Changes of each kind in one run (app/comparing.py).
MOST_CHANGES = 256
PAIRS = ("heads", "cross", "neurons", "patches", f"{OF_ENCODER}heads", f"{OF_ENCODER}neurons")
SINGLE = ("attention", "ffn", "prefix", f"{OF_ENCODER}attention", f"{OF_ENCODER}ffn")
ANY = 1 << 30  # the model itself refuses, by name, what it does not have
Sent = dict[str, Any]  # what was sent: anything at all, until a field is read by one of these functions
# Settings, or temperature, top_k, top_p and seed as they were sent.
Asked = Settings | Sequence[object]


def object_of(data: object, name: str = "the request") -> Sent:
    """What was sent, which must be an object. Raises GlassLlamaError."""
    if not isinstance(data, dict):
        raise GlassLlamaError("bad_request", f"{name} is {shortly(data)}; expected an object.")
    return data


def text_of(data: object, name: str, longest: int = MAX_NAME, default: str | None = None) -> str:
    """The field `name`, a text of up to `longest` characters; `default` where it is absent or null."""
    value = object_of(data).get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or len(value) > longest:
        said = f"{name} is {shortly(value)}; expected a text of up to {longest:,} characters."
        raise GlassLlamaError("bad_request", said)
    return value


def whole(data: object, name: str, limit: int) -> int:
    """The field `name` of what a browser sent, as a whole number in 0 … limit - 1. Raises GlassLlamaError."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < limit:
        said = f"{name} is {shortly(value)}; expected a whole number from 0 to {limit - 1}."
        raise GlassLlamaError("bad_request", said)
    return value


def nearest(data: object, name: str, limit: int) -> int:
    """As `whole`, but what lies outside is taken for the nearest there is, as links are passed on between models."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise GlassLlamaError("bad_request", f"{name} is {shortly(value)}; expected a whole number.")
    return max(0, min(value, limit - 1))


def one_of(data: object, name: str, choices: Collection[str]) -> str:
    """The field `name`, one of these. Raises GlassLlamaError."""
    value = object_of(data).get(name)
    if not isinstance(value, str) or value not in choices:
        said = f"{name} is {shortly(value)}; expected one of {', '.join(choices)}."
        raise GlassLlamaError("bad_request", said)
    return value


def layer_of(held: HeldRun, data: object) -> int:
    """The field `layer`, one of the run's. Raises GlassLlamaError."""
    return whole(data, "layer", held.trace.n_layers)


def first_layer(engine: Engine, model: str, view: Sent) -> int:
    """The field `layer` of what a page looks at: the one to send along, the first where it names none. Raises
    GlassLlamaError."""
    return nearest(view, "layer", engine.about(model).config.n_layers) if view.get("layer") is not None else 0


def need_room(engine: Engine, model: str, ids: Sequence[int]) -> None:
    """Raises GlassLlamaError where no token fits into the model's context after these."""
    if len(ids) >= engine.about(model).config.context_limit:
        raise GlassLlamaError("context_full", "The model's context is full. Shorten the prompt.")


def leader_of(held: HeldRun, data: Sent) -> HeldRun:
    """The run that says what is looked at: `other`, so that two runs can be asked about the same tokens or neurons, or
    this one. Raises GlassLlamaError where the two have different numbers of tokens."""
    leader = data.get("other", held)
    if len(leader.trace.token_ids) != len(held.trace.token_ids):
        raise GlassLlamaError("bad_request", "The two runs have different numbers of tokens.")
    return leader


def token_of(held: HeldRun, data: object, name: str = "token") -> int:
    """A field that names one of the run's tokens by its position. Raises GlassLlamaError."""
    return whole(data, name, len(held.trace.token_ids))


class Texts(NamedTuple):
    """A text, and what is written after it where an encoder reads it: without the start token; else None."""

    ids: list[int]
    written: list[int] | None

    @property
    def tokens(self) -> int:
        """Of both, with the start token."""
        return len(self.ids) + (0 if self.written is None else 1 + len(self.written))


def texts_until(held: HeldRun, data: object) -> Texts:
    """What a run has up to the position that the field `token` names. Raises GlassLlamaError."""
    ids = list(held.trace.token_ids[: token_of(held, data) + 1])
    return Texts(ids, None) if held.trace.source is None else Texts(held.prompt_ids, ids[1:])


def unchanged(held: HeldRun, data: object, longest: int = PAIR_TOKENS) -> Texts:
    """As `texts_until`, of a run in which nothing is changed: only that is compared with another text, part by part.

    Raises GlassLlamaError.
    """
    if held.changes:
        raise GlassLlamaError("circuit_changed", "A circuit is measured in a run in which nothing is switched off.")
    texts = texts_until(held, data)
    if texts.tokens > longest:
        said = f"The text has {texts.tokens} tokens; two texts are compared part by part up to {longest}. Shorten it."
        raise GlassLlamaError("circuit_long", said, tokens=texts.tokens, limit=longest)
    return texts


def map_limit(engine: Engine, held: HeldRun) -> int:
    """How many tokens a text may have for every layer and token of it to be patched, a run each: at most MAP_WORK
    multiplications on a CPU."""
    about = engine.about(held.model)
    places = 2 * about.n_parameters * (about.config.n_layers + 1)
    return PAIR_TOKENS if about.device != "CPU" else min(PAIR_TOKENS, int((MAP_WORK / places) ** 0.5))


def model_of(engine: Engine, data: object) -> str:
    """The field `model`, one of the engine's; the first of them where it is absent. Raises GlassLlamaError."""
    name = text_of(data, "model", default="") or engine.names[0]
    return engine.about(name).name


def ids_of(engine: Engine, model: str, data: object, name: str = "ids") -> list[int]:
    """The field `name`, token ids that this model can run: of one text, or of both that it has. Raises
    GlassLlamaError."""
    ids = object_of(data).get(name)
    about = engine.about(model)
    config, texts = about.config, 2 if about.reads_source else 1
    limit = min(MAX_TOKENS + MAX_NEW_TOKENS, texts * config.context_limit)
    if not isinstance(ids, list) or not 0 < len(ids) <= limit:
        raise GlassLlamaError("bad_request", f"{name}: expected a list of 1 to {limit} token ids.")
    return [whole({name: i}, name, config.vocab_size) for i in ids]


def link_ids(engine: Engine, model: str, data: object, n_prompt: int) -> tuple[list[int], Notice | None]:
    """The field `generated` of a link, token ids as far as this model can run them after `n_prompt` tokens, and a
    message where some cannot be.

    Raises GlassLlamaError for what no link holds.
    """
    ids = object_of(data).get("generated") or []
    if not isinstance(ids, list) or not all(type(i) is int for i in ids):
        raise GlassLlamaError("bad_request", "generated: expected a list of token ids.")
    config = engine.about(model).config
    room = min(MAX_TOKENS + MAX_NEW_TOKENS, config.context_limit - n_prompt)
    known = list(takewhile(lambda i: 0 <= i < config.vocab_size, ids[:room]))
    if len(known) == len(ids):
        return known, None
    return known, message_payload("link_cut", "info", given=len(ids), kept=len(known))


def changes_of(data: object) -> Changes:
    """The field `changes`, {} where it is absent: {heads: [[layer, head]], cross: [[layer, head]],
    neurons: [[layer, neuron]], attention: [layer], ffn: [layer], prefix: [tokens], patches: [[layer, token]],
    source: the id of a run}, of each what was given; heads, neurons, attention and ffn of an encoder as encoder_heads
    and so on.

    Raises GlassLlamaError for anything else.
    """
    given = object_of(object_of(data).get("changes") or {}, "changes")
    read: dict[str, list[int] | list[list[int]] | str] = {name: _pairs(given, name) for name in PAIRS}
    read |= {name: _numbers(name, _listed(given, name)) for name in SINGLE}
    if given.get("source") is not None:
        read["source"] = text_of(given, "source")
    return cast(Changes, {name: read[name] for name in given if read.get(name)})


def _listed(given: Sent, name: str) -> list[object]:
    value = given.get(name) or []
    if not isinstance(value, list) or len(value) > MOST_CHANGES:
        raise GlassLlamaError("bad_request", f"{name} is not a list of up to {MOST_CHANGES}.")
    return value


def _pairs(given: Sent, name: str) -> list[list[int]]:
    listed = _listed(given, name)
    found = [pair for pair in listed if isinstance(pair, list) and len(pair) == 2]
    if len(found) < len(listed):
        raise GlassLlamaError("bad_request", f"{name}: expected pairs of whole numbers.")
    return [_numbers(name, pair) for pair in found]


def _numbers(name: str, values: list[object]) -> list[int]:
    return [whole({name: value}, name, ANY) for value in values]


def count_of(value: object, name: str = "max_new_tokens") -> int:
    """How many tokens to add, 1 … MAX_NEW_TOKENS. Raises GlassLlamaError."""
    return _within(name, _integer(name, value), 1, MAX_NEW_TOKENS)


def settings_of(asked: Asked) -> Settings:
    """How tokens are chosen: what is null has its default. Raises GlassLlamaError, naming the field."""
    if isinstance(asked, Settings):
        return asked
    defaults = asdict(Settings())
    given = {name: defaults[name] if value is None else value for name, value in zip(defaults, asked, strict=True)}
    found = Settings(
        temperature=_number("temperature", given["temperature"]),
        top_k=_within("top_k", _integer("top_k", given["top_k"]), 0, ANY),
        top_p=_number("top_p", given["top_p"]),
        seed=_within("seed", _integer("seed", given["seed"]), 0, MAX_SEED),
    )
    Sampling(found.temperature, found.top_k, found.top_p).check()
    return found


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refusal(name, value, "a number")
    return float(value)


def _integer(name: str, value: object) -> int:
    """A whole number; 20.0 is one, as JSON does not tell it from 20."""
    if not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        return int(value)
    raise _refusal(name, value, "a whole number")


def _within(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise _refusal(name, value, f"a whole number from {low} to {high}")
    return value


def _refusal(name: str, value: object, expected: str) -> GlassLlamaError:
    said = f"{name} is {shortly(value)}; expected {expected}."
    return GlassLlamaError("field", said, field=name, value=shortly(value), expected=expected)

"""What a browser or a program may ask, one pydantic model for each request; and which part of a run it is about.

What a chapter asks about a run has its model in that chapter. Every refusal is a GlassLlamaError that names the field
(app/fields.py). What is kept beside a run is built here anew from the fields that are known, so nothing else is kept.
"""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, cast

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo

from model import GlassLlamaError
from model.sampling import Sampling
from visuals.messages.run import Changes, Notice
from visuals.payload import message_payload

from .engine import Engine, Settings
from .fields import (
    Flag,
    Head,
    Layer,
    Name,
    Number,
    Request,
    Token,
    TokenId,
    Whole,
    below,
    check_below,
    counted,
    is_list,
    listed,
    read,
    said,
    text,
)
from .prompts import MAX_CHARACTERS, MAX_TOKENS
from .session import HeldRun

MAX_NEW_TOKENS = 256
PAIR_TOKENS = 120  # of a text that is compared with another part by part: the work grows with their square
MAP_WORK = 1e12
MAX_SEED = 2**63 - 1
MOST_LAYERS = 8  # in one answer
MOST_PARTS = 16  # exchanged in a run
MOST_TENSORS = 64  # of a panel
# Changes of each kind in one run (app/comparing.py).
MOST_CHANGES = 256
ANY = 1 << 30  # the model itself refuses, by name, what it does not have
Sent = dict[str, Any]  # what was sent: anything at all, until a field is read by one of these functions
# Settings, or temperature, top_k, top_p and seed as they were sent.
Asked = Settings | Sequence[Any]
R = TypeVar("R", bound=Request)


def _pair(value: object) -> list[object]:
    if not is_list(value) or len(value) != 2:
        raise said("{name}: expected pairs of whole numbers.")
    return value


FEW = listed("{name} is not a list of up to {most}.", MOST_CHANGES)
Index = Annotated[int, below(ANY)]
ABSENT = Field(default_factory=list)
Indices = Annotated[list[Index], FEW, ABSENT]
Pairs = Annotated[list[Annotated[list[Index], BeforeValidator(_pair)]], FEW, ABSENT]
LinkIds = Annotated[list[int], listed("{name}: expected a list of token ids.", ANY, of=int), ABSENT]
RunIds = Annotated[list[str], listed("{name}: expected a list of the ids of runs.", ANY, of=str), ABSENT]


def _within_ids(value: object, info: ValidationInfo) -> int:
    return check_below(value, len(info.data.get("ids", ())) + 1)


class OfModel(Request):
    """`model`, by its name; the first on offer where it is absent."""

    model: Name = ""


class OfRun(Request):
    """`run`, the id of a held one."""

    run: Name = ""


class Other(Request):
    """`other`, the id of a second run."""

    other: Name


class OfLayer(Request):
    """One layer of a run."""

    layer: Layer


class OfPanel(OfLayer):
    """A panel, by its kind, as it shows a layer, and the captured tensors that it shows."""

    panel: Name
    tensors: Annotated[
        list[str], listed("{name}: expected a list of up to {most} names.", MOST_TENSORS, of=str), ABSENT
    ]


class AtToken(Request):
    """One token of a run, by its position."""

    token: Token


class Place(OfLayer, AtToken):
    """A layer of a run, and one of its tokens."""


class MaybeAhead(Request):
    """What may be fetched `ahead`: nobody waits for it yet, and what others wait for goes first."""

    ahead: Flag = False


class Layers(AtToken, MaybeAhead):
    """Layers of a run, and a token whose neurons are sent in full."""

    layers: Annotated[list[Layer], listed("{name}: expected a list of 1 to {most} layers.", MOST_LAYERS, least=1)]


class OfHead(OfLayer):
    """A head of a layer."""

    head: Head


class HeadWrite(OfHead):
    """What a head writes at the token `query`."""

    query: Token


class Score(HeadWrite):
    """How much a head at `query` looks at `key`."""

    key: Token


class Neurons(OfLayer, MaybeAhead):
    """A layer of a run, and one of its tokens; every token where that is null."""

    token: Token | None = None


class OtherText(AtToken):
    """A position of a run, and another `text`; app/prompts.py says what is wrong with it."""

    text: object = None


class View(Request):
    """What a page looks at: the `layer` to send along, the `run` that it shows, the `ticket` of a generation."""

    called: ClassVar[str] = "view"

    layer: Whole | None = None
    run: object = None
    ticket: Name = ""


class Rerun(Request):
    """A run that is no longer held: its token ids, the first `n_prompt` of them the prompt's."""

    ids: Annotated[list[TokenId], listed("{name}: expected a list of 1 to {most} token ids.", "length", least=1)]
    n_prompt: Annotated[int, PlainValidator(_within_ids)]
    prompt: Annotated[str, text(MAX_CHARACTERS)] = ""
    layer: Whole | None = None
    changes: object = None


class Change(OfRun):
    """A held run with other `changes`."""

    changes: object = None
    layer: Whole | None = None


class Link(Request):
    """A page's first run, or one that a link describes; `generated` are the ids of the tokens after the prompt."""

    prompt: object = None  # app/prompts.py says what is wrong with it
    generated: LinkIds
    layer: Whole | None = None
    changes: object = None


class Cut(Request):
    """The first `count` written tokens of a held run; `instead` are runs to let go of."""

    count: Annotated[int, below("steps_and_1")]
    instead: RunIds
    layer: Whole | None = None


class Ticket(Request):
    """The ticket of a generation that shall end."""

    ticket: Name


class AskedChanges(Request):
    """What is changed in a run: pairs of a layer and a head, neuron or token; layers; a count of tokens, in a list;
    exchanged parts.

    `source` is the id of the run from which the patches come.
    """

    called: ClassVar[str] = "changes"

    heads: Pairs
    cross: Pairs
    neurons: Pairs
    patches: Pairs
    encoder_heads: Pairs
    encoder_neurons: Pairs
    attention: Indices
    ffn: Indices
    prefix: Indices
    parts: Annotated[list[str], listed("{name}: expected a list of up to {most} texts.", MOST_PARTS, of=str), ABSENT]
    encoder_attention: Indices
    encoder_ffn: Indices
    source: Name = ""


class Count(Request):
    """How many tokens to add."""

    code: ClassVar[str] = "field"

    max_new_tokens: Annotated[int, counted(1, MAX_NEW_TOKENS)]


class Filters(Request):
    """Which tokens may be chosen, and how likely."""

    code: ClassVar[str] = "field"

    temperature: Number = Settings.temperature
    top_k: Annotated[int, counted(0, ANY)] = Settings.top_k
    top_p: Number = Settings.top_p


class Choice(Filters):
    """How tokens are chosen."""

    seed: Annotated[int, counted(0, MAX_SEED)] = Settings.seed


def about_run(kind: type[R], engine: Engine, held: HeldRun, data: object) -> R:
    """A request about a run, whose layers, heads, tokens and ids are there. Raises GlassLlamaError."""
    config = engine.about(held.model).config
    return read(
        kind,
        data,
        layers=held.trace.n_layers,
        tokens=len(held.trace.token_ids),
        steps_and_1=len(held.steps) + 1,
        heads=config.n_heads,
        kv_heads=held.trace.network.config.n_kv_heads,
        head_dim=config.head_dim,
        vocabulary=config.vocab_size,
    )


def layer_of(engine: Engine, held: HeldRun, data: object) -> int:
    """The field `layer`, one of the run's. Raises GlassLlamaError."""
    return about_run(OfLayer, engine, held, data).layer


def token_of(engine: Engine, held: HeldRun, data: object) -> int:
    """The field `token`, one of the run's. Raises GlassLlamaError."""
    return about_run(AtToken, engine, held, data).token


def nearest_layer(engine: Engine, model: str, layer: int | None) -> int:
    """The layer to send along, or the nearest there is: links are passed on between models. 0 where none is named."""
    return max(0, min(layer or 0, engine.about(model).config.n_layers - 1))


def need_room(engine: Engine, model: str, ids: Sequence[int]) -> None:
    """Raises GlassLlamaError where no token fits into the model's context after these."""
    if len(ids) >= engine.about(model).config.context_limit:
        raise GlassLlamaError("context_full", "The model's context is full. Shorten the prompt.")


def leader_of(held: HeldRun, data: dict[str, Any]) -> HeldRun:
    """The run that says what is looked at: `other`, so that two runs can be asked about the same tokens or neurons, or
    this one. Raises GlassLlamaError where the two have different numbers of tokens."""
    leader = data.get("other", held)
    if len(leader.trace.token_ids) != len(held.trace.token_ids):
        raise GlassLlamaError("bad_request", "The two runs have different numbers of tokens.")
    return leader


class Texts(NamedTuple):
    """A text, and what is written after it where an encoder reads it: without the start token; else None."""

    ids: list[int]
    written: list[int] | None

    @property
    def tokens(self) -> int:
        """Of both, with the start token."""
        return len(self.ids) + (0 if self.written is None else 1 + len(self.written))


def texts_until(held: HeldRun, token: int) -> Texts:
    """What a run has up to a position."""
    ids = list(held.trace.token_ids[: token + 1])
    return Texts(ids, None) if held.trace.source is None else Texts(held.prompt_ids, ids[1:])


def unchanged(held: HeldRun, token: int, longest: int = PAIR_TOKENS) -> Texts:
    """As `texts_until`, of a run in which nothing is changed: only that is compared with another text, part by part.

    Raises GlassLlamaError.
    """
    if held.changes:
        raise GlassLlamaError("circuit_changed", "A circuit is measured in a run in which nothing is switched off.")
    texts = texts_until(held, token)
    if texts.tokens > longest:
        said = f"The text has {texts.tokens} tokens; two texts are compared part by part up to {longest}. Shorten it."
        raise GlassLlamaError("circuit_long", said, tokens=texts.tokens, limit=longest)
    return texts


def map_limit(engine: Engine, held: HeldRun) -> int:
    """How many tokens a text may have for every layer and token of it to be patched, a run each: at most about
    MAP_WORK multiply–adds on a CPU."""
    about = engine.about(held.model)
    layers = about.n_parameters - about.config.vocab_size * about.config.d_model
    places = layers * (about.config.n_layers + 1) / 4  # half of the layers, and half of the tokens
    return PAIR_TOKENS if about.device != "CPU" else min(PAIR_TOKENS, int((MAP_WORK / places) ** 0.5))


def model_of(engine: Engine, data: object) -> str:
    """The field `model`, one of the engine's; the first of them where it is absent. Raises GlassLlamaError."""
    return engine.about(read(OfModel, data).model or engine.names[0]).name


def rerun_of(engine: Engine, model: str, data: object) -> Rerun:
    """A run whose tokens this model can run: of one text, or of both that it has. Raises GlassLlamaError."""
    about = engine.about(model)
    texts = 2 if about.reads_source else 1
    length = min(MAX_TOKENS + MAX_NEW_TOKENS, texts * about.config.context_limit)
    return read(Rerun, data, length=length, vocabulary=about.config.vocab_size)


def runnable(engine: Engine, model: str, ids: Sequence[int], n_prompt: int) -> tuple[list[int], Notice | None]:
    """A link's token ids as far as this model can run them after `n_prompt` tokens, and a message where some cannot."""
    config = engine.about(model).config
    room = min(MAX_TOKENS + MAX_NEW_TOKENS, config.context_limit - n_prompt)
    known = list(takewhile(lambda i: 0 <= i < config.vocab_size, ids[:room]))
    if len(known) == len(ids):
        return known, None
    return known, message_payload("link_cut", "info", given=len(ids), kept=len(known))


def changes_of(given: object) -> Changes:
    """The changes that were given, of each kind that is there; {} for none. Raises GlassLlamaError."""
    asked = read(AskedChanges, given or {})
    return cast(Changes, {name: value for name, value in asked.model_dump().items() if value})


def count_of(value: object) -> int:
    """How many tokens to add, 1 … MAX_NEW_TOKENS. Raises GlassLlamaError."""
    return read(Count, {"max_new_tokens": value}).max_new_tokens


def settings_of(asked: Asked) -> Settings:
    """How tokens are chosen: what is null has its default. Raises GlassLlamaError, naming the field."""
    if isinstance(asked, Settings):
        return asked
    found = read(Choice, dict(zip(asdict(Settings()), asked, strict=True)))
    Sampling(found.temperature, found.top_k, found.top_p).check()
    return Settings(**found.model_dump())

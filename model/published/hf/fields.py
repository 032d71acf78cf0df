"""Reading single fields of a Hugging Face config.json, each refused by its own name. Knows no model family."""

import copy
import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self

from ...errors import GlassLlamaError
from ...refusals import Refusals
from ..expected import Expected, any_of, expected
from ..unstated import Unstated

MAX_LAYERS = 1_000  # the deepest model of the catalogue has 126, and every layer costs the calculators time
MAX_COUNT = 10**9
# Fields that change the cache or the weights, other families' names for heads, windows and latents among them. A family
# that does not read one of them refuses a config that sets it: the model's own code may read it.
SHAPE_FIELDS = (
    "add_cross_attention",
    "alibi",
    "attention_bias",
    "attention_chunk_size",
    "attention_window_size",
    "attn_layer_indices",
    "attn_config",
    "attn_layer_period",
    "attn_type_list",
    "block_configs",
    "cla_share_factor",
    "cross_attention_layers",
    "full_attention_interval",
    "full_attn_idxs",
    "global_attn_every_n_layers",
    "head_dim",
    "hybrid_override_pattern",
    "index_head_dim",
    "interleaved_sliding_window",
    "is_encoder_decoder",
    "kv_channels",
    "kv_lora_rank",
    "kv_n_heads",
    "layer_types",
    "layers_block_type",
    "linear_num_value_heads",
    "mamba_d_state",
    "mlp_bias",
    "mlp_layer_types",
    "mlp_only_layers",
    "moe_layers",
    "moe_num_experts",
    "multi_query",
    "multi_query_attention",
    "multi_query_group_num",
    "n_head_kv",
    "n_kv_heads",
    "n_routed_experts",
    "n_shared_experts",
    "num_attention_groups",
    "num_experts",
    "num_key_value_groups",
    "num_key_value_heads",
    "num_kv_heads",
    "num_kv_shared_layers",
    "num_local_experts",
    "num_nextn_predict_layers",
    "num_query_groups",
    "q_lora_rank",
    "qk_nope_head_dim",
    "qk_norm",
    "qk_rope_head_dim",
    "qkv_bias",
    "shared_expert_intermediate_size",
    "sliding_window",
    "sliding_window_pattern",
    "sliding_window_size",
    "sliding_windows",
    "use_cla",
    "use_qk_norm",
    "use_sliding_window",
    "v_head_dim",
    "window_size",
)
# What can be wrong besides a field.
_CALLED = {
    "file": "the file",
    "text": "the text",
    "length": "the text's length",
    "lines": "the text's number of lines",
    "number": "a number",
}
_REFUSALS = Refusals("hf_config", "config.json: ", _CALLED)
refusal, missing = _REFUSALS.wrong, _REFUSALS.missing
_NOTHING = (None, False, 0, [], {})
REQUIRED: Any = object()  # as a default: a field that must be there
_MISSPELT = 0.9  # how near a misspelt name is: one letter of ten is another
_LETTERS = 2  # letters that it has too many or too few at most
_MOST_KEYS = 1_000  # keys that a misspelt one is sought among: a file has some hundred


class UnreadFieldError(Exception):
    """A field that changes the cache or the weights, which the family's reader did not ask for: its name and value."""

    def __init__(self, field: str, value: object):
        super().__init__(field, value)
        self.field, self.value = field, value


@dataclass
class Faults:
    """What is wrong with a file's fields, in the order in which they were read, each field once.

    `aside`: faults of what decides neither the cache nor the weights, such as RoPE's base. `unread`: fields that would
    change one of them and that no reader asked for. `layers`: a count of layers is among the faults, so that of lists
    with an entry for each layer nobody can say whether they are right.
    """

    found: list[GlassLlamaError] = field(default_factory=list)
    aside: list[GlassLlamaError] = field(default_factory=list)
    unread: list[UnreadFieldError] = field(default_factory=list)
    layers: bool = False

    def add(self, error: GlassLlamaError) -> None:
        """Notes a fault, unless the field has one already."""
        if all(error.params["field"] != other.params["field"] for other in self.found):
            self.found.append(error)


class Fields:
    """The fields of one JSON object. Each method takes a field's name, and older names for the same after it.

    `defaults` holds what transformers' class takes for fields that the file may leave out; those that were needed are
    collected in `assumed`. `path` is what the object is called in messages, such as "text_config.".

    What is wrong with a field is raised. With `faults` it is noted there instead, so that all faults of a file are
    found at once: a number is then Unstated, and a flag or a word its default or the first that it may be.

    `wrong` and `absent` word what is refused, and the class's numbers bound what is read: a reader with errors and
    bounds of its own, as the network's (model/fields.py), overrides these.
    """

    most, most_layers = MAX_COUNT, MAX_LAYERS

    def __init__(
        self,
        raw: Mapping[str, Any],
        path: str = "",
        defaults: Mapping[str, Any] | None = None,
        faults: Faults | None = None,
    ):
        self.raw, self.path, self.defaults, self.faults = raw, path, defaults or {}, faults
        self.assumed: dict[str, Any] = {}
        self._read: set[str] = set()

    def strict(self) -> Self:
        """The same fields, of which any fault is raised."""
        other = copy.copy(self)
        other.faults = None
        return other

    def fault(self, error: GlassLlamaError) -> Any:
        """Raises what is wrong with a field, or notes it and gives what stands for its number."""
        if self.faults is None:
            raise error
        self.faults.add(error)
        return Unstated(str(error.params["field"]))

    def aside(self, error: GlassLlamaError) -> None:
        """Raises what is wrong with a part that decides neither the cache nor the weights, or notes it."""
        if self.faults is None:
            raise error
        self.faults.aside.append(error.with_traceback(None))

    def wrong(self, name: str, value: object, right: Expected) -> GlassLlamaError:
        """The error for a field of this object with a wrong value."""
        return refusal(self.path + name, value, right)

    def absent(self, name: str, right: Expected) -> GlassLlamaError:
        """The error for a field that this object lacks."""
        near = self.near(name)
        return missing(self.path + name, right, near and self.path + near)

    def near(self, name: str) -> str:
        """The key of this object that is a misspelt `name`; "" for none. A name with a word more, such as
        moe_intermediate_size, is a field of its own."""
        as_long = [key for key in map(str, islice(self.raw, _MOST_KEYS)) if abs(len(key) - len(name)) <= _LETTERS]
        known = {name, *self._read, *SHAPE_FIELDS}
        others = [key for key in as_long if key not in known and f"_{name}" not in key and f"{name}_" not in key]
        return next(iter(difflib.get_close_matches(name, others, n=1, cutoff=_MISSPELT)), "")

    def bounds(self, _name: str) -> tuple[float, float]:
        """A number that is no count lies above the first and is at most the second."""
        return 0.0, 1e299

    def get(self, *names: str, default: Any = None) -> Any:
        """The value under the first of `names` that is there and not null, else the class's default, else `default`."""
        self._read.update(names)
        for name in names:
            if self.raw.get(name) is not None:
                return self.raw[name]
        if names[0] in self.defaults and not any(name in self.raw for name in names):
            self.assumed[self.path + names[0]] = self.defaults[names[0]]
            return self.defaults[names[0]]
        return default

    def count(self, *names: str, default: int | None = REQUIRED, low: int = 1, high: int | None = None) -> int:
        """A whole number from `low` to `high` (`most` by default); `default` for a field that is absent or null."""
        value, high = self.get(*names, default=default), high or self.most
        within = expected("whole", low=low, high=high)
        if value is REQUIRED:
            return self._uncounted(self.absent(names[0], within), high)
        if value is default and value is None:
            return value  # type: ignore[return-value]  # only where the caller gave None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            return self._uncounted(self.wrong(self._given(names), value, within), high)
        return value

    def _uncounted(self, error: GlassLlamaError, high: int) -> int:
        """What stands for a count that is missing or wrong."""
        if self.faults is not None and high == self.most_layers:
            self.faults.layers = True
        return self.fault(error)

    def layers(self, *names: str, default: int | None = REQUIRED) -> int:
        """As `count`, of layers."""
        return self.count(*names, default=default, high=self.most_layers)

    def maybe_count(self, *names: str, high: int | None = None) -> int | None:
        """As `count`; None where the field is absent, null or 0."""
        return None if self.get(*names) in (None, 0) else self.count(*names, high=high)

    def number(self, *names: str, default: float = REQUIRED) -> float:
        """A finite number within the field's `bounds`."""
        value = self.get(*names, default=default)
        if value is REQUIRED:
            return self.fault(self.absent(names[0], expected("above_zero")))
        good, (low, high) = isinstance(value, int | float) and not isinstance(value, bool), self.bounds(names[0])
        if not good or not low < value <= high or not math.isfinite(value):
            return self.fault(self.wrong(self._given(names), value, expected("finite_above_zero")))
        return float(value)

    def flag(self, *names: str, default: bool) -> bool:
        """True or False."""
        value = self.get(*names, default=default)
        if not isinstance(value, bool):
            self.fault(self.wrong(self._given(names), value, expected("boolean")))
            return default
        return value

    def word(self, *names: str, among: Sequence[str], default: str = REQUIRED) -> str:
        """One of the strings in `among`."""
        value = self.get(*names, default=default)
        if value is REQUIRED:
            self.fault(self.absent(names[0], any_of(among)))
            return among[0]
        if not isinstance(value, str) or value not in among:
            self.fault(self.wrong(self._given(names), value, any_of(among)))
            return among[0]
        return value

    def only(self, name: str, *accepted: object, default: object) -> None:
        """Refuses any value but these; a field that is absent or null stands for `default`."""
        value = self.get(name, default=default)
        if value in accepted or (self.faults and self.faults.layers and isinstance(value, list)):
            return
        self.fault(self.wrong(name, value, expected("exactly", value=" or ".join(map(repr, accepted)))))

    def part(self, name: str, defaults: Mapping[str, Any] | None = None) -> "Fields":
        """The object under `name`."""
        value = self.get(name, default=REQUIRED)
        if value is REQUIRED:
            raise self.absent(name, expected("object"))
        if not isinstance(value, Mapping):
            raise self.wrong(name, value, expected("object"))
        return self.inner(value, name, defaults)

    def inner(self, raw: Mapping[str, Any], name: str, defaults: Mapping[str, Any] | None = None) -> "Fields":
        """The fields of an object that stands under `name` in this one."""
        return Fields(raw, f"{self.path}{name}.", defaults, self.faults)

    def again(self, raw: Mapping[str, Any]) -> "Fields":
        """The same object with other contents."""
        return Fields(raw, self.path, self.defaults, self.faults)

    def strings(self, name: str, length: int) -> list[str] | None:
        """A list of exactly `length` strings, or None where there is none."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != length or not all(isinstance(item, str) for item in value):
            self.fault(self.wrong(name, value, expected("strings_a_layer", count=length)))
            return None
        return value

    def refuse_unread(self) -> None:
        """Raises, or notes, an UnreadFieldError for a field that changes the cache or the weights and was not asked
        for."""
        for name in SHAPE_FIELDS:
            if name not in self._read and self.raw.get(name) not in _NOTHING:
                value = self.raw[name]
                if (
                    name == "layer_types"
                    and isinstance(value, list)
                    and all(kind == "full_attention" for kind in value)
                ):
                    continue
                error = UnreadFieldError(self.path + name, value)
                if self.faults is None:
                    raise error
                self.faults.unread.append(error)

    def has_read(self, name: str) -> bool:
        """Whether a reader asked for the field."""
        return name in self._read

    def misspelt(self) -> Iterator[tuple[str, str]]:
        """(key, field): a key that nothing asked for, and the field that is not there, of which it is a misspelling."""
        for name in sorted(self._read):
            key = "" if name in self.raw else self.near(name)
            if key:
                yield self.path + key, name

    def _given(self, names: tuple[str, ...]) -> str:
        """That of the names under which the file has the field."""
        return next((name for name in names if self.raw.get(name) is not None), names[0])

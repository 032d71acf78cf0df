"""The chapter on the families: their networks beside each other, their parameters, what tables get wrong about them."""

from visuals.families import COLUMNS, families_message, kind_of
from visuals.messages.families import FamiliesAnswer

from ..engine import Engine
from ..requests import Sent
from ..zoo import small_name

ON_DEMAND = ("family-parameters", "family-myths")
PANELS = ("families", *ON_DEMAND)
# Which panel shows a row live, chapter and panel; where a line's code leads instead; and where it does as long as no
# model of the family is on offer: beside what the shown network has.
ROW_PLACES = {
    "stack": ("overview", "overview"),
    "norm": ("norm", "norm-vector"),
    "place": ("overview", "overview"),
    "layer": ("overview", "overview"),
    "position": ("position", "rope"),
    "attention": ("attend", "attention"),
    "mask": ("attend", "attention"),
    "ffn": ("ffn", "swiglu"),
    "biases": ("attend", "qkv"),
    "tied": ("choice", "contributions"),
    "goal": ("attend", "mask-kinds"),
    "data": ("overview", "training"),
    "context": ("kv", "kv-chart"),
    "vocabulary": ("token", "merges"),
    "sizes": ("families", "family-parameters"),
    "known": ("families", "family-myths"),
    "cache": ("kv", "kv-live"),
    "parameters": ("families", "family-parameters"),
}
CODE_PLACES = {
    "sinusoidal": ("position", "position-kinds"),
    "learned": ("position", "position-kinds"),
    "norm_after": ("norm", "norm-placement"),
    "pairs_next": ("position", "rope-layout"),
    "mla": ("attend", "latent"),
    "cross": ("attend", "cross"),
    "experts": ("ffn", "experts"),
    "relu": ("ffn", "activation-kinds"),
}
ELSEWHERE = {
    "alibi": ("position", "position-kinds"),
    "buckets": ("position", "position-kinds"),
    "layer_norm": ("norm", "norm-kinds"),
    "gelu_tanh": ("ffn", "activation-kinds"),
    "mha": ("attend", "attention-kinds"),
    "banded": ("attend", "mask-kinds"),
    "encoder_sees_all": ("attend", "mask-kinds"),
    "encoder_decoder": ("attend", "mask-kinds"),
    "mla": ("kv", "kv-kinds"),
    "cross": ("attend", "attention"),
    "experts": ("ffn", "swiglu"),
}


def families(engine: Engine, _data: Sent) -> FamiliesAnswer:
    """All that the panels show (visuals/families.py), where cells lead, and which models of each family are here."""
    return {
        **families_message(),
        "rowPlaces": ROW_PLACES,
        "codePlaces": CODE_PLACES,
        "elsewhere": ELSEWHERE,
        "live": on_offer(engine),
    }


def on_offer(engine: Engine) -> dict[str, list[str]]:
    """The models on offer of each family that there are any of: those called so first, then all of its kind."""
    kinds = {name: type(engine.about(name).config) for name in engine.names}
    found: dict[str, list[str]] = {}
    for column in COLUMNS.values():
        if not column.family:
            continue
        named = [name for name in (small_name(column.family), column.family) if name in kinds]
        alike = [name for name, kind in kinds.items() if kind is kind_of(column) and name not in named]
        if named or alike:
            found[column.family] = [*named, *alike]
    return found


CALCULATORS = {"families": families}

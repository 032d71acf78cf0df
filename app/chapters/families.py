"""The chapter on the families: their networks beside each other, their parameters, what tables get wrong about them."""

from typing import Any

from visuals.families import COLUMNS, families_message, kind_of
from visuals.payload import Message

from ..engine import Engine

PANELS = ("families", "family-parameters", "family-myths")
# Which panel shows a row live, and where a line's code leads elsewhere: chapter and panel.
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
    "cache": ("kv", "kv-live"),
    "parameters": ("families", "family-parameters"),
}
CODE_PLACES = {
    "alibi": ("position", "rope-score"),
    "buckets": ("position", "rope-score"),
    "sinusoidal": ("position", "rope-score"),
    "pairs_next": ("position", "rope-layout"),
    "mla": ("kv", "kv-kinds"),
}


def families(engine: Engine, _data: dict[str, Any]) -> Message:
    """All that the panels show (visuals/families.py), where cells lead, and which models of each family are here."""
    return {**families_message(), "rowPlaces": ROW_PLACES, "codePlaces": CODE_PLACES, "live": on_offer(engine)}


def on_offer(engine: Engine) -> dict[str, list[str]]:
    """The models on offer of each family that there are any of: the one of its name first, and those of its kind."""
    families = {column.family: kind_of(column) for column in COLUMNS.values() if column.family}
    found = {family: [name for name in engine.names if name == family] for family in families}
    for name in engine.names:
        if name in families:
            continue
        kind = type(engine.about(name).config)
        for family, own in families.items():
            if own is kind:
                found[family].append(name)
    return {family: names for family, names in found.items() if names}


CALCULATORS = {"families": families}

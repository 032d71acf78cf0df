"""The code behind every panel of a run, for a file: each function once, though many layers and panels show it."""

from collections.abc import Sequence
from typing import cast

from visuals.messages.code import CodeDetail, CodeExcerpt
from visuals.messages.one_file import CodeOfLayers, FileCode
from visuals.source_code import CODED

from ..engine import Engine
from ..operations import CODE, TENSORS
from ..session import HeldRun


def add_code(code: FileCode, engine: Engine, held: HeldRun) -> None:
    """Adds the code of all layers of a run's stack."""
    for layer in range(held.trace.n_layers):
        found = _of_layer(code["excerpts"], engine, held, layer)
        for other in code["layers"]:
            if found == {**other, "layers": [layer]}:
                other["layers"].append(layer)
                break
        else:
            code["layers"].append(found)


def _of_layer(excerpts: list[CodeExcerpt], engine: Engine, held: HeldRun, layer: int) -> CodeOfLayers:
    def asked(panel: str, tensors: Sequence[str] = ()) -> list[CodeExcerpt]:
        return cast(CodeDetail, held.study(engine, CODE, layer, panel, tensors))["excerpts"]

    tensors: dict[str, tuple[int, int]] = {}
    for excerpt in asked("", list(held.study(engine, TENSORS, layer))):
        at = _place(excerpts, excerpt)
        tensors |= {made["tensor"]: (at, made["line"]) for made in excerpt["makes"]}
    panels = {panel: [_place(excerpts, excerpt) for excerpt in asked(panel)] for panel in sorted(CODED)}
    return {"run": held.id, "layers": [layer], "tensors": tensors, "panels": panels}


def _place(excerpts: list[CodeExcerpt], excerpt: CodeExcerpt) -> int:
    """Which of the excerpts it is; a new one becomes the last."""
    bare: CodeExcerpt = {**excerpt, "makes": []}
    if bare not in excerpts:
        excerpts.append(bare)
    return excerpts.index(bare)

"""The losses beyond the trained length that the page shows are those that the command measured."""

import re

from tests.page import ROOT

ROW = re.compile(r"^\| (\d\S+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
SHOWN = re.compile(r'positions: "(\S+)", small_rope: ([\d.]+), small_alibi: ([\d.]+), bundled: ([\d.]+)')


def test_losses_beyond_the_trained_length_are_those_of_the_zoos_table() -> None:
    section = (ROOT / "model/zoo/README.md").read_text("utf-8").partition("## Beyond the trained length")[2]
    measured = {positions: tuple(map(float, losses)) for positions, *losses in ROW.findall(section)}
    script = (ROOT / "visuals/static/panels/position/position-kinds.js").read_text("utf-8")
    shown = {positions: tuple(map(float, losses)) for positions, *losses in SHOWN.findall(script)}
    assert len(shown) == 5
    assert shown == {positions: measured[positions] for positions in shown}

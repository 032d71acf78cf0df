"""What the READMEs and the model card say is so: the model types that are read, shares and ranges of measurements."""

import json
import re
from pathlib import Path

import pytest

from model.kv_math.__main__ import main
from model.published.catalogue import catalogue
from model.published.hf import MODEL_TYPES

ROOT = Path(__file__).parents[1]
CARD = re.sub(r"\s+", " ", (ROOT / "model" / "bundled" / "README.md").read_text(encoding="utf-8"))


def test_every_model_type_is_listed_where_the_readme_says(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "`python -m model.kv_math --help`" in text
        assert not re.search(r"any `?config|任何 `config", text), name
        assert f" {len(catalogue())} " in text
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out.split("model_type that --config and --hub read:")[1]
    assert [name.strip() for name in listed.strip().rstrip(".").split(",")] == [*MODEL_TYPES]


def test_the_card_states_how_much_of_the_training_was_long_rows() -> None:
    stages = re.findall(r"\| ([\d.]+) M[^|]* \| \d+ × (\d+) \|", CARD)
    assert len(stages) > 1
    between = 0.1  # million tokens of long rows between two stages; see the card
    tokens = between + sum(float(million) for million, _ in stages)
    long = between + sum(float(million) for million, context in stages if context == "512")
    assert f"{long / tokens:.0%}".replace("%", " %") + " of its training" in CARD


def test_the_card_states_the_range_of_the_control() -> None:
    found = json.loads((ROOT / "model" / "bundled" / "heads.json").read_text(encoding="utf-8"))["ablation"]
    worst, best = (pick(found["random"], key=lambda draw: draw["share"]) for pick in (min, max))
    for draw, digits in ((worst, 2), (best, 1)):
        assert f"{draw['share']:.{digits}%}".replace("%", " %") + f" at {draw['nats']:.3f}" in CARD

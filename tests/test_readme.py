"""What the READMEs and the model card say is so: the model types that are read, shares and ranges of measurements."""

import json
import re
from pathlib import Path

import pytest

from model.checkpoint import BUNDLED
from model.kv_math.__main__ import main
from model.published.catalogue import catalogue
from model.published.hf import MODEL_TYPES
from model.record import read_record
from model.train.curriculum import recipe

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


def test_the_card_has_the_recipes_stages_with_the_logs_loss_after_each() -> None:
    after = {entry.stage: entry.heldout for entry in read_record(BUNDLED).log}
    rows = re.findall(r"\| (\w+)[^|]*\| ([\d.]+) M \| (\d+) × (\d+) \| [^|]+ \| ([\d.]+) \|", CARD)
    assert rows == [
        (
            stage.name, f"{stage.tokens / 1e6:.1f}", str(stage.batch_size), str(stage.context),
            f"{after[stage.name]:.3f}",
        )
        for stage in recipe()
    ]  # fmt: skip
    longest = max(stage.context for stage in recipe())
    assert f"({longest} seen in training)" in CARD
    assert f"was longer than {longest} tokens" in CARD


def test_the_card_states_the_range_of_the_control() -> None:
    found = json.loads((ROOT / "model" / "bundled" / "heads.json").read_text(encoding="utf-8"))["ablation"]
    worst, best = (pick(found["random"], key=lambda draw: draw["share"]) for pick in (min, max))
    for draw in (worst, best):
        assert f"{draw['share']:.2%}".replace("%", " %") + f" at {draw['nats']:.3f}" in CARD


@pytest.mark.parametrize("page", ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_a_guide_names_is_there(page: str) -> None:
    """By the end of its path: `hf/sizes.py` is any file that ends so."""
    rooms = ("app", "docs", "model", "tests", "visuals")
    files = [f"/{path.relative_to(ROOT).as_posix()}" for room in rooms for path in (ROOT / room).rglob("*")]
    files += [f"/{path.name}" for path in ROOT.iterdir()]
    named = re.findall(
        r"`([\w./-]+\.(?:py|js|ts|json|md|css|toml|txt|lock))`", (ROOT / page).read_text(encoding="utf-8")
    )
    assert len(named) > 20
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in files)] == []

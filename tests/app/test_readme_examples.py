"""The READMEs' examples for programs, run as they stand: Python and curl."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:7860/"
READMES = ("README.md", "README.zh.md")


def examples(name: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("name", READMES)
def test_python_runs_and_gives_what_stands_beside_it(
    name: str, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = examples(name, "python")
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(block.replace(ADDRESS.rstrip("/"), site), names)
    assert names["trace"].pieces == ["猫", "在", "沙发", "上", "睡觉"]
    assert names["about"]["dimensions"]["layers.3.attention"] == ["n_heads", "T", "T"]
    assert names["arrays"]["layers.3.attention"].shape == names["layer"].attention.shape
    found = names["found"]
    assert abs(found.without) < 0.05 < 0.7 < found.recovered < 1  # what 20 nodes carry, and all others without them


@pytest.mark.parametrize("name", READMES)
def test_curl_gets_an_answer(name: str, site: str) -> None:
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    (example,) = (block for block in examples(name, "sh") if "curl" in block)
    said = subprocess.run(["bash", "-ec", example.replace(ADDRESS, site)], capture_output=True, text=True, timeout=120)
    assert "event: complete" in said.stdout
    assert '"probability"' in said.stdout

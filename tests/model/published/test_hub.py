"""Hub ids, through the Hub's own client, against a small server that speaks the Hub's routes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest
import torch

import model
from tests.hub import Hub, serve
from tests.reference import sample_ids

ROOT = Path(__file__).parents[3]
NEEDED = {"config.json", "tokenizer.json", "model.safetensors"}


def point_at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What HF_ENDPOINT does when the client is imported."""
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


@pytest.fixture
def hub(checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub with the model org/tiny, beside files that nobody should download, and an empty cache of one's own."""
    repository = tmp_path / "repository"
    repository.mkdir()
    for file in checkpoint.iterdir():
        (repository / file.name).write_bytes(file.read_bytes())
    for name in ("pytorch_model.bin", "README.md", "tokenizer.model", "modeling_evil.py"):
        (repository / name).write_bytes(b"not wanted")
    served = Hub({"org/tiny": repository, "org/gated": repository}, gated={"org/gated"})
    with serve(served):
        point_at(served.url, monkeypatch)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.chdir(tmp_path)
        yield served


def refusal(where: str) -> str:
    with pytest.raises(model.GlassLlamaError) as caught:
        model.load(where, device="cpu")
    assert caught.value.code == "hub"
    assert str(caught.value).startswith(f"{where}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_hub_id_is_downloaded_and_is_the_same_model(hub: Hub, lm: model.LanguageModel) -> None:
    ours, ids = model.load("org/tiny", device="cpu"), sample_ids(1, 5)
    assert ours.name == "org/tiny"
    assert ours.config == lm.config
    assert torch.equal(ours.net(ids), lm.net(ids))
    assert hub.downloaded() == NEEDED


def test_a_sharded_model_is_downloaded_whole(hub: Hub, lm: model.LanguageModel) -> None:
    repository = hub.repositories["org/tiny"]
    (repository / "model.safetensors").rename(repository / "model-00001-of-00001.safetensors")
    weight_map = '{"weight_map": {"model.norm.weight": "model-00001-of-00001.safetensors"}}'
    (repository / "model.safetensors.index.json").write_text(weight_map)
    assert torch.equal(model.load("org/tiny", device="cpu").net.norm.weight, lm.net.norm.weight)
    assert "model.safetensors.index.json" in hub.downloaded()


def test_a_second_time_nothing_is_downloaded_and_no_hub_is_needed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    model.load("org/tiny", device="cpu")
    hub.requests.clear()
    model.load("org/tiny", device="cpu")
    assert hub.downloaded() == set()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    hub.requests.clear()
    assert model.load("org/tiny", device="cpu").name == "org/tiny"
    assert hub.requests == []


def test_a_directory_of_that_name_comes_first(hub: Hub, checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "tiny").symlink_to(checkpoint)
    model.load("org/tiny", device="cpu")
    assert hub.requests == []


@pytest.mark.parametrize("where", ["org/absent", "no such name", "org/bad..name", "x" * 1000], ids=lambda s: s[:12])
def test_what_is_not_on_the_hub(hub: Hub, where: str) -> None:
    assert refusal(where).endswith(
        ": there is no such directory here and no such model on the Hub; check the spelling (OWNER/NAME)."
    )


def test_a_gated_model(hub: Hub) -> None:
    assert "it is gated: accept its terms on its page, then run `hf auth login`" in refusal("org/gated")


OFFLINE = (
    r"the Hub cannot be reached and the model is not in the local cache \(.+\); download it elsewhere and give its "
)


@pytest.mark.parametrize("how", ["offline", "refused", "broken"])
def test_without_a_hub_the_message_points_at_a_directory(hub: Hub, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "offline":
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    elif how == "refused":
        point_at("http://127.0.0.1:9", monkeypatch)
    hub.broken = how == "broken"
    with pytest.raises(model.GlassLlamaError, match=f"^org/tiny: {OFFLINE}directory\\.$"):
        model.load("org/tiny", device="cpu")


def test_a_download_that_breaks_off(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_off(*_args: object, **_settings: object) -> None:
        raise huggingface_hub.errors.XetDownloadError("the connection\nwas cut")

    monkeypatch.setattr("model.checkpoint_files.snapshot_download", break_off)
    assert "(the connection)" in refusal("org/tiny")


@pytest.mark.thorough
def test_hf_endpoint_of_the_environment_is_followed(hub: Hub, tmp_path: Path) -> None:
    """In a process of its own, as the client reads its settings once, when it is imported."""
    settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    code = "import model; lm = model.load('org/tiny', device='cpu'); print(lm.name, lm.n_parameters)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | settings,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "org/tiny"
    assert hub.downloaded() == NEEDED

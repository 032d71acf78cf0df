"""In networks of every family the first value that is not finite is found by its layer and part, in either stack."""

from pathlib import Path
from typing import Any

import pytest
import torch

import model

ZOO = sorted(path.parent.name for path in (Path(model.__file__).parent / "zoo").glob("*/config.json"))
TEXT = "The cat sleeps on the sofa."


def load(family: str) -> model.LanguageModel:
    return model.load(Path(model.__file__).parent / "zoo" / family, device="cpu")


def spoil(module: torch.nn.Module) -> None:
    """NaN in all that a module multiplies with, or adds."""
    for weight in module.parameters():
        weight.fill_(float("nan"))


def first_of(lm: model.LanguageModel) -> Any:
    with pytest.raises(model.GlassLlamaError) as caught:
        model.run_trace(lm, TEXT).check_finite()
    with pytest.raises(model.GlassLlamaError) as generated:
        list(model.generate(lm, TEXT, max_new_tokens=2))
    assert str(generated.value) == str(caught.value)
    return caught.value


@pytest.mark.parametrize("part", ["attn_norm", "attn", "ffn_norm", "ffn", "cross_norm", "cross"])
@pytest.mark.parametrize("family", ZOO)
def test_every_part_of_every_family(family: str, part: str) -> None:
    lm = load(family)
    block = lm.net.block(1)
    if not hasattr(block, part):
        pytest.skip(f"{family} has no {part}")
    spoil(block.get_submodule(part))
    said = first_of(lm)
    assert (said.code, said.params["part"], said.params["layer"]) == ("not_finite", part, 1)


@pytest.mark.parametrize("part", ["attn_norm", "attn", "ffn_norm", "ffn"])
def test_an_encoder_is_named(part: str) -> None:
    lm = load("t5")
    spoil(lm.net.encoder.block(1).get_submodule(part))
    said = first_of(lm)
    assert (said.code, said.params["part"], said.params["layer"]) == ("not_finite_encoder", part, 1)
    assert " of the encoder, at token 0" in str(said)


@pytest.mark.parametrize("family", ZOO)
def test_what_comes_before_and_after_the_layers(family: str) -> None:
    lm = load(family)
    spoil(lm.net.norm)
    assert first_of(lm).params["part"] == "final_norm"
    lm = load(family)
    spoil(lm.net.embed)
    said = first_of(lm)
    assert (said.params["part"], said.params["layer"], said.params["token"]) == ("embedding", None, 0)
    assert said.code == ("not_finite_encoder" if lm.reads_source else "not_finite")

"""Two LLaMAs that differ in their norms alone, and what is told of their losses."""

from pathlib import Path

import pytest
import torch

from model.norms import LayerNorm, RMSNorm
from model.train import norms
from model.train.curriculum import Stage
from model.train.initial import initialise
from model.train.norms import NETWORKS, SHAPE, told, trained_loss


def test_a_pair_begins_with_the_same_weights_and_differs_in_its_norms() -> None:
    rms, layer = (NETWORKS[name](SHAPE) for name in ("rms_norm", "layer_norm"))
    for net, kind in ((rms, RMSNorm), (layer, LayerNorm)):
        initialise(net, seed=3)
        found = [module for module in net.modules() if isinstance(module, RMSNorm | LayerNorm)]
        assert [type(one) for one in found] == [kind] * (2 * SHAPE.n_layers + 1)
    theirs = layer.state_dict()
    for name, weight in rms.state_dict().items():
        torch.testing.assert_close(theirs.pop(name), weight, rtol=0, atol=0)
    assert all(name.endswith("norm.bias") and not bias.any() for name, bias in theirs.items())


@pytest.mark.thorough
def test_both_learn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(norms.zoo, "stages", lambda _: (Stage("tiny", tokens=6 * 128, batch_size=2, context=64),))
    monkeypatch.chdir(tmp_path)
    assert all(trained_loss(build, 0, 0) < 8.3 for build in NETWORKS.values())  # ln 4096 = 8.318, what chance has
    assert not [*tmp_path.iterdir()]


def test_what_is_told_is_worked_out_by_hand() -> None:
    pairs = [{"rms_norm": 2.0, "layer_norm": 2.1}, {"rms_norm": 2.2, "layer_norm": 2.2}]
    assert told(pairs).splitlines()[-1] == (
        "layer_norm − rms_norm: +0.0500 nats a token, standard error 0.0500; "
        "seeds of one network differ by 0.1061 (standard deviation)"
    )

"""The opened draw is the draw that the model's own generation makes."""

import numpy as np
import pytest
import torch

import model
from model.analysis.draw import draw
from model.sampling import Sampling, choose, filtered_logits

SETTINGS = [Sampling(0.7), Sampling(1.3, top_k=20), Sampling(1.0, top_p=0.8), Sampling(0.9, 40, 0.9)]


@pytest.mark.parametrize("how", SETTINGS)
def test_the_largest_p_over_e_is_the_token_that_choose_gives(how: Sampling) -> None:
    logits = torch.randn(500, generator=torch.Generator().manual_seed(3)) * 3
    for seed in range(40):
        ours = draw(logits, how, seed)
        assert (ours.token, ours.probability) == choose(logits, how, torch.Generator().manual_seed(seed))
        assert ours.throws is not None
        assert int((ours.probabilities / ours.throws).argmax()) == ours.token
        np.testing.assert_allclose(ours.probabilities, filtered_logits(logits, how).softmax(-1))


@pytest.mark.parametrize("how", SETTINGS)
def test_it_is_what_generation_writes(lm: model.LanguageModel, how: Sampling) -> None:
    trace = model.run_trace(lm, "The cat sleeps")
    for seed in range(5):
        step = next(iter(model.generate(lm, "The cat sleeps", 1, **how._asdict(), seed=seed)))
        ours = draw(torch.from_numpy(trace.logits), how, seed)
        assert ours.token == step.token_id
        assert ours.probability == pytest.approx(step.drawn_probability, rel=1e-4)


def test_nothing_is_thrown_at_temperature_zero() -> None:
    ours = draw(torch.tensor([0.0, 2.0, 1.0]), Sampling(0.0), 5)
    assert (ours.token, ours.probability, ours.throws) == (1, 1.0, None)
    assert ours.probabilities.tolist() == [0.0, 1.0, 0.0]


def test_another_way_of_drawing_shows_no_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PyTorch that drew in another way would make the throws wrong; then none are shown."""
    monkeypatch.setattr("model.analysis.draw.choose", lambda logits, how, random: (int(logits.argmin()), 0.25))
    assert draw(torch.tensor([0.0, 9.0, 9.0]), Sampling(1.0), 1).throws is None

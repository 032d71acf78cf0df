"""The load of experts by kind of token and of document: its sums by hand, its counts on the small Mixtral."""

import pytest
import torch

import model
from model.checkpoint import BUNDLED
from model.evaluate.experts import dealt_by_lot, kind_of, moved, read, report, usual_choices

# Four tokens, three experts, two of them for each.
CHOICES = torch.tensor([[1.0, 1, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]]).double()


def test_what_moves_is_worked_out_by_hand() -> None:
    # Of all, the shares are 3/8, 3/8, 2/8. Group a has 1/2, 1/2, 0; group b 1/4, 1/4, 1/2.
    assert moved(CHOICES, ["a", "a", "b", "b"]) == pytest.approx({"a": 0.25, "b": 0.25})
    assert moved(CHOICES, ["a"] * 4) == {"a": 0}


def test_usual_choices_are_the_means_of_the_same_text() -> None:
    expected = [[1, 0.5, 0.5], [1, 1, 0], [1, 0.5, 0.5], [0, 1, 1]]
    assert usual_choices(CHOICES, ["the", "cat", "the", "sat"]).tolist() == expected


def test_kinds_of_token() -> None:
    given = {" Tom": "Latin", "猫": "Chinese", " 17": "digits", ".": "marks", "，": "marks", "\n": "space"}
    assert {piece: kind_of(piece) for piece in given} == given


def test_the_small_mixtral_is_counted_whole() -> None:
    lm = model.load(BUNDLED.parent / "zoo" / "mixtral", device="cpu")
    found = read(lm, of_each=1)
    assert {len(document.chosen) for document in found} == {lm.config.n_layers}
    for document in found:
        for chosen in document.chosen.values():
            assert chosen.shape == (len(document.pieces), 8)
            assert (chosen.sum(1) == 2).all()
    # The first layer's router, by hand: the two largest logits on what its norm gives it.
    ids = lm.tokenizer.encode("".join(found[0].pieces))
    block = lm.net.layers[0]
    with torch.inference_mode():
        trace = model.run_trace(lm, ids)
        stream = torch.from_numpy(trace.layer(0).resid_mid)
        best = (block.ffn_norm(stream) @ block.ffn.router.weight.T).topk(2).indices
    assert found[0].chosen["layers.0.ffn"].nonzero()[:, 1].view(-1, 2).tolist() == best.sort().values.tolist()
    assert sorted(dealt_by_lot(found)) == sorted(document.kind for document in found)
    assert len(report(found).splitlines()) == lm.config.n_layers


def test_a_network_without_experts_is_refused() -> None:
    with pytest.raises(ValueError, match="has no experts"):
        read(model.load(BUNDLED, device="cpu"), of_each=1)

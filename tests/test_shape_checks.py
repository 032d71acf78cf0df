"""The shape annotations of `model` are really checked while tests run, and nothing but shapes is."""

import pytest
import torch
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor

from model.forward_pass import Pass
from model.norms import rms
from model.positions import Rotation, rotate
from model.sampling import Sampling, filtered_logits
from tests.shape_checks import check_shapes, once_for_its_shapes, shape, where_shapes_are


def test_a_wrongly_shaped_call_raises() -> None:
    positions = Rotation(torch.ones(3, 4), torch.zeros(3, 4))
    assert rotate(torch.ones(1, 2, 3, 4), positions).shape == (1, 2, 3, 4)
    with pytest.raises(TypeCheckError, match="rotate"):
        rotate(torch.ones(2, 3, 4), positions)
    with pytest.raises(TypeCheckError, match="rms"):
        rms(torch.ones(3, dtype=torch.int64), 1e-5)
    with pytest.raises(TypeCheckError, match="filtered_logits"):
        filtered_logits(torch.ones(2, 3), Sampling(1.0))


def test_a_wrongly_shaped_layer_raises(lm) -> None:
    attention, positions = lm.net.layers[0].attn, lm.net.positions(0, 5)
    assert attention(torch.ones(1, 5, 48), Pass(positions)).shape == (1, 5, 48)
    with pytest.raises(TypeCheckError, match=r"Attention\.forward"):
        attention(torch.ones(5, 48), Pass(positions))
    with pytest.raises(TypeCheckError, match=r"Llama\.forward"):
        lm.net(torch.ones(1, 5))


def test_results_and_shared_names_are_checked() -> None:
    @jaxtyped(typechecker=check_shapes)
    def join(a: Float[Tensor, "n d"], b: Float[Tensor, "n e"] | None = None) -> tuple[Float[Tensor, "n d"], int]:
        return (a if b is None else torch.cat((a, b), 1)), 1

    join(torch.ones(2, 3))
    with pytest.raises(TypeCheckError, match="return"):
        join(torch.ones(2, 3), torch.ones(2, 4))
    with pytest.raises(TypeCheckError, match="parameter"):
        join(torch.ones(2, 3), torch.ones(3, 4))


def test_what_was_looked_at_once_is_not_looked_at_again_while_its_shapes_are_the_same() -> None:
    looked: list[tuple[int, ...]] = []

    def turn(x: Float[Tensor, "n d"], wide: bool = False) -> Float[Tensor, "d n"]:
        return x.new_ones(3, 3) if wide else x.T

    def look(x: Tensor, wide: bool = False) -> Tensor:
        looked.append(tuple(x.shape))
        return checked(x, wide)

    checked = where_shapes_are(typechecker=check_shapes)(turn)
    once = once_for_its_shapes(turn, lambda: look)
    for size in ((2, 3), (2, 3), (3, 3), (2, 3)):
        once(torch.ones(size))
    assert looked == [(2, 3), (3, 3)]
    with pytest.raises(TypeCheckError, match="parameter"):
        checked(torch.ones(2))
    with pytest.raises(TypeCheckError, match="parameter"):
        checked(torch.ones(2, 3, dtype=torch.int64))
    with pytest.raises(TypeCheckError, match="return"):
        checked(torch.ones(2, 3), True)
    checked(torch.ones(2, 3), False)
    with pytest.raises(TypeCheckError, match="return"):  # the same shapes in, others out
        checked(torch.ones(2, 3), True)


def test_the_shapes_of_a_call_are_those_of_every_array_in_it() -> None:
    one, other = torch.ones(2, 3), torch.ones(3, 2)
    for hold in (lambda x: x, lambda x: (x, 1), lambda x: [None, x], lambda x: {"a": x}, lambda x: (x.numpy(),)):
        assert shape(hold(one)) == shape(hold(one + 1))
        assert shape(hold(one)) != shape(hold(other))
        assert shape(hold(one)) != shape(hold(one.double()))


def test_plain_annotations_are_left_to_the_code_that_explains_them() -> None:
    with pytest.raises(ValueError, match="temperature is 'hot'; expected a number"):
        Sampling("hot").check()

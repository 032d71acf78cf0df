"""What a checkpoint's own quantisation makes of the weights: products of codes, scales and zero points. Integers."""

from collections.abc import Iterator
from dataclasses import replace
from math import gcd

from ..published.parameters import Matrix, WeightPart, without
from ..published.quantised import ceil_of, names_module
from ..published.spec import QuantSpec
from .factors import Factor
from .formats import SIXTEEN_BIT, KvFormat

Product = tuple[WeightPart, tuple[Factor, ...]]


def stored_products(part: WeightPart, quant: QuantSpec) -> Iterator[Product]:
    """The products of one part: what is quantised, then what of it stays in 16 bits.

    Codes keep the part's label; what stands beside them is called "scales", "zeros" and "order" after it.
    """
    for matrices, layers in _alike(part, quant):
        quantised = without(part.layers, layers)
        chosen = replace(part, matrices=matrices, each=sum(one.inputs * one.outputs for one in matrices))
        if chosen.each != part.each:
            chosen = replace(chosen, how=_sum([f"{one.inputs:,} × {one.outputs:,}" for one in matrices]))
        if quantised:
            yield from _quantised(replace(chosen, layers=quantised), quant)
        if layers:
            yield replace(chosen, layers=layers), plain_factors(replace(chosen, layers=layers), SIXTEEN_BIT)


def _alike(part: WeightPart, quant: QuantSpec) -> Iterator[tuple[tuple[Matrix, ...], tuple[int, ...]]]:
    """Matrices that stay in 16 bits in the same layers, and those layers."""
    found: dict[tuple[int, ...], list[Matrix]] = {}
    for matrix in part.matrices:
        found.setdefault(_kept_layers(part, matrix.module, quant), []).append(matrix)
    yield from ((tuple(matrices), layers) for layers, matrices in found.items())


def _kept_layers(part: WeightPart, module: str, quant: QuantSpec) -> tuple[int, ...]:
    if quant.experts_alone and part.reading != "experts":
        return part.layers
    if quant.only and not any(names_module(name, module) for name in quant.only):
        return part.layers
    named = {layer for layer, name in quant.kept if names_module(name, module)}
    return part.layers if -1 in named else tuple(layer for layer in part.layers if layer in named)


def _quantised(part: WeightPart, quant: QuantSpec) -> Iterator[Product]:
    """Codes, scales, the scales of scales, zero points, which group each input belongs to."""
    yield part, (*leading(part), *_packed(part.each, quant.bits, part.how, quant.name))
    scales, how = _groups(part.matrices, quant)
    beside = quant.each_bytes * len(part.matrices) + (4 * ceil_of(scales, quant.nested) if quant.nested else 0)
    yield _beside(part, "scales", Factor(scales, "scales", how), Factor(quant.scale_bytes, "bytes_each"))
    if beside:
        yield _beside(part, "tables", Factor(beside, "bytes_beside", params={"format": quant.name}))
    if quant.zero_bits:
        yield _beside(part, "zeros", *_packed(scales, quant.zero_bits, "", quant.name))
    if quant.order:
        inputs = Factor(
            sum(one.inputs for one in part.matrices), "inputs", _sum([f"{one.inputs:,}" for one in part.matrices])
        )
        yield _beside(part, "order", inputs, Factor(4, "bytes_each"))


def _beside(part: WeightPart, what: str, *factors: Factor) -> Product:
    """A product of numbers that are no weights: they count for no parameter."""
    return replace(part, label=f"{part.label}.{what}", each=0, how="", matrices=()), (*leading(part), *factors)


def _groups(matrices: tuple[Matrix, ...], quant: QuantSpec) -> tuple[int, str]:
    if quant.flat:
        counts = [ceil_of(one.inputs * one.outputs, quant.flat) for one in matrices]
        return sum(counts), _sum([f"{one.inputs:,} × {one.outputs:,} / {quant.flat}" for one in matrices])
    pairs = [(ceil_of(one.inputs, quant.group_in), ceil_of(one.outputs, quant.group_out)) for one in matrices]
    return sum(one * two for one, two in pairs), _sum([f"{one:,} × {two:,}" for one, two in pairs])


def _packed(count: int, bits: int, how: str, name: str) -> tuple[Factor, ...]:
    """`count` numbers of `bits` bits, in blocks of whole bytes; the last block is filled up."""
    block = 8 // gcd(8, bits)
    size = bits * block // 8
    if block == 1:
        return Factor(count, "weights", how), Factor(size, "bytes", params={"format": name})
    came = how or f"{count:,}"
    came = f"{came} / {block}" if count % block == 0 else f"ceil({came} / {block})"
    return (
        Factor(ceil_of(count, block), "blocks_of_weights", came, {"count": block}),
        Factor(size, "bytes_per_block", params={"format": name}),
    )


def leading(part: WeightPart) -> tuple[Factor, ...]:
    """Layers and experts."""
    layers = (Factor(len(part.layers), "layers"),) if part.layers else ()
    experts = (Factor(part.copies, "experts"),) if part.copies > 1 or part.reading == "experts" else ()
    return (*layers, *experts)


def plain_factors(part: WeightPart, fmt: KvFormat) -> tuple[Factor, ...]:
    """The product of weights in a format without blocks."""
    size = Factor(fmt.block_bytes, "bytes", params={"format": fmt.name})
    return (*leading(part), Factor(part.each, "weights", part.how), size)


def _sum(parts: list[str]) -> str:
    """Equal ones together."""
    counted = {one: parts.count(one) for one in parts}
    return " + ".join(one if n == 1 else f"{n} × {one}" for one, n in counted.items())

"""The numbers that a multiplication is made of: in English here, and by their codes in the page's other languages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..published.phrases import Phrase

# What a number counts, by code; the second where there is one of it.
NAMES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {code: (several, one or several) for code, several, one in (
        ("layers", "layers", "layer"),
        ("sequences", "sequences", "sequence"),
        ("tokens", "tokens", "token"),
        ("blocks", "blocks", "block"),
        ("tokens_per_block", "tokens per block", ""),
        ("ranks", "ranks", "rank"),
        ("ranks_each_with_all_of_it", "ranks, each with all of it", ""),
        ("ranks_each_with_its_share", "ranks, each with its share of the tokens", ""),
        ("k_v_heads", "K/V heads", "K/V head"),
        ("k_v_heads_per_rank", "K/V heads per rank", ""),
        ("k_and_v", "K and V", ""),
        ("head_dim", "head_dim", ""),
        ("latent_rope_key", "latent + RoPE key", ""),
        ("widths_of_k_v", "widths of K + V", ""),
        ("indexer_key", "indexer key", ""),
        ("entries", "compressed entries", "compressed entry"),
        ("entries_per_block", "entries per block", "entry per block"),
        ("value_and_gate", "value and gate", ""),
        ("compressor_width", "compressor's width", ""),
        ("heads", "heads", ""),
        ("channels", "channels", ""),
        ("past_inputs", "past inputs", ""),
        ("rows", "rows", ""),
        ("columns", "columns", ""),
        ("weights", "weights", ""),
        ("experts", "experts", ""),
        ("experts_read", "experts read", ""),
        ("blocks_of_weights", "blocks of {count} weights", ""),
        ("bytes", "bytes ({format})", "byte ({format})"),
        ("bytes_per_vector", "bytes per vector ({format})", ""),
        ("bytes_per_k_v_head", "bytes per K/V head ({format})", ""),
        ("bytes_per_token", "bytes per token ({format})", ""),
        ("bytes_per_block", "bytes per block ({format})", ""),
        ("scales", "scales", "scale"),
        ("inputs", "inputs", "input"),
        ("bytes_each", "bytes each", "byte each"),
        ("bytes_beside", "bytes beside them ({format})", ""),
        ("bytes_per_row", "bytes per row", ""),
        ("step_tokens", "tokens of a step", "token of a step"),
        ("stream_and_norm", "stream and its normed copy", ""),
        ("d_model", "d_model", ""),
        ("ffn_parts", "gate, input, product", ""),
        ("ffn_width", "width of the feed-forward", ""),
        ("vocabulary", "vocabulary", ""),
        ("mib", "MiB", ""),
        ("tensors", "tensors", "tensor"),
    )}
)  # fmt: skip
# Arithmetic that cannot be told in numbers and operators alone, by code.
HOWS: Mapping[str, str] = MappingProxyType(
    {
        "shared": "{shared} shared + {sequences} sequences × {each}",
        "longest_tail": "{least}: the longest tail",
        "top": "top {chosen} of {all}",
    }
)


class How(Phrase):
    """Arithmetic with words in it."""

    ENGLISH = HOWS


how = How.of


@dataclass(frozen=True)
class Factor:
    """One number of a multiplication: what it counts, a code of NAMES with the particulars that its name has, and how
    it came about where that takes arithmetic: "" where it does not, numbers and operators, or a How.
    """

    value: int
    code: str
    how: str | How = ""
    params: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What is counted, in English."""
        return NAMES[self.code][self.value == 1].format(**self.params)

    def __str__(self) -> str:
        return f"{self.value:,} {self.name}" + (f" ({self.how})" if self.how else "")

"""What would be right in place of a refused value: in English here, and by its code in the page's other languages."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from .phrases import Phrase

ENGLISH: Mapping[str, str] = MappingProxyType(
    {
        "whole": "a whole number from {low} to {high}",
        "whole_from": "a whole number of at least {low}",
        "above_zero": "a number above 0",
        "finite_above_zero": "a finite number above 0",
        "finite": "a finite one",
        "share": "a number above 0, at most 1",
        "percent": "a percentage from 1 to 100, such as 92.5 (below 2 with its %), or a share up to 1, such as 0.925",
        "even": "an even number",
        "boolean": "true or false",
        "exactly": "{value}",
        "one_of": "one of {names}",
        "one_of_near": "one of {names} (did you mean {near}?)",
        "each_one_of": "each one of {names}",
        "divisor": "a divisor of {name} ({value})",
        "meant": "another name: did you mean {name}? It would be {value}",
        "divisor_not_class": "a divisor of {name} ({value}); without it transformers' class takes {taken}",
        "divisor_or_multiple": "a divisor or a multiple of {name} ({value})",
        "divisor_of_width": "a divisor of the hidden size ({value})",
        "divisor_of_heads": "a divisor of the heads ({value})",
        "divisor_of_copies": "a divisor of the copies that tp={tp} makes of each head ({copies})",
        "divisor_of_state": "a divisor of the state's heads ({heads}) and channels ({channels})",
        "multiple": "a multiple of {name} ({value})",
        "at_most": "at most {name} ({value})",
        "at_most_experts": "at most the number of experts ({value})",
        "at_most_characters": "at most {value} characters",
        "at_most_lines": "at most {value} lines",
        "at_least_used": "at least {value}, as many as are used",
        # a config.json
        "object": "an object",
        "with_linear": "some that keep a state (linear_attention, mamba, conv, hybrid), as this model_type has them",
        "letters_a_layer": "a text of the letters {letters}, one a layer",
        "equal_a_layer": "one number, or a list of {count} equal ones",
        "halves": "with kda_layers every layer from 1 to {count} once",
        "json_object": "a JSON object",
        "braces": "a JSON object, in braces",
        "content": "the content of a config.json",
        "different_widths": "at most {value} different widths",
        "strings_a_layer": "a list of {count} strings, one a layer",
        "one_of_a_layer": "a list of at least {count} numbers, one a layer, each one of {names}",
        "ones_and_zeros": "a list of {count} ones and zeros, or an empty one",
        "dense_first": 'every "dense" before every "sparse"',
        "absent": "it absent: this calculator does not read {kind} with it yet",
        "gguf_absent": "it absent: this calculator does not read {architecture} with it yet",
        "window_size": "a number of at least 2, since layer_types has {kind} layers",
        "window_used": "true, since layer_types has {kind} layers",
        "tokens_or_null": "a number of tokens, or null for none",
        "false_or_attention_bias": "false, or attention_bias as well",
        "head_dim_given": "a number: hidden_size ({width}) is no multiple of {heads} heads",
        # options that do not suit the model, the format or each other
        "no_mla": "a layout for {kind}; {model} has no MLA",
        "no_heads": "formula or expanded_mla; {model} has no K/V heads to broadcast",
        "no_encoder": "none; {model} has no encoder",
        "no_mtp": "False; {model} has no multi-token-prediction layers",
        "no_linear": "own, the default; {model} has no linear-attention or state-space layers",
        "no_indexer": "fp8, the default; {model} has no indexer",
        "dcp_plain": "1; tokens are split for plain full-attention decoders alone",
        "dcp_int4": "1 with hf_int4; transformers does not split tokens over ranks",
        "latent_format": "another; it is defined for MLA latents of 512 with RoPE keys of 64 alone",
        "pair": "two of {names}, as K/V",
        "head_format": "another, such as fp8_ds_mla; it is defined per K/V head, and MLA has none",
        "int4_plain": "another; transformers quantises only plain full-attention decoders",
        "int4_alone": "another with block_size, shared_prefix or reserved_tokens",
        "int4_only": "none; only hf_int4 depends on it",
        "reserved_unpaged": "none with block_size or shared_prefix: either or",
        "ideal_paged": "ideal with block_size, shared_prefix or reserved_tokens",
        "ideal_shared": "ideal with shared_prefix or reserved_tokens",
        "batched_vllm": 'a number of tokens with window="vllm", else none',
        "decoder": "a decoder; it has an encoder",
        # what fits
        "batch_sought": "none: the batch is what is asked",
        "tokens_sought": "none: the number of tokens is what is asked",
        "gpus_sought": "1: how many GPUs, and how they share the work, is what is asked",
        "roomier_gpus": "GPUs on which weights and cache fit; it lacks {bytes} bytes on the fullest of {gpus}",
    }
)


class Expected(Phrase):
    """What would be right."""

    ENGLISH = ENGLISH

    def as_params(self) -> dict[str, object]:
        """What a GlassLlamaError tells of it: the English text, the code and the particulars."""
        return {"expected": str(self), "expected_code": self.code, "expected_params": dict(self.params)}


expected = Expected.of


def any_of(names: Iterable[str], near: Sequence[str] = ()) -> Expected:
    """One of these names, and which of them may have been meant."""
    listed = ", ".join(names)
    return expected("one_of_near", names=listed, near=" / ".join(near)) if near else expected("one_of", names=listed)

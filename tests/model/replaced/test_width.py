"""LLaMA's rule for the width of its feed-forward gives the published widths, and not those of models without it."""

import pytest
from transformers import LlamaConfig, LlamaForCausalLM

from model.published.catalogue import catalogue
from model.replaced.width import PUBLISHED, WidthRule, ffn_parameters, fitting_multiples, llama_width


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_rule_gives_the_published_width(name: str) -> None:
    spec = catalogue()[name]
    assert llama_width(spec.d_model, PUBLISHED[name]).width == spec.ffn_hidden


def test_the_steps_that_papers_quote() -> None:
    assert llama_width(4096, WidthRule(1.0, 256)) == (16384, 10922, 10922, 11008)
    assert llama_width(4096, WidthRule(1.3, 1024)) == (16384, 10922, 14198, 14336)
    assert llama_width(8192, WidthRule(1.3, 4096)) == (32768, 21845, 28398, 28672)
    assert llama_width(16384, WidthRule(1.2, 4096)) == (65536, 43690, 52428, 53248)
    assert llama_width(2048, WidthRule(1.5, 256)) == (8192, 5461, 8191, 8192)


@pytest.mark.parametrize("name", ["Mistral-7B v0.1", "Qwen2.5-7B", "Qwen3-8B", "Gemma-2 9B"])
def test_other_widths_are_free_choices(name: str) -> None:
    spec = catalogue()[name]
    assert fitting_multiples(spec.d_model, spec.ffn_hidden) == []


def test_two_thirds_keep_the_parameters() -> None:
    for d in (3, 96, 4096):
        assert ffn_parameters(d, 4 * d, gated=False) == 8 * d * d
    assert ffn_parameters(768, 2048, gated=True) == ffn_parameters(768, 3072, gated=False)  # the paper's own sizes


def test_parameters_are_those_of_transformers() -> None:
    sizes = {"vocab_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    net = LlamaForCausalLM(LlamaConfig(hidden_size=24, intermediate_size=64, **sizes))
    counted = sum(one.numel() for one in net.model.layers[0].mlp.parameters())
    assert ffn_parameters(24, 64, gated=True) == counted


def test_multiples_and_bad_numbers() -> None:
    assert fitting_multiples(256, 688) == [8, 16]
    assert fitting_multiples(576, 1536)[-1] == 256
    with pytest.raises(ValueError, match="multiple_of is 0"):
        llama_width(256, WidthRule(1.0, 0))

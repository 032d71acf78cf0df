"""The Transformer of 2017 (Vaswani et al., arXiv 1706.03762), which LLaMA is a change of: its base model.

No config.json describes it, and it has no row in the catalogue: its vocabulary is stated as "about 37000", so that its
weights cannot be counted to the last.
"""

from .spec import AttentionSpec, FfnSpec, ModelSpec, NormSpec, PositionSpec, PublishedParameters

TRANSFORMER = ModelSpec(
    name="Transformer (2017)",
    family="Transformer",
    release="2017-06",
    n_layers=6,
    encoder_layers=6,
    d_model=512,
    n_heads=8,
    n_kv_heads=8,
    head_dim=64,
    ffn_hidden=2048,
    vocab_size=37_000,
    max_context=None,
    tied_embeddings=True,
    attention=AttentionSpec("MHA"),
    norm=NormSpec("LayerNorm", "post: LayerNorm(x + sublayer(x))"),
    ffn=FfnSpec("ReLU", gated=False),
    position=PositionSpec("sinusoidal"),
    parameters=PublishedParameters(65_000_000, exact=False),
    source=("arXiv 1706.03762, sections 3.1 to 3.5, 5.1 and table 3 (base)",),
    source_grade="official",
    not_verified=("vocab_size",),
)

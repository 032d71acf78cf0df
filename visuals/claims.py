"""What tables get wrong about the families: each claim, how far it is true, and the cell that shows what is so.

The words are the page's: <name>_claim, _right and _source in the section of the panel.
"""

from .messages.families import Claim, Verdict


def _claim(name: str, column: str, row: str, verdict: Verdict = "wrong") -> Claim:
    return {"name": name, "verdict": verdict, "column": column, "row": row}


CLAIMS = (
    _claim("falcon_norm", "falcon", "norm"),
    _claim("t5_norm", "t5", "norm", "part"),
    _claim("glm_deepnorm", "glm", "place"),
    _claim("mixtral_size", "mixtral", "parameters"),
    _claim("deepseek_mha", "deepseek3", "attention", "part"),
    _claim("llama2_gqa", "llama2", "attention", "part"),
    _claim("silu", "llama3", "ffn", "part"),
    _claim("pre_norm", "falcon", "place", "part"),
    _claim("glm_causal", "glm", "mask"),
    _claim("glm_post", "glm", "place", "part"),
    _claim("gpt_norm", "gpt3", "norm"),
    _claim("llama1_tokens", "llama1", "data", "part"),
    _claim("llama3_context", "llama3", "context", "part"),
    _claim("dense_experts", "mixtral", "sizes", "open"),
)

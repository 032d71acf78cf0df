"""The words on gradio's own controls. The page's script puts them into the reader's language."""

from .space import ON_A_SPACE

# The properties of gradio's components that hold words, by component, and the text of each.
LABELS = {
    "prompt": {"label": "bar.prompt", "placeholder": "bar.prompt_hint"},
    "model": {"label": "bar.model"},
    "language": {"label": "bar.language"},
    "run": {"value": "bar.run"},
    "generate": {"value": "bar.generate"},
    "stop": {"value": "bar.stop"},
    "step": {"value": "bar.step"},
    "settings": {"label": "bar.settings"},
    "max_new_tokens": {"label": "bar.max_new_tokens"},
    "temperature": {"label": "bar.temperature"},
    "top_k": {"label": "bar.top_k"},
    "top_p": {"label": "bar.top_p"},
    "seed": {"label": "bar.seed"},
}
if ON_A_SPACE:  # elsewhere there is no such button
    LABELS["duplicate"] = {"value": "bar.duplicate"}

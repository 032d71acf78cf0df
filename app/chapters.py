"""What the page is divided into: each chapter's panels, in the order in which they are shown.

A panel is drawn by `visuals/static/panels/<kind>.js` where the first chapter shows it, else by
`visuals/static/panels/<chapter>/<kind>.js`, which the browser fetches when its chapter is opened, with the chapter's
style.css where there is one. A chapter may show panels of the first one again, above its own.
"""

FIRST = "glance"
# The first chapter's two columns, about equally tall; on a narrow screen page.css makes them one.
COLUMNS = (("attention", "swiglu"), ("next", "rmsnorm", "rope"))

CHAPTERS: dict[str, tuple[str, ...]] = {
    FIRST: tuple(kind for column in COLUMNS for kind in column),
    "overview": ("overview", "residual", "training"),
    "token": ("merges",),
    "norm": ("rmsnorm", "norm-vector", "norm-scale"),
    "position": ("rope", "rope-score", "rope-scaling", "rope-layout"),
    "attend": ("heads", "attention", "cell", "arcs", "difference"),
    "ffn": ("swiglu", "ffn-token", "ffn-tokens"),
    "kv": ("kv-live", "kv-kinds", "kv-race", "kv-calculator", "kv-chart", "kv-fit", "kv-myth"),
    "choice": ("sampling", "lens", "contributions"),
    "compare": ("compare", "stream-change", "head-change"),
}


def own_panels(chapter: str) -> tuple[str, ...]:
    """The panels that belong to this chapter alone."""
    return tuple(kind for kind in CHAPTERS[chapter] if kind not in CHAPTERS[FIRST])

"""What the page is divided into: each chapter's panels, in the order in which they are shown.

A panel is drawn by `visuals/static/panels/<chapter>/<kind>.js` of the chapter that it belongs to. The browser fetches
it when a chapter that shows it is opened, with that chapter's style.css where there is one. A chapter may show panels
of the first one again, above its own.
"""

from visuals import STATIC

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


def all_panels() -> list[str]:
    """Every panel that a chapter shows, in the order in which they first come."""
    return list(dict.fromkeys(kind for kinds in CHAPTERS.values() for kind in kinds))


def homes() -> dict[str, str]:
    """The chapter that each panel, and the token strip, belongs to: its module is in that folder."""
    return {kind: next(STATIC.glob(f"panels/*/{kind}.js")).parent.name for kind in ("tokens", *all_panels())}

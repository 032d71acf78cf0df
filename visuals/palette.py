"""Colours: one hue per role, one scale for magnitudes, one for signed values; the source for the page and for figures.

Knows nothing of panels. `css_block()` writes the custom properties that `static/glass.css` holds between two marker
lines; `python -m visuals.palette` rewrites that block, and a test holds the two together. Contrast follows WCAG 2.2
(sRGB relative luminance); the magnitude scale is cividis (Nuñez, Anderton and Renslow 2018, doi
10.1371/journal.pone.0199239).
"""

from __future__ import annotations

from pathlib import Path

STYLESHEET = Path(__file__).parent / "static" / "glass.css"
BEGIN = "/* palette: written by `python -m visuals.palette` */"
END = "/* end of palette */"

# Roles that carry data. Each stands out from every ground by 4.5:1 or more, so that it may colour text too.
ROLES: dict[str, dict[str, str]] = {
    "light": {
        "q": "#1a5fb4",
        "k": "#a84a00",
        "v": "#1d7a4c",
        "residual": "#656e7b",
        "norm": "#004950",
        "gate": "#7434b8",
        "up": "#806000",
        "output": "#96361c",
    },
    "dark": {
        "q": "#7db4ff",
        "k": "#ffa657",
        "v": "#66cf9a",
        "residual": "#c6cfdb",
        "norm": "#25aea4",
        "gate": "#c9a2ff",
        "up": "#e3c04d",
        "output": "#f09478",
    },
}

# What the page is made of. `text` and `muted` are text; `line` and `grid` only separate.
GROUND: dict[str, dict[str, str]] = {
    "light": {
        "bg": "#f3f5f8",
        "card": "#ffffff",
        "raised": "#eef1f5",
        "text": "#141a22",
        "muted": "#56606e",
        "line": "#c9d0d9",
        "grid": "#e3e7ec",
        "accent": "#1a5fb4",
        "on-accent": "#ffffff",
        "masked": "#e9ecf0",
        "masked-line": "#c3cad3",
        "cross": "#ffffff",
        "cross-edge": "#000000",
    },
    "dark": {
        "bg": "#0e1218",
        "card": "#171c24",
        "raised": "#222934",
        "text": "#eef2f7",
        "muted": "#a5b0be",
        "line": "#3a4452",
        "grid": "#2a323d",
        "accent": "#7db4ff",
        "on-accent": "#0e1218",
        "masked": "#222934",
        "masked-line": "#6d7a90",
        "cross": "#ffffff",
        "cross-edge": "#000000",
    },
}

# Stops at equal distances, mixed linearly in sRGB. Magnitudes are the same in light and dark. A signed zero is the card
# itself, since most of what has a sign is near it: white cells would outshine all else of a dark page.
MAGNITUDE = (
    "#00224e",
    "#123570",
    "#3b496c",
    "#575d6d",
    "#707173",
    "#8a8678",
    "#a59c74",
    "#c3b369",
    "#e1cc55",
    "#fee838",
)
SIGNED = {
    "light": ("#08306b", "#2467ad", "#6ba3d6", "#b9d3ea", "#ffffff", "#f8cba0", "#e8914a", "#b65a12", "#6e2c00"),
    "dark": ("#c4e0ff", "#85bdfb", "#4b8ad2", "#2a5288", "#171c24", "#6b3f14", "#b06a24", "#ee9c50", "#ffd3a6"),
}


def rgb(colour: str) -> tuple[int, int, int]:
    """The 8-bit channels of `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ramp(stops: tuple[str, ...], size: int = 256) -> list[tuple[int, int, int]]:
    """`size` colours from the first stop to the last, mixed linearly; entry round(x·(size−1)) stands for x in 0…1."""
    channels = [rgb(stop) for stop in stops]
    entries = []
    for i in range(size):
        place = i / (size - 1) * (len(stops) - 1)
        left = min(int(place), len(stops) - 2)
        share = place - left
        mixed = (round(a + (b - a) * share) for a, b in zip(channels[left], channels[left + 1], strict=True))
        entries.append((next(mixed), next(mixed), next(mixed)))
    return entries


def luminance(colour: str) -> float:
    """Relative luminance in 0…1 (WCAG 2.2)."""
    red, green, blue = (c / 12.92 if (c := x / 255) <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for x in rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio in 1…21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def plotly_scale(stops: tuple[str, ...]) -> list[list[float | str]]:
    """The stops as a plotly `colorscale`."""
    return [[i / (len(stops) - 1), stop] for i, stop in enumerate(stops)]


def css_block() -> str:
    """The custom properties of both themes, markers included. Gradio puts the class `dark` on `body`."""
    lines = [BEGIN]
    for theme, selector in (("light", ":root"), ("dark", ".dark")):
        lines.append(f"{selector} {{")
        lines += [f"  --glass-{name}: {value};" for name, value in (GROUND[theme] | ROLES[theme]).items()]
        lines.append(f"  --glass-signed: {', '.join(SIGNED[theme])};")
        if theme == "light":
            lines.append(f"  --glass-magnitude: {', '.join(MAGNITUDE)};")
        lines.append("}")
    return "\n".join([*lines, END])


def write(stylesheet: Path = STYLESHEET) -> None:
    """Replace the block between the markers in the stylesheet.

    Raises:
        ValueError: a marker is missing.
    """
    text = stylesheet.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{stylesheet} lacks the marker lines {BEGIN!r} and {END!r}")
    before, rest = text.split(BEGIN, 1)
    stylesheet.write_text(before + css_block() + rest.split(END, 1)[1], encoding="utf-8")


if __name__ == "__main__":
    write()

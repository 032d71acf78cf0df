"""Colours: the stylesheet follows the palette, text can be read, scales stay in order, roles differ for everyone."""

import itertools

import numpy as np
import plotly.colors
import pytest

from visuals import palette

# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
DEFICIENCIES = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
# Roles that stand side by side in one panel, where only the hue tells them apart.
NEIGHBOURS = [("q", "k"), ("gate", "up"), ("k", "v"), ("q", "v"), ("norm", "residual")]


def linear(colour):
    x = np.array(palette.rgb(colour)) / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def lightness(colours):
    return np.array([lab(linear("#{:02x}{:02x}{:02x}".format(*c)))[0] for c in colours])


def test_stylesheet_holds_the_palette():
    assert palette.css_block() in palette.STYLESHEET.read_text(encoding="utf-8"), "run `python -m visuals.palette`"


def test_write_replaces_the_block_and_keeps_the_rest(tmp_path):
    sheet = tmp_path / "x.css"
    sheet.write_text(f"a\n{palette.BEGIN}\nold\n{palette.END}\nb\n", encoding="utf-8")
    palette.write(sheet)
    assert sheet.read_text(encoding="utf-8") == f"a\n{palette.css_block()}\nb\n"
    sheet.write_text("no markers", encoding="utf-8")
    with pytest.raises(ValueError, match="marker"):
        palette.write(sheet)


def test_contrast_is_the_wcag_one():
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert palette.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(theme):
    ground = palette.GROUND[theme]
    for back in ("bg", "card", "raised"):
        for name in ("text", "muted"):
            assert palette.contrast(ground[name], ground[back]) >= 4.5, (name, back)
        for role, colour in palette.ROLES[theme].items():
            assert palette.contrast(colour, ground[back]) >= 4.5, (role, back)
    assert palette.contrast(ground["on-accent"], ground["accent"]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
def test_neighbouring_roles_are_told_apart(theme, deficiency):
    matrix = np.array(DEFICIENCIES[deficiency]) if deficiency else np.eye(3)
    for one, other in NEIGHBOURS:
        a, b = (lab(matrix @ linear(palette.ROLES[theme][role])) for role in (one, other))
        assert np.linalg.norm(a - b) > 14, (one, other)


def test_magnitude_is_cividis_and_grows_lighter():
    assert list(palette.MAGNITUDE) == plotly.colors.sequential.Cividis
    steps = np.diff(lightness(palette.ramp(palette.MAGNITUDE)))
    assert steps.min() > -0.2  # 8-bit rounding
    assert np.all(np.diff(lightness(palette.ramp(palette.MAGNITUDE, 10))) > 0)


@pytest.mark.parametrize(("theme", "outwards"), [("light", -1), ("dark", 1)])
def test_signed_scale_has_the_card_at_zero_and_is_even_on_both_sides(theme, outwards):
    ramp = palette.ramp(palette.SIGNED[theme], 257)
    assert ramp[128] == palette.rgb(palette.GROUND[theme]["card"])
    levels = lightness(ramp)
    assert np.all(outwards * np.diff(levels[:129]) < 0)
    assert np.all(outwards * np.diff(levels[128:]) > 0)
    assert np.abs(levels[:128] - levels[:128:-1]).max() < 8


def test_table_ends_at_the_stops():
    entries = palette.ramp(("#000000", "#ff0000", "#ffffff"), 5)
    assert entries == [(0, 0, 0), (128, 0, 0), (255, 0, 0), (255, 128, 128), (255, 255, 255)]
    assert palette.plotly_scale(("#000000", "#ffffff")) == [[0.0, "#000000"], [1.0, "#ffffff"]]


def test_every_theme_names_the_same_colours():
    for group in (palette.ROLES, palette.GROUND):
        assert group["light"].keys() == group["dark"].keys()
    every = itertools.chain(*(c.values() for g in (palette.ROLES, palette.GROUND) for c in g.values()))
    assert all(len(c) == 7 and c.startswith("#") for c in every)

"""The first chapter: every idea once, in panels that belong to the chapters about them."""

# Two columns, about equally tall; on a narrow screen page.css makes them one.
COLUMNS = (("attention", "swiglu"), ("next", "rmsnorm", "rope"))
PANELS = tuple(kind for column in COLUMNS for kind in column)

"""A run's main pictures as plotly Figures, for a notebook or a paper; `visuals` names them all.

Each takes a Trace, draws its own values, and writes the formula of what it computes on an axis.
"""

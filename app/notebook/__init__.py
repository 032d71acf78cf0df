"""A run's panels in a notebook's cell."""

from .panels import Panels

__all__ = ["Panels"]

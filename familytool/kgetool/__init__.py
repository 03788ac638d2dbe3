"""The scorer of tool use and graph extraction; it needs the standard library alone and runs by itself as a Hub Space."""

from . import parse
from .score import score

__all__ = ["parse", "score"]

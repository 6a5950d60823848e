"""A stream of questions on one budget: answered from what was bought before, for free where that suffices."""

from .questions import ranks_of
from .session import Session
from .values import Answered, Price

__all__ = ["Answered", "Price", "Session", "ranks_of"]

"""Random programs of all that an executor does, and whether two executors agree on them.

Values of every dtype and shape, both forms of control flow in one another, functions, state, feeds
and fetches in the middle, and errors. A program is that of its seed.
"""

from random_programs.agree import Disagreement, disagreement, smallest
from random_programs.draw import Program, draw

__all__ = ["Disagreement", "Program", "disagreement", "draw", "smallest"]

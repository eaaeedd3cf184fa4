"""This machine: what its processor can do, and where to keep what need not be found out twice."""

from drystone_base.plugins._processor import features
from drystone_base.plugins._settings import cache_folder

__all__ = ["cache_folder", "features"]

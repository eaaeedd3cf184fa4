"""Tests of drystone-cpu reuse the recorded answers of drystone-base's tests."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "base" / "tests")]

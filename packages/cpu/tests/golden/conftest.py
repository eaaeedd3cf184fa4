"""Tests of drystone-cpu reuse the recorded answers of drystone-base's tests."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "base" / "tests")]
os.environ["DRYSTONE_PLAN_CACHE"] = "off"  # plans are made here, not taken from earlier runs

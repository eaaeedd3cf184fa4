"""Graphs on the strict device under sanitizers: sanitize_devices.py [--only address] [--quick]

The host library and the strict device of drystone-plugin-conformance are built with ASan and UBSan,
then with TSan. On each the tests of devices and of variables on them run once for each of five
seeds, which are five legal orders of what is on the streams, and all recorded models and training
graphs run once, as nodes go to the device or to NumPy's kernels. `--quick` leaves the models out
that are not in the repository. Faults that tests plant must be found and named under sanitizers,
too. A fault of the strict device fails the test that it comes up in. Status 1: a finding.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ci.scripts.sanitize import PYTEST, SANITIZERS, build_host, call, settings

TESTS = "packages/base/tests"
GRAPHS = (
    f"{TESTS}/unit/executor/test_devices.py",
    f"{TESTS}/unit/executor/test_variables_on_devices.py",
    f"{TESTS}/unit/executor/test_device_work.py",
    f"{TESTS}/unit/executor/test_device_arrays.py",
)
MODELS = f"{TESTS}/golden/test_models_on_devices.py"


def environment(name: str, where: Path) -> dict[str, str]:
    """What a process needs that runs Python with the sanitized host and compiles the device."""
    compiler = os.environ.get("CC", "cc")
    return settings(name, where) | {
        "CC": f"{compiler} -fsanitize={SANITIZERS[name]} -fno-sanitize-recover=undefined",
        "DRYSTONE_PLUGINS_DISABLE": "cpu",
        # Python's own threads and memory have no sanitizer: what it does with them is not judged.
        "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:ignore_noninstrumented_modules=1",
    }


def main(arguments: list[str] | None = None) -> int:
    """Build, run, and say what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5, help="orders of the streams")
    parser.add_argument("--quick", action="store_true", help="models of the repository alone")
    parser.add_argument("--only", choices=tuple(SANITIZERS))
    options = parser.parse_args(arguments)
    pytest = (sys.executable, "-m", "pytest", *PYTEST)
    failed, runs = [], 0
    for name in [options.only] if options.only else SANITIZERS:
        env = environment(name, build_host(name))
        rows = [(f"graphs, seed {k}", GRAPHS, str(k)) for k in range(1, options.seeds + 1)]
        models = (MODELS, "-m", "not nightly" if options.quick else "nightly or not nightly")
        for what, words, seed in [*rows, ("models", models, "1")]:
            runs += 1
            if call(*pytest, *words, env=env | {"STRICT_SEED": seed}):
                failed.append(f"{what}, under {name}")
    print(f"{runs} runs; failed: {', '.join(failed) or 'nothing'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

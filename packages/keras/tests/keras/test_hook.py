"""How Keras finds its backend, and what is said where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent


def run(text: str, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", dedent(text)]
    kept = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=kept | env)


def test_keras_runs_on_drystone_when_the_backend_was_imported_first() -> None:
    found = run("import keras_drystone, keras; print(keras.config.backend())")
    assert found.stdout == "drystone\n", found.stderr


def test_a_program_that_asks_for_another_backend_keeps_it() -> None:
    found = run(
        "import keras_drystone, os; print(os.environ['KERAS_BACKEND'])", KERAS_BACKEND="numpy"
    )
    assert found.stdout == "numpy\n", found.stderr


def test_processes_that_are_started_later_are_not_told_of_the_backend() -> None:
    """Keras, and TensorFlow, which imports it, would refuse a name that they do not know."""
    found = run("import keras_drystone, keras, os; print('KERAS_BACKEND' in os.environ)")
    assert found.stdout == "False\n", found.stderr
    asked = "import keras_drystone, keras, os; print(os.environ['KERAS_BACKEND'])"
    assert run(asked, KERAS_BACKEND="drystone").stdout == "drystone\n"


def test_a_script_that_says_import_keras_alone_runs(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, keras\nprint(keras.config.backend(), sys.argv[1:])\n")
    command = [sys.executable, "-m", "keras_drystone", str(script), "x"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout == "drystone ['x']\n", found.stderr


REFUSED = """
import sys, types
from importlib.machinery import ModuleSpec
{made}
try:
    import keras_drystone
    import keras.src.backend.config
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_missing_keras_is_named_with_the_command_that_installs_it() -> None:
    made = "import importlib.util; importlib.util.find_spec = lambda name, *_: None"
    found = run(REFUSED.format(made=made)).stdout
    assert found.startswith(
        "BadRequest drystone-keras cannot be used without Keras [keras-missing]"
    )
    assert "remedy: pip install 'keras-nightly==" in found


def test_a_keras_that_runs_on_another_backend_is_named() -> None:
    made = """
    config = types.ModuleType("keras.src.backend.config")
    config.backend = lambda: "torch"
    sys.modules["keras.src.backend.config"] = config
    """
    found = run(REFUSED.format(made=dedent(made))).stdout
    assert "Keras runs on another backend already [keras-imported]" in found
    assert "found: keras with the backend torch" in found


def test_a_keras_with_a_closed_list_of_backends_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "keras" / "src" / "backend"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent, folder.parent.parent):
        (package / "__init__.py").write_text("")
    (folder / "config.py").write_text("_BACKEND = 'tensorflow'\n")
    found = run(REFUSED.format(made=f"sys.path.insert(0, {str(tmp_path)!r})")).stdout
    assert "this Keras takes no backend but its own [keras-too-old]" in found
    assert "remedy: pip uninstall keras; pip install 'keras-nightly==" in found


def test_drystone_never_imports_keras() -> None:
    found = run(
        "import drystone_base as ds, sys; ds.load, ds.function; print('keras' in sys.modules)"
    )
    assert found.stdout == "False\n", found.stderr

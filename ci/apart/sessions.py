"""The sessions of packages that are built apart; importing this registers them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nox

from ci.scripts.session_parts import requirements
from ci.scripts.sessions import WHEELS, build_packages, install_built, pytest

__all__ = ["gpu", "net_ucx", "ray", "tvm"]

STRICT = ("-m", "ci.scripts.strict_sessions", "integration_tests/data/selfie")
"""A program, and a model for it: all that is installed of drystone's, under the policy strict."""


@nox.session
def gpu(session: nox.Session) -> None:
    """drystone-gpu's wheel, by nvcc (large downloads), and what it computes where there is a GPU.

    `-- ARGUMENTS` are those of ci.scripts.gpu.
    """
    built = build_packages(session, without=("cpu",), apart=("gpu",))
    install_built(session, built, *requirements("test"))
    session.run("python", "-m", "ci.checks.wheel_size", str(WHEELS), "gpu")
    session.run("drystone", "plugins", "list")
    session.run("python", *STRICT, env={"DRYSTONE_PLUGIN_POLICY": "strict"})
    command = ("python", "-m", "ci.scripts.gpu", *session.posargs)
    session.run(*command, success_codes=[0, 3])  # 3: there is no GPU, and it says why


@nox.session
def tvm(session: nox.Session) -> None:
    """drystone-tvm's wheel, TVM beside it (large downloads), random regions; `-- --count N`: N.

    `-- --sanitize` has its tests run under ASan and UBSan instead, with further words for pytest.
    """
    wheels = build_packages(session, without=("cpu",), apart=("tvm",), quick=True)
    install_built(session, wheels, *requirements("test"))
    session.install("--find-links", str(WHEELS), "drystone-tvm[compile,cuda]")
    if session.posargs[:1] == ["--sanitize"]:
        session.install("cmake", "ninja")
        session.run("python", "-m", "ci.scripts.sanitize_functions", *session.posargs[1:])
        return
    session.run("python", *STRICT, env={"DRYSTONE_PLUGIN_POLICY": "strict"})
    count = next((k for k, word in enumerate(session.posargs) if word == "--count"), None)
    if count is None:
        pytest(session, "tvm", "packages/tvm/tests/calls")
        model = "integration_tests/data/selfie"
        session.run("python", "packages/tvm/tests/recorded_models.py", model)
    regions = ("--count", "100") if count is None else tuple(session.posargs[count:])
    session.run("python", "packages/tvm/tests/random_regions.py", *regions)
    if count is None:
        folder = session.create_tmp()
        session.run("python", "packages/tvm/tests/on_gpu.py", "make", folder)
        command = ("python", "packages/tvm/tests/on_gpu.py", "check", folder)
        session.run(*command, success_codes=[0, 3])  # 3: there is no GPU, and it says so


@nox.session
def net_ucx(session: nox.Session) -> None:
    """drystone-net-ucx's wheel with UCX beside it (a large download): the suite of transports."""
    wheels = build_packages(session, without=("cpu",), apart=("net-ucx",), quick=True)
    install_built(session, wheels, *requirements("test"))
    session.install("--find-links", str(WHEELS), "drystone-net-ucx[ucx]")
    session.run("python", "-m", "ci.checks.wheel_size", str(WHEELS), "net-ucx")
    pytest(session, "net-ucx", "packages/net-ucx/tests")
    session.run("drystone", "network", "probe", env={"DRYSTONE_DEVELOPER_MODE": "1"})


@nox.session
def ray(session: nox.Session) -> None:
    """drystone-ray's wheel, and Ray beside it (large downloads); then its example, 1,000 images.

    `-- ARGUMENTS` are those of the example, such as `--images 100000`.
    """
    wheels = build_packages(session, apart=("ray",), quick=True)
    install_built(session, wheels, *requirements("test"), "ray[data,serve]==2.60.0")
    session.run("python", "-m", "ci.checks.wheel_size", str(WHEELS), "ray")
    folder = session.create_tmp()
    session.env["PYTHONPATH"] = "packages/ray/tests/cluster"  # actors import from there, too
    # The name of a socket has 107 bytes, of which Ray takes most.
    session.env["RAY_TMPDIR"] = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    pytest(session, "ray", "packages/ray/tests/local", "packages/ray/tests/cluster")
    model = f"{folder}/mobilenetv2"
    if not Path(model).exists():
        session.run("python", "-m", "ci.scripts.write_network", "mobilenetv2", model)
    words = session.posargs or ("--images", "1000")
    session.run("python", "packages/ray/examples/images.py", model, *words)

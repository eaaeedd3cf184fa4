"""Mutual TLS: clients and tasks know one another by certificates that are made here."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from clusters import free_ports, there_and_back

import drystone_base as ds
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_network import Server
from drystone_network.cluster.tls import Tls

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def openssl(*words: str | int | Path) -> None:
    """Run a command of it."""
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def authority(folder: Path) -> Path:
    """Who signs certificates: a folder with ``ca.pem`` and its key."""
    folder.mkdir()
    openssl(
        "req", "-x509", *KEY, "-days", "1", "-subj", f"/CN={folder.name}",
        "-keyout", folder / "ca.key", "-out", folder / "ca.pem",
    )  # fmt: skip
    return folder


def certificates(
    folder: Path, signer: Path, trusted: Path, address: str = "127.0.0.1", days: int = 1
) -> Path:
    """A folder as ``$DRYSTONE_CLUSTER_TLS`` names one, of who is at an address."""
    folder.mkdir()
    request, names = folder / "request.pem", folder / "names"
    names.write_text(f"subjectAltName=IP:{address}\n")
    openssl(
        "req", *KEY, "-subj", f"/CN={folder.name}", "-keyout", folder / "key.pem", "-out", request
    )
    openssl(
        "x509", "-req", "-in", request, "-days", days, "-extfile", names, "-CAcreateserial",
        "-out", folder / "cert.pem", "-CA", signer / "ca.pem", "-CAkey", signer / "ca.key",
    )  # fmt: skip
    (folder / "ca.pem").write_bytes((trusted / "ca.pem").read_bytes())
    return folder


def run(target: str, seconds: float = 2.0) -> object:
    """What a graph on the cluster gives."""
    config = ds.SessionConfig(target=target, deadline=seconds)
    with ds.Session(there_and_back(), config) as session:
        return session.run("y:0", {"x:0": 0})


def test_who_has_a_certificate_is_let_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, others = authority(tmp_path / "ours"), authority(tmp_path / "others")
    one, two = free_ports(2)
    cluster = {"worker": [f"127.0.0.1:{one}", f"127.0.0.1:{two}"]}
    tls = Tls.read(certificates(tmp_path / "task", ours, ours))
    elsewhere = Tls.read(certificates(tmp_path / "elsewhere", ours, ours, "127.0.0.9"))
    clients = {
        "client": certificates(tmp_path / "client", ours, ours),
        "stranger": certificates(tmp_path / "stranger", others, ours),
        "distrusting": certificates(tmp_path / "distrusting", ours, others),
    }
    with Server(cluster, "worker", 0, tls=tls) as first:
        with Server(cluster, "worker", 1, tls=tls):
            monkeypatch.setenv("DRYSTONE_CLUSTER_TLS", str(clients["client"]))
            assert run(first.target, 30.0) == 0
            for name in ("stranger", "distrusting", ""):
                folder = clients.get(name)
                monkeypatch.setenv("DRYSTONE_CLUSTER_TLS", str(folder) if folder else "")
                with pytest.raises(DrystoneError) as caught:
                    run(first.target)
                assert caught.value.code == "task-unreachable", name
            monkeypatch.setenv("DRYSTONE_CLUSTER_TLS", str(clients["client"]))
            assert run(first.target, 30.0) == 0
        with Server(cluster, "worker", 1, tls=elsewhere), pytest.raises(DrystoneError) as caught:
            run(first.target)
        assert caught.value.code == "task-unreachable"
        assert "127.0.0.1" in caught.value.found, "why, and not only that nobody answered"
        assert "/job:worker/replica:0/task:1" in caught.value.what


def test_certificates_whose_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a task is named by the error; that of a client opens nothing."""
    ours = authority(tmp_path / "ours")
    good = certificates(tmp_path / "good", ours, ours)
    old = certificates(tmp_path / "old", ours, ours, days=0)
    time.sleep(1.1)
    # Older releases of gRPC know no more than that the handshake failed.
    expired = ("expired", "handshake failed", "closed")
    for task, client, said in ((old, good, expired), (good, old, ("UNAVAILABLE", "closed"))):
        (port,) = free_ports(1)
        monkeypatch.setenv("DRYSTONE_CLUSTER_TLS", str(client))
        with Server({"worker": [f"127.0.0.1:{port}"]}, tls=Tls.read(task)) as server:
            start = time.monotonic()
            with pytest.raises(DrystoneError) as caught:
                run(server.target)
            assert time.monotonic() - start < 5
            assert caught.value.code == "task-unreachable"
            assert any(word in caught.value.found for word in said), caught.value.found


def test_a_folder_that_lacks_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_CLUSTER_TLS", str(tmp_path))
    with pytest.raises(BadRequest, match=r"cert\.pem, key\.pem and ca\.pem") as caught:
        run("grpc://127.0.0.1:1")
    assert caught.value.code == "bad-cluster-tls"

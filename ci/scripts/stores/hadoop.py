"""A real HDFS of one name node and one data node: Hadoop 2.7.3, by way of the registries.

`python -m ci.scripts.stores.hadoop FOLDER` fetches what it runs of: the server's classes from the
source distribution of pyspark 2.4.8, which later versions leave out, and Jersey 1 from Debian's
packages. It needs pip, Java and apt; tests that find no such folder are skipped and say so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.request import urlopen

from ci.scripts.stores.processes import free_ports, running, wait_for

__all__ = ["VARIABLE", "fetch", "hadoop"]

VARIABLE: Final = "DRYSTONE_HADOOP"
_PYSPARK: Final = "pyspark==2.4.8"
_DEBIAN: Final = (
    "libjersey1-core-java", "libjersey1-server-java", "libjersey1-servlet-java",
    "libjsr311-api-java", "libasm-java",
)  # fmt: skip
_FROM_DEBIAN: Final = ("jersey1-core", "jersey1-server", "jersey1-servlet", "jsr311-api", "asm")
_NEEDED: Final = (
    "hadoop-annotations", "hadoop-auth", "hadoop-common", "hadoop-hdfs", "guava", "htrace-core",
    "jetty", "jsp-api", "javax.servlet-api", "leveldbjni", "log4j-1", "netty",
    "protobuf-java-2.5", "slf4j", "commons-", "xercesImpl", "xmlenc", "jackson-core-asl",
    "jackson-mapper-asl", "http", "gson", "jaxb-api", "activation",
)  # fmt: skip
_OPENED: Final = ("lang", "net", "nio")
_SERVER: Final = "org.apache.hadoop.hdfs.server"


def fetch(folder: Path) -> None:
    """Fill ``folder`` with the jars, once."""
    if (folder / "jersey1-core.jar").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "limits.txt").write_text("pypandoc==1.4\n")  # what its setup.py understands
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                   "--no-build-isolation", "-d", str(work), _PYSPARK]  # fmt: skip
        limits = {"PIP_CONSTRAINT": str(work / "limits.txt")}
        subprocess.run(command, check=True, env={**os.environ, **limits})
        with tarfile.open(next(work.glob("pyspark-*.tar.gz"))) as archive:
            for member in archive:
                jar = Path(member.name).name
                source = archive.extractfile(member) if jar.startswith(_NEEDED) else None
                if source is not None and jar.endswith(".jar"):
                    with source, (folder / jar).open("wb") as target:
                        shutil.copyfileobj(source, target)
        subprocess.run(["apt-get", "download", "-q", *_DEBIAN], cwd=work, check=True)
        for package in work.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(work / "debian")], check=True)
        for jar in _FROM_DEBIAN:
            shutil.copy(work / "debian" / "usr/share/java" / f"{jar}.jar", folder)


@contextmanager
def hadoop(jars: Path) -> Iterator[tuple[str, str]]:
    """An empty HDFS: the addresses of the name node's and the data node's web interfaces."""
    java = shutil.which("java")
    if java is None:
        raise FileNotFoundError("java is not installed")
    with tempfile.TemporaryDirectory(prefix="hadoop-") as name:
        folder = Path(name)
        rpc, web, data, ipc, data_web = free_ports(5)
        _configure(folder, rpc, web, data, ipc, data_web)
        opened = [f"--add-opens=java.base/java.{part}=ALL-UNNAMED" for part in _OPENED]
        opened += [f"--add-opens=java.base/sun.{part}=ALL-UNNAMED"
                   for part in ("nio.ch", "security.action")]  # fmt: skip
        program = [java, *opened, "-Xmx512m", "-cp", f"{folder / 'conf'}:{jars}/*"]
        name_node = f"{_SERVER}.namenode.NameNode"
        subprocess.run(
            [*program, name_node, "-format", "-nonInteractive", "-force"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        address, log = f"http://127.0.0.1:{web}", folder / "log"
        with running([*program, name_node], folder, folder / "name.log") as names:
            wait_for(lambda: _asked(address, "GETFILESTATUS"), names, folder / "name.log")
            with running([*program, f"{_SERVER}.datanode.DataNode"], folder, log) as datas:
                wait_for(lambda: _live(address), datas, log)
                yield address, f"http://127.0.0.1:{data_web}"


def _configure(folder: Path, rpc: int, web: int, data: int, ipc: int, data_web: int) -> None:
    for part in ("hdfs", "datanode", "static"):  # the web servers want them on the class path
        (folder / "conf" / "webapps" / part).mkdir(parents=True)
    settings = {
        "core-site": {"fs.defaultFS": f"hdfs://127.0.0.1:{rpc}", "hadoop.tmp.dir": f"{folder}/tmp"},
        "hdfs-site": {
            "dfs.replication": "1",
            "dfs.webhdfs.enabled": "true",
            "dfs.permissions.enabled": "false",
            "dfs.namenode.http-address": f"127.0.0.1:{web}",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.namenode.safemode.extension": "0",
            "dfs.heartbeat.interval": "1",
            "dfs.datanode.address": f"127.0.0.1:{data}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{ipc}",
            "dfs.datanode.http.address": f"127.0.0.1:{data_web}",
            "dfs.datanode.hostname": "127.0.0.1",
        },
    }
    for file, pairs in settings.items():
        lines = "".join(
            f"<property><name>{key}</name><value>{value}</value></property>"
            for key, value in pairs.items()
        )
        text = f"<configuration>{lines}</configuration>"
        (folder / "conf" / f"{file}.xml").write_text(text)
    (folder / "conf" / "log4j.properties").write_text(
        "log4j.rootLogger=WARN,console\n"
        "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.console.layout=org.apache.log4j.SimpleLayout\n"
    )


def _asked(address: str, op: str) -> bool:
    urlopen(f"{address}/webhdfs/v1/?op={op}&user.name=test", timeout=5).close()
    return True


def _live(address: str) -> bool:
    """Whether the data node has made itself known."""
    query = "Hadoop:service=NameNode,name=FSNamesystemState"
    with urlopen(f"{address}/jmx?qry={query}", timeout=5) as answer:
        return bool(json.load(answer)["beans"][0]["NumLiveDataNodes"])


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))

"""The demo runs on the built wheels, finds what there is to find, and agrees with TensorFlow."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv, shared_environment

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def demo_env(tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]) -> InstalledEnv:
    needed = ROOT / "ci/config/requirements/demo.txt"
    return shared_environment(tmp_path_factory, "demo", *wheels, "-r", needed)


@pytest.fixture(scope="module")
def ran(
    demo_env: InstalledEnv, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    output = tmp_path_factory.mktemp("output")
    return demo_env.run(demo_env.python, "-m", "ci.scripts.demo", output, cwd=ROOT), output


def test_every_model_agrees(ran: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    text = ran[0].stdout
    assert text.count("agrees") == 5, text
    assert "differs" not in text


def test_languages_face_and_notes_are_found(
    ran: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    text = ran[0].stdout
    assert "Languages of this repository's own files" in text
    assert text.count("toml     │ 100%") >= 1, text
    assert "468 (100%)" in text
    assert "12 of the 12 notes played were heard" in text


@pytest.mark.parametrize("name", ["face.png", "notes.png"])
def test_pictures_are_written(
    ran: tuple[subprocess.CompletedProcess[str], Path], demo_env: InstalledEnv, name: str
) -> None:
    picture = ran[1] / name
    facts = demo_env.evaluate(
        "import json\nfrom PIL import Image\n"
        f"image = Image.open({str(picture)!r}).convert('RGB')\n"
        "print(json.dumps([*image.size, len(image.getcolors(2**24))]))"
    )
    width, height, colours = facts
    assert width > 600
    assert height > 400
    assert colours > 20
    assert f"wrote {picture}" in ran[0].stdout.replace("\n", "")

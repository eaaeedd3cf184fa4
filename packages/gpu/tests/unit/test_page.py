"""The figures of docs/reference/gpu.md are those of the newest run that is kept."""

from ci.scripts.gpu import page


def test_the_page_has_the_figures_of_the_newest_run() -> None:
    assert not page.outdated()

"""Draws docs/figures/report.png: the report of the sample study on a screen and on a phone. Needs Chromium.

python -m benchmarks.report_figure
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.image import imread, imsave

from rowspace import mechanism, planning, sample
from rowspace.report.html import write_report
from rowspace.study import Study

TARGET = Path(__file__).parent.parent / "docs" / "figures" / "report.png"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
DARK = "--blink-settings=preferredColorScheme=0"
HEIGHT, SCREEN, PHONE, MARGIN = 1480, 1080, 390, 30
ABOVE = 1912
"""What the picture of the phone leaves out at the top."""


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        study = Study.load(sample.people_path().with_name("people.toml"))
        release = mechanism.release(planning.plan(study.workload, study.privacy), sample.people_path())
        write_report(release, page, title=study.name)
        # A window is never as narrow as a phone; a frame is.
        frame = page.with_name("phone.html")
        style = f"border:0;width:{PHONE}px;height:{3 * HEIGHT}px;margin-top:-{ABOVE}px"
        frame.write_text(
            f'<body style="margin:0;overflow:hidden"><iframe src="page.html" style="{style}"></iframe>'
        )
        left = _picture(chromium, page, SCREEN)
        right = _picture(chromium, frame, 600, DARK)[:, :PHONE]
    rows = HEIGHT + 2 * MARGIN
    canvas = np.full((rows, SCREEN + PHONE + 3 * MARGIN, 3), 0.82)
    canvas[MARGIN:-MARGIN, MARGIN : MARGIN + SCREEN] = left
    canvas[MARGIN:-MARGIN, -MARGIN - PHONE : -MARGIN] = right
    imsave(TARGET, canvas, pil_kwargs={"optimize": True})
    _reduce_colours()


def _picture(chromium: str, page: Path, width: int, *flags: str) -> np.ndarray:
    target = page.with_name("screen.png")
    command = [chromium, *FLAGS, *flags, f"--user-data-dir={page.with_name('profile')}"]
    command += [f"--window-size={width},{HEIGHT}", f"--screenshot={target}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return imread(target)[:, :, :3]


def _reduce_colours() -> None:
    """A palette of 128 colours: the picture stays below 300 kB."""
    from PIL import Image

    Image.open(TARGET).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(TARGET, optimize=True)


if __name__ == "__main__":
    main()

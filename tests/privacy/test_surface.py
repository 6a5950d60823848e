"""The room's public names, and what it must never import."""

import subprocess
import sys

import rowspace.privacy


def test_all_is_the_real_surface() -> None:
    names = {name for name in vars(rowspace.privacy) if not name.startswith("_")}
    submodules = {name for name in names if f"rowspace.privacy.{name}" in sys.modules}
    assert names - submodules == set(rowspace.privacy.__all__)


def test_privacy_mathematics_cannot_draw_noise_or_read_data() -> None:
    program = (
        "import sys, rowspace.privacy; "
        "sys.exit(any(f'rowspace.{room}' in sys.modules for room in ('noise', 'sources', 'measure')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""The room's public names. (That it never draws noise or reads data is an import contract.)"""

import sys

import rowspace.privacy


def test_all_is_the_real_surface() -> None:
    names = {name for name in vars(rowspace.privacy) if not name.startswith("_")}
    submodules = {name for name in names if f"rowspace.privacy.{name}" in sys.modules}
    assert names - submodules == set(rowspace.privacy.__all__)

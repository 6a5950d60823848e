"""Print the peers of the dependency group `bench`, one to a line, so that each is installed or fails alone."""

from __future__ import annotations

import tomllib
from pathlib import Path


def main() -> None:
    """Print them."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    print("\n".join(project["dependency-groups"]["bench"]))


if __name__ == "__main__":
    main()

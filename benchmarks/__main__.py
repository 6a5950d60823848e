"""Run every benchmark in turn: `python -m benchmarks`, or `make bench`."""

import importlib
import pkgutil

import benchmarks


def main() -> None:
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name != "__main__":
            print(f"\n== {module.name} ==")
            importlib.import_module(f"benchmarks.{module.name}").main()


if __name__ == "__main__":
    main()

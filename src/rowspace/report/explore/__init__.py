"""What a page needs to answer questions by itself, with the numbers of `Release.ask`: post-processing, written down.

    attributes   names, cells and levels, as the condition language knows them
    noise        from the noise of an answer to the width of its interval
    cells        strategies over cells        tables   strategies of tables
    informed     answers that keep to public facts
    measured     what is offered where a release is too large for that: the tables of its workload
    packing      numbers as text

Only what follows from the release file goes in: the plan and the noisy answers. The page's scripts are in
templates/explore; they follow `rowspace.error` and `rowspace.workload.predicate` step by step.

Guarantees
- Nothing about the data but the noisy answers reaches the page
  (tests/report/explore/test_contents.py::test_neighbours_with_equal_answers_give_equal_files).
- The page holds no more than `MOST_NUMBERS` numbers (tests/report/explore/test_contents.py::test_stated_size).
"""

from .contents import Exploration, exploration
from .contents import example as example
from .packing import MOST_NUMBERS

__all__ = ["MOST_NUMBERS", "Exploration", "exploration"]

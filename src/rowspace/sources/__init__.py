"""Data in files, frames and databases, counted over a declared domain.

One path for everything: a source becomes an Ibis table (`opening`), every attribute an integer code
computed in the engine (`columns`, `binning`, all in `coding`), and the engine groups by the codes
(`counting`). Only codes and counts travel. A count vector skips all that (`read_counts`). Many marginal tables
are counted together (`marginal_counting`), without an array over the domain. Values that nobody declared are counted
by themselves (`keys`), to be shown only past a private threshold.

Together with `measure` this is the only room that touches data, so nothing here logs, prints or quotes it:
engine errors pass through `silence`, which drops their text.
"""

from rowspace.sources.coding import check_columns
from rowspace.sources.counting import MAX_CELLS, count_cells
from rowspace.sources.databases import is_url as is_url
from rowspace.sources.drafting import ColumnSketch as ColumnSketch
from rowspace.sources.drafting import sketch_columns as sketch_columns
from rowspace.sources.files import may_read as may_read
from rowspace.sources.files import root_of as root_of
from rowspace.sources.identity import source_digest
from rowspace.sources.keys import KeyCounts, count_keys
from rowspace.sources.looking import look as look
from rowspace.sources.looks import Cap as Cap
from rowspace.sources.looks import ColumnLook as ColumnLook
from rowspace.sources.looks import TableLook as TableLook
from rowspace.sources.looks import UnitSizes as UnitSizes
from rowspace.sources.marginal_counting import MAX_TABLE_CELLS, count_marginals
from rowspace.sources.marginal_tables import CountStack, MarginalTables
from rowspace.sources.opening import Source

__all__ = [
    "MAX_CELLS",
    "MAX_TABLE_CELLS",
    "CountStack",
    "KeyCounts",
    "MarginalTables",
    "Source",
    "check_columns",
    "count_cells",
    "count_keys",
    "count_marginals",
    "source_digest",
]

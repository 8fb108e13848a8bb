"""How far can an automatic evaluation metric be trusted? Importing registers `ds.meta` and `df.meta`."""

from xsumstat import accessor as _accessor  # noqa: F401 - registers the accessors
from xsumstat.datasets import load_dataset
from xsumstat.mtme import read_mtme
from xsumstat.readers import read_realsumm, read_sacrerouge
from xsumstat.schema import package_version as _package_version
from xsumstat.schema import set_dims
from xsumstat.simulation import simulate
from xsumstat.tasks import rank_tasks
from xsumstat.trials import coverage, power

__all__ = [
    "coverage",
    "load_dataset",
    "power",
    "rank_tasks",
    "read_mtme",
    "read_realsumm",
    "read_sacrerouge",
    "set_dims",
    "simulate",
]
__version__ = _package_version()

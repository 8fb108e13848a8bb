"""How far can an automatic evaluation metric be trusted? Importing registers `ds.meta` and `df.meta`."""

from xsumstat import accessor as _accessor  # noqa: F401 - registers the accessors
from xsumstat.datasets import load_dataset
from xsumstat.readers import read_realsumm, read_sacrerouge
from xsumstat.schema import package_version as _package_version
from xsumstat.schema import set_dims

__all__ = ["load_dataset", "read_realsumm", "read_sacrerouge", "set_dims"]
__version__ = _package_version()

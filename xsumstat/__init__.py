"""How far can an automatic evaluation metric be trusted? Importing registers `ds.meta` and `df.meta`."""

from typing import TYPE_CHECKING, NoReturn

from xsumstat import accessor as _accessor  # noqa: F401 - registers the accessors
from xsumstat import offers as _offers
from xsumstat.analyses.tasks import rank_tasks
from xsumstat.analyses.wmt_tasks import wmt_tasks
from xsumstat.dataset.results import package_version as _package_version
from xsumstat.dataset.scores import set_dims
from xsumstat.io.eval_results import read_deepeval, read_lm_eval, read_promptfoo
from xsumstat.io.frames import to_scores
from xsumstat.io.gold import add_gold
from xsumstat.io.inspect_logs import read_inspect
from xsumstat.io.mqm import read_mqm
from xsumstat.io.mtme import read_mtme
from xsumstat.io.published import load_dataset
from xsumstat.io.realsumm import read_realsumm
from xsumstat.io.sacrerouge import read_sacrerouge
from xsumstat.simulation.coverage import coverage
from xsumstat.simulation.plan import plan
from xsumstat.simulation.power import power
from xsumstat.simulation.simulate import simulate

__all__ = [
    "add_gold",
    "coverage",
    "load_dataset",
    "plan",
    "power",
    "rank_tasks",
    "read_deepeval",
    "read_inspect",
    "read_lm_eval",
    "read_mqm",
    "read_mtme",
    "read_promptfoo",
    "read_realsumm",
    "read_sacrerouge",
    "set_dims",
    "simulate",
    "to_scores",
    "wmt_tasks",
]
__version__ = _package_version()


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if not TYPE_CHECKING:  # for which any attribute would be right

    def __getattr__(name: str) -> NoReturn:
        raise AttributeError(name if name.startswith("_") else _offers.unknown_to("xsumstat", __all__, name))

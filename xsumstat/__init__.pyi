from .analyses.tasks import rank_tasks as rank_tasks
from .analyses.wmt_data import wmt_info as wmt_info
from .analyses.wmt_tasks import wmt_tasks as wmt_tasks
from .core.caveats import CautionWarning as CautionWarning
from .core.caveats import LeftOutWarning as LeftOutWarning
from .core.caveats import MetaEvaluationWarning as MetaEvaluationWarning
from .core.caveats import UndefinedWarning as UndefinedWarning
from .dataset.locate import set_dims as set_dims
from .io.added import add_metric as add_metric
from .io.esa import read_esa as read_esa
from .io.eval_results import read_deepeval as read_deepeval
from .io.eval_results import read_lm_eval as read_lm_eval
from .io.eval_results import read_promptfoo as read_promptfoo
from .io.frames import to_scores as to_scores
from .io.gold import add_gold as add_gold
from .io.inspect_logs import read_inspect as read_inspect
from .io.mqm import read_mqm as read_mqm
from .io.mtme import read_mtme as read_mtme
from .io.preference_files import read_preferences as read_preferences
from .io.preferences import to_preferences as to_preferences
from .io.published import load_dataset as load_dataset
from .io.realsumm import read_realsumm as read_realsumm
from .io.sacrerouge import read_sacrerouge as read_sacrerouge
from .report.task_report import shared_task as shared_task
from .simulation.coverage import coverage as coverage
from .simulation.plan import plan as plan
from .simulation.power import power as power
from .simulation.simulate import simulate as simulate

__all__: list[str]
__version__: str

"""Published score data by name, fetched once and checked, and a small simulated set."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from xsumstat.core import extras, validate
from xsumstat.core.levels import LEVELS
from xsumstat.io import lexical
from xsumstat.io.cells import text
from xsumstat.io.frames import to_scores
from xsumstat.io.mqm import read_mqm
from xsumstat.io.realsumm import read_realsumm
from xsumstat.io.sacrerouge import read_sacrerouge

_SACREROUGE = (
    "https://raw.githubusercontent.com/CogComp/stat-analysis-experiments/"
    "7b05bd874defac6c047deb2313c398318f2113e3/experiments/statistical-analysis/data/"
)
_MQM = "https://raw.githubusercontent.com/google/wmt-mqm-human-evaluation/7fadea281aff8db61cc72fc3d469a4dca78b82a6/"
_REALSUMM = "https://raw.githubusercontent.com/neulab/REALSumm/a5900e3e36c66ab064823831f7496c2d449a5545/scores_dicts/"

# SHA-256 of each file by its path in a mirror.
_HASHES = {
    "mqm/ted/ende/mqm_ted_ende.tsv": "3952dc904997dda31c03421243862cb8a093f9a712fd90dc97b9709b4bb387b3",
    "realsumm/abs.pkl": "6dd40c9db3526169f73fef6f1f2c23d0a49df29a1f232d19b90286894b9c6d72",
    "realsumm/ext.pkl": "32eba452391ef8164eed5a128cc80f06e4e4612274fe377902b93c7ae9ae2b20",
    "sacrerouge/bhandari2020/autosummeng.jsonl": "5b28c23aba6b7a1df4ca797af68d0bddc1755523d4eaee14e3f0ad6adb82307f",
    "sacrerouge/bhandari2020/bewte.jsonl": "dc02e047539d23f1c4966249d5d4d9c421c6a114d5a43e20ff3186e68a696b35",
    "sacrerouge/bhandari2020/meteor.jsonl": "78c29b9517794662894ede4aa5a2c71f7126ea8168a89986ad3718037ab0db92",
    "sacrerouge/bhandari2020/pyramid.jsonl": "f126668e7c7b838719e95997e78e29d6b70db41da85425249b81381326a5a6f3",
    "sacrerouge/bhandari2020/qaeval.jsonl": "ed855ef9d51b402b2abdc00b3fab169cd1180bd826fa3c65fb36110d32be7cd3",
    "sacrerouge/bhandari2020/s3.jsonl": "829765c6067c2e524d8bb674a936da77d7f2d49623e42c619a99ae97ae188aff",
    "sacrerouge/fabbri2020/autosummeng.jsonl": "7fb272f256af26d6dc67105bafbfa4024960955b9afeba119ea8427c658c58a6",
    "sacrerouge/fabbri2020/bertscore.jsonl": "644ac23b46d3f4d6b068f61577e3d9476022b5eedadf69eceb192c4408567ee1",
    "sacrerouge/fabbri2020/bewte.jsonl": "ba679de669792813d45df484c38a529c0dd7e0193757e9e4495410684550b05e",
    "sacrerouge/fabbri2020/meteor.jsonl": "ccc02814492d1803e0d5fe229c20ebe43da3ffc3dbeb8691f6e7598128be8f62",
    "sacrerouge/fabbri2020/moverscore.jsonl": "4ce357e4852c4ac43b52a658a87c31362256db2f036713a39e3b0de6bab2e9e3",
    "sacrerouge/fabbri2020/qaeval.jsonl": "4da8aaf4035fee244eabc9a2048015eab03a1b0fdd1301989d2503f3160a0e4f",
    "sacrerouge/fabbri2020/relevance.jsonl": "e05def5f78b1398c36e52f812377cc91aec24fa7dc171b8d77b28fd91f0d212e",
    "sacrerouge/fabbri2020/rouge.jsonl": "935239aac30b0ff059de1907c36d6b065621f6d64c02ec910202395d341b0a91",
    "sacrerouge/fabbri2020/s3.jsonl": "c17fae623f57255caa681a09cb1fb71f339c004152aeef94cad732fd0babd69d",
}

# The systems of SummEval that people rated (Fabbri et al. 2021, Table 4; the repository's README for the types).
_SUMMEVAL_SYSTEMS = {
    "M0": ("LEAD-3", "extractive"),
    "M1": ("NEUSUM", "extractive"),
    "M2": ("BanditSum", "extractive"),
    "M5": ("RNES", "extractive"),
    "M8": ("Pointer Generator", "abstractive"),
    "M9": ("Fast-abs-rl", "abstractive"),
    "M10": ("Bottom-Up", "abstractive"),
    "M11": ("Improve-abs", "abstractive"),
    "M12": ("Unified-ext-abs", "abstractive"),
    "M13": ("ROUGESal", "abstractive"),
    "M14": ("Multi-task (Ent + QG)", "abstractive"),
    "M15": ("Closed book decoder", "abstractive"),
    "M17": ("T5", "abstractive"),
    "M20": ("GPT-2", "abstractive"),
    "M22": ("BART", "abstractive"),
    "M23": ("Pegasus", "abstractive"),
}
_REFERENCE = "ref"  # what MQM's annotations call the reference translation
# REALSumm's extractive systems, by their names in SacreROUGE's copy.
_REALSUMM_EXTRACTIVE = frozenset(
    {
        "banditsumm_out",
        "heter_graph_out",
        "matchsumm_out",
        "neusumm_out",
        "pnbert_out_bert_lstm_pn",
        "pnbert_out_bert_lstm_pn_rl",
        "pnbert_out_bert_tf_pn",
        "pnbert_out_bert_tf_sl",
        "pnbert_out_lstm_pn_rl",
        "refresh_out",
    }
)


@validate.public
def load_dataset(name: str, *, metrics: str | Iterable[str] = ()) -> xr.Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : {"demo", "summeval", "realsumm", "realsumm-sacrerouge", "wmt21-ted-ende"}
        "demo": simulated, 12 systems, 30 inputs, 7 metrics; ``truth(metric, level)`` is the population's Pearson
        correlation with "human". "summeval": 16 systems x 100 inputs, expert and crowd ratings, 10 families of metrics
        (Fabbri et al. 2021). "realsumm": 25 systems x 100 inputs with LitePyramid scores (Bhandari et al. 2020).
        "realsumm-sacrerouge": the copy of Deutsch et al. (2021), 24 systems, more metrics. "wmt21-ted-ende": 13 systems
        and "ref" x 529 segments of TED talks, English to German, with MQM errors (Freitag et al. 2021) and texts.
    metrics : {"bleu", "chrf", "ter"} or several, optional
        For "wmt21-ted-ende": sentence-level metrics against the reference, computed by sacrebleu; TER is slow.

    Returns
    -------
    Dataset
        ``score(metric, system, input)`` with ``kind(metric)`` and ``system_type(system)``; ``attrs`` "gold", "source",
        "licence", and "signatures" of sacrebleu. SummEval has ``rating(judgment, system, input, rater)``,
        "wmt21-ted-ende" the variables of `read_mqm`.

    Raises
    ------
    ValueError, OSError, ImportError
        For a file that cannot be fetched or has another SHA-256; without pooch (extra "data") or sacrebleu ("mt").

    Notes
    -----
    Files are fetched once, at a pinned commit. Offline use (XSUMSTAT_DATA_DIR): documentation, "Load your scores".

    Examples
    --------
    >>> import xsumstat
    >>> ds = xsumstat.load_dataset("demo")
    >>> dict(ds.score.sizes)
    {'metric': 7, 'system': 12, 'input': 30}
    """
    loader = _LOADERS[validate.choice("name", name, _LOADERS)]
    names = validate.several("metrics", metrics, f"one or several of {validate.listing(lexical.METRICS)}")
    for each in names:
        validate.choice("metrics", each, lexical.METRICS)
    validate.unique("metrics", names)
    if names and loader is not _wmt21:
        raise ValueError(f"metrics are computed from texts, which 'wmt21-ted-ende' alone has, got name={name!r}")
    return _with_metrics(loader(), names) if names else loader()


def _demo() -> xr.Dataset:
    cells, metrics = (_embedded(name) for name in ("demo.csv", "demo_metrics.csv"))
    metrics = metrics.set_index("metric")
    levels = list(LEVELS)
    ds = to_scores(cells, wide=True, metric=list(metrics.index))
    ds = ds.assign_coords(
        kind=("metric", metrics["kind"].to_numpy()),
        higher_is_better=("metric", metrics["higher_is_better"].to_numpy()),
        level=levels,
    )
    ds["truth"] = (("metric", "level"), metrics[levels].to_numpy())
    return ds.assign_attrs(gold="human", source="simulated, see tests/make_demo.py of xsumstat", licence="MIT")


def _embedded(name: str) -> pd.DataFrame:
    with resources.files("xsumstat").joinpath(name).open(encoding="utf-8") as stream:
        return pd.read_csv(stream)


def _summeval() -> xr.Dataset:
    ds = read_sacrerouge(_fetch("sacrerouge/fabbri2020/")).drop_vars("summarizer_type")
    described = [_SUMMEVAL_SYSTEMS[str(system)] for system in ds.system.values]
    return ds.assign_coords(
        system_name=("system", [name for name, _ in described]),
        system_type=("system", [kind for _, kind in described]),
    ).assign_attrs(
        gold="expert_relevance",
        source="Fabbri et al. (2021), SummEval; scores from github.com/CogComp/stat-analysis-experiments",
        licence="Apache-2.0; ratings MIT",
    )


def _realsumm() -> xr.Dataset:
    abstractive, extractive = _fetch("realsumm/")
    return read_realsumm({"abstractive": abstractive, "extractive": extractive}).assign_attrs(
        gold="litepyramid_recall",
        source="Bhandari et al. (2020), REALSumm; github.com/neulab/REALSumm",
        licence="CC-BY-4.0",
    )


def _realsumm_sacrerouge() -> xr.Dataset:
    ds = read_sacrerouge(_fetch("sacrerouge/bhandari2020/")).drop_vars("summarizer_type")
    kinds = ["extractive" if system in _REALSUMM_EXTRACTIVE else "abstractive" for system in ds.system.values]
    return ds.assign_coords(system_type=("system", kinds)).assign_attrs(
        gold="litepyramid_recall",
        source="Bhandari et al. (2020), REALSumm; scores from github.com/CogComp/stat-analysis-experiments",
        licence="Apache-2.0; scores CC-BY-4.0",
    )


def _wmt21() -> xr.Dataset:
    (file,) = _fetch("mqm/ted/ende/")
    ds = read_mqm(file)
    kinds = ["human" if system == _REFERENCE else "machine" for system in ds.system.values]
    return ds.assign_coords(system_type=("system", text(kinds))).assign_attrs(
        source="Freitag et al. (2021), WMT21 metrics task, TED talks; github.com/google/wmt-mqm-human-evaluation",
        licence="Apache-2.0",
        language_pair="en-de",
    )


def _with_metrics(ds: xr.Dataset, names: list[str]) -> xr.Dataset:
    scores, signatures = lexical.scored(ds["target"], _REFERENCE, names)
    metrics = [*ds["metric"].values, *names]
    score = np.concatenate([ds["score"].values, scores.values])
    return (
        ds.drop_dims("metric")
        .assign(score=(("metric", "system", "input"), score))
        .assign_coords(
            metric=text(metrics),
            kind=("metric", text(["human", *["automatic"] * len(names)])),
            higher_is_better=("metric", np.append(True, scores["higher_is_better"].values)),
        )
        .assign_attrs(signatures="\n".join(f"{name}: {signature}" for name, signature in signatures.items()))
    )


_LOADERS: dict[str, Callable[[], xr.Dataset]] = {
    "demo": _demo,
    "summeval": _summeval,
    "realsumm": _realsumm,
    "realsumm-sacrerouge": _realsumm_sacrerouge,
    "wmt21-ted-ende": _wmt21,
}


NAMES = tuple(_LOADERS)


def _fetch(folder: str) -> list[Path]:
    names = [name for name in _HASHES if name.startswith(folder)]
    mirror = os.environ.get("XSUMSTAT_DATA_DIR")
    return [_mirrored(Path(mirror), name) for name in names] if mirror else _downloaded(names)


def mirrored(name: str) -> list[Path]:
    mirror = os.environ.get("XSUMSTAT_DATA_DIR")
    there = [Path(mirror) / each for each in _HASHES] if mirror and name in _LOADERS else []
    return [path for path in there if path.is_file()]


def _mirrored(mirror: Path, name: str) -> Path:
    path = mirror / name
    if not path.is_file():
        raise FileNotFoundError(f"XSUMSTAT_DATA_DIR={mirror} has no file {name}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != _HASHES[name]:
        raise ValueError(f"{path} is not the published file: its SHA-256 is {found}, expected {_HASHES[name]}")
    return path


def _downloaded(names: list[str]) -> list[Path]:
    pooch: Any = extras.optional("pooch", "data")
    base = os.environ.get("XSUMSTAT_DATA_URL")
    store = pooch.create(
        path=pooch.os_cache("xsumstat"),
        base_url=base.rstrip("/") + "/" if base else "",
        registry={name: f"sha256:{_HASHES[name]}" for name in names},
        urls=None if base else {name: _url(name) for name in names},
        retry_if_failed=2,
    )
    paths = []
    for name in names:
        try:
            paths.append(Path(store.fetch(name)))
        except ValueError as error:
            raise ValueError(f"{store.get_url(name)} is not the published file: {error}") from error
        except OSError as error:
            raise OSError(
                f"could not fetch {store.get_url(name)}: {error}; "
                "with the files at hand, set XSUMSTAT_DATA_DIR to their folder"
            ) from error
    return paths


def _url(name: str) -> str:
    folder, _, rest = name.partition("/")
    return {"realsumm": _REALSUMM, "mqm": _MQM, "sacrerouge": _SACREROUGE}[folder] + rest

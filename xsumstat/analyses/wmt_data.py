"""Settings of WMT's metrics tasks, 2022 to 2025, each with its source: `wmt_info`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from xsumstat.core import validate

_TOOLKIT = "meta_info.py of google-research/mt-metrics-eval"
_SOURCES = {
    "wmt22": f"{_TOOLKIT} @ 38882cc9; domains and human systems: its tasks.py @ 61106842",
    "wmt23": f"{_TOOLKIT} @ 38882cc9; human systems: its tasks.py @ 61106842",
    "wmt24": f"{_TOOLKIT}, in the copy zhangr2021/mt-metrics-eval @ b42f97d7; human systems: its tasks.py",
    "wmt25": "www2.statmt.org/wmt25/mteval-subtask1.html (human scores); the toolkit's entries were not available",
}


@dataclass(frozen=True)
class Settled:
    """Human scores, standard reference and outliers of a language pair, and whether other references are systems."""

    gold: str | None = None
    reference: str | None = "refA"
    outliers: tuple[str, ...] = ()
    people: bool = False


TEST_SETS: Mapping[str, Mapping[str, Settled]] = {
    "wmt22": {
        "en-de": Settled("mqm", outliers=("M2M100_1.2B-B4",)),
        "en-ru": Settled("mqm"),
        "zh-en": Settled("mqm"),
        "cs-en": Settled("wmt", "refB"),
        "en-cs": Settled("wmt-appraise", "refB"),
        **dict.fromkeys(("de-en", "ja-en", "ru-en", "uk-en"), Settled("wmt")),
        **dict.fromkeys(("cs-uk", "en-hr", "en-ja", "en-liv", "en-uk", "en-zh"), Settled("wmt-appraise")),
        **dict.fromkeys(("liv-en", "sah-ru", "uk-cs"), Settled("wmt-appraise")),
        **dict.fromkeys(("de-fr", "fr-de", "ru-sah"), Settled()),
    },
    "wmt23": {
        "en-de": Settled("mqm", outliers=("synthetic_ref",)),
        "he-en": Settled("mqm", "refB", people=True),
        "zh-en": Settled("mqm", outliers=("synthetic_ref",)),
        "en-he": Settled(None, "refB", people=True),
        **dict.fromkeys(("cs-uk", "de-en", "en-cs", "en-ja", "en-zh", "ja-en"), Settled("da-sqm")),
        **dict.fromkeys(("en-ru", "en-uk", "ru-en", "uk-en"), Settled()),
    },
    "wmt24": {
        "en-de": Settled("mqm", "refB", outliers=("MSLC",), people=True),
        "en-es": Settled("mqm", outliers=("MSLC",)),
        "ja-zh": Settled("mqm", outliers=("MSLC",)),
        **dict.fromkeys(("cs-uk", "en-cs", "en-hi", "en-is", "en-ja", "en-ru", "en-uk", "en-zh"), Settled("esa")),
    },
    "wmt25": {
        **dict.fromkeys(("en-ko", "ja-zh"), Settled("mqm", None)),
        **dict.fromkeys(("cs-de", "cs-uk", "en-ar", "en-bho", "en-cs", "en-et", "en-is"), Settled("esa", None)),
        **dict.fromkeys(("en-it", "en-ja", "en-mas", "en-ru", "en-sr", "en-uk", "en-zh"), Settled("esa", None)),
    },
}

# The language pairs by which a test set's metrics were ranked; those of 2022 to 2024 have MQM.
RANKED: Mapping[str, tuple[str, ...]] = {
    "wmt22": ("en-de", "en-ru", "zh-en"),
    "wmt23": ("en-de", "he-en", "zh-en"),
    "wmt24": ("en-de", "en-es", "ja-zh"),
}
# The domains by which metrics were ranked too.
DOMAINS: Mapping[str, tuple[str, ...]] = {"wmt22": ("conversation", "ecommerce", "news", "social")}

# Base names of the organisers' baselines, and of the participants' primary submissions. The toolkit names no baselines
# of 2022.
BASELINES: Mapping[str, tuple[str, ...]] = {
    "wmt23": (
        *("BERTscore", "BLEU", "BLEURT-20", "chrF", "COMET", "CometKiwi", "docWMT22CometDA", "docWMT22CometKiwiDA"),
        *("f200spBLEU", "MS-COMET-QE-22", "prismRef", "prismSrc", "Random-sysname", "YiSi-1"),
    ),
    "wmt24": (
        *("BERTScore", "BLEU", "BLEURT-20", "chrF", "COMET-22", "CometKiwi", "PrismRefMedium", "PrismRefSmall"),
        *("sentinel-cand-mqm", "sentinel-ref-mqm", "sentinel-src-mqm", "spBLEU", "YiSi-1"),
    ),
}
PRIMARY: Mapping[str, tuple[str, ...]] = {
    "wmt22": (
        *("BERTScore", "BLEU", "BLEURT-20", "chrF", "COMET-20", "COMET-22", "COMETKiwi", "COMET-QE", "f200spBLEU"),
        *("HuaweiTSC_EE_BERTScore_0.3_With_Human", "HWTSC-Teacher-Sim", "MATESE", "MATESE-QE", "MEE4"),
        *("metricx_xxl_MQM_2020", "MS-COMET-22", "MS-COMET-QE-22", "REUSE", "SEScore", "UniTE", "UniTE-src", "YiSi-1"),
    ),
    "wmt23": (
        *("Calibri-COMET22", "Calibri-COMET22-QE", "cometoid22-wmt22", "eBLEU", "embed_llama", "GEMBA-MQM"),
        *("KG-BERTScore", "MaTESe", "mbr-metricx-qe", "MEE4", "MetricX-23", "MetricX-23-QE"),
        *("mre-score-labse-regular", "sescoreX", "tokengram_F", "XCOMET-Ensemble", "XCOMET-QE-Ensemble", "XLsim"),
    ),
    "wmt24": (
        *("BLCOM_1", "bright-qe", "chrfS", "damonmonli", "gemba_esa", "MEE4", "metametrics_mt_mqm_hybrid_kendall"),
        *("metametrics_mt_mqm_qe_kendall.seg.s", "MetricX-24-Hybrid", "MetricX-24-Hybrid-QE", "XCOMET", "XCOMET-QE"),
        "XLsimMqm",
    ),
}


def of(test_set: str, pair: str) -> Settled | None:
    """Settings of a language pair; for an unlisted pair those of most pairs of its test set."""
    there = TEST_SETS.get(test_set)
    if there is None:
        return None
    known = there.get(pair, there.get(pair.partition("_")[0]))  # 2025's pairs name countries too, as en-ko_KR
    return known or Settled(reference=None if test_set == "wmt25" else "refA")


def submission(test_set: str, base: str) -> str:
    """Whether a metric was a primary submission, a baseline or another ("contrastive"); "" if that is not known."""
    if test_set not in PRIMARY:
        return ""
    if base in BASELINES.get(test_set, ()):
        return "baseline"
    return "primary" if base in PRIMARY[test_set] else "contrastive"


@validate.public
def wmt_info(test_set: str | None = None) -> pd.DataFrame:
    """The settings of WMT's metrics shared tasks of 2022 to 2025 that `wmt_tasks` uses, each with its source.

    Parameters
    ----------
    test_set : {"wmt22", "wmt23", "wmt24", "wmt25"}, optional
        Default: all.

    Returns
    -------
    DataFrame
        One row per language pair: ``gold``, the human scores; ``reference``, the standard one; ``human_systems``,
        whether other references count as systems; ``outliers``, which are left out; ``ranked`` and ``weight``, the
        pair's share in WMT's ranking; ``domains``; ``primary`` and ``baselines``, base names of metrics; ``source``.

    Notes
    -----
    The toolkit lists baselines among the primary metrics. In 2022 it does not name them. For 2025 the standard
    references, outliers and submissions are unknown. In 2022 and 2023 the accuracy over all pairs has the remaining
    weight.

    Examples
    --------
    >>> import xsumstat
    >>> info = xsumstat.wmt_info("wmt24").set_index("language_pair")
    >>> info.loc["en-de", ["gold", "reference", "outliers"]].tolist()
    ['mqm', 'refB', ('MSLC',)]
    """
    if test_set is not None:
        validate.choice("test_set", test_set, tuple(TEST_SETS))
    rows = []
    for name, pairs in TEST_SETS.items():
        for pair, settled in sorted(pairs.items()) if test_set in (None, name) else ():
            ranked = pair in RANKED.get(name, pairs)
            rows.append(
                {
                    "test_set": name,
                    "language_pair": pair,
                    "gold": settled.gold,
                    "reference": settled.reference,
                    "human_systems": settled.people,
                    "outliers": settled.outliers,
                    "ranked": ranked,
                    "weight": _weight(name) if ranked else 0.0,
                    "domains": DOMAINS.get(name, ()),
                    "primary": PRIMARY.get(name, ()),
                    "baselines": BASELINES.get(name, ()),
                    "source": _SOURCES[name],
                }
            )
    return pd.DataFrame(rows)


def _weight(test_set: str) -> float:
    """What each ranked pair weighs; the accuracy over all pairs of 2022 and 2023 weighs as much as one pair."""
    size = len(RANKED.get(test_set, TEST_SETS[test_set]))
    return 1 / (size + (test_set in ("wmt22", "wmt23")))

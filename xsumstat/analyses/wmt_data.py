"""Settings of WMT's metrics tasks: human scores, references and outliers.

2022, 2023: github.com/google-research/mt-metrics-eval, ``meta_info.py`` and ``tasks.py``. 2024: published scripts of
the task, and refB of en-de as users of the toolkit report it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Settled:
    """Human scores, standard reference and outliers of a language pair, and whether other references are systems."""

    gold: str | None = None
    reference: str = "refA"
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
}

# The language pairs by which a test set's metrics were ranked, those with MQM; of others all that have human scores.
RANKED: Mapping[str, tuple[str, ...]] = {
    "wmt22": ("en-de", "en-ru", "zh-en"),
    "wmt23": ("en-de", "he-en", "zh-en"),
    "wmt24": ("en-de", "en-es", "ja-zh"),
}


def of(test_set: str, pair: str) -> Settled | None:
    """What is settled of a language pair; for one that is not listed what most pairs of its test set have."""
    there = TEST_SETS.get(test_set)
    return None if there is None else there.get(pair, Settled())

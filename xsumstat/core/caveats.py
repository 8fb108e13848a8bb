"""Warnings by class and code; code never reads their text."""

from __future__ import annotations

from typing import Any


class MetaEvaluationWarning(UserWarning):
    """Something that readers of a result should know.

    Attributes
    ----------
    code : str
        One of `CODES`.
    fields : dict
        Names in it that code needs, such as the gold.
    """

    def __init__(self, text: str, code: str = "", fields: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.code, self.fields = code, fields or {}


class LeftOutWarning(MetaEvaluationWarning):
    """Something is left out or missing."""


class UndefinedWarning(MetaEvaluationWarning):
    """Something is undefined, or has another value instead."""


class CautionWarning(MetaEvaluationWarning):
    """Conclusions may not hold: few labels, a doubtful direction, scores that are human scores."""


class UnusableGoldError(ValueError):
    """The gold is constant or missing."""


class Caveat(str):
    """Text of a warning with its code and fields, before it is shown."""

    code: str
    fields: dict[str, Any]

    def __new__(cls, text: str, code: str = "", **fields: Any) -> Caveat:
        made = super().__new__(cls, text)
        made.code, made.fields = code, fields
        return made

    def said(self, text: str) -> Caveat:
        return Caveat(text, self.code, **self.fields)

    def of(self, name: str) -> Caveat:
        return self.said(f"{name}: {self}")

    def warning(self) -> MetaEvaluationWarning:
        return CODES.get(self.code, MetaEvaluationWarning)(str(self), self.code, self.fields)


CODES: dict[str, type[MetaEvaluationWarning]] = {
    **dict.fromkeys(
        (
            "annotations_left_out",
            "cells_left_out",
            "columns_left_out",
            "documents_unknown",
            "fewer_labels",
            "ties_left_out",
            "gold_ties_left_out",
            "group_without_label",
            "input_not_in_range",
            "labels_left_out",
            "labels_trimmed",
            "labels_without_cells",
            "no_common_scores",
            "no_gold_score",
            "no_rating",
            "no_score",
            "no_such_domain",
            "not_drawn",
            "not_in_all_tasks",
            "not_rated",
            "scores_left_out",
            "single_outputs_left_out",
        ),
        LeftOutWarning,
    ),
    **dict.fromkeys(
        (
            "averaged",
            "constant",
            "constant_gold",
            "counts_as_zero",
            "drawn",
            "fell_back",
            "first_kept",
            "negative_variance",
            "no_interval",
            "no_result",
            "no_test",
            "no_verdict",
            "resamples_undefined",
            "tied_at_k",
            "turned",
            "undefined",
        ),
        UndefinedWarning,
    ),
    **dict.fromkeys(
        (
            "approximate_threshold",
            "average_for_single",
            "biased",
            "ceiling",
            "decisions_swapped",
            "depends_on_scale",
            "direction",
            "documents",
            "far_rating",
            "few_inputs",
            "few_pairs",
            "few_ratings",
            "few_resamples",
            "few_systems",
            "kept_apart",
            "leakage",
            "look_alike_labels",
            "near_copies",
            "near_one",
            "not_alike",
            "not_random",
            "observed_range",
            "one_value",
            "other_inputs",
            "other_scale",
            "outputs_alike",
            "unequal_clusters",
            "unusual_kind",
            "unequal_groups",
            "unequal_probabilities",
            "uneven_raters",
            "outside",
            "perhaps_no_metric",
            "rare_class",
            "repeated_system",
            "labels_beside_numbers",
            "reversed_labels",
            "several_criteria",
            "rests_on_one_system",
            "rough_plan",
            "sentinels_level",
            "skewed",
            "too_short",
            "two_raters",
        ),
        CautionWarning,
    ),
}

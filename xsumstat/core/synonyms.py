"""Names that papers and other libraries use for our arguments and values, compared by `spelt`."""

from __future__ import annotations

import re

Words = dict[str, tuple[str, ...]]

_IDENTIFIER = re.compile(r"(?i:(?:^|[\W_])(?:ids?|idx|uuid|guid))$|(?<=[a-z])(?:Ids?|IDs?)$")


def spelt(word: str) -> str:
    """Letters and digits in lower case: "n_boot" and "nBoot" are one."""
    return "".join(filter(str.isalnum, word)).lower()


def identified(name: str) -> str | None:
    """What a column of identifiers identifies, "patient" for "patient_id"; None for other names."""
    found = _IDENTIFIER.search(name)
    return None if found is None else " ".join(re.split(r"[\W_]+", name[: found.start()])).strip().lower()


def words_of(*lines: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelt(word) for line in lines for word in line.split()))


_CORRECTIONS = {
    "bonferroni": words_of("bonf bonferoni fwer"),
    "holm": words_of("holm_bonferroni step_down holm-sidak"),
    "bh": words_of("fdr fdr_bh benjamini_hochberg hochberg"),
    "by": words_of("fdr_by benjamini_yekutieli"),
    "maxt": words_of("westfall_young minp max_stat max_statistic"),
}

# Of each argument the values it takes, and what others call them. Functions do not take all: where one word has two
# meanings, as for `method`, the first that the function takes is meant.
VALUES: dict[str, Words] = {
    "coefficient": {
        "pearson": words_of("pearsonr pearsons_r r corrcoef linear"),
        "spearman": words_of("spearmanr spearmans_rho rho"),
        "kendall": words_of("kendalltau kendalls_tau tau kendall_b kendall_tau_b kendalls_tau_b tau_b"),
        "kendall_a": words_of("kendall_tau_a kendalls_tau_a tau_a"),
        "kendall_c": words_of("kendall_tau_c kendalls_tau_c tau_c stuart stuart_tau_c"),
        "pairwise_accuracy": words_of("pairwise system_accuracy concordance pce"),
        "acc_eq": words_of("acc23 acc_eq_star accuracy_eq tie_accuracy tie_calibration kendall_with_ties_opt"),
        "tau_eq": words_of("tau_eq_star tau_23 kendall_23 kendall_tau_23 tau_with_ties"),
        "kendall_like": words_of("darr tau_like kendall_variant wmt_tau"),
        "spa": words_of("soft_accuracy soft_pairwise_accuracy pairwise_confidence_error"),
        "pdp": words_of("pairwise_difference_pearson pairwise_difference_correlation pearson_of_differences"),
        "accuracy": words_of("acc exact exact_match exact_agreement percent_agreement raw_agreement accuracy_score"),
        "kappa": words_of("cohen cohens_kappa cohen_kappa cohen_kappa_score unweighted_kappa"),
        "weighted_kappa": words_of(
            "concordance_correlation lins_ccc lin_ccc quadratic_kappa quadratic_weighted_kappa qwk kappa_quadratic",
        ),
        "icc": words_of("icc_a1 icc2 icc_2_1 intraclass intraclass_correlation"),
        "mcc": words_of("matthews matthews_corrcoef phi phi_coefficient"),
        "f1": words_of("f1_score f_score f_measure dice"),
        "sensitivity": words_of("recall true_positive_rate tpr hit_rate"),
        "specificity": words_of("true_negative_rate tnr selectivity"),
    },
    "level": {
        "system": words_of("systems sys corpus model models summarizer system_level"),
        "input": words_of(
            "summary segment seg item instance document doc topic sample sentence summary_level segment_level",
            "item_level sentence_level input_level group_by_item prompt question example prompt_level inputs prompts",
        ),
        "global": words_of("no_grouping none all overall pooled cell"),
        "within_system": words_of("group_by_system by_system within"),
    },
    "resample": {
        "system": words_of("systems sys model models summarizer summarizers"),
        "input": words_of(
            "inputs document documents doc docs segment segments seg segs instance instances item items topic topics",
            "summary sentence sentences prompt prompts question questions",
        ),
        "both": words_of("all systems_and_inputs system_input"),
        "cell": words_of("cells"),
        "rater": words_of("raters annotator annotators judges"),
        "reference": words_of("references ref refs"),
    },
    "alternative": {
        "two-sided": words_of("both two_tailed not_equal unequal ne"),
        "greater": words_of("larger upper right higher more gt"),
        "less": words_of("smaller lower left lesser fewer lt"),
    },
    "interval": {
        "percentile": words_of("perc pct quantile quantiles"),
        "basic": words_of("pivotal empirical reverse_percentile"),
        "normal": words_of("norm gaussian wald"),
        "bca": words_of("bias_corrected bias_corrected_accelerated accelerated"),
        "corrected": words_of("double_noise recalibrated"),
        "studentized": words_of("studentised stud bootstrap_t"),
    },
    "adjust": _CORRECTIONS,
    "missing": {
        "pairwise": words_of("complete pairwise_complete common intersection listwise"),
        "available": words_of("available_case all_available all union"),
    },
    "undefined": {"drop": words_of("omit skip ignore nan"), "zero": words_of("0 zeros wmt")},
    "method": {
        **_CORRECTIONS,
        "auto": words_of("default automatic"),
        "permutation": words_of("perm swap swaps randomization randomisation perm_input perm_both"),
        "monte_carlo": words_of("permutation perm swap swaps randomization randomisation mc exchange"),
        "hybrid": words_of("mixed"),
        "analytic": words_of("formula analytical exact asymptotic"),
        "jackknife": words_of("jack leave_one_out loo"),
        "bootstrap": words_of("boot resampling"),
        "fisher": words_of("fisher_z bonett_wright"),
        "williams": words_of("hotelling_williams williams_t hotelling"),
        "steiger": words_of("steigers_z dunn_clark"),
        "meng": words_of("mengs_z meng_rosenthal_rubin"),
        "zou": words_of("zous_interval"),
        "tost": words_of("two_one_sided_tests ttost ttost_paired equivalence schuirmann"),
        "tost_analytic": words_of("analytic formula analytical asymptotic"),
        "anderson_hauck": words_of("hauck_anderson hauck anderson ah"),
        "paired_t": words_of("ttest ttest_rel paired_ttest paired related_t"),
        "t": words_of("ttest_ind unpaired student independent"),
        "wilcoxon": words_of("signed_rank wilcoxon_signed_rank"),
        "ppi": words_of("ppi++ prediction_powered prediction_powered_inference control_variate"),
    },
    "statistic": {"t": words_of("t_statistic student mean"), "wilcoxon": words_of("signed_rank w rank ranks")},
    "test": {
        "perm_test": words_of("permutation permutation_test perm"),
        "boot_test": words_of("bootstrap bootstrap_test boot paired_bootstrap"),
        "corr_test": words_of("williams steiger meng zou analytic"),
        "t": words_of("ttest paired_t ttest_rel ttest_1samp student"),
        "wilcoxon": words_of("signed_rank wilcoxon_signed_rank"),
    },
    "swap": {"scores": words_of("score values metrics systems"), "decisions": words_of("pairs pair decision ties")},
    "aggregate": {"mean": words_of("average avg nanmean"), "max": words_of("maximum best nanmax")},
    "measurement": {
        "nominal": words_of("categorical category categories binary"),
        "ordinal": words_of("ordered rank ranks likert"),
        "interval": words_of("continuous numeric metric linear"),
    },
    "alignment": {
        "rmse": words_of("mse mae error distance neg_rmse"),
        "accuracy": words_of("acc exact equal exact_match match"),
    },
    "scale": {
        "raw": words_of("none original unscaled"),
        "standardised": words_of("standardized zscore zscores z standard"),
        "ranks": words_of("rank ranked quantile quantiles percentile"),
    },
    "unit": {
        "score": words_of("scores raw none"),
        "normalised": words_of("normalized minmax scaled unit"),
        "quantile": words_of("quantiles percentile percentiles rank ranks"),
    },
    "keep": {"any": words_of("or one either union"), "all": words_of("and every both intersection")},
    "normalise": {
        "all": words_of("global whole together overall"),
        "input": words_of("item document doc segment summary instance by_input per_input"),
    },
    "truth": {"halves": words_of("half split split_half"), "population": words_of("full whole all")},
    "margin": {
        "rater_sd": words_of("sd std human_sd rater_std annotator_sd"),
        "rater_range": words_of("range human_range annotator_range"),
    },
    "granularity": {
        "seg": words_of("segment segments input item sentence"),
        "doc": words_of("document documents"),
        "domain": words_of("domains genre"),
        "sys": words_of("system systems corpus model"),
    },
    "name": {
        "demo": words_of("example test toy sample"),
        "summeval": words_of("sum_eval summ_eval"),
        "realsumm": words_of("real_summ real_sum"),
        "realsumm-sacrerouge": words_of("realsumm_sacre sacrerouge"),
    },
}

# Of each keyword what others call it; the first keyword that the function has is meant.
KEYWORDS: Words = {
    "rng": words_of("seed random_state randomstate rand random random_seed generator rs prng key"),
    "n_trials": words_of("trials n_sim n_sims n_simulations n_reps reps n_iter iterations repetitions"),
    "n_simulations": words_of("n_sim n_sims simulations n_trials"),
    "n_resamples": words_of(
        "n_boot n_bootstrap n_bootstraps n_permutations n_permutation n_perm n_perms num_perm n_iter n_iters",
        "n_iterations iterations B R n_samples num_samples n_draws n_reps reps n_boots num_resamples nresample",
        "resamples n_resample num_bootstrap num_bootstraps num_permutations n_sim trials n_shuffles permutations",
        "bootstraps n bootstrap_samples paired_bs_n paired_ar_n n_trials n_simulations",
    ),
    "confidence_level": words_of(
        "alpha confidence ci conf conf_level ci_level confidence_interval interval_width cl ci_width significance",
        "significance_level coverage probability credible_level p_value pval",
    ),
    "alpha": words_of(
        "significance significance_level sig_level sig p p_value pval p_threshold size fdr_level q q_fdr",
        "confidence_level confidence conf_level siglevel type_i_error",
    ),
    "coefficient": words_of(
        "corr_type correlation corr correlation_type correlation_coefficient corr_method corr_fcn corr_func statistic",
        "measure coef coeff r method metric_type kind cor",
    ),
    "level": words_of(
        "granularity grouping group_level average_by aggregation_level correlation_level unit analysis_level",
    ),
    "granularity": words_of("level unit"),
    "adjust": words_of(
        "correction p_adjust padjust multitest multiple fdr adjustment p_correction fwer multiple_testing",
    ),
    "alternative": words_of("tail tails alternative_hypothesis sided side hypothesis direction h1 two_sided one_sided"),
    "gold": words_of(
        "human y target ground_truth labels label gold_label gold_standard golds human_scores reference truth y_true",
        "gold_metric human_metric against golden standard",
    ),
    "rating": words_of(
        "ratings gold human human_scores annotations reliability_data scores annotator_scores data labels",
        "human_ratings",
    ),
    "metric": words_of(
        "metrics metric_name metric_names scorer scorers metric1 metric_a x y_pred pred predictions automatic which",
        "metric_list candidates candidate judge judges labels label names",
    ),
    "other": words_of(
        "others baseline metric2 metric_b other_metric versus vs compare_to compared_to second other_system against",
        "baselines comparison",
    ),
    "resample": words_of(
        "resampling resampling_method resample_dim resampling_dim permutation_method permutation_type bootstrap_method",
        "sampling unit_of_resampling resample_over paired",
    ),
    "interval": words_of("ci_method interval_method interval_type ci_type type bootstrap_type boot_ci kind"),
    "keep_samples": words_of(
        "return_samples return_distribution keep_distribution samples return_resamples keep_resamples return_dist",
        "distribution store_samples save_samples",
    ),
    "progress": words_of("verbose progress_bar tqdm bar show_progress disp quiet silent progressbar display"),
    "missing": words_of("nan_policy na_policy nan na use missing_data dropna skipna nans pairwise na_rm min_periods"),
    "undefined": words_of("on_undefined constant constants replace_nans_with_zeros fill_value nan_value zero_division"),
    "average": words_of("mean averaged macro aggregate reduce per_group"),
    "aggregate": words_of("agg aggfunc agg_func aggregation aggregate_function reduce reduction duplicates average"),
    "pool": words_of("pooled pooling pool_over pool_dim"),
    "by": words_of("group groups groupby group_by subset stratify facet strata column"),
    "between": words_of("group groups groupby group_by by strata range bounds"),
    "within": words_of("family families per per_group"),
    "positive": words_of("pos_label positive_label positive_class pos positives target_class pass_label"),
    "threshold": words_of("epsilon eps tie_threshold tau_threshold tie_epsilon cutoff tolerance cut_off"),
    "calibrate_on": words_of("calibration calibrate calibration_data calibrate_with dev train"),
    "swap": words_of("permute permutation_unit permutation_type exchange swapping"),
    "crossed": words_of("cross perm_both both_dims two_way"),
    "margin": words_of(
        "epsilon eps delta eqbound equivalence_margin bound bounds sesoi low upp theta equivalence_bound"
    ),
    "margins": words_of("margin epsilon eps delta deltas epsilons grid bounds"),
    "along": words_of("dim axis over dimension rater raters annotator annotators versions version language"),
    "base": words_of("baseline reference original reference_label base_label source anchor"),
    "measurement": words_of("level_of_measurement level scale data_type distance metric value_domain"),
    "alignment": words_of("scoring_function scoring alignment_function distance loss"),
    "scale": words_of("scaling normalize normalise normalization standardize standardise transform"),
    "min_items": words_of("min_instances min_instances_per_human min_n minimum_items n_min"),
    "test": words_of("method statistic significance_test stat_test"),
    "gap": words_of("gaps max_gap distance window delta width difference"),
    "unit": words_of("units scale scaled gap_unit"),
    "keep": words_of("how combine which logic mode"),
    "above": words_of("low min minimum lower floor at_least"),
    "baseline": words_of("reference_system base floor_system base_system"),
    "top": words_of("k n top_k n_top largest best"),
    "k": words_of("n top top_k n_systems n_top"),
    "metrics": words_of("deciding_metrics on scored_by"),
    "n_bins": words_of("bins nbins num_bins n_bin number_of_bins"),
    "normalise": words_of("normalize normalization normalisation norm scale standardize"),
    "max_pairs": words_of("n_pairs max_n pairs limit max_n_pairs"),
    "n_components": words_of("k components ncomponents n_factors num_components"),
    "n_each": words_of("size n n_samples n_inputs per_bin"),
    "system": words_of("systems model models system_column model_column sys system1 system_a system_name"),
    "input": words_of(
        "inputs doc document item segment input_column id_column item_column index doc_id input_id prompt prompts",
        "prompt_id prompt_column",
    ),
    "value": words_of("values score scores score_column value_column value_name value_col"),
    "dims": words_of("dim further_dims extra_dims other_dims extra"),
    "wide": words_of("wide_format is_wide long tidy format"),
    "statistic": words_of("stat test_statistic"),
    "tasks": words_of("task datasets"),
    "weights": words_of("weight task_weights importance"),
    "intervals": words_of("interval methods method cis"),
    "tests": words_of("test methods method"),
    "noise": words_of("effect effect_size effects noise_level noise_sd sd sigma"),
    "null": words_of("h0 type_i null_hypothesis under_null size"),
    "n_systems": words_of("systems num_systems n_models N n_sys"),
    "n_inputs": words_of("inputs num_inputs n_docs n_items n_segments M n_documents"),
    "agreement": words_of("correlations correlation corr r rho metrics"),
    "likert": words_of("points n_points scale categories rounding"),
    "name": words_of("dataset data_set which id"),
    "path": words_of("file filename file_name folder directory filepath dir"),
    "folder": words_of("path directory dir root data_dir"),
    "test_set": words_of("testset wmt year test"),
    "language_pair": words_of("lp langpair lang_pair languages language pair"),
    "overwrite": words_of("force replace exist_ok mode"),
    "human": words_of("gold human_metrics humans golds"),
    "hue": words_of("color colour group color_by colour_by c groups split by"),
    "ax": words_of("axes axis axs subplot"),
    "annotate": words_of("annot text numbers show_values values labels"),
    "density": words_of("kde dist show_density distribution violin samples"),
    "highlight": words_of("input select mark focus emphasize"),
    "variable": words_of("var value y column values data_var"),
    "labels": words_of("names label legend legend_labels classes categories label_order texts"),
    "x": words_of("xaxis x_axis x_dim horizontal"),
    "figsize": words_of("fig_size size figure_size figuresize"),
    "title": words_of("heading suptitle name"),
    "order": words_of("sort sort_by sorted order_by ordering ascending"),
    "lower_is_better": words_of("lower lower_better minimize minimise higher_is_better negative direction directions"),
    "kind": words_of("kinds type types metric_type metric_kind"),
    "ratings": words_of("rating rating_columns annotator_columns rater_columns"),
    "rater": words_of("annotator rater_column annotator_column worker"),
}

# The same for one function alone, looked at before `KEYWORDS`.
KEYWORDS_OF: dict[str, Words] = {
    "adjust": {
        "method": words_of("adjust correction p_adjust padjust multitest fdr adjustment how kind type test"),
        "within": words_of("groupby group_by group"),
    },
    "top_k": {"by": words_of("metric key sort_by sort on gold human order_by")},
    "top_k_corr": {"by": words_of("sort_by order_by sort key")},
    "corr_test": {"method": words_of("test kind how type formula statistic")},
    "compare_systems": {"method": words_of("test kind how type")},
    "ci": {"method": words_of("how approach")},
    "to_scores": {
        "ratings": words_of("raters annotators annotator_columns rater_columns human_columns experts"),
        "gold": words_of("human gold_metric"),
        "wide": words_of("long tidy"),
    },
    "set_dims": {"metric": words_of("metric_dim"), "system": words_of("system_dim"), "input": words_of("input_dim")},
}

# Words for which there is no keyword, and what there is in its place.
NO_KEYWORD: Words = {
    "the environment variable XSUMSTAT_NUM_THREADS sets the number of threads": words_of(
        "n_jobs workers n_workers num_workers n_threads num_threads threads parallel n_cores cores ncpus processes",
    ),
    "memory is bounded by itself": words_of("batch batch_size chunksize block_size vectorized"),
    "nothing is changed in place: the answer is returned": words_of("inplace in_place copy"),
    "dims of scores have names, as in ds.transpose or ds.rename": words_of("axis axes"),
}

# The same of pictures.
NO_KEYWORD_OF_PICTURES: Words = {
    "the Axes that is returned can be changed, and saved by ax.figure.savefig(...)": words_of(
        "save savefig filename save_path outfile fname cmap palette style font_size xlabel dpi ylabel xlim ylim",
    ),
}

# Words that no one value of an argument means, and what to write in their place.
NO_VALUE: dict[str, Words] = {
    "coefficient": {
        "did you mean 'pdp' with level='global'? It equals rmcorr (inputs as subjects) if no score is missing": (
            words_of("rmcorr repeated_measures repeated_measures_correlation repeated_measures_corr")
        ),
        "pass a function: coefficient=lambda metric, human: scipy.stats.weightedtau(metric, human).statistic": (
            words_of("weightedtau weighted_tau weighted_kendall weighted_kendalltau weighted_kendalls_tau")
        ),
    },
}

# The same of one function's argument.
NO_VALUE_OF: dict[tuple[str, str], Words] = {
    ("compare_metrics", "method"): {
        "a t test compares systems (compare_systems); for metrics the default 'jackknife' is closest": (
            words_of("ttest t_test ttest_rel paired_t paired_ttest t")
        ),
    },
}


def values_meant(argument: str, word: str) -> list[str]:
    """Values of an argument that a word may mean, exact names first."""
    found = VALUES.get(argument, {})
    same = [meant for meant in found if spelt(meant) == spelt(word)]
    return [*same, *(meant for meant, words in found.items() if spelt(word) in words and meant not in same)]


def in_place_of_value(argument: str, word: str, function: str) -> str | None:
    """What to write instead of a word that no single value means, in any function or in this one."""
    notes = {**NO_VALUE.get(argument, {}), **NO_VALUE_OF.get((function, argument), {})}
    return next((text for text, words in notes.items() if spelt(word) in words), None)


def keywords_meant(function: str, word: str) -> list[str]:
    """Keywords that a word may mean, whether or not the function has them."""
    tables = (KEYWORDS_OF.get(function, {}), KEYWORDS)
    same = [meant for table in tables for meant in table if spelt(meant) == spelt(word)]
    return list(dict.fromkeys([*same, *(meant for table in tables for meant in table if spelt(word) in table[meant])]))


def in_place_of(word: str, *, picture: bool) -> str | None:
    """What to use instead of a keyword that no function, or no picture, has."""
    tables = (NO_KEYWORD_OF_PICTURES, NO_KEYWORD) if picture else (NO_KEYWORD,)
    return next((text for table in tables for text, words in table.items() if spelt(word) in words), None)

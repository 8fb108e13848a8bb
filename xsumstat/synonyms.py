"""What papers and other libraries call our arguments, their values and our methods: words that users try first.

Words are compared as `spelt` spells them: letters and digits, all small, so that "n_boot" and "nBoot" are one.
"""

from __future__ import annotations

Words = dict[str, tuple[str, ...]]


def spelt(word: str) -> str:
    """Its letters and digits, all small."""
    return "".join(filter(str.isalnum, word)).lower()


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelt(word) for line in lines for word in line.split()))


_CORRECTIONS = {
    "bonferroni": _words("bonf bonferoni fwer"),
    "holm": _words("holm_bonferroni step_down holm-sidak"),
    "bh": _words("fdr fdr_bh benjamini_hochberg hochberg"),
    "by": _words("fdr_by benjamini_yekutieli"),
    "maxt": _words("westfall_young minp max_stat max_statistic"),
}

# Of each argument the values it takes, and what others call them. Functions do not take all: where one word has two
# meanings, as for `method`, the first that the function takes is meant.
VALUES: dict[str, Words] = {
    "coefficient": {
        "pearson": _words("pearsonr pearsons_r r corrcoef linear"),
        "spearman": _words("spearmanr spearmans_rho rho"),
        "kendall": _words("kendalltau kendalls_tau tau kendall_b kendall_tau_b kendalls_tau_b tau_b"),
        "kendall_a": _words("kendall_tau_a kendalls_tau_a tau_a"),
        "kendall_c": _words("kendall_tau_c kendalls_tau_c tau_c stuart stuart_tau_c"),
        "pairwise_accuracy": _words("accuracy acc pairwise system_accuracy concordance pce"),
        "acc_eq": _words("acc23 acc_eq_star accuracy_eq tie_accuracy tie_calibration kendall_with_ties_opt"),
        "tau_eq": _words("tau_eq_star tau_23 kendall_23 kendall_tau_23 tau_with_ties"),
        "kendall_like": _words("darr tau_like kendall_variant wmt_tau"),
        "spa": _words("soft_accuracy soft_pairwise_accuracy pairwise_confidence_error"),
        "pdp": _words("pairwise_difference_pearson pairwise_difference_correlation pearson_of_differences"),
    },
    "level": {
        "system": _words("sys corpus model summarizer system_level"),
        "input": _words(
            "summary segment seg item instance document doc topic sample sentence summary_level segment_level",
            "item_level sentence_level input_level group_by_item",
        ),
        "global": _words("no_grouping none all overall pooled cell"),
        "within_system": _words("group_by_system by_system within"),
    },
    "resample": {
        "system": _words("systems sys model models summarizer summarizers"),
        "input": _words(
            "inputs document documents doc docs segment segments seg segs instance instances item items topic topics",
            "summary sentence sentences",
        ),
        "both": _words("all systems_and_inputs system_input"),
        "cell": _words("cells"),
        "rater": _words("raters annotator annotators judges"),
        "reference": _words("references ref refs"),
    },
    "alternative": {
        "two-sided": _words("both two_tailed not_equal unequal ne"),
        "greater": _words("larger upper right higher more gt"),
        "less": _words("smaller lower left lesser fewer lt"),
    },
    "interval": {
        "percentile": _words("perc pct quantile quantiles"),
        "basic": _words("pivotal empirical reverse_percentile"),
        "normal": _words("norm gaussian wald"),
        "bca": _words("bias_corrected bias_corrected_accelerated accelerated"),
        "corrected": _words("double_noise recalibrated"),
        "studentized": _words("studentised stud bootstrap_t"),
    },
    "adjust": _CORRECTIONS,
    "missing": {
        "pairwise": _words("complete pairwise_complete common intersection listwise"),
        "available": _words("available_case all_available all union"),
    },
    "undefined": {"drop": _words("omit skip ignore nan"), "zero": _words("0 zeros wmt")},
    "method": {
        **_CORRECTIONS,
        "auto": _words("default automatic"),
        "permutation": _words("perm swap swaps randomization randomisation perm_input perm_both"),
        "monte_carlo": _words("permutation perm swap swaps randomization randomisation mc exchange"),
        "hybrid": _words("mixed"),
        "analytic": _words("formula analytical exact asymptotic"),
        "jackknife": _words("jack leave_one_out loo"),
        "bootstrap": _words("boot resampling"),
        "fisher": _words("fisher_z bonett_wright"),
        "williams": _words("hotelling_williams williams_t hotelling"),
        "steiger": _words("steigers_z dunn_clark"),
        "meng": _words("mengs_z meng_rosenthal_rubin"),
        "zou": _words("zous_interval"),
        "tost": _words("two_one_sided_tests ttost ttost_paired equivalence schuirmann"),
        "tost_analytic": _words("analytic formula analytical asymptotic"),
        "anderson_hauck": _words("hauck_anderson hauck anderson ah"),
        "paired_t": _words("ttest ttest_rel paired_ttest paired related_t"),
        "t": _words("ttest_ind unpaired student independent"),
        "wilcoxon": _words("signed_rank wilcoxon_signed_rank"),
        "ppi": _words("ppi++ prediction_powered prediction_powered_inference control_variate"),
    },
    "statistic": {"t": _words("t_statistic student mean"), "wilcoxon": _words("signed_rank w rank ranks")},
    "test": {
        "perm_test": _words("permutation permutation_test perm"),
        "boot_test": _words("bootstrap bootstrap_test boot paired_bootstrap"),
        "corr_test": _words("williams steiger meng zou analytic"),
        "t": _words("ttest paired_t ttest_rel ttest_1samp student"),
        "wilcoxon": _words("signed_rank wilcoxon_signed_rank"),
    },
    "swap": {"scores": _words("score values metrics systems"), "decisions": _words("pairs pair decision ties")},
    "aggregate": {"mean": _words("average avg nanmean"), "max": _words("maximum best nanmax")},
    "measurement": {
        "nominal": _words("categorical category categories binary"),
        "ordinal": _words("ordered rank ranks likert"),
        "interval": _words("continuous numeric metric linear"),
    },
    "alignment": {
        "rmse": _words("mse mae error distance neg_rmse"),
        "accuracy": _words("acc exact equal exact_match match"),
    },
    "scale": {
        "raw": _words("none original unscaled"),
        "standardised": _words("standardized zscore zscores z standard"),
        "ranks": _words("rank ranked quantile quantiles percentile"),
    },
    "unit": {
        "score": _words("scores raw none"),
        "normalised": _words("normalized minmax scaled unit"),
        "quantile": _words("quantiles percentile percentiles rank ranks"),
    },
    "keep": {"any": _words("or one either union"), "all": _words("and every both intersection")},
    "normalise": {
        "all": _words("global whole together overall"),
        "input": _words("item document doc segment summary instance by_input per_input"),
    },
    "truth": {"halves": _words("half split split_half"), "population": _words("full whole all")},
    "margin": {
        "rater_sd": _words("sd std human_sd rater_std annotator_sd"),
        "rater_range": _words("range human_range annotator_range"),
    },
    "granularity": {
        "seg": _words("segment segments input item sentence"),
        "doc": _words("document documents"),
        "domain": _words("domains genre"),
        "sys": _words("system systems corpus model"),
    },
    "name": {
        "demo": _words("example test toy sample"),
        "summeval": _words("sum_eval summ_eval"),
        "realsumm": _words("real_summ real_sum"),
        "realsumm-sacrerouge": _words("realsumm_sacre sacrerouge"),
    },
}

# Of each keyword what others call it; the first keyword that the function has is meant.
KEYWORDS: Words = {
    "rng": _words("seed random_state randomstate rand random random_seed generator rs prng key"),
    "n_trials": _words("trials n_sim n_sims n_simulations n_reps reps n_iter iterations repetitions"),
    "n_simulations": _words("n_sim n_sims simulations n_trials"),
    "n_resamples": _words(
        "n_boot n_bootstrap n_bootstraps n_permutations n_permutation n_perm n_perms num_perm n_iter n_iters",
        "n_iterations iterations B R n_samples num_samples n_draws n_reps reps n_boots num_resamples nresample",
        "resamples n_resample num_bootstrap num_bootstraps num_permutations n_sim trials n_shuffles permutations",
        "bootstraps n bootstrap_samples paired_bs_n paired_ar_n n_trials n_simulations",
    ),
    "confidence_level": _words(
        "alpha confidence ci conf conf_level ci_level confidence_interval interval_width cl ci_width significance",
        "significance_level coverage probability credible_level p_value pval",
    ),
    "alpha": _words(
        "significance significance_level sig_level sig p p_value pval p_threshold size fdr_level q q_fdr",
        "confidence_level confidence conf_level siglevel type_i_error",
    ),
    "coefficient": _words(
        "corr_type correlation corr correlation_type correlation_coefficient corr_method corr_fcn corr_func statistic",
        "measure coef coeff r method metric_type kind cor",
    ),
    "level": _words(
        "granularity grouping group_level average_by aggregation_level correlation_level unit analysis_level",
    ),
    "granularity": _words("level unit"),
    "adjust": _words(
        "correction p_adjust padjust multitest multiple fdr adjustment p_correction fwer multiple_testing",
    ),
    "alternative": _words("tail tails alternative_hypothesis sided side hypothesis direction h1 two_sided one_sided"),
    "gold": _words(
        "human y target ground_truth labels label gold_label gold_standard golds human_scores reference truth y_true",
        "gold_metric human_metric against golden standard",
    ),
    "rating": _words(
        "ratings gold human human_scores annotations reliability_data scores annotator_scores data labels",
        "human_ratings",
    ),
    "metric": _words(
        "metrics metric_name metric_names scorer scorers metric1 metric_a x y_pred pred predictions automatic which",
        "metric_list candidates candidate judge judges",
    ),
    "other": _words(
        "others baseline metric2 metric_b other_metric versus vs compare_to compared_to second other_system against",
        "baselines comparison",
    ),
    "resample": _words(
        "resampling resampling_method resample_dim resampling_dim permutation_method permutation_type bootstrap_method",
        "sampling unit_of_resampling resample_over paired",
    ),
    "interval": _words("ci_method interval_method interval_type ci_type type bootstrap_type boot_ci kind"),
    "keep_samples": _words(
        "return_samples return_distribution keep_distribution samples return_resamples keep_resamples return_dist",
        "distribution store_samples save_samples",
    ),
    "progress": _words("verbose progress_bar tqdm bar show_progress disp quiet silent progressbar display"),
    "missing": _words("nan_policy na_policy nan na use missing_data dropna skipna nans pairwise na_rm min_periods"),
    "undefined": _words("on_undefined constant constants replace_nans_with_zeros fill_value nan_value zero_division"),
    "average": _words("mean averaged macro aggregate reduce per_group"),
    "aggregate": _words("agg aggfunc agg_func aggregation aggregate_function reduce reduction duplicates average"),
    "pool": _words("pooled pooling pool_over pool_dim"),
    "by": _words("group groups groupby group_by subset stratify facet strata column"),
    "between": _words("group groups groupby group_by by strata range bounds"),
    "within": _words("family families per per_group"),
    "threshold": _words("epsilon eps tie_threshold tau_threshold tie_epsilon cutoff tolerance cut_off"),
    "calibrate_on": _words("calibration calibrate calibration_data calibrate_with dev train"),
    "swap": _words("permute permutation_unit permutation_type exchange swapping"),
    "crossed": _words("cross perm_both both_dims two_way"),
    "margin": _words("epsilon eps delta eqbound equivalence_margin bound bounds sesoi low upp theta equivalence_bound"),
    "margins": _words("margin epsilon eps delta deltas epsilons grid bounds"),
    "along": _words("dim axis over dimension rater raters annotator annotators versions version language"),
    "base": _words("baseline reference original reference_label base_label source anchor"),
    "measurement": _words("level_of_measurement level scale data_type distance metric value_domain"),
    "alignment": _words("scoring_function scoring alignment_function distance loss"),
    "scale": _words("scaling normalize normalise normalization standardize standardise transform"),
    "min_items": _words("min_instances min_instances_per_human min_n minimum_items n_min"),
    "test": _words("method statistic significance_test stat_test"),
    "gap": _words("gaps max_gap distance window delta width difference"),
    "unit": _words("units scale scaled gap_unit"),
    "keep": _words("how combine which logic mode"),
    "above": _words("low min minimum lower floor at_least"),
    "baseline": _words("reference_system base floor_system base_system"),
    "top": _words("k n top_k n_top largest best"),
    "k": _words("n top top_k n_systems n_top"),
    "metrics": _words("deciding_metrics on scored_by"),
    "n_bins": _words("bins nbins num_bins n_bin number_of_bins"),
    "normalise": _words("normalize normalization normalisation norm scale standardize"),
    "max_pairs": _words("n_pairs max_n pairs limit max_n_pairs"),
    "n_components": _words("k components ncomponents n_factors num_components"),
    "n_each": _words("size n n_samples n_inputs per_bin"),
    "system": _words("systems model models system_column model_column sys system1 system_a system_name"),
    "input": _words("inputs doc document item segment input_column id_column item_column index doc_id input_id"),
    "value": _words("values score scores score_column value_column value_name value_col"),
    "dims": _words("dim further_dims extra_dims other_dims extra"),
    "wide": _words("wide_format is_wide long tidy format"),
    "statistic": _words("stat test_statistic"),
    "tasks": _words("task datasets"),
    "weights": _words("weight task_weights importance"),
    "intervals": _words("interval methods method cis"),
    "tests": _words("test methods method"),
    "noise": _words("effect effect_size effects noise_level noise_sd sd sigma"),
    "null": _words("h0 type_i null_hypothesis under_null size"),
    "n_systems": _words("systems num_systems n_models N n_sys"),
    "n_inputs": _words("inputs num_inputs n_docs n_items n_segments M n_documents"),
    "agreement": _words("correlations correlation corr r rho metrics"),
    "likert": _words("points n_points scale categories rounding"),
    "name": _words("dataset data_set which id"),
    "path": _words("file filename file_name folder directory filepath dir"),
    "folder": _words("path directory dir root data_dir"),
    "test_set": _words("testset wmt year test"),
    "language_pair": _words("lp langpair lang_pair languages language pair"),
    "overwrite": _words("force replace exist_ok mode"),
    "human": _words("gold human_metrics humans golds"),
    "hue": _words("color colour group color_by colour_by c groups split by"),
    "ax": _words("axes axis axs subplot"),
    "annotate": _words("annot text numbers show_values values labels"),
    "density": _words("kde dist show_density distribution violin samples"),
    "highlight": _words("input select mark focus emphasize"),
    "variable": _words("var value y column values data_var"),
    "labels": _words("names label legend legend_labels"),
    "x": _words("xaxis x_axis x_dim horizontal"),
    "figsize": _words("fig_size size figure_size figuresize"),
    "title": _words("heading suptitle name"),
    "order": _words("sort sort_by sorted order_by ordering ascending"),
    "lower_is_better": _words("lower lower_better minimize minimise higher_is_better negative direction directions"),
    "kind": _words("kinds type types metric_type metric_kind"),
    "ratings": _words("rating rating_columns annotator_columns rater_columns"),
    "rater": _words("annotator rater_column annotator_column worker"),
}

# The same for one function alone, looked at before `KEYWORDS`.
KEYWORDS_OF: dict[str, Words] = {
    "adjust": {
        "method": _words("adjust correction p_adjust padjust multitest fdr adjustment how kind type test"),
        "within": _words("groupby group_by group"),
    },
    "top_k": {"by": _words("metric key sort_by sort on gold human order_by")},
    "top_k_corr": {"by": _words("sort_by order_by sort key")},
    "corr_test": {"method": _words("test kind how type formula statistic")},
    "compare_systems": {"method": _words("test kind how type")},
    "ci": {"method": _words("how approach")},
    "to_scores": {
        "ratings": _words("raters annotators annotator_columns rater_columns human_columns experts"),
        "gold": _words("human gold_metric"),
        "wide": _words("long tidy"),
    },
    "set_dims": {"metric": _words("metric_dim"), "system": _words("system_dim"), "input": _words("input_dim")},
}

# Words for which there is no keyword, and what there is in its place.
NO_KEYWORD: Words = {
    "the environment variable XSUMSTAT_NUM_THREADS sets the number of threads": _words(
        "n_jobs workers n_workers num_workers n_threads num_threads threads parallel n_cores cores ncpus processes",
    ),
    "memory is bounded by itself": _words("batch batch_size chunksize block_size vectorized"),
    "nothing is changed in place: the answer is returned": _words("inplace in_place copy"),
    "dims of scores have names, as in ds.transpose or ds.rename": _words("axis axes"),
}

# The same of pictures.
NO_KEYWORD_OF_PICTURES: Words = {
    "the Axes that is returned can be changed, and saved by ax.figure.savefig(...)": _words(
        "save savefig filename save_path outfile fname cmap palette style font_size xlabel dpi ylabel xlim ylim",
    ),
}

# What columns of people's ratings are called, before a number; and metrics that are better when lower.
RATERS = _words("rater annotator ann expert human judge worker turker coder assessor evaluator rating")
LOWER_IS_BETTER = _words("ter wer cer perplexity ppl edit_distance levenshtein loss error mse mae rmse")

# Of each method what others call it, whether asked of ds.meta, result.meta, result.meta.plot, df.meta or the package.
METHODS: Words = {
    "repr": _words("summary describe info overview status print display"),
    "corr": _words(
        "correlation correlations correlate cor corr_coef correlation_with meta_evaluate meta_evaluation evaluate",
        "score corrwith metric_human_correlation agreement_with_humans",
    ),
    "corr(coefficient='pearson')": _words("pearson pearsonr"),
    "corr(coefficient='spearman')": _words("spearman spearmanr"),
    "corr(coefficient='kendall')": _words("kendall kendalltau kendall_tau tau"),
    "corr(coefficient='pairwise_accuracy')": _words("pairwise_accuracy accuracy system_accuracy"),
    "corr(coefficient='spa')": _words("spa soft_pairwise_accuracy"),
    "corr(coefficient='acc_eq')": _words("acc_eq acc23 tie_calibration"),
    "corr(coefficient='pdp', level='global')": _words("pdp pairwise_difference_pearson"),
    "ci": _words(
        "bootstrap bootstrap_ci confidence_interval confidence_intervals confint conf_int conf_interval interval",
        "intervals cis compute_bootci bootci jackknife credible_interval standard_error error_bars uncertainty",
    ),
    "boot_test": _words("bootstrap_test boot paired_bootstrap bootstrap_paired paired_bs bootstrap"),
    "perm_test": _words(
        "permutation_test permutation permute perm randomization_test randomisation_test approximate_randomization",
        "permutation_both perm_both significance_test compare_metrics compare test difference diff better paired_ar",
        "pairwise_test metric_test",
    ),
    "corr_test(method='williams')": _words("williams williams_test hotelling cocor cor_test analytic_test"),
    "corr_test(method='steiger')": _words("steiger steiger_test"),
    "corr_test(method='meng')": _words("meng meng_test"),
    "corr_test(method='zou')": _words("zou zou_interval"),
    "equivalence": _words("tost equivalence_test equivalent equiv ttost ttost_paired noninferiority anderson_hauck"),
    "margin_sensitivity": _words("sensitivity sensitivity_analysis margins margin"),
    "dominance": _words("dominates probability_shift superiority stochastic_dominance"),
    "rank": _words("ranking rank_metrics leaderboard cluster clusters clustering order best ranks sort sort_metrics"),
    "bias": _words(
        "biases length_bias self_preference self_bias family_bias confounder confounders confounding spurious fairness",
        "length_control length_controlled verbosity_bias",
    ),
    "sentinels": _words("sentinel sentinel_metrics sentinel_src sentinel_cand source_only dummy_metrics"),
    "normality": _words("shapiro shapiro_wilk normal_test normaltest is_normal qq"),
    "metric_corr": _words(
        "corr_matrix correlation_matrix intercorrelation intercorrelations metric_correlation corrcoef redundancy",
        "pairwise_corr metric_metric_corr",
    ),
    "metric_ci": _words("metric_intervals metric_interval corr_matrix_ci"),
    "pca": _words("principal_components principal_component_analysis svd factor_analysis biplot"),
    "variance_components": _words("variance variances anova random_effects mixed_model varcomp g_study"),
    "disagreement": _words("disagreements disagree discordance"),
    "improvement_consistency": _words("improvement improvements consistency"),
    "top_k": _words("top topk best_systems nlargest top_systems select_top"),
    "top_k_corr": _words("topk_corr corr_top_k top_corr correlation_top_k"),
    "close_corr": _words("close_systems close_pairs delta_corr similar_systems"),
    "scoring_range": _words("range score_range high_scoring restrict filter_scores slice"),
    "range_drop": _words("range_restriction restriction_of_range restriction range_effect"),
    "compare_systems": _words(
        "systems system_test system_tests ttest t_test ttest_rel wilcoxon compare_models paired_ttest model_test",
        "compare_system",
    ),
    "discriminative_agreement": _words(
        "discriminative discriminative_power discrimination f1 confusion_matrix verdicts"
    ),
    "system_means": _words("ppi prediction_powered_inference mean means human_mean human_means few_ratings debias"),
    "input_effect": _words("kruskal kruskal_wallis input_difficulty inputs difficulty input_effects"),
    "sample_inputs": _words("sample subsample stratified_sample sampling select_inputs choose_inputs"),
    "agreement": _words(
        "alpha krippendorff krippendorff_alpha krippendorffs_alpha kappa cohen_kappa cohens_kappa fleiss_kappa iaa irr",
        "icc inter_annotator_agreement interannotator_agreement interrater inter_rater rater_agreement reliability",
    ),
    "human_ceiling": _words("ceiling upper_bound human_upper_bound noise_ceiling human_agreement human_performance"),
    "alt_test": _words("alternative_annotator_test alttest replace_raters judge_test llm_judge replace_annotators"),
    "majority_vote": _words("majority vote mode aggregate_raters majority_voting"),
    "drop_noisiest_rater": _words("drop_noisiest noisiest_rater drop_rater remove_rater drop_annotator"),
    "to_frame": _words(
        "to_pandas to_dataframe to_csv to_excel to_df to_polars frame dataframe df table to_table as_frame tidy",
        "summary_frame summary describe as_table values",
    ),
    "adjust": _words("correct correction multipletests multiple_testing p_adjust padjust adjust_pvalues multicomp"),
    "adjust('bonferroni')": _words("bonferroni"),
    "adjust('holm')": _words("holm"),
    "adjust('bh')": _words("fdr bh benjamini_hochberg fdr_correction"),
    "significant": _words("significance is_significant reject sig decisions decide"),
    "to_mtme": _words("write_mtme to_wmt save export write"),
    "plot": _words("plots figure draw show viz chart visualize visualise picture graph"),
    "conclusion": _words("verdict conclude conclusions interpret interpretation say findings answer"),
    "methods": _words("citation citations cite bibtex references method"),
    "to_latex": _words("latex tex to_tex"),
    "to_markdown": _words("markdown md to_md"),
    "report": _words("html to_html page dashboard to_report"),
    # The package.
    "add_gold": _words("with_gold join_gold set_gold merge_gold add_human"),
    "read_lm_eval": _words("lm_eval load_lm_eval lm_evaluation_harness read_harness"),
    "read_inspect": _words("inspect load_inspect inspect_ai read_inspect_ai"),
    "read_promptfoo": _words("promptfoo load_promptfoo"),
    "read_deepeval": _words("deepeval load_deepeval read_deep_eval"),
    "load_dataset": _words(
        "load datasets open_dataset dataset load_data get_dataset fetch read load_demo demo summeval",
    ),
    "set_dims": _words("rename rename_dims set_dim dims map_dims"),
    "read_mqm": _words("mqm load_mqm marot read_marot mqm_viewer read_errors"),
    "read_mtme": _words("load_mtme read_wmt wmt mtme load_wmt mt_metrics_eval"),
    "read_realsumm": _words("load_realsumm realsumm"),
    "read_sacrerouge": _words("load_sacrerouge sacrerouge read_jsonl"),
    "simulate": _words("simulation generate synthetic make_data simulate_scores make_scores random_scores"),
    "coverage": _words("coverage_simulation interval_coverage calibration"),
    "power": _words("power_analysis statistical_power"),
    "plan": _words("planning design designs sample_size how_many study_design decision_study d_study required_inputs"),
    "rank_tasks": _words("tasks metrics_task rank_many multi_task"),
    "wmt_tasks": _words("wmt wmt24 wmt23 wmt22 wmt25 wmt_presets task_set metrics_shared_task presets"),
    "to_scores": _words(
        "read_csv from_csv from_frame from_dataframe from_pandas read_frame to_dataset to_xarray melt to_ds from_df",
        "scores pivot to_array as_scores make_dataset",
    ),
    # Pictures.
    "forest": _words("forest_plot forestplot errorbar caterpillar whiskers dot dotplot pointplot ci intervals point"),
    "pvalues": _words("p_values pvalue pval pvals tests significance significance_matrix"),
    "clusters": _words(
        "critical_difference cd cd_diagram critical_difference_diagram rank ranking cluster leaderboard",
    ),
    "sensitivity": _words("margin_sensitivity margins line lineplot curve"),
    "shifts": _words("shift dominance probability_shift slope slopegraph"),
    "heatmap": _words("heat_map imshow image grid tile heat"),
    "confusion": _words("confusion_matrix discriminative_agreement crosstab"),
    "bars": _words("bar barplot bar_plot barh barchart bar_chart column columns hbar"),
    "matrix": _words("corr_matrix correlation_matrix clustermap metric_corr corrplot heatmap heat_map"),
    "scatter_matrix": _words("scatter pairplot pair_plot pairs splom scatterplot scatter_plot pairgrid regplot"),
    "distribution": _words(
        "box boxplot hist histogram violin violinplot kde density swarm strip ridge distributions displot boxen",
    ),
    "improvement": _words("improvement_consistency improvements"),
    "tasks": _words("rank_tasks task"),
}

# Columns of frames, by what they hold.
COLUMNS: Words = {
    "metric": _words("metric metrics metric_name metric_id scorer measure evaluator metric_key"),
    "system": _words(
        "system systems system_id system_name sys model models model_id model_name summarizer summarizer_id engine",
    ),
    "input": _words(
        "input inputs input_id doc docs doc_id document document_id item item_id segment segment_id seg seg_id",
        "instance instance_id example example_id sample sample_id id question question_id prompt prompt_id topic",
        "topic_id row_id sentence_id task_id",
    ),
    "value": _words("score scores value values metric_value metric_score"),
    "dims": _words(
        "rater raters rater_id annotator annotators annotator_id annotator_name worker worker_id language lang",
    ),
}


def values_meant(argument: str, word: str) -> list[str]:
    """The values of an argument that a word may mean, the one of that very name first."""
    found = VALUES.get(argument, {})
    same = [meant for meant in found if spelt(meant) == spelt(word)]
    return [*same, *(meant for meant, words in found.items() if spelt(word) in words and meant not in same)]


def keywords_meant(function: str, word: str) -> list[str]:
    """The keywords that a word may mean, whether the function has them or not."""
    tables = (KEYWORDS_OF.get(function, {}), KEYWORDS)
    same = [meant for table in tables for meant in table if spelt(meant) == spelt(word)]
    return list(dict.fromkeys([*same, *(meant for table in tables for meant in table if spelt(word) in table[meant])]))


def methods_meant(word: str) -> list[str]:
    """The methods that a word may mean, those of that very name first."""
    same = [meant for meant in METHODS if spelt(meant) == spelt(word)]
    return [*same, *(meant for meant, words in METHODS.items() if spelt(word) in words and meant not in same)]


def in_place_of(word: str, *, picture: bool) -> str | None:
    """What there is in place of a keyword that no function, or no picture, has."""
    tables = (NO_KEYWORD_OF_PICTURES, NO_KEYWORD) if picture else (NO_KEYWORD,)
    return next((text for table in tables for text, words in table.items() if spelt(word) in words), None)

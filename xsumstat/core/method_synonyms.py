"""Names that papers and other libraries use for our methods and the columns of frames."""

from __future__ import annotations

from xsumstat.core.synonyms import Words, spelt, words_of

# How names of columns of single raters begin: before a number, a letter or a name; before a number or a letter only.
RATERS = words_of("rater annotator annot ann worker turker coder assessor grader labeler labeller")
NUMBERED_RATERS = words_of("expert human evaluator rating person crowd")
# What such names end in where the column is no rater's.
NO_RATERS = words_of(
    "id ids name names mean avg average median majority vote mode std sd var variance count counts n num number time",
    "date timestamp comment comments note notes reason reasons agreement kappa alpha total sum min max confidence",
)
# Words in the names of metrics that are better when lower.
LOWER_IS_BETTER = words_of(
    "ter wer cer perplexity ppl edit_distance levenshtein loss error errors mse mae rmse error_rate n_errors",
    "flaws defects mistakes penalty toxicity hallucinations",
)
# Words in the names of an LLM judge's scores.
JUDGES = words_of(
    "judge judges llm gpt gpt3 gpt4 gpt4o gpt5 chatgpt openai claude sonnet opus haiku gemini llama mistral qwen geval",
    "autorater autograder prometheus",
)
# Words in the names of automatic metrics, which people did not fill in.
METRICS = words_of(
    "bleu sacrebleu chrf ter rouge rouge1 rouge2 rougel bertscore bleurt comet cometkiwi xcomet metricx meteor",
    "moverscore bartscore perplexity ppl yisi prism unieval questeval nist cider spice",
)

# Of each method what others call it, whether asked of ds.meta, result.meta, result.meta.plot, df.meta or the package.
METHODS: Words = {
    "repr": words_of("summary describe info overview status print display"),
    "corr": words_of(
        "correlation correlations correlate cor corr_coef correlation_with meta_evaluate meta_evaluation evaluate",
        "score corrwith metric_human_correlation agreement_with_humans",
    ),
    "corr(coefficient='pearson')": words_of("pearson pearsonr"),
    "corr(coefficient='spearman')": words_of("spearman spearmanr"),
    "corr(coefficient='kendall')": words_of("kendall kendalltau kendall_tau tau"),
    "corr(coefficient='pairwise_accuracy')": words_of("pairwise_accuracy accuracy system_accuracy"),
    "corr(coefficient='spa')": words_of("spa soft_pairwise_accuracy"),
    "corr(coefficient='acc_eq')": words_of("acc_eq acc23 tie_calibration"),
    "corr(coefficient='pdp', level='global')": words_of("pdp pairwise_difference_pearson rmcorr"),
    "ci": words_of(
        "bootstrap bootstrap_ci confidence_interval confidence_intervals confint conf_int conf_interval interval",
        "intervals cis compute_bootci bootci jackknife credible_interval standard_error error_bars uncertainty",
    ),
    "boot_test": words_of("bootstrap_test boot paired_bootstrap bootstrap_paired paired_bs bootstrap"),
    "compare_metrics": words_of(
        "compare test difference diff better compare_metric metric_comparison significance better_than",
        "compare_correlations paired_test significance_test compare_judges compare_judge judge_comparison",
    ),
    "compare_groups": words_of(
        "heterogeneity subgroup subgroups subgroup_test group_test compare_domains domain_test moderator moderation",
        "test_groups between_groups group_differences differ_by interaction compare_subgroups",
    ),
    "perm_test": words_of(
        "permutation_test permutation permute perm randomization_test randomisation_test approximate_randomization",
        "permutation_both perm_both paired_ar",
        "pairwise_test metric_test",
    ),
    "corr_test(method='williams')": words_of("williams williams_test hotelling cocor cor_test analytic_test"),
    "corr_test(method='steiger')": words_of("steiger steiger_test"),
    "corr_test(method='meng')": words_of("meng meng_test"),
    "corr_test(method='zou')": words_of("zou zou_interval"),
    "equivalence": words_of("tost equivalence_test equivalent equiv ttost ttost_paired noninferiority anderson_hauck"),
    "margin_sensitivity": words_of("sensitivity sensitivity_analysis margins margin"),
    "dominance": words_of("dominates probability_shift superiority stochastic_dominance"),
    "rank": words_of("ranking rank_metrics leaderboard cluster clusters clustering order best ranks sort sort_metrics"),
    "bias": words_of(
        "biases length_bias self_preference self_bias family_bias confounder confounders confounding spurious fairness",
        "length_control length_controlled verbosity_bias",
    ),
    "sentinels": words_of("sentinel sentinel_metrics sentinel_src sentinel_cand source_only dummy_metrics"),
    "normality": words_of("shapiro shapiro_wilk normal_test normaltest is_normal qq"),
    "metric_corr": words_of(
        "corr_matrix correlation_matrix intercorrelation intercorrelations metric_correlation corrcoef redundancy",
        "pairwise_corr metric_metric_corr",
    ),
    "metric_ci": words_of("metric_intervals metric_interval corr_matrix_ci"),
    "pca": words_of("principal_components principal_component_analysis svd factor_analysis biplot"),
    "variance_components": words_of("variance variances anova random_effects mixed_model varcomp g_study"),
    "disagreement": words_of("disagreements disagree discordance"),
    "improvement_consistency": words_of("improvement improvements consistency"),
    "top_k": words_of("top topk best_systems nlargest top_systems select_top"),
    "top_k_corr": words_of("topk_corr corr_top_k top_corr correlation_top_k"),
    "close_corr": words_of("close_systems close_pairs delta_corr similar_systems"),
    "scoring_range": words_of("range score_range high_scoring restrict filter_scores slice"),
    "range_drop": words_of("range_restriction restriction_of_range restriction range_effect"),
    "compare_systems": words_of(
        "systems system_test system_tests ttest t_test ttest_rel wilcoxon compare_models paired_ttest model_test",
        "compare_system",
    ),
    "discriminative_agreement": words_of("discriminative discriminative_power discrimination verdicts"),
    "system_means": words_of("ppi prediction_powered_inference mean means human_mean human_means few_ratings debias"),
    "input_effect": words_of("kruskal kruskal_wallis input_difficulty inputs difficulty input_effects"),
    "sample_inputs": words_of("sample subsample stratified_sample sampling select_inputs choose_inputs"),
    "ci(coefficient='kappa', level='global')": words_of("kappa cohen_kappa cohens_kappa"),
    "ci(coefficient='weighted_kappa', level='global')": words_of("weighted_kappa quadratic_kappa qwk"),
    "agreement": words_of(
        "alpha krippendorff krippendorff_alpha krippendorffs_alpha kappa cohen_kappa cohens_kappa fleiss_kappa iaa irr",
        "icc inter_annotator_agreement interannotator_agreement interrater inter_rater rater_agreement reliability",
    ),
    "human_ceiling": words_of("ceiling upper_bound human_upper_bound noise_ceiling human_agreement human_performance"),
    "alt_test": words_of("alternative_annotator_test alttest replace_raters judge_test llm_judge replace_annotators"),
    "missingness": words_of(
        "missing refusals refusal refused failures nan_share missing_data missing_values manski bounds mcar mar mnar",
        "abstentions no_answer missing_scores is_missing",
    ),
    "drift": words_of(
        "judge_drift anchor anchored compare_versions version_change versions changed model_update regression_test"
    ),
    "repeatability": words_of(
        "repeat repeated repeats runs reruns rerun run_variance self_consistency test_retest intra_rater stability",
        "intrarater reproducibility determinism nondeterminism self_agreement",
    ),
    "preference_agreement": words_of(
        "judge_agreement pairwise_agreement judge_accuracy human_judge_agreement choice_agreement agree"
    ),
    "preference_bias": words_of("length_preference judge_bias length_controlled_win_rate prefers_longer"),
    "rank_systems": words_of(
        "bradley_terry bradleyterry btl bt elo elo_rating trueskill arena_rank davidson win_rates win_rate wins",
        "system_ranking rank_models model_ranking strengths pairwise_ranking",
    ),
    "position_bias": words_of(
        "position positional_bias order_bias order_effect swap_consistency consistency first_position flips flip_rate"
    ),
    "calibrate": words_of(
        "calibration calibrated isotonic isotonic_regression rescale map_scores equate equipercentile recalibrate",
        "platt linear_calibration",
    ),
    "majority_vote": words_of("majority vote mode aggregate_raters majority_voting"),
    "drop_noisiest_rater": words_of("drop_noisiest noisiest_rater drop_rater remove_rater drop_annotator"),
    "to_frame": words_of(
        "to_pandas to_dataframe to_csv to_excel to_df to_polars frame dataframe df table to_table as_frame tidy",
        "summary_frame summary describe as_table values",
    ),
    "adjust": words_of("correct correction multipletests multiple_testing p_adjust padjust adjust_pvalues multicomp"),
    "adjust('bonferroni')": words_of("bonferroni"),
    "adjust('holm')": words_of("holm"),
    "adjust('bh')": words_of("fdr bh benjamini_hochberg fdr_correction"),
    "significant": words_of("significance is_significant reject sig decisions decide"),
    "subset": words_of("select filter_tasks subset_tasks task_subset part_of_tasks"),
    "ranks_by": words_of("ranks_by_domain by_domain by_language group_ranks breakdown"),
    "rank_stability": words_of("stability rank_bootstrap bootstrap_ranks first_share robustness leave_one_task_out"),
    "to_mtme": words_of("write_mtme to_wmt save export write"),
    "plot": words_of("plots figure draw show viz chart visualize visualise picture graph"),
    "conclusion": words_of("verdict conclude conclusions interpret interpretation say findings answer"),
    "methods": words_of("citation citations cite bibtex references method"),
    "to_latex": words_of("latex tex to_tex"),
    "to_markdown": words_of("markdown md to_md"),
    "to_html": words_of("html html_table write_html"),
    "report": words_of("page dashboard to_report"),
    # The package.
    "add_gold": words_of("with_gold join_gold set_gold merge_gold add_human"),
    "add_metric": words_of("with_metric join_metric merge_metric append_metric add_metrics add_scores join merge"),
    "read_lm_eval": words_of("lm_eval load_lm_eval lm_evaluation_harness read_harness"),
    "read_inspect": words_of("inspect load_inspect inspect_ai read_inspect_ai"),
    "read_preferences": words_of(
        "load_preferences mt_bench read_mt_bench arena read_arena alpaca_eval read_alpaca_eval chatbot_arena fastchat"
    ),
    "to_preferences": words_of("to_pairwise pairwise comparisons to_comparisons battles votes preferences choices"),
    "read_promptfoo": words_of("promptfoo load_promptfoo"),
    "read_deepeval": words_of("deepeval load_deepeval read_deep_eval"),
    "load_dataset": words_of(
        "load datasets open_dataset dataset load_data get_dataset fetch read load_demo demo summeval",
    ),
    "set_dims": words_of("rename rename_dims set_dim dims map_dims"),
    "read_esa": words_of("esa load_esa appraise read_appraise error_span_annotation"),
    "read_mqm": words_of("mqm load_mqm marot read_marot mqm_viewer read_errors"),
    "read_mtme": words_of("load_mtme read_wmt wmt mtme load_wmt mt_metrics_eval"),
    "read_realsumm": words_of("load_realsumm realsumm"),
    "read_sacrerouge": words_of("load_sacrerouge sacrerouge read_jsonl"),
    "simulate": words_of("simulation generate synthetic make_data simulate_scores make_scores random_scores"),
    "coverage": words_of("coverage_simulation interval_coverage calibration"),
    "power": words_of("power_analysis statistical_power"),
    "plan": words_of(
        "planning design designs sample_size how_many study_design decision_study d_study required_inputs"
    ),
    "rank_tasks": words_of("tasks metrics_task rank_many multi_task"),
    "shared_task": words_of("metrics_shared_task run_task run_shared_task evaluate_metric rank_folder"),
    "wmt_info": words_of("meta_info metainfo wmt_meta_info wmt_data outliers"),
    "wmt_tasks": words_of("wmt wmt24 wmt23 wmt22 wmt25 wmt_presets task_set presets"),
    "to_scores": words_of(
        "read_csv from_csv from_frame from_dataframe from_pandas read_frame to_dataset to_xarray melt to_ds from_df",
        "scores pivot to_array as_scores make_dataset",
    ),
    # Pictures.
    "forest": words_of("forest_plot forestplot errorbar caterpillar whiskers dot dotplot pointplot ci intervals point"),
    "strengths": words_of("rank_systems bradley_terry elo strength"),
    "raters": words_of("judges rater judge position_bias preference_agreement preference_bias"),
    "pvalues": words_of("p_values pvalue pval pvals tests significance significance_matrix"),
    "clusters": words_of(
        "critical_difference cd cd_diagram critical_difference_diagram rank ranking cluster leaderboard",
    ),
    "sensitivity": words_of("margin_sensitivity margins line lineplot curve"),
    "shifts": words_of("shift dominance probability_shift slope slopegraph"),
    "heatmap": words_of("heat_map imshow image grid tile heat"),
    "confusion": words_of("confusion_matrix discriminative_agreement crosstab contingency contingency_table"),
    "bars": words_of("bar barplot bar_plot barh barchart bar_chart column columns hbar"),
    "matrix": words_of("corr_matrix correlation_matrix clustermap metric_corr corrplot heatmap heat_map"),
    "scatter_matrix": words_of("scatter pairplot pair_plot pairs splom scatterplot scatter_plot pairgrid regplot"),
    "distribution": words_of(
        "box boxplot hist histogram violin violinplot kde density swarm strip ridge distributions displot boxen",
    ),
    "improvement": words_of("improvement_consistency improvements"),
    "tasks": words_of("rank_tasks task"),
}

# Columns of frames, by what they hold.
COLUMNS: Words = {
    "metric": words_of("metric metrics metric_name metric_id scorer measure evaluator metric_key"),
    "system": words_of(
        "system systems system_id system_name sys model models model_id model_name summarizer summarizer_id engine",
        "mt_system product llm_model variant bot bot_id bot_name bot_version chatbot model_version",
    ),
    "input": words_of(
        "input input_id inputs item_id prompt_id example_id sample_id question_id doc_id document_id segment_id seg_id",
        "instance_id sentence_id topic_id row_id task_id case_id conversation_id query_id record_id item doc docs",
        "document segment seg instance example sample id idx uid uuid question prompt query topic",
    ),
    "value": words_of("score scores value values rating metric_value metric_score grade"),
    "rater": words_of(
        "rater raters rater_id rater_name annotator annotators annotator_id annotator_name worker worker_id"
    ),
    "language": words_of("language lang"),
    "run": words_of("run run_id trial trial_id repeat repetition replicate"),
    "gold": words_of(
        "human human_score human_scores human_rating human_ratings human_mean mean_human human_label gold gold_score",
        "human_judgment human_judgement human_eval",
    ),
    "covariate": words_of(
        "length len n_tokens num_tokens tokens token_count n_words num_words words word_count n_chars num_chars chars",
        "char_count response_length output_length answer_length summary_length translation_length n_sentences",
        "completion_tokens output_tokens",
        "prompt_length input_length question_length source_length prompt_tokens input_tokens",
        "position output_position order_position latency latency_ms latency_s response_time duration duration_ms cost",
    ),
    "category": words_of(
        "category categories topic domain genre task task_type subset split difficulty type tag source_type dataset",
        "language lang turn turn_number turn_index turn_no round",
    ),
    "text": words_of(
        "text prompt prompts question query instruction response responses output outputs answer answers completion",
        "generation prediction summary translation hypothesis candidate source src reference references ref context",
        "comment comments note notes reason reasons rationale explanation explanations feedback critique url",
    ),
}

# The same of frames of choices between two outputs.
CHOICES: Words = {
    "left": words_of("left model_a system_a model_1 system_1 generator_1 option_a first"),
    "right": words_of("right model_b system_b model_2 system_2 generator_2 option_b second"),
    "choice": words_of("choice winner preference preferred chosen vote verdict label judgment judgement"),
    "prompt": (*words_of("prompt prompt_id question question_id"), *COLUMNS["input"]),
    "rater": words_of("rater judge annotator rater_id annotator_id worker worker_id evaluator grader assessor"),
}


def methods_meant(word: str) -> list[str]:
    """Methods that a word may mean, exact names first."""
    same = [meant for meant in METHODS if spelt(meant) == spelt(word)]
    return [*same, *(meant for meant, words in METHODS.items() if spelt(word) in words and meant not in same)]

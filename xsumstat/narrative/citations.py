"""Works that results cite: names and years for the text, entries for BibTeX."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A work; `authors` are "Last, First" each, `kind` is the type of the BibTeX entry."""

    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    kind: str = "article"
    volume: str = ""
    pages: str = ""
    doi: str = ""

    @property
    def short(self) -> str:
        last = [author.partition(",")[0] for author in self.authors]
        who = " & ".join(last) if len(last) < 3 else f"{last[0]} et al."
        return f"{who}, {self.year}"

    def bibtex(self, key: str) -> str:
        where = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "techreport": "institution"}
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            where[self.kind]: self.venue,
            "volume": self.volume,
            "pages": self.pages,
            "year": str(self.year),
            "doi": self.doi,
        }
        lines = [f"  {name} = {{{text}}}," for name, text in fields.items() if text]
        return "\n".join([f"@{self.kind}{{{key},", *lines, "}"])


SOFTWARE = "xsumstat"


def software(version: str) -> str:
    """The BibTeX entry of xsumstat itself."""
    fields = {
        "author": "{The xsumstat developers}",
        "title": "{xsumstat: How Far Can an Automatic Evaluation Metric Be Trusted?}",
        "note": f"Version {version}",
        "year": "2026",
    }
    return "\n".join([f"@misc{{{SOFTWARE},", *(f"  {name} = {{{text}}}," for name, text in fields.items()), "}"])


_EMNLP = "Proceedings of the {} Conference on Empirical Methods in Natural Language Processing"
_NAACL = (
    "Proceedings of the {} Conference of the North American Chapter of the Association for Computational Linguistics"
)
_WMT = "Proceedings of the {} Conference on Machine Translation"
_ACL = "Proceedings of the {} Annual Meeting of the Association for Computational Linguistics"


def _paper(authors: str, year: int, title: str, venue: str, pages: str, doi: str = "") -> Reference:
    return Reference(_names(authors), year, title, venue, "inproceedings", pages=pages, doi=doi)


def _article(authors: str, year: int, title: str, venue: str, volume: str, pages: str, doi: str = "") -> Reference:
    return Reference(_names(authors), year, title, venue, "article", volume, pages, doi)


def _names(authors: str) -> tuple[str, ...]:
    return tuple(authors.split("; "))


REFERENCES: dict[str, Reference] = {
    "cohen1960coefficient": _article(
        "Cohen, Jacob", 1960, "A Coefficient of Agreement for Nominal Scales",
        "Educational and Psychological Measurement", "20", "37--46", "10.1177/001316446002000104",
    ),
    "cohen1968weighted": _article(
        "Cohen, Jacob", 1968,
        "Weighted Kappa: Nominal Scale Agreement with Provision for Scaled Disagreement or Partial Credit",
        "Psychological Bulletin", "70", "213--220", "10.1037/h0026256",
    ),
    "lin1989concordance": _article(
        "Lin, Lawrence I-Kuei", 1989, "A Concordance Correlation Coefficient to Evaluate Reproducibility",
        "Biometrics", "45", "255--268", "10.2307/2532051",
    ),
    "mcgraw1996forming": _article(
        "McGraw, Kenneth O.; Wong, S. P.", 1996,
        "Forming Inferences about Some Intraclass Correlation Coefficients",
        "Psychological Methods", "1", "30--46", "10.1037/1082-989X.1.1.30",
    ),
    "matthews1975comparison": _article(
        "Matthews, Brian W.", 1975,
        "Comparison of the Predicted and Observed Secondary Structure of T4 Phage Lysozyme",
        "Biochimica et Biophysica Acta", "405", "442--451", "10.1016/0005-2795(75)90109-9",
    ),
    "gorodkin2004comparing": _article(
        "Gorodkin, Jan", 2004, "Comparing Two K-Category Assignments by a K-Category Correlation Coefficient",
        "Computational Biology and Chemistry", "28", "367--374", "10.1016/j.compbiolchem.2004.09.006",
    ),
    "deutsch2021statistical": _article(
        "Deutsch, Daniel; Dror, Rotem; Roth, Dan", 2021,
        "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods",
        "Transactions of the Association for Computational Linguistics", "9", "1132--1146", "10.1162/tacl_a_00417",
    ),
    "deutsch2022reexamining": _paper(
        "Deutsch, Daniel; Dror, Rotem; Roth, Dan", 2022,
        "Re-Examining System-Level Correlations of Automatic Summarization Evaluation Metrics",
        _NAACL.format("2022"),
        "6038--6052", "10.18653/v1/2022.naacl-main.442",
    ),
    "deutsch2023ties": _paper(
        "Deutsch, Daniel; Foster, George; Freitag, Markus", 2023,
        "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration",
        _EMNLP.format("2023"), "12914--12929", "10.18653/v1/2023.emnlp-main.798",
    ),
    "bhandari2020reevaluating": _paper(
        "Bhandari, Manik; Gour, Pranav Narayan; Ashfaq, Atabak; Liu, Pengfei; Neubig, Graham", 2020,
        "Re-evaluating Evaluation in Text Summarization", _EMNLP.format("2020"), "9347--9359",
        "10.18653/v1/2020.emnlp-main.751",
    ),
    "braun2022survive": _paper(
        "Braun, Spencer; Vasilyev, Oleg; Iskender, Neslihan; Bohannon, John", 2022,
        "Does Summary Evaluation Survive Translation to Other Languages?",
        _NAACL.format("2022"),
        "2425--2435",
    ),
    "peyrard2019studying": _paper(
        "Peyrard, Maxime", 2019, "Studying Summarization Evaluation Metrics in the Appropriate Scoring Range",
        _ACL.format("57th"), "5093--5100", "10.18653/v1/P19-1502",
    ),
    "rankel2011ranking": _paper(
        "Rankel, Peter; Conroy, John; Slud, Eric; O'Leary, Dianne", 2011,
        "Ranking Human and Machine Summarization Systems", _EMNLP.format("2011"), "467--473",
    ),
    "koehn2004statistical": _paper(
        "Koehn, Philipp", 2004, "Statistical Significance Tests for Machine Translation Evaluation",
        _EMNLP.format("2004"), "388--395",
    ),
    "graham2014testing": _paper(
        "Graham, Yvette; Baldwin, Timothy", 2014,
        "Testing for Significance of Increased Correlation with Human Judgment", _EMNLP.format("2014"), "172--176",
    ),
    "kocmi2021ship": _paper(
        "Kocmi, Tom; Federmann, Christian; Grundkiewicz, Roman; Junczys-Dowmunt, Marcin; Matsushita, Hitokazu; "
        "Menezes, Arul", 2021,
        "To Ship or Not to Ship: An Extensive Evaluation of Automatic Metrics for Machine Translation",
        _WMT.format("Sixth"), "478--494",
    ),
    "ma2019results": _paper(
        "Ma, Qingsong; Wei, Johnny; Bojar, Ondřej; Graham, Yvette", 2019,
        "Results of the WMT19 Metrics Shared Task: Segment-Level and Strong MT Systems Pose Big Challenges",
        _WMT.format("Fourth"), "62--90",
    ),
    "freitag2021results": _paper(
        "Freitag, Markus; Rei, Ricardo; Mathur, Nitika; Lo, Chi-kiu; Stewart, Craig; Foster, George; Lavie, Alon; "
        "Bojar, Ondřej", 2021,
        "Results of the WMT21 Metrics Shared Task: Evaluating Metrics with Expert-based Human Evaluations on TED and "
        "News Domain", _WMT.format("Sixth"), "733--774",
    ),
    "freitag2023results": _paper(
        "Freitag, Markus; Mathur, Nitika; Lo, Chi-kiu; Avramidis, Eleftherios; Rei, Ricardo; Thompson, Brian; "
        "Kocmi, Tom; Blain, Frédéric; Deutsch, Daniel; Stewart, Craig; Zerva, Chrysoula; Castilho, Sheila; "
        "Lavie, Alon; Foster, George", 2023,
        "Results of WMT23 Metrics Shared Task: Metrics Might Be Guilty but References Are Not Innocent",
        _WMT.format("Eighth"), "578--628",
    ),
    "thompson2024improving": _paper(
        "Thompson, Brian; Mathur, Nitika; Deutsch, Daniel; Khayrallah, Huda", 2024,
        "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy",
        _WMT.format("Ninth"), "1222--1234",
    ),
    "diianni2025sweat": _paper(
        "DiIanni, Colten; Deutsch, Daniel", 2025,
        "Don't Sweat the Small Stuff: Segment-Level Meta-Evaluation Based on Pairwise Difference Correlation",
        _EMNLP.format("2025"), "",
    ),
    "calderon2025alternative": _paper(
        "Calderon, Nitay; Reichart, Roi; Dror, Rotem", 2025,
        "The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify Replacing Human Annotators "
        "with LLMs", _ACL.format("63rd"), "",
    ),
    "barlow1972statistical": Reference(
        _names("Barlow, Richard E.; Bartholomew, David J.; Bremner, John M.; Brunk, H. Daniel"), 1972,
        "Statistical Inference under Order Restrictions", "Wiley", "book",
    ),
    "shao1989general": _article(
        "Shao, Jun; Wu, C. F. Jeff", 1989, "A General Theory for Jackknife Variance Estimation",
        "The Annals of Statistics", "17", "1176--1197",
    ),
    "kolen2014test": Reference(
        _names("Kolen, Michael J.; Brennan, Robert L."), 2014, "Test Equating, Scaling, and Linking", "Springer",
        "book",
    ),
    "krippendorff2011computing": Reference(
        _names("Krippendorff, Klaus"), 2011, "Computing Krippendorff's Alpha-Reliability",
        "University of Pennsylvania", "techreport",
    ),
    "efron1981jackknife": _article(
        "Efron, Bradley; Stein, Charles", 1981, "The Jackknife Estimate of Variance", "The Annals of Statistics", "9",
        "586--596", "10.1214/aos/1176345462",
    ),
    "owen2007pigeonhole": _article(
        "Owen, Art B.", 2007, "The Pigeonhole Bootstrap", "The Annals of Applied Statistics", "1", "386--411",
        "10.1214/07-AOAS122",
    ),
    "bonett2000sample": _article(
        "Bonett, Douglas G.; Wright, Thomas A.", 2000,
        "Sample Size Requirements for Estimating Pearson, Kendall and Spearman Correlations", "Psychometrika", "65",
        "23--28", "10.1007/BF02294183",
    ),
    "efron1987better": _article(
        "Efron, Bradley", 1987, "Better Bootstrap Confidence Intervals",
        "Journal of the American Statistical Association", "82", "171--185", "10.1080/01621459.1987.10478410",
    ),
    "efron1993introduction": Reference(
        _names("Efron, Bradley; Tibshirani, Robert J."), 1993, "An Introduction to the Bootstrap", "Chapman and Hall",
        "book",
    ),
    "williams1959regression": Reference(
        _names("Williams, Evan J."), 1959, "Regression Analysis", "Wiley", "book"
    ),
    "steiger1980tests": _article(
        "Steiger, James H.", 1980, "Tests for Comparing Elements of a Correlation Matrix", "Psychological Bulletin",
        "87", "245--251", "10.1037/0033-2909.87.2.245",
    ),
    "meng1992comparing": _article(
        "Meng, Xiao-Li; Rosenthal, Robert; Rubin, Donald B.", 1992, "Comparing Correlated Correlation Coefficients",
        "Psychological Bulletin", "111", "172--175", "10.1037/0033-2909.111.1.172",
    ),
    "zou2007toward": _article(
        "Zou, Guang Yong", 2007, "Toward Using Confidence Intervals to Compare Correlations", "Psychological Methods",
        "12", "399--413", "10.1037/1082-989X.12.4.399",
    ),
    "zou2008construction": _article(
        "Zou, Guang Yong; Donner, Allan", 2008,
        "Construction of Confidence Limits about Effect Measures: A General Approach", "Statistics in Medicine", "27",
        "1693--1702", "10.1002/sim.3095",
    ),
    "krishnamoorthy2004modified": _article(
        "Krishnamoorthy, Kalimuthu; Yu, Jianqi", 2004,
        "Modified Nel and Van der Merwe Test for the Multivariate Behrens-Fisher Problem",
        "Statistics & Probability Letters", "66", "161--169", "10.1016/j.spl.2003.10.012",
    ),
    "tipton2015small": _article(
        "Tipton, Elizabeth; Pustejovsky, James E.", 2015,
        "Small-Sample Adjustments for Tests of Moderators and Model Fit Using Robust Variance Estimation in "
        "Meta-Regression", "Journal of Educational and Behavioral Statistics", "40", "604--634",
        "10.3102/1076998615606099",
    ),
    "holm1979simple": _article(
        "Holm, Sture", 1979, "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics", "6", "65--70",
    ),
    "dunn1961multiple": _article(
        "Dunn, Olive Jean", 1961, "Multiple Comparisons among Means",
        "Journal of the American Statistical Association", "56", "52--64", "10.1080/01621459.1961.10482090",
    ),
    "benjamini1995controlling": _article(
        "Benjamini, Yoav; Hochberg, Yosef", 1995,
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        "Journal of the Royal Statistical Society: Series B", "57", "289--300",
    ),
    "benjamini2001control": _article(
        "Benjamini, Yoav; Yekutieli, Daniel", 2001,
        "The Control of the False Discovery Rate in Multiple Testing under Dependency", "The Annals of Statistics",
        "29", "1165--1188", "10.1214/aos/1013699998",
    ),
    "westfall1993resampling": Reference(
        _names("Westfall, Peter H.; Young, S. Stanley"), 1993,
        "Resampling-Based Multiple Testing: Examples and Methods for p-Value Adjustment", "Wiley", "book",
    ),
    "schuirmann1987comparison": _article(
        "Schuirmann, Donald J.", 1987,
        "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of "
        "Average Bioavailability", "Journal of Pharmacokinetics and Biopharmaceutics", "15", "657--680",
        "10.1007/BF01068419",
    ),
    "anderson1983new": _article(
        "Anderson, Sharon; Hauck, Walter W.", 1983,
        "A New Procedure for Testing Equivalence in Comparative Bioavailability and Other Clinical Trials",
        "Communications in Statistics - Theory and Methods", "12", "2663--2692", "10.1080/03610928308828634",
    ),
    "counsell2015equivalence": _article(
        "Counsell, Alyssa; Cribbie, Robert A.", 2015,
        "Equivalence Tests for Comparing Correlation and Regression Coefficients",
        "British Journal of Mathematical and Statistical Psychology", "68", "292--309", "10.1111/bmsp.12045",
    ),
    "angelopoulos2023ppi": _article(
        "Angelopoulos, Anastasios N.; Duchi, John C.; Zrnic, Tijana", 2023,
        "PPI++: Efficient Prediction-Powered Inference", "arXiv preprint", "", "", "10.48550/arXiv.2311.01453",
    ),
    "chaganty2018price": _paper(
        "Chaganty, Arun Tejasvi; Mussmann, Stephen; Liang, Percy", 2018,
        "The Price of Debiasing Automatic Metrics in Natural Language Evaluation", _ACL.format("56th"), "643--653",
        "10.18653/v1/P18-1060",
    ),
    "wilcoxon1945individual": _article(
        "Wilcoxon, Frank", 1945, "Individual Comparisons by Ranking Methods", "Biometrics Bulletin", "1", "80--83",
        "10.2307/3001968",
    ),
    "zheng2023judging": _paper(
        "Zheng, Lianmin; Chiang, Wei-Lin; Sheng, Ying; Zhuang, Siyuan; Wu, Zhanghao; Zhuang, Yonghao; Lin, Zi; "
        "Li, Zhuohan; Li, Dacheng; Xing, Eric P.; Zhang, Hao; Gonzalez, Joseph E.; Stoica, Ion", 2023,
        "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena",
        "Advances in Neural Information Processing Systems 36, Datasets and Benchmarks Track", "46595--46623", "",
    ),
    "bradley1952rank": _article(
        "Bradley, Ralph Allan; Terry, Milton E.", 1952,
        "Rank Analysis of Incomplete Block Designs: I. The Method of Paired Comparisons", "Biometrika", "39",
        "324--345", "10.2307/2334029",
    ),
    "davidson1970extending": _article(
        "Davidson, Roger R.", 1970,
        "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
        "Journal of the American Statistical Association", "65", "317--328", "10.1080/01621459.1970.10481082",
    ),
    "dubois2024length": _article(
        "Dubois, Yann; Galambosi, Balázs; Liang, Percy; Hashimoto, Tatsunori B.", 2024,
        "Length-Controlled AlpacaEval: A Simple Way to Debias Automatic Evaluators", "arXiv preprint", "", "",
        "10.48550/arXiv.2404.04475",
    ),
    "bonett2012adjusted": _article(
        "Bonett, Douglas G.; Price, Robert M.", 2012,
        "Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data",
        "Journal of Educational and Behavioral Statistics", "37", "479--488", "10.3102/1076998611411915",
    ),
    "kruskal1952use": _article(
        "Kruskal, William H.; Wallis, W. Allen", 1952, "Use of Ranks in One-Criterion Variance Analysis",
        "Journal of the American Statistical Association", "47", "583--621", "10.1080/01621459.1952.10483441",
    ),
    "hochberg1982graphical": _article(
        "Hochberg, Yosef; Weiss, Gideon; Hart, Sergiu", 1982, "On Graphical Procedures for Multiple Comparisons",
        "Journal of the American Statistical Association", "77", "767--772", "10.1080/01621459.1982.10477886",
    ),
    "bell2002bias": _article(
        "Bell, Robert M.; McCaffrey, Daniel F.", 2002,
        "Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples", "Survey Methodology", "28",
        "169--181",
    ),
    "cameron2011robust": _article(
        "Cameron, A. Colin; Gelbach, Jonah B.; Miller, Douglas L.", 2011, "Robust Inference with Multiway Clustering",
        "Journal of Business & Economic Statistics", "29", "238--249", "10.1198/jbes.2010.07136",
    ),
    "fieller1954some": _article(
        "Fieller, E. C.", 1954, "Some Problems in Interval Estimation",
        "Journal of the Royal Statistical Society, Series B", "16", "175--185", "10.1111/j.2517-6161.1954.tb00159.x",
    ),
    "fuller1987measurement": Reference(
        _names("Fuller, Wayne A."), 1987, "Measurement Error Models", "Wiley", "book", doi="10.1002/9780470316665",
    ),
    "carroll2006measurement": Reference(
        _names("Carroll, Raymond J.; Ruppert, David; Stefanski, Leonard A.; Crainiceanu, Ciprian M."), 2006,
        "Measurement Error in Nonlinear Models: A Modern Perspective", "Chapman & Hall/CRC", "book",
        doi="10.1201/9781420010138",
    ),
    "kendall1942partial": _article(
        "Kendall, Maurice G.", 1942, "Partial Rank Correlation", "Biometrika", "32", "277--283",
        "10.1093/biomet/32.3-4.277",
    ),
    "shapiro1965analysis": _article(
        "Shapiro, S. S.; Wilk, M. B.", 1965, "An Analysis of Variance Test for Normality (Complete Samples)",
        "Biometrika", "52", "591--611", "10.1093/biomet/52.3-4.591",
    ),
    "searle1992variance": Reference(
        _names("Searle, Shayle R.; Casella, George; McCulloch, Charles E."), 1992, "Variance Components", "Wiley",
        "book",
    ),
    "cochran1950comparison": _article(
        "Cochran, W. G.", 1950, "The Comparison of Percentages in Matched Samples", "Biometrika", "37", "256--266",
        "10.1093/biomet/37.3-4.256",
    ),
    "manski2003partial": Reference(
        _names("Manski, Charles F."), 2003, "Partial Identification of Probability Distributions", "Springer", "book",
        doi="10.1007/b97478",
    ),
    "brennan2001generalizability": Reference(
        _names("Brennan, Robert L."), 2001, "Generalizability Theory", "Springer", "book",
    ),
}  # fmt: skip

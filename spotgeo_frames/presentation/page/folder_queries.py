"""The queries in the README of a folder: the numbers of the page, computed anew from its match table."""

SQL_COUNTS = """\
    SELECT submission,
        count(*) FILTER (outcome = 'TP') AS tp,
        count(*) FILTER (outcome = 'FN') AS fn,
        count(*) FILTER (outcome = 'FP') AS fp"""
SQL_RATIOS = """\
SELECT submission, tp, fn, fp,
    tp / nullif(tp + fp, 0) AS precision,
    tp / nullif(tp + fn, 0) AS recall,
    2 * tp / nullif(2 * tp + fp + fn, 0) AS f1"""
SQL_BY_DISTANCE = f"""\
WITH of_sequence AS (
    SELECT submission, sequence, coalesce(avg(kelvins_error), 0) AS error
    FROM 'matches.parquet' GROUP BY submission, sequence
), kelvins AS (
    SELECT submission, sum(error) AS kelvins_mse FROM of_sequence GROUP BY submission
), counts AS (
{SQL_COUNTS},
        coalesce(avg(squared_error), 0) AS mse,
        avg(distance) AS mean_distance,
        sqrt(avg(distance * distance)) AS rmse
    FROM 'matches.parquet' GROUP BY submission
)
{SQL_RATIOS},
    mse, kelvins_mse,
    tp / nullif(tp + fn + fp, 0) AS det_a,
    mean_distance, rmse
FROM counts JOIN kelvins USING (submission) ORDER BY submission"""
SQL_BY_SIMILARITY = f"""\
WITH counts AS (
{SQL_COUNTS},
        avg(similarity) AS loc_a
    FROM 'matches.parquet' GROUP BY submission
)
{SQL_RATIOS},
    tp / nullif(tp + fn + fp, 0) AS det_a,
    loc_a
FROM counts ORDER BY submission"""

PANDAS_COUNTS = """\
import pandas as pd

matches = pd.read_parquet("matches.parquet").astype({"submission": "str", "outcome": "str"})
outcome = pd.get_dummies(matches["outcome"]).reindex(columns=["TP", "FN", "FP"], fill_value=False)
counts = outcome.groupby(matches["submission"]).sum()
tp, fn, fp = counts["TP"], counts["FN"], counts["FP"]
by_submission = matches.groupby("submission")"""
PANDAS_RATIOS = """\
        "tp": tp,
        "fn": fn,
        "fp": fp,
        "precision": tp / (tp + fp),
        "recall": tp / (tp + fn),
        "f1": 2 * tp / (2 * tp + fp + fn),"""
PANDAS_BY_DISTANCE = f"""\
{PANDAS_COUNTS}
of_sequence = matches.groupby(["submission", "sequence"])["kelvins_error"].mean().fillna(0)
headline = pd.DataFrame(
    {{
{PANDAS_RATIOS}
        "mse": by_submission["squared_error"].mean().fillna(0),
        "kelvins_mse": of_sequence.groupby("submission").sum(),
        "det_a": tp / (tp + fn + fp),
        "mean_distance": by_submission["distance"].mean(),
        "rmse": (matches["distance"] ** 2).groupby(matches["submission"]).mean() ** 0.5,
    }}
).reset_index()"""
PANDAS_BY_SIMILARITY = f"""\
{PANDAS_COUNTS}
headline = pd.DataFrame(
    {{
{PANDAS_RATIOS}
        "det_a": tp / (tp + fn + fp),
        "loc_a": by_submission["similarity"].mean(),
    }}
).reset_index()"""

# For each measure of pairs, the query for DuckDB and the script for pandas.
QUERIES = {
    "distance": (SQL_BY_DISTANCE, PANDAS_BY_DISTANCE),
    "similarity": (SQL_BY_SIMILARITY, PANDAS_BY_SIMILARITY),
}

-- SPDX-License-Identifier: Apache-2.0
-- Where the slowest hundredth of a stage's calls comes from: the rank with most
-- of them, and how many of all that is.
WITH tail_of AS (
  SELECT name, category, place, COUNT(*) AS calls,
    CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY length_ns) AS BIGINT) AS p50_ns,
    CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY length_ns) AS BIGINT) AS p99_ns,
    MAX(length_ns) AS max_ns
  FROM call WHERE is_cut = 0 GROUP BY name, category, place),
slow AS (
  SELECT c.name, c.category, c.place, c.run, c.rank, COUNT(*) AS calls
  FROM call c JOIN tail_of t ON t.name = c.name AND t.category = c.category
    AND t.place = c.place AND c.length_ns >= t.p99_ns
  WHERE c.is_cut = 0 GROUP BY c.name, c.category, c.place, c.run, c.rank),
placed AS (
  SELECT name, category, place, rank, calls,
    SUM(calls) OVER (PARTITION BY name, category, place) AS slow_calls,
    COUNT(*) OVER (PARTITION BY name, category, place) AS slow_ranks,
    ROW_NUMBER() OVER (PARTITION BY name, category, place ORDER BY calls DESC, rank, run) AS at
  FROM slow)
SELECT t.name, t.category, t.place, t.calls, t.p50_ns, t.p99_ns, t.max_ns,
  ROUND(t.p99_ns / t.p50_ns, 4) AS p99_over_p50, CAST(p.slow_calls AS BIGINT) AS slow_calls,
  p.slow_ranks, p.rank AS slowest_rank, ROUND(p.calls / p.slow_calls, 4) AS slowest_share
FROM tail_of t JOIN placed p ON p.name = t.name AND p.category = t.category
  AND p.place = t.place AND p.at = 1
WHERE t.p50_ns > 0
ORDER BY (t.p99_ns - t.p50_ns) * t.calls DESC, t.name, t.category, t.place

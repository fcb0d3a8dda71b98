-- SPDX-License-Identifier: Apache-2.0
-- Every stage over all ranks. Percentiles are of nearest rank; what an edge has
-- cut is in no count, percentile or extreme.
WITH timed AS (
  SELECT run, name, category, place, length_ns,
    CASE WHEN is_cut = 0 THEN length_ns END AS whole_ns FROM call)
SELECT name, category, place, COUNT(DISTINCT run) AS ranks, COUNT(whole_ns) AS calls,
  CAST(SUM(length_ns) AS BIGINT) AS total_ns,
  CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY whole_ns) AS BIGINT) AS p50_ns,
  CAST(PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY whole_ns) AS BIGINT) AS p90_ns,
  CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY whole_ns) AS BIGINT) AS p99_ns,
  MAX(whole_ns) AS max_ns
FROM timed
GROUP BY name, category, place
ORDER BY total_ns DESC, name, category, place

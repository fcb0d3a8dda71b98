-- SPDX-License-Identifier: Apache-2.0
-- Every stage over all ranks. Percentiles are of nearest rank, of whole calls.
SELECT name, category, place, COUNT(DISTINCT run) AS ranks, COUNT(*) AS calls,
  CAST(SUM(length_ns) AS BIGINT) AS total_ns,
  CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY length_ns) AS BIGINT) AS p50_ns,
  CAST(PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY length_ns) AS BIGINT) AS p90_ns,
  CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY length_ns) AS BIGINT) AS p99_ns,
  MAX(length_ns) AS max_ns
FROM call WHERE is_cut = 0
GROUP BY name, category, place
ORDER BY total_ns DESC, name, category, place

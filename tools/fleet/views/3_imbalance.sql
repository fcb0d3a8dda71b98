-- SPDX-License-Identifier: Apache-2.0
-- What it costs that ranks differ: in each step everybody waits for the slowest.
-- Of stages that are no communication, which is where the others wait.
WITH step_of AS (
  SELECT name, category, place, step, COUNT(*) AS ranks, MAX(ns) AS max_ns,
    CAST(SUM(ns) AS BIGINT) AS sum_ns
  FROM step_cost WHERE is_communication = 0 GROUP BY name, category, place, step),
slowest AS (
  SELECT c.name, c.category, c.place, c.rank, COUNT(*) AS steps,
    ROW_NUMBER() OVER (PARTITION BY c.name, c.category, c.place
      ORDER BY COUNT(*) DESC, COALESCE(c.rank, -1), c.run) AS at
  FROM step_cost c JOIN step_of s ON s.name = c.name AND s.category = c.category
    AND s.place = c.place AND s.step = c.step AND s.max_ns = c.ns
  WHERE s.ranks > 1 GROUP BY c.name, c.category, c.place, c.run, c.rank)
SELECT s.name, s.category, s.place, MAX(s.ranks) AS ranks, COUNT(*) AS steps,
  CAST(ROUND(SUM(s.sum_ns / s.ranks) / COUNT(*)) AS BIGINT) AS mean_ns,
  CAST(ROUND(SUM(s.max_ns) / COUNT(*)) AS BIGINT) AS slowest_ns,
  CASE WHEN SUM(s.sum_ns) = 0 THEN 0e0
    ELSE ROUND(SUM(s.max_ns) / SUM(s.sum_ns / s.ranks), 4) END AS imbalance,
  CAST(ROUND(SUM(s.max_ns - s.sum_ns / s.ranks) / COUNT(*)) AS BIGINT) AS waited_ns,
  MAX(w.rank) AS slowest_rank, MAX(w.steps) AS slowest_steps
FROM step_of s LEFT JOIN slowest w ON w.name = s.name AND w.category = s.category
  AND w.place = s.place AND w.at = 1
WHERE s.ranks > 1
GROUP BY s.name, s.category, s.place
ORDER BY waited_ns DESC, s.name, s.category, s.place

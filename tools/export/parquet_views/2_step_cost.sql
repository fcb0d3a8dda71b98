-- SPDX-License-Identifier: Apache-2.0
-- The time of each stage in each step: on the host its own, without the ranges
-- inside it. A call is of the last step that had begun.
WITH inside AS (
  SELECT parent, SUM(end_ns - start_ns) AS ns FROM host_range
  WHERE step IS NULL AND parent IS NOT NULL GROUP BY parent),
marked AS (
  SELECT run, NULL AS name, NULL AS category, NULL AS place, 0 AS is_communication,
    start_ns AS begun_ns, step, 0 AS is_call, 0 AS ns, end_ns
  FROM host_range WHERE step IS NOT NULL
  UNION ALL
  SELECT c.run, c.name, c.category, c.place, c.is_communication, c.begun_ns, NULL, 1,
    c.length_ns - CASE WHEN c.place = 'host' THEN COALESCE(i.ns, 0) ELSE 0 END, c.end_ns
  FROM call c LEFT JOIN inside i ON i.parent = c.id AND c.place = 'host'),
placed AS (
  SELECT run, name, category, place, is_communication, is_call, ns, end_ns,
    MAX(step) OVER (ORDER BY begun_ns, is_call
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS step
  FROM marked)
SELECT run, step, name, category, place,
  CAST(MAX(is_communication) AS BIGINT) AS is_communication, COUNT(*) AS calls,
  CAST(SUM(ns) AS BIGINT) AS ns, MAX(end_ns) AS last_ns
FROM placed WHERE is_call = 1 AND step IS NOT NULL
GROUP BY run, step, name, category, place
ORDER BY step, place, category, name

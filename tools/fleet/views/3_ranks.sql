-- SPDX-License-Identifier: Apache-2.0
-- Each run: whose it is, its steps, and how many its last one is behind the
-- fleet's.
WITH steps AS (
  SELECT run, COUNT(*) AS steps, MIN(step) AS first_step, MAX(step) AS last_step
  FROM host_range WHERE step IS NOT NULL GROUP BY run),
lost AS (
  SELECT run, CAST(SUM(value) AS BIGINT) AS lost FROM total
  WHERE lane IS NULL AND name IN ('lost', 'device_lost', 'late', 'invalid') GROUP BY run)
SELECT r.rank, r.run, r.host, r.pid, s.steps, s.first_step, s.last_step,
  MAX(s.last_step) OVER () - s.last_step AS steps_behind, COALESCE(l.lost, 0) AS lost
FROM run r LEFT JOIN steps s ON s.run = r.run LEFT JOIN lost l ON l.run = r.run
ORDER BY COALESCE(r.rank, -1), r.run

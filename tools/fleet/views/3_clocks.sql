-- SPDX-License-Identifier: Apache-2.0
-- How far each host's clock is ahead of its job's: a collective ends everywhere
-- at about the same moment, so what its ends differ by, by the hosts' own clocks,
-- is theirs. `offset_ns` is the median over all collectives of the host's ranks,
-- `error_ns` what 99 in 100 of them are within. The collectives of a step are
-- paired by their last one of each name, of runs that overlap: what came before or
-- after is another job, with the same steps and names.
WITH costs AS (
  SELECT r.run, r.host, r.base_ns, c.step, c.name, c.place, c.last_ns + r.base_ns AS at_ns
  FROM step_cost c JOIN run r ON r.run = c.run
  WHERE c.is_communication = 1 AND r.base_ns IS NOT NULL AND r.host <> ''),
spans AS (
  SELECT run, base_ns, MAX(at_ns) AS last_ns FROM costs GROUP BY run, base_ns),
earlier AS (
  SELECT run, base_ns, MAX(last_ns) OVER (ORDER BY base_ns, run
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM spans),
jobs AS (
  SELECT run, CAST(SUM(CASE WHEN base_ns <= before_ns THEN 0 ELSE 1 END) OVER (
    ORDER BY base_ns, run ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS job
  FROM earlier),
ends AS (
  SELECT j.job, c.host, c.step, c.name, c.place, c.at_ns
  FROM costs c JOIN jobs j ON j.run = c.run),
earliest AS (
  SELECT job, step, name, place, COUNT(DISTINCT host) AS hosts, MIN(at_ns) AS at_ns
  FROM ends GROUP BY job, step, name, place),
later AS (
  SELECT e.job, e.host, e.step, e.name, e.place, e.at_ns - f.at_ns AS ns FROM ends e
    JOIN earliest f
      ON f.job = e.job AND f.step = e.step AND f.name = e.name AND f.place = e.place
  WHERE f.hosts > 1),
usual AS (
  SELECT job, step, name, place,
    CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY ns) AS BIGINT) AS ns
  FROM later GROUP BY job, step, name, place),
ahead AS (
  SELECT l.job, l.host, l.ns - u.ns AS ns FROM later l
    JOIN usual u
      ON u.job = l.job AND u.step = l.step AND u.name = l.name AND u.place = l.place),
offsets AS (
  SELECT job, host, COUNT(*) AS pairs,
    CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY ns) AS BIGINT) AS offset_ns
  FROM ahead GROUP BY job, host)
SELECT o.job, o.host, o.pairs, MAX(o.offset_ns) AS offset_ns,
  CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY ABS(a.ns - o.offset_ns)) AS BIGINT) AS error_ns
FROM offsets o JOIN ahead a ON a.job = o.job AND a.host = o.host
GROUP BY o.job, o.host, o.pairs
ORDER BY o.job, o.host

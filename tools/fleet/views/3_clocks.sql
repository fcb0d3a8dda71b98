-- SPDX-License-Identifier: Apache-2.0
-- How far each host's clock is ahead of the fleet's: a collective ends everywhere
-- at about the same moment, so what its ends differ by, by the hosts' own clocks,
-- is theirs. `offset_ns` is the median over all collectives of the host's ranks,
-- `error_ns` what 99 in 100 of them are within. The collectives of a step are
-- paired by their last one of each name.
WITH ends AS (
  SELECT r.host, c.step, c.name, c.place, c.last_ns + r.base_ns AS at_ns
  FROM step_cost c JOIN run r ON r.run = c.run
  WHERE c.is_communication = 1 AND r.base_ns IS NOT NULL),
earliest AS (
  SELECT step, name, place, COUNT(DISTINCT host) AS hosts, MIN(at_ns) AS at_ns
  FROM ends GROUP BY step, name, place),
later AS (
  SELECT e.host, e.step, e.name, e.place, e.at_ns - f.at_ns AS ns FROM ends e
    JOIN earliest f ON f.step = e.step AND f.name = e.name AND f.place = e.place
  WHERE f.hosts > 1),
usual AS (
  SELECT step, name, place, CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY ns) AS BIGINT) AS ns
  FROM later GROUP BY step, name, place),
ahead AS (
  SELECT l.host, l.ns - u.ns AS ns FROM later l
    JOIN usual u ON u.step = l.step AND u.name = l.name AND u.place = l.place),
offsets AS (
  SELECT host, COUNT(*) AS pairs,
    CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY ns) AS BIGINT) AS offset_ns
  FROM ahead GROUP BY host)
SELECT o.host, o.pairs, MAX(o.offset_ns) AS offset_ns,
  CAST(PERCENTILE_DISC(0.99) WITHIN GROUP (ORDER BY ABS(a.ns - o.offset_ns)) AS BIGINT) AS error_ns
FROM offsets o JOIN ahead a ON a.host = o.host
GROUP BY o.host, o.pairs
ORDER BY o.host

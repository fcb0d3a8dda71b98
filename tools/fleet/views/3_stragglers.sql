-- SPDX-License-Identifier: Apache-2.0
-- Ranks that are slower than the others in a stage, and since when. A rank is slow
-- in a step when it takes more than 105 % of the median of all ranks. Each slow
-- step counts +1/2, each other one -1/2; the stretch with the greatest sum is the
-- straggler's. `log10_chance` bounds how likely it is that any rank, stage and
-- stretch has such a sum where no rank is slow in more than half of its steps
-- (Hoeffding's inequality, times the number of stretches); -2 is one in a hundred.
-- Few ranks have enough slow steps for -2, and the others are left out early. With t =
-- (2 + log10_stretches) * LN(10), a stretch of n steps that is told has n >= 2 t, and
-- (n + SQRT(2 t n)) / 2 slow ones. It touches n / 16 + 2 of the blocks of 16 steps; so,
-- as 2 t >= 16, one of these has a third of its steps slow where no step is missing.
WITH usual AS (
  SELECT name, category, place, step, COUNT(*) AS ranks,
    CAST(PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY ns) AS BIGINT) AS median_ns
  FROM step_cost WHERE is_communication = 0 GROUP BY name, category, place, step),
judged AS (
  SELECT c.run, c.rank, c.name, c.category, c.place, c.step, c.ns, u.median_ns,
    CASE WHEN c.ns * 100 > u.median_ns * 105 THEN 1 ELSE -1 END AS twice
  FROM step_cost c JOIN usual u ON u.name = c.name AND u.category = c.category
    AND u.place = c.place AND u.step = c.step
  WHERE u.ranks > 2 AND c.is_communication = 0),
block AS (
  SELECT run, name, category, place, COUNT(*) AS steps, MIN(step) AS first_step,
    MAX(step) AS last_step, SUM(CASE WHEN twice = 1 THEN 1 ELSE 0 END) AS slow_steps
  FROM judged GROUP BY run, name, category, place, FLOOR(step / 16)),
line AS (
  SELECT run, name, category, place, SUM(steps) AS steps, SUM(slow_steps) AS slow_steps,
    MAX(slow_steps) AS most_slow, MAX(last_step) - MIN(first_step) + 1 AS numbers
  FROM block GROUP BY run, name, category, place),
size AS (
  SELECT LOG10(COUNT(*) * (MAX(steps) * (MAX(steps) + 1e0) / 2e0)) AS log10_stretches FROM line),
suspect AS (
  SELECT l.run, l.name, l.category, l.place FROM line l CROSS JOIN size z
  WHERE z.log10_stretches - 5e-1 * l.slow_steps / LN(1e1) <= -2
    AND (l.most_slow > 5 OR l.numbers > l.steps)),
summed AS (
  SELECT j.run, j.rank, j.name, j.category, j.place, j.step, j.ns, j.median_ns, j.twice,
    SUM(j.twice) OVER (PARTITION BY j.run, j.name, j.category, j.place ORDER BY j.step
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS sum_to
  FROM judged j JOIN suspect q ON q.run = j.run AND q.name = j.name
    AND q.category = j.category AND q.place = j.place),
lowest AS (
  SELECT run, rank, name, category, place, step, sum_to,
    LEAST(0, MIN(sum_to) OVER (PARTITION BY run, name, category, place ORDER BY step
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS low
  FROM summed),
highest AS (
  SELECT run, rank, name, category, place, step AS last_step, low, sum_to - low AS rise,
    ROW_NUMBER() OVER (PARTITION BY run, name, category, place
      ORDER BY sum_to - low DESC, step) AS at
  FROM lowest),
began AS (
  SELECT h.run, h.rank, h.name, h.category, h.place, h.last_step, h.rise,
    MAX(CASE WHEN l.sum_to = h.low THEN l.step END) AS before_step
  FROM highest h JOIN lowest l ON l.run = h.run AND l.name = h.name
    AND l.category = h.category AND l.place = h.place AND l.step <= h.last_step
  WHERE h.at = 1 AND h.rise > 0
  GROUP BY h.run, h.rank, h.name, h.category, h.place, h.last_step, h.rise),
stretch AS (
  SELECT b.run, b.rank, b.name, b.category, b.place, b.rise, MIN(s.step) AS since_step,
    b.last_step, COUNT(*) AS steps, SUM(CASE WHEN s.twice = 1 THEN 1 ELSE 0 END) AS slow_steps,
    SUM(s.ns - s.median_ns) AS excess_ns, SUM(s.median_ns) AS median_ns
  FROM began b JOIN summed s ON s.run = b.run AND s.name = b.name
    AND s.category = b.category AND s.place = b.place AND s.step <= b.last_step
    AND s.step > COALESCE(b.before_step, -1)
  GROUP BY b.run, b.rank, b.name, b.category, b.place, b.rise, b.last_step),
told AS (
  SELECT t.*, z.log10_stretches - 5e-1 * t.rise * t.rise / t.steps / LN(1e1) AS log10_chance
  FROM stretch t CROSS JOIN size z)
SELECT rank, name, category, place, since_step, last_step, CAST(steps AS BIGINT) AS steps,
  CAST(slow_steps AS BIGINT) AS slow_steps, CAST(ROUND(excess_ns / steps) AS BIGINT) AS excess_ns,
  ROUND(excess_ns / median_ns, 4) AS excess,
  ROUND(log10_chance, 1) AS log10_chance
FROM told WHERE log10_chance <= -2
ORDER BY excess_ns / steps DESC, rank, name, category, place

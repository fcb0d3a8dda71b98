-- SPDX-License-Identifier: Apache-2.0
-- Where each rank's time goes, each moment once: unions of ranges. On the host the
-- innermost ranges of all threads, on devices kernels and copies, or where a run has
-- none all work. Copies are neither computation nor communication.
WITH parents AS (SELECT DISTINCT run, parent FROM call
  WHERE place = 'host' AND parent IS NOT NULL),
kernels AS (SELECT DISTINCT run FROM call WHERE place = 'device' AND category = 'Kernel'),
leaf AS (
  SELECT c.run, c.rank, c.place, c.start_ns, c.end_ns,
    CASE WHEN c.is_communication = 1 THEN 'communication'
      WHEN c.category IN ('Memcpy', 'Memset') THEN 'copies' ELSE 'computation' END AS kind
  FROM call c LEFT JOIN parents p ON p.run = c.run AND p.parent = c.id
    LEFT JOIN kernels k ON k.run = c.run
  WHERE CASE WHEN c.place = 'host' THEN p.parent IS NULL
    ELSE k.run IS NULL OR c.category IN ('Kernel', 'Memcpy', 'Memset') END),
ordered AS (
  SELECT run, rank, place, kind, start_ns, end_ns,
    COALESCE(MAX(end_ns) OVER (PARTITION BY run, place, kind ORDER BY start_ns, end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS of_kind_ns,
    COALESCE(MAX(end_ns) OVER (PARTITION BY run, place ORDER BY start_ns, end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS of_all_ns,
    COALESCE(MAX(CASE WHEN kind <> 'copies' THEN end_ns END) OVER (PARTITION BY run, place
      ORDER BY start_ns, end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS of_either_ns
  FROM leaf),
-- What each adds to the union of those before it.
added AS (
  SELECT run, rank, place, kind, start_ns, end_ns,
    GREATEST(end_ns - GREATEST(start_ns, of_kind_ns), 0) AS kind_ns,
    GREATEST(end_ns - GREATEST(start_ns, of_all_ns), 0) AS all_ns,
    CASE WHEN kind <> 'copies' THEN GREATEST(end_ns - GREATEST(start_ns, of_either_ns), 0)
      ELSE 0 END AS either_ns
  FROM ordered),
parts AS (
  SELECT run, rank, place, MAX(end_ns) - MIN(start_ns) AS span_ns,
    SUM(CASE WHEN kind = 'computation' THEN kind_ns ELSE 0 END) AS computation_ns,
    SUM(CASE WHEN kind = 'communication' THEN kind_ns ELSE 0 END) AS communication_ns,
    SUM(CASE WHEN kind = 'copies' THEN kind_ns ELSE 0 END) AS copies_ns,
    SUM(either_ns) AS either_ns, SUM(all_ns) AS busy_ns
  FROM added GROUP BY run, rank, place)
SELECT rank, place, span_ns, CAST(computation_ns AS BIGINT) AS computation_ns,
  CAST(communication_ns AS BIGINT) AS communication_ns,
  CAST(computation_ns + communication_ns - either_ns AS BIGINT) AS overlap_ns,
  CAST(copies_ns AS BIGINT) AS copies_ns, CAST(span_ns - busy_ns AS BIGINT) AS idle_ns,
  CASE WHEN communication_ns > 0
    THEN ROUND((computation_ns + communication_ns - either_ns) / communication_ns, 4) END
    AS overlap_of_communication
FROM parts ORDER BY COALESCE(rank, -1), run, place

-- SPDX-License-Identifier: Apache-2.0
-- Calls of stages on the host, without steps, and timed work of devices.
SELECT h.run, s.name, s.category, 'host' AS place, h.id, h.lane, h.parent,
  h.start_ns AS begun_ns, h.start_ns, h.end_ns, h.end_ns - h.start_ns AS length_ns,
  h.flags % 2 AS is_cut,
  CASE WHEN s.category = 'Communication' OR (h.flags & 256) <> 0 THEN 1 ELSE 0 END
    AS is_communication
FROM host_range h JOIN site s ON s.id = h.site
WHERE h.step IS NULL
UNION ALL
SELECT d.run, s.name, s.category, 'device', d.id, d.lane, d.parent,
  d.submit_ns, d.start_ns, d.end_ns, d.end_ns - d.start_ns, d.flags % 2,
  CASE WHEN s.category = 'Communication' OR (d.flags & 256) <> 0 THEN 1 ELSE 0 END
FROM device_range d JOIN site s ON s.id = d.site
WHERE d.start_ns IS NOT NULL

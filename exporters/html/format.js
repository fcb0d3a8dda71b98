// Numbers as people read them: three significant places, as the tables of the
// command line have them.

const TIME_UNITS = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];

function timeUnit(ns) {
  let unit = TIME_UNITS[0];
  for (const next of TIME_UNITS) if (ns >= next[1]) unit = next;
  return unit;
}

function three(value) {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return String(Math.round(value));
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

function time(ns, unit) {
  if (ns === null || ns === undefined) return "–";
  const [name, factor] = unit || timeUnit(Math.abs(ns));
  return `${name === "ns" ? Math.round(ns) : three(ns / factor)} ${name}`;
}

// In the unit of a column's head, without it.
function timeIn(ns, unit) {
  if (ns === null || ns === undefined) return "";
  return unit[0] === "ns" ? String(Math.round(ns)) : three(ns / unit[1]);
}

function percent(value) {
  if (value === null || value === undefined) return "";
  return `${Math.round(value)} %`;  // as the command line has it
}

function count(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, " ");
}

// Cells of JSON tables, to be read by people: times in one unit a column.
function cellText(value, unit) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (unit === "ns") return time(value);
  if (Number.isInteger(value)) return count(value);
  return three(value);
}

// A text made safe for a cell of Markdown.
function markdownText(text) {
  return String(text).replace(/[\\`*_{}[\]<>()#+!|~&-]/g, "\\$&")
    .replace(/\s+/g, " ");
}

function markdownTable(heads, rows, isNumber) {
  const line = cells => `| ${cells.join(" | ")} |`;
  const rule = heads.map((_, at) => (isNumber(at) ? "---:" : "---"));
  return [line(heads.map(markdownText)), line(rule),
    ...rows.map(row => line(row.map(markdownText)))].join("\n") + "\n";
}

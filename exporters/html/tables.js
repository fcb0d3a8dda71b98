// All figures, as `-f json` has them: one table a view, cell by cell.
const VIEW_TITLES = {device: "Device", overview: "Overview", model: "Model",
  distributed: "Distributed", operator: "Operator", kernel: "Kernel",
  memory_manipulation: "Memory Manipulation", userdefined: "UserDefined",
  memory: "Memory", perf: "Perf", queue: "Queue", messages: "Messages",
  interference: "Interference", cpu: "CPU", stages: "Stages",
  requests: "Requests", compare: "Compare", answer: "Answer", tree: "Tree"};

function viewTable(name, table) {
  const used = table.columns.map((column, at) => at)
    .filter(at => table.rows.some(row => row[at] !== null));
  const columns = used.map(at => {
    const {name: head, unit} = table.columns[at];
    const number = table.rows.some(row => typeof row[at] === "number");
    return {name: head, unit, number, sort: row => row[at],
      text: row => (row[at] === null ? "" : String(row[at])),
      cell: row => {
        const value = row[at] === null ? "" : String(row[at]);
        const node = el("span", {"data-cell": value},
          cellText(row[at], unit));
        if (typeof row[at] === "number") node.title = `${value} ${unit || ""}`;
        return node;
      }};
  });
  return sortableTable(columns, table.rows, {caption: VIEW_TITLES[name] || name,
    mark: (line, row) => (typeof row[0] === "string" ? ofStage(line, row[0])
      : line)});
}

// The command for rows that the page has no room for.
function commandOf(view) {
  return `pprof-report ${view === "tree" ? "--tree" : `--view ${view}`} LOG`;
}

function leftOutHint(leftOut, view, num) {
  return leftOut[view] ? el("p.hint", {"data-left-out": leftOut[view]},
    `The greatest ${count(num)} of ${count(num + leftOut[view])} rows. All: `,
    el("code", null, commandOf(view))) : null;
}

function tablesOf(documents, command, leftOut = {}) {
  const found = documents.flatMap(report => Object.entries(report.views));
  const titleOf = name => VIEW_TITLES[name] || name;
  const empty = found.filter(([, table]) => !table.rows.length);
  const list = found.filter(([, table]) => table.rows.length).map(([name, table]) => {
    const title = titleOf(name);
    const content = el("div");
    const details = el("details", {"data-view": name},
      el("summary", null, title, " ",
        el("small", null, `${count(table.rows.length)} rows`)), content);
    // Tables that nobody opens cost nothing.
    const fill = () => {
      if (content.firstChild) return;
      content.append(leftOutHint(leftOut, name, table.rows.length) || "",
        viewTable(name, table));
    };
    details.addEventListener("toggle", () => details.open && fill());
    details.fill = fill;
    return details;
  });
  return band("tables", "All the figures", el("p.hint", null,
    `The tables of ${command}; the tooltip of a cell is its ` +
    "unrounded figure, docs/tables.md defines the columns."), list,
  empty.length ? el("p.empty", null, "Without rows: ",
    empty.map(([name, table], at) => [at ? " · " : "", el("span",
      {"data-view": name}, el("b", null, titleOf(name)),
      table.reason ? ` (${table.reason})` : "")])) : null);
}

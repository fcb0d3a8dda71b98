// The documents of `pprof-report -f json` in the file, and the lines above and
// below them on the command line.

function read(id) {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
}

// Rows as objects: {name: ..., time_avg: ...}.
function rowsOf(report, view) {
  const table = report && report.views[view];
  if (!table) return [];
  return table.rows.map(row => Object.fromEntries(
    table.columns.map((column, at) => [column.name, row[at]])));
}

// The path of a row is the names around it; the file leaves it out.
function fillPaths(table) {
  const [name, level, path] = ["name", "level", "path"].map(
    wanted => table.columns.findIndex(column => column.name === wanted));
  const open = [];
  for (const row of table.rows) {
    open.length = row[level] - 1;
    open.push(row[name]);
    row[path] = open.join(" / ");
  }
}

async function loadData() {
  const [report, named, tree, picture] = await Promise.all(
    ["report", "named", "tree", "picture"].map(unpackJson));
  fillPaths(tree.views.tree);
  const data = {words: read("words"), leftOut: read("left_out"), report, named,
    tree, picture};
  // The command line's names.
  for (const run of picture.runs)
    run.name = data.words.ranks[run.uuid] || `pid ${run.pid}`;
  data.answer = rowsOf(data.report, "answer");
  data.stages = rowsOf(data.named, "stages");
  data.requests = rowsOf(data.named, "requests");
  data.queue = rowsOf(data.report, "queue");
  data.interference = rowsOf(data.report, "interference");
  data.paths = rowsOf(data.tree, "tree");
  data.devices = data.report.identity.devices;
  data.findings = (data.report.findings || []).filter(one => one.number);
  data.total = data.answer.find(row => row.name === "total" && !row.inside);
  return data;
}

// "in line for gpu:0" and "between stages" are no stages: time in which
// nothing works for the unit.
function isWaiting(row) {
  return row.calls === null && row.calls_avg === null;
}

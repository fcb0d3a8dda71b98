// A band answers the question in its heading. An empty band is one line that
// names what would fill it.
function band(id, question, ...content) {
  return el("section.band", {id, "aria-labelledby": `${id}-q`},
    el("h2", {id: `${id}-q`}, question), ...content);
}

function emptyBand(id, question, reason) {
  return el("section.band.empty", {id, "aria-labelledby": `${id}-q`},
    el("h2", {id: `${id}-q`}, question), el("p", null, reason));
}

// More rows are drawn on a click.
const MOST_TABLE_ROWS = 200;

// Data that was not recorded, and the way to record it; such bands share a
// line.
function missing(id, what, how) {
  return el("span.missing", {id}, el("b", null, what), ` (${how})`);
}

function missingBand(list) {
  return list.length ? el("p.band.empty", {id: "missing"}, "Not recorded: ",
    list.map((one, at) => [at ? " · " : "", one])) : null;
}

// A table that sorts by its heads. columns: {name, unit, title, number, sort,
// text(row), cell(row)}.
function sortableTable(columns, rows, options) {
  const state = {by: -1, down: true, most: MOST_TABLE_ROWS};
  const body = el("tbody");
  const shown = () => {
    if (state.by < 0) return rows;
    const key = columns[state.by].sort;
    return [...rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return (x < y ? -1 : 1) * (state.down ? -1 : 1);
    });
  };
  const lineOf = row => {
    const cells = columns.map((column, at) => {
      const content = column.cell ? column.cell(row) : column.text(row);
      const isHead = at === 0 && (content.textContent ?? content) !== "";
      return isHead ? el("th", {scope: "row"}, content)
        : el(column.number ? "td.number" : "td", null, content);
    });
    const line = el("tr", null, cells);
    return options.mark ? options.mark(line, row) : line;
  };
  const fill = () => clear(body).append(
    ...shown().slice(0, state.most).map(lineOf));
  const heads = columns.map((column, at) => {
    const sort = () => {
      state.down = state.by === at ? !state.down : Boolean(column.number);
      state.by = at;
      heads.forEach((head, other) => {
        if (other === at)
          head.setAttribute("aria-sort",
            state.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      fill();
    };
    return el(column.number ? "th.number" : "th", {scope: "col"},
      el("button.sort", {type: "button", title: column.title, onclick: sort},
        column.name, column.unit ? el("small", null, ` ${column.unit}`) : null));
  });
  fill();
  const more = rows.length > state.most ? el("button.more", {type: "button",
    onclick: () => {
      state.most = rows.length;
      more.remove();
      fill();
    }}, `all ${count(rows.length)} rows`) : null;
  const table = el("table", null, el("caption.unseen", null, options.caption),
    el("thead", null, el("tr", null, heads)), body);
  const copy = copyButton(() => markdownTable(
    columns.map(column => column.name + (column.unit ? ` (${column.unit})` : "")),
    shown().map(row => columns.map(column => column.text(row))),
    at => columns[at].number));
  return el("div.table", null,
    el("div.scroll", {tabindex: "0", role: "group",
      "aria-label": options.caption}, table),
    el("p.foot", null, more, copy));
}

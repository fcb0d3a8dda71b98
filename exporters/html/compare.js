// Two runs: each stage's change, its uncertainty, the least detectable change,
// and both distributions. More runs: each stage's times, the best first.

const VERDICTS = {faster: "faster", slower: "slower", same: "same",
  ambiguous: "cannot be told", less: "less", more: "more"};

function compareRows(compare) {
  return compare.rows.map(row => Object.fromEntries(
    compare.columns.map((column, at) => [column.name, row[at]])));
}

function spreadsOf(spreads, row) {
  return spreads.filter(one => one.name === row.name &&
    one.category === row.category && one.side === row.side);
}

// ---- two ----

// The axis fits all intervals, within reason.
function forestScale(rows) {
  const ends = rows.flatMap(row => [row.change_low, row.change_high,
    row.detectable, row.threshold].filter(value => value !== null)
    .map(Math.abs));
  const most = Math.min(200, Math.max(5, ...ends) * 1.08);
  return {most, x: value =>
    50 + 50 * Math.max(-1, Math.min(1, value / most))};
}

function forestPlot(row, scale) {
  const {x} = scale;
  const seen = row.detectable;
  const words = [row.name, row.change === null ? "no change can be told"
    : `${signed(row.change)} (${signed(row.change_low)} to ` +
      `${signed(row.change_high)})`,
  seen === null ? null : `smaller than ${three(seen)} % it could not have seen`,
  `what matters begins at ${three(row.threshold)} %`, row.reason]
    .filter(Boolean);
  const piece = (what, from, to) => el(`span.${what}`, {style: {
    left: `${from}%`, width: `${Math.max(0.3, to - from)}%`}});
  return withTip(el("div.forest", {role: "img", "aria-label":
    words.join(", ")},
  seen === null ? null : piece("unseen-effect", x(-seen), x(seen)),
  piece("threshold", x(-row.threshold), x(row.threshold)),
  piece("zero", 50, 50),
  row.change === null ? null : [
    piece(`interval.${row.verdict}`, x(row.change_low), x(row.change_high)),
    piece(`change.${row.verdict}`, x(row.change) - 0.4, x(row.change) + 0.4),
  ]), words);
}

function signed(value) {
  return value === null ? "–" : `${value > 0 ? "+" : ""}${three(value)} %`;
}

// The outlines of several distributions, one on top of the other.
function overlaid(row, spreads, axis, names) {
  const wide = axis.last - axis.first;
  const paths = spreads.map(one => {
    const all = one.all.reduce((sum, [, num]) => sum + num, 0);
    const parts = new Map(one.all.map(([place, num]) => [place, num / all]));
    return {one, parts};
  });
  const most = Math.max(...paths.flatMap(({parts}) => [...parts.values()]));
  const outline = parts => {
    let path = "";
    for (let place = axis.first; place < axis.last; place++) {
      const part = parts.get(place);
      if (!part) continue;
      const y = SPREAD_HEIGHT * (1 - Math.sqrt(part / most));
      if (!parts.has(place - 1))
        path += `M${place - axis.first} ${SPREAD_HEIGHT}`;
      path += `V${y.toFixed(2)}H${place + 1 - axis.first}`;
      if (!parts.has(place + 1)) path += `V${SPREAD_HEIGHT}`;
    }
    return path;
  };
  return withTip(svg("svg.spread", {viewBox: `0 -1 ${wide} ` +
    `${SPREAD_HEIGHT + 2}`, preserveAspectRatio: "none", role: "img",
  "aria-label": `${row.name}: distributions of ${names.join(" and ")}`},
  paths.map(({one, parts}) => svg("path", {d: outline(parts),
    fill: inputColour(one.input), "fill-opacity": 0.35,
    stroke: inputColour(one.input), "vector-effect": "non-scaling-stroke"}))),
  [row.name, ...paths.map(({one}) => names[one.input] + ": " +
    `${count(one.all.reduce((sum, [, num]) => sum + num, 0))} samples`),
  "height: root of the part of calls"]);
}

function inputColour(at) {
  return PALETTE[at % PALETTE.length];
}

// The verdict on the programs, or the data that would decide.
function programsCell(row) {
  return el(`td.verdict.${row.programs}`, null, row.programs_reason ||
    VERDICTS[row.programs] || row.programs);
}

// A time in ns, or joules.
function amountCell(ns, joules) {
  return typeof joules === "number"
    ? el("td.number", {title: joules}, `${three(joules)} J`)
    : el("td.number", {title: ns}, time(ns));
}

function pairLine(row, tools) {
  const spreads = spreadsOf(tools.spreads, row);
  return ofStage(el("tr", {"data-compare": row.name},
    el("th", {scope: "row"}, stageName(row.name),
      el("small", null, ` ${row.side}`)),
    el(`td.verdict.${row.verdict}`, null, VERDICTS[row.verdict] || row.verdict),
    el("td.plot", null, forestPlot(row, tools.scale)),
    el("td.number", {title: row.change}, signed(row.change)),
    amountCell(row.a, row.energy_a), amountCell(row.b, row.energy_b),
    el("td.number", {title: row.detectable}, row.detectable === null ? "–"
      : `${three(row.detectable)} %`),
    el("td.plot", null, spreads.length
      ? overlaid(row, spreads, tools.axis, tools.names) : null),
    programsCell(row)), row.name);
}

const PAIR_MEANS = {change: "of B against A", A: "of the base", B: "of the other",
  "could see": "the smallest change that these samples could have shown"};

function pairBand(rows, tools) {
  const heads = ["stage", "these runs", "", "change", "A", "B", "could see", "",
    "the programs"];
  const {most} = tools.scale;
  return band("compare", "Did it get faster?",
    el("div.scroll", {tabindex: "0", role: "group", "aria-label": "changes"},
      el("table.pairs", null, el("caption.unseen", null, "Changes by stage"),
        el("thead", null, el("tr", null, heads.map((name, at) => (name
          ? el(at > 2 && at < 8 ? "th.number" : "th", {scope: "col",
            title: PAIR_MEANS[name]}, name)
          : el("td", null, at === 2 ? el("div.ends", {"aria-hidden": "true"},
            el("span", null, `−${three(most)} % faster`), el("span", null, "0"),
            el("span", null, `slower +${three(most)} %`)) : null))))),
        el("tbody", null, rows.map(row => pairLine(row, tools))))),
    el("p.hint", null, `${rows[0] ? rows[0].metric : ""} of each stage; line: `,
      "interval of the change; pale: changes that could not have been seen; ",
      "darker: changes that do not matter"));
}

// ---- several ----

function rankingBand(rows, tools) {
  const stages = [...new Set(rows.map(row =>
    `${row.name}\n${row.category}\n${row.side}`))];
  const groups = stages.map(key => rows.filter(row =>
    `${row.name}\n${row.category}\n${row.side}` === key));
  const table = group => {
    const most = Math.max(...group.map(row => row.time || 0), 1);
    return el("table.ranking", {"data-compare": group[0].name},
      el("caption", null, stageName(group[0].name), ` ${group[0].side}, ` +
        group[0].metric),
      el("thead", null, el("tr", null, el("th", {scope: "col"}, "run"),
        el("td"), ["time", "of the best", "first call", "these runs", "the programs"].map(name =>
          el("th.number", {scope: "col"}, name)))),
      el("tbody", null, group.map(row => el("tr", null,
        el("th", {scope: "row"}, row.input),
        el("td.bars", {"aria-hidden": "true"}, el("span.bar", {style: {
          width: `${100 * (row.time || 0) / most}%`,
          background: inputColour(tools.names.indexOf(row.input))}})),
        amountCell(row.time, row.energy),
        el("td.number", {title: row.best}, row.best === null ? "–"
          : `${three(row.best)} %`),
        el("td.number", {title: row.first}, time(row.first)),
        el(`td.number.verdict.${row.verdict}`, {title: row.reason},
          VERDICTS[row.verdict] || row.verdict), programsCell(row)))));
  };
  return band("compare", "Which is best?", groups.map(table));
}

// ---- the page ----

function verdictLine(rows) {
  const num = verdict => rows.filter(row => row.verdict === verdict).length;
  return Object.keys(VERDICTS).filter(num).map(verdict =>
    `${num(verdict)} ${VERDICTS[verdict]}`).join(" · ");
}

function comparePage(compare, spreads) {
  const rows = compareRows(compare);
  const names = compare.inputs.map(input => input.name);
  assignColours(rows.map(row => row.name).slice(0, PALETTE.length), []);
  const axis = spreads.length ? spreadAxis(spreads) : null;
  const isPair = names.length === 2;
  const tools = {spreads, names, axis, scale: isPair ? forestScale(rows) : null};
  document.title = names.join(" and ");
  const inputs = el("p.answer.names", null, names.map((name, at) => [
    at ? el("span", null, isPair ? " against " : ", ") : null,
    el("span.swatch", {style: {background: inputColour(at)}}),
    isPair ? `${"AB"[at]}: ${name}` : name]));
  return el("main", null,
    el("header", null, el("h1", null, "compare ",
      el("span.ran", null, isPair ? verdictLine(rows)
        : `${names.length} inputs`)), headTools(() => markdownTable(
      compare.columns.map(column => column.name), compare.rows.map(
        row => row.map(value => (value === null ? "" : String(value)))),
      () => false))),
    el("section.answer", {"aria-label": "What is compared"}, inputs),
    rows.length ? (isPair ? pairBand(rows, tools) : rankingBand(rows, tools))
      : emptyBand("compare", "Did it get faster?",
        "No stage is in more than one input."),
    el("footer", null, compare.notes.map(note => el("p", null, note))),
    tablesOf([{views: {compare: {columns: compare.columns,
      rows: compare.rows}}}], "pprof-report compare -f json"));
}

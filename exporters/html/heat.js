// Which stage slows which on one device: a table with tinted cells.

function slowTint(slowdown) {
  if (slowdown === null) return "";
  const size = Math.min(1, Math.abs(Math.log2(slowdown)) / 1.2);
  const [r, g, b] = slowdown > 1 ? [230, 159, 0] : [0, 114, 178];
  // Up to 0.55, text has a contrast of 4.5 on it in both themes.
  return `rgba(${r}, ${g}, ${b}, ${(0.08 + 0.47 * size).toFixed(2)})`;
}

function heatTable(device, rows) {
  const names = [...new Set(rows.map(row => row.name))];
  const others = [...new Set(rows.map(row => row.other))];
  const cellOf = (name, other) => rows.find(
    row => row.name === name && row.other === other);
  const cell = row => {
    if (!row) return el("td");
    const text = row.slowdown === null ? `${percent(row.overlap_ratio)} beside`
      : `${three(row.slowdown)}×`;
    return withTip(el(row.slowdown === null ? "td.number.dim" : "td.number",
      {style: {background: slowTint(row.slowdown)}}, text),
    [`${row.name} beside ${row.other}`,
      `${time(row.overlap)} together, ${percent(row.overlap_ratio)} of it`,
      `alone ${time(row.alone_avg)} (${row.calls_alone} calls), beside ` +
      `${time(row.beside_avg)} (${row.calls_beside} calls)`,
      row.slowdown === null ? "too few calls to say how much slower"
        : `takes ${three(row.slowdown)} times as long beside it`]);
  };
  return el("div.scroll", {tabindex: "0", role: "group",
    "aria-label": `slowdowns on ${device}`}, el("table.heat", null,
    el("caption", null, `${device}: the stage on the left, beside the one above`),
    el("thead", null, el("tr", null, el("td"), others.map(other =>
      el("th.number", {scope: "col"}, stageName(other))))),
    el("tbody", null, names.map(name => el("tr", null,
      el("th", {scope: "row"}, stageName(name)),
      others.map(other => cell(cellOf(name, other))))))));
}

function slowsBand(data) {
  const question = "Who slows whom?";
  const rows = data.interference.filter(row => row.other);
  if (!rows.length)
    return missing("slows", "stages side by side on a device",
      "device ranges on two streams");
  const devices = [...new Set(rows.map(row => row.device))];
  return band("slows", question, devices.map(device =>
    heatTable(device, rows.filter(row => row.device === device))),
  el("p.hint", null, "orange: takes longer beside it; blue: is faster"));
}

// The first screen: what ran, the answer, the findings, where the time goes.

// The band for the subject of each finding.
const FINDING_BANDS = {"device-bound": "device", "host-bound": "device",
  copies: "device", "launch-bound": "device", queueing: "queue",
  waiting: "timeline", "power-cap": "timeline", heat: "timeline",
  quota: "timeline", "stood-still": "timeline", neighbours: "timeline",
  steal: "timeline", swapping: "timeline", "shared-device": "timeline",
  dominates: "time", "input-bound": "time",
  interference: "slows", uneven: "spread", "first-call": "spread",
  tail: "requests", "few-requests": "requests", computes: "time",
  blocks: "time", "slow-rank": "time", roofline: "time"};

function otherTheme() {
  return getComputedStyle(document.documentElement)
    .getPropertyValue("color-scheme").includes("dark") ? "light" : "dark";
}

function headTools(asMarkdown) {
  const theme = el("button.icon.theme", {type: "button",
    title: "dark or light", onclick: () => setView({theme: otherTheme()})},
  otherTheme());
  const print = el("button.icon", {type: "button",
    title: "one band below the other", onclick: () => window.print()}, "print");
  const copy = el("button.icon", {type: "button",
    title: "copy this screen as Markdown",
    onclick: () => copyText(asMarkdown(), copy)}, "copy");
  return el("div.tools", null, theme, print, copy);
}

function headBand(data) {
  const words = data.words.ran.trim().split(/ {3,}/);
  const [program, ran] = words.length > 1 ? words : ["", words[0]];
  return el("header", null,
    el("h1", null, program || "pprof report", " ", el("span.ran", null, ran)),
    headTools(() => firstAsMarkdown(data)));
}

function findingItem(finding) {
  const where = FINDING_BANDS[finding.id] || "tables";
  return el("li", {"data-finding": finding.id, "data-kind": finding.kind},
    el("a", {href: `#band=${where}`, onclick: event => {
      event.preventDefault();
      setView({band: where});
      goTo(where);
    }}, el("b", null, `${finding.number}`), " ", el("b.id", null, finding.id), " ",
    el("span", null, finding.text), finding.evidence
      ? el("span.evidence", null, ` (${finding.evidence})`) : null,
    el("span.next", null, " Next: ", finding.next || "–", " ▸")));
}

function goTo(id) {
  const node = document.getElementById(id);
  if (!node) return;
  node.scrollIntoView({block: "start"});
  const head = node.querySelector("h2") || node;
  head.setAttribute("tabindex", "-1");
  head.focus({preventScroll: true});
}

function answerBand(data) {
  const list = data.findings.map(findingItem);
  const more = list.splice(5);
  return el("section.answer", {"aria-label": "The answer"},
    el("p.answer", null, data.report.answer ||
      "Nothing was recorded of which a part could be the greatest."),
    data.report.next ? el("p.next", null, `Next: ${data.report.next}`) : null,
    serversTable(data.report.limit),
    list.length ? el("ol.findings", null, list)
      : el("p.hint", null, "Nothing else stands out."),
    more.length ? el("details", null,
      el("summary", null, `${more.length} more`),
      el("ol.findings", null, more)) : null);
}

// The servers, the busiest first, with the queue of each.
const FEW_SERVERS = 4;
const SERVER_HEADS = ["server", "serves", "", "busy", "in line"];

function serversTable(limit) {
  if (!limit || !limit.servers.length) return null;
  return el("table.time.servers", null,
    el("caption.unseen", null, "How busy what serves is"),
    el("thead", null, el("tr", null, SERVER_HEADS.map((name, at) =>
      (name ? el(at > 2 ? "th.number" : "th", {scope: "col"}, name)
        : el("td"))))),
    el("tbody", null, limit.servers.slice(0, FEW_SERVERS).map(
      server => serverLine(server, server === limitingOf(limit)))));
}

function serverLine(server, limits) {
  const busy = 100 * Math.min(1, server.utilization);
  const line = el("tr", {"data-server": server.name},
    el("th", {scope: "row"}, limits ? el("b", {title: "it limits the run"},
      "◆ ") : null, stageName(server.name)),
    el("td.where", null, server.kind === "threads"
      ? `${server.num} thread${server.num === 1 ? "" : "s"}` : server.kind),
    el("td.bars", {"aria-hidden": "true"}, el("span.bar", {style: {
      width: `${Math.max(0.5, busy)}%`, background: colourOf(server.name)}})),
    el("td.number", {title: "its working time, of all time"}, percent(busy)),
    el("td.number", {title: "a request stands in line for it"},
      server.in_line ? time(server.in_line) : ""));
  if (limits) line.classList.add("limits");
  return ofStage(line, server.name);
}

// ---- where the time goes ----

const SMALL_SHARE = 1;
const FEW_ROWS = 12;
const FEW_ON_PHONE = 6;

function isSmall(row) {
  return row.share < SMALL_SHARE;
}

const WAITS_FOR =
  /^(?:in line for|held up by|idle before|batch of) (.+?)( fills)?$/;

function answerLine(data, row, unit, most) {
  const waits = isWaiting(row);
  const bar = el("span.bar", {style: {
    width: `${Math.max(0.5, 100 * row.time_avg / most)}%`,
    background: waits ? "" : colourOf(row.name)}});
  if (waits) bar.classList.add("waits");
  // A queue has the colour of the stage that it waits for.
  const stage = waits && row.name.match(WAITS_FOR);
  if (stage) bar.style.setProperty("--hatch", colourOf(stage[1]));
  const line = el("tr", {"data-row": row.name},
    el("th", {scope: "row"}, el(row.inside ? "span.inside" : "span", null,
      waits ? el("span.wait", null, nameParts(row.name)) : stageName(row.name))),
    el("td.where", null, row.where || ""),
    el("td.bars", {"aria-hidden": "true"}, bar),
    numberCell(row, "time_avg", timeIn(row.time_avg, unit)),
    numberCell(row, "share", percent(row.share)),
    quantilesOf(data).map(name => numberCell(row, name,
      timeIn(row[name], unit))));
  if (row.inside) line.classList.add("is-inside");
  if (isSmall(row)) line.classList.add("is-small");
  return ofStage(line, row.name);
}

// A run has no percentiles, and few requests have no p99.
function quantilesOf(data) {
  if (data.total.p50 === null) return [];
  return data.total.p99 === null ? ["p50", "max"] : ["p50", "p99", "max"];
}

const CELL_MEANS = {time_avg: "time of an average one, each moment counted once",
  share: "part of all of its time", p50: "the usual: nearest rank over all",
  p99: "99 of 100 have no more", max: "the most of one"};

function numberCell(row, column, text) {
  return el("td.number", {"data-column": column, title:
    `${CELL_MEANS[column]}: ${row[column] === null ? "–" : row[column]}`}, text);
}

function timeBand(data) {
  const unitName = data.words.unit;
  if (!data.total)
    return emptyBand("time", "Where does the time go?",
      "No stage was recorded: mark stages with pprof_scope, or NVTX.");
  const unit = timeUnit(data.total.time_avg);
  const rows = data.answer.filter(row => row !== data.total);
  const most = Math.max(...rows.map(row => row.time_avg), 1);
  // As on the command line, a stage includes its parts, and a short table is
  // shown in full.
  const small = data.answer.length > FEW_ROWS
    ? rows.filter(row => isSmall(row) && !row.inside) : [];
  const shown = rows.slice(0, MOST_TABLE_ROWS);
  const heads = [["stage"], ["where"], ["", ""], ["avg", unit[0]], ["share"],
    ...quantilesOf(data).map(name => [name, unit[0]])];
  const table = el("table.time", null,
    el("caption.unseen", null, `Where a ${unitName}'s time goes`),
    el("thead", null, el("tr", null, heads.map(([name, of], at) =>
      (name ? el(at > 2 ? "th.number" : "th", {scope: "col"}, name,
        of ? el("small", null, ` ${of}`) : null) : el("td"))))),
    el("tbody", null, shown.map(row => answerLine(data, row, unit, most))),
    el("tfoot", null, totalLine(data, unit)));
  if (small.length) table.classList.add("hides-small");
  const late = rows.filter(row => !small.includes(row)).slice(FEW_ON_PHONE);
  const all = lateButton(table, late.length);
  const more = el("button.more", {type: "button", "aria-expanded": "false",
    onclick: () => {
      const hides = table.classList.toggle("hides-small");
      more.setAttribute("aria-expanded", String(!hides));
    }}, `${small.length} below ${SMALL_SHARE} %, together ` +
      time(small.reduce((sum, row) => sum + row.time_avg, 0), unit));
  const copy = copyButton(() => answerMarkdown(data, unit));
  return band("time",
    `Where ${/^[aeiou]/.test(unitName) ? "an" : "a"} ${unitName}'s ` +
    `${time(data.total.time_avg)} go`,
    el("div.scroll", {tabindex: "0", role: "group", "aria-label": "stages"},
      table),
    rows.length > shown.length || data.leftOut.answer ? el("p.hint", null,
      `The first ${shown.length} of ` +
      `${count(rows.length + (data.leftOut.answer || 0))} rows. All: `,
      el("code", null, "pprof-report --wide LOG")) : null,
    el("p.foot", null, small.length ? more : null, late.length ? all : null,
      copy));
}

// A phone's first screen has room for few rows, above one picture.
function lateButton(table, num) {
  table.classList.toggle("hides-late", num > 0);
  const button = el("button.more.late", {type: "button", onclick: () => {
    table.classList.remove("hides-late");
    button.remove();
  }}, `${num} more`);
  return button;
}

function totalLine(data, unit) {
  const total = data.total;
  return el("tr", {"data-row": "total"}, el("th", {scope: "row"}, "total"),
    el("td"), el("td"), numberCell(total, "time_avg",
      timeIn(total.time_avg, unit)), el("td"),
    quantilesOf(data).map(name => numberCell(total, name,
      timeIn(total[name], unit))));
}

function answerMarkdown(data, unit) {
  const names = data.total ? quantilesOf(data) : [];
  const heads = ["stage", "where", `avg (${unit[0]})`, "share",
    ...names.map(name => `${name} (${unit[0]})`)];
  return markdownTable(heads, data.answer.map(row => [
    (row.inside ? "└─ " : "") + row.name, row.where || "",
    timeIn(row.time_avg, unit), percent(row.share),
    ...names.map(name => timeIn(row[name], unit))]), at => at > 1);
}

function firstAsMarkdown(data) {
  const unit = timeUnit(data.total ? data.total.time_avg : 1);
  return [`## ${markdownText(data.words.ran.trim())}`,
    markdownText(data.report.answer || ""),
    markdownText(data.report.next && `Next: ${data.report.next}`),
    data.findings.map(finding => `${finding.number}. **${finding.id}** ` +
      `${markdownText(finding.text)} Next: ` +
      `${markdownText(finding.next || "")}`).join("\n"),
    answerMarkdown(data, unit), markdownText(data.words.trust.trim())]
    .join("\n\n");
}

function trustBand(data) {
  const isWhole = data.words.trust.startsWith("Complete");
  return el(isWhole ? "footer" : "footer.flawed", {id: "trust"},
    data.words.trust.trim().split("\n").map(line => el("p", null, line)));
}

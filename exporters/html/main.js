// Builds the page from top to bottom. Compressed parts come after the first
// screen.

function applyTheme() {
  if (view.theme) document.documentElement.dataset.theme = view.theme;
  else delete document.documentElement.dataset.theme;
  for (const button of document.querySelectorAll("button.theme"))
    button.textContent = otherTheme();
}

function applyStage() {
  light(view.stage || null);
  for (const node of document.querySelectorAll("button.stage"))
    node.setAttribute("aria-pressed",
      String(node.dataset.stage === view.stage));
}

function nameColours(data) {
  const first = data.answer.filter(row => !row.inside && !isWaiting(row))
    .slice(0, PALETTE.length).map(row => row.name);
  assignColours(first, data.stages.map(row => row.name));
}

async function drawPictures(data, place) {
  const {picture} = data;
  const [series, events, bins] = await Promise.all([loadSeries(picture),
    loadEvents(picture), loadBins(picture)]);
  const timeline = new Timeline(data, picture, events, bins);
  timeline.series = series;
  const show = request => {
    setView({band: "timeline"});
    timeline.show(request.start - request.length * 0.05,
      request.start + request.length * 1.05);
    timeline.told();
    goTo("timeline");
  };
  const showCall = one => {
    timeline.showSlowest(one.name, one.timed);
    goTo("timeline");
  };
  const {strips, full} = requestsBand(data, events, show);
  const small = smallCharts(data, picture, series);
  if (strips || small.firstChild) place.side.append(strips || "", small);
  else place.side.remove();
  const bands = [timelineBand(data, picture, timeline), full,
    spreadBand(data, picture, showCall), deviceBand(data, picture, series),
    queueBand(data, picture, series), slowsBand(data), insideBand(data)];
  const isMissing = node => node.classList.contains("missing");
  place.pictures.append(...bands.filter(node => !isMissing(node)),
    missingBand(bands.filter(isMissing)) || "");
  timeline.layout();
  new ResizeObserver(() => timeline.resize()).observe(timeline.box.parentNode);
  document.body.timeline = timeline;
  // Print is light and narrow; the styles do the rest.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    timeline.paint();
  });
  addEventListener("afterprint", () => {
    applyTheme();
    timeline.paint();
  });
  timeline.follow();
}

async function reportPage() {
  const data = await loadData();
  nameColours(data);
  if (data.words.ran) document.title = data.words.ran.trim().split(/ {3,}/)[0];
  const place = {side: el("div.side"), pictures: el("div.pictures")};
  document.body.append(el("main", null, headBand(data), answerBand(data),
    el("div.first", null, timeBand(data), place.side), trustBand(data),
    place.pictures, tablesOf([data.report, data.named, data.tree],
      "pprof-report -f json", data.leftOut)));
  applyStage();
  // The first screen is shown before the other parts are unpacked.
  await new Promise(done => { setTimeout(done); });
  await drawPictures(data, place);
}

async function start() {
  readView();
  applyTheme();
  onView(applyTheme);
  matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", applyTheme);
  onView(applyStage);
  addEventListener("hashchange", () => {
    readView();
    viewers.forEach(viewer => viewer());
    if (view.band) goTo(view.band);
  });
  const compare = read("compare");
  if (compare) document.body.append(comparePage(compare, read("spreads")));
  else await reportPage();
  applyStage();
  if (view.band) goTo(view.band);
  document.body.dataset.drawn = "1";
}

start();

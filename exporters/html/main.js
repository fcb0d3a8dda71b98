// The page, from above.

function applyTheme() {
  if (view.theme) document.documentElement.dataset.theme = view.theme;
  else delete document.documentElement.dataset.theme;
}

function applyStage() {
  light(view.stage || null);
  for (const node of document.querySelectorAll("button.stage"))
    node.setAttribute("aria-pressed",
      String(node.dataset.stage === view.stage));
}

function start() {
  readView();
  applyTheme();
  const data = loadData();
  assignColours(data.answer.filter(row => !row.inside && !isWaiting(row))
    .slice(0, PALETTE.length).map(row => row.name),
  data.stages.map(row => row.name));
  if (data.words.ran) document.title = data.words.ran.trim().split(/ {3,}/)[0];
  const main = el("main", null, headBand(data), answerBand(data),
    timeBand(data), trustBand(data), tablesBand(data));
  document.body.append(main);
  onView(applyTheme);
  onView(applyStage);
  applyStage();
  if (view.band) goTo(view.band);
  addEventListener("hashchange", () => {
    readView();
    viewers.forEach(viewer => viewer());
    if (view.band) goTo(view.band);
  });
  addEventListener("beforeprint", () => document.body.classList.add("prints"));
  addEventListener("afterprint",
    () => document.body.classList.remove("prints"));
}

start();
document.body.dataset.drawn = "1";

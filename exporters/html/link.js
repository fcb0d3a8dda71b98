// The address behind '#' has the view, so a copied address shows the same. The
// view is the lit stage, the stretch of time, dark or light.
const view = {};
const viewers = [];

function readView() {
  const words = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(view)) delete view[key];
  for (const [key, value] of words) view[key] = value;
}

// setView({stage: "decode"}); null removes a word. `source` is not notified.
function setView(change, source) {
  for (const [key, value] of Object.entries(change)) {
    if (value === null || value === undefined || value === "") delete view[key];
    else view[key] = String(value);
  }
  const words = new URLSearchParams(view).toString();
  try {
    history.replaceState(null, "", words ? `#${words}` : location.pathname);
  } catch {
    // In a notebook's frame the page has no address of its own.
  }
  for (const viewer of viewers) if (viewer !== source) viewer();
}

function onView(viewer) {
  viewers.push(viewer);
}

// Makes `node` a mark of a stage: the pointer on any such mark lights all, a
// click pins them.
function ofStage(node, name) {
  node.dataset.stage = name;
  node.addEventListener("pointerenter", () => light(name));
  node.addEventListener("pointerleave", () => light(view.stage || null));
  return node;
}

function light(name) {
  document.body.classList.toggle("lit", Boolean(name));
  for (const node of document.querySelectorAll("[data-stage]"))
    node.classList.toggle("is-lit", node.dataset.stage === name);
}

function pin(name) {
  setView({stage: view.stage === name ? null : name});
}

// Where a long name has no room, its middle goes: names of one family begin
// and end alike.
const TAIL = 14;

function nameParts(name) {
  const letters = [...name];
  return letters.length <= 2 * TAIL ? name
    : [el("span.head", null, letters.slice(0, -TAIL).join("")),
      el("span.tail", null, letters.slice(-TAIL).join(""))];
}

// A name that can be pinned by pointer and by key.
function stageName(name, attributes) {
  return ofStage(el("button.stage", {type: "button", ...attributes,
    "aria-pressed": String(view.stage === name),
    onclick: () => pin(name)}, nameParts(name)), name);
}

async function copyText(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file has no clipboard in some browsers.
    const area = el("textarea", {"aria-hidden": "true"});
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = done ? "copied" : "not allowed";
  setTimeout(() => { button.textContent = before; }, 1500);
}

function copyButton(make) {
  const button = el("button.copy", {type: "button",
    onclick: () => copyText(make(), button)}, "copy as Markdown");
  return button;
}

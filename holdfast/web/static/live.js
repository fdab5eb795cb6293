// Keep a job's page up to date: follow its event stream, fetch the page again, and replace what
// changed. Without this module the page shows the same when it is loaded again.

const SETTLE_MS = 50;
const EVENT_PAUSE_MS = 250;
// Each reading asks the server for a page of entries: two a second are enough for a reader.
const LOG_PAUSE_MS = 500;
const FILES_MS = 1000;
const LONGEST_PAUSE_MS = 3000;
const LOOK_MS = 5000;
const AWAY_MS = 2000;
const SLOW_MS = 8000;
// A choice that takes longer says so; a note at once would only flash.
const NOTICED_MS = 400;
const GIVEN_UP_MS = 30000;
const watched = document.querySelector("[data-events]");

function regions(root) {
  return [...root.querySelectorAll("[data-live][id]")];
}

// The text as the server sent it: a region that its reader is using differs from it.
const shown = new Map(regions(document).map((region) => [region.id, region.innerHTML]));

function isInUse(region) {
  const active = document.activeElement;
  return region.contains(active) && active.matches("input, textarea, select");
}

function replace(region, fresh) {
  const open = new Set([...region.querySelectorAll("details[open][id]")].map((each) => each.id));
  const scrolled = [...region.querySelectorAll("[data-scroll][id]")].map((each) => [each.id, each.scrollLeft, each.scrollTop]);
  const focused = region.contains(document.activeElement) ? document.activeElement.id : "";
  region.replaceChildren(...[...fresh.childNodes].map((each) => document.importNode(each, true)));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const [id, left, top] of scrolled) document.getElementById(id)?.scrollTo(left, top);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export function adopt(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const source of regions(fresh)) {
    const target = document.getElementById(source.id);
    if (!target || shown.get(source.id) === source.innerHTML || isInUse(target)) continue;
    // A page that was asked for earlier must not take away entries that came by themselves.
    if (Number(source.dataset.newest) < Number(target.dataset.newest)) continue;
    if (source.dataset.newest) target.dataset.newest = source.dataset.newest;
    shown.set(source.id, source.innerHTML);
    replace(target, source);
  }
  // A part that had nothing to show when the page was loaded.
  for (const source of fresh.querySelectorAll("[data-shown][id]")) {
    document.getElementById(source.id)?.toggleAttribute("hidden", source.hidden);
  }
  return fresh;
}

// What the server says of a request that it could not answer: PostgreSQL is away, for example.
class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

// What was shown was removed, or is not for this reader: asking again changes nothing.
function isGone(error) {
  return error instanceof Refused && (error.status === 404 || error.status === 403);
}

// What the page asks for by itself has a limit of its own; see page_polls.py.
const POLL = { "Holdfast-Poll": "yes" };

export async function load(address, headers = {}) {
  const answer = await fetch(address, {
    headers: { Accept: "text/html", ...headers },
    redirect: "follow",
    // After a sleep or behind a lost network, a connection may stay silent for ever.
    signal: AbortSignal.timeout(GIVEN_UP_MS),
  });
  if (answer.status === 401) location.reload();
  const text = await answer.text();
  if (answer.ok) return text;
  const page = new DOMParser().parseFromString(text, "text/html");
  throw new Refused(page.querySelector("[role=alert] p")?.textContent.trim() ?? "", answer.status);
}

function awayWords(error) {
  if (isGone(error) && !error.message) return "This page is not there any more.";
  return error instanceof Refused && error.message ? `${error.message}.` : "The server does not answer.";
}

function say(text) {
  let note = document.getElementById("connection");
  if (!text) return note?.remove();
  if (!note) {
    note = document.createElement("p");
    note.id = "connection";
    note.className = "note weak";
    note.setAttribute("role", "status");
    document.body.append(note);
  }
  note.textContent = text;
}

let pending = 0;
let isLoading = false;
let isWanted = false;
let wasEnded = false;
let isStopped = false;
let source;
// A large page is fetched less often: at most half of the time goes into fetching it. The first
// event after a pause is shown at once; those that follow wait for the next fetch together.
let pause = EVENT_PAUSE_MS;
let loadedAt = -Infinity;

function refreshSoon(after = 0) {
  if (isStopped) return;
  if (isLoading) {
    isWanted = true;
    return;
  }
  const least = document.hidden ? LONGEST_PAUSE_MS : pause;
  const wait = Math.max(SETTLE_MS, after, loadedAt + least - performance.now());
  pending ||= setTimeout(refresh, wait);
}

async function refresh() {
  pending = 0;
  isLoading = true;
  isWanted = false;
  let again = null;
  const began = performance.now();
  const slow = setTimeout(() => say("The server has not answered yet. The job goes on; this page waits."), SLOW_MS);
  try {
    const address = addressWithoutFragment();
    const text = await load(address, POLL);
    // What a reader has chosen meanwhile must not give way to the page as it was before.
    if (address === addressWithoutFragment()) {
      const fresh = adopt(text);
      const now = fresh.querySelector("[data-events]");
      if (now) watched.dataset.over = now.dataset.over;
      wasEnded = watched.dataset.over === "yes";
      document.title = fresh.title;
    } else {
      isWanted = true;
    }
    pause = Math.min(Math.max(EVENT_PAUSE_MS, performance.now() - began), LONGEST_PAUSE_MS);
    if (!choicesUnderWay) say("");
  } catch (error) {
    if (isGone(error)) {
      isStopped = true;
      isWanted = false;
      source?.close();
      say(awayWords(error));
    } else {
      const isPassing = !(error instanceof Refused) || error.status === 503;
      say(`${awayWords(error)} ${isPassing ? "Nothing is lost: the job goes on, and this" : "This"} page tries again every 2 seconds.`);
      again = AWAY_MS;
    }
  } finally {
    clearTimeout(slow);
    isLoading = false;
    loadedAt = performance.now();
    if (again !== null || isWanted) refreshSoon(again ?? 0);
  }
}

let isLogLoading = false;
let isLogWanted = false;

// The newest entries of the log come before the page: they are small, and a large page takes long.
async function refreshLog() {
  if (isStopped || document.hidden) return;
  if (isLogLoading) {
    isLogWanted = true;
    return;
  }
  isLogLoading = true;
  do {
    isLogWanted = false;
    try {
      adopt(await load(watched.dataset.entries, POLL));
    } catch {
      // The page is fetched as well, and says what is away.
    }
    await new Promise((done) => setTimeout(done, LOG_PAUSE_MS));
  } while (isLogWanted && !isStopped);
  isLogLoading = false;
}

function follow() {
  if (isStopped) return;
  source?.close();
  source = new EventSource(`${watched.dataset.events}?after=${watched.dataset.after}`);
  const received = (event) => {
    if (event.lastEventId) watched.dataset.after = event.lastEventId;
    refreshLog();
    refreshSoon();
  };
  for (const kind of watched.dataset.kinds.split(" ")) source.addEventListener(kind, received);
  source.addEventListener("end", () => { source.close(); refreshSoon(); });
  // A browser gives up after an error answer, such as that of a server whose database is away.
  source.addEventListener("error", () => {
    refreshSoon();
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, AWAY_MS);
  });
}

if (watched) {
  wasEnded = watched.dataset.over === "yes";
  if (!wasEnded) follow();
  // What waits for a model or for Temporal changes without an entry in the log.
  setInterval(() => { if (!wasEnded && !document.hidden) refreshSoon(); }, LOOK_MS);
  const wake = () => {
    if (document.hidden) return;
    clearTimeout(pending);
    pending = 0;
    refreshSoon();
    if (!wasEnded && source?.readyState === EventSource.CLOSED) follow();
  };
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("online", wake);
  window.addEventListener("pagehide", () => source?.close());
  window.addEventListener("pageshow", (event) => { if (event.persisted && !wasEnded) follow(); });
}

// A page without a stream that waits for something to begin or to end: look again until it has.
async function lookAgain() {
  let isWaiting = true;
  if (!document.hidden) {
    try {
      isWaiting = Boolean(adopt(await load(location.href, POLL)).querySelector("[data-look-again]"));
      say("");
    } catch (error) {
      isWaiting = !isGone(error);
      say(`${awayWords(error)}${isWaiting ? " This page tries again every 3 seconds." : ""}`);
    }
  }
  if (isWaiting) setTimeout(lookAgain, LONGEST_PAUSE_MS);
}
if (document.querySelector("[data-look-again]")) setTimeout(lookAgain, LONGEST_PAUSE_MS);

// The quote in the middle of its passage.
function showQuote() {
  const [doc, quote] = [document.getElementById("doc"), document.getElementById("quote")];
  if (doc && quote) doc.scrollTop = quote.offsetTop - doc.offsetTop - doc.clientHeight / 3;
}
showQuote();

// A link to a place on the page, such as #downloads, changes the address but not what is shown.
function addressWithoutFragment() {
  return location.pathname + location.search;
}
let shownAddress = addressWithoutFragment();

// A link within a region that only chooses what the page shows: keep everything else still. Of two
// choices, the last one counts, whichever answer comes first.
let choices = 0;
let choicesUnderWay = 0;
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-choose]");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const address = link.href.baseVal ?? link.href;
  const choice = ++choices;
  choicesUnderWay++;
  const late = setTimeout(() => say("Loading what you chose…"), NOTICED_MS);
  try {
    const text = await load(address);
    if (choice !== choices) return;
    say("");
    history.pushState(null, "", address);
    shownAddress = addressWithoutFragment();
    adopt(text);
    showQuote();
    const target = document.getElementById(link.dataset.choose);
    target?.focus({ preventScroll: true });
    const place = target?.getBoundingClientRect();
    if (place && (place.top > innerHeight || place.bottom < 0)) target.scrollIntoView({ block: "start" });
  } catch {
    if (choice === choices) location.assign(address);
  } finally {
    choicesUnderWay--;
    clearTimeout(late);
  }
});
window.addEventListener("popstate", () => {
  if (addressWithoutFragment() !== shownAddress) location.reload();
});

// Files that are dropped anywhere on a form are added to the files in its field.
for (const form of document.querySelectorAll("form[data-drop]")) {
  const field = document.getElementById(form.dataset.drop);
  const mostBytes = Number(form.dataset.mostBytes);
  form.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
  form.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    const files = new Map([...field.files, ...event.dataTransfer.files].map((file) => [file.name, file]));
    const all = new DataTransfer();
    for (const file of files.values()) all.items.add(file);
    field.files = all.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
  // Say it at once: the server's refusal is seen only after the browser has sent the whole form.
  field.addEventListener("change", () => {
    const bytes = [...field.files].reduce((sum, file) => sum + file.size, 0);
    // The form itself adds a little for each file.
    const isTooMuch = bytes + 500 * field.files.length + 100000 > mostBytes;
    field.setCustomValidity(isTooMuch ? `These files have ${Math.ceil(bytes / 1e6)} MB, and one question takes ${Math.floor(mostBytes / 1e6)} MB: choose fewer.` : "");
    if (isTooMuch) field.reportValidity();
  });
}

// A question whose files are being read: say how far they are, and ask when they are read.
const reading = document.querySelector("[data-files]");
let isEdited = false;
async function askWhenRead(form) {
  let wait = 0;
  try {
    if (adopt(await load(reading.dataset.files, POLL)).querySelector("[data-look-again]")) wait = FILES_MS;
    say("");
  } catch (error) {
    if (isGone(error)) return say(awayWords(error));
    wait = LONGEST_PAUSE_MS;
    say(`${awayWords(error)} This page tries again every 3 seconds.`);
  }
  if (wait) return setTimeout(() => askWhenRead(form), wait);
  // A user who has changed the form meanwhile asks with the button.
  if (isEdited) reading.textContent = "Your files are read. Ask when you like.";
  else form.requestSubmit();
}
if (reading) {
  const form = document.querySelector("form[data-drop]");
  reading.append(" The question is asked when they are read.");
  for (const kind of ["input", "change"]) form.addEventListener(kind, () => { isEdited = true; });
  askWhenRead(form);
}

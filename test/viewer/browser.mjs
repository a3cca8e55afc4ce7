// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Opens pages in Chromium, uses them as a reader would, and prints TAP.
//	node test/viewer/browser.mjs PACKAGES CHROMIUM DIRECTORY
// DIRECTORY contains real.html, with real.json of ktrace summary and why.json, and the files of pages.js.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const [packages, chromium, folder] = process.argv.slice(2);
const playwright = createRequire(path.resolve(packages, "package.json"))("playwright-core");
const patience = 120000;
const browser = await playwright.chromium.launch({ executablePath: chromium, timeout: patience,
	args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"] });
let count = 0;
let failed = 0;

function result(name, good, detail) {
	count++;
	failed += good ? 0 : 1;
	console.log((good ? "ok " : "not ok ") + count + " - " + name + (good ? "" : "\n# " + detail));
}

function equal(name, wanted, found) {
	const [a, b] = [JSON.stringify(wanted), JSON.stringify(found)];
	result(name, a === b, "expected " + a + ", got " + b);
}

// Opens a page and waits until it has shown its data. `problems` collects messages and requests that must not occur.
async function open(file, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(patience);
	page.problems = [];
	page.on("console", (message) => page.problems.push("console: " + message.text()));
	page.on("pageerror", (error) => page.problems.push("error: " + error.message));
	page.on("dialog", (dialog) => (page.problems.push("dialog: " + dialog.message()), dialog.dismiss()));
	page.on("request", (request) => {
		if (!request.url().startsWith("file:"))
			page.problems.push("request: " + request.url());
	});
	if (options.before)
		await page.addInitScript(options.before);
	await page.goto("file://" + path.resolve(folder, file));
	await page.waitForSelector(options.until || "html[data-ready]", { state: "attached" });
	return page;
}

const view = (page) => page.evaluate(() => {
	const { from, length, selection, layout, marks, measure, theme } = ktrace.page.state;
	return { from, length, selected: selection && selection.kind, lane: selection?.lane?.key, i: selection?.i,
		event: selection?.event, first: layout.rows.find((row) => row.first)?.lane.key, marks: marks.length,
		measure: measure && measure.until - measure.from, theme, rows: layout.rows.length };
});

// Presses keys and returns the view before and after.
async function press(page, ...keys) {
	const before = await view(page);
	for (const key of keys)
		await page.keyboard.press(key);
	return [before, await view(page)];
}

const column = (page, table, number) => page.$$eval(table + " tbody tr", (rows, n) =>
	rows.map((row) => row.cells[n].textContent.replace(/\s/g, "")), number);

async function real() {
	const page = await open("real.html");
	const summary = JSON.parse(readFileSync(path.join(folder, "real.json"), "utf8"));
	await page.keyboard.press("2");
	const totals = Object.fromEntries(await page.$$eval("#totals tr", (rows) =>
		rows.map((row) => [row.cells[0].textContent, row.cells[1].textContent])));
	equal("totals equal ktrace summary", [String(summary.events), String(summary.lost_slots), String(summary.cpus)],
		[totals.events, totals["lost slots"], totals.CPUs]);
	equal("counts of events equal ktrace summary", summary.by_event.map((row) => row.event + row.records),
		await page.$$eval("#by-event tbody tr", (rows) => rows.map((row) => row.cells[0].textContent
			+ row.cells[1].textContent.replace(/\s/g, ""))));
	equal("counts of threads equal ktrace summary", summary.by_thread.map((row) => String(row.records)),
		await column(page, "#by-thread", 2));
	equal("counts of CPUs equal ktrace summary", summary.by_cpu.map((row) => String(row.records)),
		await column(page, "#by-cpu", 1));
	equal("the page contains each of these events", summary.by_event.map((row) => String(row.records)),
		await column(page, "#by-event", 2));
	const why = JSON.parse(readFileSync(path.join(folder, "why.json"), "utf8"));
	const lines = await page.$$eval("#verdict .evidence li", (list) => list.map((item) => item.textContent));
	result("the verdict has the lines of ktrace why", why.findings[0].evidence.every((line, i) =>
		lines[i].startsWith(line.trim())), JSON.stringify(lines));
	equal("all threads that the verdict names are on top", ["t5", "t6", "t7", "t8"], await page.evaluate(() =>
		ktrace.page.state.layout.culprits.map((lane) => lane.key)));
	await page.click("#verdict .evidence li:nth-child(3) button >> nth=0");
	const there = await view(page);
	equal("a thread in the verdict is shown, with the span of its wait", ["span", "t6"], [there.selected, there.lane]);
	await page.click("#verdict h2 button:has-text('event')");
	equal("so is the event that proves the verdict", why.findings[0].event, await page.evaluate(() =>
		ktrace.page.trace.events.idOf(ktrace.page.state.selection.event)));
	equal("a page of a real trace opens without a complaint", [], page.problems);
	await page.context().close();
}

async function hostile() {
	const page = await open("story.html");
	const name = "<img src=x onerror=alert(1)>";
	equal("no element is made of a hostile name", 0, await page.$$eval("img", (list) => list.length));
	const shows = async (text, place) =>
		result(text, (await page.textContent(place)).includes(name), "it is not there");
	await shows("the verdict shows the hostile name as text", "#verdict");
	await page.keyboard.press("2");
	await shows("a table shows the hostile name as text", "#by-thread");
	await page.keyboard.press("3");
	await shows("a flame graph shows the hostile name as text", "#body");
	await page.keyboard.press("2");
	equal("events in the page are counted", ["2", "2", "1"], await column(page, "#by-event", 2));
	equal("hostile names cause no message, dialog or request", [], page.problems);
	await page.context().close();
}

async function verdict() {
	const page = await open("story.html");
	equal("the first view shows the cause: a wait of the first thread", ["span", "t5", "t5"],
		await view(page).then((v) => [v.selected, v.lane, v.first]));
	const six = "thread 6 (<img src=x onerror=alert(1)>)";
	equal("the verdict shows which thread waits for which lock, and which thread holds it",
		"thread 5 (red) waits for beta held by " + six + " waits for alpha held by thread 5 (red)",
		await page.$$eval(".cycle > *", (parts) => parts.map((part) => part.textContent.replace(/ →/, "")).join(" ")));
	await page.keyboard.press("0");
	await page.click("#verdict .evidence li:nth-child(2) button:has-text('thread 6')");
	const held = await view(page);
	equal("a thread in the verdict selects the lock that it holds", ["span", "t6"], [held.selected, held.lane]);
	equal("an event that does not begin the span is not marked", 0,
		await page.$$eval("#body tr.now", (rows) => rows.length));
	const panel = await page.textContent("#body");
	result("the panel describes it", panel.includes("holds lock"), panel);
	await page.evaluate(() => ktrace.page.state.show(80e6, 1e6));
	await page.click("#verdict .evidence button:has-text('event 1.8')");
	const moved = await view(page);
	result("an event in the verdict moves the view to its time", moved.selected === "event" && moved.from <= 10e6
		&& moved.from + moved.length >= 10e6, JSON.stringify(moved));
	await page.focus("#lanes");
	await page.keyboard.press("v");
	equal("the verdict is reached with the keyboard", "verdict", await page.evaluate(() =>
		document.activeElement.closest("section")?.id));
	await page.context().close();
}

async function keyboard() {
	const page = await open("story.html");
	const check = async (name, keys, test) => {
		const [before, after] = await press(page, ...keys);
		result(name, test(before, after), JSON.stringify([before, after]));
	};
	await check("W zooms in", ["w"], (a, b) => b.length < a.length);
	await check("S zooms out", ["s"], (a, b) => b.length > a.length);
	await check("D moves right", ["d"], (a, b) => b.from > a.from);
	await check("A moves left", ["a"], (a, b) => b.from < a.from);
	await check("0 shows the whole trace", ["0"], (a, b) => b.from <= 0 && b.length >= 100e6);
	await check("F fits the selection", ["f"], (a, b) => b.length === 135e6 || b.from !== a.from);
	await check("G shows the next gap", ["g"], (a, b) => b.from < 3e6 && b.from + b.length > 2e6);
	equal("the loss is stated", "7 slots of CPU 1 were lost", (await page.textContent("#message")).trim());
	await check("Escape removes the selection", ["Escape"], (a, b) => a.selected && !b.selected);
	await check("down selects a row", ["ArrowDown"], (a, b) => b.lane === "t5");
	await check("right selects the next span", ["0", "ArrowRight"], (a, b) => b.i === a.i + 1);
	result("the selection is spoken", /red/.test(await page.textContent("#spoken")), await page.textContent("#spoken"));
	await check("E selects an event", ["e"], (a, b) => b.selected === "event");
	await check("P pins the lane", ["ArrowDown", "p"], (a, b) => b.rows >= a.rows);
	await check("C folds the lane", ["c"], (a, b) => b.rows < a.rows);
	await check("K sets a mark", ["k"], (a, b) => b.marks === 1);
	await check("K removes the mark", ["k"], (a, b) => b.marks === 0);
	await check("M measures the selection", ["m"], (a, b) => b.measure > 0);
	await check("T changes the colours", ["t"], (a, b) => a.theme !== b.theme);
	await page.keyboard.press("/");
	await page.keyboard.type("read");
	await page.keyboard.press("Enter");
	equal("a search selects what it found", "1 of 1", await page.textContent("#found"));
	await page.keyboard.press("Escape");
	await page.keyboard.press("l");
	await page.keyboard.type("red");
	equal("a filter leaves only lanes with this name", "t5", (await view(page)).first);
	await page.keyboard.press("Escape");
	await page.focus("#lanes");
	await page.keyboard.press("?");
	result("? shows the keys", await page.isVisible("dialog kbd"), "no dialog");
	await page.keyboard.press("Escape");
	result("Escape closes them", !await page.isVisible("dialog kbd"), "the dialog is open");
	equal("the keyboard causes no message", [], page.problems);
	await page.context().close();
}

async function mouse() {
	const page = await open("story.html");
	const box = await page.locator("#canvas").boundingBox();
	const drag = async () => {
		await page.mouse.move(box.x + 700, box.y + 180);
		await page.mouse.down();
		await page.mouse.move(box.x + 600, box.y + 180, { steps: 4 });
		await page.mouse.up();
	};
	const before = await view(page);
	await drag();
	const dragged = await view(page);
	result("a drag moves the view", dragged.from > before.from && dragged.length === before.length,
		JSON.stringify(dragged));
	await page.keyboard.down("Shift");
	await drag();
	await page.keyboard.up("Shift");
	const measured = await view(page);
	result("a drag with Shift measures", measured.measure > 0 && measured.from === dragged.from,
		JSON.stringify(measured));
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -200);
	await page.keyboard.up("Control");
	await page.waitForFunction((length) => ktrace.page.state.length < length, measured.length);
	result("the wheel with Ctrl zooms", true);
	await page.mouse.click(box.x + 700, box.y + 45);
	equal("a click selects a span", "span", (await view(page)).selected);
	await page.context().close();
}

async function address() {
	const page = await open("story.html");
	await page.evaluate(() => ktrace.page.state.show(3e6, 7e6));
	await press(page, "ArrowRight", "m", "c", "t");
	const before = await view(page);
	await page.waitForFunction(() => location.hash === ktrace.linkOf(ktrace.page.state));
	await page.reload();
	await page.waitForSelector("html[data-ready]", { state: "attached" });
	const after = await view(page);
	const short = (v) => [v.selected, v.lane, v.i, Math.round(v.from), v.rows, v.theme, v.measure];
	result("M measures the selection", before.measure > 0, JSON.stringify(before));
	equal("a reload keeps view, selection, measurement, folded lanes and theme", short(before), short(after));
	await page.context().close();
}

// Parts of story.html: the page without data, the head, and the block.
function storyParts() {
	const text = readFileSync(path.join(folder, "story.html"), "utf8");
	const element = (attribute) => text.match(new RegExp("<script [^>]*" + attribute + "[^>]*>([^<]*)"))[1];
	return { empty: text.replace(/<script id="ktrace-head[^]*?<script>/, "<script>"),
		head: JSON.parse(element("ktrace-head")), block: Buffer.from(element("ktrace-block"), "base64") };
}

// Opens a page whose data comes from a server. `answers` has, by path, functions of the query that return the body,
// or {status, body}. Other paths are absent.
async function serve(answers) {
	const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
	const page = await context.newPage();
	page.setDefaultTimeout(patience);
	if (answers.before)
		await context.addInitScript(answers.before);
	await context.route("**/*", async (route) => {
		const { pathname, searchParams } = new URL(route.request().url());
		const answer = await answers[pathname.replace("/token/", "")]?.(searchParams, page)
			?? { status: 404, body: "absent" };
		const { status, body } = answer.body ? answer : { status: 200, body: answer };
		return route.fulfill({ status, body, contentType: pathname === "/token/" ? "text/html" : "application/json" });
	});
	await page.goto("http://127.0.0.1:1/token/");
	return page;
}

// As ktrace open does for a trace that is sent whole.
async function served() {
	const { empty, head, block } = storyParts();
	const page = await serve({
		"": () => empty,
		head: () => JSON.stringify(head),
		blocks: (query) => query.get("n") === "0" ? block : undefined,
		event: (query) => query.get("id") === "1.8" && query.get("time") === "10000000" ? JSON.stringify({ id: "1.8",
			site: { address: "0x77001", function: "take", offset: 4, file: "lock.c", line: 7 } }) : undefined,
	});
	await page.waitForSelector("html[data-ready]", { state: "attached" });
	equal("data that comes from a server is shown", ["span", "t5"], await view(page).then((v) => [v.selected, v.lane]));
	equal("the end of the blocks is no complaint", "", (await page.textContent("#notes")).trim());
	await page.click("#verdict .evidence button:has-text('event 1.8')");
	await page.waitForSelector("#body >> text=take+4 (lock.c:7)");
	result("the server's source line of an event is shown", true);
	await page.context().close();
}

// The decisive wait is in the second block, which arrives when all timers of the page have run.
async function blocks() {
	const { empty, head, block } = storyParts();
	const page = await serve({
		before: () => {
			const later = globalThis.setTimeout;
			globalThis.setTimeout = (run) => later(run, 0);
		},
		"": () => empty,
		head: () => JSON.stringify({ ...head, end: 200e6 }),
		blocks: async (query, shown) => {
			if (query.get("n") === "0")
				return block;
			await shown.waitForFunction(() => ktrace.page.trace.events.count === 5);
			await shown.evaluate(() => new Promise((done) => setTimeout(done)));
			return query.get("n") === "1" ? readFileSync(path.join(folder, "later.bin")) : undefined;
		},
	});
	await page.waitForSelector("html[data-ready]", { state: "attached" });
	equal("the first view shows the cause in all blocks", ["t5", 150e6], await page.evaluate(() => {
		const { selection } = ktrace.page.state;
		return [selection.lane.key, selection.strip.begin[selection.i]];
	}));
	await page.context().close();
}

// As ktrace open does for a trace that is too long to be sent whole.
async function windows() {
	const { empty, head, block } = storyParts();
	const framed = (bytes) => Buffer.concat([Buffer.from(Uint32Array.of(bytes.length).buffer), bytes]);
	let asked = 0;
	let judged = 0;
	const page = await serve({
		"": () => empty,
		head: () => JSON.stringify({ ...head, whole: false, why: undefined, live: true, end: 100e6 + judged * 1e6 }),
		verdict: () => judged++ === 2 ? { status: 500, body: '{"error":"the answer took too long"}' }
			: JSON.stringify({ why: head.why, taken: null }),
		overview: () => framed(readFileSync(path.join(folder, "overview.bin"))),
		window: (query) => (asked++, query.get("until") - query.get("from") > 50e6
			? { status: 413, body: '{"error":"too many","events":12345}' } : framed(block)),
	});
	await page.waitForFunction(() => /zoom in/i.test(ktrace.page?.state.hint));
	equal("a part with too many events shows CPUs with the rate of events", "c0", (await view(page)).first);
	await page.evaluate(() => ktrace.page.state.show(0, 12e6));
	await page.waitForFunction(() => ktrace.page.trace.events.count === 5);
	equal("a smaller part shows threads and states", ["", 6], await page.evaluate(() =>
		[ktrace.page.state.hint, ktrace.page.trace.lanes.length]));
	const requests = asked;
	await page.evaluate(() => {
		ktrace.page.state.show(1e6, 10e6);
		return ktrace.page.windows.update();
	});
	equal("data that the page has is not requested again", requests, asked);
	await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("deadlock"));
	result("the verdict of a long trace comes later", true);
	await page.click("#live");
	await page.waitForFunction(() => /Run: ktrace why/.test(document.querySelector("#verdict").textContent));
	equal("a verdict that does not come: a sentence", "The verdict is missing: ktrace open answered: the answer took "
		+ "too long. Run: ktrace why story.ktrx", await page.textContent("#verdict"));
	result("a long trace is followed", await page.evaluate(() => ktrace.page.trace.end) >= 102e6, "the end stays");
	await page.context().close();
}

// As ktrace open does while the guest runs: each request of the page makes newer data.
async function live() {
	const { empty, head, block } = storyParts();
	let reads = 0;
	const page = await serve({
		"": () => (reads++, empty),
		head: () => JSON.stringify({ ...head, live: true, end: 100e6 + reads * 1e6 }),
		blocks: (query) => query.get("n") === "0" ? block : undefined,
	});
	await page.waitForSelector("html[data-ready]", { state: "attached" });
	const before = await view(page);
	await page.click("#live");
	await page.waitForFunction(() => ktrace.page.trace.end >= 103e6);
	const after = await view(page);
	result("the page follows a running guest", after.from > before.from && after.length === before.length,
		JSON.stringify([before, after]));
	equal("what was selected stays selected", [before.lane, before.i], [after.lane, after.i]);
	await page.keyboard.press("Shift+F");
	equal("it stops following", "false", await page.getAttribute("#live", "aria-pressed"));
	await page.context().close();
}

async function failures() {
	const old = await open("story.html", { before: () => delete globalThis.DecompressionStream,
		until: "#notes p:not(#loading)" });
	const sentence = await old.textContent("#notes");
	result("a browser that lacks a feature gets a sentence", /lacks DecompressionStream/.test(sentence), sentence);
	await old.context().close();
	const damaged = await open("damaged.html");
	result("a damaged block is reported", /block 1: /.test(await damaged.textContent("#notes")),
		await damaged.textContent("#notes"));
	equal("what is readable is shown", "t5", (await view(damaged)).first);
	await damaged.context().close();
	const redacted = await open("redacted.html");
	equal("a redacted page has the verdict; an event that is absent is no link",
		["deadlock The text is left out, because the page is redacted.", "1 event · 0 ns · loss unknown"],
		[(await redacted.textContent("#verdict h2")).replace("deadlock", "deadlock "),
			await redacted.textContent("#facts")]);
	await redacted.context().close();
	const dark = await open("story.html", { colorScheme: "dark" });
	equal("the colours follow the system", "dark", (await view(dark)).theme);
	await dark.context().close();
}

try {
	for (const run of [real, hostile, verdict, keyboard, mouse, address, served, blocks, windows, live, failures])
		await run();
} catch (error) {
	result("the test ends", false, String(error.stack).replace(/\n/g, "\n# "));
}
await browser.close();
console.log("1.." + count);
process.exit(failed ? 1 : 0);

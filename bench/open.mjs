// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Opens a page in Chromium as a reader would, and prints one line for each figure: NAME VALUE.
//	node bench/open.mjs PACKAGES CHROMIUM ADDRESS
// ADDRESS is that of `ktrace open`, or the path of a file that `ktrace html` wrote.
import { createRequire } from "node:module";
import path from "node:path";

const [packages, chromium, address] = process.argv.slice(2);
const served = address.startsWith("http:");
const moves = 30;
const playwright = createRequire(path.resolve(packages, "package.json"))("playwright-core");
const browser = await playwright.chromium.launch({ executablePath: chromium,
	args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"] });
const page = await (await browser.newContext({ viewport: { width: 1600, height: 1000 } })).newPage();
page.setDefaultTimeout(600000);
const print = (name, value) => console.log(name + " " + value);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const begin = performance.now();
await page.goto(served ? address : "file://" + path.resolve(address));
await page.waitForSelector("html[data-ready]", { state: "attached" });
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
print("usable", (performance.now() - begin).toFixed(0));
print("events", await page.evaluate(() => ktrace.page.trace.head.events));

// Changes the view several times. Returns, for each change, the time in ms to draw the frame after it.
const frames = await page.evaluate(async (count) => {
	const { state, drawing, overview } = ktrace.page;
	const times = [];
	for (let n = 0; n < count; n++) {
		n % 2 ? state.zoom(n % 20 < 10 ? 0.7 : 1 / 0.7, 0.4) : state.pan(n % 20 < 10 ? 0.1 : -0.1);
		const start = performance.now();
		drawing.draw();
		overview.draw();
		times.push(performance.now() - start);
		await new Promise((done) => requestAnimationFrame(done));
	}
	return times;
}, moves);
print("frame", median(frames).toFixed(1));

// For a long trace, shows time windows at different places and of different lengths. Returns for each window
// the time in ms until the server's answer has arrived, and the time until the answer is shown.
if (served) {
	const [answers, shown, events] = await page.evaluate(async (count) => {
		const { trace, windows, drawing, state } = ktrace.page;
		windows.loaded = { from: -Infinity, until: Infinity };	// the page requests nothing itself
		const length = (trace.end - trace.begin) * 10000 / trace.head.events;	// 10,000 events
		const lists = [[], [], []];
		for (let n = 0; n < count; n++) {
			const from = Math.floor(trace.begin + (trace.end - trace.begin - length) * ((n * 7) % count) / count);
			const start = performance.now();
			const { bytes } = await state.feed.window(from, Math.floor(from + length / (1 + n % 3)));
			lists[0].push(performance.now() - start);
			await windows.load(bytes);
			state.show(from, length);
			drawing.draw();
			lists[1].push(performance.now() - start);
			lists[2].push(trace.events.count);
		}
		return lists;
	}, moves);
	print("answer", median(answers).toFixed(0));
	print("shown", median(shown).toFixed(0));
	print("window", Math.max(...events));
}
print("memory", ((await page.evaluate(() => performance.memory.usedJSHeapSize)) / 1e6).toFixed(0));
if (served) {
	await page.waitForSelector("#verdict .badge");
	print("verdict", (performance.now() - begin).toFixed(0));
}
await browser.close();

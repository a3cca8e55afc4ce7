// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Prints how long Chromium needs to open a page, and to draw it while the view moves.
//	node test/viewer/bench.mjs PACKAGES CHROMIUM PAGE
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import path from "node:path";

const [packages, chromium, file] = process.argv.slice(2);
const playwright = createRequire(path.resolve(packages, "package.json"))("playwright-core");
const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1600, height: 1000 } })).newPage();
page.setDefaultTimeout(600000);

const session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" });
// Returns the CPU time in seconds that the page's thread has used. On a busy machine it is less than elapsed time.
const used = async () => {
	const { metrics } = await session.send("Performance.getMetrics");
	return metrics.find((metric) => metric.name === "TaskDuration").value;
};
const begin = performance.now();
await page.goto("file://" + path.resolve(file));
await page.waitForSelector("html[data-ready]", { state: "attached" });
const opened = performance.now() - begin;
const opening = await used();

// Draws `frames` frames, each after a change of the view; returns the times in ms that the page computed for each.
const measure = (change, frames) => page.evaluate(async ([source, count]) => {
	const { state, drawing, overview } = ktrace.page;
	const whole = state.trace.end - state.trace.begin;
	const step = { whole: (n) => state.show(-0.001 * n * whole, whole),
		zoom: (n) => state.zoom(n % 40 < 20 ? 0.75 : 1 / 0.75, 0.4),
		pan: (n) => state.pan(n % 60 < 30 ? 0.01 : -0.01) }[source];
	const times = [];
	for (let n = 0; n < count; n++) {
		step(n);
		const start = performance.now();
		drawing.draw();
		overview.draw();
		times.push(performance.now() - start);
		await new Promise((done) => requestAnimationFrame(done));
	}
	return times.sort((a, b) => a - b);
}, [change, frames]);

const events = await page.evaluate(() => ktrace.page.trace.events.count);
const megabytes = statSync(file).size / 1e6;
console.log(`page                ${megabytes.toFixed(1)} MB, ${events} events`);
console.log(`open                ${(opened / 1000).toFixed(2)} s, ${opening.toFixed(2)} s of CPU time`);
const changes = { "draw the whole": "whole", "draw while zooming": "zoom", "draw while panning": "pan" };
for (const [name, change] of Object.entries(changes)) {
	const start = await used();
	const times = await measure(change, 120);
	const cpu = (await used() - start) / 120 * 1000;
	const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
	console.log(name.padEnd(20) + `${at(0.5)} ms (median), ${at(0.95)} ms (95 %), ${at(1)} ms (longest); `
		+ `CPU time ${cpu.toFixed(1)} ms`);
}
const memory = await page.evaluate(() => performance.memory?.usedJSHeapSize);
console.log(`memory of the script ${(memory / 1e6).toFixed(0)} MB`);
await browser.close();

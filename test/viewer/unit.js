// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Unit tests of viewer/: decoding, level of detail, search, flame graphs, addresses. Prints TAP.
//	node test/viewer/unit.js
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const assert = require("node:assert");
const { Writer, Block } = require("./encode.js");
const { block, head, hostile, ms } = require("./story.js");

const folder = path.join(__dirname, "../../viewer");
const files = fs.readFileSync(path.join(folder, "files.list"), "utf8").trim().split("\n");
for (const file of files)
	require(path.join(folder, file));
const kt = globalThis.ktrace;

let count = 0;
let failed = 0;
let last = Promise.resolve();
process.exitCode = 1;	// unless all tests end

// Runs a test when the previous tests have ended. The test may return a promise.
function test(name, run) {
	last = last.then(run).then(() => console.log("ok " + ++count + " - " + name), (error) => {
		failed++;
		console.log("not ok " + ++count + " - " + name + "\n# " + String(error.stack).replace(/\n/g, "\n# "));
	});
}

function open(bytes = block().plain(), document = head) {
	const trace = new kt.Trace(document);
	kt.decodeBlock(new Uint8Array(bytes), trace, "block 0");
	trace.finish();
	for (const lane of trace.lanes) {
		lane.tint = 16;
		for (const row of lane.rows)
			for (const strip of row ? row.strips : [])
				kt.paintStrip(strip, trace);
	}
	return trace;
}

// Makes a strip of spans [begin, end).
function strip(spans) {
	const trace = new kt.Trace({ end: 1000 });
	const list = spans.map(([begin, end, kind]) => ({ begin, duration: end - begin, kind: kind ?? 1 }));
	const bytes = new Block().lanes([{ kind: 1, number: 1 }]).spans(0, 0, list).plain();
	kt.decodeBlock(new Uint8Array(bytes), trace, "block");
	trace.finish();
	const lane = trace.lane(1, 1);
	kt.paintStrip(lane.strip(0, 0), trace);
	return lane.strip(0, 0);
}

test("every file of the viewer is in files.list", () =>
	assert.deepStrictEqual([...files].sort(), fs.readdirSync(folder).filter((name) => name.endsWith(".js")).sort()));

test("integers of 1 to 10 bytes are read back", () => {
	for (const value of [0n, 1n, 127n, 128n, 300n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 64n - 1n]) {
		const bytes = new Uint8Array(new Writer().varint(value).bytes);
		assert.strictEqual(new kt.Reader(bytes).big(), value);
		assert.strictEqual(new kt.Reader(bytes).varint(), Number(value));
	}
	for (const value of [0, -1, 1, -64, 64, -(2 ** 40)])
		assert.strictEqual(new kt.Reader(new Uint8Array(new Writer().zigzag(value).bytes)).zigzag(), value);
});

test("an integer that does not end is refused", () => {
	for (const bytes of [[], [128], [255, 255], Array(11).fill(255)])
		for (const read of ["varint", "big"])
			assert.throws(() => new kt.Reader(new Uint8Array(bytes))[read](), kt.Damaged);
});

test("a count that exceeds the data is refused before memory is taken", () =>
	assert.throws(() => new kt.Reader(new Uint8Array(new Writer().varint(2n ** 50n).bytes)).count(1), kt.Damaged));

test("lanes, spans, arrows, gaps and events are decoded", () => {
	const trace = open();
	assert.deepStrictEqual(trace.notes, []);
	assert.strictEqual(trace.lanes.length, 6);
	assert.strictEqual(trace.lane(1, 6).name, hostile);
	assert.strictEqual(trace.lane(0, 0).strip(0, 0).count, 3);
	assert.deepStrictEqual(trace.gaps, [{ cpu: 1, begin: 2 * ms, end: 3 * ms, lost: 7 }]);
	assert.strictEqual(trace.arrows[0].to, trace.lane(1, 5));
	assert.strictEqual(trace.events.count, 5);
});

test("events are in the order of time, and found by their identifier", () => {
	const { events } = open();
	assert.deepStrictEqual([...events.time], [0, 1 * ms, 5 * ms, 10 * ms, 11 * ms]);
	assert.strictEqual(events.find("2.8"), 4);
	assert.strictEqual(events.idOf(2), "2.2");
	assert.strictEqual(events.find("2.9"), -1);
	assert.strictEqual(events.find("x"), -1);
});

test("fields have their names and kinds; 64 bits are exact; a missing field is left out", () => {
	const trace = open();
	assert.strictEqual(kt.fieldText(trace, 0), "next=5 (red) name=running");
	assert.strictEqual(kt.fieldText(trace, 1), "name=" + hostile);
	assert.strictEqual(kt.fieldText(trace, 2), "delay=-5");
	assert.strictEqual(kt.fieldText(trace, 3), "lock=0xffffffffffffffff");
	assert.strictEqual(kt.fieldText(trace, 4), "");
});

test("loss that is unknown is not said to be none; notes of the head are shown", () => {
	assert.strictEqual(kt.lossText({ lost: 0 }), "no slots lost");
	assert.strictEqual(kt.lossText({ lost: 7, lost_at_least: false }), "7 slots lost");
	assert.strictEqual(kt.lossText({ lost: 7, lost_at_least: true }), "at least 7 slots lost");
	assert.strictEqual(kt.lossText({ lost: 0, lost_at_least: true }), "loss unknown");
	assert.strictEqual(kt.lossText({ lost: null, lost_at_least: false }), "loss unknown");
	assert.deepStrictEqual(new kt.Trace({ types: [], notes: ["clocks"] }).notes, ["clocks"]);
});

test("the places that recorded an event have their names; lanes can get other names", () => {
	const bytes = Buffer.concat([block().plain(), new Block()
		.section(9, new Writer().varint(1).varint(0x1000).varint(7))
		.section(10, [2, 2, 2, 6, 1, 0x1000, 2, 0x2000, 0x1000].reduce((out, value) => out.varint(value), new Writer()))
		.section(2, [1, 4, 1, 5, 8, 0, 0].reduce((out, value) => out.varint(value), new Writer())).plain()]);
	const trace = open(bytes);
	assert.deepStrictEqual(trace.notes, []);
	assert.deepStrictEqual(trace.stackOf(2), ["read"]);
	assert.deepStrictEqual(trace.stackOf(4), ["0x2000", "read"]);
	assert.deepStrictEqual(trace.stackOf(0), []);
	assert.strictEqual(trace.lane(1, 5).name, "timer");
});

test("a thread whose id is used again has a lane of its own; another window uses the same lanes again", () => {
	const bytes = new Uint8Array(new Block().lanes([{ kind: 1, number: 7 }, { kind: 1, number: 7 }]).plain());
	const trace = open(bytes);
	const before = [...trace.lanes];
	assert.deepStrictEqual(before.map((lane) => lane.key), ["t7", "t7.2"]);
	assert.strictEqual(trace.lane(1, 7), before[1]);
	trace.restart();
	kt.decodeBlock(bytes, trace, "block");
	assert.deepStrictEqual(trace.lanes, before);
});

test("events of a ring that are out of order are put in order", () => {
	const bytes = new Block().lanes([{ kind: 0, number: 0 }]).events(0, 1, [5, 3, 9, 1].map((time, slot) =>
		({ time, slot, type: 1 }))).plain();
	const { events } = open(bytes);
	assert.deepStrictEqual([...events.time], [1, 3, 5, 9]);
	assert.strictEqual(events.idOf(0), "0.3");
});

test("a ring that several CPUs write, or that is in disorder, does not take quadratic time", () => {
	const parts = new Block().lanes([{ kind: 0, number: 0 }]);
	for (const cpu of [0, 1])
		parts.events(3, cpu + 1, Array.from({ length: 100000 }, (_, i) =>
			({ time: 2 * i + cpu, slot: 2 * i + cpu, type: 1 })));
	for (const cpu of Array(400).keys())
		parts.events(4, cpu + 1, Array.from({ length: 100 }, (_, i) =>
			({ time: 200000 - i, slot: cpu * 100 + i, type: 1 })));
	const { events } = open(parts.plain());
	assert.ok(events.time.every((time, i) => i === 0 || events.time[i - 1] <= time));
	assert.strictEqual(events.idOf(7), "3.7");
	assert.strictEqual(events.find("4.39999") < 0, false);
});

test("slots that do not ascend keep their numbers", () => {
	const slots = [1124936, 1124938, 1124935, 1124937, 0, 2 ** 40];
	const { events } = open(new Block().lanes([{ kind: 0, number: 0 }]).events(1, 1, slots.map((slot, time) =>
		({ time, slot, type: 1 }))).plain());
	assert.deepStrictEqual(slots.map((slot) => events.find("1." + slot)), [0, 1, 2, 3, 4, 5]);
	assert.strictEqual(new kt.Reader(new Uint8Array(new Writer().varint(2n ** 54n + 1n).bytes)).zigzag(), -(2 ** 53));
});

test("a damaged section is reported, and the sections after it are shown", () => {
	const bytes = new Block().lanes([{ kind: 0, number: 0 }]).section(3, new Writer().varint(9))
		.section(99, new Writer()).gaps([{ cpu: 1, begin: 5, duration: 1, lost: 2 }]).plain();
	const trace = open(bytes);
	assert.strictEqual(trace.notes.length, 1);
	assert.strictEqual(trace.gaps.length, 1);
});

test("every cut and every changed byte of a block leaves a trace that can be shown", () => {
	const whole = new Uint8Array(block().plain());
	for (let i = 0; i < whole.length; i++) {
		open(whole.subarray(0, i));
		for (const bit of [1, 0x80, 0xff]) {
			const changed = whole.slice();
			changed[i] ^= bit;
			const trace = open(changed);
			for (let event = 0; event < trace.events.count; event++)
				kt.fieldText(trace, event);
		}
	}
});

test("a span is found by its time", () => {
	const s = strip([[10, 20], [20, 30], [50, 60]]);
	assert.deepStrictEqual([5, 10, 19, 20, 35, 55, 60].map((time) => s.at(time)), [-1, 0, 0, 1, -1, 2, -1]);
	assert.strictEqual(s.firstFrom(21), 2);
	assert.strictEqual(s.firstAfter(25), 1);
});

test("the longest span of each range is found", () => {
	let seed = 7;
	const random = (limit) => (seed = (seed * 1103515245 + 12345) % 2147483648) % limit;
	let at = 0;
	const s = strip(Array.from({ length: 5000 }, () => [at += random(5), at += 1 + random(1000)]));
	for (let round = 0; round < 300; round++) {
		const from = random(4999);
		const until = from + 1 + random(5000 - from - 1);
		let best = from;
		for (let i = from; i < until; i++)
			if (s.end[i] - s.begin[i] > s.end[best] - s.begin[best])
				best = i;
		const found = s.longest(from, until);
		assert.strictEqual(s.end[found] - s.begin[found], s.end[best] - s.begin[best]);
	}
});

test("spans below a pixel are merged, and stay visible at every zoom", () => {
	const s = strip(Array.from({ length: 1000 }, (_, i) => [i * 1000, i * 1000 + 1]));
	for (const step of [1, 10, 1000, 20000, 1e6]) {
		const line = new Uint32Array(100).fill(0xffffffff);
		kt.scanSpans(line, s, 0, step, kt.colours("light"));
		assert.notStrictEqual(line[0], 0xffffffff, "step " + step);
	}
});

test("a merged pixel has the colour of the longest span", () => {
	const colours = kt.colours("light");
	const line = new Uint32Array(4).fill(colours.back);
	kt.scanSpans(line, strip([[0, 10, 3], [10, 99, 4], [99, 100, 3]]), 0, 100, colours);
	assert.strictEqual(line[0], kt.mix(colours.back, colours.pixels[4], 256));
	assert.strictEqual(line[1], colours.back);
});

test("all pixels of a line are within it", () => {
	const s = strip([[0, 1e9], [1e9, 1e9 + 5], [2e9, 9e9]]);
	for (const from of [-1e12, -10, 0, 5e8, 2e9, 1e12]) {
		const line = new Uint32Array(50);
		kt.scanSpans(line, s, from, 1e8, kt.colours("dark"));
		assert.strictEqual(line.length, 50);
	}
});

test("densities are drawn from times and from stored counts", () => {
	for (const draw of [(line) => kt.scanTimes(line, Float64Array.of(5, 6, 95), 0, 10, 0xff0000ff),
		(line) => kt.scanDensity(line, { width: 10, index: [0, 9], events: [2, 1] }, 0, 10, 0xff0000ff)]) {
		const line = new Uint32Array(10).fill(0xffffffff);
		draw(line);
		assert.deepStrictEqual([...line].map((pixel) => pixel !== 0xffffffff), [true, ...Array(8).fill(false), true]);
	}
});

test("lanes of the verdict are first, then CPUs, then threads; idle threads are folded", () => {
	const trace = open();
	const layout = new kt.Layout(trace);
	layout.culprits = [trace.lane(1, 6)];
	layout.update();
	assert.ok(layout.rows.some((row) => row.kind === "head" && row.group === "Idle threads"));
	const names = layout.rows.filter((row) => row.first).map((row) => row.lane.key);
	assert.deepStrictEqual(names, ["t6", "c0", "c1", "t5"]);
	layout.filter = "RED";
	layout.update();
	assert.deepStrictEqual(layout.rows.filter((row) => row.first).map((row) => row.lane.key), ["t5"]);
});

test("a flame graph contains all time of the chosen states once", () => {
	const trace = open();
	const on = kt.flameTree(trace, [1], 0, 100 * ms);
	assert.strictEqual(on.time, 18 * ms);
	assert.strictEqual(on.children.get("red").children.get("read").time, 2 * ms);
	const off = kt.flameTree(trace, [2, 3, 4, 5], 0, 100 * ms);
	assert.strictEqual(off.time, 181 * ms);
	assert.strictEqual(off.children.get("red").children.get("blocked").time, 90 * ms);
});

test("a wakeup belongs to the sleep that it ended", () => {
	const trace = open();
	const lane = trace.lane(1, 5);
	const own = (i) => kt.arrowsOf(trace, { kind: "span", lane, strip: lane.strip(0, 0), i });
	assert.strictEqual(own(1).length, 1);
	assert.strictEqual(own(0).length, 0);
});

test("what is open at the last event lasts until the trace was taken, at least", () => {
	const trace = open(block().plain(), { ...head, taken: 5000 * ms });
	assert.deepStrictEqual([trace.last, trace.end], [100 * ms, 5000 * ms]);
	const wait = trace.lane(1, 5).strip(3, 0);
	assert.strictEqual(kt.spanTime(wait, 0), "at least 4.990 s");
	const states = trace.lane(1, 5).strip(0, 0);
	assert.deepStrictEqual([...states.end], [4 * ms, 6 * ms, 10 * ms, 5000 * ms]);
	assert.strictEqual(kt.spanTime(states, 0), "4.000 ms");
	for (const taken of [undefined, null, 1, "x"])
		assert.strictEqual(open(block().plain(), { ...head, taken }).end, 100 * ms);
});

test("the cause is a wait that is open at the end, or the event that proves the problem", () => {
	const trace = open(block().plain(), { ...head, taken: 5000 * ms });
	const cause = (worst) => {
		const state = new kt.State(trace);
		kt.showCause(state, worst);
		assert.ok(state.from >= trace.begin - state.length * 0.06);
		assert.ok(state.from + state.length <= trace.end + state.length * 0.06);
		return state.selection;
	};
	const [finding] = head.why.findings;
	const wait = cause(finding);
	assert.deepStrictEqual([wait.strip.row, wait.strip.begin[wait.i]], [3, 10 * ms]);
	assert.strictEqual(cause({ ...finding, actors: [{ cpu: 0 }] }).event, 4);
	assert.strictEqual(cause({ ...finding, event: "9.9", actors: [] }), null);
	const short = new kt.State(open(new Block().lanes([{ kind: 1, number: 5 }]).spans(0, 0, [{ begin: 5, duration: 5,
		kind: 3 }, { begin: 10, duration: 5, kind: 1 }]).events(1, 0, [{ time: 7, slot: 3, type: 1 }]).plain()));
	kt.showCause(short, { event: "1.3", actors: [{ thread: 5 }] });
	assert.strictEqual(short.selection.kind, "event");
});

test("an address restores the view and the selection", () => {
	const trace = open();
	const state = new kt.State(trace);
	const lane = trace.lane(1, 5);
	state.show(5 * ms, 20 * ms);
	for (const selection of [{ kind: "span", lane, strip: lane.strip(3, 0), i: 0 }, { kind: "event", event: 4 },
		{ kind: "lane", lane }]) {
		state.select(selection);
		const other = new kt.State(trace);
		assert.ok(kt.openLink(other, kt.linkOf(state)));
		assert.strictEqual(kt.linkOf(other), kt.linkOf(state));
		assert.strictEqual(other.selection.kind, selection.kind);
	}
	for (const bad of ["", "#", "#t=x&d=1", "#t=1&d=-1", "#t=1&d=5&sel=s", "#t=1&d=5&sel=e9.9",
		"#t=1&d=5&sel=szz,1,2,3"])
		kt.openLink(new kt.State(trace), bad);
});

test("the view stays near the trace", () => {
	const state = new kt.State(open());
	for (const [from, length] of [[-1e15, 5], [1e15, 1e15], [0, 0], [NaN, 10]])
		state.show(from, length);
	state.show(1e15, 1e15);
	assert.ok(state.length <= 111 * ms && state.from <= 100 * ms);
});

test("times and numbers are printed as ktrace prints them", () => {
	assert.strictEqual(kt.time(1234567890), "1.234567890");
	assert.strictEqual(kt.time(5), "0.000000005");
	assert.deepStrictEqual([0, 7, 12345, 12345678, 9.5e9].map(kt.duration),
		["0 ns", "7 ns", "12.35 us", "12.35 ms", "9.500 s"]);
	assert.deepStrictEqual([kt.tick(0, 10), kt.tick(2e6, 1e6), kt.tick(2500, 500)], ["0", "2 ms", "2.5 us"]);
});

test("a rounded time has not more than nine digits, and a duration not more than 999 of its unit", () => {
	assert.strictEqual(kt.time(1999999999.6), "2.000000000");
	assert.deepStrictEqual([999999600, 999949, 999999].map(kt.duration), ["1.000 s", "999.9 us", "1.000 ms"]);
});

test("threads are grouped by process; a thousand forks do not take quadratic time", () => {
	const group = [1, 1, ...Array(65000).fill(0), 2];
	const trace = open(new Block().strings(["", "one", "two"]).lanes(group.map((text, number) =>
		({ kind: 1, number, group: text }))).plain());
	const layout = new kt.Layout(trace);
	layout.update();
	assert.deepStrictEqual(layout.rows.filter((row) => row.kind === "head").map((row) => row.title),
		["Threads (65001)", "Threads of one (2)"]);
});

test("times are ticks if the frequency of the clock is unknown", () => {
	kt.useTicks = true;
	const texts = [kt.duration(1234), kt.time(5), kt.moment(6)];
	kt.useTicks = false;
	assert.deepStrictEqual(texts.map((text) => text.replace(/\s/g, " ")), ["1 234 ticks", "5", "6 ticks"]);
});

require("./kept.js")(test, kt);
require("./follow.js")(test, kt);
require("./named.js")(test, kt, open);
require("./search.js")(test, kt, open);

last.then(() => {
	console.log("1.." + count);
	process.exitCode = failed ? 1 : 0;
});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Unit tests of viewer/search.js, of addresses, and of what the first view shows.
"use strict";
const assert = require("node:assert");
const { block, head, ms } = require("./story.js");

module.exports = function (test, kt, open) {
	test("a search finds spans, events, lanes, and an event by its identifier", () => {
		const trace = open();
		assert.deepStrictEqual(kt.search(trace, "read").map((hit) => hit.time), [1 * ms]);
		assert.strictEqual(kt.search(trace, "SCHED.SWITCH").length, 2);
		assert.strictEqual(kt.search(trace, "1.8")[0].event, 3);
		assert.ok(kt.search(trace, "<img").some((hit) => hit.lane === trace.lane(1, 6)));
		assert.deepStrictEqual(kt.search(trace, "absent"), []);
	});

	// Returns a search of `text` in the trace. Adds the times of the events that it selects to `selected`.
	function searchOf(trace, text, selected = []) {
		const selectEvent = (event) => selected.push(trace.events.time[event]);
		const state = { trace, from: 0, changed() {}, reveal() {}, selectEvent };
		const search = new kt.Search(state, { value: text, addEventListener() {} }, {});
		search.run();
		return search;
	}

	test("a step backward from no hit selects the last hit, and a step forward the first", () => {
		const trace = open();
		const times = kt.search(trace, "sched.switch").map((hit) => hit.time);
		const selected = [];
		const search = searchOf(trace, "sched.switch", selected);
		search.step(-1);
		assert.strictEqual(search.output.textContent, "2 of 2");
		search.step(-1);
		search.step(-1);
		search.step(1);
		assert.deepStrictEqual(selected, [times[1], times[0], times[1], times[0]]);
		searchOf(trace, "absent", selected).step(-1);
		searchOf(trace, "1.8", selected).step(-1);
		assert.deepStrictEqual(selected.slice(4), [trace.events.time[3]]);
		searchOf(trace, "sched.switch", selected).step(1);
		assert.deepStrictEqual(selected.slice(5), [times[0]]);
	});

	// Returns a long trace whose loaded part is that of open(). `sent` is the event that the server finds.
	function longSearch(text, sent) {
		const trace = open(undefined, { ...head, whole: false, events: 1000000 });
		const state = new kt.State(trace);
		const asked = [];
		state.feed = { search: async (where, from) => (asked.push(where, from), sent) };
		const windows = new kt.Windows(state, state.feed, () => null);
		windows.later = () => null;	// nothing is loaded except by the search
		Object.assign(windows, { loaded: { from: 0, until: 20 * ms }, request: async (from, until) => {
			const few = until - from < 1 * ms;	// otherwise the server refuses
			if (few)
				windows.loaded = { from, until };
			return few;
		} });
		const search = new kt.Search(state, { value: text, addEventListener() {} }, {});
		search.run();
		return { state, search, windows, asked };
	}

	// Returns an answer of the server that consists of one block.
	function bytesOf(compressed) {
		const bytes = Buffer.alloc(4 + compressed.length);
		bytes.writeUInt32LE(compressed.length);
		bytes.set(compressed, 4);
		return new Uint8Array(bytes);
	}

	// Runs the function while kt.say only stores the text.
	async function quietly(run) {
		const say = kt.say;
		let said;
		kt.say = (message) => said = message;
		try {
			await run();
		} finally {
			kt.say = say;
		}
		return said;
	}

	test("a search of a long trace continues after the part that is loaded", async () => {
		const { state, search, windows, asked } = longSearch("wake", { id: "2.2", time: 50 * ms });
		assert.match(search.output.textContent, /^0 of 1 in this part/);
		search.step(1);
		assert.deepStrictEqual([state.selection.event, asked], [2, []]);
		await quietly(() => search.further(windows));
		assert.deepStrictEqual(asked, ['event ~ "*wake*"', 20 * ms]);
		assert.ok(windows.loaded.from < 50 * ms && windows.loaded.until - windows.loaded.from < 1 * ms);
		assert.deepStrictEqual([state.selection.event, search.at], [2, 0]);
	});

	test("a search of a long trace asks only for names that the trace has", async () => {
		const { search, windows, asked } = longSearch("absent", null);
		assert.match(search.output.textContent, /^nothing found in this part/);
		assert.match(await quietly(() => search.further(windows)), /no event/i);
		assert.deepStrictEqual(asked, []);
	});

	test("after other data was loaded, a search has no hits of the old data", () => {
		const trace = open();
		const search = searchOf(trace, "sched.switch");
		search.step(1);
		search.renew();
		assert.strictEqual(search.output.textContent, "1 of 2");
		trace.restart();
		trace.finish();
		search.renew();
		assert.deepStrictEqual([search.state.found, search.at], [[], -1]);
	});

	test("a selection in an address is selected as soon as a long trace has loaded it", async () => {
		const { state, windows } = longSearch("", null);
		const { trace } = state;
		trace.restart();
		trace.finish();
		kt.openLink(state, "#t=0&d=5&sel=e1.8");
		assert.strictEqual(state.selection, null);
		await windows.load(new Uint8Array(), windows.number, true);
		assert.strictEqual(state.selection, null);
		Object.assign(windows, { refresh: () => trace.finish() });
		await windows.load(bytesOf(block().compressed()), windows.number);
		assert.strictEqual(trace.events.idOf(state.selection.event), "1.8");
	});

	test("a selection in an address is not selected after other data was loaded", async () => {
		const { state, windows } = longSearch("", null);
		const { trace } = state;
		Object.assign(windows, { refresh: () => trace.finish() });
		trace.restart();
		trace.finish();
		kt.openLink(state, "#t=0&d=5&sel=e1.8");
		await windows.load(new Uint8Array(), windows.number);
		await windows.load(bytesOf(block().compressed()), windows.number);
		assert.strictEqual(state.selection, null);
	});

	test("the first view shows a problem, or else a note about a thread", () => {
		const finding = (mark, ...actors) => ({ mark, actors });
		const [idle, note, slow, wrong] = [finding("ok", 1), finding("note"), finding("note", 2), finding("wrong")];
		assert.strictEqual(kt.worstOf([idle, note, slow, wrong]), wrong);
		assert.strictEqual(kt.worstOf([idle, note, slow]), slow);
		assert.strictEqual(kt.worstOf([idle, note]), undefined);
	});

	test("an address contains the marks and the filter of lanes", () => {
		const state = new kt.State(open());
		state.marks = [3 * ms, 7 * ms];
		state.layout.filter = "red & blue";
		const other = new kt.State(open());
		assert.ok(kt.openLink(other, kt.linkOf(state)));
		assert.deepStrictEqual([other.marks, other.layout.filter], [state.marks, state.layout.filter]);
		kt.openLink(other, "#t=0&d=5&marks=x NaN 1e999");
		assert.deepStrictEqual(other.marks, []);
	});

	test("an address contains the measurement", () => {
		const state = new kt.State(open());
		assert.doesNotMatch(kt.linkOf(state), /measure/);
		state.measure = { from: 3 * ms, until: 7 * ms };
		const other = new kt.State(open());
		assert.ok(kt.openLink(other, kt.linkOf(state)));
		assert.deepStrictEqual(other.measure, state.measure);
		for (const bad of ["", "5", "x y", "7 3", "1 1e999", "1 2 3"]) {
			kt.openLink(other, "#t=0&d=5&measure=" + encodeURIComponent(bad));
			assert.strictEqual(other.measure, null);
		}
	});

	test("an address contains the theme if the reader chose one, and the folded lanes and groups", () => {
		const state = new kt.State(open());
		const link = kt.linkOf(state);
		assert.doesNotMatch(link, /theme|fold/);
		state.chooseTheme("dark");
		state.layout.folded = new Set(["t5", 'Threads of <&"=>']);
		const other = new kt.State(open());
		assert.ok(kt.openLink(other, kt.linkOf(state)));
		assert.deepStrictEqual([other.theme, other.layout.folded], ["dark", state.layout.folded]);
		assert.strictEqual(kt.linkOf(other), kt.linkOf(state));
		kt.openLink(other, link);
		assert.deepStrictEqual(other.layout.folded, new kt.State(open()).layout.folded);
		for (const bad of ["[", "{}", "[1]", "null"])
			kt.openLink(other, "#t=0&d=5&theme=%3Cb%3E&fold=" + encodeURIComponent(bad));
		assert.deepStrictEqual([other.theme, [...other.layout.folded].filter((key) => typeof key !== "string")],
			["dark", []]);
	});
};

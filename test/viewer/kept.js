// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Unit tests of viewer/keep.js: what the page of a running guest keeps when newer data replaces older data.
"use strict";
const assert = require("node:assert");
const { Block } = require("./encode.js");

module.exports = function (test, kt) {
	// What the page of a running guest has: `spans` of a thread, and its events, one every 20 ns, in `slots` of a ring.
	// `gap` is the end of what was overwritten, and the number of its slots.
	function readGuest(trace, { from, slots, gap, spans, thread, ...run }) {
		const names = ["", "sleeping" + from, "text" + from];	// the numbers of strings differ
		const list = slots.map((slot) => ({ time: slot * 20, type: 1, lane: 2, slot, present: 1, values: [2] }));
		const bytes = new Block().strings(names)
			.lanes([{ kind: 0, number: 0 }, { kind: 1, number: thread ?? 5, name: 2 }])
			.spans(1, 0, spans.map(([begin, end, kind, flags]) => ({ begin, duration: end - begin, kind, flags })))
			.gaps(gap ? [{ cpu: 1, begin: 0, duration: gap[0], lost: gap[1] }] : []).events(1, 1, list).plain();
		const old = trace.events.count ? kt.keptTake(trace) : null;
		trace.takeHead({ begin: slots[0] * 20, end: slots.at(-1) * 20, base: run.base ?? "7",
			summary: { nonce: run.nonce ?? 1 },
			types: [{ id: 1, name: "note", fields: [{ name: "text", kind: "text" }] }] });
		trace.restart();
		kt.decodeBlock(new Uint8Array(bytes), trace, "a block");
		const joined = old && kt.keptJoin(trace, old);
		trace.finish();
		return joined;
	}

	function guest() {
		const trace = new kt.Trace({ begin: 0, end: 100 });
		readGuest(trace, { from: "a", slots: [0, 1, 2, 3, 4, 5], spans: [[0, 40, 1], [40, 100, 3, 2]] });
		return trace;
	}

	const states = (trace) => {
		const { begin, end, kind, flags } = trace.lane(1, 5).strip(0, 0);
		return Array.from(begin, (time, i) => [time, end[i], kind[i], flags[i]]);
	};

	test("events that the guest has overwritten stay, and a state lasts until the next one", () => {
		const trace = guest();
		readGuest(trace, { from: "b", slots: [4, 5, 6, 7, 8], gap: [80, 4], spans: [[140, 160, 1, 2]] });
		assert.deepStrictEqual(Array.from(trace.events.time), [0, 20, 40, 60, 80, 100, 120, 140, 160]);
		assert.deepStrictEqual(states(trace), [[0, 40, 1, 0], [40, 140, 3, 0], [140, 160, 1, 2]]);
		assert.deepStrictEqual(trace.gaps, []);
		assert.deepStrictEqual([0, 8].map((event) => trace.events.fields(event, trace.types)[0].text),
			["texta", "textb"]);
		assert.strictEqual(trace.begin, 0);
	});

	test("what was overwritten before it was read is a gap, and no span crosses it", () => {
		const trace = guest();
		readGuest(trace, { from: "b", slots: [20, 21], gap: [400, 20], spans: [[400, 420, 1, 2]] });
		assert.deepStrictEqual(trace.gaps.map(({ cpu, begin, end, lost }) => [cpu, begin, end, lost]),
			[[0, 100, 400, 14]]);
		assert.deepStrictEqual(states(trace), [[0, 40, 1, 0], [40, 100, 3, 2], [400, 420, 1, 2]]);
		readGuest(trace, { from: "c", slots: [21, 22], gap: [420, 21], spans: [[400, 440, 1, 3]] });
		assert.deepStrictEqual(trace.gaps.map(({ begin, end }) => [begin, end]), [[100, 400]]);
		assert.deepStrictEqual(states(trace), [[0, 40, 1, 0], [40, 100, 3, 2], [400, 440, 1, 2]]);
	});

	test("a thread of which newer data has nothing stays", () => {
		const trace = guest();
		readGuest(trace, { from: "b", slots: [4, 5, 6], gap: [80, 4], spans: [[80, 120, 1, 2]], thread: 6 });
		assert.deepStrictEqual(states(trace), [[0, 40, 1, 0], [40, 120, 3, 2]]);
		assert.strictEqual(trace.lane(1, 6).strip(0, 0).count, 1);
	});

	test("a guest that has started again is shown alone", () => {
		const trace = guest();
		assert.strictEqual(readGuest(trace, { from: "b", slots: [0, 1], spans: [[0, 20, 1, 2]] }), false);
		assert.deepStrictEqual([trace.events.count, states(trace)], [2, [[0, 20, 1, 2]]]);
	});

	test("the first events of a guest, which give it its time 0, do not look like another run", () => {
		const trace = new kt.Trace({ begin: 0, end: 0, base: "0", summary: { nonce: 1 } });
		const old = kt.keptTake(trace);
		readGuest(trace, { from: "a", slots: [0, 1], spans: [[0, 20, 1, 2]] });
		assert.strictEqual(kt.keptJoin(trace, old), true);
		assert.deepStrictEqual([trace.events.count, states(trace)], [2, [[0, 20, 1, 2]]]);
	});

	test("a guest that has started again is shown alone, even if its times and slots continue", () => {
		for (const run of [{ nonce: 2 }, { base: "8" }]) {
			const trace = guest();
			assert.strictEqual(readGuest(trace, { from: "b", slots: [4, 5, 6, 7], gap: [80, 4], ...run,
				spans: [[100, 140, 1, 2]] }), false);
			assert.deepStrictEqual([trace.events.count, states(trace)], [4, [[100, 140, 1, 2]]]);
		}
	});
};

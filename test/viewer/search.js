// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Unit tests of viewer/search.js.
"use strict";
const assert = require("node:assert");
const { ms } = require("./story.js");

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
};

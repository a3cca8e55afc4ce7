// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A small trace for tests: two threads that wait for each other's locks, on two CPUs.
"use strict";
const { Block } = require("./encode.js");

const hostile = "<img src=x onerror=alert(1)>";
const ms = 1e6;
const strings = ["", "idle/0", "idle/1", "red", hostile, "alpha", "beta", "read", "timer", "running", "sleeping"];

function block() {
	const state = (spans) => spans.map(([begin, duration, kind, flags]) =>
		({ begin: begin * ms, duration: duration * ms, kind, flags, ring: 1, slot: begin }));
	return new Block().strings(strings)
		.lanes([{ kind: 0, number: 0 }, { kind: 0, number: 1 }, { kind: 1, number: 2, name: 1, flags: 1 },
			{ kind: 1, number: 3, name: 2, flags: 1 }, { kind: 1, number: 5, name: 3 },
			{ kind: 1, number: 6, name: 4 }])
		.spans(0, 0, [{ begin: 0, duration: 4 * ms, name: 3, kind: 1, other: 5, ring: 1, slot: 1 },
			{ begin: 6 * ms, duration: 4 * ms, name: 3, kind: 1, other: 5, ring: 1, slot: 4 },
			{ begin: 10 * ms, duration: 90 * ms, name: 1, kind: 8, other: 3, ring: 1, slot: 8, flags: 2 }])
		.spans(1, 0, [{ begin: 1 * ms, duration: 10 * ms, name: 4, kind: 1, other: 6, ring: 2, slot: 1 },
			{ begin: 11 * ms, duration: 89 * ms, name: 2, kind: 8, other: 4, ring: 2, slot: 8, flags: 2 }])
		.spans(0, 1, [{ begin: 5 * ms, duration: 1 * ms, name: 8, kind: 11 }])
		.spans(4, 0, state([[0, 4, 1], [4, 2, 3], [6, 4, 1], [10, 90, 4, 2]]))
		.spans(5, 0, state([[1, 10, 1], [11, 89, 4, 2]]))
		.spans(4, 1, [{ begin: 1 * ms, duration: 2 * ms, name: 7, kind: 10 }])
		.spans(4, 2, [{ begin: 7 * ms, duration: 93 * ms, name: 5, kind: 14, flags: 2 }])
		.spans(4, 3, [{ begin: 10 * ms, duration: 90 * ms, name: 6, kind: 13, other: 6, flags: 2 }])
		.spans(5, 2, [{ begin: 8 * ms, duration: 92 * ms, name: 6, kind: 14, flags: 2 }])
		.spans(5, 3, [{ begin: 11 * ms, duration: 89 * ms, name: 5, kind: 13, other: 5, flags: 2 }])
		.arrows([{ time: 5 * ms, from: 5, to: 4, length: 1 * ms, ring: 2, slot: 2 }])
		.gaps([{ cpu: 2, begin: 2 * ms, duration: 1 * ms, lost: 7 }])
		.events(1, 1, [{ time: 0, type: 1, lane: 5, slot: 1, present: 3, values: [5, 9] },
			{ time: 10 * ms, type: 2, lane: 5, slot: 8, present: 1, values: [2n ** 64n - 1n] }])
		.events(2, 2, [{ time: 1 * ms, type: 1, lane: 6, slot: 1, present: 2, values: [4] },
			{ time: 5 * ms, type: 3, lane: 6, slot: 2, present: 1, values: [9] },
			{ time: 11 * ms, type: 2, lane: 6, slot: 8, present: 0 }]);
}

const head = {
	schema: "ktrace-page/1", kernel: "story", machine: "x86_64", file: "story.ktrx", live: false, whole: true,
	begin: 0, end: 100 * ms, events: 5, lost: 7, version: "ktrace test", notes: [],
	types: [{ id: 1, name: "sched.switch", category: "sched", fields: [{ name: "next", kind: "thread" },
		{ name: "name", kind: "text" }] },
	{ id: 2, name: "lock.contend", category: "lock", fields: [{ name: "lock", kind: "hex" }] },
	{ id: 3, name: "sched.wake", category: "sched", fields: [{ name: "delay", kind: "signed" }] }],
	summary: { events: 5, lost_slots: 7, cpus: 2, seconds: 0.011, kernel: "story", machine: "x86_64",
		outcome: "running",
		by_event: [{ id: 1, event: "sched.switch", records: 2 }, { id: 2, event: "lock.contend", records: 2 },
			{ id: 3, event: "sched.wake", records: 1 }],
		by_thread: [{ thread: 5, name: "red", records: 2 }, { thread: 6, name: hostile, records: 3 }],
		by_cpu: [{ cpu: 0, records: 2 }, { cpu: 1, records: 3 }] },
	why: { verdict: "deadlock", findings: [{ mark: "wrong", verdict: "deadlock", sure: "certain",
		text: "thread 5 (red) and thread 6 (" + hostile + ") have waited 89.0 ms for each other",
		evidence: ["thread 5 (red) has waited 90.0 ms for lock beta (0xb000), at 0x77010",
			"  held by thread 6 for about 92.0 ms, taken at 0x77001"],
		events: ["1.8", null], event: "2.8",
		actors: [{ text: "thread 5 (red)", cpu: null, thread: 5, holds: { address: "0xa000", name: "alpha" },
			waits: { address: "0xb000", name: "beta" } },
		{ text: "thread 6 (" + hostile + ")", cpu: null, thread: 6, holds: { address: "0xb000", name: "beta" },
			waits: { address: "0xa000", name: "alpha" } }] }] },
};

module.exports = { block, head, hostile, strings, ms };

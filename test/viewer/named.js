// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Unit tests of viewer/names.js: the names of the numbers in events.
"use strict";
const assert = require("node:assert");
const { Block } = require("./encode.js");

const types = [["lock.contend", ["lock", "hex"], ["name", "text"]], ["lock.release", ["lock", "hex"]],
	["irq.enter", ["irq", "unsigned"], ["name", "text"]], ["irq.exit", ["irq", "unsigned"]],
	["syscall.exit", ["nr", "unsigned"]], ["sched.wake", ["thread", "unsigned"], ["ip", "hex"]]]
	.map(([name, ...fields], id) => ({ id, name, fields: fields.map(([field, kind]) => ({ name: field, kind })) }));

module.exports = function (test, kt, open) {
	// Returns the fields of events, each of which has its place in the list as its time.
	function texts(...list) {
		const events = list.map(([type, ...values], time) => ({ time, type, lane: 1, slot: time,
			present: 2 ** values.length - 1, values }));
		const trace = open(new Block().strings(["", "inode", "timer", "worker", "read"])
			.lanes([{ kind: 1, number: 5, name: 3 }])
			.spans(0, 1, [{ begin: 0, duration: 2, name: 4, kind: 10 }]).events(1, 1, events).plain(),
		{ begin: 0, end: 100, types });
		return events.map((_, event) => kt.fieldText(trace, event));
	}

	test("a lock has the name that another event of it has; another lock has not", () =>
		assert.deepStrictEqual(texts([1, 0x1000], [0, 0x1000, 1], [1, 0x2000]),
			["lock=0x1000 (inode)", "lock=0x1000 (inode) name=inode", "lock=0x2000"]));

	test("an interrupt has its name, a thread too; a lock with the number of an interrupt has not", () =>
		assert.deepStrictEqual(texts([2, 5, 2], [3, 5], [1, 5], [5, 5, 0x77], [5, 6, 0]), ["irq=5 (timer) name=timer",
			"irq=5 (timer)", "lock=0x5", "thread=5 (worker) ip=0x77", "thread=6 ip=0x0"]));

	test("a system call has the name of the span that it ends", () =>
		assert.deepStrictEqual(texts([3, 1], [4, 7], [4, 7]).slice(1), ["nr=7", "nr=7 (read)"]));
};

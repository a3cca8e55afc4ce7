// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Writes a page with many events: CPUs that switch between threads, each of which makes system calls.
//	node test/viewer/large.js TEMPLATE EVENTS >page.html
"use strict";
const fs = require("node:fs");
const { Block, makePage } = require("./encode.js");

const cpus = 8;
const threads = 64;
const blockEvents = 1 << 18;
const calls = ["read", "write", "open", "close", "mmap", "fork", "wait", "yield"];
let seed = 1;

function random(limit) {
	seed = (Math.imul(seed, 1103515245) + 12345) >>> 1;
	return (seed >>> 8) % limit;
}

// One CPU: runs one of its own threads for some time, in which the thread makes some system calls.
class Cpu {
	constructor(number) {
		Object.assign(this, { number, time: 0, slot: 0, running: [], states: new Map(), calls: new Map(), events: [] });
		this.since = Array(threads).fill(0);
	}

	event(type, thread, time, values) {
		const present = 2 ** values.length - 1;
		this.events.push({ time, type, lane: cpus + thread + 1, slot: this.slot++, present, values });
	}

	turn() {
		const thread = this.number + cpus * random(threads / cpus);
		const begin = this.time;
		const put = (map, span) => (map.get(thread) || map.set(thread, []).get(thread)).push(span);
		if (begin > this.since[thread])
			put(this.states, { begin: this.since[thread], duration: begin - this.since[thread], kind: 3,
				ring: this.number, slot: this.slot });
		this.event(1, thread, begin, [thread, random(100000)]);
		this.time += 500;
		for (let n = random(4); n > 0; n--) {
			const at = this.time;
			const length = 200 + random(20000);
			put(this.calls, { begin: at, duration: length, name: 1 + random(calls.length), kind: 10, ring: this.number,
				slot: this.slot });
			this.event(2, thread, at, [random(8), random(1 << 20)]);
			this.event(3, thread, at + length, [random(8), random(4096)]);
			this.time = at + length + random(3000);
		}
		put(this.states, { begin, duration: this.time - begin, kind: 1, ring: this.number, slot: this.slot });
		this.running.push({ begin, duration: this.time - begin, kind: 1, other: cpus + thread + 1, ring: this.number });
		this.since[thread] = this.time;
	}

	write(block) {
		block.spans(this.number, 0, this.running);
		for (const [row, map] of [[0, this.states], [1, this.calls]])
			for (const [thread, list] of map)
				block.spans(cpus + thread, row, list);
		block.events(this.number, this.number + 1, this.events);
		Object.assign(this, { running: [], states: new Map(), calls: new Map(), events: [] });
	}
}

const [template, wanted] = process.argv.slice(2);
const all = Array.from({ length: cpus }, (_, number) => new Cpu(number));
const names = ["", ...calls, ...Array.from({ length: threads }, (_, number) => "worker/" + number)];
const blocks = [];
let count = 0;
while (count < Number(wanted)) {
	const block = new Block();
	if (!blocks.length)
		block.strings(names).lanes([...all.map((cpu) => ({ kind: 0, number: cpu.number })),
			...Array.from({ length: threads }, (_, n) => ({ kind: 1, number: n, name: 1 + calls.length + n }))]);
	let held = 0;
	while (held < blockEvents - 100 && count + held < Number(wanted)) {
		all.sort((a, b) => a.time - b.time)[0].turn();
		held = all.reduce((sum, cpu) => sum + cpu.events.length, 0);
	}
	count += held;
	for (const cpu of all)
		cpu.write(block);
	blocks.push(block.compressed());
}
const fields = (...list) => list.map((name) => ({ name, kind: "unsigned", unit: "" }));
const head = { schema: "ktrace-page/1", kernel: "large", file: "large.ktrx", whole: true, begin: 0,
	end: Math.max(...all.map((cpu) => cpu.time)), events: count, lost: 0, notes: [], summary: { events: count },
	types: [{ id: 1, name: "sched.switch", fields: fields("next", "ran") },
		{ id: 2, name: "syscall.enter", fields: fields("number", "argument") },
		{ id: 3, name: "syscall.exit", fields: fields("number", "result") }] };
process.stdout.write(makePage(fs.readFileSync(template, "utf8"), head, blocks));

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A trace as the page holds it: lanes with their strips, events, arrows, gaps.
"use strict";
(function (kt) {
class Lane {
	// `key` identifies the lane in links.
	constructor(index, key, kind, number) {
		Object.assign(this, { index, key, kind, number });
		this.rows = [];
		this.clear();
	}

	clear() {
		this.rows = [];
		this.samples = [];
		this.events = [];
	}

	row(number) {
		const row = Math.min(number, 255);
		return this.rows[row] ??= { number: row, chunks: [], strips: [] };
	}

	// Returns the strip of a row at a depth, or undefined.
	strip(row, depth) {
		return this.rows[row]?.strips.find((strip) => strip.depth === depth);
	}
}

class Trace {
	constructor(head) {
		this.takeHead(head);
		this.notes = [...head.notes ?? []];
		this.lanes = [];
		this.byKey = new Map();
		this.restart();
	}

	takeHead(head) {
		this.head = head;
		this.begin = Number(head.begin) || 0;
		this.last = Math.max(Number(head.end) || 0, this.begin + 1);	// time of the last event
		this.end = Math.max(Number(head.taken) || 0, this.last);
		this.types = new Map((head.types || []).map((type) => [type.id, type]));
	}

	// Forgets all blocks, but not the lanes, because another window of the same trace will be loaded. Keeps the gaps of
	// an overview.
	restart() {
		this.strings = [""];
		this.stacks = [];
		this.symbols = new Map();	// names, keyed by address
		this.table = [];	// the lanes in the order of the blocks
		this.counts = new Map();	// number of lanes, keyed by kind and number
		this.latest = new Map();	// the newest lane, keyed by kind and number
		this.arrows = [];
		this.arrowTimes = new Float64Array(0);
		if (!this.gaps || this.head.whole !== false)
			this.gaps = [];
		this.events = new kt.Events();
		for (const lane of this.lanes)
			lane.clear();
	}

	string(index) {
		return this.strings[index] ?? "";
	}

	// Adds lane number `index` of the sequence of blocks, or changes its name. If another window of the trace is
	// loaded, the existing lane of the same kind and number is used. A number can have several lanes, because ids of
	// threads are reused.
	addLane(index, kind, number, name, group, flags) {
		let lane = this.table[index];
		if (!lane) {
			const base = ("ctnf"[kind] ?? "o") + number;
			const count = (this.counts.get(base) ?? 0) + 1;
			this.counts.set(base, count);
			const key = count === 1 ? base : base + "." + count;
			lane = this.byKey.get(key);
			if (!lane) {
				lane = new Lane(this.lanes.length, key, Math.min(kind, 4), number);
				this.lanes.push(lane);
				this.byKey.set(key, lane);
			}
			this.latest.set(base, lane);
		}
		Object.assign(lane, { name, group, idle: flags % 2 === 1 });
		this.table[index] = lane;
		return lane;
	}

	// Makes lane() find a lane that the blocks no longer describe.
	keepLane(lane) {
		const base = ("ctnf"[lane.kind] ?? "o") + lane.number;
		if (!this.latest.has(base))
			this.latest.set(base, lane);
	}

	laneAt(index) {
		const lane = this.table[index];
		if (!lane)
			throw new kt.Damaged("lane " + index + " does not exist");
		return lane;
	}

	// Returns the lane of a CPU (kind 0) or a thread (kind 1). If the id of a thread was reused, returns the newest
	// lane.
	lane(kind, number) {
		return this.latest.get("ct"[kind] + number);
	}

	// Makes the indexes. May be called again after more blocks were read.
	finish() {
		for (const lane of this.lanes) {
			for (const row of lane.rows.filter((one) => one)) {
				row.strips = kt.makeStrips(lane, row.number, row.chunks);
				for (const strip of row.strips)
					this.end = Math.max(this.end, strip.count ? strip.end[strip.count - 1] : 0);
			}
			finishCounter(lane);
		}
		this.arrows.sort((a, b) => a.time - b.time);
		this.arrowTimes = Float64Array.from(this.arrows, (item) => item.time);
		this.events.finish();
		this.share();
	}

	// Makes for each lane a list of its events, as indices into this.events.
	share() {
		const lists = this.lanes.map(() => []);
		const cpus = this.lanes.map((lane) => lane.kind === 0 ? lane.number : -1);
		const ofCpu = new Map(cpus.map((cpu, index) => [cpu, index]));
		const events = this.events;
		for (let i = 0; i < events.count; i++) {
			const lane = events.column("lane", i);
			const cpu = ofCpu.get(events.cpu(i));
			if (lane >= 0)
				lists[lane].push(i);
			if (cpu !== undefined && events.cpu(i) >= 0)
				lists[cpu].push(i);
		}
		this.lanes.forEach((lane, index) => {
			lane.events = Uint32Array.from(lists[index]);
			lane.times = Float64Array.from(lists[index], (event) => events.time[event]);
		});
	}

	// Returns the arrow of the last wakeup of this lane's thread that is not after the time.
	wakeOf(lane, time) {
		return this.arrows.findLast((item) => item.to === lane && item.time <= time && item.kind === 0) ?? null;
	}

	// Returns the names of the addresses in the code that recorded the event, the innermost first.
	stackOf(event) {
		const ring = this.events.ring(event);
		const slot = this.events.column("slot", event);
		for (const stack of this.stacks) {
			const at = stack.ring === ring ? stack.slot.indexOf(slot) : -1;
			if (at < 0)
				continue;
			const reader = new kt.Reader(stack.bytes, stack.offset[at]);
			return Array.from({ length: reader.varint() }, () => reader.big()).map((address) =>
				this.symbols.get(address) || "0x" + address.toString(16));
		}
		return [];
	}

	typeName(id) {
		return this.types.get(id)?.name ?? "event type " + id;
	}
}

// Returns the text of a span: the name of the thread that runs on a CPU, the name of the span, or the name of its
// class.
kt.spanName = function (trace, strip, i) {
	const other = strip.lane.kind === 0 && strip.row === 0 ? trace.lanes[strip.other[i]] : null;
	if (other)
		return other.name || kt.laneName(other);
	const note = strip.notes?.get(i);
	return (trace.string(strip.name[i]) || kt.className(strip.kind[i])) + (note ? ": " + note : "");
};

function finishCounter(lane) {
	if (!lane.samples.length)
		return;
	const count = lane.samples.reduce((sum, part) => sum + part.time.length, 0);
	lane.time = kt.joinColumn(lane.samples, "time", Float64Array, count);
	lane.value = kt.joinColumn(lane.samples, "value", Float64Array, count);
	lane.low = lane.value.reduce((a, b) => Math.min(a, b), 0);
	lane.high = lane.value.reduce((a, b) => Math.max(a, b), lane.low);
}

kt.Trace = Trace;
})(globalThis.ktrace ??= {});

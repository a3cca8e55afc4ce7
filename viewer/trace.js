// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A trace as the page holds it: lanes with their strips, events, arrows, gaps.
"use strict";
(function (kt) {
class Lane {
	// `key` names the lane in links.
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

	// Returns the strip of a row and depth, or undefined.
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

	// Forgets all blocks, but keeps the lanes: another window of the same trace is loaded. Gaps of an overview stay.
	restart() {
		this.strings = [""];
		this.stacks = [];
		this.symbols = new Map();	// by address: names
		this.table = [];	// the lanes in the order of the blocks
		this.counts = new Map();	// by kind and number: how many lanes there are
		this.latest = new Map();	// by kind and number: the last lane
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

	// Adds lane `index` of the sequence of blocks, or changes its name. If another window of the trace is loaded, a
	// lane of the same kind and number is used again. A number can have several lanes: ids of threads are used again.
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

	// Makes lane() find a lane that the blocks do not describe any more.
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

	// Returns the lane of a CPU (kind 0) or a thread (kind 1); of a thread whose id was used again, the last one.
	lane(kind, number) {
		return this.latest.get("ct"[kind] + number);
	}

	// Makes the indices. May be called again after more blocks.
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

	// Gives each lane the list of its events: their places in this.events.
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

	// Returns the arrow that woke the thread of this lane last, at or before the time.
	wakeOf(lane, time) {
		return this.arrows.findLast((item) => item.to === lane && item.time <= time && item.kind === 0) ?? null;
	}

	// Returns the names of the places in the code that recorded the event, the innermost first.
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

// Returns the text of a span: the thread that runs on a CPU, or the name of the span, or of its state.
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

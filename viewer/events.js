// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// All events, in the order of time, with the values of their fields.
// The values stay encoded until an event is shown.
"use strict";
(function (kt) {
const mostHeads = 300;	// maximum number of lists that are merged; if there are more, all events are sorted instead

class Events {
	constructor() {
		this.chunks = [];
		this.count = 0;
		this.time = new Float64Array(0);
	}

	// Merges the chunks by time. `chunk` and `at` state where an event is stored. The chunks of one ring and one CPU
	// are in order of time.
	finish() {
		this.count = this.chunks.reduce((sum, chunk) => sum + chunk.count, 0);
		this.time = new Float64Array(this.count);
		this.chunk = new Uint32Array(this.count);
		this.at = new Uint32Array(this.count);
		const lists = new Map();
		const all = this.chunks.map((chunk, number) => ({ chunk, number }));
		for (const item of all) {
			const key = item.chunk.ring + "," + item.chunk.cpu;
			lists.set(key, lists.get(key) ?? []);
			lists.get(key).push(item);
		}
		const heads = (lists.size > mostHeads ? [all] : [...lists.values()]).map((list) => ({ list, place: 0, at: 0 }));
		for (let out = 0; out < this.count; out++)
			this.append(out, heads);
		this.settle();
	}

	// Removes the earliest event from the lists and appends it to the result.
	append(out, heads) {
		let best = null;
		let time = Infinity;
		for (const head of heads) {
			while (head.place < head.list.length && head.at >= head.list[head.place].chunk.count) {
				head.place++;
				head.at = 0;
			}
			if (head.place < head.list.length && (!best || head.list[head.place].chunk.time[head.at] < time)) {
				best = head;
				time = head.list[head.place].chunk.time[head.at];
			}
		}
		this.time[out] = time;
		this.chunk[out] = best.list[best.place].number;
		this.at[out] = best.at++;
	}

	// The events of a ring may be slightly out of order: moves each event to its place. If moving them takes too
	// many steps, sorts all events instead.
	settle() {
		const columns = [this.time, this.chunk, this.at];
		let steps = this.count * 4;
		for (let i = 1; i < this.count; i++) {
			for (let j = i; j > 0 && this.time[j - 1] > this.time[j] && steps > 0; j--, steps--)
				for (const column of columns)
					[column[j - 1], column[j]] = [column[j], column[j - 1]];
		}
		if (steps > 0)
			return;
		const { time } = this;
		const order = new Uint32Array(this.count).map((_, place) => place).sort((a, b) => time[a] - time[b]);
		[this.time, this.chunk, this.at] = columns.map((column) => column.map((_, place) => column[order[place]]));
	}

	column(name, event) {
		return this.chunks[this.chunk[event]][name][this.at[event]];
	}

	ring(event) {
		return this.chunks[this.chunk[event]].ring;
	}

	cpu(event) {
		return this.chunks[this.chunk[event]].cpu;
	}

	// Returns the id of the event, as ktrace show --ids prints it.
	idOf(event) {
		return this.ring(event) + "." + this.column("slot", event);
	}

	// Returns the index of the event with this id ("ring.slot"), or -1.
	find(id) {
		const [ring, slot] = String(id).split(".").map(Number);
		for (let number = 0; number < this.chunks.length; number++) {
			const chunk = this.chunks[number];
			const at = chunk.ring === ring ? chunk.slot.indexOf(slot) : -1;
			if (at < 0)
				continue;
			let event = kt.lower(this.time, chunk.time[at]);
			while (event < this.count && (this.chunk[event] !== number || this.at[event] !== at))
				event++;
			return event < this.count ? event : -1;
		}
		return -1;
	}

	// Returns the values of an event, in the form of kt.fieldsOf(). `types` belongs to the trace.
	fields(event, types) {
		return kt.fieldsOf(this.chunks[this.chunk[event]], this.at[event], types);
	}
}

// Returns the values of an event in a chunk: [{name, kind, unit, text, raw}].
kt.fieldsOf = function (chunk, at, types) {
	const type = types.get(chunk.type[at]);
	const reader = new kt.Reader(chunk.bytes, chunk.offset[at]);
	const list = [];
	let bits = chunk.present[at];
	for (let number = 0; bits >= 1; number++, bits = Math.floor(bits / 2)) {
		if (bits % 2 === 0)
			continue;
		const field = (type && type.fields[number]) || { name: "field " + number, kind: "unsigned", unit: "" };
		const raw = reader.big();
		list.push({ name: field.name, kind: field.kind, unit: field.unit || "", raw,
			text: value(raw, field.kind, chunk.strings) });
	}
	return list;
};

function value(raw, kind, strings) {
	if (kind === "text")
		return strings[Number(raw)] ?? "";
	if (kind === "bool")
		return raw ? "true" : "false";
	if (kind === "char" && raw > 31n && raw < 127n)
		return "'" + String.fromCharCode(Number(raw)) + "'";
	if (kind === "signed")
		return String(raw & 1n ? -((raw + 1n) / 2n) : raw / 2n);
	return kind === "hex" ? "0x" + raw.toString(16) : String(raw);
}

// Returns the first index of a sorted array, at least `from`, whose value is at least `wanted`.
kt.lower = function (array, wanted, from = 0, until = array.length) {
	while (from < until) {
		const middle = (from + until) >>> 1;
		if (array[middle] < wanted)
			from = middle + 1;
		else
			until = middle;
	}
	return from;
};

kt.Events = Events;
})(globalThis.ktrace ??= {});

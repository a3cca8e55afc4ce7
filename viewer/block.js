// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Decodes the sections of a block into a trace. The format is described in spec/page.md.
// A damaged section is reported and skipped; the sections after it are still read.
"use strict";
(function (kt) {
const utf8 = new TextDecoder();

// String 0 is "", which no section describes.
function strings(reader, trace) {
	const count = reader.count(1);
	for (let i = 0; i < count; i++)
		trace.strings.push(utf8.decode(reader.take(reader.varint())));
}

// If a lane is described again, its name has changed.
function lanes(reader, trace) {
	const count = reader.count(6);
	for (let i = 0; i < count; i++) {
		const index = reader.varint();
		if (index > trace.table.length)
			throw new kt.Damaged("lane " + index + " does not follow lane " + (trace.table.length - 1));
		const kind = reader.varint();
		const number = reader.varint();
		const name = trace.string(reader.varint());
		const group = trace.string(reader.varint());
		trace.addLane(index, kind, number, name, group, reader.varint());
	}
}

// The addresses of the code that recorded events, the innermost first. These addresses stay encoded.
function stacks(reader, trace) {
	const ring = reader.varint();
	const count = reader.count(2);
	const stack = { ring, slot: reader.deltas(count, false), offset: new Uint32Array(count), bytes: reader.bytes };
	for (let i = 0; i < count; i++) {
		stack.offset[i] = reader.at;
		for (let places = reader.count(1); places > 0; places--)
			reader.varint();
	}
	stack.until = reader.at;
	trace.stacks.push(stack);
}

function symbols(reader, trace) {
	const count = reader.count(2);
	let address = 0n;
	const addresses = Array.from({ length: count }, () => address += reader.big());
	for (const place of addresses)
		trace.symbols.set(place, trace.string(reader.varint()));
}

// Reads a column of lane numbers plus one; 0 means no lane. Returns indices into trace.lanes, or -1.
function lanesPlusOne(reader, trace, count) {
	const array = new Int32Array(count);
	for (let i = 0; i < count; i++) {
		const lane = trace.table[reader.varint() - 1];
		array[i] = lane ? lane.index : -1;
	}
	return array;
}

function slices(reader, trace) {
	const lane = trace.laneAt(reader.varint());
	const row = reader.varint();
	const count = reader.count(9);
	const begin = reader.deltas(count, false);
	const end = reader.column(count, new Float64Array(count));
	for (let i = 0; i < count; i++)
		end[i] += begin[i];
	const chunk = {
		begin, end,
		name: reader.column(count, new Uint32Array(count)),
		kind: reader.column(count, new Uint8Array(count)),
		depth: reader.column(count, new Uint16Array(count)),
		ring: reader.column(count, new Uint32Array(count)),
		slot: reader.deltas(count, true),
		other: lanesPlusOne(reader, trace, count),
		flags: reader.column(count, new Uint8Array(count)),
	};
	// A span that is open at the last event lasts at least until the time at which the trace was taken.
	for (let i = 0; i < count; i++)
		if (chunk.flags[i] & 2 && end[i] >= trace.last)
			end[i] = Math.max(end[i], trace.end);
	lane.row(row).chunks.push(chunk);
}

function arrows(reader, trace) {
	const count = reader.count(7);
	const time = reader.deltas(count, false);
	const from = reader.column(count, new Uint32Array(count));
	const to = reader.column(count, new Uint32Array(count));
	const length = reader.column(count, new Float64Array(count));
	const ring = reader.column(count, new Uint32Array(count));
	const slot = reader.deltas(count, true);
	const kind = reader.column(count, new Uint8Array(count));
	for (let i = 0; i < count; i++) {
		trace.arrows.push({ time: time[i], from: trace.laneAt(from[i]), to: trace.laneAt(to[i]), length: length[i],
			ring: ring[i], slot: slot[i], kind: kind[i] });
	}
}

function counter(reader, trace) {
	const lane = trace.laneAt(reader.varint());
	const count = reader.count(2);
	const time = reader.deltas(count, false);
	const value = new Float64Array(count);
	for (let i = 0; i < count; i++)
		value[i] = reader.zigzag();
	lane.samples.push({ time, value });
}

function gaps(reader, trace) {
	const count = reader.count(4);
	const cpu = reader.column(count, new Uint32Array(count));
	const begin = reader.deltas(count, false);
	const length = reader.column(count, new Float64Array(count));
	const lost = reader.column(count, new Float64Array(count));
	if (trace.gaps.length > 0 && trace.head.whole === false)
		return;	// the overview has already given all gaps
	for (let i = 0; i < count; i++)
		trace.gaps.push({ cpu: cpu[i] - 1, begin: begin[i], end: begin[i] + length[i], lost: lost[i] });
}

function events(reader, trace) {
	const ring = reader.varint();
	const cpu = reader.varint() - 1;
	const count = reader.count(6);
	const chunk = {
		ring, cpu, count,
		time: reader.deltas(count, true),
		type: reader.column(count, new Uint32Array(count)),
		lane: lanesPlusOne(reader, trace, count),
		context: reader.column(count, new Float64Array(count)),
		slot: reader.deltas(count, false),
		present: reader.column(count, new Float64Array(count)),
		bytes: reader.bytes,
		offset: new Uint32Array(count),
		strings: trace.strings,
	};
	for (let i = 0; i < count; i++) {
		chunk.offset[i] = reader.at;
		for (let bits = chunk.present[i]; bits >= 1; bits = Math.floor(bits / 2))
			if (bits % 2)
				reader.varint();
	}
	chunk.until = reader.at;
	trace.events.chunks.push(chunk);
}

function density(reader, trace) {
	const lane = trace.laneAt(reader.varint());
	const width = Math.max(1, reader.varint());
	const count = reader.count(3);
	lane.density = {
		width,
		index: reader.deltas(count, false),
		events: reader.column(count, new Float64Array(count)),
		kind: reader.column(count, new Uint8Array(count)),
	};
}

const sections = [null, strings, lanes, slices, arrows, counter, gaps, events, density, symbols, stacks];

// Decodes one uncompressed block. `name` is for error messages.
kt.decodeBlock = function (bytes, trace, name) {
	const all = new kt.Reader(bytes);
	while (all.left() > 0) {
		let tag = 0;
		try {
			tag = all.varint();
			const length = all.varint();
			const at = all.at;
			all.take(length);
			if (sections[tag])
				sections[tag](new kt.Reader(bytes, at, at + length), trace);
		} catch (error) {
			if (!(error instanceof kt.Damaged))
				throw error;
			trace.notes.push(name + ", section " + tag + ": " + error.message + "; this part is not shown");
			if (all.at >= all.end || tag === 0)
				return;
		}
	}
};
})(globalThis.ktrace ??= {});

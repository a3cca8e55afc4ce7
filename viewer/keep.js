// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Keeps what the page has read of a running guest when newer data replaces it. The guest overwrites its rings, so newer
// data does not contain the oldest events any more. The cut is a time: older data is kept before the cut, newer data
// begins at the cut.
"use strict";
(function (kt) {
const most = 2e6;	// maximum number of events; if there are more, the older half of the time is dropped

// Returns a text that identifies a run of a guest.
kt.runOf = (head) => head.base + " " + head.summary?.nonce;

// Returns the current data of the trace. Call it before trace.takeHead(), and keptJoin() after the newer blocks are
// decoded.
kt.keptTake = (trace) => ({ run: kt.runOf(trace.head), begin: trace.begin, last: trace.last,
	strings: trace.strings, gaps: trace.gaps, arrows: trace.arrows, stacks: trace.stacks, symbols: trace.symbols,
	chunks: trace.events.chunks, lanes: trace.lanes.map(({ rows, samples }) => ({ rows, samples })) });

// Returns for each ring the first and the last slot in the chunks.
function slotsOf(chunks) {
	const rings = new Map();
	for (const { ring, slot } of chunks) {
		const known = rings.get(ring) ?? { first: Infinity, last: -1 };
		if (slot.length)
			rings.set(ring, { first: Math.min(known.first, slot[0]), last: Math.max(known.last, slot.at(-1)) });
	}
	return rings;
}

// Copies the entries [from, until) of a chunk whose entries contain encoded data.
function part(chunk, from, until) {
	const copy = { ...chunk };
	for (const [name, column] of Object.entries(chunk))
		if (ArrayBuffer.isView(column) && name !== "bytes")
			copy[name] = column.slice(from, until);
	const begin = chunk.offset[from] ?? chunk.until;
	copy.bytes = chunk.bytes.slice(begin, chunk.offset[until] ?? chunk.until);
	copy.offset = copy.offset.map((offset) => offset - begin);
	return { ...copy, count: until - from, until: copy.bytes.length };
}

// Joins older data and the newer data that the trace contains now. Returns false if the newer data is from another run
// of the guest: then only the newer data is shown. If the run has no nonce, a new run is recognized by its rings, which
// were empty at its beginning.
kt.keptJoin = function (trace, old) {
	if (!old.chunks.length)
		return true;
	if (kt.runOf(trace.head) !== old.run)
		return false;
	const rings = slotsOf(trace.events.chunks);
	const before = slotsOf(old.chunks);
	for (const [ring, { last }] of before)
		if (rings.get(ring)?.last < last)
			return false;
	// From this time on, the newer data contains all events of all rings.
	const complete = trace.gaps.reduce((time, gap) => gap.begin <= 0 ? Math.max(time, gap.end) : time, trace.begin);
	const cut = Math.min(complete, old.last);
	if (cut <= old.begin)
		return true;
	const many = old.chunks.reduce((sum, chunk) => sum + chunk.count, 0) > most;
	const join = { trace, old, cut, lossless: complete <= old.last, rings, before, names: new Map(),
		floor: many ? (old.begin + old.last) / 2 : old.begin };
	keepEvents(join);
	old.lanes.forEach((from, index) => keepLane(join, trace.lanes[index], from));
	trace.arrows = [...old.arrows.filter(({ time }) => time >= join.floor && time < cut),
		...trace.arrows.filter(({ time }) => time >= cut)];
	for (const [address, name] of old.symbols)
		trace.symbols.set(address, trace.symbols.get(address) ?? name);
	keepGaps(join);
	trace.begin = join.floor;
	return true;
};

function keepEvents({ trace, old, rings, floor }) {
	const keep = (chunks) => chunks.map((chunk) => {
		const until = kt.lower(chunk.slot, rings.get(chunk.ring)?.first ?? Infinity);
		const from = chunk.time ? Math.min(until, kt.lower(chunk.time, floor)) : 0;
		return until === chunk.slot.length && from === 0 && chunk.kept ? chunk
			: { ...part(chunk, from, until), kept: true };
	}).filter(({ slot }) => slot.length);
	trace.events.chunks = [...keep(old.chunks), ...trace.events.chunks];
	trace.stacks = [...trace.stacks, ...keep(old.stacks)];
}

// A gap at the beginning of the newer data is the part that was overwritten. A part of it, or all of it, is in the
// older data.
function keepGaps({ trace, old, cut, floor, rings, before }) {
	const clip = (gap, begin, end) => ({ ...gap, begin: Math.max(begin, gap.begin), end: Math.min(end, gap.end) });
	const newer = trace.gaps.filter((gap) => gap.end > cut).map((gap) => {
		const own = new Set(gap.begin > 0 ? [] : trace.events.chunks.filter(({ cpu }) => cpu === gap.cpu)
			.map(({ ring }) => ring));
		const lost = [...own].reduce((sum, ring) => sum + (before.has(ring) && rings.has(ring)
			? Math.max(0, rings.get(ring).first - before.get(ring).last - 1) : NaN), 0);
		return { ...clip(gap, cut, Infinity), lost: own.size ? lost || 0 : gap.lost, none: own.size && lost === 0 };
	});
	trace.gaps = [...old.gaps.filter((gap) => gap.begin < cut && gap.end > floor).map((gap) => clip(gap, floor, cut)),
		...newer.filter((gap) => !gap.none)];
}

function keepLane(join, lane, from) {
	const { trace, cut, floor } = join;
	const half = (samples, test) => samples.map(({ time, value }) => ({ time: time.filter(test),
		value: value.filter((_, i) => test(time[i])) })).filter(({ time }) => time.length);
	lane.samples = [...half(from.samples, (time) => time >= floor && time < cut),
		...half(lane.samples, (time) => time >= cut)];
	const used = new Set();
	for (const row of from.rows) {
		if (!row)
			continue;
		const target = row.number < 2 ? lane.row(row.number) : rowOfLock(join, lane, row, used);
		used.add(target);
		const depths = new Set([...row.strips.map(({ depth }) => depth), ...target.chunks.flatMap(({ depth }) =>
			[...depth])]);
		target.chunks = [...depths].sort((a, b) => a - b).flatMap((depth) => joinSpans(join, target,
			row.strips.find((strip) => strip.depth === depth), depth));
	}
	// Rows that the older data does not have.
	for (const row of lane.rows)
		if (row && !used.has(row))
			row.chunks = row.chunks.map((chunk) => pick(chunk, (i) => chunk.end[i] > cut));
	trace.keepLane(lane);
}

// Locks have no fixed rows: returns the row in the newer data with the same lock, or a free row.
function rowOfLock({ trace, old }, lane, row, used) {
	const text = (strip) => strip?.count ? old.strings[strip.name.at(-1)] : "";
	const found = lane.rows.find((other, number) => other && number > 1 && !used.has(other) && other.chunks.length
		&& trace.string(other.chunks[0].name[0]) === text(row.strips[0]));
	let free = 2;
	while (lane.rows[free])
		free++;
	return found ?? lane.row(free);
}

// Returns a chunk that contains the spans for which the test is true.
function pick(chunk, test) {
	const places = Array.from(chunk.begin.keys()).filter(test);
	return Object.fromEntries(Object.entries(chunk).map(([name, column]) => [name,
		column.constructor.from(places, (i) => column[i])]));
}

// Converts the index of an older string to an index in the newer strings.
function rename({ trace, old, names }, index) {
	if (!names.size)
		trace.strings.forEach((text, number) => names.set(text, names.get(text) ?? number));
	const text = old.strings[index] ?? "";
	if (!names.has(text))
		names.set(text, trace.strings.push(text) - 1);
	return names.get(text);
}

// Joins the older and the newer spans at one depth of a row.
function joinSpans(join, row, strip, depth) {
	const { cut, floor } = join;
	const newer = row.chunks.map((chunk) => pick(chunk, (i) => chunk.depth[i] === depth && chunk.end[i] > cut))
		.filter(({ begin }) => begin.length);
	if (!strip?.count || strip.begin[0] >= cut)
		return newer;
	const { begin, end, name, kind, ring, slot, other, flags } = strip;
	const older = pick({ begin, end, name, kind, ring, slot, other, flags }, (i) => begin[i] < cut && end[i] >= floor);
	older.name = older.name.map((index) => rename(join, index));
	older.depth = new Uint16Array(older.begin.length).fill(depth);
	const last = older.begin.length - 1;
	const next = newer.reduce((best, chunk) => !best || chunk.begin[0] < best.begin[0] ? chunk : best, null);
	if (last >= 0 && next && next.begin[0] < cut)
		return [joinCrossing(join, older, last, next), ...newer];
	if (last >= 0)
		endSpan(join, row, older, last, next);
	return [older, ...newer];
}

// The newer data has a span that crosses the cut. It continues the older span if the older span reaches the cut, too,
// and has the same class and name.
function joinCrossing({ trace, cut }, older, last, next) {
	const text = (chunk, i) => trace.string(chunk.name[i]);
	const same = older.end[last] >= cut && older.kind[last] === next.kind[0] && text(older, last) === text(next, 0);
	if (same) {
		next.begin[0] = older.begin[last];
		next.ring[0] = older.ring[last];
		next.slot[0] = older.slot[last];
		next.flags[0] = (next.flags[0] & 2) | (older.flags[last] & 1);
		return pick(older, (i) => i < last);
	}
	older.end[last] = Math.min(older.end[last], cut);
	next.begin[0] = Math.max(next.begin[0], older.end[last]);
	return older;
}

// No span of the newer data crosses the cut. If nothing was lost, a state lasts until the next state.
function endSpan({ trace, old, lossless }, row, older, last, next) {
	if ((older.flags[last] & 2) === 0 || older.end[last] < old.last)
		return;
	const limit = next ? next.begin[0] : trace.end;
	if (lossless && row.number === 0) {
		older.end[last] = limit;
		older.flags[last] = (older.flags[last] & 1) | (next && (next.flags[0] & 1) === 0 ? 0 : 2);
	} else {
		older.end[last] = Math.min(old.last, limit);
	}
}
})(globalThis.ktrace ??= {});

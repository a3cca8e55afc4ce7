// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A strip: spans that follow each other in time and do not overlap, with an index.
// The index answers two questions about a range of spans without visiting each of them:
// how much time do they cover (sums), and which of them is the longest (levels of 4, 16, 64, … spans)?
"use strict";
(function (kt) {
const fan = 4;

class Strip {
	// Uses columns that are sorted by the beginning of the spans.
	constructor(lane, row, depth, columns) {
		Object.assign(this, columns);
		this.lane = lane;
		this.row = row;
		this.depth = depth;
		this.count = this.begin.length;
		const sum = new Float64Array(this.count + 1);
		for (let i = 0; i < this.count; i++)
			sum[i + 1] = sum[i] + this.end[i] - this.begin[i];
		this.sum = sum;
		this.levels = [];
		for (let below = null; (below ? below.length : this.count) > fan; below = this.levels.at(-1))
			this.levels.push(this.level(below));
	}

	// Makes one level of the index: for each group of entries of the level below, the index of the longest span.
	level(below) {
		const count = below ? below.length : this.count;
		const array = new Uint32Array(Math.ceil(count / fan));
		for (let group = 0; group < array.length; group++) {
			let best = -1;
			for (let i = group * fan; i < Math.min(count, group * fan + fan); i++)
				best = this.longer(best, below ? below[i] : i);
			array[group] = best;
		}
		return array;
	}

	longer(a, b) {
		return a < 0 || this.end[b] - this.begin[b] > this.end[a] - this.begin[a] ? b : a;
	}

	// Returns the first span, from index `from` on, that begins at the time or later.
	firstFrom(time, from = 0) {
		let step = 1;
		while (from + step < this.count && this.begin[from + step] < time)
			step *= 2;
		return kt.lower(this.begin, time, from, Math.min(this.count, from + step));
	}

	// Returns the first span that ends after the time.
	firstAfter(time) {
		const i = this.firstFrom(time);
		return i > 0 && this.end[i - 1] > time ? i - 1 : i;
	}

	// Returns the span that contains the time, or -1.
	at(time) {
		const i = this.firstAfter(time);
		return i < this.count && this.begin[i] <= time ? i : -1;
	}

	// Returns the longest span with an index in [from, until).
	longest(from, until) {
		let best = -1;
		let i = from;
		while (i < until) {
			let depth = 0;
			let size = 1;
			while (depth < this.levels.length && i % (size * fan) === 0 && i + size * fan <= until) {
				size *= fan;
				depth++;
			}
			best = this.longer(best, depth ? this.levels[depth - 1][i / size] : i);
			i += size;
		}
		return best;
	}
}

const columns = { begin: Float64Array, end: Float64Array, name: Uint32Array, kind: Uint8Array, ring: Uint32Array,
	slot: Float64Array, other: Int32Array, flags: Uint8Array };
const deepest = 63;

// Joins one column of the chunks of all blocks.
kt.joinColumn = function (chunks, name, type, count) {
	const array = new type(count);
	let at = 0;
	for (const chunk of chunks) {
		array.set(chunk[name], at);
		at += chunk[name].length;
	}
	return array;
};

// Returns for each depth the positions of its spans, in the order in which they begin.
function byDepth(depth, begin) {
	const places = [];
	for (let i = 0; i < depth.length; i++)
		(places[Math.min(depth[i], deepest)] ??= []).push(i);
	for (const list of places)
		if (list && list.some((place, i) => i > 0 && begin[list[i - 1]] > begin[place]))
			list.sort((a, b) => begin[a] - begin[b] || a - b);
	return places;
}

// Makes the strips of a row, one for each depth, from the chunks of all blocks.
kt.makeStrips = function (lane, row, chunks) {
	const count = chunks.reduce((sum, chunk) => sum + chunk.begin.length, 0);
	const all = {};
	for (const [name, type] of Object.entries(columns))
		all[name] = kt.joinColumn(chunks, name, type, count);
	const strips = [];
	byDepth(kt.joinColumn(chunks, "depth", Uint16Array, count), all.begin).forEach((places, depth) => {
		const own = {};
		for (const [name, type] of Object.entries(columns)) {
			const array = own[name] = new type(places.length);
			for (let i = 0; i < places.length; i++)
				array[i] = all[name][places[i]];
		}
		strips.push(new Strip(lane, row, depth, own));
	});
	return strips;
};

kt.Strip = Strip;
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Decides which rows are drawn, in which order, and how high they are.
// A row is {kind, lane, y, height, …}; kinds: head, spans, events, counter, space.
"use strict";
(function (kt) {
const heights = { head: 20, state: 17, nest: 15, lock: 14, events: 7, counter: 30 };

const idleThreads = "Idle threads";
kt.foldedFirst = [idleThreads];

class Layout {
	constructor(trace) {
		this.trace = trace;
		this.culprits = [];	// lanes that are named in the verdict: they are drawn first and marked
		this.pinned = new Set();
		this.folded = new Set(kt.foldedFirst);	// names of folded groups, and keys of folded lanes
		this.filter = "";
		this.rows = [];
		this.height = 0;
		this.version = 0;	// number of calls of update() so far
	}

	// Computes all rows again.
	update() {
		this.version++;
		this.rows = [];
		this.height = 0;
		const done = new Set();
		const group = (title, lanes, bad) => {
			const list = lanes.filter((lane) => !done.has(lane) && this.matches(lane));
			if (!list.length)
				return;
			const text = title + " (" + list.length + ")";
			this.add({ kind: "head", title: text, group: title, height: heights.head, bad });
			for (const lane of list) {
				done.add(lane);
				if (!this.folded.has(title))
					this.addLane(lane, bad);
			}
		};
		const all = this.trace.lanes;
		group("Named by the verdict", this.culprits, true);
		group("Pinned", all.filter((lane) => this.pinned.has(lane.key)));
		group("CPUs", sorted(all.filter((lane) => lane.kind === 0)));
		group("Counters", all.filter((lane) => lane.kind === 2));
		const groups = new Map();
		for (const lane of sorted(all.filter((lane) => lane.kind === 1))) {
			const title = lane.idle ? idleThreads : lane.group ? "Threads of " + lane.group : "";
			groups.set(title, groups.get(title) ?? []);
			groups.get(title).push(lane);
		}
		// a process with one thread has no group of its own
		const several = [...groups].filter(([title, lanes]) => title && title !== idleThreads && lanes.length > 1);
		const grouped = new Set(several.flatMap(([, lanes]) => lanes));
		group("Threads", sorted(all.filter((lane) => lane.kind === 1 && !lane.idle && !grouped.has(lane))));
		for (const [title, lanes] of several)
			group(title, lanes);
		group(idleThreads, groups.get(idleThreads) || []);
		group("Other", all.filter((lane) => lane.kind > 2));
	}

	matches(lane) {
		const wanted = this.filter.toLowerCase();
		return !wanted || (kt.laneName(lane) + " " + lane.group).toLowerCase().includes(wanted);
	}

	add(row) {
		row.y = this.height;
		row.labels = [];	// spans whose names are drawn
		this.height += row.height;
		this.rows.push(row);
	}

	addLane(lane, bad) {
		const from = this.rows.length;
		const folded = this.folded.has(lane.key);
		for (const row of lane.rows) {
			if (!row || (folded && row.number > 0))
				continue;
			for (const strip of row.strips)
				this.add({ kind: "spans", lane, strip, bad, height: this.stripHeight(strip),
					label: rowLabel(strip, this.trace) });
		}
		if (lane.samples.length)
			this.add({ kind: "counter", lane, bad, height: heights.counter });
		if ((lane.times && lane.times.length) || lane.density)
			this.add({ kind: "events", lane, bad, height: heights.events });
		if (this.rows.length === from)
			this.add({ kind: "events", lane, bad, height: 14 });
		this.rows[from].first = true;
		// The height of a lane is at least the height of its name.
		const used = this.height - this.rows[from].y;
		this.add({ kind: "space", lane, bad, height: Math.max(4, 20 - used) });
		const last = this.rows.at(-1);
		this.rows[from].whole = last.y + last.height - this.rows[from].y;
	}

	stripHeight(strip) {
		return strip.row === 0 ? heights.state : strip.row === 1 ? heights.nest : heights.lock;
	}

	// Returns the row at this y coordinate, or undefined.
	at(y) {
		return this.rows.find((row) => y >= row.y && y < row.y + row.height);
	}

	// Returns the row that shows a strip. If there is none, returns the first row of the lane.
	rowOf(lane, strip) {
		return this.rows.find((row) => row.strip && row.strip === strip)
			|| this.rows.find((row) => row.lane === lane && row.first);
	}
}

function sorted(lanes) {
	return lanes.sort((a, b) => a.kind - b.kind || a.number - b.number);
}

// If all spans in a row of locks are of one lock, the label of the row is the name of the lock.
function rowLabel(strip, trace) {
	if (strip.row < 2 || !strip.count)
		return "";
	return strip.name.every((name) => name === strip.name[0]) ? trace.string(strip.name[0]) : "locks";
}

kt.Layout = Layout;
})(globalThis.ktrace ??= {});

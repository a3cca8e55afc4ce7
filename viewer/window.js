// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A trace that is too long to be sent whole: the server sends an overview (events per time), and the data of the
// part that is shown, if this part does not have too many events.
"use strict";
(function (kt) {
const patience = 120;	// ms without a change of the view before its data is requested

// Divides an answer into blocks: each has its size before it, as 4 bytes, the lowest first.
kt.splitBlocks = function (bytes) {
	const blocks = [];
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let at = 0;
	while (at + 4 <= bytes.length) {
		const size = view.getUint32(at, true);
		if (size > bytes.length - at - 4)
			throw new kt.Damaged("a block has " + size + " bytes, but only " + (bytes.length - at - 4) + " follow");
		blocks.push(bytes.subarray(at + 4, at + 4 + size));
		at += 4 + size;
	}
	return blocks;
};

class Windows {
	constructor(state, feed, refresh) {
		Object.assign(this, { state, feed, refresh, loaded: null, busy: false });
		state.onChange((what) => {
			if (what === "view")
				this.later();
		});
	}

	// Shows the overview: CPUs with the rate of their events, and the gaps.
	async start() {
		this.loaded = null;
		this.state.trace.gaps = [];
		await this.load(await this.feed.overview());
		this.later();
	}

	later() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.update().catch((error) => kt.warn(error.message)), patience);
	}

	covers(from, until) {
		return this.loaded && this.loaded.from <= from && this.loaded.until >= until;
	}

	// Requests the data of the view, with a margin if possible. Only one request is under way at any time.
	async update() {
		const { state } = this;
		const { trace } = state;
		const from = Math.max(trace.begin, state.from);
		const until = Math.min(trace.end, state.from + state.length);
		if (this.busy || until <= from || this.covers(from, until))
			return;
		this.busy = true;
		try {
			const margin = (until - from) / 2;
			await this.request(Math.max(trace.begin, from - margin), Math.min(trace.end, until + margin))
				|| await this.request(from, until);
		} finally {
			this.busy = false;
		}
		if (from !== Math.max(trace.begin, state.from) || until !== Math.min(trace.end, state.from + state.length))
			this.later();
	}

	// Returns false if this time has too many events.
	async request(from, until) {
		const { bytes, events } = await this.feed.window(Math.floor(from), Math.ceil(until));
		this.state.hint = bytes ? "" : "Zoom in to see threads and states: this part has " + kt.number(events)
			+ " events.";
		if (bytes) {
			await this.load(bytes);
			this.loaded = { from, until };
		}
		this.state.changed("hint");
		return bytes !== null;
	}

	// Replaces the data of the trace. What was selected stays selected if it is in the new data.
	async load(bytes) {
		const { trace, selection } = this.state;
		const plain = [];
		for (const block of kt.splitBlocks(bytes))
			plain.push(await kt.inflate(block));
		const selected = kt.selectionText(trace, selection);
		trace.restart();
		for (const { bytes: block, error } of plain) {
			if (error)
				kt.warn("a block is damaged: " + error);
			kt.decodeBlock(block, trace, "a block");
		}
		this.refresh();
		if (selection)
			this.state.selection = kt.selectionFrom(trace, selected);
	}
}

kt.Windows = Windows;
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// A trace that is too long to be sent whole: the server sends an overview (events per time), and the data of the
// part that is shown, if this part does not have too many events.
"use strict";
(function (kt) {
const patience = 120;	// time in ms for which the view must not change before its data is requested

// Divides an answer into blocks. Each block is preceded by its size, as 4 bytes, the lowest first.
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
		// The overview has a number. Answers that are requested before the newest overview, or before
		// stop(), are discarded.
		Object.assign(this, { state, feed, refresh, loaded: null, busy: false, turn: null, number: 0 });
		state.windows = this;
		state.onChange((what) => {
			if (what === "view")
				this.later();
		});
	}

	// Shows the overview: the event rates of CPUs, and the gaps.
	async start() {
		const number = ++this.number;
		this.stopped = false;
		this.loaded = null;
		if (await this.load(await this.feed.overview(), number, true))
			this.later();
	}

	// The trace is shown whole from now on, until start() is called again.
	stop() {
		this.number++;
		this.stopped = true;
		this.loaded = null;
		this.later();
		this.state.hint = "";
	}

	later() {
		clearTimeout(this.timer);
		this.timer = this.stopped ? null
			: setTimeout(() => this.update().catch((error) => kt.warn(error.message)), patience);
	}

	covers(from, until) {
		return this.loaded && this.loaded.from <= from && this.loaded.until >= until;
	}

	// Runs the function when no other one is running, so that only one request is in progress at any time.
	alone(run) {
		const turn = this.turn ? this.turn.then(run) : run();
		const end = () => {
			if (this.turn === waited)
				this.turn = null;
		};
		const waited = this.turn = turn.then(end, end);
		return turn;
	}

	async update() {
		if (this.busy)
			return;
		this.busy = true;
		let moved = false;
		try {
			moved = await this.alone(() => this.requestView());
		} finally {
			this.busy = false;
		}
		if (moved)
			this.later();
	}

	// Requests the data of the view, if possible with a margin. Returns whether the view has changed since then.
	async requestView() {
		if (this.stopped)
			return false;
		const { number, state, state: { trace } } = this;
		const view = () => [Math.max(trace.begin, state.from), Math.min(trace.end, state.from + state.length)];
		const [from, until] = view();
		if (until <= from || this.covers(from, until))
			return false;
		const margin = (until - from) / 2;
		await this.request(Math.max(trace.begin, from - margin), Math.min(trace.end, until + margin))
			|| await this.request(from, until);
		return number !== this.number || String([from, until]) !== String(view());
	}

	// Returns false if there are too many events in this period.
	async request(from, until) {
		const { number } = this;
		const { bytes, events } = await this.feed.window(Math.floor(from), Math.ceil(until));
		if (number !== this.number)
			return true;
		this.state.hint = bytes ? "" : "Zoom in to see threads and states: this part has " + kt.number(events)
			+ " events.";
		if (bytes && await this.load(bytes, number))
			this.loaded = { from, until };
		this.state.changed("hint");
		return bytes !== null;
	}

	// Shows an event anywhere in the trace, with about `share` of all events around it, and selects it. `find` returns
	// {id, time} of the event, or null. Returns whether the event is selected.
	async goTo(find, share = 20000 / this.state.trace.head.events) {
		const place = this.stopped ? null : await find();
		return place ? this.alone(() => this.showPlace(place, share)) : false;
	}

	async showPlace(place, share) {
		if (this.stopped)
			return false;
		const { state } = this;
		const { trace } = state;
		trace.end = Math.max(trace.end, place.time);	// the event may be newer than the head
		const length = (trace.end - trace.begin) * Math.min(share, 1);
		const from = Math.max(trace.begin, place.time - length / 2);
		if (!this.covers(from, from + length / 2) && !await this.request(from, Math.min(trace.end, from + length)))
			return share > 1e-9 && this.showPlace(place, share / 8);
		const event = trace.events.find(place.id);
		if (event < 0)
			return false;
		state.show(place.time - length / 8, length / 4);
		state.selectEvent(event);
		state.reveal();
		return true;
	}

	// Replaces the data of the trace. Selects the same span, event or lane again if the new data contains it.
	// Returns false if the data is discarded.
	async load(bytes, number, isOverview) {
		const plain = [];
		for (const block of kt.splitBlocks(bytes))
			plain.push(await kt.inflate(block));
		if (number !== this.number)
			return false;
		const { trace, selection } = this.state;
		if (isOverview)
			trace.gaps = [];
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
		else if (this.wanted)
			this.selectWanted();
		if (!isOverview)
			this.wanted = null;
		return true;
	}

	// Selects what the address of the page selects, if the first part that is loaded contains it.
	selectWanted() {
		const found = kt.selectionFrom(this.state.trace, this.wanted);
		if (found)
			this.state.select(found);
	}
}

kt.Windows = Windows;
})(globalThis.ktrace ??= {});

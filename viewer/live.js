// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Follows a trace that grows: fetches the recorded data again and again, and shows its newest part. Each fetch also
// renews the verdict.
"use strict";
(function (kt) {
const pause = 1000;	// minimum time in ms between two fetches
const share = 4;	// ratio of the pause to the duration of a fetch: ktrace open works at most a fifth of the time

class Live {
	constructor(page, feed) {
		Object.assign(this, { page, feed, on: false, number: 0 });
		this.button = kt.el("button", { type: "button", id: "live", "aria-pressed": "false",
			title: "Fetch what is recorded, and show its newest part (Shift F)",
			onclick: () => this.toggle() }, "Follow");
		kt.id("whole").before(this.button);
	}

	toggle() {
		this.on = !this.on;
		this.button.setAttribute("aria-pressed", String(this.on));
		clearTimeout(this.timer);
		if (this.on)
			this.step();
		else
			this.number++;
	}

	async step() {
		const begin = performance.now();
		const number = this.number + 1;	// number of this fetch
		try {
			await this.fetch();
		} catch (error) {
			if (number !== this.number)
				return;
			// After kt.Renewed, the next fetch gets data that belongs together.
			if (!(error instanceof kt.Renewed)) {
				kt.warn("The trace cannot be followed: " + error.message);
				this.on = true;
				this.toggle();
			}
		}
		if (this.on && number === this.number)
			this.timer = setTimeout(() => this.step(), Math.max(pause, share * (performance.now() - begin)));
	}

	// Replaces the trace, but keeps what the newer data no longer contains. All data is fetched first, so that the
	// page never shows a part of it. A fetch that ends after a newer one began, or after the user has stopped
	// following, changes nothing.
	async fetch() {
		const { state, trace } = this.page;
		const number = ++this.number;
		await this.feed.renew();
		const head = await this.feed.head();
		if (head.whole === false)
			return number === this.number ? this.fetchLong(head, number) : null;
		const plain = [];
		for (let bytes = await this.feed.block(0); bytes; bytes = await this.feed.block(plain.length)) {
			const { bytes: block, error } = await kt.inflate(bytes);
			if (error)
				throw new Error("block " + plain.length + " is damaged: " + error);
			plain.push(block);
		}
		if (number !== this.number)
			return null;
		this.page.windows?.stop();
		const selected = kt.selectionText(trace, state.selection);
		const old = kt.keptTake(trace);
		const wasLong = trace.head.whole === false;	// then only a window of it is loaded, and nothing is kept
		trace.takeHead(head);
		trace.restart();
		for (const bytes of plain)
			kt.decodeBlock(bytes, trace, "a block");
		const joined = wasLong ? kt.runOf(head) === old.run : kt.keptJoin(trace, old);
		if (!joined)
			kt.say("The guest has started again.");
		this.page.refresh();
		head.events = trace.events.count;
		this.page.showHead(head);
		this.page.relayout();
		state.selection = joined && selected ? kt.selectionFrom(trace, selected) : null;
		return this.showNow();
	}

	showNow() {
		const { state, trace } = this.page;
		if (this.page.open > 0)
			this.page.fillTab();
		state.show(trace.end - state.length * 0.95, state.length);
	}

	// A long trace is shown in windows, so nothing of it needs to be kept. The head is replaced at once.
	async fetchLong(head, number) {
		const { page, feed } = this;
		const same = kt.runOf(head) === kt.runOf(page.trace.head);
		const { why, taken } = same ? page.trace.head : {};
		if (!same)
			page.state.selection = null;
		page.trace.takeHead({ ...head, why, taken });
		page.windows ??= new kt.Windows(page.state, feed, () => page.refresh());
		await page.windows.start();
		if (number === this.number)
			this.showNow();
		await kt.fetchVerdict(page.state, () => page.verdict());
	}
}

kt.Live = Live;
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Follows a trace that grows: fetches what was recorded, again and again, and shows the newest part. Each fetch renews
// the verdict, too.
"use strict";
(function (kt) {
const pause = 1000;	// ms between two fetches, at least
const share = 4;	// the pause is this many times as long as the fetch: ktrace open works a fifth of the time

class Live {
	constructor(page, feed) {
		Object.assign(this, { page, feed, on: false });
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
	}

	async step() {
		const begin = performance.now();
		try {
			await this.fetch();
		} catch (error) {
			kt.warn("The trace cannot be followed: " + error.message);
			this.on = true;
			this.toggle();
		}
		if (this.on)
			this.timer = setTimeout(() => this.step(), Math.max(pause, share * (performance.now() - begin)));
	}

	// Replaces the trace, but keeps what the newer data no longer contains. All data is fetched first, so that the
	// page never shows a part of it.
	async fetch() {
		const { state, trace } = this.page;
		await this.feed.renew();
		const head = await this.feed.head();
		if (head.whole === false)
			return this.fetchLong(head);
		const plain = [];
		for (let bytes = await this.feed.block(0); bytes; bytes = await this.feed.block(plain.length))
			plain.push((await kt.inflate(bytes)).bytes);
		const selected = kt.selectionText(trace, state.selection);
		const old = head.base === trace.head.base ? kt.keptTake(trace) : null;
		trace.takeHead(head);
		trace.restart();
		for (const bytes of plain)
			kt.decodeBlock(bytes, trace, "a block");
		if (old && !kt.keptJoin(trace, old))
			kt.say("The guest has started again.");
		this.page.refresh();
		head.events = trace.events.count;
		this.page.showHead(head);
		this.page.relayout();
		state.selection = selected ? kt.selectionFrom(trace, selected) : null;
		this.showNow();
	}

	showNow() {
		const { state, trace } = this.page;
		if (this.page.open > 0)
			this.page.fillTab();
		state.show(trace.end - state.length * 0.95, state.length);
	}

	// A long trace is shown in windows, so nothing of it needs to be kept.
	async fetchLong(head) {
		const { page, feed } = this;
		page.trace.takeHead({ ...head, why: page.trace.head.why });
		page.windows ??= new kt.Windows(page.state, feed, () => page.refresh());
		await page.windows.start();
		this.showNow();
		await kt.fetchVerdict(page.state, () => page.verdict());
	}
}

kt.Live = Live;
})(globalThis.ktrace ??= {});

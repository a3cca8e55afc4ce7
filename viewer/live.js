// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Follows a running guest: fetches what it has recorded, again and again, and shows the newest part.
"use strict";
(function (kt) {
const pause = 1000;	// ms between two fetches

class Live {
	constructor(page, feed) {
		Object.assign(this, { page, feed, on: false });
		this.button = kt.el("button", { type: "button", id: "live", "aria-pressed": "false",
			title: "Fetch what the guest records, and show its newest part", onclick: () => this.toggle() }, "Follow");
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
		try {
			await this.fetch();
		} catch (error) {
			kt.warn("The guest cannot be followed: " + error.message);
			this.on = true;
			this.toggle();
		}
		if (this.on)
			this.timer = setTimeout(() => this.step(), pause);
	}

	// Replaces the trace. All data is fetched first, so that the page never shows a part of it.
	async fetch() {
		const { state, trace } = this.page;
		await this.feed.renew();
		const head = await this.feed.head();
		const plain = [];
		for (let bytes = await this.feed.block(0); bytes; bytes = await this.feed.block(plain.length))
			plain.push((await kt.inflate(bytes)).bytes);
		const selected = kt.selectionText(trace, state.selection);
		trace.takeHead(head);
		trace.restart();
		for (const bytes of plain)
			kt.decodeBlock(bytes, trace, "a block");
		this.page.refresh();
		this.page.showHead(head);
		this.page.relayout();
		state.selection = selected ? kt.selectionFrom(trace, selected) : null;
		state.show(trace.end - state.length * 0.95, state.length);
	}
}

kt.Live = Live;
})(globalThis.ktrace ??= {});

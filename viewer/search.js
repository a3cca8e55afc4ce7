// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Search: spans, events and lanes whose name contains the text; "1.6661" is the event with this identifier.
"use strict";
(function (kt) {
const most = 20000;	// maximum number of hits

// Returns the hits in order of time: {time, strip, i}, {time, event} or {time, lane}.
kt.search = function (trace, text) {
	const wanted = text.trim().toLowerCase();
	if (!wanted)
		return [];
	if (/^\d+\.\d+$/.test(wanted)) {
		const event = trace.events.find(wanted);
		return event < 0 ? [] : [{ time: trace.events.time[event], event }];
	}
	const hits = [];
	for (const lane of trace.lanes)
		if ((lane.name || kt.laneName(lane)).toLowerCase().includes(wanted))
			hits.push({ time: -1, lane });
	const names = trace.strings.map((name) => name.toLowerCase().includes(wanted));
	for (const lane of trace.lanes)
		for (const row of lane.rows)
			for (const strip of row ? row.strips : [])
				for (let i = 0; i < strip.count && hits.length < most; i++)
					if (names[strip.name[i]])
						hits.push({ time: strip.begin[i], strip, i });
	const types = new Set([...trace.types.values()].filter((type) => type.name.toLowerCase().includes(wanted)).map(
		(type) => type.id));
	for (let event = 0; types.size && event < trace.events.count && hits.length < most; event++)
		if (types.has(trace.events.column("type", event)))
			hits.push({ time: trace.events.time[event], event });
	return hits.sort((a, b) => a.time - b.time);
};

// Returns an expression for the server: events whose name contains the text.
function whereOf(text) {
	return 'event ~ "*' + text.replace(/[^\w.-]/g, "?") + '*"';
}

class Search {
	constructor(state, input, output) {
		this.state = state;
		this.input = input;
		this.output = output;
		this.at = -1;
		input.addEventListener("input", () => this.run());
		input.addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				this.step(event.shiftKey ? -1 : 1);
			if (event.key === "Escape")
				kt.id("lanes").focus();
		});
	}

	run() {
		this.state.found = kt.search(this.state.trace, this.input.value);
		this.at = -1;
		this.report();
		this.state.changed("found");
	}

	// Searches again, because the data of the trace was replaced. The current hit remains the current one.
	renew() {
		const hit = this.state.found[this.at];
		this.run();
		this.at = hit ? this.state.found.findIndex((other) => other.time === hit.time && other.lane === hit.lane
			&& !other.strip === !hit.strip) : -1;
		this.report();
	}

	report() {
		const count = this.state.found.length;
		this.output.textContent = !this.input.value ? "" : count ? (this.at + 1) + " of " + kt.number(count)
			+ (count >= most ? " or more" : "") : "nothing found";
		if (this.input.value && this.state.windows && !this.state.windows.stopped)
			this.output.textContent += " in this part (Enter: further)";
	}

	// Selects the next or previous hit. The first step forward selects the first lane that was found, or the first hit
	// that is not before the beginning of the view. The first step backward selects the last hit.
	step(way) {
		const { found, from, windows } = this.state;
		if (way > 0 && this.at + 1 >= found.length && this.input.value && windows && !windows.stopped)
			return void this.further(windows);
		if (!found.length)
			return;
		if (this.at < 0 && way > 0)
			this.at = Math.max(0, found.findIndex((hit) => hit.lane || hit.time >= from));
		else
			this.at = (Math.max(this.at, 0) + way + found.length) % found.length;
		const hit = found[this.at];
		if (hit.strip)
			this.state.selectSpan(hit.strip, hit.i);
		else if (hit.lane)
			this.state.select({ kind: "lane", lane: hit.lane });
		else
			this.state.selectEvent(hit.event);
		this.state.reveal();
		this.report();
	}

	// Lets the server search the part of the trace that follows: for an event whose name contains the text, or for the
	// event that has this identifier. Names of spans and lanes are only found in the part that is loaded.
	async further(windows) {
		const { state } = this;
		const text = this.input.value.trim();
		const from = Math.max(0, Math.ceil(windows.loaded?.until ?? (state.selectedTime()?.until + 1 || state.from)));
		const isId = /^\d+\.\d+$/.test(text);
		const names = [...state.trace.types.values()].map((type) => type.name.toLowerCase());
		if (!isId && !names.some((name) => name.includes(text.toLowerCase())))
			return kt.say("No event has this name. Lanes and spans are searched only in the part that is shown.");
		if (isId)
			await kt.goTo(state, async () => kt.placeOf(await state.feed.event(text)), "Event " + text);
		else
			await kt.goTo(state, () => state.feed.search(whereOf(text), from), "Another event");
		this.at = state.found.findIndex((hit) => hit.event !== undefined && hit.event === state.selection?.event);
		this.report();
	}
}

kt.Search = Search;
})(globalThis.ktrace ??= {});

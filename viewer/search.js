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

	report() {
		const count = this.state.found.length;
		this.output.textContent = !this.input.value ? "" : count ? (this.at + 1) + " of " + kt.number(count)
			+ (count >= most ? " or more" : "") : "nothing found";
	}

	// Selects the next or previous hit. The first step forward selects the first lane that was found, or the first hit
	// that is not before the beginning of the view. The first step backward selects the last hit.
	step(way) {
		const { found, from } = this.state;
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
}

kt.Search = Search;
})(globalThis.ktrace ??= {});

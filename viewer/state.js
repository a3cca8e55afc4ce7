// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// What the page shows now: which part of the time, what is selected, marks. Other code reads it here.
"use strict";
(function (kt) {
class State {
	constructor(trace) {
		this.trace = trace;
		this.layout = new kt.Layout(trace);
		this.from = trace.begin;
		this.length = trace.end - trace.begin;
		this.scroll = 0;
		// null, {kind: "span", strip, i, lane}, {kind: "event", event, lane} or {kind: "lane", lane}
		this.selection = null;
		this.measure = null;	// null or {from, until}
		this.marks = [];	// times of the marks
		this.theme = "light";
		this.themeChosen = false;	// true if the reader chose the theme, so that it does not follow the system
		this.hint = "";	// what the user can do to see more
		this.found = [];	// result of the search
		this.listeners = [];
		this.width = 1000;
		this.height = 400;
	}

	// Registers a function that is called with the argument of changed() after a change: "view", "selection", "scroll",
	// "marks" (also of the measurement), "pointer", "found" or "hint".
	onChange(listener) {
		this.listeners.push(listener);
	}

	changed(what) {
		for (const listener of this.listeners)
			listener(what);
	}

	chooseTheme(theme) {
		this.theme = theme;
		this.themeChosen = true;
	}

	// Shows a period of time. The view is limited to the trace and its surroundings.
	show(from, length) {
		if (!Number.isFinite(from + length))
			return;
		const whole = this.trace.end - this.trace.begin;
		this.length = Math.min(Math.max(length, 10), whole * 1.1);
		this.from = Math.min(Math.max(from, this.trace.begin - this.length * 0.5), this.trace.end - this.length * 0.5);
		this.changed("view");
	}

	showWhole() {
		const whole = this.trace.end - this.trace.begin;
		this.show(this.trace.begin - whole * 0.01, whole * 1.02);
	}

	// Zooms by a factor. The time at the fraction `share` of the width does not move.
	zoom(factor, share) {
		const fixed = this.from + this.length * share;
		const whole = this.trace.end - this.trace.begin;
		const length = Math.min(Math.max(this.length * factor, 10), whole * 1.1);
		this.show(fixed - length * share, length);
	}

	pan(share) {
		this.show(this.from + this.length * share, this.length);
	}

	select(selection) {
		this.selection = selection;
		this.changed("selection");
	}

	selectSpan(strip, i) {
		this.select({ kind: "span", strip, i, lane: strip.lane });
	}

	selectEvent(event) {
		const lane = this.trace.lanes[this.trace.events.column("lane", event)]
			?? this.trace.lane(0, this.trace.events.cpu(event));
		this.select({ kind: "event", event, lane });
	}

	// Returns the period of the selected span or event, or else the measured period: {from, until}, or null.
	selectedTime() {
		const s = this.selection;
		if (s?.kind === "span")
			return { from: s.strip.begin[s.i], until: s.strip.end[s.i] };
		if (s?.kind === "event")
			return { from: this.trace.events.time[s.event], until: this.trace.events.time[s.event] };
		return this.measure;
	}

	// Moves the view so that the selection is visible. Changes the zoom only if the selection would be too narrow to
	// see. If the selection is wider than the view, shows its beginning.
	reveal() {
		const time = this.selectedTime();
		if (time && time.until > time.from && (time.until - time.from) * 400 < this.length)
			this.fit();
		else if (time && (time.from < this.from || time.from > this.from + this.length * 0.9))
			this.show(time.from - this.length * 0.25, this.length);
		this.revealLane();
	}

	revealLane() {
		const lane = this.selection?.lane;
		const row = lane && this.layout.rowOf(lane, this.selection.strip);
		if (!row)
			return;
		if (row.y < this.scroll + 24 || row.y + row.height > this.scroll + this.height - 24) {
			this.scroll = Math.max(0, row.y - this.height / 3);
			this.changed("scroll");
		}
	}

	// Zooms the view to the selection.
	fit() {
		const time = this.selectedTime();
		if (!time)
			return;
		const length = Math.max(time.until - time.from, this.trace.events.count ? 1000 : 10);
		this.show(time.from - length * 0.25, length * 1.5);
	}
}

kt.State = State;
})(globalThis.ktrace ??= {});

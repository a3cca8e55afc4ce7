// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// The address of a view: #t=begin&d=length&sel=…, in nanoseconds. Reloading the page, or sending its address,
// shows the same part, the same lanes, selection, marks, measurement and colours.
"use strict";
(function (kt) {
// Returns a text that identifies the selection, so that it can be found again.
kt.selectionText = function (trace, s) {
	if (s?.kind === "event")
		return "e" + trace.events.idOf(s.event);
	if (s?.kind === "span")
		return "s" + [s.lane.key, s.strip.row, s.strip.depth, s.strip.begin[s.i]].join(",");
	return s ? "l" + s.lane.key : "";
};

// Returns the theme that the address names, or undefined.
kt.themeOf = (hash) => ["light", "dark"].find((name) => name === new URLSearchParams(hash.slice(1)).get("theme"));

// Returns the names of folded groups and lanes in an address.
function foldsOf(text) {
	try {
		return JSON.parse(text).filter((name) => typeof name === "string");
	} catch {
		return kt.foldedFirst;
	}
}

// Returns the times in an address that are separated by spaces.
const timesOf = (text) => (text || "").split(" ").filter((time) => time).map(Number).filter(Number.isFinite);

// Returns an address (URL) that shows the current view again.
kt.linkOf = function (state) {
	const parts = new URLSearchParams({ t: Math.round(state.from), d: Math.round(state.length) });
	const selected = kt.selectionText(state.trace, state.selection);
	if (selected)
		parts.set("sel", selected);
	if (state.layout.pinned.size)
		parts.set("pin", [...state.layout.pinned].join(" "));
	const measured = state.measure ? [state.measure.from, state.measure.until] : [];
	for (const [name, times] of [["marks", state.marks], ["measure", measured]])
		if (times.length)
			parts.set(name, times.map(Math.round).join(" "));
	if (state.layout.filter)
		parts.set("lanes", state.layout.filter);
	const folds = JSON.stringify([...state.layout.folded]);
	if (folds !== JSON.stringify(kt.foldedFirst))
		parts.set("fold", folds);
	if (state.themeChosen)
		parts.set("theme", state.theme);
	return "#" + parts;
};

// Finds the selection that the text identifies. Returns null if there is none.
kt.selectionFrom = function (trace, text) {
	if (text[0] === "e") {
		const event = trace.events.find(text.slice(1));
		return event < 0 ? null : { kind: "event", event,
			lane: trace.lanes[trace.events.column("lane", event)] ?? trace.lane(0, trace.events.cpu(event)) };
	}
	if (text[0] === "l") {
		const lane = trace.byKey.get(text.slice(1));
		return lane ? { kind: "lane", lane } : null;
	}
	const [key, row, depth, begin] = text.slice(1).split(",");
	const strip = trace.byKey.get(key)?.strip(Number(row), Number(depth));
	const i = strip ? strip.firstFrom(Number(begin)) : 0;
	const found = strip && i < strip.count && strip.begin[i] === Number(begin);
	return found ? { kind: "span", strip, i, lane: strip.lane } : null;
};

// Shows the view that the address describes. Returns false if it describes none.
kt.openLink = function (state, hash) {
	const parts = new URLSearchParams(hash.replace(/^#/, ""));
	const [from, length] = ["t", "d"].map((name) => Number(parts.get(name)));
	if (!parts.has("d") || !(length > 0) || !Number.isFinite(from))
		return false;
	for (const key of (parts.get("pin") || "").split(" "))
		if (state.trace.byKey.has(key))
			state.layout.pinned.add(key);
	state.marks = timesOf(parts.get("marks"));
	const [begin, until, more] = timesOf(parts.get("measure"));
	state.measure = begin < until && more === undefined ? { from: begin, until } : null;
	state.layout.filter = parts.get("lanes") || "";
	state.layout.folded = new Set(foldsOf(parts.get("fold")));
	if (kt.themeOf(hash))
		state.chooseTheme(kt.themeOf(hash));
	state.show(from, length);
	const selection = parts.has("sel") ? kt.selectionFrom(state.trace, parts.get("sel")) : null;
	if (selection)
		state.select(selection);
	else if (state.windows)
		state.windows.wanted = parts.get("sel");
	return true;
};
})(globalThis.ktrace ??= {});

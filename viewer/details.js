// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// The panel that describes the selection, and the events around it.
"use strict";
(function (kt) {
const around = 40;	// maximum number of events in the list
const contexts = ["", "interrupt", "NMI"];

// Returns a table. Each row is a name and a value.
function pairs(rows) {
	return kt.el("table", {}, kt.el("tbody", {}, ...rows.filter((row) => row && row[1] !== "").map(([name, value]) =>
		kt.el("tr", {}, kt.el("td", { class: "dim" }, name), kt.el("td", {}, value)))));
}

// Returns the duration of a span as text. If the end of the span is unknown, the text begins with "at least".
kt.spanTime = function (strip, i) {
	return (strip.flags[i] & 2 ? "at least " : "") + kt.duration(strip.end[i] - strip.begin[i]);
};

function laneLink(state, lane) {
	return lane ? kt.action(kt.laneName(lane), "Show this lane", () => {
		state.select({ kind: "lane", lane });
		state.reveal();
	}) : "";
}

// Fetches the part of a long trace around an event, and selects the event. `find` is as in Windows.goTo().
kt.goTo = async function (state, find, name) {
	kt.say(name + ": ktrace open searches the trace…");
	try {
		kt.say(await state.windows?.goTo(find) ? name + " is shown" : name + " was not found");
	} catch (error) {
		kt.say(error.message);
	}
};

// Returns a link to an event. If the page does not contain this event, returns text without a link.
kt.eventLink = function (state, id, text = id) {
	const find = () => state.trace.events.find(id);
	return find() < 0 && state.trace.head.whole !== false ? text : kt.action(text, "Show this event", () => {
		if (find() < 0)
			return void kt.goTo(state, async () => kt.placeOf(await state.feed.event(id)), "Event " + id);
		state.selectEvent(find());
		state.reveal();
	});
};

// Returns the next span (way 1) or the previous span (way -1) of the same name and class, or null.
kt.sameKind = function (strip, i, way) {
	for (let j = i + way; j >= 0 && j < strip.count; j += way)
		if (strip.name[j] === strip.name[i] && strip.kind[j] === strip.kind[i])
			return j;
	return null;
};

function stepButton(state, strip, i, way) {
	const j = kt.sameKind(strip, i, way);
	return j === null ? null : kt.action(way < 0 ? "← previous of this kind ( , )  " : "next of this kind ( . ) →", "",
		() => {
			state.selectSpan(strip, j);
			state.reveal();
		});
}

// Describes the thread that ended this wait.
function woken(state, selection) {
	const [item] = kt.arrowsOf(state.trace, selection);
	if (!item)
		return null;
	return ["woken by", kt.el("span", {}, laneLink(state, item.from), " at " + kt.moment(item.time) + ", event ",
		kt.eventLink(state, item.ring + "." + item.slot),
		item.length ? ", ran " + kt.duration(item.length) + " later" : "")];
}

function describeSpan(state, { strip, i }) {
	const { trace } = state;
	const other = trace.lanes[strip.other[i]];
	const kind = strip.kind[i];
	const id = strip.ring[i] + "." + strip.slot[i];
	const endless = strip.flags[i] & 2;
	const open = endless && strip.end[i] >= trace.end;
	const flags = [strip.flags[i] & 1 ? "begin unknown" : "", endless && !open ? "end unknown" : "",
		open ? "open at the end of the trace" : ""];
	return kt.el("div", { class: "part" }, kt.el("h3", {}, kt.spanName(trace, strip, i)), pairs([
		["kind", kt.className(kind)],
		["lane", laneLink(state, strip.lane)],
		other ? [kind === 13 ? "lock held by" : other.kind === 0 ? "CPU" : "thread", laneLink(state, other)] : null,
		["begin", kt.moment(strip.begin[i])],
		["duration", kt.spanTime(strip, i)],
		[endless ? "lasts until at least" : "end", kt.moment(strip.end[i])],
		["note", flags.filter((text) => text).join(", ")],
		id === "0.0" ? null : ["begins with event", kt.eventLink(state, id)],
		woken(state, { kind: "span", strip, i, lane: strip.lane }),
	]), stepButton(state, strip, i, -1), stepButton(state, strip, i, 1));
}

function describeEvent(state, { event }) {
	const { trace } = state;
	const { events } = trace;
	const box = kt.el("div", { class: "part" }, kt.el("h3", {}, trace.typeName(events.column("type", event))), pairs([
		["time", kt.moment(events.time[event])],
		["CPU", events.cpu(event) < 0 ? "" : String(events.cpu(event))],
		["thread", laneLink(state, trace.lanes[events.column("lane", event)])],
		["context", contexts[events.column("context", event)] ?? ""],
		["event", events.idOf(event)],
		...kt.namedFields(trace, event).map(({ name, text }) => [name, text]),
		["recorded at", trace.stackOf(event).join(" ← ")],
	]));
	more(state, event, box);
	return box;
}

// Returns the name of an address in the code: function+offset (file:line).
function placeText(place) {
	return (place.function ? place.function + "+" + place.offset : place.address)
		+ (place.file ? " (" + place.file + ":" + place.line + ")" : "");
}

// Asks the server, if there is one, for the addresses in the code that recorded the event.
async function more(state, event, box) {
	const { events } = state.trace;
	const answer = await state.feed?.event?.(events.idOf(event), events.time[event]).catch((error) =>
		void box.append(kt.el("p", { class: "dim" }, "code: unknown, because " + error.message)));
	const places = answer ? [answer.site, ...(answer.callers || [])].filter((place) => place) : [];
	box.append(pairs([["source line", answer?.file ? answer.file + ":" + answer.line : ""],
		["code", places.map(placeText).join(" ← ")]]));
}

// Returns the fields of an event as one text.
kt.fieldText = function (trace, event) {
	return kt.namedFields(trace, event).map(({ name, text }) => name + "=" + text).join(" ");
};

function eventRow(state, event, now) {
	const { trace } = state;
	const { events } = trace;
	const lane = trace.lanes[events.column("lane", event)];
	return kt.el("tr", { class: now ? "now" : null },
		kt.el("td", { class: "number" }, kt.time(events.time[event])),
		kt.el("td", { class: "number" }, events.cpu(event) < 0 ? "" : String(events.cpu(event))),
		kt.el("td", {}, lane ? lane.name || String(lane.number) : ""),
		kt.el("td", {}, kt.action(trace.typeName(events.column("type", event)), "Select this event", () => {
			state.selectEvent(event);
			state.reveal();
		})),
		kt.el("td", {}, kt.fieldText(trace, event)));
}

// Lists events of the lane, or of all lanes, around a time. Marks the selected event, or the event that begins the
// selected span.
function eventsAround(state, time, lane) {
	const { events } = state.trace;
	const s = state.selection;
	const marked = s.kind === "span" ? events.find(s.strip.ring[s.i] + "." + s.strip.slot[s.i]) : s.event;
	const own = lane && lane.events.length ? lane.events : null;
	const count = own ? own.length : events.count;
	const middle = kt.lower(own ? lane.times : events.time, time);
	const first = Math.max(0, Math.min(middle - around / 4, count - around));
	const rows = [];
	for (let i = first; i < Math.min(count, first + around); i++) {
		const event = own ? own[i] : i;
		rows.push(eventRow(state, event, event === marked));
	}
	if (!rows.length)
		return null;
	return kt.el("div", { class: "part wide" }, kt.el("h3", {}, "Events around this time",
		own ? " in " + kt.laneName(lane) : ""), kt.el("table", {}, kt.el("thead", {}, kt.el("tr", {},
		...["time (s)", "CPU", "thread", "event", "fields"].map((title) => kt.el("th", {}, title)))),
	kt.el("tbody", {}, ...rows)));
}

function describeLane(state, { lane }) {
	return kt.el("div", { class: "part" }, kt.el("h3", {}, kt.laneName(lane)), pairs([
		["process or group", lane.group],
		["events", lane.times ? kt.number(lane.times.length) : ""],
		["keys", "P pins this lane, C folds it, → selects its first span in view"],
	]));
}

// Fills the panel with details of the selection.
kt.showDetails = function (state, body) {
	const s = state.selection;
	if (!s) {
		kt.fill(body, kt.el("p", { class: "dim" }, "Nothing is selected. Click a span, or press ↓ and →."));
		return;
	}
	const time = state.selectedTime();
	kt.fill(body, s.kind === "span" ? describeSpan(state, s) : s.kind === "event" ? describeEvent(state, s)
		: describeLane(state, s), eventsAround(state, s.kind === "lane" ? state.from : time.from, s.lane));
};

// Returns a sentence about the selection for screen readers.
kt.describe = function (state) {
	const s = state.selection;
	const { trace } = state;
	if (s?.kind === "span")
		return kt.spanName(trace, s.strip, s.i) + ", " + kt.className(s.strip.kind[s.i])
			+ ", " + kt.spanTime(s.strip, s.i) + ", " + kt.laneName(s.lane) + ", at "
			+ kt.moment(s.strip.begin[s.i]);
	if (s?.kind === "event")
		return trace.typeName(trace.events.column("type", s.event)) + " at " + kt.moment(trace.events.time[s.event])
			+ ", " + kt.fieldText(trace, s.event);
	return s ? kt.laneName(s.lane) : "Nothing is selected";
};

// Shows a message for some seconds, and makes screen readers speak it.
kt.say = function (text) {
	const box = kt.id("message");
	kt.speak(text);
	box.textContent = text;
	clearTimeout(box.timer);
	box.timer = setTimeout(() => box.textContent = "", 8000);
};

kt.speak = (text) => { kt.id("spoken").textContent = text; };
})(globalThis.ktrace ??= {});

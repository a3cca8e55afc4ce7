// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// The verdict of ktrace why, at the top of the page. Threads, CPUs and events in its lines are links into the lanes.
"use strict";
(function (kt) {
const waits = [13, 2, 3, 4, 5];	// classes of spans: waits for a lock, runnable, sleeping, blocked, stopped
const holds = [14];

// Returns the last span of the lane that has one of these classes. A wait for a lock is better than the state of
// the thread, which begins a little later.
function lastOf(lane, kinds) {
	let best = null;
	for (const row of [...lane.rows].reverse()) {
		for (const strip of row ? row.strips : []) {
			const i = strip.kind.findLastIndex((kind) => kinds.includes(kind));
			if (i >= 0 && (!best || strip.begin[i] > best.strip.end[best.i]))
				best = { strip, i };
		}
	}
	return best;
}

// Selects what a line states about a lane: the lock that it holds, the wait, or the last state.
function go(state, lane, kinds) {
	const row = lane.rows[0]?.strips[0];
	const found = lastOf(lane, kinds) || (row?.count ? { strip: row, i: row.count - 1 } : null);
	if (found)
		state.selectSpan(found.strip, found.i);
	else
		state.select({ kind: "lane", lane });
	state.reveal();
}

function goEvent(state, id) {
	const event = state.trace.events.find(id);
	if (event < 0)
		return kt.speak("Event " + id + " is not in this page.");
	state.selectEvent(event);
	state.reveal();
}

// Returns the text as nodes, in which "thread 7 (name)" and "CPU 1" are links.
function linked(state, text, kinds) {
	const nodes = [];
	let at = 0;
	for (const match of text.matchAll(/\b(?:thread (\d+)(?: \([^)]*\))?|CPU (\d+))/g)) {
		const lane = match[1] ? state.trace.lane(1, match[1]) : state.trace.lane(0, match[2]);
		if (!lane)
			continue;
		nodes.push(text.slice(at, match.index),
			kt.action(match[0], "Show " + kt.laneName(lane), () => go(state, lane, kinds)));
		at = match.index + match[0].length;
	}
	nodes.push(text.slice(at));
	return nodes;
}

function eventLink(state, id) {
	return id ? kt.el("span", { class: "proof" },
		kt.action("→ event " + id, "Show the event that proves this", () => goEvent(state, id))) : null;
}

// Draws which thread waits for which lock, and which thread holds this lock.
function cycle(state, finding) {
	const all = finding.actors || [];
	const actors = all.filter((actor) => actor.waits);
	if (!actors.length || !all.some((actor) => actor.holds))
		return null;
	const parts = [];
	const box = (actor) => {
		const lane = laneOf(state, actor);
		const show = () => go(state, lane, actor.waits ? waits : holds);
		return kt.el("span", { class: "box" }, lane ? kt.action(actor.text, "Show this thread", show) : actor.text);
	};
	actors.forEach((actor, n) => {
		parts.push(box(actor), kt.el("span", { class: "verb" }, "waits for →"),
			kt.el("span", { class: "box lock" }, actor.waits.name || actor.waits.text),
			kt.el("span", { class: "verb" }, "held by →"));
		const owner = ownerOf(finding, actor);
		if (!owner)
			parts.push(kt.el("span", { class: "dim" }, "?"));
		else if (owner !== actors[n + 1])
			parts.push(box(owner));
	});
	return kt.el("div", { class: "cycle" }, ...parts);
}

// Returns the actor that holds the lock for which an actor waits, or undefined.
function ownerOf(finding, actor) {
	return finding.actors.find((other) => other.holds && other.holds.address === actor.waits.address);
}

function laneOf(state, actor) {
	if (actor.thread !== null && actor.thread !== undefined)
		return state.trace.lane(1, actor.thread);
	return actor.cpu !== null && actor.cpu !== undefined ? state.trace.lane(0, actor.cpu) : undefined;
}

function evidence(state, finding) {
	const lines = finding.evidence || finding.lines || [];
	return kt.el("ul", { class: "evidence" }, ...lines.map((line, number) =>
		kt.el("li", { class: /^\s/.test(line) ? "deep" : null },
			...linked(state, line.trim(), /held by|holds|taken/.test(line) ? holds : waits),
			eventLink(state, finding.events?.[number]))));
}

function finding(state, item) {
	const mark = item.mark === "wrong" ? "wrong" : item.mark === "good" || item.mark === "right" ? "good" : "";
	return kt.el("div", { class: "finding " + mark },
		kt.el("h2", {}, kt.el("span", { class: "badge" }, item.verdict || item.kind),
			kt.el("span", { class: "sure" }, item.sure || item.certain || "", item.partial ? ", partial" : ""),
			...linked(state, item.text || item.what || "", waits), eventLink(state, item.event)),
		cycle(state, item), evidence(state, item),
		item.advice ? kt.el("p", { class: "dim" }, "advice: " + item.advice) : null,
		item.missing && item.missing !== item.advice ? kt.el("p", { class: "dim" }, "missing: " + item.missing) : null);
}

// Writes what a thread waits for into the span of its wait.
function noteWaits(state, finding) {
	for (const actor of finding?.actors || []) {
		const lane = laneOf(state, actor);
		const wait = lane && actor.waits ? lastOf(lane, waits) : null;
		const owner = wait && ownerOf(finding, actor);
		if (wait)
			(wait.strip.notes ??= new Map()).set(wait.i, "waits for " + (actor.waits.text || actor.waits.name)
				+ (owner ? ", held by " + owner.text : ""));
	}
}

// Shows all findings. Puts the lanes that the first problem names on top.
kt.showVerdict = function (state) {
	const findings = state.trace.head.why?.findings || [];
	kt.fill(kt.id("verdict"), ...findings.map((item) => finding(state, item)));
	const worst = findings.find((item) => item.mark === "wrong");
	noteWaits(state, worst);
	const lanes = (worst?.actors || []).map((actor) => laneOf(state, actor)).filter((lane) => lane);
	state.layout.culprits = [...new Set(lanes)].slice(0, 8);
	return worst;
};

// Moves the view to where the first problem began: the locks are taken, the waits begin.
kt.showCause = function (state, worst) {
	const spans = state.layout.culprits.flatMap((lane) => [lastOf(lane, holds), lastOf(lane, waits)]).filter((s) => s);
	const begins = spans.map((span) => span.strip.begin[span.i]);
	if (!begins.length) {
		const event = worst?.event ? state.trace.events.find(worst.event) : -1;
		if (event >= 0)
			state.selectEvent(event);
		return;
	}
	const from = Math.min(...begins);
	// A single wait does not show how it came about: then more of the time before is shown.
	const least = spans.length < 2 ? (state.trace.end - state.trace.begin) * 0.1 : 1000;
	const length = Math.max(Math.max(...begins) - from, least);
	state.show(from - length * 0.6, length * 2.4);
	const lane = state.layout.culprits[0];
	const wait = lastOf(lane, waits);
	if (worst && wait)
		state.selectSpan(wait.strip, wait.i);
};
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// The verdict of ktrace why, at the top of the page. Threads, CPUs and events in its lines are links into the lanes.
"use strict";
(function (kt) {
// classes of spans: waits for a lock, and the states runnable, sleeping, blocked, stopped
const waits = [13, 2, 3, 4, 5];
const holds = [14];

// Returns the lane's last span that has one of these classes. Prefers a wait for a lock to a state of the thread,
// because the state begins a little later than the wait.
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

// Returns true if the span has no known end before the end of the trace.
function isOpen(state, { strip, i }) {
	return (strip.flags[i] & 2) !== 0 || strip.end[i] >= state.trace.last;
}

// Selects what a line of the verdict is about: the lock that the lane holds, its wait, or its last state.
function go(state, lane, kinds) {
	const row = lane.rows[0]?.strips[0];
	const found = lastOf(lane, kinds) || (row?.count ? { strip: row, i: row.count - 1 } : null);
	if (found)
		state.selectSpan(found.strip, found.i);
	else
		state.select({ kind: "lane", lane });
	state.reveal();
}

// Returns the lanes to which "thread 7 (name)" and "CPU 1" in the text refer: [{match, lane}].
function named(state, text) {
	return [...text.matchAll(/\b(?:thread (\d+)(?: \([^)]*\))?|CPU (\d+))/g)].map((match) => ({ match,
		lane: match[1] ? state.trace.lane(1, match[1]) : state.trace.lane(0, match[2]) })).filter(({ lane }) => lane);
}

// Returns the text as nodes in which threads and CPUs are links.
function linked(state, text, kinds) {
	const nodes = [];
	let at = 0;
	for (const { match, lane } of named(state, text)) {
		nodes.push(text.slice(at, match.index),
			kt.action(match[0], "Show " + kt.laneName(lane), () => go(state, lane, kinds)));
		at = match.index + match[0].length;
	}
	nodes.push(text.slice(at));
	return nodes;
}

function eventLink(state, id) {
	return id ? kt.el("span", { class: "proof" }, kt.eventLink(state, id, "→ event " + id)) : null;
}

// Draws which thread waits for which lock, and which thread holds that lock.
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
		const owner = ownerOf(finding, actor);
		parts.push(box(actor), kt.el("span", { class: "verb" }, "waits for →"),
			kt.el("span", { class: "box lock" }, actor.waits.name || actor.waits.text));
		if (owner)
			parts.push(kt.el("span", { class: "verb" }, "held by →"));
		if (owner && owner !== actors[n + 1])
			parts.push(box(owner));
	});
	return kt.el("div", { class: "cycle" }, ...parts);
}

// Returns the actor that holds the lock for which this actor waits, or undefined.
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
			kt.el("span", { class: "sure" }, [item.kind !== "unknown" && (item.sure || item.certain),
				item.partial && "partial"].filter(Boolean).join(", ")),
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

// Fetches the verdict of a long trace, which takes some time. If no verdict is known yet, or if the request fails, a
// sentence is shown instead. If there are several requests, only the answer to the last one is used.
kt.fetchVerdict = async function (state, show) {
	const { trace, feed } = state;
	const number = state.verdicts = (state.verdicts ?? 0) + 1;
	const say = (text) => kt.fill(kt.id("verdict"), kt.el("p", { class: "dim" }, text));
	if (!trace.head.why)
		say("ktrace why reads the trace…");
	try {
		const { why, taken } = await feed.verdict();
		if (number !== state.verdicts)
			return;
		trace.takeHead({ ...trace.head, why, taken });
		show();
	} catch (error) {
		if (number !== state.verdicts)
			return;
		say("The verdict is missing: " + error.message + ". Run: ktrace why " + (trace.head.file || "FILE"));
	}
};

// Returns the finding that the first view shows: the first problem or, if there is none, the first note about a thread
// or CPU, such as the longest wait of a machine that is alive.
kt.worstOf = (findings) => findings.find((item) => item.mark === "wrong")
	?? findings.find((item) => item.mark === "note" && item.actors?.length > 0);

// Shows all findings. Moves the lanes that the first problem names to the top. Returns this problem, or undefined.
kt.showVerdict = function (state) {
	const { why, redacted } = state.trace.head;
	const findings = why?.findings?.length || !redacted || !why?.verdict ? why?.findings || []
		: [{ verdict: why.verdict, text: "The text is left out, because the page is redacted." }];
	kt.fill(kt.id("verdict"), ...findings.map((item) => finding(state, item)));
	const worst = kt.worstOf(findings);
	noteWaits(state, worst);
	const texts = worst ? [worst.text || worst.what || "", ...(worst.evidence || worst.lines || [])] : [];
	const lanes = [...(worst?.actors || []).map((actor) => laneOf(state, actor)).filter((lane) => lane),
		...texts.flatMap((text) => named(state, text)).map(({ lane }) => lane)];
	state.layout.culprits = [...new Set(lanes)].slice(0, 8);
	return worst;
};

// Shows a period of time. Only a small part of the view is after the end of the trace.
function showPart(state, from, length) {
	const { begin, end } = state.trace;
	const most = Math.min(length, (end - begin) * 1.02);
	state.show(Math.max(begin - most * 0.05, Math.min(from, end - most * 0.95)), most);
}

// Moves the view to the time at which the first problem began: when the locks were taken and the waits began. If no
// wait is still open at the end of the trace, selects the event that proves the problem.
kt.showCause = function (state, worst) {
	const { trace } = state;
	const actors = (worst?.actors || []).map((actor) => laneOf(state, actor)).filter((lane) => lane);
	const open = (kinds) => actors.map((lane) => lastOf(lane, kinds)).filter((span) => span && isOpen(state, span));
	const [wait] = open(waits);
	if (!wait) {
		const event = worst?.event ? trace.events.find(worst.event) : -1;
		if (event < 0)
			return;
		const length = (trace.last - trace.begin) * 0.3;
		showPart(state, trace.events.time[event] - length * 0.6, length);
		state.selectEvent(event);
		return;
	}
	const spans = [...open(holds), ...open(waits)];
	const begins = spans.map((span) => span.strip.begin[span.i]);
	const from = Math.min(...begins);
	// a single wait does not show its own cause, so more of the time before it is shown
	const least = spans.length < 2 ? (trace.last - trace.begin) * 0.3 : 1000;
	const length = Math.max(Math.max(...begins) - from, least);
	showPart(state, from - length * 0.6, length * 2.4);
	state.selectSpan(wait.strip, wait.i);
};
})(globalThis.ktrace ??= {});

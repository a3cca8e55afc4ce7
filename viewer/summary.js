// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// The tab with totals: the numbers of ktrace summary, and the time of each thread in each state.
"use strict";
(function (kt) {
const states = [[1, "running"], [2, "runnable"], [3, "sleeping"], [4, "blocked"]];

// Returns the number of events of each type in the page.
kt.countTypes = function (trace) {
	const counts = new Map();
	for (const chunk of trace.events.chunks)
		for (const type of chunk.type)
			counts.set(type, (counts.get(type) || 0) + 1);
	return counts;
};

// Returns the total time of each class of spans on the first row of a lane, if there is one.
kt.timeByClass = function (lane) {
	const sums = new Float64Array(16);
	for (const strip of lane?.rows[0]?.strips || [])
		for (let i = 0; i < strip.count; i++)
			sums[strip.kind[i] & 15] += strip.end[i] - strip.begin[i];
	return sums;
};

function part(title, ...children) {
	return kt.el("div", { class: "part" }, kt.el("h3", {}, title), ...children);
}

// Fills the panel with the summary.
kt.showSummary = function (state, body) {
	const { trace } = state;
	const summary = trace.head.summary || {};
	const held = kt.countTypes(trace);
	const whole = trace.head.whole !== false;
	const totals = [["events", summary.events], ["lost slots", summary.lost_slots], ["CPUs", summary.cpus],
		["seconds", summary.seconds], ["kernel", summary.kernel], ["machine", summary.machine],
		["build", summary.build_id],
		["ended", summary.ended ?? summary.outcome]].filter(([, value]) => value !== undefined && value !== null);
	const total = kt.el("table", { id: "totals" }, kt.el("tbody", {}, ...totals.map(([name, value]) =>
		kt.el("tr", {}, kt.el("td", { class: "dim" }, name), kt.el("td", {}, String(value))))));
	const events = kt.table(["event", "events", "in this page"], (summary.by_event || []).map((row) =>
		[row.event, row.records, whole ? held.get(row.id) || 0 : "-"]), 1);
	events.id = "by-event";
	const threads = kt.table(["thread", "", "events", ...states.map(([, name]) => name)],
		(summary.by_thread || []).map((row) => {
			const sums = kt.timeByClass(trace.lane(1, row.thread));
			return [String(row.thread), row.name || "", row.records, ...states.map(([kind]) =>
				sums[kind] ? kt.duration(sums[kind]) : "")];
		}), 2);
	threads.id = "by-thread";
	const cpus = kt.table(["CPU", "events", "busy"], (summary.by_cpu || []).map((row) => {
		const sums = kt.timeByClass(trace.lane(0, row.cpu));
		return [String(row.cpu), row.records, kt.percent(sums[1], sums[1] + sums[8])];
	}), 1);
	cpus.id = "by-cpu";
	kt.fill(body, part("Totals", total), part("CPUs", cpus), part("Events", events), part("Threads", threads));
};
})(globalThis.ktrace ??= {});

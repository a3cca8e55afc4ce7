// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Draws over the bars: lost events, unknown ends, hits of the search, the selection, arrows, marks, measurements.
"use strict";
(function (kt) {
const mostArrows = 60;	// maximum number of wakeups in view; if there are more, only the selection's are drawn
const patterns = new Map();	// the patterns, keyed by colour

// Returns a pattern of diagonal lines.
function hatching(context, colour) {
	if (!patterns.has(colour)) {
		const tile = kt.el("canvas", { width: 6, height: 6 });
		const pen = tile.getContext("2d");
		pen.strokeStyle = colour;
		pen.lineWidth = 1.2;
		for (const shift of [-6, 0, 6]) {
			pen.moveTo(shift, 6);
			pen.lineTo(shift + 6, 0);
		}
		pen.stroke();
		patterns.set(colour, context.createPattern(tile, "repeat"));
	}
	return patterns.get(colour);
}

// Hatches the rows of a CPU during periods whose events were lost. A gap of an unknown CPU is drawn on all lanes.
function gaps(d) {
	const { context } = d;
	const drawn = new Map();	// for each CPU, x coordinate up to which its rows are hatched
	context.fillStyle = hatching(context, d.colours.gap);
	for (const gap of d.state.trace.gaps) {
		const left = Math.max(d.gutter, d.x(gap.begin));
		const right = Math.min(d.state.width, Math.max(d.x(gap.end), left + 3));
		if (d.x(gap.end) < d.gutter || left >= d.state.width || right <= (drawn.get(gap.cpu) ?? -1))
			continue;
		drawn.set(gap.cpu, right);
		context.globalAlpha = gap.cpu < 0 ? 0.3 : 0.8;
		for (const row of d.rows)
			if (row.lane && (gap.cpu < 0 || (row.lane.kind === 0 && row.lane.number === gap.cpu)))
				context.fillRect(left, d.y(row), right - left, row.height);
	}
	context.globalAlpha = 1;
}

// Hatches the period between the last event and the time at which the trace was taken.
function silence(d) {
	const { context, colours, state } = d;
	const { trace } = state;
	const left = Math.max(d.gutter, d.x(trace.last));
	const right = Math.min(state.width, d.x(trace.end));
	if (trace.end <= trace.last || right <= left)
		return;
	context.globalAlpha = 0.25;
	context.fillStyle = hatching(context, colours.dim);
	context.fillRect(left, d.ruler, right - left, state.height);
	context.globalAlpha = 1;
	line(d, trace.last, colours.dim, [6, 3]);
	label(d, d.cut("no events until the trace was taken", right - left - 12), left + 8);
}

// Writes a text below the lanes, over whatever is drawn there.
function label(d, text, left) {
	const { context, colours, state } = d;
	context.fillStyle = kt.css(colours.back);
	context.fillRect(left - 4, state.height - 24, text ? d.textWidth(text) + 8 : 0, 18);
	context.fillStyle = colours.text;
	context.fillText(text, left, state.height - 14);
}

// Hatches the beginning or end of a wide span if its time is unknown.
function unknownEnds(d) {
	d.context.fillStyle = hatching(d.context, d.colours.gap);
	for (const row of d.rows) {
		for (const i of row.labels) {
			const flags = row.strip.flags[i];
			if (flags & 1)
				d.context.fillRect(Math.max(d.gutter, d.x(row.strip.begin[i])), d.y(row), 5, row.height - 1);
			if (flags & 2)
				d.context.fillRect(Math.min(d.state.width, d.x(row.strip.end[i])) - 7, d.y(row), 7, row.height - 1);
		}
	}
}

// Draws a frame around a span.
function frame(d, strip, i, colour, width) {
	for (const row of d.rows) {
		if (row.strip !== strip)
			continue;
		const left = Math.max(d.gutter - 2, d.x(strip.begin[i]));
		const right = Math.min(d.state.width + 2, Math.max(d.x(strip.end[i]), left + 2));
		d.context.strokeStyle = colour;
		d.context.lineWidth = width;
		d.context.strokeRect(left, d.y(row) + 0.5, right - left, row.height - 2);
	}
}

function line(d, time, colour, dash) {
	const x = Math.round(d.x(time)) + 0.5;
	if (x < d.gutter || x > d.state.width)
		return;
	d.context.strokeStyle = colour;
	d.context.lineWidth = 1;
	d.context.setLineDash(dash || []);
	d.context.beginPath();
	d.context.moveTo(x, 0);
	d.context.lineTo(x, d.state.height);
	d.context.stroke();
	d.context.setLineDash([]);
}

// Draws an arrow from the lane of the waker to the lane of the thread that is woken.
function arrow(d, places, item, colour, width) {
	const from = places.get(item.from);
	const to = places.get(item.to);
	const x = d.x(item.time);
	const end = d.x(item.time + item.length);
	if (from === undefined || to === undefined || end < d.gutter || x > d.state.width)
		return;
	const pen = d.context;
	const down = to > from ? 1 : -1;
	pen.strokeStyle = pen.fillStyle = colour;
	pen.lineWidth = width;
	pen.beginPath();
	pen.moveTo(x, from);
	pen.bezierCurveTo(x + 14, from, end - 14, to, end, to);
	pen.stroke();
	pen.beginPath();
	pen.moveTo(end, to);
	pen.lineTo(end - 4 * width, to - 3 - down);
	pen.lineTo(end - 4 * width, to + 3 - down);
	pen.fill();
}

function arrows(d) {
	const { trace, selection } = d.state;
	const places = new Map();
	for (const row of d.state.layout.rows)
		if (row.first && !places.has(row.lane))
			places.set(row.lane, d.y(row) + 8);
	const all = trace.arrows;
	const first = kt.lower(trace.arrowTimes, d.from);
	let last = first;
	while (last < all.length && last - first <= mostArrows && all[last].time < d.from + d.state.length)
		last++;
	if (last - first <= mostArrows)
		for (let i = first; i < last; i++)
			arrow(d, places, all[i], d.colours.dim, 0.7);
	if (!selection)
		return;
	selection.arrows ??= kt.arrowsOf(trace, selection);
	for (const item of selection.arrows)
		arrow(d, places, item, d.colours.link, 1.8);
}

// Returns the arrows that belong to the selection: of the wakeup that ended the selected sleep, or that the selected
// event reports.
kt.arrowsOf = function (trace, selection) {
	if (selection?.kind === "event") {
		const id = trace.events.idOf(selection.event);
		return trace.arrows.filter((item) => item.ring + "." + item.slot === id);
	}
	if (selection?.kind !== "span" || selection.lane.kind !== 1 || selection.strip.row !== 0)
		return [];
	const begin = selection.strip.begin[selection.i];
	const end = selection.strip.end[selection.i];
	const item = trace.wakeOf(selection.lane, end);
	return item && item.time + item.length >= begin && item.time <= end ? [item] : [];
};

// Draws everything that is drawn over the bars.
kt.drawMarks = function (d) {
	const { state, context, colours } = d;
	context.save();
	context.beginPath();
	context.rect(d.gutter, d.ruler, state.width - d.gutter, state.height - d.ruler);
	context.clip();
	silence(d);
	gaps(d);
	unknownEnds(d);
	for (const hit of state.found.slice(0, 2000))
		if (hit.strip)
			frame(d, hit.strip, hit.i, colours.link, 1);
	arrows(d);
	const s = state.selection;
	if (s?.kind === "span")
		frame(d, s.strip, s.i, colours.strong, 2);
	if (s?.kind === "event")
		line(d, state.trace.events.time[s.event], colours.link);
	if (state.hint)
		label(d, state.hint, d.gutter + 12);
	if (d.pointer)
		line(d, d.time(d.pointer.x), colours.dim, [2, 3]);
	context.restore();
};

// Draws the marks and the measurement, over the lanes and the ruler.
kt.drawRulerMarks = function (d) {
	const { state, context, colours } = d;
	state.marks.forEach((time, number) => {
		line(d, time, colours.bad);
		const x = d.x(time);
		if (x >= d.gutter) {
			context.fillStyle = colours.bad;
			context.fillRect(x, 0, 16, 13);
			context.fillStyle = "#ffffff";
			context.fillText(String(number + 1), x + 4, 7);
		}
	});
	if (!state.measure)
		return;
	const { from, until } = state.measure;
	const left = Math.max(d.gutter, d.x(from));
	const right = Math.min(state.width, d.x(until));
	if (right < left)
		return;
	context.globalAlpha = 0.15;
	context.fillStyle = colours.link;
	context.fillRect(left, d.ruler, right - left, state.height);
	context.globalAlpha = 1;
	line(d, from, colours.link);
	line(d, until, colours.link);
	context.fillStyle = colours.link;
	context.fillRect(left, 2, Math.max(right - left, 70), d.ruler - 5);
	context.fillStyle = colours.name === "dark" ? "#10141a" : "#ffffff";
	context.fillText(kt.duration(until - from), left + 5, d.ruler / 2);
};
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Mouse and keyboard.
"use strict";
(function (kt) {
const keys = [
	["W / S", "zoom in, zoom out"], ["A / D", "move left, right (with Shift: a whole page)"],
	["0", "show the whole trace"], ["F", "fit the view to the selection"],
	["Shift F", "follow a trace that grows, or stop following it"],
	["← / →", "select the previous, next span of the lane"], ["↑ / ↓", "select the lane above, below"],
	["E / Shift E", "select the next, previous event of the lane"],
	[", / .", "previous, next span of the same kind"], ["G", "show the next gap, where events were lost"],
	["/", "search; Enter and Shift Enter go to the next, previous hit"], ["N / Shift N", "next, previous hit"],
	["L", "show only some lanes"], ["P", "pin the lane on top, or unpin it"], ["C", "fold or unfold the lane"],
	["Shift C", "fold or unfold all lanes"],
	["M", "measure the selection; M and drag, or Shift and drag: measure a time"],
	["K", "set a mark at the pointer, or at the selection; again: remove it"], ["[ / ]", "previous, next mark"],
	["1 … 4", "selection, summary, flame graph on CPU, off CPU"], ["V", "go to the verdict"],
	["T", "dark or light"], ["Esc", "remove the selection and the measurement"], ["?", "this list"],
	["drag, wheel", "move; the wheel with Ctrl zooms, with Shift it moves in time"],
];

kt.showHelp = function () {
	const dialog = kt.id("keys");
	kt.fill(dialog, kt.el("h3", {}, "Keys"), kt.el("table", {}, kt.el("tbody", {}, ...keys.map(([key, text]) =>
		kt.el("tr", {}, kt.el("td", {}, kt.el("kbd", {}, key)), kt.el("td", {}, text))))),
	kt.el("form", { method: "dialog" }, kt.el("button", {}, "Close")));
	dialog.showModal();
};

class Input {
	constructor(state, drawing, page) {
		Object.assign(this, { state, drawing, page, held: false, drag: null });
		const area = kt.id("lanes");
		area.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		area.addEventListener("pointerdown", (event) => this.press(event));
		area.addEventListener("pointermove", (event) => this.move(event));
		area.addEventListener("pointerup", (event) => this.release(event));
		area.addEventListener("pointerleave", () => this.leave());
		area.addEventListener("dblclick", () => state.fit());
		document.addEventListener("keydown", (event) => this.key(event));
		document.addEventListener("keyup", (event) => {
			if (event.key.toLowerCase() === "m")
				this.held = false;
		});
	}

	place(event) {
		const box = this.drawing.canvas.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	wheel(event) {
		const { state, drawing } = this;
		if (event.ctrlKey || event.altKey) {
			event.preventDefault();
			const share = (this.place(event).x - drawing.gutter) / drawing.plot;
			state.zoom(1.0025 ** event.deltaY, Math.min(1, Math.max(0, share)));
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			state.pan((event.deltaX || event.deltaY) / drawing.plot);
		}
	}

	press(event) {
		const at = this.place(event);
		if (event.button !== 0 || at.x >= this.drawing.canvas.clientWidth)
			return;
		this.drag = { at, from: this.state.from, scroll: this.state.scroll, moved: false,
			measure: event.shiftKey || this.held };
		if (at.x >= this.drawing.gutter)
			kt.id("lanes").setPointerCapture(event.pointerId);
	}

	move(event) {
		const at = this.place(event);
		const { drag, state, drawing } = this;
		drawing.pointer = at.x >= drawing.gutter ? at : null;
		if (drag && Math.abs(at.x - drag.at.x) + Math.abs(at.y - drag.at.y) > 3)
			drag.moved = true;
		if (drag?.moved && drag.measure) {
			const times = [drawing.time(drag.at.x), drawing.time(at.x)].map((time) => this.snap(time, at.y));
			state.measure = { from: Math.min(...times), until: Math.max(...times) };
		} else if (drag?.moved) {
			kt.id("lanes").scrollTop = drag.scroll - (at.y - drag.at.y);
			state.show(drag.from - (at.x - drag.at.x) / drawing.plot * state.length, state.length);
		}
		this.tip(drag ? null : at);
		state.changed(drag?.measure ? "marks" : "pointer");
	}

	// If the pointer is close to the beginning or end of the span under it, returns that time; otherwise the time
	// at the pointer.
	snap(time, y) {
		const hit = this.hit({ x: this.drawing.x(time), y });
		if (hit?.kind !== "span")
			return time;
		const near = 6 * this.drawing.step * this.drawing.ratio;
		return [hit.strip.begin[hit.i], hit.strip.end[hit.i]].find((edge) => Math.abs(edge - time) < near) ?? time;
	}

	release(event) {
		const { drag, state } = this;
		this.drag = null;
		if (!drag || drag.moved)
			return;
		const at = this.place(event);
		const hit = this.hit(at);
		if (hit?.kind === "head")
			this.page.fold(hit.group);
		else if (hit)
			state.select(hit);
		state.measure = null;
		state.changed("marks");
	}

	leave() {
		this.drawing.pointer = null;
		this.tip(null);
		this.state.changed("pointer");
	}

	// Returns what is at a position of the canvas, in the form of a selection, or null.
	hit({ x, y }) {
		const { state, drawing } = this;
		const row = y < drawing.ruler ? null : state.layout.at(y + state.scroll - drawing.ruler);
		if (!row)
			return null;
		if (row.kind === "head")
			return { kind: "head", group: row.group };
		if (x < drawing.gutter || row.kind === "space")
			return { kind: "lane", lane: row.lane };
		const time = drawing.time(x);
		if (row.kind === "spans") {
			const i = nearest(row.strip, time, 3 * drawing.step * drawing.ratio);
			return i < 0 ? { kind: "lane", lane: row.lane } : { kind: "span", strip: row.strip, i, lane: row.lane };
		}
		if (row.kind === "events" && row.lane.times?.length) {
			const at = kt.lower(row.lane.times, time - 3 * drawing.step * drawing.ratio);
			if (at < row.lane.times.length && row.lane.times[at] < time + 5 * drawing.step * drawing.ratio)
				return { kind: "event", event: row.lane.events[at], lane: row.lane };
		}
		return { kind: "lane", lane: row.lane };
	}

	// Shows information about what is under the pointer.
	tip(at) {
		const tip = kt.id("tip");
		const hit = at && this.hit(at);
		const { state } = this;
		tip.style.display = hit && hit.kind !== "head" && hit.kind !== "lane" ? "block" : "none";
		if (tip.style.display === "none")
			return;
		if (hit.kind === "span")
			tip.textContent = spanText(state.trace, hit);
		else
			tip.textContent = state.trace.typeName(state.trace.events.column("type", hit.event)) + "\n"
				+ kt.fieldText(state.trace, hit.event).slice(0, 300);
		const area = kt.id("lanes");
		tip.style.left = Math.min(at.x + 14, state.width - 300) + "px";
		tip.style.top = area.offsetTop + Math.min(at.y + 16, state.height - 44) + "px";
	}

	key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|TEXTAREA|SELECT/.test(event.target.tagName)
			|| kt.id("keys").open)
			return;
		const shift = event.shiftKey;
		const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
		const inPanel = kt.id("panel").contains(event.target) || kt.id("verdict").contains(event.target);
		if (inPanel && /^Arrow|^Enter$|^ $/.test(event.key))
			return;
		const run = this.commands(shift)[name];
		if (!run)
			return;
		event.preventDefault();
		run();
	}

	// Returns an object that maps the names of keys to commands.
	commands(shift) {
		const { state, page } = this;
		return {
			w: () => state.zoom(0.7, this.share()), s: () => state.zoom(1 / 0.7, this.share()),
			a: () => state.pan(shift ? -1 : -0.15), d: () => state.pan(shift ? 1 : 0.15),
			0: () => state.showWhole(), f: () => shift ? page.live?.toggle() : state.fit(),
			ArrowLeft: () => this.neighbour(-1), ArrowRight: () => this.neighbour(1),
			ArrowUp: () => this.lane(-1), ArrowDown: () => this.lane(1),
			e: () => this.event(shift ? -1 : 1),
			",": () => this.same(-1), ".": () => this.same(1),
			g: () => this.gap(),
			"/": () => kt.id("search").select(), l: () => kt.id("filter").select(),
			n: () => page.search.step(shift ? -1 : 1),
			p: () => page.pin(), c: () => page.foldLane(shift),
			m: () => this.measure(), k: () => this.mark(), "[": () => this.goMark(-1), "]": () => this.goMark(1),
			1: () => page.tab(0), 2: () => page.tab(1), 3: () => page.tab(2), 4: () => page.tab(3),
			v: () => kt.id("verdict").querySelector("button")?.focus(),
			t: () => page.theme(), "?": () => kt.showHelp(),
			Escape: () => {
				state.measure = null;
				state.select(null);
			},
		};
	}

	share() {
		const { drawing } = this;
		return drawing.pointer ? (drawing.pointer.x - drawing.gutter) / drawing.plot : 0.5;
	}

	// Selects the next or previous span of the selected row, or, if no span is selected, the first span in view.
	neighbour(way) {
		const { state } = this;
		const s = state.selection;
		if (s?.kind === "span") {
			const i = s.i + way;
			if (i < 0 || i >= s.strip.count)
				return;
			state.selectSpan(s.strip, i);
		} else {
			const row = state.layout.rows.find((r) => r.kind === "spans" && (!s || r.lane === s.lane));
			if (!row)
				return this.event(way);
			state.selectSpan(row.strip, Math.min(row.strip.count - 1, row.strip.firstAfter(state.from)));
		}
		state.reveal();
	}

	// Selects the row above or below the selected one.
	lane(way) {
		const { state } = this;
		const s = state.selection;
		const rows = state.layout.rows.filter((row) => row.kind === "spans" || (row.first && row.kind !== "head"));
		const at = !s ? -1 : rows.findIndex((row) => s.strip ? row.strip === s.strip : row.lane === s.lane);
		const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + way))];
		if (!row)
			return;
		const time = s && state.selectedTime();
		const i = row.strip ? row.strip.firstAfter(time ? Math.max(time.from, state.from) : state.from) : -1;
		if (row.strip && row.strip.count)
			state.selectSpan(row.strip, Math.min(i, row.strip.count - 1));
		else
			state.select({ kind: "lane", lane: row.lane });
		state.revealLane();
	}

	// Selects the next or previous event of the lane, or of all lanes.
	event(way) {
		const { state } = this;
		const { events } = state.trace;
		const s = state.selection;
		const own = s?.lane?.events.length ? s.lane.events : null;
		const time = state.selectedTime()?.from ?? state.from;
		let at;
		if (s?.kind === "event")
			at = (own ? own.indexOf(s.event) : s.event) + way;
		else
			at = kt.lower(own ? s.lane.times : events.time, time) - (way < 0 ? 1 : 0);
		const event = own ? own[at] : at;
		if (event === undefined || event < 0 || event >= events.count)
			return;
		state.select({ kind: "event", event, lane: own ? s.lane : state.trace.lanes[events.column("lane", event)] });
		state.reveal();
	}

	same(way) {
		const s = this.state.selection;
		const i = s?.kind === "span" ? kt.sameKind(s.strip, s.i, way) : null;
		if (i === null)
			return;
		this.state.selectSpan(s.strip, i);
		this.state.reveal();
	}

	gap() {
		const { state } = this;
		const middle = state.from + state.length / 2;
		const gaps = state.trace.gaps;
		const next = gaps.find((gap) => (gap.begin + gap.end) / 2 > middle + 1) ?? gaps[0];
		if (!next)
			return kt.say("No events were lost.");
		const length = Math.max(state.length, (next.end - next.begin) * 1.5);
		state.show((next.begin + next.end - length) / 2, length);
		const cpu = next.cpu < 0 ? "an unknown CPU" : "CPU " + next.cpu;
		kt.say((next.lost ? kt.number(next.lost) : "An unknown number of") + " slots of " + cpu + " were lost");
	}

	measure() {
		this.held = true;
		const time = this.state.selectedTime();
		if (time && !this.drag) {
			this.state.measure = time;
			this.state.changed("marks");
		}
	}

	mark() {
		const { state, drawing } = this;
		const time = drawing.pointer ? drawing.time(drawing.pointer.x) : state.selectedTime()?.from;
		if (time === undefined)
			return;
		const near = 6 * drawing.step * drawing.ratio;
		const at = state.marks.findIndex((mark) => Math.abs(mark - time) < near);
		if (at >= 0)
			state.marks.splice(at, 1);
		else
			state.marks.push(time);
		state.changed("marks");
	}

	goMark(way) {
		const { state } = this;
		const middle = state.from + state.length / 2;
		const sorted = [...state.marks].sort((a, b) => way * (a - b));
		const time = sorted.find((mark) => way * (mark - middle) > state.length / 1000) ?? sorted[0];
		if (time !== undefined)
			state.show(time - state.length / 2, state.length);
	}
}

// Returns two lines that describe a span.
function spanText(trace, { strip, i, lane }) {
	return kt.spanName(trace, strip, i) + "  " + kt.spanTime(strip, i) + "\n"
		+ kt.className(strip.kind[i]) + " · " + kt.laneName(lane) + " · at " + kt.moment(strip.begin[i]);
}

// Returns the span at the time. If there is none, returns the next or previous span within the distance, or -1.
function nearest(strip, time, distance) {
	const at = strip.at(time);
	if (at >= 0)
		return at;
	const next = strip.firstAfter(time);
	if (next < strip.count && strip.begin[next] - time < distance)
		return next;
	return next > 0 && time - strip.end[next - 1] < distance ? next - 1 : -1;
}

kt.Input = Input;
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Flame graphs of the visible time: time on a CPU (thread, then nested spans), or time off the CPUs (thread, nested
// spans, then the state).
"use strict";
(function (kt) {
const on = [1];
const off = [2, 3, 4, 5];
const least = 0.002;	// minimum share of the whole; narrower nodes are not drawn

const node = (name) => ({ name, time: 0, children: new Map() });

function child(parent, name) {
	let found = parent.children.get(name);
	if (!found)
		parent.children.set(name, found = node(name));
	return found;
}

// Adds the period [from, until) of a thread to the tree, divided among its nested spans. Calls `leaf` for
// the rest of the time of each node.
function walk(lane, depth, from, until, parent, trace, leaf) {
	parent.time += until - from;
	const strip = lane.strip(1, depth);
	let at = from;
	for (let i = strip ? strip.firstAfter(from) : 0; strip && i < strip.count && strip.begin[i] < until; i++) {
		const begin = Math.max(at, strip.begin[i]);
		const end = Math.min(until, strip.end[i]);
		if (end <= begin)
			continue;
		leaf(parent, begin - at);
		walk(lane, depth + 1, begin, end, child(parent, kt.spanName(trace, strip, i)), trace, leaf);
		at = end;
	}
	leaf(parent, until - at);
}

// Returns the tree of all threads, except idle threads, for the states `kinds` in the period [from, until).
kt.flameTree = function (trace, kinds, from, until) {
	const root = node("all threads");
	for (const lane of trace.lanes) {
		const strip = lane.kind === 1 && !lane.idle ? lane.strip(0, 0) : null;
		for (let i = strip ? strip.firstAfter(from) : 0; strip && i < strip.count && strip.begin[i] < until; i++) {
			if (!kinds.includes(strip.kind[i]))
				continue;
			const begin = Math.max(from, strip.begin[i]);
			const end = Math.min(until, strip.end[i]);
			const name = kinds === on ? null : kt.spanName(trace, strip, i);
			root.time += end - begin;
			walk(lane, 0, begin, end, child(root, lane.name || "thread " + lane.number), trace, (parent, time) => {
				if (name && time > 0)
					child(parent, name).time += time;
			});
		}
	}
	return root;
};

// Draws the boxes of a node and its children. A click on a box shows its node over the whole width.
function boxes(area, item, depth, left, width, all, choose) {
	if (width < least)
		return depth;
	const box = kt.el("button", { type: "button", class: "flame", title: item.name + "\n" + kt.duration(item.time)
		+ ", " + kt.percent(item.time, all), onclick: () => choose(item) }, item.name);
	box.style.left = left * 100 + "%";
	box.style.width = "calc(" + width * 100 + "% - 1px)";
	box.style.top = depth * 18 + "px";
	box.style.background = kt.colours("light").css[kt.tintOf(item.name)];
	area.append(box);
	let deepest = depth + 1;
	let at = left;
	for (const next of [...item.children.values()].sort((a, b) => b.time - a.time)) {
		const share = width * next.time / item.time;
		deepest = Math.max(deepest, boxes(area, next, depth + 1, at, share, all, choose));
		at += share;
	}
	return deepest;
}

// Fills the panel with a flame graph.
kt.showFlame = function (state, body, isOn) {
	const root = kt.flameTree(state.trace, isOn ? on : off, state.from, state.from + state.length);
	const area = kt.el("div", { class: "flames" });
	const draw = (item) => {
		area.replaceChildren();
		const depth = boxes(area, item, 0, 0, 1, root.time, (next) => draw(next === item ? root : next));
		area.style.height = depth * 18 + "px";
	};
	const text = (isOn ? "Time on CPUs" : "Time not on a CPU") + " in the visible part, by thread and span: "
		+ kt.duration(root.time) + ". A click shows a box over the whole width.";
	if (root.time > 0)
		draw(root);
	kt.fill(body, kt.el("div", { class: "part wide" }, kt.el("h3", {}, text), area));
};
})(globalThis.ktrace ??= {});

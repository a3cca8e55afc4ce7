// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Writes times, numbers and names as text.
"use strict";
(function (kt) {
// True if the frequency of the trace's clock is unknown, so that times are ticks.
kt.useTicks = false;

const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

// Returns a duration with four digits and a unit: 12.35 ms.
kt.duration = function (ns) {
	if (kt.useTicks)
		return kt.number(Math.round(ns)) + " ticks";
	const size = Math.abs(ns);
	for (const [scale, unit] of units) {
		if (size >= scale * 0.99995) {	// a value that would be rounded to 1000 us is written as 1 ms
			const value = ns / scale;
			const digits = unit === "ns" ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value))));
			return value.toFixed(Math.min(3, digits)) + " " + unit;
		}
	}
	return "0 ns";
};

// Returns a time since the start of the trace in seconds, in the form of ktrace show: 1.234567890.
kt.time = function (ns) {
	if (kt.useTicks)
		return String(Math.round(ns));
	const whole = Math.floor(Math.round(ns) / 1e9);
	return whole + "." + String(Math.round(ns) - whole * 1e9).padStart(9, "0");
};

// Returns a time with its unit.
kt.moment = (ns) => kt.time(ns) + (kt.useTicks ? " ticks" : " s");

// Returns a time for the ruler, with as many digits as the distance between two marks requires.
kt.tick = function (ns, step) {
	if (ns === 0 || kt.useTicks)
		return kt.number(Math.round(ns));
	for (const [scale, unit] of units) {
		if (Math.abs(ns) >= scale || unit === "ns") {
			const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / scale) - 1e-9)));
			return (ns / scale).toFixed(digits) + " " + unit;
		}
	}
};

// Returns a number with a space between groups of three digits.
kt.number = function (value) {
	return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
};

// Returns a text that states how much was lost, according to the head.
kt.lossText = function (head) {
	if (head.lost === null || (head.lost_at_least && !head.lost))
		return "loss unknown";
	const slots = head.lost === 1 ? " slot lost" : " slots lost";
	return head.lost ? (head.lost_at_least ? "at least " : "") + kt.number(head.lost) + slots : "no slots lost";
};

// Returns a fraction as a percentage.
kt.percent = function (part, whole) {
	return whole > 0 ? (part / whole * 100).toFixed(1) + " %" : "-";
};

const classes = ["other", "running", "runnable", "sleeping", "blocked", "stopped", "dead", "unknown", "idle",
	"user", "system call", "interrupt", "fault", "waits for lock", "holds lock", "function"];
kt.className = (number) => classes[number] || "class " + number;

// Returns the name of a lane: CPU 0, thread 7 (abba/1), memory.free.
kt.laneName = function (lane) {
	if (lane.kind === 0)
		return "CPU " + lane.number;
	if (lane.kind === 1)
		return "thread " + lane.number + (lane.name ? " (" + lane.name + ")" : "");
	return lane.name || "counter " + lane.number;
};
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Names of the numbers in events: threads, locks and queues in locks, interrupts, system calls, addresses.
"use strict";
(function (kt) {
const threads = new Set(["thread", "prev", "next", "child", "from_pid", "to_pid"]);
const locks = new Set(["lock", "queue", "waitq"]);
const callClass = 10;

// Returns a map of the names of locks and interrupts, from events with a field "name". Keys are "lock 0x1000" and "irq
// 4".
function recorded(trace) {
	const { events } = trace;
	if (trace.recorded?.events === events && trace.recorded.count === events.count)
		return trace.recorded.names;
	const names = new Map();
	const naming = new Set([...trace.types.values()].filter(({ fields }) => fields.some(({ name, kind }) =>
		name === "name" && kind === "text") && fields.some(({ name }) => locks.has(name) || name === "irq"))
		.map(({ id }) => id));
	for (const chunk of naming.size ? events.chunks : []) {
		for (let at = 0; at < chunk.count; at++) {
			if (!naming.has(chunk.type[at]))
				continue;
			const fields = kt.fieldsOf(chunk, at, trace.types);
			const name = fields.find((field) => field.name === "name")?.text;
			const key = fields.find((field) => locks.has(field.name) || field.name === "irq");
			if (name && key)
				names.set((key.name === "irq" ? "irq " : "lock ") + key.text, name);
		}
	}
	trace.recorded = { events, count: events.count, names };
	return names;
}

// Returns the name of the system call that begins or returns with the event.
function callName(trace, event) {
	const time = trace.events.time[event];
	const lane = trace.lanes[trace.events.column("lane", event)];
	for (const strip of lane?.rows[1]?.strips ?? []) {
		const next = strip.firstFrom(time);
		const i = [next, next - 1].find((place) => place >= 0 && place < strip.count
			&& strip.kind[place] === callClass && (strip.begin[place] === time || strip.end[place] === time));
		if (i !== undefined)
			return trace.string(strip.name[i]);
	}
	return undefined;
}

// Returns the name for a number in a field of an event, or undefined.
function nameOf(trace, event, field) {
	if (field.kind === "text")
		return undefined;
	if (threads.has(field.name))
		return trace.lane(1, field.text)?.name;
	if (field.name === "irq")
		return recorded(trace).get("irq " + field.text);
	if (field.name === "nr")
		return callName(trace, event);
	return (locks.has(field.name) ? recorded(trace).get("lock " + field.text) : undefined)
		?? (field.kind === "hex" ? trace.symbols.get(field.raw) : undefined);
}

// Returns the fields of an event: [{name, text}]. The text includes the unit, and a name for the number in parentheses.
kt.namedFields = (trace, event) => trace.events.fields(event, trace.types).map((field) => {
	const name = nameOf(trace, event, field);
	return { name: field.name, text: field.text + (field.unit ? " " + field.unit : "")
		+ (name && name !== field.text ? " (" + name + ")" : "") };
});
})(globalThis.ktrace ??= {});

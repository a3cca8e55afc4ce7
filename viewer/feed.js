// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Where the data comes from: elements of this page (ktrace html), or the server that sent the page (ktrace open).
"use strict";
(function (kt) {
const limit = 1 << 30;	// maximum size in bytes of an uncompressed block

// Uncompresses a zlib stream. Returns {bytes, error}; `error` is null or a text. If there is an error, `bytes` are the
// bytes before it.
kt.inflate = async function (bytes) {
	const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
	const parts = [];
	let length = 0;
	let error = null;
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done)
				break;
			parts.push(value);
			length += value.length;
			if (length > limit)
				throw new Error("the block is larger than 1 GB");
		}
	} catch (reason) {
		error = reason.message || String(reason);
	}
	const all = new Uint8Array(length);
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return { bytes: all, error };
};

function fromBase64(text) {
	const raw = atob(text.trim());
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

// For a page that contains the data: one element contains the head, and one element each block.
class Embedded {
	async head() {
		return JSON.parse(kt.id("ktrace-head").textContent);
	}

	// Returns block n, or null after the last block.
	async block(n) {
		const elements = document.querySelectorAll("script.ktrace-block");
		if (n >= elements.length)
			return null;
		const bytes = fromBase64(elements[n].textContent);
		elements[n].textContent = "";	// releases the memory of the element's text
		return bytes;
	}
}

// The server has read the trace again since the page got the head. Data of two readings must not be mixed.
class Renewed extends Error {
	constructor() {
		super("another page made ktrace open read the trace again");
	}
}

// Returns the error that an answer reports.
async function refusal(answer) {
	const text = await answer.text();
	let reason = text;
	try {
		reason = JSON.parse(text).error ?? text;
	} catch {
		// the reason is the text of the answer
	}
	return new Error("ktrace open answered: " + String(reason).slice(0, 500));
}

const readingOf = (answer) => answer.headers.get("Ktrace-Reading");

// Fetches from the server. Returns null if there is no such data (status 404). Throws an error for other refusals. If
// `reading` is given, also throws an error for an answer from a different reading of the trace.
async function find(path, reading) {
	const answer = await fetch(path, { cache: "no-store" });
	if (reading !== undefined && readingOf(answer) !== reading)
		throw new Renewed();
	if (answer.ok)
		return answer;
	if (answer.status === 404)
		return null;
	throw await refusal(answer);
}

// Fetches what the server always has.
async function get(path, reading) {
	const answer = await find(path, reading);
	if (!answer)
		throw new Error("ktrace open does not send this trace any more");
	return answer;
}

// Source of data for a page that came from ktrace open. Paths are relative, because the address of the page contains a
// token.
class Served {
	async head() {
		const answer = await get("head");
		this.reading = readingOf(answer);
		return answer.json();
	}

	async block(n) {
		const answer = await find("blocks?n=" + n, this.reading);
		return answer && new Uint8Array(await answer.arrayBuffer());
	}

	// Requests the page. If the guest of the trace is running, this makes the server read the trace again.
	async renew() {
		await (await get("./")).text();
	}

	async overview() {
		return new Uint8Array(await (await get("overview", this.reading)).arrayBuffer());
	}

	// Returns {bytes}, or {bytes: null, events} if the window contains too many events.
	async window(from, until) {
		const answer = await fetch("window?from=" + from + "&until=" + until, { cache: "no-store" });
		if (answer.status === 413)
			return { bytes: null, events: (await answer.json()).events };
		if (!answer.ok)
			throw await refusal(answer);
		return { bytes: new Uint8Array(await answer.arrayBuffer()) };
	}

	// Returns the members of the head that become known late for a long trace: {why, taken}.
	async verdict() {
		return (await get("verdict")).json();
	}

	// Returns an event in the form of ktrace show --json, or null. Without `time`, the server reads the whole trace.
	async event(id, time) {
		const answer = await find("event?id=" + encodeURIComponent(id) + (time === undefined ? "" : "&time=" + time));
		return answer && answer.json();
	}

	// Returns {id, time} of the first event, at the time or later, for which the expression is true, or null.
	async search(where, from) {
		const answer = await (await get("search?limit=1&from=" + from + "&where=" + encodeURIComponent(where))).json();
		return kt.placeOf(answer.events.find((item) => item.id));
	}
}

// Returns {id, time} of an event that the server sent, with its time in nanoseconds, or null if there is no event.
kt.placeOf = (event) => event ? { id: event.id, time: Math.round(event.time * (kt.useTicks ? 1 : 1e9)) } : null;
kt.Renewed = Renewed;
kt.feed = () => kt.id("ktrace-head") ? new Embedded() : new Served();

// Decodes one compressed block into the trace.
kt.addBlock = async function (trace, bytes, name) {
	const { bytes: plain, error } = await kt.inflate(bytes);
	if (error)
		trace.notes.push(name + ": " + error + "; " + plain.length + " bytes of it could be read");
	kt.decodeBlock(plain, trace, name);
};
})(globalThis.ktrace ??= {});

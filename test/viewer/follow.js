// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Unit tests of how the page follows a trace that grows: answers may arrive in an order different from that
// of their requests.
"use strict";
const assert = require("node:assert");
const zlib = require("node:zlib");
const { Block } = require("./encode.js");

module.exports = function (test, kt) {
	// A piece with events of CPU 0 at these times.
	function piece(times) {
		const bytes = zlib.deflateSync(new Block().lanes([{ kind: 0, number: 0 }]).events(1, 1,
			times.map((time, slot) => ({ time, slot, type: 1 }))).plain());
		return new Uint8Array(Buffer.concat([Buffer.from(Uint32Array.of(bytes.length).buffer), bytes]));
	}

	// A server whose answers arrive when the test calls answer(name, value).
	function slowFeed(...names) {
		const waiting = Object.fromEntries(names.map((name) => [name, []]));
		const feed = Object.fromEntries(names.map((name) => [name, () => new Promise((resolve) =>
			waiting[name].push(resolve))]));
		return { feed, waiting, answer: (name, value) => waiting[name].shift()(value) };
	}

	// Replaces functions of the page that need a browser while the test runs.
	function without(names, run) {
		return async () => {
			const before = names.map((name) => kt[name]);
			for (const name of names)
				kt[name] = () => null;
			try {
				await run();
			} finally {
				names.forEach((name, i) => kt[name] = before[i]);
			}
		};
	}

	const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
	const until = async (test) => {
		while (!test())
			await settle();
	};

	function longState(feed) {
		const trace = new kt.Trace({ begin: 0, end: 1000, whole: false });
		const state = new kt.State(trace);
		state.feed = feed;
		return state;
	}

	function longTrace(server) {
		const state = longState(server.feed);
		const windows = new kt.Windows(state, server.feed, () => state.trace.finish());
		windows.later = () => null;	// the test calls update()
		return { state, windows, times: () => Array.from(state.trace.events.time) };
	}

	test("a window that arrives after a newer overview does not replace it", async () => {
		const server = slowFeed("overview", "window");
		const { windows, times } = longTrace(server);
		const update = windows.update();
		const start = windows.start();
		server.answer("overview", piece([10, 20]));
		await start;
		server.answer("window", { bytes: piece([1, 2, 3]) });
		await update;
		assert.deepStrictEqual(times(), [10, 20]);
		assert.strictEqual(windows.loaded, null);
		const next = windows.update();
		server.answer("window", { bytes: piece([11, 12, 13]) });
		await next;
		assert.deepStrictEqual(times(), [11, 12, 13]);
		assert.notStrictEqual(windows.loaded, null);
	});

	// Lets a page that shows 0 to 100 go to event 1.1 at this time, while it also requests its own window. The server
	// answers the request for the later time first.
	async function goWhileBusy(time) {
		const requests = [];
		const asked = [];
		const { state, windows, times } = longTrace({ feed: { window: (from, end) => new Promise((resolve) => {
			asked.push([from, end]);
			requests.push({ from, resolve });
		}) } });
		state.show(0, 100);
		let found = null;
		const update = windows.update();
		const going = windows.goTo(async () => ({ id: "1.1", time }), 0.1).then((result) => found = result);
		for (let turn = 0; turn < 20; turn++) {
			await settle();
			const next = requests.sort((a, b) => a.from - b.from).pop();
			next?.resolve({ bytes: piece(next.from > 500 ? [time - 10, time] : [1, 2]) });
		}
		await Promise.all([update, going]);
		return { state, windows, found, asked, times: times() };
	}

	test("an event that the page goes to stays shown when an older request is answered later", async () => {
		const { state, windows, found, times } = await goWhileBusy(700);
		assert.deepStrictEqual([found, times], [true, [690, 700]]);
		assert.strictEqual(state.selection?.event, 1);
		assert.ok(windows.covers(690, 710));
	});

	test("the page goes to an event that was recorded after the head was sent", async () => {
		const { state, found, asked } = await goWhileBusy(1500);
		assert.ok(asked.every(([from, end]) => from <= end), String(asked));
		assert.deepStrictEqual([found, state.selection?.event], [true, 1]);
		assert.ok(state.from < 1500 && state.from + state.length > 1500);
	});

	test("a refusal that arrives after a newer overview is not shown", async () => {
		const server = slowFeed("overview", "window");
		const { state, windows } = longTrace(server);
		state.hint = "";
		const update = windows.update();
		const start = windows.start();
		server.answer("overview", piece([10]));
		await start;
		server.answer("window", { bytes: null, events: 12345 });
		await update;
		assert.strictEqual(state.hint, "");
		assert.strictEqual(server.waiting.window.length, 0);
	});

	test("an overview that arrives after a newer one does not replace it", async () => {
		const server = slowFeed("overview", "window");
		const { state, windows, times } = longTrace(server);
		state.trace.gaps = [{ cpu: 0, begin: 1, end: 2, lost: 1 }];
		const [older, newer] = [windows.start(), windows.start()];
		assert.strictEqual(state.trace.gaps.length, 1, "gaps stay until the overview is there");
		server.waiting.overview[1](piece([10, 20]));
		await newer;
		assert.deepStrictEqual(state.trace.gaps, []);
		server.waiting.overview[0](piece([1]));
		await older;
		assert.deepStrictEqual(times(), [10, 20]);
	});

	test("a verdict that arrives after a newer one does not replace it", without(["id", "fill", "el"], async () => {
		const server = slowFeed("verdict");
		const state = longState(server.feed);
		let shown = 0;
		const [older, newer] = [1, 2].map(() => kt.fetchVerdict(state, () => shown++));
		server.waiting.verdict[1]({ why: { verdict: "newer" }, taken: 2000 });
		await newer;
		server.waiting.verdict[0]({ why: { verdict: "older" }, taken: 1500 });
		await older;
		assert.deepStrictEqual([state.trace.head.why.verdict, state.trace.end, shown], ["newer", 2000, 1]);
	}));

	// A page that follows a trace. Each fetch calls the functions of the server, which the test answers.
	function follow(head) {
		const server = slowFeed("renew", "head", "block", "overview", "window", "verdict");
		const trace = new kt.Trace(head);
		const state = new kt.State(trace);
		state.feed = server.feed;
		const page = { state, trace, open: 0, verdict() {}, showHead() {}, relayout() {}, refresh: () => trace.finish(),
			fillTab() {} };
		const live = Object.assign(Object.create(kt.Live.prototype), { page, feed: server.feed, on: true,
			number: 0 });
		const reply = async (name, value) => {
			await until(() => server.waiting[name].length);
			server.answer(name, value);
		};
		return { server, trace, live, page, reply };
	}

	test("a long trace keeps its verdict and the time at which it was taken until newer ones are there",
		without(["id", "fill", "el"], async () => {
			const why = { verdict: "deadlock" };
			const head = { begin: 0, end: 1000, whole: false, base: "7", summary: { nonce: 1 } };
			const { trace, live, reply, page } = follow({ ...head, why, taken: 5000 });
			const fetching = live.fetch();
			await reply("renew");
			await reply("head", { ...head, end: 1100 });
			await reply("overview", piece([10]));
			clearTimeout(page.windows.timer);
			assert.deepStrictEqual([trace.head.why, trace.end], [why, 5000]);
			await reply("verdict", { why, taken: 6000 });
			await fetching;
			assert.strictEqual(trace.end, 6000);
			const again = live.fetch();
			await reply("renew");
			await reply("head", { ...head, end: 900, summary: { nonce: 2 } });
			await reply("overview", piece([10]));
			clearTimeout(page.windows.timer);
			assert.deepStrictEqual([trace.head.why, trace.end], [undefined, 900], "another run has another verdict");
			await reply("verdict", { why, taken: 950 });
			await again;
			clearTimeout(page.windows.timer);
		}));

	test("a fetch that ends after a newer one does not replace its data", async () => {
		const head = { begin: 0, end: 1000, base: "7", summary: { nonce: 1 } };
		const { server, trace, live } = follow(head);
		const [older, newer] = [live.fetch(), live.fetch()];
		server.waiting.renew[1]();
		await until(() => server.waiting.head.length === 1);
		server.answer("head", { ...head, end: 1100 });
		await until(() => server.waiting.block.length);
		server.answer("block", null);
		await newer;
		assert.strictEqual(trace.head.end, 1100);
		server.waiting.renew[0]();
		await until(() => server.waiting.head.length === 1);
		server.answer("head", { ...head, end: 1050 });
		await until(() => server.waiting.block.length);
		server.answer("block", null);
		await older;
		assert.strictEqual(trace.head.end, 1100);
	});

	// The compressed bytes of a block with events of CPU 0 at these times.
	const whole = (times) => zlib.deflateSync(new Block().lanes([{ kind: 0, number: 0 }]).events(1, 1,
		times.map((time, slot) => ({ time, slot, type: 1 }))).plain());

	test("windows of a long trace do not replace a trace that is shown whole", without(["id", "fill", "el", "say"],
		async () => {
			for (const nonce of [1, 2]) {
				const head = { begin: 0, end: 1000, base: "7", summary: { nonce: 1 } };
				const { server, trace, live, page, reply } = follow({ ...head, whole: false });
				const fetching = live.fetch();
				await reply("renew");
				await reply("head", { ...head, whole: false });
				await reply("overview", piece([10]));
				await reply("verdict", { why: { verdict: "busy" }, taken: 1000 });
				await fetching;
				clearTimeout(page.windows.timer);
				page.state.hint = "Zoom in";
				const update = page.windows.update();
				const again = live.fetch();
				await reply("renew");
				await reply("head", { ...head, whole: true, summary: { nonce } });
				await reply("block", whole([500, 600]));
				await reply("block", null);
				await again;
				const times = () => Array.from(trace.events.time);
				assert.deepStrictEqual([times(), page.state.hint], [[500, 600], ""]);
				await reply("window", { bytes: piece([1, 2, 3]) });
				await update;
				assert.deepStrictEqual(times(), [500, 600]);
				page.state.changed("view");
				assert.strictEqual(page.windows.timer, null, "no window is requested");
				assert.strictEqual(server.waiting.window.length, 0);
			}
		}));

	test("a damaged block is an error, and changes nothing", async () => {
		const { trace, live, reply } = follow({ begin: 0, end: 1000, base: "7", summary: { nonce: 1 } });
		kt.decodeBlock(new Uint8Array(zlib.inflateSync(whole([5]))), trace, "block");
		trace.finish();
		const fetching = assert.rejects(live.fetch(), /block 1 is damaged/);
		await reply("renew");
		await reply("head", { ...trace.head, end: 1100 });
		await reply("block", whole([5, 6]));
		await reply("block", whole([7, 8]).subarray(0, 10));
		await fetching;
		assert.deepStrictEqual([trace.end, Array.from(trace.events.time)], [1000, [5]]);
	});

	test("data of another reading of the trace is refused", without(["id"], async () => {
		const before = globalThis.fetch;
		let reading = "1";
		const server = async (path) => {
			const ok = path !== "blocks?n=1";
			return { ok, status: ok ? 200 : 404, headers: new Map([["Ktrace-Reading", reading]]),
				json: async () => ({}), arrayBuffer: async () => new ArrayBuffer(3) };
		};
		globalThis.fetch = server;
		try {
			const feed = kt.feed();
			await feed.head();
			assert.deepStrictEqual([(await feed.block(0)).length, await feed.block(1)], [3, null]);
			reading = "2";
			await assert.rejects(feed.block(0), kt.Renewed);
			await assert.rejects(feed.block(1), kt.Renewed, "the other reading has fewer blocks");
			await assert.rejects(feed.overview(), kt.Renewed);
			globalThis.fetch = async () => ({ ok: false, status: 409, text: async () => '{"error":"another run"}' });
			await assert.rejects(feed.window(0, 1), /another run/);
			globalThis.fetch = server;
			await feed.head();
			assert.strictEqual((await feed.block(0)).length, 3);
		} finally {
			globalThis.fetch = before;
		}
	}));

	test("the page still follows a trace that was read again for another page", without(["warn"], async () => {
		const { live } = follow({ begin: 0, end: 1000 });
		live.button = { setAttribute() {} };
		for (const [error, on] of [[new kt.Renewed(), true], [new Error("gone"), false]]) {
			live.fetch = async () => {
				live.number++;
				throw error;
			};
			live.on = true;
			await live.step();
			clearTimeout(live.timer);
			assert.strictEqual(live.on, on);
		}
	}));

	test("a server that has another address now is named as the reason", without(["id"], async () => {
		const before = globalThis.fetch;
		globalThis.fetch = async () => ({ ok: false, status: 404, headers: new Map(), text: async () => "" });
		try {
			const feed = kt.feed();
			for (const name of ["head", "renew", "overview", "verdict"])
				await assert.rejects(feed[name](), /does not send this trace any more/, name);
			assert.strictEqual(await feed.event("1.1", 0), null);
		} finally {
			globalThis.fetch = before;
		}
	}));

	test("the view stays when the reader stops to follow during a fetch", without(["id", "fill", "el"], async () => {
		const head = { begin: 0, end: 1000, base: "7", summary: { nonce: 1 } };
		for (const isLong of [false, true]) {
			const { server, trace, live, page, reply } = follow(head);
			live.button = { setAttribute() {} };
			const { from } = page.state;
			const fetching = live.fetch();
			await reply("renew");
			if (!isLong)
				live.toggle();
			await reply("head", { ...head, end: 5000, whole: !isLong });
			if (isLong) {
				await until(() => server.waiting.overview.length);
				live.toggle();
				await reply("overview", piece([10]));
				await reply("verdict", { why: { verdict: "busy" }, taken: 5000 });
			} else {
				await reply("block", null);
			}
			await fetching;
			clearTimeout(page.windows?.timer);
			assert.deepStrictEqual([page.state.from, trace.head.end], [from, isLong ? 5000 : 1000]);
		}
	}));

	test("nothing is selected after the guest has started again", without(["say"], async () => {
		const head = { begin: 0, end: 1000, base: "7", summary: { nonce: 1 } };
		for (const nonce of [1, 2]) {
			const { trace, live, page, reply } = follow(head);
			kt.decodeBlock(new Uint8Array(new Block().lanes([{ kind: 0, number: 0 }])
				.events(1, 1, [{ time: 5, slot: 3, type: 1 }]).plain()), trace, "block");
			trace.finish();
			page.state.selection = { kind: "event", event: 0 };
			const fetching = live.fetch();
			await reply("renew");
			await reply("head", { ...head, summary: { nonce } });
			await reply("block", zlib.deflateSync(new Block().lanes([{ kind: 0, number: 0 }])
				.events(1, 1, [{ time: 5, slot: 3, type: 1 }]).plain()));
			await reply("block", null);
			await fetching;
			assert.strictEqual(page.state.selection?.kind, nonce === 1 ? "event" : undefined);
		}
	}));
};

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Starts the page: loads the data, connects the parts, draws when something changed.
"use strict";
(function (kt) {
const tabs = ["Selection", "Summary", "Flame: on CPU", "Flame: off CPU"];

class Page {
	constructor(trace, feed) {
		this.trace = trace;
		this.state = new kt.State(trace);
		this.state.feed = feed;
		this.drawing = new kt.Drawing(this.state, kt.id("canvas"));
		this.overview = new kt.Overview(this.state, kt.id("overview"));
		this.search = new kt.Search(this.state, kt.id("search"), kt.id("found"));
		this.input = new kt.Input(this.state, this.drawing, this);
		this.open = 0;	// number of the selected tab
		this.wanted = location.hash;
		this.ready = false;	// true after all blocks were read
		this.makeTabs();
		this.connect();
	}

	connect() {
		const { state } = this;
		const dark = matchMedia("(prefers-color-scheme: dark)").matches;
		state.theme = kt.themeOf(this.wanted) ?? (dark ? "dark" : "light");
		this.applyTheme();
		kt.id("theme").addEventListener("click", () => this.theme());
		kt.id("whole").addEventListener("click", () => state.showWhole());
		kt.id("help").addEventListener("click", kt.showHelp);
		kt.id("filter").addEventListener("input", (event) => {
			state.layout.filter = event.target.value;
			this.relayout();
			this.saveLater();
		});
		kt.id("lanes").addEventListener("scroll", (event) => {
			state.scroll = event.target.scrollTop;
			this.redraw();
		});
		state.onChange((what) => this.changed(what));
		new ResizeObserver(() => this.resize()).observe(kt.id("lanes"));
		addEventListener("hashchange", () => {
			if (location.hash !== this.hash)
				this.openLink(location.hash);
		});
	}

	// Shows the view that the address describes. Returns false if it describes none.
	openLink(address) {
		const shown = kt.openLink(this.state, address);
		kt.id("filter").value = this.state.layout.filter;
		this.applyTheme();
		this.relayout();
		return shown;
	}

	changed(what) {
		if (what === "scroll")
			kt.id("lanes").scrollTop = this.state.scroll;
		if (what === "selection") {
			if (this.state.selection || this.open === 0)
				this.tab(0);
			kt.speak(kt.describe(this.state));
		}
		if (what === "view" && this.open > 1)
			this.later(() => this.fillTab());
		if (what === "view" || what === "selection" || what === "marks")
			this.saveLater();
		this.redraw();
	}

	// Calls the function after the view has not changed for a short time.
	later(run) {
		clearTimeout(this.timer);
		this.timer = setTimeout(run, 150);
	}

	// Stores the view in the page's address. Does not store it before all blocks are read.
	saveLater() {
		clearTimeout(this.saver);
		if (!this.ready)
			return;
		this.saver = setTimeout(() => {
			this.hash = kt.linkOf(this.state);
			try {
				history.replaceState(null, "", this.hash);
			} catch {
				// Some browsers limit the number of changes per second. The next change of the view stores it.
			}
		}, 150);
	}

	redraw() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			this.drawing.draw();
			this.overview.draw();
		});
	}

	resize() {
		const area = kt.id("lanes");
		this.state.width = Math.max(260, area.clientWidth);
		this.state.height = Math.max(60, area.clientHeight);
		this.relayout();
	}

	relayout() {
		const { layout } = this.state;
		layout.update();
		const height = layout.height + this.drawing.ruler + 12;
		kt.id("spacer").style.height = Math.max(0, height - this.state.height) + "px";
		this.redraw();
	}

	fold(group) {
		const { folded } = this.state.layout;
		if (!folded.delete(group))
			folded.add(group);
		this.relayout();
		this.saveLater();
	}

	// Folds or unfolds the selected lane, or all lanes.
	foldLane(all) {
		const lane = this.state.selection?.lane;
		if (all) {
			const { folded } = this.state.layout;
			const some = this.trace.lanes.some((one) => folded.has(one.key));
			for (const one of this.trace.lanes)
				some ? folded.delete(one.key) : folded.add(one.key);
			this.relayout();
			this.saveLater();
		} else if (lane)
			this.fold(lane.key);
	}

	pin() {
		const lane = this.state.selection?.lane;
		if (!lane)
			return;
		const { pinned } = this.state.layout;
		if (!pinned.delete(lane.key))
			pinned.add(lane.key);
		this.relayout();
		this.saveLater();
		kt.say(kt.laneName(lane) + (pinned.has(lane.key) ? " is pinned" : " is not pinned"));
	}

	theme() {
		this.state.chooseTheme(this.state.theme === "dark" ? "light" : "dark");
		this.applyTheme();
		this.redraw();
		this.saveLater();
	}

	applyTheme() {
		document.documentElement.dataset.theme = this.state.theme;
		kt.id("theme").textContent = this.state.theme === "dark" ? "Light" : "Dark";
	}

	makeTabs() {
		kt.fill(kt.id("tabs"), ...tabs.map((title, number) => kt.el("button", { type: "button", role: "tab",
			id: "tab" + number, onclick: () => this.tab(number) }, title)));
	}

	tab(number) {
		this.open = number;
		tabs.forEach((_, other) => kt.id("tab" + other).setAttribute("aria-selected", String(other === number)));
		this.fillTab();
	}

	fillTab() {
		const body = kt.id("body");
		body.scrollTop = 0;
		if (this.open === 0)
			kt.showDetails(this.state, body);
		else if (this.open === 1)
			kt.showSummary(this.state, body);
		else
			kt.showFlame(this.state, body, this.open === 2);
	}

	// Starts using the data that was loaded.
	refresh() {
		this.trace.finish();
		for (const lane of this.trace.lanes)
			lane.tint ??= lane.kind < 2 ? kt.tintOfNumber(lane.number + lane.kind * 3) : kt.tintOf(lane.name);
		for (const lane of this.trace.lanes)
			for (const row of lane.rows)
				for (const strip of row ? row.strips : [])
					kt.paintStrip(strip, this.trace);
		this.overview.stale = true;
		if (this.search.input.value)
			this.search.renew();
		this.relayout();
	}

	// Shows the facts and the verdict.
	showHead(head) {
		facts(head);
		return kt.showVerdict(this.state);
	}

	// Shows the verdict, which may come late. Does not change the view.
	verdict() {
		this.worst = this.showHead(this.trace.head);
		this.relayout();
	}

	// Shows the part of the trace that is loaded. If the user has already chosen a view, does not change it.
	first() {
		const { state, trace } = this;
		const chosen = this.shown !== undefined && this.shown !== kt.linkOf(state);
		const selected = kt.selectionText(trace, state.selection);
		this.refresh();
		state.selection = selected ? kt.selectionFrom(trace, selected) : null;
		this.worst = this.showHead(trace.head);
		this.resize();
		if (chosen)
			return;
		state.showWhole();
		this.tab(0);
		this.shown = kt.linkOf(state);
	}

	// Chooses the first view after all blocks are read: from the address, the cause of the verdict, or the whole trace.
	begin() {
		const { state, worst } = this;
		this.ready = true;
		if (this.shown === kt.linkOf(state) && !this.openLink(this.wanted))
			kt.showCause(state, worst);
		if (!worst && !state.selection)
			this.tab(1);
		kt.id("lanes").focus();
	}
}

function facts(head) {
	kt.id("title").textContent = head.file || head.kernel || "ktrace";
	document.title = (head.why?.verdict ? head.why.verdict + ": " : "") + (head.file || "ktrace");
	const events = head.events === 1 ? "1 event" : kt.number(head.events ?? 0) + " events";
	const list = [head.kernel, head.machine, events, kt.duration((head.end || 0) - (head.begin || 0)),
		head.taken > head.end ? "taken " + kt.duration(head.taken - head.end) + " after the last event" : null,
		kt.lossText(head), head.version];
	kt.id("facts").textContent = list.filter((text) => text).join(" · ");
}

// Returns the name of a feature that the browser lacks, or null.
function missing() {
	if (typeof DecompressionStream === "undefined")
		return "DecompressionStream";
	if (!kt.id("canvas").getContext("2d"))
		return "the canvas element";
	return null;
}

// Loads all blocks. Shows the trace after the first block. Returns the number of blocks.
async function load(feed, trace, page) {
	let number = 0;
	try {
		for (let bytes = await feed.block(0); bytes; bytes = await feed.block(++number)) {
			await kt.addBlock(trace, bytes, "block " + number);
			if (number === 0)
				page.first();
		}
	} catch (error) {
		trace.notes.push("block " + number + " could not be read: " + error.message + "; later blocks are not shown");
	}
	return number;
}

async function start() {
	const lacks = missing();
	if (lacks)
		kt.id("loading").remove();
	if (lacks)
		return kt.warn("This browser cannot show the trace, because it lacks " + lacks
			+ ". Use Firefox 113, Chromium 97, Safari 16.4 or later.");
	const feed = kt.feed();
	const head = await feed.head();
	kt.useTicks = head.unit === "ticks";
	if (head.redacted)
		kt.warn("This page is redacted: paths, data and names of threads were left out.");
	const trace = new kt.Trace(head);
	const page = kt.page = new Page(trace, feed);
	if (head.live && feed.renew)
		page.live = new kt.Live(page, feed);
	if (head.whole === false) {
		page.windows = new kt.Windows(page.state, feed, () => page.refresh());
		await page.windows.start();
		page.first();
	} else if (await load(feed, trace, page) !== 1)
		page.first();
	page.begin();
	if (head.whole === false)
		kt.fetchVerdict(page.state, () => page.verdict());
	kt.id("loading").remove();
	for (const note of trace.notes)
		kt.warn(note);
	document.documentElement.dataset.ready = "yes";
}

kt.start = () => start().catch((error) => {
	kt.id("loading")?.remove();
	kt.warn("The page cannot show its data: " + (error.message || error) + ". What is shown may be incomplete.");
});
if (typeof document !== "undefined")
	kt.start();
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Draws the lanes. The coloured bars are computed as pixels, one line for each row, and copied to the canvas in one
// step. Then names, marks and the ruler are drawn over the bars.
"use strict";
(function (kt) {
const gutter = 196;	// width in CSS pixels of the column of names at the left
const ruler = 22;
const labelWidth = 26;	// minimum width in CSS pixels of a span with a label
const font = "11px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";

class Drawing {
	constructor(state, canvas) {
		this.state = state;
		this.canvas = canvas;
		this.context = canvas.getContext("2d");
		this.gutter = gutter;
		this.ruler = ruler;
		this.widths = new Map();
		this.pointer = null;
	}

	// Draws everything. Stores in `labels` the spans whose names are drawn.
	draw() {
		const { state, canvas } = this;
		const ratio = globalThis.devicePixelRatio || 1;
		const width = Math.round(state.width * ratio);
		const height = Math.round(state.height * ratio);
		if (canvas.width !== width || canvas.height !== height) {
			canvas.width = width;
			canvas.height = height;
			canvas.style.width = state.width + "px";
			canvas.style.height = state.height + "px";
		}
		this.ratio = ratio;
		this.colours = kt.colours(state.theme);
		this.plot = state.width - gutter;
		this.step = state.length / (this.plot * ratio);	// ns per device pixel
		this.from = Math.floor(state.from / this.step) * this.step;
		this.rows = state.layout.rows.filter((row) =>
			row.y + row.height > state.scroll && row.y < state.scroll + state.height - ruler);
		this.chooseTicks();
		this.bars();
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.context.font = font;
		this.context.textBaseline = "middle";
		this.labels();
		kt.drawMarks(this);
		this.names();
		this.drawRuler();
	}

	// Returns the x coordinate of a time, in CSS pixels.
	x(time) {
		return gutter + (time - this.from) / this.step / this.ratio;
	}

	time(x) {
		return this.from + (x - gutter) * this.ratio * this.step;
	}

	// Returns the y coordinate of a row's upper edge.
	y(row) {
		return row.y - this.state.scroll + ruler;
	}

	// Copies the pixels of all visible rows to the canvas. Computes them again only if the view has changed.
	bars() {
		const { ratio, state } = this;
		const key = [this.from, this.step, state.scroll, state.theme, state.width, state.height,
			state.layout.version].join();
		if (this.key !== key)
			this.computeBars();
		this.key = key;
		this.context.setTransform(1, 0, 0, 1, 0, 0);
		this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
		this.context.putImageData(this.image, Math.round(gutter * ratio), 0);
	}

	computeBars() {
		const { colours, ratio } = this;
		const width = Math.max(1, Math.round(this.plot * ratio));
		const height = this.canvas.height;
		if (this.image?.width !== width || this.image?.height !== height) {
			this.image = new ImageData(width, height);
			this.pixels = new Uint32Array(this.image.data.buffer);
			this.line = new Uint32Array(width);
		}
		this.pixels.fill(colours.back);
		const grid = this.ticks.map((time) => Math.round((time - this.from) / this.step)).filter((x) => x < width);
		for (let y = 0; y < height; y++)
			for (const x of grid)
				this.pixels[y * width + x] = colours.linePixel;
		for (const row of this.rows) {
			this.line.fill(row.bad ? colours.badPixel : colours.back);
			for (const x of grid)
				this.line[x] = colours.linePixel;
			row.labels = [];
			if (row.kind === "spans")
				kt.scanSpans(this.line, row.strip, this.from, this.step, colours, row.labels, labelWidth * ratio);
			else if (row.kind === "events" && row.lane.times && row.lane.times.length)
				kt.scanTimes(this.line, row.lane.times, this.from, this.step, colours.heat);
			else if (row.kind === "events" && row.lane.density)
				kt.scanDensity(this.line, row.lane.density, this.from, this.step, colours.heat);
			else if (!row.bad)
				continue;
			const thickness = row.height - (row.kind === "spans" ? 1 : 0);
			const top = Math.max(0, Math.round(this.y(row) * ratio));
			const bottom = Math.min(height, Math.round((this.y(row) + thickness) * ratio));
			for (let y = top; y < bottom; y++)
				this.pixels.set(this.line, y * width);
		}
	}

	labels() {
		const { context, colours, state } = this;
		for (const row of this.rows) {
			if (row.kind === "counter")
				this.drawCounter(row);
			for (const i of row.labels) {
				const { strip } = row;
				const left = Math.max(gutter, this.x(strip.begin[i]));
				const right = Math.min(state.width, this.x(strip.end[i]));
				const text = this.cut(kt.spanName(state.trace, strip, i), right - left - 8);
				if (text) {
					context.fillStyle = colours.bright[strip.tint[i]] ? "#10141a" : "#ffffff";
					context.fillText(text, left + 5, this.y(row) + (row.height - 1) / 2 + 0.5);
				}
			}
		}
	}

	textWidth(text) {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size > 20000)
				this.widths.clear();
			width = this.context.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	// Shortens a text to a width. Returns "" if fewer than three letters fit.
	cut(text, width) {
		const all = text.slice(0, 300);
		const need = this.textWidth(all);
		if (need <= width)
			return all;
		const letters = Math.floor(all.length * (width - 8) / need);
		return letters >= 3 ? all.slice(0, letters) + "…" : "";
	}

	// Draws a counter as steps. Each pixel shows the highest value in the period of the pixel.
	drawCounter(row) {
		const { lane } = row;
		const { context, colours } = this;
		const base = this.y(row) + row.height - 2;
		const scale = (row.height - 4) / Math.max(lane.high - lane.low, 1e-9);
		context.beginPath();
		let value = null;
		for (let x = gutter; x < Math.min(this.state.width, this.x(this.state.trace.end)); x++) {
			const first = kt.lower(lane.time, this.time(x));
			const next = kt.lower(lane.time, this.time(x + 1), first);
			if (first > 0)
				value = lane.value[first - 1];
			for (let i = first; i < Math.min(next, first + 64); i++)
				value = Math.max(value ?? lane.value[i], lane.value[i]);
			if (value !== null)
				context.rect(x, base - (value - lane.low) * scale, 1, (value - lane.low) * scale + 1);
		}
		context.fillStyle = colours.css[lane.tint];
		context.fill();
		context.fillStyle = colours.dim;
		context.fillText(kt.number(lane.high) + " " + lane.group, gutter + 4, this.y(row) + 8);
	}

	// Draws the names of lanes at the left, and the lines between lanes.
	names() {
		const { context, colours, state } = this;
		context.fillStyle = kt.css(colours.back);
		context.fillRect(0, 0, gutter, state.height);
		for (const row of this.rows) {
			const y = this.y(row);
			if (row.kind === "head")
				this.drawHead(row, y);
			else if (row.kind === "space") {
				context.fillStyle = colours.line;
				context.fillRect(0, y + row.height - 1, state.width, 1);
			} else if (row.label && !row.first) {
				context.fillStyle = colours.dim;
				context.textAlign = "right";
				context.fillText(this.cut(row.label, gutter - 70), gutter - 6, y + row.height / 2);
				context.textAlign = "left";
			}
		}
		for (const row of state.layout.rows)
			if (row.first && row.y + row.whole > state.scroll && row.y < state.scroll + state.height)
				this.drawName(row);
		context.fillStyle = colours.line;
		context.fillRect(gutter - 1, 0, 1, state.height);
	}

	drawHead(row, y) {
		const { context, colours, state } = this;
		context.fillStyle = row.bad ? colours.badBack : colours.head;
		context.fillRect(0, y, state.width, row.height);
		context.fillStyle = row.bad ? colours.bad : colours.dim;
		context.fillText((state.layout.folded.has(row.group) ? "▸ " : "▾ ") + row.title, 8, y + row.height / 2 + 0.5);
	}

	drawName(row) {
		const { context, colours, state } = this;
		const { lane } = row;
		const y = Math.max(this.y(row), Math.min(ruler, this.y(row) + row.whole - 18));
		const selected = state.selection?.lane === lane;
		if (row.bad || selected) {
			context.fillStyle = row.bad ? colours.bad : colours.link;
			context.fillRect(0, this.y(row), 3, row.whole - 1);
		}
		context.fillStyle = colours.css[lane.tint];
		context.fillRect(10, y + 4, 9, 9);
		context.fillStyle = lane.idle ? colours.dim : colours.text;
		context.font = (selected || row.bad ? "bold " : "") + font;
		const text = lane.name && lane.kind === 1 ? lane.name : kt.laneName(lane);
		context.fillText(this.cut(text, gutter - 74), 25, y + 9);
		context.font = font;
		if (lane.kind === 1) {
			context.fillStyle = colours.dim;
			context.textAlign = "right";
			context.fillText(String(lane.number), gutter - 6, y + 9);
			context.textAlign = "left";
		}
	}

	// Chooses the times that the ruler shows.
	chooseTicks() {
		const { state } = this;
		const rough = state.length / Math.max(2, this.plot / 110);
		const power = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
		this.tickStep = step;
		this.ticks = [];
		for (let time = Math.ceil(this.from / step) * step; time < state.from + state.length; time += step)
			this.ticks.push(time);
	}

	drawRuler() {
		const { context, colours, state } = this;
		context.fillStyle = colours.head;
		context.fillRect(0, 0, state.width, ruler);
		context.fillStyle = colours.dim;
		context.fillText(kt.duration(state.length) + " shown", 8, ruler / 2);
		for (const time of this.ticks)
			context.fillText(kt.tick(time, this.tickStep), Math.round(this.x(time)) + 4, ruler / 2);
		context.fillStyle = colours.line;
		context.fillRect(0, ruler - 1, state.width, 1);
		kt.drawRulerMarks(this);
	}
}

// Returns a pixel as a CSS colour.
kt.css = (pixel) => "rgb(" + (pixel & 255) + "," + (pixel >>> 8 & 255) + "," + (pixel >>> 16 & 255) + ")";
kt.Drawing = Drawing;
})(globalThis.ktrace ??= {});

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// The strip above the lanes: the event rate of each CPU over the whole trace, and which part is shown below.
"use strict";
(function (kt) {
const mostRows = 10;

class Overview {
	constructor(state, canvas) {
		this.state = state;
		this.canvas = canvas;
		this.gutter = 196;
		this.stale = true;
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		canvas.addEventListener("pointerup", () => this.drag = null);
		canvas.addEventListener("wheel", (event) => {
			event.preventDefault();
			state.zoom(1.0015 ** event.deltaY, 0.5);
		}, { passive: false });
	}

	// A drag that begins inside the shown part moves this part. A press outside moves this part to the pointer, and a
	// drag from there selects a new part. If almost the whole trace is shown, every drag selects a new part.
	press(event) {
		this.canvas.setPointerCapture(event.pointerId);
		const time = this.time(event.offsetX);
		const inside = time >= this.state.from && time <= this.state.from + this.state.length;
		const whole = this.state.length >= (this.state.trace.end - this.state.trace.begin) * 0.95;
		this.drag = inside && !whole ? { grab: time - this.state.from } : { start: time };
		if (!inside)
			this.state.show(time - this.state.length / 2, this.state.length);
	}

	move(event) {
		const time = this.time(event.offsetX);
		if (this.drag?.grab !== undefined)
			this.state.show(time - this.drag.grab, this.state.length);
		else if (this.drag && Math.abs(time - this.drag.start) > this.step * 6)
			this.state.show(Math.min(time, this.drag.start), Math.abs(time - this.drag.start));
	}

	time(x) {
		return this.state.trace.begin + (x - this.gutter) * this.step;
	}

	draw() {
		const { state, canvas } = this;
		const ratio = globalThis.devicePixelRatio || 1;
		const width = Math.round(state.width * ratio);
		if (canvas.width !== width || this.stale || this.theme !== state.theme) {
			canvas.width = width;
			canvas.height = Math.round(40 * ratio);
			this.theme = state.theme;
			this.stale = false;
			this.bars(width, canvas.height, ratio);
		}
		this.step = (state.trace.end - state.trace.begin) / (state.width - this.gutter);
		const pen = canvas.getContext("2d");
		pen.setTransform(1, 0, 0, 1, 0, 0);
		pen.clearRect(0, 0, canvas.width, canvas.height);
		pen.putImageData(this.image, Math.round(this.gutter * ratio), 0);
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.window(pen, kt.colours(state.theme));
	}

	// Computes the pixels that show the event rates.
	bars(width, height, ratio) {
		const { trace } = this.state;
		const colours = kt.colours(this.state.theme);
		const plot = Math.max(1, width - Math.round(this.gutter * ratio));
		this.image = new ImageData(plot, height);
		const pixels = new Uint32Array(this.image.data.buffer).fill(colours.back);
		const cpus = trace.lanes.filter((lane) => lane.kind === 0).slice(0, mostRows);
		const step = (trace.end - trace.begin) / plot;
		cpus.forEach((lane, number) => {
			const line = new Uint32Array(plot).fill(colours.back);
			if (lane.density)
				kt.scanDensity(line, lane.density, trace.begin, step, colours.heat);
			else
				kt.scanTimes(line, lane.times || [], trace.begin, step, colours.heat);
			const top = Math.floor(number * height / cpus.length) + 1;
			const bottom = Math.floor((number + 1) * height / cpus.length) - 1;
			for (let y = top; y < bottom; y++)
				pixels.set(line, y * plot);
		});
	}

	window(pen, colours) {
		const { state } = this;
		const left = Math.max(this.gutter, this.gutter + (state.from - state.trace.begin) / this.step);
		const right = this.gutter + (state.from + state.length - state.trace.begin) / this.step;
		pen.fillStyle = colours.name === "dark" ? "#00000080" : "#8894a455";
		pen.fillRect(this.gutter, 0, left - this.gutter, 40);
		pen.fillRect(right, 0, Math.max(0, state.width - right), 40);
		pen.strokeStyle = colours.link;
		pen.lineWidth = 1.5;
		pen.strokeRect(left, 0.75, Math.max(3, right - left), 38.5);
		for (const gap of state.trace.gaps) {
			pen.fillStyle = colours.gap;
			pen.fillRect(this.gutter + (gap.begin - state.trace.begin) / this.step, 0,
				Math.max(1, (gap.end - gap.begin) / this.step), 4);
		}
		pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
		pen.textBaseline = "middle";
		pen.fillStyle = colours.dim;
		pen.fillText("Events per time, each CPU", 8, 13);
		pen.fillText("whole trace: " + kt.duration(state.trace.end - state.trace.begin), 8, 28);
	}
}

kt.Overview = Overview;
})(globalThis.ktrace ??= {});

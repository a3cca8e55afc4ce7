// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Level of detail: turns a strip or a list of events into one line of pixels. The cost depends on the
// number of pixels, not on the number of spans: all spans that begin in one pixel and are shorter than a pixel
// are merged. The merged pixel has the colour of the longest of these spans. The colour is paler if these spans cover
// less of the pixel's time. Pixels lie on a fixed grid of time, so that merged pixels do not change while
// the view moves.
"use strict";
(function (kt) {
// Draws spans into `line`, a Uint32Array of pixels. The first pixel begins at time `from`, and each pixel is `step` ns
// wide. Spans that are at least `least` pixels wide are also appended to `labels`.
kt.scanSpans = function (line, strip, from, step, colours, labels, least) {
	const width = line.length;
	const until = from + width * step;
	for (let i = strip.firstAfter(from); i < strip.count && strip.begin[i] < until;) {
		const x = (strip.begin[i] - from) / step;
		if (strip.end[i] - strip.begin[i] >= step) {
			wide(line, x, (strip.end[i] - from) / step, colours.pixels[strip.tint[i]], colours.back);
			if (labels && strip.end[i] - Math.max(from, strip.begin[i]) >= least * step)
				labels.push(i);
			i++;
			continue;
		}
		const pixel = Math.floor(x);
		let next = strip.firstFrom(from + (pixel + 1) * step, i);
		if (next > i + 1 && strip.end[next - 1] - strip.begin[next - 1] >= step)
			next--;
		next = Math.max(next, i + 1);
		const share = (strip.sum[next] - strip.sum[i]) / step;
		if (pixel >= 0 && pixel < width) {
			const colour = colours.pixels[strip.tint[strip.longest(i, next)]];
			line[pixel] = kt.mix(line[pixel], colour, Math.round(256 * Math.min(1, 0.3 + 0.7 * share)));
		}
		i = next;
	}
};

// Draws a span that is at least one pixel wide. If it is wide enough, draws a border at its left, which separates it
// from other spans.
function wide(line, x0, x1, colour, back) {
	const left = Math.max(0, Math.round(x0));
	const right = Math.min(line.length, Math.max(Math.round(x1), Math.round(x0) + 1));
	line.fill(colour, left, right);
	if (right - left >= 4 && x0 >= 0)
		line[left] = kt.mix(colour, back, 150);
}

// Draws the density of the sorted times: the more events in the period of a pixel, the stronger the pixel's colour.
kt.scanTimes = function (line, times, from, step, colour) {
	const width = line.length;
	const until = from + width * step;
	for (let i = kt.lower(times, from); i < times.length && times[i] < until;) {
		const pixel = Math.floor((times[i] - from) / step);
		const edge = from + (pixel + 1) * step;
		let jump = 1;
		while (i + jump < times.length && times[i + jump] < edge)
			jump *= 2;
		const next = Math.max(i + 1, kt.lower(times, edge, i, Math.min(times.length, i + jump)));
		line[pixel] = kt.mix(line[pixel], colour, strength(next - i));
		i = next;
	}
};

// Draws densities that are stored as numbers of events in periods of equal length.
kt.scanDensity = function (line, density, from, step, colour) {
	const first = kt.lower(density.index, Math.floor(from / density.width));
	for (let i = first; i < density.index.length; i++) {
		const x0 = Math.floor((density.index[i] * density.width - from) / step);
		const x1 = Math.ceil(((density.index[i] + 1) * density.width - from) / step);
		if (x0 >= line.length)
			return;
		const share = strength(density.events[i] * step / Math.max(step, density.width));
		for (let x = Math.max(0, x0); x < Math.min(line.length, x1); x++)
			line[x] = kt.mix(line[x], colour, share);
	}
};

const strength = (count) => Math.round(256 * Math.min(1, 0.28 + Math.log2(Math.max(1, count)) / 9));
})(globalThis.ktrace ??= {});

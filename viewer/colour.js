// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Colours of the canvas. A tint is an index into the palette: 0 to 15 are the colours of the classes of spans, higher
// numbers are hues. The number of a thread, or the name of a lock or a function, determines its hue, so that it has the
// same colour everywhere.
"use strict";
(function (kt) {
const hues = 24;

const light = ["#9aa4b1", "#3f9b57", "#e3b341", "#dfe3e8", "#d9793f", "#8b7fb8", "#eceef1", "#c9cdd3", "#eef0f3",
	"#7fb0e8", "#5b8fd6", "#b65fb0", "#d9534f", "#d6323a", "#4a9aa8", "#8fa5c4"];
const dark = ["#6b7480", "#3fae63", "#d6a531", "#2c323b", "#c4682f", "#7f73ad", "#20252d", "#3b414b", "#1d2128",
	"#4f86c6", "#4a82cc", "#a655a0", "#cf4d49", "#e0454c", "#3d8b99", "#5f7799"];

function fromHue(number, theme) {
	const hue = number * 360 / hues;
	return hsl(hue, theme === "dark" ? 0.42 : 0.50, theme === "dark" ? 0.47 : 0.62);
}

function hsl(hue, saturation, light) {
	const channel = (n) => {
		const k = (n + hue / 30) % 12;
		const wave = Math.max(-1, Math.min(k - 3, 9 - k, 1));
		return Math.round(255 * (light - saturation * Math.min(light, 1 - light) * wave));
	};
	return [channel(0), channel(8), channel(4)];
}

const fromHex = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// Returns the colours of a theme. Pixels are 0xAABBGGRR, the form in which little-endian machines store ImageData.
function makeTheme(name) {
	const classes = (name === "dark" ? dark : light).map(fromHex);
	const all = classes.concat(Array.from({ length: hues }, (_, number) => fromHue(number, name)));
	const back = fromHex(name === "dark" ? "#14171c" : "#ffffff");
	const pixel = ([r, g, b]) => (0xff000000 | b << 16 | g << 8 | r) >>> 0;
	return {
		name,
		pixels: Uint32Array.from(all, pixel),
		css: all.map((rgb) => "rgb(" + rgb.join(",") + ")"),
		bright: all.map(([r, g, b]) => r * 0.3 + g * 0.59 + b * 0.11 > 125),
		back: pixel(back),
		text: name === "dark" ? "#e3e7ed" : "#1c2128",
		dim: name === "dark" ? "#949eac" : "#656d78",
		line: name === "dark" ? "#2a303a" : "#e3e6eb",
		linePixel: pixel(fromHex(name === "dark" ? "#2a303a" : "#e3e6eb")),
		head: name === "dark" ? "#1c2027" : "#f1f3f6",
		strong: name === "dark" ? "#ffffff" : "#000000",
		bad: name === "dark" ? "#ff6b62" : "#c4281f",
		badBack: name === "dark" ? "#2b1a1c" : "#fdf0ef",
		link: name === "dark" ? "#7db7ff" : "#0b5cad",
		badPixel: pixel(fromHex(name === "dark" ? "#2b1a1c" : "#fdf0ef")),
		heat: pixel(fromHex(name === "dark" ? "#ffb454" : "#c2560c")),
		gap: name === "dark" ? "#8a93a0" : "#7b8490",
	};
}

const themes = { light: makeTheme("light"), dark: makeTheme("dark") };
kt.colours = (name) => themes[name];

// Returns the tint of a name.
kt.tintOf = function (text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return light.length + (hash >>> 8) % hues;
};

// Returns the tint of a number. Consecutive numbers have tints that are easy to distinguish.
kt.tintOfNumber = (number) => light.length + (number * 5) % hues;

// Mixes two pixels. `share` is a number from 0 to 256.
kt.mix = function (under, over, share) {
	const even = ((over & 0xff00ff) * share + (under & 0xff00ff) * (256 - share)) >>> 8 & 0xff00ff;
	const odd = ((over >>> 8 & 0xff) * share + (under >>> 8 & 0xff) * (256 - share)) & 0xff00;
	return (0xff000000 | even | odd) >>> 0;
};

const running = 1, other = 0, fun = 15, held = 14;

// Sets the tint of each span of a strip.
kt.paintStrip = function (strip, trace) {
	const tint = strip.tint = new Uint8Array(strip.count);
	const ofName = new Map();
	for (let i = 0; i < strip.count; i++) {
		const kind = strip.kind[i];
		if (kind === running && strip.lane.kind === 0 && strip.other[i] >= 0)
			tint[i] = trace.lanes[strip.other[i]].tint;
		else if (kind === other || kind === fun || kind === held) {
			if (!ofName.has(strip.name[i]))
				ofName.set(strip.name[i], kt.tintOf(trace.string(strip.name[i])));
			tint[i] = ofName.get(strip.name[i]);
		} else
			tint[i] = kind < light.length ? kind : 0;
	}
};
})(globalThis.ktrace ??= {});

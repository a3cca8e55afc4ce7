// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Encodes blocks of spec/page.md for tests, and makes traces of any size.
"use strict";
const zlib = require("node:zlib");

class Writer {
	constructor() {
		this.bytes = [];
	}

	varint(value) {
		let small = value;
		for (; typeof small === "number" && small > 127; small = Math.floor(small / 128))
			this.bytes.push(small % 128 | 128);
		if (typeof small === "number") {
			this.bytes.push(small);
			return this;
		}
		let rest = value;
		for (; rest > 127n; rest >>= 7n)
			this.bytes.push(Number(rest & 127n) | 128);
		this.bytes.push(Number(rest));
		return this;
	}

	zigzag(value) {
		return this.varint(value < 0 ? -value * 2 - 1 : value * 2);
	}

	text(text) {
		const bytes = Buffer.from(text);
		this.varint(bytes.length);
		for (const byte of bytes)
			this.bytes.push(byte);
		return this;
	}

	column(rows, name) {
		for (const row of rows)
			this.varint(row[name] ?? 0);
		return this;
	}

	// Writes the differences of a column.
	deltas(rows, name, signed) {
		let last = 0;
		for (const row of rows) {
			const value = row[name] ?? 0;
			const step = value - last;
			signed ? this.zigzag(step) : this.varint(step < 0 ? BigInt.asUintN(64, BigInt(step)) : step);
			last = value;
		}
		return this;
	}
}

// Collects the sections of one block.
class Block {
	constructor() {
		this.parts = [];
	}

	section(tag, writer) {
		const head = new Writer().varint(tag).varint(writer.bytes.length);
		this.parts.push(Buffer.from(head.bytes), Buffer.from(writer.bytes));
		return this;
	}

	strings(list) {
		const out = new Writer().varint(list.length - 1);
		for (const text of list.slice(1))
			out.text(text);
		return this.section(1, out);
	}

	lanes(list) {
		const out = new Writer().varint(list.length);
		for (const [index, lane] of list.entries())
			for (const value of [index, lane.kind, lane.number, lane.name, lane.group, lane.flags])
				out.varint(value ?? 0);
		return this.section(2, out);
	}

	// Spans: {begin, duration, name, kind, depth, ring, slot, other, flags}
	spans(lane, row, list) {
		const out = new Writer().varint(lane).varint(row).varint(list.length).deltas(list, "begin");
		for (const name of ["duration", "name", "kind", "depth", "ring"])
			out.column(list, name);
		out.deltas(list, "slot", true);
		return this.section(3, out.column(list, "other").column(list, "flags"));
	}

	arrows(list) {
		const out = new Writer().varint(list.length).deltas(list, "time");
		for (const name of ["from", "to", "length", "ring"])
			out.column(list, name);
		return this.section(4, out.deltas(list, "slot", true).column(list, "kind"));
	}

	gaps(list) {
		const out = new Writer().varint(list.length).column(list, "cpu").deltas(list, "begin");
		return this.section(6, out.column(list, "duration").column(list, "lost"));
	}

	// Events: {time, type, lane, context, slot, present, values: [varints]}
	events(ring, cpu, list) {
		const out = new Writer().varint(ring).varint(cpu).varint(list.length).deltas(list, "time", true);
		for (const name of ["type", "lane", "context"])
			out.column(list, name);
		out.deltas(list, "slot").column(list, "present");
		for (const event of list)
			for (const value of event.values || [])
				out.varint(value);
		return this.section(7, out);
	}

	plain() {
		return Buffer.concat(this.parts);
	}

	compressed() {
		return zlib.deflateSync(this.plain());
	}
}

// Puts a head and compressed blocks into the page.
function makePage(template, head, blocks) {
	const element = (attributes, text) => `<script ${attributes}>${text}</script>\n`;
	const data = element('id="ktrace-head" type="application/json"', JSON.stringify(head).replaceAll("<", "\\u003c"))
		+ blocks.map((bytes) => element('class="ktrace-block" type="application/octet-stream;base64"',
			bytes.toString("base64"))).join("");
	return template.replace("<!--data-->", () => data);
}

module.exports = { Writer, Block, makePage };

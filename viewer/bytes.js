// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Reads variable-length integers and columns of them. No read goes beyond the end of the bytes.
"use strict";
(function (kt) {
class Damaged extends Error {}

class Reader {
	constructor(bytes, at = 0, end = bytes.length) {
		this.bytes = bytes;
		this.at = at;
		this.end = end;
	}

	left() {
		return this.end - this.at;
	}

	// Reads an unsigned integer. Values above 2^53 are rounded; big() reads them exactly.
	varint() {
		const bytes = this.bytes;
		let at = this.at;
		let byte = bytes[at++];
		let value = byte & 0x7f;
		let scale = 128;
		while (byte >= 0x80) {
			if (at >= this.end || scale > 2 ** 63)
				throw new Damaged("bad integer at byte " + this.at);
			byte = bytes[at++];
			value += (byte & 0x7f) * scale;
			scale *= 128;
		}
		if (at > this.end)
			throw new Damaged("the data ends at byte " + this.at);
		this.at = at;
		return value;
	}

	// Reads a signed integer: 0, -1, 1, -2, 2, … are stored as 0, 1, 2, 3, 4, …
	zigzag() {
		const odd = this.bytes[this.at] % 2 === 1;	// not from varint(), which may round this bit away
		const value = this.varint();
		return odd ? -(value + 1) / 2 : value / 2;
	}

	// Reads an unsigned integer of up to 64 bits as a BigInt.
	big() {
		let value = 0n;
		let shift = 0n;
		for (;;) {
			if (this.at >= this.end || shift > 63n)
				throw new Damaged("bad integer at byte " + this.at);
			const byte = this.bytes[this.at++];
			value |= BigInt(byte & 0x7f) << shift;
			if (byte < 0x80)
				return value;
			shift += 7n;
		}
	}

	// Reads the number of entries that follow. Each column has at least one byte for each entry.
	count(columns) {
		const count = this.varint();
		if (count * columns > this.left())
			throw new Damaged("bad count at byte " + this.at);
		return count;
	}

	take(length) {
		if (length > this.left())
			throw new Damaged("the data ends at byte " + this.end);
		this.at += length;
		return this.bytes.subarray(this.at - length, this.at);
	}

	column(count, array) {
		for (let i = 0; i < count; i++)
			array[i] = this.varint();
		return array;
	}

	// Reads a column of differences and returns their running sums. Differences are modulo 2^64: a difference of
	// 2^63 or more is negative.
	deltas(count, signed) {
		const array = new Float64Array(count);
		let sum = 0;
		for (let i = 0; i < count; i++)
			array[i] = sum += signed ? this.zigzag() : this.step();
		return array;
	}

	step() {
		const { at } = this;
		const step = this.varint();
		if (step < 2 ** 63)
			return step;
		this.at = at;
		return Number(BigInt.asIntN(64, this.big()));
	}
}

kt.Reader = Reader;
kt.Damaged = Damaged;
})(globalThis.ktrace ??= {});

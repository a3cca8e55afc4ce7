// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Writes pages for the test in a browser: story.html, and damaged.html, whose second
// block is damaged; overview.bin, an overview of story.html; later.bin, a second block of story.html;
// redacted.html, without events.
//	node test/viewer/pages.js TEMPLATE DIRECTORY
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { Block, Writer, makePage } = require("./encode.js");
const { block, head } = require("./story.js");

const [template, folder] = process.argv.slice(2);
const text = fs.readFileSync(template, "utf8");
const whole = block().compressed();
fs.writeFileSync(path.join(folder, "story.html"), makePage(text, head, [whole]));
const damaged = Buffer.from(whole);
const overview = new Block().lanes([{ kind: 0, number: 0 }, { kind: 0, number: 1 }]);
overview.section(8, [0, 1e6, 1, 3, 2, 0].reduce((out, value) => out.varint(value), new Writer()));
fs.writeFileSync(path.join(folder, "overview.bin"), overview.compressed());
const later = new Block().spans(4, 3, [{ begin: 150e6, duration: 50e6, name: 6, kind: 13, other: 6, flags: 2 }]);
fs.writeFileSync(path.join(folder, "later.bin"), later.compressed());
fs.writeFileSync(path.join(folder, "redacted.html"), makePage(text, { redacted: true, begin: 0, end: 0, events: 1,
	lost: null, why: { verdict: "deadlock", findings: [] } }, []));
damaged.fill(0x55, damaged.length >> 1);
fs.writeFileSync(path.join(folder, "damaged.html"), makePage(text, head, [whole, damaged]));

// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Writes pages for the test in a browser: story.html, and damaged.html, whose second block is damaged.
//	node test/viewer/pages.js TEMPLATE FOLDER
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { makePage } = require("./encode.js");
const { block, head } = require("./story.js");

const [template, folder] = process.argv.slice(2);
const text = fs.readFileSync(template, "utf8");
const whole = block().compressed();
fs.writeFileSync(path.join(folder, "story.html"), makePage(text, head, [whole]));
const damaged = Buffer.from(whole);
damaged.fill(0x55, damaged.length >> 1);
fs.writeFileSync(path.join(folder, "damaged.html"), makePage(text, head, [whole, damaged]));

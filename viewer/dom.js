// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Makes elements. Text is always set as text, never parsed as HTML, because names in a trace are hostile.
"use strict";
(function (kt) {
// Makes an element. An attribute whose name begins with "on" is an event handler. A child is a node, a string, or null,
// which is left out.
kt.el = function (tag, attributes, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			node.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children)
		if (child !== null && child !== undefined)
			node.append(child);
	return node;
};

kt.id = (name) => document.getElementById(name);

// Replaces the children of an element.
kt.fill = function (node, ...children) {
	node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
	return node;
};

// Makes a link that calls a function. The link is a button, because buttons work with keyboards and screen readers.
kt.action = function (text, title, run) {
	return kt.el("button", { type: "button", class: "link", title, onclick: run }, text);
};

// Makes a table. A cell is a string, a number or a node. The first `left` columns are text.
kt.table = function (titles, rows, left) {
	const cell = (tag) => (value, column) =>
		kt.el(tag, { class: column < left ? null : "number" }, typeof value === "number" ? kt.number(value) : value);
	return kt.el("table", {}, kt.el("thead", {}, kt.el("tr", {}, ...titles.map(cell("th")))),
		kt.el("tbody", {}, ...rows.map((row) => kt.el("tr", {}, ...row.map(cell("td"))))));
};

// Shows a message at the top of the page. Screen readers speak it at once.
kt.warn = function (text) {
	kt.id("notes").append(kt.el("p", {}, text));
};
})(globalThis.ktrace ??= {});

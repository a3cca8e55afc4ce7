// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
// Takes a picture of a page in Chromium, after the keys were pressed. PAGE is a file, or the address of ktrace open.
// The key "wait" waits some seconds.
//	node test/viewer/picture.mjs PACKAGES CHROMIUM PAGE PICTURE [KEY]...
import { createRequire } from "node:module";
import path from "node:path";

const [packages, chromium, file, picture, ...keys] = process.argv.slice(2);
const playwright = createRequire(path.resolve(packages, "package.json"))("playwright-core");
const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const page = await (await browser.newContext({ viewport: { width: 1400, height: 860 } })).newPage();
page.setDefaultTimeout(120000);
await page.goto(file.startsWith("http:") ? file : "file://" + path.resolve(file));
await page.waitForSelector("html[data-ready]", { state: "attached" });
for (const key of keys)
	await (key === "wait" ? page.waitForTimeout(6000) : page.keyboard.press(key));
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.screenshot({ path: picture });
await browser.close();

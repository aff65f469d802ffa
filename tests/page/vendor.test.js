import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { VENDOR, vendored } from "./vendor.js";

test("the page's libraries are those of the packages", () => {
  for (const [name, text] of vendored()) assert.equal(readFileSync(new URL(name, VENDOR), "utf8"), text, name);
});

// Copies Preact and htm into the page, from npm's packages of the versions and hashes in package-lock.json.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const VENDOR = new URL("../../azero/interfaces/web/page/vendor/", import.meta.url);

const FILES = {
  "preact.mjs": "preact/dist/preact.mjs",
  "hooks.mjs": "preact/hooks/dist/hooks.mjs",
  "htm.mjs": "htm/dist/htm.mjs",
  "LICENSE-preact": "preact/LICENSE",
  "LICENSE-htm": "htm/LICENSE",
};

/** Yields the name and text of each file. Bare names need an import map, which the content security policy forbids. */
export function* vendored() {
  for (const [name, path] of Object.entries(FILES)) {
    const text = readFileSync(new URL(`node_modules/${path}`, import.meta.url), "utf8");
    yield [name, text.replace(/from\s*"preact"/, 'from"./preact.mjs"').replace(/\n?\/\/# sourceMappingURL=.*\n?$/, "")];
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of vendored()) writeFileSync(new URL(name, VENDOR), text);
}

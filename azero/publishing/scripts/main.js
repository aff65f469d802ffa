// The script of a published page: what answers comes first, then the page that is served elsewhere.

import { begin } from "./begin.js";

if (begin()) import("../../interfaces/web/page/src/main.js");

// What a published file says of itself; null where the page is served.

const block = globalThis.document?.getElementById("published");

/**
 * The only game, the version of azero, addresses of its sources, what is known of the agents, and what the file lacks.
 * `review`: of a file that shows a finished review and does nothing else, the reviewed game as `kept.js` keeps one.
 * @type {{game: string, title: string, azero: string, sources: string[], agents: any[], lacks: string[], review?: any} | null}
 */
export const published = block ? JSON.parse(block.textContent) : null;

/** Whether the page is a file that shows a finished review: nothing can be searched, written or changed. */
export const IS_REVIEW = Boolean(published?.review);

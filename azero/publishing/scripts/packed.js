// What a published page has as deflated text in base64.

export async function bytesOf(text) {
  if (!text) return new Uint8Array();
  const decoded = atob(text);
  const raw = new Uint8Array(decoded.length);
  for (let k = 0; k < raw.length; k++) raw[k] = decoded.charCodeAt(k); // several times as fast as Uint8Array.from
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

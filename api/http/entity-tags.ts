/** Compares entity tags with a header of conditions (RFC 9110, 8.8.3.2). The service's tags have no comma. */

/** For If-None-Match: some tags are weak, and a proxy that recompresses weakens others. */
export function matchesWeakly(etag: string, header: string): boolean {
  const opaque = opaqueOf(etag)
  return isAmong(header, tag => opaqueOf(tag) === opaque)
}

/** For If-Match. */
export function matchesStrongly(etag: string, header: string): boolean {
  return isAmong(header, tag => tag === etag)
}

function isAmong(header: string, isSame: (tag: string) => boolean): boolean {
  return header.trim() === '*' || header.split(',').some(tag => isSame(tag.trim()))
}

function opaqueOf(tag: string): string {
  return tag.replace(/^W\//, '')
}

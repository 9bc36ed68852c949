/**
 * Detects a view by a link, without an account. The token stands behind `#`, so that requests, referrers and logs do
 * not contain it. Reads send it as a header without other credentials.
 */

import { path } from './address.ts'
import { setToken } from './request-token.ts'

/** `shared` shows the view's name above it, `embed` is a frame of another site, `wall` is a large screen. */
export type SharedFace = 'shared' | 'embed' | 'wall'

/** The route with the view of a link. */
export const sharedViewPath = '/v1/auth/shared-view'

/** Undefined for the app itself. */
export function sharedFace(): SharedFace | undefined {
  // In a frame the session is unused at any address, because another page could hide the place that is clicked.
  if (window.top !== window) return 'embed'
  const [first, ...rest] = path.peek().slice(1).split('/')
  const isAlone = rest.every(part => part === '')
  return isAlone && (first === 'shared' || first === 'embed' || first === 'wall') ? first : undefined
}

/** A wall may also show a saved view of its session, without a link. */
export function hasLink(face: SharedFace): boolean {
  return face !== 'wall' || location.hash !== ''
}

/** Makes all reads use the link's token. Call it once, before any read, in a document with a face. */
export function readByLink(): void {
  setToken(location.hash.slice(1))
  // Another link in the same frame or tab is another view, and loads no document by itself.
  addEventListener('hashchange', () => location.reload())
}

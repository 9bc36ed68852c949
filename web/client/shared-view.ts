/**
 * Whether the document shows a view by a link, without an account. The token stands behind `#`, so that it is in no request
 * for a document, no referrer and no log; reads send it as a header, and nothing else that says who asks.
 */

import { path } from './address.ts'
import { setToken } from './request-token.ts'

/** With the name of the view above it, in a frame of another site without anything around it, or large on a wall. */
export type SharedFace = 'shared' | 'embed' | 'wall'

/** Where the service tells what a link shows. */
export const sharedViewPath = '/v1/auth/shared-view'

/** Undefined for the app itself. */
export function sharedFace(): SharedFace | undefined {
  // Nothing in a frame acts for who is signed in, whatever its address is: what is clicked there may be hidden by another page.
  if (window.top !== window) return 'embed'
  const [first, ...rest] = path.peek().slice(1).split('/')
  const isAlone = rest.every(part => part === '')
  return isAlone && (first === 'shared' || first === 'embed' || first === 'wall') ? first : undefined
}

/** On a wall who is signed in there may look at a view of theirs, without a link. */
export function hasLink(face: SharedFace): boolean {
  return face !== 'wall' || location.hash !== ''
}

/** From now on the document reads by its link. Call it once, before anything is read, in a document that has a face. */
export function readByLink(): void {
  setToken(location.hash.slice(1))
  // Another link in the same frame or tab is another view, and loads no document by itself.
  addEventListener('hashchange', () => location.reload())
}

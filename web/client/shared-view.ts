/**
 * Whether the document shows a view by a link, without an account. The token stands behind `#`, so that it is in no request
 * for a document, no referrer and no log; reads send it as a header, and nothing else that says who asks.
 */

import type { SharedView } from '../../auth/views/link.ts'
import { addressOf, path, showFixed } from './address.ts'
import { type Failure, readJson } from './read-json.ts'
import { setToken } from './request-token.ts'

export function isShared(): boolean {
  return path.peek() === '/shared'
}

/** Shows what the link shows. Call it once, in a document for which `isShared` holds. */
export async function openSharedView(): Promise<SharedView | Failure> {
  setToken(location.hash.slice(1))
  const outcome = await readJson<SharedView>(addressOf('/v1/auth/shared-view'))
  if (outcome.kind !== 'answer') return outcome.kind === 'failure' ? outcome.failure : { kind: 'unreachable' }
  showFixed(outcome.value.address)
  return outcome.value
}

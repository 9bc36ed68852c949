/** Where the view of a wall comes from: its link, or the saved views of who is signed in on that screen. */

import type { SharedView } from '../../auth/views/link.ts'
import type { View } from '../../auth/views/view.ts'
import { addressOf, urlArguments } from '../client/address.ts'
import { type Outcome, type ReadOptions, readJson } from '../client/read-json.ts'
import { hasToken } from '../client/request-token.ts'
import { sharedViewPath } from '../client/shared-view.ts'

export type WallView = Pick<SharedView, 'name' | 'address'>

export interface WallSource {
  url: string
  read: (url: string, options: ReadOptions) => Promise<Outcome<WallView>>
}

export function wallSource(): WallSource {
  if (hasToken()) return { url: addressOf(sharedViewPath), read: readJson<SharedView> }
  const id = urlArguments.peek().get('view')
  return {
    url: addressOf('/v1/auth/me/views'),
    async read(url, options) {
      const outcome = await readJson<View[]>(url, options)
      if (outcome.kind !== 'answer') return outcome
      const value = outcome.value.find(view => String(view.id) === id)
      if (value === undefined) return { kind: 'failure', failure: { kind: 'missing', sentence: 'view unknown' } }
      return { ...outcome, value }
    },
  }
}

/** Which forms of an answer a client takes, best first, by its Accept-Encoding. */

import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

/** The compressed forms that an answer may go out in. */
export type Coding = 'gzip' | 'br' | 'zstd'
export type Form = Coding | 'identity'

/** Of two forms that a client likes the same, the first: gzip is the one that is always ready. */
const forms: readonly Form[] = ['gzip', 'br', 'zstd', 'identity']
/** The answer without any coding is sent to a client that takes nothing of what there is, as RFC 9110 advises. */
const plainOnly: readonly Form[] = ['identity']

/** Clients send a handful of different headers; a longer one is read each time. */
const headersMax = 100
const headerLengthMax = 200
const remembered = new LRUCache<string, readonly Form[]>({ max: headersMax })

export function acceptedForms(header: string | undefined): readonly Form[] {
  if (header === undefined) return plainOnly
  const known = remembered.get(header)
  if (known !== undefined) return known
  const accepted = readHeader(header)
  if (header.length <= headerLengthMax) remembered.set(header, accepted)
  return accepted
}

/** What the method takes since version 1.0 of the library; its types know the first argument only. */
interface WithPreference {
  encodings(available: readonly Form[], options: { preferred: readonly Form[] }): Form[]
}

function readHeader(header: string): readonly Form[] {
  const negotiator: unknown = new Negotiator({ headers: { 'accept-encoding': header } })
  const accepted = (negotiator as WithPreference).encodings(forms, { preferred: forms })
  return accepted.length === 0 ? plainOnly : accepted
}

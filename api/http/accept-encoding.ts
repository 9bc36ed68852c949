/** Orders the forms of an answer by a client's Accept-Encoding, best first. */

import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

export type Coding = 'gzip' | 'br' | 'zstd'
export type Form = Coding | 'identity'

/** At equal preference the first form is sent: gzip is always ready. */
const forms: readonly Form[] = ['gzip', 'br', 'zstd', 'identity']
/** A client that accepts other forms only gets the uncompressed one, as RFC 9110 advises. */
const plainOnly: readonly Form[] = ['identity']

/** Clients send a handful of different headers. A longer one is not cached. */
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

/** The method takes this argument since version 1.0 of the library, but its types lack it. */
interface WithPreference {
  encodings(available: readonly Form[], options: { preferred: readonly Form[] }): Form[]
}

function readHeader(header: string): readonly Form[] {
  const negotiator: unknown = new Negotiator({ headers: { 'accept-encoding': header } })
  const accepted = (negotiator as WithPreference).encodings(forms, { preferred: forms })
  return accepted.length === 0 ? plainOnly : accepted
}

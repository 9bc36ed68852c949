/** The source of a rejected request. Without a valid credential, it has the device whose name a client signed in with. */

import type { FastifyRequest } from 'fastify'
import { mayHoldKey } from '../../auth/keys/key-text.ts'
import type { Writer } from '../../auth/writers.ts'
import { sourceOf } from '../../ingest/intake/rejection-source.ts'
import type { RejectionSource, RejectionWay } from '../../ingest/rejections/rejection.ts'
import { readBasicCredentials } from '../http/credentials.ts'

export function sourceOfRequest(
  way: RejectionWay,
  writer: Pick<Writer, 'id' | 'device'> | null | undefined,
  { ip, raw }: Pick<FastifyRequest, 'ip' | 'raw'>,
): RejectionSource {
  const source = sourceOf(way, writer, ip)
  if (source.sender.isKnown) return source
  const name = readBasicCredentials(raw.rawHeaders)?.name ?? ''
  // An API key in place of a name stays secret.
  return name === '' || mayHoldKey(name) ? source : { ...source, device: name }
}

/** Caches the body of a page of the fleet for a second, in which all dashboards request the same. */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { gzipLevel } from '../../../query/cache/encode-body.ts'
import type { Coding, Form, SendableBody } from '../../http/send-body.ts'

interface FleetBody extends SendableBody {
  /** Compressed at the first request. */
  gzip: Promise<Buffer> | undefined
}

const compress = promisify(gzip)
/** A shorter body is sent uncompressed. */
const gzipBytesMin = 1024
const freshMs = 1000
/** At most some 300 kB each. */
const bodiesMax = 64

/** `head` depends on the moment only, so the tag covers the rest. It is weak, since the bytes differ. */
export function fleetBodyOf(head: string, rest: string): FleetBody {
  const bytes = Buffer.from(head + rest)
  const tag = `W/"${createHash('sha256').update(rest).digest('base64url').slice(0, 22)}"`
  const etags: Record<Form, string> = { identity: tag, gzip: tag, br: tag, zstd: tag }
  return { bytes, coded: { size: bytes.length < gzipBytesMin ? 0 : 1 }, etags, gzip: undefined }
}

export function encodeFleetBody(body: FleetBody, coding: Coding): Promise<Buffer> | undefined {
  if (coding !== 'gzip') return undefined
  body.gzip ??= compress(body.bytes, { level: gzipLevel })
  return body.gzip
}

export interface FleetBodies {
  get(key: string): FleetBody | undefined
  set(key: string, body: FleetBody): void
}

export function createFleetBodies(): FleetBodies {
  const bodies = new LRUCache<string, { readonly body: FleetBody; readonly atMs: number }>({ max: bodiesMax })
  return {
    get(key) {
      const kept = bodies.get(key)
      return kept !== undefined && performance.now() - kept.atMs < freshMs ? kept.body : undefined
    },
    set: (key, body) => void bodies.set(key, { body, atMs: performance.now() }),
  }
}

/** Answers about the fleet: its listed devices and the body. */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import type { Device } from '../../../auth/devices/device.ts'
import { gzipLevel } from '../../../query/cache/body.ts'
import type { Live } from '../../../query/live/live.ts'
import { type Coding, type Form, type SendableBody, sendBody } from '../../http/send-body.ts'
import { refuse, type Sent } from '../read-access.ts'
import { type Fleet, isWhole } from '../readers.ts'

/** Undefined means all devices. The cost for a restricted reader is proportional to its devices. */
export function listedOf(fleet: Fleet, tags: readonly string[]): readonly Device[] | undefined {
  if (tags.length > 0) return fleet.tagged(tags)
  return isWhole(fleet) ? undefined : fleet.all()
}

interface FleetBody extends SendableBody {
  /** Compressed at the first request. */
  gzip: Promise<Buffer> | undefined
}

const compress = promisify(gzip)
/** A shorter body is sent uncompressed. */
const gzipBytesMin = 1024
const freshMs = 1000
/** A body has at most some 300 kB. */
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

interface FleetBodies {
  get(key: string): FleetBody | undefined
  set(key: string, body: FleetBody): void
}

function createFleetBodies(): FleetBodies {
  const bodies = new LRUCache<string, { readonly body: FleetBody; readonly atMs: number }>({ max: bodiesMax })
  return {
    get(key) {
      const kept = bodies.get(key)
      return kept !== undefined && performance.now() - kept.atMs < freshMs ? kept.body : undefined
    },
    set: (key, body) => void bodies.set(key, { body, atMs: performance.now() }),
  }
}

export const maxAgeSeconds = 1

interface FleetAnswer<Parameters> {
  live: Pick<Live, 'isLoaded'>
  nowMs: () => number
  parameters: z.ZodType<Parameters>
  /** Members of the answer after `generated_at`, and the closing brace. Undefined if the queue of searches is full. */
  membersOf(parameters: Parameters, fleet: Fleet, reply: FastifyReply): string | Promise<string> | undefined
}

export function fleetAnswer<Parameters>({
  live,
  nowMs,
  parameters,
  membersOf,
}: FleetAnswer<Parameters>): (fleet: Fleet, request: FastifyRequest, reply: FastifyReply) => Sent {
  const bodies = createFleetBodies()
  return (fleet, request, reply) => {
    // The query's text is the key, so that a cached body needs no parsing.
    const key = request.originalUrl
    const kept = isWhole(fleet) ? bodies.get(key) : undefined
    if (kept !== undefined) return sendBody(request, reply, kept, maxAgeSeconds, encodeFleetBody)
    const parsed = parameters.safeParse(request.query)
    if (!parsed.success) return refuse(reply, 'PARAMETER_INVALID', parsed.error.issues[0]?.message)
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const members = membersOf(parsed.data, fleet, reply)
    if (members === undefined) return refuse(reply, 'QUEUE_FULL')
    const send = (rest: string) => {
      const body = fleetBodyOf(`{"generated_at":${nowMs()},`, rest)
      if (isWhole(fleet)) bodies.set(key, body)
      return sendBody(request, reply, body, maxAgeSeconds, encodeFleetBody)
    }
    return typeof members === 'string' ? send(members) : members.then(send, () => refuse(reply, 'CANCELLED'))
  }
}

/** Writes the members of an object in the form of `membersOf`. */
export function membersText(value: object): string {
  return JSON.stringify(value).slice(1)
}

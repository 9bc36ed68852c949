/** Answers about the fleet from memory, and repeats an answer to equal requests within a second. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Live } from '../../../query/live/live.ts'
import { sendBody } from '../../http/send-body.ts'
import { refuse, type Sent } from '../read-answers.ts'
import { type Fleet, isWhole } from '../readers.ts'
import { createFleetBodies, encodeFleetBody, fleetBodyOf } from './fleet-body.ts'

export const maxAgeSeconds = 1

export interface FleetAnswer<Parameters> {
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

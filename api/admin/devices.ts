/** The registry of devices by HTTP: a page of it, one device, additions, changes, removal and new passwords. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import { DeviceChange, NewDevice } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { sendUnknownOutcome } from './failures.ts'
import { actorIn } from './guard.ts'
import { addPath } from './paths.ts'
import { type Issue, sendInvalid, sendProblem } from './problem.ts'

const additionsMax = 10_000
/** Ten thousand devices with a place and a description each. */
const additionsBytesMax = 16 * 1024 * 1024

const Additions = z.array(NewDevice).min(1, 'must hold at least one device')

const ListQuery = z.strictObject({
  search: z.string().max(256, 'must have at most 256 characters').default(''),
  page: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1')
    .default('1')
    .transform(Number),
})
const RotateQuery = z.strictObject({ now: z.enum(['0', '1'], 'must be 0 or 1').default('0') })

const details: Partial<Record<Refusal['code'], string>> = {
  DATABASE_AWAY: 'PostgreSQL does not answer; nothing was changed',
}

export function sendRefusal(reply: FastifyReply, code: Refusal['code'], errors?: Issue[]): FastifyReply {
  if (code === 'OUTCOME_UNKNOWN') return sendUnknownOutcome(reply)
  return sendProblem(reply, code, { detail: details[code], errors })
}

/** A read does not tell what may be wrong. */
export function sendUnsettled(reply: FastifyReply): FastifyReply {
  const detail = 'PostgreSQL does not answer; what came of the last change is not known yet'
  return sendProblem(reply, 'DATABASE_AWAY', { detail })
}

/** The name in the path, decoded. */
export function nameIn(request: FastifyRequest): string {
  return (request.params as { name: string }).name
}

export function registerDevices(scope: FastifyInstance, devices: Devices): void {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    if (!(await devices.reconcile())) return sendUnsettled(reply)
    return reply.send(devices.list(query.data.search, query.data.page))
  }

  async function get(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!(await devices.reconcile())) return sendUnsettled(reply)
    const details = devices.details(nameIn(request))
    return details === undefined ? sendRefusal(reply, 'DEVICE_UNKNOWN') : reply.send(details)
  }

  async function change(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = DeviceChange.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const changed = await devices.change(nameIn(request), wanted.data, actorIn(request))
    if (changed.ok) return reply.send(changed.value)
    return sendRefusal(reply, changed.code, changed.code === 'NAME_TAKEN' ? [taken('name')] : undefined)
  }

  async function remove(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const device = devices.get(nameIn(request))
    if (device === undefined) return sendRefusal(reply, 'DEVICE_UNKNOWN')
    const removed = await devices.remove(device.number, actorIn(request))
    return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed.code)
  }

  async function rotate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = RotateQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    const rotated = await devices.rotate(nameIn(request), query.data.now === '1', actorIn(request))
    return rotated.ok ? reply.send(rotated.value) : sendRefusal(reply, rotated.code)
  }

  const additions = { bodyBytesMax: additionsBytesMax }
  addPath(scope, '/devices', { GET: list, POST: (request, reply) => add(devices, request, reply) }, additions)
  addPath(scope, '/devices/:name', { GET: get, PATCH: change, DELETE: remove })
  addPath(scope, '/devices/:name/rotate', { POST: rotate })
}

/** One device, or an array of them of which all are added or none. */
async function add(devices: Devices, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { body } = request
  const isOne = !Array.isArray(body)
  if (!isOne && body.length > additionsMax) {
    return sendProblem(reply, 'TOO_MANY_DEVICES', { detail: `at most ${additionsMax} at a time` })
  }
  // One is looked at by itself, so that the paths of its issues are those of the body.
  const wanted = isOne ? NewDevice.transform(device => [device]).safeParse(body) : Additions.safeParse(body)
  if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
  const added = await devices.add(wanted.data, actorIn(request))
  if (!added.ok) {
    const names = 'names' in added ? new Set(added.names) : undefined
    return sendRefusal(reply, added.code, names && issuesIn(wanted.data, names, isOne, added.code))
  }
  const [first] = added.value
  if (!isOne || first === undefined) return reply.code(201).send(added.value)
  return reply
    .code(201)
    .header('location', `/api/admin/devices/${encodeURIComponent(first.device)}`)
    .send(first)
}

function taken(path: string): Issue {
  return { path, message: 'is taken by another device' }
}

function issuesIn(wanted: NewDevice[], names: Set<string>, isOne: boolean, code: Refusal['code']): Issue[] {
  const places = wanted.flatMap(({ name }, at) => (names.has(name) ? [isOne ? 'name' : `[${at}].name`] : []))
  return places.map(path => (code === 'NAME_TAKEN' ? taken(path) : { path, message: 'stands here more than once' }))
}

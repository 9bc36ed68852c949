/** The registry of devices by HTTP: a page of it, one device, additions, changes, removal and new passwords. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import { DeviceChangeRequest, type NewDevice } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { readAdditions } from './device-additions.ts'
import { sendUnknownOutcome } from './failures.ts'
import { actorIn } from './guard.ts'
import { type FindAccounts, ownerIdsOf } from './owners.ts'
import { addPath } from './paths.ts'
import { type Issue, sendInvalid, sendProblem } from './problem.ts'
import { pageNumber, rotateNow, searchText } from './query-fields.ts'
import { withPresentNames } from './renamed-fields.ts'

const additionsMax = 10_000
/** Ten thousand devices with a place and a description each. */
const additionsBytesMax = 16 * 1024 * 1024

const ListQuery = z.strictObject({
  search: searchText,
  page: pageNumber,
})
const RotateQuery = z.strictObject({ now: rotateNow })

const details: Partial<Record<Refusal['code'], string>> = {
  DATABASE_AWAY: 'PostgreSQL does not answer; nothing was changed',
  OWNER_UNKNOWN: 'an owner is no account',
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

export interface AdminDevicesOptions {
  devices: Devices
  findAccounts: FindAccounts
}

export function registerDevices(scope: FastifyInstance, options: AdminDevicesOptions): void {
  const { devices, findAccounts } = options

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
    const wanted = DeviceChangeRequest.safeParse(withPresentNames(request.body))
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { owner, ...rest } = wanted.data
    const owners = await ownerIdsOf(owner === undefined ? [] : [owner], findAccounts)
    if (!owners.ok) return sendRefusal(reply, 'OWNER_UNKNOWN', [noAccount('owner')])
    const change = owner === undefined ? rest : { ...rest, owner: owners.ids[0] ?? null }
    const changed = await devices.change(nameIn(request), change, actorIn(request))
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
    const rotated = await devices.rotate(nameIn(request), query.data.now, actorIn(request))
    return rotated.ok ? reply.send(rotated.value) : sendRefusal(reply, rotated.code)
  }

  const additions = { bodyBytesMax: additionsBytesMax }
  addPath(scope, '/devices', { GET: list, POST: (request, reply) => add(options, request, reply) }, additions)
  addPath(scope, '/devices/:name', { GET: get, PATCH: change, DELETE: remove })
  addPath(scope, '/devices/:name/rotate', { POST: rotate })
}

/** One device, or an array of them of which all are added or none. */
async function add(
  { devices, findAccounts }: AdminDevicesOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { body } = request
  const isOne = !Array.isArray(body)
  if (!isOne && body.length > additionsMax) {
    return sendProblem(reply, 'TOO_MANY_DEVICES', { detail: `at most ${additionsMax} at a time` })
  }
  const wanted = await readAdditions(body)
  if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
  const pathOf = (at: number, field: string) => (isOne ? field : `[${at}].${field}`)
  const owners = await ownerIdsOf(
    wanted.data.map(device => device.owner),
    findAccounts,
  )
  if (!owners.ok) {
    const issues = owners.unknownAt.map(at => noAccount(pathOf(at, 'owner')))
    return sendRefusal(reply, 'OWNER_UNKNOWN', issues)
  }
  const additions: NewDevice[] = wanted.data.map((device, at) => ({ ...device, owner: owners.ids[at] ?? null }))
  const added = await devices.add(additions, actorIn(request))
  if (!added.ok) {
    const names = 'names' in added ? new Set(added.names) : undefined
    return sendRefusal(reply, added.code, names && issuesIn(additions, names, isOne, added.code))
  }
  const [first] = added.value
  if (!isOne || first === undefined) return reply.code(201).send(added.value)
  return reply
    .code(201)
    .header('location', `/api/admin/devices/${encodeURIComponent(first.device)}`)
    .send(first)
}

function noAccount(path: string): Issue {
  return { path, message: 'is no account' }
}

function taken(path: string): Issue {
  return { path, message: 'is taken by another device' }
}

function issuesIn(wanted: NewDevice[], names: Set<string>, isOne: boolean, code: Refusal['code']): Issue[] {
  const places = wanted.flatMap(({ name }, at) => (names.has(name) ? [isOne ? 'name' : `[${at}].name`] : []))
  return places.map(path => (code === 'NAME_TAKEN' ? taken(path) : { path, message: 'stands here more than once' }))
}

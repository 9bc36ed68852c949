/** `POST /devices`: adds one device, or all devices of an array or none. */

import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import { DeviceRequest, IssuedPassword, type NewDevice } from '../../auth/devices/device.ts'
import type { Checked } from '../http/operation.ts'
import { type AdminDevicesOptions, noAccount, noMetrics, sendRefusal, taken } from './devices.ts'
import { type AdminOperation, operation } from './operation.ts'
import { ownerIdsOf } from './owners.ts'
import type { Issue } from './problem.ts'
import { withPresentNames } from './renamed-fields.ts'

const additionsMax = 10_000
/** Room for 10,000 devices with a place and a description each. */
const additionsBytesMax = 16 * 1024 * 1024

const Addition = DeviceRequest.meta({ id: 'AdminNewDevice' })
const Issued = IssuedPassword.meta({ id: 'IssuedPassword' })

export function deviceAdditionOperation(options: AdminDevicesOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/devices',
    name: 'admin_add_devices',
    summary: 'Add a device, or up to 10,000',
    description: 'Of several, all are added or none. Their passwords are shown only once.',
    body: { json: z.union([Addition, z.array(Addition).min(1).max(additionsMax)]), check: checkAdditions },
    bodyBytesMax: additionsBytesMax,
    success: { status: 201, description: 'The names and passwords', json: z.union([Issued, z.array(Issued)]) },
    refusals: [
      'NAME_TAKEN',
      'NAME_TWICE',
      'REGISTRY_FULL',
      'TOO_MANY_DEVICES',
      'OWNER_UNKNOWN',
      'METRICS_UNKNOWN',
      'OUTCOME_UNKNOWN',
    ],
    async precondition({ body }) {
      if (!Array.isArray(body) || body.length <= additionsMax) return undefined
      return { code: 'TOO_MANY_DEVICES', detail: `at most ${additionsMax} at a time` }
    },
    handle: ({ body, actor }, reply) => add(options, body, actor, reply),
  })
}

async function add(
  { devices, findAccounts }: AdminDevicesOptions,
  body: DeviceRequest | DeviceRequest[],
  actor: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const isOne = !Array.isArray(body)
  const wanted = isOne ? [body] : body
  const pathOf = (at: number, field: string) => (isOne ? field : `[${at}].${field}`)
  const owners = await ownerIdsOf(
    wanted.map(device => device.owner),
    findAccounts,
  )
  if (!owners.ok) {
    const issues = owners.unknownAt.map(at => noAccount(pathOf(at, 'owner')))
    return sendRefusal(reply, 'OWNER_UNKNOWN', issues)
  }
  const additions: NewDevice[] = wanted.map((device, at) => ({ ...device, owner: owners.ids[at] ?? null }))
  const added = await devices.add(additions, actor)
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

const Additions = z.array(DeviceRequest).min(1, 'must hold at least one device')

/** A group takes a few milliseconds. Other requests run between groups. */
const devicesPerTurn = 500

export async function checkAdditions(body: unknown): Promise<Checked<DeviceRequest | DeviceRequest[]>> {
  // A single device is parsed alone, so that its issues have the paths of the body.
  if (!Array.isArray(body)) return DeviceRequest.safeParse(withPresentNames(body))
  const devices: DeviceRequest[] = []
  for (let from = 0; from === 0 || from < body.length; from += devicesPerTurn) {
    if (from > 0) await turn()
    const part = Additions.safeParse(body.slice(from, from + devicesPerTurn).map(withPresentNames))
    if (!part.success) return { success: false, error: { issues: part.error.issues.map(behind(from)) } }
    devices.push(...part.data)
  }
  return { success: true, data: devices }
}

/** Prefixes the path of an issue with the position in the whole array. */
function behind(count: number) {
  return (issue: z.core.$ZodIssue): z.core.$ZodIssue => {
    const [at, ...rest] = issue.path
    return typeof at === 'number' ? { ...issue, path: [at + count, ...rest] } : issue
  }
}

function issuesIn(wanted: NewDevice[], names: Set<string>, isOne: boolean, code: Refusal['code']): Issue[] {
  if (code === 'METRICS_UNKNOWN') {
    return wanted.flatMap(({ metrics }, at) => noMetrics(isOne ? '' : `[${at}].`, metrics, names))
  }
  const places = wanted.flatMap(({ name }, at) => (names.has(name) ? [isOne ? 'name' : `[${at}].name`] : []))
  return places.map(path => (code === 'NAME_TAKEN' ? taken(path) : { path, message: 'stands here more than once' }))
}

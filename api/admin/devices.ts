/** Operations on devices: list, show, add, change, rotate and remove. */

import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import {
  DeviceChangeRequest,
  DeviceDetails,
  DeviceRequest,
  IssuedPassword,
  type NewDevice,
  Rotated,
} from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Live } from '../../query/live/live.ts'
import { type LiveState, liveStates } from '../../query/live/live-state.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import type { Checked } from '../http/operation.ts'
import { AdminDevicePage } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type Issue, requireSettled, sendProblem, sendUnknownOutcome } from './problem.ts'
import { recordOperations } from './record-operations.ts'
import {
  type FindAccounts,
  ownerIdsOf,
  pageNumber,
  RotateQuery,
  searchText,
  withPresentNames,
} from './request-fields.ts'

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

const details: Partial<Record<Refusal['code'], string>> = {
  DATABASE_AWAY: 'PostgreSQL does not answer; nothing was changed',
  OWNER_UNKNOWN: 'an owner is not an account',
  METRICS_UNKNOWN: 'a listed metric is neither in the registry nor in the catalogue; add it first',
}

export function sendRefusal(reply: FastifyReply, code: Refusal['code'], errors?: Issue[]): FastifyReply {
  if (code === 'OUTCOME_UNKNOWN') return sendUnknownOutcome(reply)
  return sendProblem(reply, code, { detail: details[code], errors })
}

const name = z.string().meta({ description: 'The name of a device' })
export const DevicePath = z.object({ name })

interface AdminDevicesOptions {
  devices: Devices
  findAccounts: FindAccounts
}

export type DeviceStates = Pick<Live, 'isLoaded' | 'silenceOf' | 'stateOf'>

const sortKeys = ['name', 'place', 'state', 'last_reading'] as const

const ListQuery = z.strictObject({
  search: searchText,
  page: pageNumber,
  sort: z
    .enum(sortKeys.flatMap(key => [key, `-${key}`] as const))
    .default('name')
    .meta({ description: 'With -, in descending order. By state, the worst are first.' }),
})

const Details = DeviceDetails.meta({ id: 'AdminDevice' })

export const deviceRecords = recordOperations({
  prefix: '/api/admin',
  list: '/devices',
  key: 'name',
  id: name,
  unknown: 'DEVICE_UNKNOWN',
  refuse: (reply, { code }: Refusal) => sendRefusal(reply, code),
})

export function deviceOperations(options: AdminDevicesOptions & { live: DeviceStates }): AdminOperation[] {
  return [...deviceReads(options), changeOperation(options), ...deviceEnds(options)]
}

function deviceReads({ devices, live }: AdminDevicesOptions & { live: DeviceStates }): AdminOperation[] {
  const stateOf = (device: { number: number; log_switch: boolean }): LiveState | null => {
    if (!device.log_switch) return 'off'
    return (live.isLoaded() ? live.stateOf(device.number) : undefined) ?? null
  }
  const rankOf = (device: { number: number; log_switch: boolean }) => {
    const state = stateOf(device)
    return state === null ? liveStates.length : liveStates.indexOf(state)
  }
  const lastMsOf = ({ number }: { number: number }) =>
    (live.isLoaded() && live.silenceOf(number)?.lastMs) || Number.NEGATIVE_INFINITY
  const orderOf = (sort: string) => {
    const key = sort.replace('-', '') as (typeof sortKeys)[number]
    const by = { name: 'name', place: 'place', state: rankOf, last_reading: lastMsOf } as const
    return { by: by[key], isDescending: sort.startsWith('-') }
  }
  return [
    deviceRecords.list({
      name: 'admin_list_devices',
      summary: 'The registry of devices',
      query: ListQuery,
      answer: 'A page of it',
      json: AdminDevicePage,
      async read({ query: { search, page, sort } }) {
        requireSettled(await devices.reconcile())
        const { devices: listed, ...rest } = await devices.list(search, page, orderOf(sort))
        const lastOf = (device: { number: number; last_seen: string | null }) => {
          if (!live.isLoaded()) return device.last_seen
          const lastMs = lastMsOf(device)
          return Number.isFinite(lastMs) ? new Date(lastMs).toISOString() : null
        }
        const shown = listed.map(device => ({ ...device, state: stateOf(device), last_reading: lastOf(device) }))
        return { devices: shown, ...rest }
      },
    }),
    deviceRecords.one({
      name: 'admin_get_device',
      summary: 'One device',
      answer: 'The device',
      json: Details,
      async read({ path }) {
        requireSettled(await devices.reconcile())
        return await devices.details(path.name)
      },
    }),
  ]
}

function changeOperation({ devices, findAccounts }: AdminDevicesOptions): AdminOperation {
  return operation({
    method: 'PATCH',
    path: '/devices/:name',
    name: 'admin_change_device',
    summary: 'Change a device',
    parameters: { path: DevicePath },
    body: {
      json: DeviceChangeRequest.meta({ id: 'AdminDeviceChange' }),
      check: sent => DeviceChangeRequest.safeParse(withPresentNames(sent)),
    },
    success: { status: 200, description: 'The changed device', json: Details },
    refusals: ['DEVICE_UNKNOWN', 'NAME_TAKEN', 'OWNER_UNKNOWN', 'METRICS_UNKNOWN', 'OUTCOME_UNKNOWN'],
    async handle({ path, body: { owner, ...rest }, actor }, reply) {
      const owners = await ownerIdsOf(owner === undefined ? [] : [owner], findAccounts)
      if (!owners.ok) return sendRefusal(reply, 'OWNER_UNKNOWN', [noAccount('owner')])
      const change = owner === undefined ? rest : { ...rest, owner: owners.ids[0] ?? null }
      const changed = await devices.change(path.name, change, actor)
      if (changed.ok) return reply.send(changed.value)
      if (changed.code === 'METRICS_UNKNOWN') {
        return sendRefusal(reply, changed.code, noMetrics('', change.metrics, new Set(changed.names)))
      }
      return sendRefusal(reply, changed.code, changed.code === 'NAME_TAKEN' ? [taken('name')] : undefined)
    },
  })
}

function deviceEnds({ devices }: AdminDevicesOptions): AdminOperation[] {
  return [
    deviceRecords.removal({
      name: 'admin_remove_device',
      summary: 'Remove a device',
      description: 'Its further readings are refused at once. Stored readings stay until they are erased.',
      answer: 'It is removed',
      async run({ path, actor }) {
        const device = devices.get(path.name)
        return device === undefined ? { ok: false, code: 'DEVICE_UNKNOWN' } : await devices.remove(device.number, actor)
      },
    }),
    deviceRecords.action({
      below: '/rotate',
      name: 'admin_rotate_password',
      summary: 'A new password',
      query: RotateQuery,
      answer: 'The password, shown only once',
      json: Rotated.meta({ id: 'RotatedPassword' }),
      run: ({ path, query, actor }) => devices.rotate(path.name, query.now, actor),
    }),
  ]
}

function noAccount(path: string): Issue {
  return { path, message: 'is not an account' }
}

/** `prefix` precedes the field in the report on one of several devices. */
function noMetrics(
  prefix: string,
  metrics: readonly string[] | null | undefined,
  unknown: ReadonlySet<string>,
): Issue[] {
  return (metrics ?? []).flatMap((name, at) =>
    unknown.has(name) ? [{ path: `${prefix}metrics[${at}]`, message: noMetric(name) }] : [],
  )
}

function noMetric(name: string): string {
  const entry = catalogueEntry(name)
  return `"${name}" is not a metric${entry === undefined || entry.name === name ? '' : `; it is called ${entry.name}`}`
}

function taken(path: string): Issue {
  return { path, message: 'is taken by another device' }
}

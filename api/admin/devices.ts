/** Serves the registry of devices: lists, reads, adds, changes and removes devices and sets new passwords. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import { DeviceChangeRequest, DeviceDetails, Rotated } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Live } from '../../query/live/live.ts'
import { type LiveState, liveStates } from '../../query/live/live-state.ts'
import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { AdminDevicePage } from './device-page-answer.ts'
import { requireSettled, sendUnknownOutcome } from './failures.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type FindAccounts, ownerIdsOf } from './owners.ts'
import { type Issue, sendProblem } from './problem.ts'
import { pageNumber, RotateQuery, searchText } from './query-fields.ts'
import { recordOperations } from './record-operations.ts'
import { withPresentNames } from './renamed-fields.ts'

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

export interface AdminDevicesOptions {
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

export function noAccount(path: string): Issue {
  return { path, message: 'is not an account' }
}

/** `prefix` precedes the field in the report on one of several devices. */
export function noMetrics(
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

export function taken(path: string): Issue {
  return { path, message: 'is taken by another device' }
}

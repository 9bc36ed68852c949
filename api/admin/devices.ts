/** The registry of devices by HTTP: a page of it, one device, additions, changes, removal and new passwords. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Refusal } from '../../auth/devices/commits.ts'
import { DeviceChangeRequest, DeviceDetails, Rotated } from '../../auth/devices/device.ts'
import { DevicePage } from '../../auth/devices/device-page.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { catalogueEntry } from '../../metrics/catalogue.ts'
import { sendUnknownOutcome } from './failures.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type FindAccounts, ownerIdsOf } from './owners.ts'
import { type Issue, sendProblem } from './problem.ts'
import { RotateQuery, SearchQuery } from './query-fields.ts'
import { withPresentNames } from './renamed-fields.ts'

const details: Partial<Record<Refusal['code'], string>> = {
  DATABASE_AWAY: 'PostgreSQL does not answer; nothing was changed',
  OWNER_UNKNOWN: 'an owner is no account',
  METRICS_UNKNOWN: 'a listed metric is neither in the registry nor in the catalogue; add it first',
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

/** Of a device, by its name. */
export const DevicePath = z.object({ name: z.string().meta({ description: 'The name of a device' }) })

export interface AdminDevicesOptions {
  devices: Devices
  findAccounts: FindAccounts
}

const Details = DeviceDetails.meta({ id: 'AdminDevice' })

export function deviceOperations(options: AdminDevicesOptions): AdminOperation[] {
  return [...deviceReads(options), changeOperation(options), ...deviceEnds(options)]
}

function deviceReads({ devices }: AdminDevicesOptions): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/devices',
      name: 'admin_list_devices',
      summary: 'The registry of devices',
      parameters: { query: SearchQuery },
      success: { status: 200, description: 'A page of it', json: DevicePage.meta({ id: 'AdminDevicePage' }) },
      async handle({ query }, reply) {
        if (!(await devices.reconcile())) return sendUnsettled(reply)
        return reply.send(await devices.list(query.search, query.page))
      },
    }),
    operation({
      method: 'GET',
      path: '/devices/:name',
      name: 'admin_get_device',
      summary: 'One device',
      parameters: { path: DevicePath },
      success: { status: 200, description: 'The device', json: Details },
      refusals: ['DEVICE_UNKNOWN'],
      async handle({ path }, reply) {
        if (!(await devices.reconcile())) return sendUnsettled(reply)
        const details = await devices.details(path.name)
        return details === undefined ? sendRefusal(reply, 'DEVICE_UNKNOWN') : reply.send(details)
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
    operation({
      method: 'DELETE',
      path: '/devices/:name',
      name: 'admin_remove_device',
      summary: 'Remove a device',
      description: 'It logs no more at once. Its readings stay until they are erased.',
      parameters: { path: DevicePath },
      success: { status: 204, description: 'It is removed' },
      refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle({ path, actor }, reply) {
        const device = devices.get(path.name)
        if (device === undefined) return sendRefusal(reply, 'DEVICE_UNKNOWN')
        const removed = await devices.remove(device.number, actor)
        return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed.code)
      },
    }),
    operation({
      method: 'POST',
      path: '/devices/:name/rotate',
      name: 'admin_rotate_password',
      summary: 'A new password',
      parameters: { path: DevicePath, query: RotateQuery },
      success: { status: 200, description: 'The password, this once', json: Rotated.meta({ id: 'RotatedPassword' }) },
      refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle({ path, query, actor }, reply) {
        const rotated = await devices.rotate(path.name, query.now, actor)
        return rotated.ok ? reply.send(rotated.value) : sendRefusal(reply, rotated.code)
      },
    }),
  ]
}

export function noAccount(path: string): Issue {
  return { path, message: 'is no account' }
}

/** `prefix`: before the field, of one device among several. */
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
  return `"${name}" is no metric${entry === undefined || entry.name === name ? '' : `; it is called ${entry.name}`}`
}

export function taken(path: string): Issue {
  return { path, message: 'is taken by another device' }
}

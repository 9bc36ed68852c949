/** `GET /api/device/<device>/contact`: returns facts about a device's silence from memory. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../auth/devices/device.ts'
import { createScopeCheck } from '../../auth/devices/selector.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import { annotationScopeOf, authorize, type Principal } from '../../auth/policy.ts'
import { deviceSender, type RejectionEntry } from '../../ingest/rejections/rejection.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import type { Live } from '../../query/live/live.ts'
import { isUnknownSender } from '../../store/limits/networks.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import type { OperationGroup } from '../http/route-family.ts'
import type { ReadOperation } from '../http/status-operations.ts'
import { listedOf } from './fleet/fleet-answer.ts'
import type { ReadAccess } from './read-access.ts'
import { refuse } from './read-access.ts'
import { DevicePath, ofReads, readGroup, readOperation } from './read-operation.ts'
import { deviceInPath } from './read-subjects.ts'
import type { Fleet } from './readers.ts'
import { type Attempt, DeviceContact } from './shapes.ts'

export interface ContactOptions {
  rejections: Pick<Rejections, 'list' | 'status'>
  live: Pick<Live, 'isLoaded' | 'counts' | 'stateOf'>
  findPrincipal: FindPrincipal
}

/** Bounds the scanned entries, and the entries in each list of the answer. */
const scannedMax = 100
const listedMax = 10

export function contactGroup(
  access: ReadAccess,
  { rejections, live, findPrincipal }: ContactOptions,
): OperationGroup<ReadOperation> {
  function attemptsOf(name: string): DeviceContact['attempts'] {
    const { entries } = rejections.list({ device: name, limit: scannedMax })
    const own = deviceSender(name)
    // The name of another sending device may be unknown to the owner.
    const counted = entries.filter(({ part, sender }) => {
      return part !== 'field' && (sender === own || !sender.startsWith(deviceSender('')))
    })
    const { failed = [], rejected = [] } = Object.groupBy(counted, ({ sender }) =>
      isUnknownSender(sender) ? 'failed' : 'rejected',
    )
    const since = new Date(rejections.status().sinceMs).toISOString()
    return { since, rejected: shown(rejected), failed_sign_ins: shown(failed) }
  }

  async function send(device: Device, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      const isAllowed = maySeeSenders(await findPrincipal(request.raw), device)
      const { fleet } = access.readerOf(request)
      const answer: DeviceContact = {
        device: device.name,
        neighbours: fleet === undefined || !live.isLoaded() ? null : neighboursOf(device, fleet, live),
        attempts: isAllowed ? attemptsOf(device.name) : null,
      }
      reply.header('cache-control', 'private, no-cache').header('vary', 'authorization, cookie, x-api-key')
      return reply.send(answer)
    } catch (error) {
      if (isPassing(error)) return refuse(reply, 'DATABASE_AWAY')
      throw error
    }
  }

  const operation = readOperation<Device>(access, {
    path: '/device/:name/contact',
    publishedPath: '/device/{device}/contact',
    name: 'read_contact',
    summary: "A device's rejected readings, failed sign-ins and silent neighbours",
    description: 'The node that answers lists its own rejections since its start.',
    subject: deviceInPath('name'),
    parameters: { path: DevicePath },
    success: { status: 200, description: 'The facts', json: DeviceContact.meta({ id: 'DeviceContact' }) },
    refusals: [...ofReads, 'DEVICE_UNKNOWN'],
    handle: send,
  })
  return readGroup(operation)
}

/** True for the owner of the device and for administrators. */
function maySeeSenders(principal: Principal | undefined, device: Device): boolean {
  if (principal === undefined || principal.kind === 'view-link') return false
  if (authorize('readings.read', principal) !== 'allowed') return false
  const scope = annotationScopeOf(principal)
  return scope !== 'EMAIL_UNVERIFIED' && createScopeCheck(scope)(device)
}

/** Counts devices with the tag that the fewest others have, or all devices without such a tag. */
function neighboursOf(device: Device, fleet: Fleet, live: ContactOptions['live']): DeviceContact['neighbours'] {
  const [nearest] = device.tags
    .map(tag => ({ tag, devices: fleet.tagged([tag]) }))
    .filter(({ devices }) => devices.length > 1)
    .sort((a, b) => a.devices.length - b.devices.length)
  const counts = live.counts(nearest?.devices ?? listedOf(fleet, []))
  const state = live.stateOf(device.number)
  const silent = counts.silent - (state === 'silent' ? 1 : 0)
  const reporting = counts.late + counts.fresh - (state === 'late' || state === 'fresh' ? 1 : 0)
  return { tag: nearest?.tag ?? null, silent, reporting }
}

function shown(entries: readonly RejectionEntry[]): Attempt[] {
  return entries.slice(0, listedMax).map(({ way, sender, reason, count, firstMs, latestMs }) => {
    const [at, first_at] = [latestMs, firstMs].map(ms => new Date(ms).toISOString()) as [string, string]
    return { at, first_at, way, sender, reason, count }
  })
}

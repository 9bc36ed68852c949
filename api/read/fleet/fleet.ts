/**
 * `GET /api/fleet` and `GET /api/latest/<device>`: return the present state of devices from memory; `GET
 * /api/fleet/insights`, `/trends`, `/groups`, `/map`.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Device } from '../../../auth/devices/device.ts'
import { bodyOf } from '../../../query/cache/body.ts'
import { encodeBody } from '../../../query/cache/encode-body.ts'
import type { Insights as FleetInsights } from '../../../query/insights.ts'
import { Fleet as FleetShape, LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import type { FleetPage, Live } from '../../../query/live/live.ts'
import type { LiveCounts } from '../../../query/live/live-state.ts'
import type { Query } from '../../../query/query.ts'
import { Insights } from '../../../query/shapes/insights.ts'
import type { OperationGroup } from '../../http/route-family.ts'
import { sendBody } from '../../http/send-body.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import { disconnectSignalOf } from '../../http/streamed-response.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse, type Sent, sendAnswer } from '../read-answers.ts'
import { DevicePath, jsonRead, readGroup } from '../read-operation.ts'
import { deviceInPath, wholeFleet } from '../read-subjects.ts'
import { type Fleet, isWhole } from '../readers.ts'
import { fleetAnswer, maxAgeSeconds, membersText } from './fleet-answer.ts'
import { FleetParameters, FleetQuery, textOfPlace } from './fleet-parameters.ts'
import { groupsOperation } from './groups.ts'
import { listedOf } from './listed.ts'
import { mapOperation } from './map.ts'
import { trendsOperation } from './trends.ts'

export interface FleetOptions {
  live: Pick<Live, 'isLoaded' | 'isCatchingUp' | 'counts' | 'page' | 'search' | 'latest' | 'trends' | 'groups' | 'map'>
  /** Rows that QuestDB has lost. */
  missing?: () => string | undefined
  insights: FleetInsights
  query: Pick<Query, 'coded'>
  timeZone: string
  nowMs: () => number
}

export function fleetGroup(
  access: ReadAccess,
  { live, missing = () => undefined, insights, query, timeZone, nowMs }: FleetOptions,
): OperationGroup<ReadOperation> {
  const list = fleetAnswer({
    live,
    nowMs,
    parameters: FleetParameters,
    membersOf({ request, search, tags }, fleet, reply) {
      const of = listedOf(fleet, tags)
      const members = (page: FleetPage) =>
        membersOfPage({ live, missing, timeZone }, page, live.counts(of), request.order)
      if (search === undefined) return members(live.page(request, of))
      return live.search(request, search, disconnectSignalOf(reply), of)?.then(members)
    },
  })

  function latest({ number }: Device, request: FastifyRequest, reply: FastifyReply): Sent {
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const text = JSON.stringify(live.latest(number))
    return sendBody(request, reply, bodyOf(encodeBody(new TextEncoder().encode(text))), maxAgeSeconds, query.coded)
  }

  function findings(fleet: Fleet, request: FastifyRequest, reply: FastifyReply): Sent {
    const answer = isWhole(fleet) ? insights.all(fleet.active) : insights.of(fleet.active(), disconnectSignalOf(reply))
    return sendAnswer(request, reply, answer, query.coded, 'FLEET_TOO_LARGE')
  }

  return readGroup(
    jsonRead(access, {
      path: '/fleet',
      name: 'read_fleet',
      summary: 'The devices with their states, in pages',
      subject: wholeFleet,
      parameters: { query: FleetQuery },
      answer: FleetShape.meta({ id: 'Fleet' }),
      handle: list,
    }),
    jsonRead(access, {
      path: '/fleet/insights',
      name: 'read_fleet_insights',
      summary: 'Batteries that run out, and outliers among the devices',
      subject: wholeFleet,
      answer: Insights.meta({ id: 'FleetInsights' }),
      refusals: ['FLEET_TOO_LARGE', 'TIMED_OUT'],
      handle: findings,
    }),
    trendsOperation(access, { live, nowMs }),
    groupsOperation(access, { live, nowMs }),
    mapOperation(access, { live, nowMs }),
    jsonRead(access, {
      path: '/latest/:device',
      name: 'read_latest_of_device',
      summary: 'The last values of a device',
      subject: deviceInPath('device'),
      parameters: { path: DevicePath },
      answer: LatestOfDevice.meta({ id: 'LatestOfDevice' }),
      refusals: ['DEVICE_UNKNOWN'],
      handle: latest,
    }),
  )
}

function membersOfPage(
  { live, missing, timeZone }: Required<Pick<FleetOptions, 'live' | 'missing' | 'timeZone'>>,
  { devices, metrics, last }: FleetPage,
  counts: LiveCounts,
  order: string,
): string {
  const next = last === undefined ? null : textOfPlace(last, order)
  const described = Object.keys(metrics).length === 0 ? {} : { metrics }
  // JSON omits undefined members.
  const more = { ...described, next, missing: missing(), ...(live.isCatchingUp() ? { catching_up: true } : {}) }
  const head = `"time_zone":${JSON.stringify(timeZone)},"counts":${JSON.stringify(counts)},`
  return `${head}"devices":[${devices.join(',')}],${membersText(more)}`
}

/** Serves the fleet: its list, groups, map and trends. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Device } from '../../../auth/devices/device.ts'
import { bodyOf, encodeBody } from '../../../query/cache/body.ts'
import type { Insights as FleetInsights } from '../../../query/insights.ts'
import {
  FleetGroups,
  FleetMap,
  Fleet as FleetShape,
  FleetTrends,
  LatestOfDevice,
} from '../../../query/live/fleet-shape.ts'
import type { FleetPage, Live } from '../../../query/live/live.ts'
import type { LiveCounts } from '../../../query/live/live-state.ts'
import type { Query } from '../../../query/query.ts'
import { Insights } from '../../../query/shapes/insights.ts'
import type { OperationGroup } from '../../http/route-family.ts'
import { sendBody } from '../../http/send-body.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import { disconnectSignalOf } from '../../http/streamed-response.ts'
import type { ReadAccess } from '../read-access.ts'
import { refuse, type Sent, sendAnswer } from '../read-access.ts'
import { DevicePath, jsonRead, readGroup } from '../read-operation.ts'
import { deviceInPath, fleetOrNamed, mappedFleet, wholeFleet } from '../read-subjects.ts'
import { type Fleet, isWhole } from '../readers.ts'
import { encodeFleetBody, fleetAnswer, fleetBodyOf, listedOf, maxAgeSeconds, membersText } from './fleet-answer.ts'
import { FleetParameters, FleetQuery, GroupsQuery, MapQuery, textOfPlace } from './fleet-parameters.ts'

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

interface GroupsOptions {
  live: Pick<Live, 'isLoaded' | 'groups'>
  nowMs: () => number
}

function groupsOperation(access: ReadAccess, { live, nowMs }: GroupsOptions): ReadOperation {
  return jsonRead(access, {
    path: '/fleet/groups',
    name: 'read_fleet_groups',
    summary: 'The devices by their tags of a key, counted by state',
    subject: wholeFleet,
    parameters: { query: GroupsQuery },
    answer: FleetGroups.meta({ id: 'FleetGroups' }),
    handle: fleetAnswer({
      live,
      nowMs,
      parameters: GroupsQuery,
      membersOf: ({ key, tag }, fleet) => live.groups(key, listedOf(fleet, tag))?.then(membersText),
    }),
  })
}

interface MapOptions {
  live: Pick<Live, 'isLoaded' | 'map'>
  nowMs: () => number
}

function mapOperation(access: ReadAccess, { live, nowMs }: MapOptions): ReadOperation {
  const answer = fleetAnswer({
    live,
    nowMs,
    parameters: MapQuery,
    membersOf: ({ state, q, tag, box }, fleet) =>
      live.map({ states: state, search: q, box }, listedOf(fleet, tag))?.then(membersText),
  })

  return jsonRead(access, {
    path: '/fleet/map',
    name: 'read_fleet_map',
    summary: 'Where the devices are, counted by state',
    subject: mappedFleet,
    parameters: { query: MapQuery },
    answer: FleetMap.meta({ id: 'FleetMap' }),
    handle: answer,
  })
}

/** More than any screen shows. */
const devicesMax = 100
const namesMissing = `device must name a device, and may be given ${devicesMax} times`

interface TrendsOptions {
  live: Pick<Live, 'isLoaded' | 'trends'>
  nowMs: () => number
}

function trendsOperation(access: ReadAccess, { live, nowMs }: TrendsOptions): ReadOperation {
  function trends({ named }: Fleet, request: FastifyRequest, reply: FastifyReply): Sent {
    if (named === undefined) return refuse(reply, 'PARAMETER_INVALID', namesMissing)
    if (!live.isLoaded()) return refuse(reply, 'DATABASE_AWAY')
    const body = fleetBodyOf(`{"generated_at":${nowMs()},`, membersText(live.trends(named)))
    return sendBody(request, reply, body, maxAgeSeconds, encodeFleetBody)
  }

  return jsonRead(access, {
    path: '/fleet/trends',
    name: 'read_fleet_trends',
    summary: 'The last 24 hours of some devices, and their trends',
    subject: fleetOrNamed('device', devicesMax, reader => reader.listed ?? reader.device),
    parameters: { query: TrendsQuery },
    answer: FleetTrends.meta({ id: 'FleetTrends' }),
    refusals: ['DEVICE_UNKNOWN'],
    handle: trends,
  })
}

const TrendsQuery = z.object({
  device: z
    .array(z.string())
    .min(1)
    .max(devicesMax)
    .meta({ description: `A device; given up to ${devicesMax} times` }),
})

/** Stations of the air-quality network by HTTP, for administrators: a page of them, one, a new one, changes and removal. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mayAdminister } from '../../auth/stations/permissions.ts'
import type { Station, StationChange } from '../../auth/stations/station.ts'
import {
  StationChangeRequest,
  StationRequest,
  stationDetails,
  stationPage,
} from '../../auth/stations/station-details.ts'
import type { StationRefusal, Stations } from '../../auth/stations/stations.ts'
import type { EraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import type { AdminErrorCode } from './errors.ts'
import { actorIn, requesterOf } from './guard.ts'
import { type FindAccounts, ownerIdsOf } from './owners.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'
import { pageNumber, searchText } from './query-fields.ts'

export interface AdminStationsOptions {
  stations: Stations
  findAccounts: FindAccounts
  eraseJobs: Pick<EraseJobs, 'removeStation' | 'stationReport'>
}

const ListQuery = z.strictObject({ search: searchText, page: pageNumber })

export function registerStations(scope: FastifyInstance, options: AdminStationsOptions): void {
  const { stations, findAccounts, eraseJobs } = options
  const details = (station: Station) => stationDetails(station, stations.lastDataMs)

  function stationIn(request: FastifyRequest): Promise<Station | undefined> {
    return stations.find((request.params as { sn: string }).sn)
  }

  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    const { search, page } = query.data
    const { all } = await stations.registry()
    return reply.send(stationPage(all, search, page, stations.lastDataMs))
  }

  async function get(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const station = await stationIn(request)
    return station === undefined ? sendProblem(reply, 'STATION_UNKNOWN') : reply.send(details(station))
  }

  async function add(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = StationRequest.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const owners = await ownerIdsOf([wanted.data.owner], findAccounts)
    if (!owners.ok) return sendRefusal(reply, 'OWNER_UNKNOWN')
    const added = await stations.add({ ...wanted.data, owner: owners.ids[0] ?? null }, actorIn(request))
    if (!added.ok) return sendRefusal(reply, added.code)
    return reply.code(201).header('location', `/api/admin/stations/${added.value.sn}`).send(details(added.value))
  }

  async function change(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const station = await stationIn(request)
    if (station === undefined) return sendProblem(reply, 'STATION_UNKNOWN')
    const wanted = StationChangeRequest.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { owner, ...fields } = wanted.data
    const owners = await ownerIdsOf(owner === undefined ? [] : [owner], findAccounts)
    if (!owners.ok) return sendRefusal(reply, 'OWNER_UNKNOWN')
    const change: StationChange = owner === undefined ? fields : { ...fields, owner: owners.ids[0] ?? null }
    const changed = await stations.change(station.id, change, actorIn(request))
    return changed.ok ? reply.send(details(changed.value)) : sendRefusal(reply, changed.code)
  }

  async function remove(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!mayAdminister('remove', requesterOf(request)))
      return sendProblem(reply, 'OPERATOR_ONLY', { detail: notOperator })
    const station = await stationIn(request)
    if (station === undefined) return sendProblem(reply, 'STATION_UNKNOWN')
    const removed = await eraseJobs.removeStation(station, actorIn(request))
    return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed.code)
  }

  async function eraseReport(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { sn } = request.params as { sn: string }
    const found = await eraseJobs.stationReport(sn)
    return found === undefined ? sendProblem(reply, 'STATION_UNKNOWN') : reply.send(found)
  }

  addPath(scope, '/stations', { GET: list, POST: add })
  addPath(scope, '/stations/:sn', { GET: get, PATCH: change, DELETE: remove })
  addPath(scope, '/stations/:sn/erase', { GET: eraseReport })
}

/** The station and the parameter of each series. */
export async function stationSeriesNames({ registry }: Pick<Stations, 'registry'>): Promise<Map<number, string>> {
  const { all } = await registry()
  return new Map(
    all.flatMap(({ sn, series }) => [...series].map(([name, number]) => [number, `${sn} ${name}`] as const)),
  )
}

const notOperator = 'only the operator and the local admin token remove stations'

const issues: Partial<Record<AdminErrorCode, { path: string; message: string }>> = {
  SN_TAKEN: { path: 'sn', message: 'is taken by another station' },
  OWNER_UNKNOWN: { path: 'owner', message: 'is no account' },
}

function sendRefusal(reply: FastifyReply, code: StationRefusal['code']): FastifyReply {
  const issue = issues[code]
  return sendProblem(reply, code, issue === undefined ? {} : { errors: [issue] })
}

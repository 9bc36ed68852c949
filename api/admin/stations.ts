/** Stations of the air-quality network by HTTP, for administrators: a page of them, one, a new one, changes and removal. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { mayAdminister } from '../../auth/stations/permissions.ts'
import type { StationChange } from '../../auth/stations/station.ts'
import type { StationRefusal } from '../../auth/stations/station-changes.ts'
import {
  StationChangeRequest,
  StationDetails,
  StationPage,
  StationRequest,
  stationDetails,
  stationPage,
} from '../../auth/stations/station-details.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { EraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import { StationEraseReport } from '../../lifecycle/erasure/erase-records.ts'
import type { AdminErrorCode } from './errors.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type FindAccounts, ownerIdsOf } from './owners.ts'
import { sendProblem } from './problem.ts'
import { SearchQuery } from './query-fields.ts'

export interface AdminStationsOptions {
  stations: Stations
  findAccounts: FindAccounts
  eraseJobs: Pick<EraseJobs, 'removeStation' | 'stationReport'>
}

const Details = StationDetails.meta({ id: 'AdminStation' })
const path = z.object({ sn: z.string().meta({ description: 'The serial number of a station' }) })

export function stationOperations(options: AdminStationsOptions): AdminOperation[] {
  return [...stationReads(options), addOperation(options), changeOperation(options), removeOperation(options)]
}

function stationReads({ stations, eraseJobs }: AdminStationsOptions): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/stations',
      name: 'admin_list_stations',
      summary: 'The air-quality stations',
      parameters: { query: SearchQuery },
      success: { status: 200, description: 'A page of them', json: StationPage.meta({ id: 'AdminStationPage' }) },
      async handle({ query: { search, page } }, reply) {
        const { all } = await stations.registry()
        return reply.send(stationPage(all, search, page, stations.lastDataMs))
      },
    }),
    operation({
      method: 'GET',
      path: '/stations/:sn',
      name: 'admin_get_station',
      summary: 'One station',
      parameters: { path },
      success: { status: 200, description: 'The station', json: Details },
      refusals: ['STATION_UNKNOWN'],
      async handle({ path: { sn } }, reply) {
        const station = await stations.find(sn)
        if (station === undefined) return sendProblem(reply, 'STATION_UNKNOWN')
        return reply.send(stationDetails(station, stations.lastDataMs))
      },
    }),
    operation({
      method: 'GET',
      path: '/stations/:sn/erase',
      name: 'admin_get_station_erase',
      summary: 'How that job goes',
      parameters: { path },
      success: { status: 200, description: 'Its report', json: StationEraseReport.meta({ id: 'StationEraseReport' }) },
      refusals: ['STATION_UNKNOWN'],
      async handle({ path: { sn } }, reply) {
        const found = await eraseJobs.stationReport(sn)
        return found === undefined ? sendProblem(reply, 'STATION_UNKNOWN') : reply.send(found)
      },
    }),
  ]
}

function addOperation({ stations, findAccounts }: AdminStationsOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/stations',
    name: 'admin_add_station',
    summary: 'Add a station',
    body: { json: StationRequest.meta({ id: 'AdminNewStation' }) },
    success: { status: 201, description: 'The station', json: Details },
    refusals: ['SN_TAKEN', 'OWNER_UNKNOWN', 'REGISTRY_FULL', 'OUTCOME_UNKNOWN'],
    async handle({ body, actor }, reply) {
      const owners = await ownerIdsOf([body.owner], findAccounts)
      if (!owners.ok) return sendRefusal(reply, 'OWNER_UNKNOWN')
      const added = await stations.add({ ...body, owner: owners.ids[0] ?? null }, actor)
      if (!added.ok) return sendRefusal(reply, added.code)
      const details = stationDetails(added.value, stations.lastDataMs)
      return reply.code(201).header('location', `/api/admin/stations/${added.value.sn}`).send(details)
    },
  })
}

function changeOperation({ stations, findAccounts }: AdminStationsOptions): AdminOperation {
  return operation({
    method: 'PATCH',
    path: '/stations/:sn',
    name: 'admin_change_station',
    summary: 'Change a station',
    parameters: { path },
    body: { json: StationChangeRequest.meta({ id: 'AdminStationChange' }) },
    success: { status: 200, description: 'The changed station', json: Details },
    refusals: ['STATION_UNKNOWN', 'OWNER_UNKNOWN', 'OUTCOME_UNKNOWN'],
    async precondition({ params }: FastifyRequest, reply) {
      const station = await stations.find((params as { sn: string }).sn)
      return station === undefined ? sendProblem(reply, 'STATION_UNKNOWN') : undefined
    },
    async handle({ path: { sn }, body: { owner, ...fields }, actor }, reply) {
      const station = await stations.find(sn)
      if (station === undefined) return sendProblem(reply, 'STATION_UNKNOWN')
      const owners = await ownerIdsOf(owner === undefined ? [] : [owner], findAccounts)
      if (!owners.ok) return sendRefusal(reply, 'OWNER_UNKNOWN')
      const change: StationChange = owner === undefined ? fields : { ...fields, owner: owners.ids[0] ?? null }
      const changed = await stations.change(station.id, change, actor)
      if (!changed.ok) return sendRefusal(reply, changed.code)
      return reply.send(stationDetails(changed.value, stations.lastDataMs))
    },
  })
}

function removeOperation({ stations, eraseJobs }: AdminStationsOptions): AdminOperation {
  return operation({
    method: 'DELETE',
    path: '/stations/:sn',
    name: 'admin_remove_station',
    summary: 'Remove a station and its points',
    parameters: { path },
    success: { status: 204, description: 'It is removed; its points are being erased' },
    refusals: ['STATION_UNKNOWN', 'OPERATOR_ONLY', 'OUTCOME_UNKNOWN'],
    async handle({ path: { sn }, principal, actor }, reply) {
      if (!mayAdminister('remove', principal)) return sendProblem(reply, 'OPERATOR_ONLY', { detail: notOperator })
      const station = await stations.find(sn)
      if (station === undefined) return sendProblem(reply, 'STATION_UNKNOWN')
      const removed = await eraseJobs.removeStation(station, actor)
      return removed.ok ? reply.code(204).send() : sendRefusal(reply, removed.code)
    },
  })
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

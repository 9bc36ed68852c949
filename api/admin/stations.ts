/** Serves air-quality stations to administrators: lists, reads, adds, changes and removes. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { mayAdminister } from '../../auth/stations/permissions.ts'
import {
  type StationChange,
  StationChangeRequest,
  StationDetails,
  StationPage,
  StationRequest,
  stationDetails,
  stationPage,
} from '../../auth/stations/station.ts'
import type { StationRefusal } from '../../auth/stations/station-rows.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { EraseJobs } from '../../service/lifecycle/erasure/erase-jobs.ts'
import { StationEraseReport } from '../../service/lifecycle/erasure/erase-records.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type AdminErrorCode, type Occurrence, sendProblem } from './problem.ts'
import { recordOperations } from './record-operations.ts'
import { type FindAccounts, ownerIdsOf, SearchQuery } from './request-fields.ts'

export interface AdminStationsOptions {
  stations: Stations
  findAccounts: FindAccounts
  eraseJobs: Pick<EraseJobs, 'removeStation' | 'eraseStationAgain' | 'stationReport'>
}

const Details = StationDetails.meta({ id: 'AdminStation' })
const sn = z.string().meta({ description: 'The serial number of a station' })
const path = z.object({ sn })
const { list, one, addition, removal } = recordOperations({
  prefix: '/api/admin',
  list: '/stations',
  key: 'sn',
  id: sn,
  unknown: 'STATION_UNKNOWN',
  refuse: sendRefusal,
})

export function stationOperations(options: AdminStationsOptions): AdminOperation[] {
  return [...stationReads(options), addOperation(options), changeOperation(options), removeOperation(options)]
}

function stationReads({ stations, eraseJobs }: AdminStationsOptions): AdminOperation[] {
  return [
    list({
      name: 'admin_list_stations',
      summary: 'The air-quality stations',
      query: SearchQuery,
      answer: 'A page of them',
      json: StationPage.meta({ id: 'AdminStationPage' }),
      async read({ query: { search, page } }) {
        const { all } = await stations.registry()
        return stationPage(all, search, page, stations.lastDataMs)
      },
    }),
    one({
      name: 'admin_get_station',
      summary: 'One station',
      answer: 'The station',
      json: Details,
      async read({ path: { sn } }) {
        const station = await stations.find(sn)
        return station && stationDetails(station, stations.lastDataMs)
      },
    }),
    one({
      below: '/erase',
      name: 'admin_get_station_erase',
      summary: 'Progress of the erase job of a removed station',
      answer: 'Its report',
      json: StationEraseReport.meta({ id: 'StationEraseReport' }),
      read: ({ path: { sn } }) => eraseJobs.stationReport(sn),
    }),
  ]
}

function addOperation({ stations, findAccounts }: AdminStationsOptions): AdminOperation {
  return addition({
    name: 'admin_add_station',
    summary: 'Add a station',
    body: StationRequest.meta({ id: 'AdminNewStation' }),
    answer: 'The station',
    json: Details,
    refusals: ['SN_TAKEN', 'OWNER_UNKNOWN', 'REGISTRY_FULL'],
    async run({ body, actor }) {
      const owners = await ownerIdsOf([body.owner], findAccounts)
      if (!owners.ok) return { ok: false, code: 'OWNER_UNKNOWN' }
      return await stations.add({ ...body, owner: owners.ids[0] ?? null }, actor)
    },
    shown: station => stationDetails(station, stations.lastDataMs),
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
    async precondition({ params }) {
      const station = await stations.find((params as { sn: string }).sn)
      return station === undefined ? { code: 'STATION_UNKNOWN' } : undefined
    },
    async handle({ path: { sn }, body: { owner, ...fields }, actor }, reply) {
      const station = await stations.find(sn)
      if (station === undefined) return sendProblem(reply, 'STATION_UNKNOWN')
      const owners = await ownerIdsOf(owner === undefined ? [] : [owner], findAccounts)
      if (!owners.ok) return sendRefusal(reply, { ok: false, code: 'OWNER_UNKNOWN' })
      const change: StationChange = owner === undefined ? fields : { ...fields, owner: owners.ids[0] ?? null }
      const changed = await stations.change(station.id, change, actor)
      if (!changed.ok) return sendRefusal(reply, changed)
      return reply.send(stationDetails(changed.value, stations.lastDataMs))
    },
  })
}

function removeOperation({ stations, eraseJobs }: AdminStationsOptions): AdminOperation {
  return removal({
    name: 'admin_remove_station',
    summary: 'Remove a station and its points, or retry the failed erasure of a removed station',
    answer: 'It is removed; its points are being erased',
    refusals: ['OPERATOR_ONLY'],
    async run({ path: { sn }, principal, actor }) {
      if (!mayAdminister('remove', principal)) return { ok: false, code: 'OPERATOR_ONLY' }
      const station = await stations.find(sn)
      return station === undefined
        ? await eraseJobs.eraseStationAgain(sn, actor)
        : await eraseJobs.removeStation(station, actor)
    },
  })
}

export async function stationSeriesNames({ registry }: Pick<Stations, 'registry'>): Promise<Map<number, string>> {
  const { all } = await registry()
  return new Map(
    all.flatMap(({ sn, series }) => [...series].map(([name, number]) => [number, `${sn} ${name}`] as const)),
  )
}

const occurrences: Partial<Record<AdminErrorCode, Occurrence>> = {
  OPERATOR_ONLY: { detail: 'only the operator and the local admin token remove stations' },
  SN_TAKEN: { errors: [{ path: 'sn', message: 'is taken by another station' }] },
  OWNER_UNKNOWN: { errors: [{ path: 'owner', message: 'is not an account' }] },
}

type Refusal = StationRefusal | { ok: false; code: 'OPERATOR_ONLY' }

function sendRefusal(reply: FastifyReply, { code }: Refusal): FastifyReply {
  return sendProblem(reply, code, occurrences[code])
}

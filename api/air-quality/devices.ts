/** `/device/` and `/device/{sn}`: lists, reads, adds, changes and removes stations. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { actorOf } from '../../auth/audit.ts'
import { mayUse } from '../../auth/stations/permissions.ts'
import type { Station, StationChange } from '../../auth/stations/station.ts'
import type { StationChanged, StationRefusal } from '../../auth/stations/station-rows.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { selectRows } from '../../query/conditions/select-rows.ts'
import { sendResource } from './answers.ts'
import { readDeviceChange, readNewDevice } from './device-body.ts'
import { type DeviceView, deviceColumns, deviceObject, deviceUrl } from './device-object.ts'
import { type AirQualityErrorCode, sendError } from './errors.ts'
import { type AirQualityOperation, type OperationInput, stationIn } from './operation.ts'
import { addDevice, changeDevice, getDevice, listDevices, removeDevice } from './operations.ts'
import { readListQuery } from './query/list-query.ts'
import { cutPage, metaOf } from './query/paging.ts'

export interface DevicesOptions {
  stations: Stations
  accounts: Pick<Accounts, 'findByEmail'>
  removeStation: RemoveStation
}

/** The points of the station are removed, too. */
export type RemoveStation = (station: Station, by: string) => Promise<StationChanged<undefined>>

export function deviceOperations({ stations, accounts, removeStation }: DevicesOptions): AirQualityOperation[] {
  const viewOf = ({ base }: OperationInput): DeviceView => ({ base, lastDataMs: stations.lastDataMs })

  async function list(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const view = viewOf(asked)
    const columns = deviceColumns(view)
    const parsed = readListQuery(asked.query, columns, 'sn')
    if (!parsed.ok) return sendError(reply, 'BAD_REQUEST', parsed.message)
    const { conditions, order, limit, paging, kept } = parsed.value
    const { all } = await stations.registry()
    const bound = readBound(asked.query.get('until')) ?? highestId(all)
    const visible = all.filter(station => station.id <= bound && mayUse('read', asked.key, station))
    const page = cutPage(selectRows(columns, conditions, order, visible), limit, paging)
    if (page === undefined) return sendError(reply, 'PAGE_UNKNOWN')
    const { total, rows } = page
    // Devices that are added during a walk through several pages are left out.
    const until = total > paging.perPage ? String(bound) : undefined
    const meta = metaOf({ ...paging, url: asked.url, kept: { ...kept, until }, total })
    return sendResource(request, reply, { meta, data: rows.map(station => deviceObject(station, view)) })
  }

  function get(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply, deviceObject(stationIn(asked), viewOf(asked)))
  }

  async function add(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = readNewDevice(request.body)
    if (!body.ok) return sendError(reply, 'BAD_REQUEST', body.message)
    const { owner: email, ...fields } = body.value
    const { key } = asked
    const owner = typeof email === 'string' ? (await accounts.findByEmail(email))?.id : key.account.id
    if (owner === undefined) return sendError(reply, 'BAD_REQUEST', 'owner: no account has this address')
    const added = await stations.add({ ...fields, owner }, actorOf(key))
    if (!added.ok) return sendRefusal(reply, added)
    reply.header('location', deviceUrl(asked.base, added.value.sn))
    return sendJson(reply, 201, deviceObject(added.value, viewOf(asked)))
  }

  async function change(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const station = stationIn(asked)
    const body = readDeviceChange(request.body)
    if (!body.ok) return sendError(reply, 'BAD_REQUEST', body.message)
    const { sn, ...fields } = body.value
    if (sn !== undefined && sn !== station.sn) return sendError(reply, 'BAD_REQUEST', 'sn: cannot be changed')
    const changed = await save(station, fields, actorOf(asked.key))
    return changed.ok ? sendJson(reply, 200, deviceObject(changed.value, viewOf(asked))) : sendRefusal(reply, changed)
  }

  function save(station: Station, fields: StationChange, by: string) {
    const isChange = Object.entries(fields).some(([name, value]) => station[name as keyof Station] !== value)
    return isChange ? stations.change(station.id, fields, by) : ({ ok: true, value: station } as const)
  }

  async function remove(asked: OperationInput, _request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const removed = await removeStation(stationIn(asked), actorOf(asked.key))
    return removed.ok ? sendJson(reply, 202, { 'device dropped': 'success' }) : sendRefusal(reply, removed)
  }

  return [
    { ...listDevices, handle: list },
    { ...addDevice, handle: add },
    { ...getDevice, handle: get },
    { ...changeDevice, handle: change },
    { ...removeDevice, handle: remove },
  ]
}

function highestId(stations: readonly Station[]): number {
  return stations.reduce((highest, { id }) => Math.max(highest, id), 0)
}

/** Id of the newest station in a walk. Other texts are ignored. */
function readBound(text: string | null): number | undefined {
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

function sendJson(reply: FastifyReply, status: number, value: object): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(value)))
}

const refusals = {
  SN_TAKEN: 'SN_TAKEN',
  REGISTRY_FULL: 'REGISTRY_FULL',
  STATION_UNKNOWN: 'STATION_UNKNOWN',
  // The account was removed at the same moment.
  OWNER_UNKNOWN: 'BAD_REQUEST',
} as const satisfies Record<StationRefusal['code'], AirQualityErrorCode>

function sendRefusal(reply: FastifyReply, { code }: StationRefusal): FastifyReply {
  return sendError(reply, refusals[code])
}

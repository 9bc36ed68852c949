/** Serves addresses that list nothing here: an empty envelope for clients that may see the device. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayUse } from '../../auth/stations/permissions.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { sendResource } from './answers.ts'
import { sendError } from './errors.ts'
import type { AirQualityOperation, OperationInput } from './operation.ts'
import { emptyLists, getLog } from './operations.ts'
import { cutPage, metaOf, readPaging } from './query/paging.ts'

export function emptyListOperations(stations: Pick<Stations, 'find'>): AirQualityOperation[] {
  async function log(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { which } = request.params as { which: string }
    const station = await stations.find(which)
    if (station !== undefined) {
      return mayUse('read', asked.key, station) ? empty(asked, request, reply) : sendError(reply, 'FORBIDDEN')
    }
    return /^\d+$/.test(which) ? sendResource(request, reply, {}) : sendError(reply, 'STATION_UNKNOWN')
  }

  return [...emptyLists.map(declared => ({ ...declared, handle: empty })), { ...getLog, handle: log }]
}

function empty(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const paging = readPaging(asked.query)
  if (cutPage([], 0, paging) === undefined) return sendError(reply, 'PAGE_UNKNOWN')
  return sendResource(request, reply, { meta: metaOf({ ...paging, url: asked.url, kept: {}, total: 0 }), data: [] })
}

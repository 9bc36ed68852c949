/** Addresses of other servers of this family that have nothing to list here: an empty envelope for whoever may see the device. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayUse } from '../../auth/stations/permissions.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { sendError } from './errors.ts'
import { sendResource } from './etag.ts'
import type { AddPath, Asked, Operation, Path } from './paths.ts'
import { metaOf } from './query/envelope.ts'
import { cutPage, readPaging } from './query/paging.ts'

export function addEmptyLists(addPath: AddPath, stations: Pick<Stations, 'find'>): void {
  /** Of the log there may be asked a list by `sn`, or one entry by its number. */
  async function log(asked: Asked, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { which } = request.params as { which: string }
    const station = await stations.find(which)
    if (station !== undefined) {
      return mayUse('read', asked.key, station) ? empty(asked, request, reply) : sendError(reply, 'FORBIDDEN')
    }
    return /^\d+$/.test(which) ? sendResource(request, reply, {}) : sendError(reply, 'STATION_UNKNOWN')
  }

  const add = (url: string, slash: Path['slash'], handle: Operation['handle'] = empty) =>
    addPath({ url, slash, methods: { GET: { permission: 'read', handle } } })
  add('/log', 'required')
  add('/log/:which', 'either', log)
  add('/connection_event/:sn', 'either')
  add('/researcher/device/:sn/data', 'required')
  add('/device/:sn/data/raw', 'required')
}

function empty(asked: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const paging = readPaging(asked.query)
  if (cutPage([], 0, paging) === undefined) return sendError(reply, 'PAGE_UNKNOWN')
  return sendResource(request, reply, { meta: metaOf({ ...paging, url: asked.url, kept: {}, total: 0 }), data: [] })
}

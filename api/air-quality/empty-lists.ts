/** Addresses of other servers of this family that have nothing to list here: an empty envelope for whoever may see the device. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { mayUse } from '../../auth/stations/permissions.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import { operations } from './contract/operations.ts'
import { sendError } from './errors.ts'
import { sendResource } from './etag.ts'
import { type Asked, type Operation, type Path, readOperation } from './paths.ts'
import { metaOf } from './query/envelope.ts'
import { cutPage, readPaging } from './query/paging.ts'

export function emptyListPaths(stations: Pick<Stations, 'find'>): Path[] {
  /** Of the log there may be asked a list by `sn`, or one entry by its number. */
  async function log(asked: Asked, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { which } = request.params as { which: string }
    const station = await stations.find(which)
    if (station !== undefined) {
      return mayUse('read', asked.key, station) ? empty(asked, request, reply) : sendError(reply, 'FORBIDDEN')
    }
    return /^\d+$/.test(which) ? sendResource(request, reply, {}) : sendError(reply, 'STATION_UNKNOWN')
  }

  return [
    listPath('/log', 'required', operations.listLog),
    listPath('/log/:which', 'either', operations.getLog, log),
    listPath('/connection_event/:sn', 'either', operations.listConnectionEvents),
    listPath('/researcher/device/:sn/data', 'required', operations.listResearcherPoints),
    listPath('/device/:sn/data/raw', 'required', operations.listRawPoints),
  ]
}

function listPath(
  url: string,
  slash: Path['slash'],
  published: Operation['published'],
  handle: Operation['handle'] = empty,
): Path {
  return { url, slash, methods: { GET: readOperation(published, handle) } }
}

function empty(asked: Asked, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const paging = readPaging(asked.query)
  if (cutPage([], 0, paging) === undefined) return sendError(reply, 'PAGE_UNKNOWN')
  return sendResource(request, reply, { meta: metaOf({ ...paging, url: asked.url, kept: {}, total: 0 }), data: [] })
}

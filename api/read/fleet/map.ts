/** `GET /api/fleet/map`: places devices on a map with a bounded number of marks, from memory. */

import { FleetMap } from '../../../query/live/fleet-shape.ts'
import type { Live } from '../../../query/live/live.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import type { ReadAccess } from '../read-access.ts'
import { jsonRead } from '../read-operation.ts'
import { mappedFleet } from '../read-subjects.ts'
import { fleetAnswer, membersText } from './fleet-answer.ts'
import { MapQuery } from './fleet-parameters.ts'
import { listedOf } from './listed.ts'

export interface MapOptions {
  live: Pick<Live, 'isLoaded' | 'map'>
  nowMs: () => number
}

export function mapOperation(access: ReadAccess, { live, nowMs }: MapOptions): ReadOperation {
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

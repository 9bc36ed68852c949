/** `GET /api/fleet/groups`: counts devices with each tag of a key by state, from memory. */

import { FleetGroups } from '../../../query/live/fleet-shape.ts'
import type { Live } from '../../../query/live/live.ts'
import type { ReadOperation } from '../../http/status-operations.ts'
import type { ReadAccess } from '../read-access.ts'
import { jsonRead } from '../read-operation.ts'
import { wholeFleet } from '../read-subjects.ts'
import { fleetAnswer, membersText } from './fleet-answer.ts'
import { GroupsQuery } from './fleet-parameters.ts'
import { listedOf } from './listed.ts'

export interface GroupsOptions {
  live: Pick<Live, 'isLoaded' | 'groups'>
  nowMs: () => number
}

export function groupsOperation(access: ReadAccess, { live, nowMs }: GroupsOptions): ReadOperation {
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

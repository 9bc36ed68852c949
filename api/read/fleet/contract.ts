/** The live state's part of the published contract. */

import { Fleet, LatestOfDevice } from '../../../live/fleet-shape.ts'
import { Insights } from '../../../query/shapes/insights.ts'
import type { PublishedRoute } from '../../docs/published-routes.ts'
import { Device, read } from '../published-reads.ts'
import { FleetQuery } from './fleet-parameters.ts'

export const fleetReads: readonly PublishedRoute[] = [
  read({
    ...{ path: '/api/fleet', name: 'read_fleet', summary: 'The devices with their states, in pages' },
    parameters: { query: FleetQuery },
    answer: Fleet.meta({ id: 'Fleet' }),
  }),
  read({
    ...{ path: '/api/fleet/insights', name: 'read_fleet_insights' },
    summary: 'Batteries that run out, and outliers among the devices',
    answer: Insights.meta({ id: 'FleetInsights' }),
    refusals: ['FLEET_TOO_LARGE', 'TIMED_OUT'],
  }),
  read({
    ...{ path: '/api/latest/{device}', name: 'read_latest_of_device', summary: 'The last values of a device' },
    parameters: { path: Device },
    answer: LatestOfDevice.meta({ id: 'LatestOfDevice' }),
    refusals: ['DEVICE_UNKNOWN'],
  }),
]

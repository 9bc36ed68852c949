/** What the page asks the service for about a device. */

import type { LatestOfDevice } from '../../../live/fleet-shape.ts'
import type { DeviceDetail } from '../../../query/shapes/detail.ts'
import type { Timed } from '../../client/timed.ts'

export type Detail = Timed<DeviceDetail>
export type LastValues = LatestOfDevice['values']

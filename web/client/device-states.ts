/** The states of a device, worst first, as the service orders them. */

import type { FleetDevice } from '../../query/live/fleet-shape.ts'

export type DeviceState = FleetDevice['state']

export const deviceStates = ['silent', 'late', 'never', 'fresh', 'off'] as const satisfies readonly DeviceState[]

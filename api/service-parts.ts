/** The parts of a running service, which the routes are made of. */

import type { Devices } from '../auth/devices/devices.ts'
import type { Stations } from '../auth/stations/stations.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { Live } from '../query/live/live.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { DeviceNames } from './device-names/device-names.ts'
import type { DiskUse } from './disk/disk-use.ts'
import type { Claims } from './idempotency/claims.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import type { ServiceQueries } from './open-queries.ts'
import type { SignIn } from './open-sign-in.ts'
import type { AcceptedFrom } from './retention/accepted-from.ts'
import type { Retention } from './retention/retention.ts'

export interface ServiceParts extends ServiceQueries {
  directory: DataDirectory
  clockMs: Clock
  store: Store
  ingest: Ingest
  pointsIngest: PointsIngest
  devices: Devices
  deviceNames: DeviceNames
  stations: Stations
  accounts: ServiceAccounts
  signIn: SignIn
  diskUse: DiskUse
  claims: Claims
  live: Live
  acceptedFrom: AcceptedFrom
  retention: Retention
}

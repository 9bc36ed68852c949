/** The parts of a running service, which the routes are made of. */

import type { Devices } from '../auth/devices/devices.ts'
import type { Stations } from '../auth/stations/stations.ts'
import type { Claims } from '../ingest/idempotency/claims.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { DiskUse } from '../lifecycle/disk/disk-use.ts'
import type { DeviceNames } from '../lifecycle/name-sync/name-sync.ts'
import type { AcceptedFrom } from '../lifecycle/retention/accepted-from.ts'
import type { Retention } from '../lifecycle/retention/retention.ts'
import type { Live } from '../live/live.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import type { ServiceQueries } from './open-queries.ts'
import type { SignIn } from './open-sign-in.ts'

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

/** Groups the operations on devices and stations, and on their metrics. */

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { EraseJobs } from '../../service/lifecycle/erasure/erase-jobs.ts'
import { deviceBulkOperation } from './device-bulk.ts'
import { type DeviceStates, deviceAdditionOperation, deviceOperations } from './devices.ts'
import { eraseOperations } from './erase.ts'
import { metricOperations } from './metrics.ts'
import type { AdminOperation } from './operation.ts'
import { stationOperations } from './stations.ts'

export interface RegistryOptions {
  accounts: Pick<Accounts, 'idsByEmail'>
  devices: Devices
  live: DeviceStates
  stations: Stations
  eraseJobs: EraseJobs
  metrics: Metrics
}

export function registryOperations(options: RegistryOptions): AdminOperation[] {
  const { accounts, devices, live, stations, eraseJobs, metrics } = options
  const findAccounts = accounts.idsByEmail
  return [
    ...deviceOperations({ devices, live, findAccounts }),
    deviceAdditionOperation({ devices, findAccounts }),
    deviceBulkOperation(devices),
    ...eraseOperations(eraseJobs),
    ...stationOperations({ stations, findAccounts, eraseJobs }),
    ...metricOperations(metrics),
  ]
}

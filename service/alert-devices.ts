/** Finds devices and their readers in the registries for alerts. */

import type { AlertDevice, AlertDevices } from '../alerts/core/devices.ts'
import { qualityLimits } from '../analytics/quality/quality-limits.ts'
import type { Account } from '../auth/accounts/account.ts'
import type { Accounts } from '../auth/accounts/accounts.ts'
import type { Devices } from '../auth/devices/devices.ts'
import { createScopeCheck } from '../auth/devices/selector.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import { type ReadScope, readScopeOf } from '../auth/policy.ts'
import { deviceLimits } from '../query/analysed-device.ts'
import { metrics as builtIn } from '../store/tables.ts'

interface AlertDeviceParts {
  devices: Pick<Devices, 'all' | 'byNumber' | 'onChange'>
  metrics: Pick<Metrics, 'get' | 'series'>
  accounts: Pick<Accounts, 'find'>
}

export function createAlertDevices({ devices, metrics, accounts }: AlertDeviceParts): {
  devices: AlertDevices
  learnOwner(account: number): Promise<string>
} {
  const checks = new Map<number, (device: AlertDevice) => boolean>()
  const administrators = new Set<number>()
  return {
    devices: {
      all: devices.all,
      byNumber: devices.byNumber,
      onChange: devices.onChange,
      mayRead(owner, device) {
        if (owner === null) return true
        return checks.get(owner)?.(device) ?? device.owner === owner
      },
      isAdministrator: owner => owner === null || administrators.has(owner),
      seriesOf(device, name) {
        const column = (builtIn as readonly string[]).indexOf(name)
        if (column !== -1) return { column }
        const metric = metrics.get(name)
        const series = metric && metrics.series(device, metric)
        return series === undefined ? undefined : { series }
      },
      qualityOf(number, names) {
        const device = devices.byNumber(number)
        if (device === undefined) return undefined
        const { altitude_m, expected_interval_seconds: seconds } = device
        return {
          expectedMs: seconds === null ? null : seconds * 1000,
          limits: names.map(name => {
            const column = builtIn.find(one => one === name)
            if (column !== undefined) return deviceLimits(device, column)
            return qualityLimits(name, altitude_m, metrics.get(name)?.quality ?? {})
          }),
        }
      },
    },
    async learnOwner(id) {
      const account = await accounts.find(id)
      const isAdministrator = account?.isActive === true && account.role !== 'user'
      if (isAdministrator) administrators.add(id)
      else administrators.delete(id)
      const scope = scopeOf(account)
      checks.set(id, scope === 'EMAIL_UNVERIFIED' ? () => false : createScopeCheck(scope))
      return scope === 'EMAIL_UNVERIFIED' ? scope : JSON.stringify({ ...scope, isAdministrator })
    },
  }
}

/** Scope of the account's sessions. An inactive account reads nothing. */
function scopeOf(account: Account | undefined): ReadScope {
  if (account === undefined || !account.isActive) return 'EMAIL_UNVERIFIED'
  return readScopeOf({ kind: 'key', account, keyId: 0, scopes: [], createDevices: false })
}

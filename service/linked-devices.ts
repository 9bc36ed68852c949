/** Finds the devices that an account may share by a link: those that it may read. */

import type { Account } from '../auth/accounts/account.ts'
import type { Device } from '../auth/devices/device.ts'
import { createScopeCheck } from '../auth/devices/device-scope.ts'
import type { Devices } from '../auth/devices/devices.ts'
import { readScopeOfAccount } from '../auth/policy.ts'

/** `isOpen`: everybody may read all devices. */
export function createDeviceOf(isOpen: boolean, devices: Pick<Devices, 'get'>) {
  return (account: Account, name: string): Device | undefined => {
    const device = devices.get(name)
    if (device === undefined || isOpen) return device
    const scope = readScopeOfAccount(account)
    return scope !== 'EMAIL_UNVERIFIED' && createScopeCheck(scope)(device) ? device : undefined
  }
}

/** Which annotations somebody may change, by who it is. */

import { createScopeCheck, type DeviceScope, type ScopedDevice } from '../devices/device-scope.ts'
import { annotationScopeOf, authorize, type Principal } from '../policy.ts'

export interface Annotator {
  /** Undefined of the local admin token. */
  readonly account: number | undefined
  /** Of which devices. */
  readonly scope: DeviceScope
  /** Whether also those about all devices. */
  readonly isOfAll: boolean
  /** Of this device. */
  may(device: ScopedDevice): boolean
}

/** Undefined for who may change none, which includes people before their address is confirmed. */
export function annotatorOf(principal: Principal | undefined): Annotator | undefined {
  if (principal === undefined || authorize('annotations', principal) !== 'allowed') return undefined
  const scope = annotationScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED') return undefined
  const isOfAll = scope.owner === undefined && scope.tags === undefined
  const account = 'account' in principal ? principal.account.id : undefined
  return { account, scope, isOfAll, may: createScopeCheck(scope) }
}

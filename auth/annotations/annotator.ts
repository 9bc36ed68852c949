/** Decides which annotations a principal may change. */

import { createScopeCheck, type DeviceScope, type ScopedDevice } from '../devices/device-scope.ts'
import { annotationScopeOf, authorize, type Principal } from '../policy.ts'

export interface Annotator {
  /** Undefined for the local admin token. */
  readonly account: number | undefined
  /** Devices whose annotations may be changed. */
  readonly scope: DeviceScope
  /** True if annotations of all devices are included. */
  readonly isOfAll: boolean
  /** True if annotations of this device may be changed. */
  may(device: ScopedDevice): boolean
}

/** Undefined without any permission, and before the address of a person is confirmed. */
export function annotatorOf(principal: Principal | undefined): Annotator | undefined {
  if (principal === undefined || authorize('annotations', principal) !== 'allowed') return undefined
  const scope = annotationScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED') return undefined
  const isOfAll = scope.owner === undefined && scope.tags === undefined
  const account = 'account' in principal ? principal.account.id : undefined
  return { account, scope, isOfAll, may: createScopeCheck(scope) }
}

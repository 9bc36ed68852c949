/** How much of device authorization there may be. */

import type { RateLimit } from '../rate-limits.ts'

export const startsByNetwork: RateLimit = { kind: 'device start', countMax: 10, windowMs: 60_000 }
export const pendingPerNetworkMax = 20
/** All that have not expired. */
export const grantsMax = 10_000

export const pollIntervalSeconds = 5
/** What each poll that comes too early adds (`slow_down` of RFC 8628), and where that ends. */
export const slowDownSeconds = 5
export const pollIntervalSecondsMax = 30

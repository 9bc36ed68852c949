/** Bounds the requests of device authorization. */

import type { RateLimit } from '../rate-limits.ts'

export const startsByNetwork: RateLimit = { kind: 'device start', countMax: 10, windowMs: 60_000 }
export const pendingPerNetworkMax = 20
/** All requests that have not expired. */
export const grantsMax = 10_000

export const pollIntervalSeconds = 5
/** Added by each early poll (`slow_down` of RFC 8628), up to a maximum. */
export const slowDownSeconds = 5
export const pollIntervalSecondsMax = 30

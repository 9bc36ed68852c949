/** Records, counts and logs the result of an attempt. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { type AttemptResult, isDone } from './attempt.ts'
import { type Claimed, claimMs } from './claim-rows.ts'
import type { DeliveryMeter } from './delivery-meter.ts'
import { type Noted, noteOutcome, type OutcomeOptions } from './outcome-rows.ts'

export interface SettleOptions extends OutcomeOptions {
  log: Log
  meter: DeliveryMeter
}

/** Rejects when PostgreSQL is unavailable until the claim expires: the notification is sent once more then. */
export type Settle = (claimed: Claimed, result: AttemptResult, closing: AbortSignal) => Promise<Noted>

const retryMs = 1000

export function createSettle(options: SettleOptions): Settle {
  const { log, meter } = options

  async function note(claimed: Claimed, result: AttemptResult, closing: AbortSignal): Promise<Noted> {
    const endMs = performance.now() + claimMs / 2
    for (;;) {
      try {
        return await noteOutcome(options, claimed, result)
      } catch (error) {
        if (closing.aborted || performance.now() > endMs) throw error
        await sleep(retryMs, undefined, { signal: closing, ref: false }).catch(() => undefined)
      }
    }
  }

  function report({ id, channel, attempts }: Claimed, result: AttemptResult, noted: Noted): void {
    meter.count(channel.kind, result.outcome)
    const what = { notification: id, channel: channel.id, kind: channel.kind, attempts: attempts + 1 }
    if (noted.isGivenUp) {
      meter.count(channel.kind, 'given_up')
      log.error({ ...what, reason: result.error }, 'a notification of an alert could not be delivered and is given up')
    } else if (!isDone(result)) {
      log.warn({ ...what, reason: result.error }, 'a notification of an alert could not be delivered')
    }
    if (noted.disabled !== undefined) log.warn({ ...what, reason: noted.disabled }, 'a channel of alerts is disabled')
  }

  return async (claimed, result, closing) => {
    const noted = await note(claimed, result, closing)
    report(claimed, result, noted)
    return noted
  }
}

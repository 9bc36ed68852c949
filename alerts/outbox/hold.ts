/** Finds holds on notifications: silences, and a site alert that replaces the alerts of its devices. */

import { createSelection, type Selector } from '../../auth/devices/selector.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { AlertDevice } from '../core/devices.ts'
import { noDevice, type Rule } from '../core/rule.ts'
import { createSilencer, type OffsetMs } from '../core/silence.ts'
import type { HeldMember } from './member-rows.ts'
import { readSilencings } from './silence-rows.ts'

interface Held {
  by: HeldMember['by']
  /** When it is looked at again. */
  untilMs: number
}

export interface HoldOptions {
  rule: Pick<Rule, 'id' | 'owner' | 'selector' | 'condition'>
  nowMs: number
  /** Looked at again after so long at the latest. */
  reviewMs: number
  offsetMs: OffsetMs
  deviceOf: (number: number) => AlertDevice | undefined
}

/** By which an alert of the rule on a device (0: none) is held; undefined for none. */
export type Hold = (device: number) => Held | undefined

export async function readHold(transaction: Transaction, options: HoldOptions): Promise<Hold> {
  const { rule, nowMs, reviewMs, offsetMs, deviceOf } = options
  const horizonMs = nowMs + reviewMs
  const silences = await readSilencings(transaction, [rule.owner], nowMs)
  const silencerOf = createSilencer(silences, { nowMs, horizonMs, offsetMs })
  const sites = rule.condition.kind === 'silent' ? await readSites(transaction, rule.owner) : []
  return number => {
    const device = number === noDevice ? undefined : deviceOf(number)
    const silence = silencerOf({ rule, device })
    if (silence !== undefined) return { by: { silence: silence.id }, untilMs: silence.endsMs }
    const site = device && sites.find(({ isSelected }) => isSelected(device))
    return site && { by: { alert: site.id }, untilMs: horizonMs }
  }
}

/** The alerts for whole selectors that fire now. */
async function readSites(
  transaction: Transaction,
  owner: number | null,
): Promise<{ id: string; isSelected: ReturnType<typeof createSelection> }[]> {
  const { rows } = await transaction.query<{ id: string; selector: Selector }>(
    `SELECT alerts.id, selector FROM alerts JOIN alert_rules ON alert_rules.id = rule_id
     WHERE device = ${noDevice} AND state = 'firing' AND owner IS NOT DISTINCT FROM $1::integer
       AND condition->>'kind' = 'site_silent' ORDER BY alerts.id`,
    [owner],
  )
  return rows.map(({ id, selector }) => ({ id, isSelected: createSelection(selector) }))
}

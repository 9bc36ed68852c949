/**
 * Writes the engine's transitions in one transaction: alerts, their history, states of pairs, and pending notifications. A repeated
 * batch counts once.
 */

import type pg from 'pg'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { PairState } from '../core/pair.ts'
import type { Severity } from '../core/rule.ts'
import type { Effect } from '../core/transition.ts'
import {
  type Due,
  lockChannels,
  type NewPending,
  queueEnds,
  queueFlapping,
  queuePending,
  reviewHeld,
} from '../outbox/group-rows.ts'
import { type AlertChange, changesOf, hasBecome, isTellable } from './alert-changes.ts'
import { noteAlerts } from './alert-rows.ts'
import { newestAlerts, openAlerts, type WrittenChange, writeChanges } from './alert-writes.ts'
import { savePairs, takeBatch } from './pairs.ts'

export interface Transition {
  readonly rule: number
  readonly ruleVersion: number
  readonly device: number
  readonly metric: string | null
  readonly severity: Severity
  readonly effects: readonly Effect[]
  /** State after the effects. */
  readonly state: PairState
}

export interface TransitionBatch extends Due {
  /** Greater than in each earlier batch; equal where a batch is sent again. */
  batch: number
  /** Transitions are in their order. A pair may have several. */
  transitions: readonly Transition[]
  /** Receipt time up to which all is evaluated with this batch. */
  evaluatedUntilMs?: number
  requireLead: (transaction: Transaction) => Promise<void>
  feed: ChangeFeed
  /** Value of the tag that separates groups of the rule. */
  groupValueOf: (rule: number, device: number) => string
}

export interface Applied {
  /** Ids of changed alerts, ascending. */
  alertIds: number[]
  /** Rules that are there no more: they went with their account. */
  unknownRules: number[]
}

/** The limit allows for 5,000 transitions and more. */
const stepMs = 30_000

/** Rejects as `inTransaction` does: after OutcomeUnknown the same batch is to be sent again. */
export async function applyTransitions(pool: pg.Pool, given: TransitionBatch): Promise<Applied> {
  const { batch, evaluatedUntilMs, requireLead, feed } = given
  return await feed.commit({ pool, stepMs }, async transaction => {
    await requireLead(transaction)
    const isNew = await takeBatch(transaction, batch, evaluatedUntilMs)
    const rules = await lockRules(transaction, given.transitions)
    const unknownRules = rulesIn(given.transitions).filter(id => !rules.has(id))
    const transitions = given.transitions.filter(({ rule }) => rules.has(rule))
    if (!isNew) return { alertIds: await newestAlerts(transaction, transitions), unknownRules }
    const alertIds = await write(transaction, transitions, rules, given)
    noteAlerts(feed, transaction, alertIds)
    return { alertIds, unknownRules }
  })
}

interface LockedRule {
  id: number
  /** Enabled, and not removed. */
  is_live: boolean
  owner: number | null
  kind: string
}

/** They stay as they are until the end of the transaction. */
async function lockRules(
  transaction: Transaction,
  transitions: readonly Transition[],
): Promise<Map<number, LockedRule>> {
  const ids = rulesIn(transitions)
  if (ids.length === 0) return new Map()
  const { rows } = await transaction.query<LockedRule>(
    `SELECT id, enabled AND removed_at IS NULL AS is_live, owner, condition->>'kind' AS kind
     FROM alert_rules WHERE id = ANY($1::int[]) ORDER BY id FOR SHARE`,
    [ids],
  )
  return new Map(rows.map(rule => [rule.id, rule]))
}

function rulesIn(transitions: readonly Transition[]): number[] {
  return [...new Set(transitions.map(({ rule }) => rule))]
}

async function write(
  transaction: Transaction,
  transitions: readonly Transition[],
  rules: ReadonlyMap<number, LockedRule>,
  { groupValueOf, nowMs, waits }: TransitionBatch,
): Promise<number[]> {
  const isLive = ({ rule }: { rule: number }) => rules.get(rule)?.is_live === true
  const pairs = lastOfEachPair(transitions)
  await lockChannels(transaction, [...rules.keys()])
  const open = await openAlerts(transaction, pairs)
  const planned = pairs.flatMap(pair => changesOf(pair, pair.effects, open.get(keyOf(pair)), pair.openedMs))
  // A disabled or removed rule begins nothing, and all of its alerts have ended with it.
  const written = await writeChanges(transaction, planned.filter(isLive), nowMs)
  await savePairs(transaction, pairs.filter(isLive), nowMs)
  await queueChanges(transaction, written, groupValueOf, { nowMs, waits })
  await reviewStoodBack(transaction, written, rules, { nowMs, waits })
  return written.map(({ id }) => id)
}

interface PairTransition extends Transition {
  openedMs: number
}

/** Merges the effects of all transitions of a pair, and keeps its last state. */
function lastOfEachPair(transitions: readonly Transition[]): PairTransition[] {
  const pairs = new Map<string, PairTransition>()
  for (const transition of transitions) {
    const key = keyOf(transition)
    const before = pairs.get(key)
    const { openedMs } = before === undefined ? transition.state : before
    const effects = before === undefined ? transition.effects : [...before.effects, ...transition.effects]
    pairs.set(key, { ...transition, effects, openedMs })
  }
  return [...pairs.values()]
}

function keyOf({ rule, device }: { rule: number; device: number }): string {
  return `${rule} ${device}`
}

/** Adds firing and ended alerts to the groups of their channels. */
async function queueChanges(
  transaction: Transaction,
  written: readonly WrittenChange[],
  groupValueOf: TransitionBatch['groupValueOf'],
  due: Due,
): Promise<void> {
  const pending: NewPending[] = []
  const flapping: number[] = []
  const ended: { alert: number; isTellable: boolean }[] = []
  for (const change of written) {
    const { id: alert, rule, device } = change
    const isOver = change.state === 'resolved'
    if (hasBecome(change, 'firing') && (!isOver || isTellable(change))) {
      const owes = change.flapping ? 'flapping' : 'firing'
      pending.push({ alert, rule, value: groupValueOf(rule, device), owes })
    } else if (isOver) {
      ended.push({ alert, isTellable: isTellable(change) })
    } else if (change.flapping && hasBecome(change, 'flapping')) {
      flapping.push(alert)
    }
  }
  await queueEnds(transaction, ended, due)
  await queueFlapping(transaction, flapping, due)
  await queuePending(transaction, pending, due)
}

/** Alerts of single devices stand back while the one for all of them fires. */
async function reviewStoodBack(
  transaction: Transaction,
  written: readonly AlertChange[],
  rules: ReadonlyMap<number, LockedRule>,
  due: Due,
): Promise<void> {
  const owners = new Set<number | null>()
  for (const { rule, state } of written) {
    const { kind, owner = null } = rules.get(rule) ?? {}
    if (kind === 'site_silent' && state === 'resolved') owners.add(owner)
  }
  for (const owner of owners) await reviewHeld(transaction, { owner, silentOnly: true }, due)
}

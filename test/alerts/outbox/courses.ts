/**
 * Random courses of readings, broken connections, silences, changes of rules and time. Each alert that fired for a minute is
 * notified, and its end once after that. At the end no alert is open or owed.
 */

import t from 'tap'
import { idlePair, type PairState } from '../../../alerts/core/pair.ts'
import { type Effect, step } from '../../../alerts/core/transition.ts'
import { flushGroup } from '../../../alerts/outbox/flush-group.ts'
import { readDueGroups } from '../../../alerts/outbox/group-rows.ts'
import type { AlertWithEvents } from '../../../alerts/store/alerts.ts'
import { applyTransitions } from '../../../alerts/store/apply.ts'
import { inTransaction } from '../../../store/postgres/transaction.ts'
import { createRandom, type Random } from '../../faults/seeded-random.ts'
import { type AlertStore, createAlertStore, everybody } from '../../support/alert-store.ts'
import { breakingPool } from '../../support/breaking-pool.ts'
import { sharedPostgres } from '../../support/databases.ts'
import { runs } from '../../support/runs.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const deviceCount = 6
const rounds = 60

/** Notifications of each alert, in order. */
type Story = Map<string, string[]>

async function runCourse(random: Random): Promise<{ faults: string[]; alerts: number }> {
  const alerts = await createAlertStore(pool, device => [`site:${device % 2}`])
  const channels = [await alerts.addChannel('a'), await alerts.addChannel('b')]
  const condition = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 1 }
  const [group_by, for_seconds] = [random.pick([null, 'site']), random.pick([0, 30])]
  const rule = await alerts.addRule({ channels, condition, group_by, for_seconds })
  const states = new Map<number, PairState>()
  let breaksIn = Number.POSITIVE_INFINITY
  const shaky = breakingPool(() => (--breaksIn === 0 ? random.pick(['before', 'after']) : undefined), pool)
  /** Retries until success, like the service. */
  const surely = async (work: (through: typeof pool) => Promise<unknown>) => {
    for (let isDone = false; !isDone; ) {
      breaksIn = random.chance(0.4) ? 1 + random.below(12) : Number.POSITIVE_INFINITY
      isDone = await work(shaky).then(
        () => true,
        () => false,
      )
    }
  }
  const stories = new Map(channels.map(channel => [channel, new Map() as Story]))
  let silence: number | undefined

  async function observe(): Promise<void> {
    const transitions = []
    for (let device = 1; device <= deviceCount; device++) {
      if (random.chance(0.3)) continue
      const value = 28 + random.below(5)
      const nowMs = alerts.nowMs()
      const reading = { kind: 'reading', timeUs: nowMs * 1000, receiptMs: nowMs, value } as const
      const next = step(rule, states.get(device) ?? idlePair, reading)
      states.set(device, next.state)
      if (next.effects.length > 0) transitions.push(transitionOf(device, next.effects, next.state))
    }
    await applied(transitions)
  }

  const transitionOf = (device: number, effects: readonly Effect[], state: PairState) => ({
    ...alerts.transition(rule.id, device, ...effects),
    state,
  })

  async function applied(transitions: ReturnType<typeof transitionOf>[]): Promise<void> {
    const batch = await alerts.batchOf(transitions)
    await surely(through => applyTransitions(through, batch))
  }

  async function flush(): Promise<void> {
    for (const id of await readDueGroups(pool, alerts.nowMs(), 100)) {
      await surely(through =>
        inTransaction(through, { stepMs: 4000 }, transaction => flushGroup(transaction, id, alerts.flushOptions())),
      )
    }
    for (const { channel, kind, message } of await alerts.flush()) {
      const story = stories.get(channel)
      for (const { id, state } of message.alerts) {
        story?.set(id, [...(story.get(id) ?? []), kind === 'repeat' ? 'repeat' : state])
      }
    }
  }

  for (let round = 0; round < rounds; round++) {
    alerts.pass(random.pick([1, 20, 60, 400, 2000]))
    await observe()
    if (random.chance(0.1)) silence = await changeSilence(alerts, random, silence)
    await flush()
  }
  // All alerts and silences have ended.
  alerts.pass(3600)
  const end = { kind: 'end', nowMs: alerts.nowMs(), reason: 'not_selected' } as const
  const ends = [...states].map(([device, before]) => {
    const { effects, state } = step(rule, before, end)
    return transitionOf(device, effects, state)
  })
  await applied(ends)
  for (let passed = 0; passed < 3; passed++) {
    alerts.pass(3600)
    await flush()
  }
  return await judge(alerts, stories)
}

/** Ends the silence, or creates one and returns its id. */
async function changeSilence(alerts: AlertStore, random: Random, id: number | undefined): Promise<number | undefined> {
  if (id !== undefined) {
    await alerts.silences.remove(everybody, id, 'test')
    return undefined
  }
  const until = new Date(alerts.nowMs() + 1000 * (60 + random.below(1200))).toISOString()
  const selector = random.pick([{ all: true as const }, { tags: ['site:1'] }])
  const silence = { selector, rule_id: null, until, weekly: null, reason: '' }
  const added = await alerts.silences.add(everybody, silence, 'test')
  return added.ok ? added.value.id : undefined
}

async function judge(alerts: AlertStore, stories: ReadonlyMap<number, Story>) {
  const faults: string[] = []
  const listed = await alerts.alerts.page(everybody, { limit: 1000 })
  for (const { id } of listed) {
    const alert = await alerts.alerts.get(everybody, id)
    if (alert?.state !== 'resolved') faults.push(`${id} is ${alert?.state}`)
    else
      for (const [channel, story] of stories)
        faults.push(...faultsOf(alert, story.get(id) ?? []).map(fault => `${channel}: ${fault}`))
  }
  const { rowCount: owed } = await pool.query('SELECT FROM alert_group_alerts')
  const { rowCount: due } = await pool.query('SELECT FROM alert_groups WHERE due_at IS NOT NULL')
  const { rowCount: open } = await pool.query('SELECT FROM alert_pairs')
  if (owed !== 0 || due !== 0 || open !== 0) faults.push(`${owed} owed, ${due} due, ${open} pairs`)
  return { faults, alerts: listed.length }
}

/** Faults of an ended alert, by the notifications of a channel. */
function faultsOf(alert: AlertWithEvents, course: readonly string[]): string[] {
  const { id, fired_at, resolved_at, resolved_reason, events } = alert
  const wasHeld = events.some(({ kind }) => kind === 'silenced')
  const lastedMs = Date.parse(resolved_at ?? '') - Date.parse(fired_at ?? '')
  if (course.length === 0) {
    const mustBeNotified = lastedMs >= 60_000 && resolved_reason === 'cleared' && !wasHeld
    return mustBeNotified ? [`lacks a notification of ${id}`] : []
  }
  const isEndedOnce = course.indexOf('resolved') === course.length - 1
  return isEndedOnce ? [] : [`of ${id}: ${course.join(' ')}`]
}

t.test('any combination of events leads to the notifications of the actual alerts', async t => {
  const { numRuns } = runs(1, 30)
  for (let seed = 1; seed <= numRuns; seed++) {
    const { faults, alerts } = await runCourse(createRandom(seed))
    t.strictSame(faults, [], `seed ${seed}`)
    t.ok(alerts > 3, `${alerts} alerts`)
  }
})

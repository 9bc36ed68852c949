/** What a night with a thousand devices that flap sends: on a clock of the test, from 22:00 to 06:00, with the usual waits. */

import t from 'tap'
import { idlePair, type PairState } from '../../alerts/core/pair.ts'
import type { Severity } from '../../alerts/core/rule.ts'
import { step } from '../../alerts/core/transition.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { createAlertStore } from '../support/alert-store.ts'
import { nowhere, startDatabases } from '../support/databases.ts'

const { store } = await startDatabases(t, nowhere)
const deviceCount = 1000
const nightMs = 8 * 3_600_000
const lookSeconds = 30

/** How many notifications of which kind one channel gets. `nextMs`: from one change of a device to its next. */
async function spend(nextMs: () => number, severity: Severity = 'warning'): Promise<Record<string, number>> {
  const alerts = await createAlertStore(store.postgres)
  const channel = await alerts.addChannel()
  const rule = await alerts.addRule({ channels: [channel], severity })
  const startMs = alerts.nowMs()
  const devices = Array.from({ length: deviceCount }, (_, at) => {
    return { number: at + 1, isHot: false, changeMs: startMs + Math.floor(nextMs()), state: idlePair as PairState }
  })
  const kinds: string[] = []
  while (alerts.nowMs() < startMs + nightMs) {
    alerts.pass(lookSeconds)
    const nowMs = alerts.nowMs()
    const transitions = devices.flatMap(device => {
      for (; device.changeMs <= nowMs; device.changeMs += Math.floor(nextMs())) device.isHot = !device.isHot
      const value = device.isHot ? 31 : 20
      const { state, effects } = step(rule, device.state, {
        kind: 'reading',
        timeUs: nowMs * 1000,
        receiptMs: nowMs,
        value,
      })
      device.state = state
      return effects.length === 0 ? [] : [{ ...alerts.transition(rule.id, device.number, ...effects), state }]
    })
    if (transitions.length > 0) await alerts.apply(...transitions)
    kinds.push(...(await alerts.flush()).map(({ kind }) => kind))
  }
  return Object.fromEntries(
    ['firing', 'flapping', 'resolved', 'repeat'].map(kind => [kind, kinds.filter(one => one === kind).length]),
  )
}

t.test('devices that change every ten minutes are told of for an hour, and then kept quiet about', async t => {
  const random = createRandom(7)
  // Not all at the same moment.
  const first = Array.from({ length: deviceCount }, () => random.below(600_000))
  const told = await spend(() => first.pop() ?? 600_000)
  t.strictSame(told, { firing: 6, flapping: 2, resolved: 1, repeat: 1 })
})

t.test('of those that change more or less every ten minutes, some never too often, one hears half-hourly', async t => {
  const random = createRandom(8)
  const told = await spend(() => 300_000 + random.below(600_000))
  t.strictSame(told, { firing: 19, flapping: 2, resolved: 0, repeat: 0 })
})

t.test('and so of those that change at random', async t => {
  const random = createRandom(9)
  const told = await spend(() => -600_000 * Math.log(1 - random.below(1_000_000) / 1_000_000))
  t.strictSame(told, { firing: 21, flapping: 0, resolved: 0, repeat: 0 })
})

t.test('what is critical is told at the usual interval', async t => {
  const random = createRandom(8)
  const { firing = 0 } = await spend(() => 300_000 + random.below(600_000), 'critical')
  t.ok(firing > 60, `${firing} times`)
})

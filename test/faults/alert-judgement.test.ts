/** The judgement of alerts finds each fault. */

import { test } from 'tap'
import { type AlertsOfDevice, faultsIn, faultsOf, type Notification } from './alert-receivers.ts'

/** `alerts` as `1 firing, 2 resolved`. */
function notification(second: number, type: Notification['type'], alerts: string): Notification {
  const parts = alerts.split(', ').map(text => {
    const [id = '', state] = text.split(' ')
    return { id, state } as Notification['alerts'][number]
  })
  return { webhookId: `msg_${second}`, type, timestamp: new Date(second * 1000).toISOString(), alerts: parts }
}

const first = notification(1, 'alert.firing', '1 firing')
const last = notification(3, 'alert.resolved', '1 resolved')
const inAnyOrder = [
  notification(3, 'alert.resolved', '1 resolved, 2 firing'),
  first,
  notification(2, 'alert.firing', '2 firing, 1 firing'),
  notification(4, 'alert.resolved', '2 resolved'),
]
const cases: [received: Notification[], wanted: number, faults: string[]][] = [
  [inAnyOrder, 2, []],
  [[first, last], 2, ['alerts: 1 told in place of 2', 'alerts: the end of 1 told in place of 2']],
  [[first, notification(2, 'alert.firing', '1 firing'), last], 1, ['alerts: told twice, again by msg_2']],
  [[first, last, notification(4, 'alert.resolved', '1 resolved')], 1, ['alerts: 1 ends twice']],
]

test('notifications that are missed, sent twice or ended twice are found, in whatever order they come', async t => {
  for (const [received, wanted, faults] of cases) t.strictSame(faultsIn(received, wanted), faults)
})

test('each fault of many devices is found by its name', async t => {
  const device = (starts: string[], ends: string[], revived = 0): AlertsOfDevice => {
    return { starts: new Set(starts), ends: new Set(ends), revived }
  }
  const alerts = new Map([
    ['right', device(['1'], ['1 2'])],
    ['stranger', device(['1'], ['1 2'])],
    ['twice', device(['1', '3'], ['1 2'])],
    ['endless', device(['1'], [])],
    ['ended twice', device(['1'], ['1 2', '1 3'])],
    ['back', device(['1'], ['1 2'], 1)],
  ])
  t.strictSame(faultsOf(alerts, [...alerts.keys()]), [
    'alerts: told twice, 1 devices: twice',
    'alerts: end missed, 1 devices: endless',
    'alerts: ended twice, 1 devices: ended twice',
    'alerts: undead, 1 devices: back',
  ])
  t.strictSame(faultsOf(new Map([['stranger', device(['1'], ['1 2'])]]), ['one', 'other']), [
    'alerts: missed, 2 devices: one',
    'alerts: phantom, 1 devices: stranger',
    'alerts: end missed, 2 devices: one',
  ])
})

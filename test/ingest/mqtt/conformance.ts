/**
 * The normative statements of MQTT 3.1.1 and MQTT 5 (OASIS standards, appendix B) about a server: a client sends
 * packets, and the listener answers.
 */

import { test } from 'tap'
import { startListener } from '../../support/mqtt.ts'
import { packetsOf, type Row, rowsOf5, rowsOf311, sharedRows } from './conformance-rows.ts'
import { exchange } from './mqtt-bytes.ts'

const [of311, of5] = [packetsOf(4), packetsOf(5)]
const shared311 = sharedRows.map(([what, sent, answers]): Row => [what, sent(of311), answers])
const shared5 = sharedRows.map(([what, sent, , answers]): Row => [what, sent(of5), answers])

const versions = [
  { name: '3.1.1', level: 4, rows: [...shared311, ...rowsOf311(of311)], storedWithoutPuback: 1 },
  // One message of QoS 0 and one of QoS 2 are stored.
  { name: '5', level: 5, rows: [...shared5, ...rowsOf5], storedWithoutPuback: 2 },
] as const

for (const { name, level, rows, storedWithoutPuback } of versions) {
  test(`the listener answers as MQTT ${name} demands`, async t => {
    const { url, journal } = await startListener(t)
    for (const [what, sent, answers] of rows) {
      t.strictSame(await exchange(t, url, level, { sent, answers }), answers, what)
    }
    const acknowledged = rows.flatMap(([, , answers]) => answers.filter(answer => /^puback \d+$/.test(answer)))
    t.equal(journal.stored.length, acknowledged.length + storedWithoutPuback)
  })
}

/**
 * The normative statements of MQTT 3.1.1 and MQTT 5 (OASIS standards, appendix B), each with what a client sends and what
 * comes back, or with the reason why there is nothing to send.
 */

import { test } from 'tap'
import { startListener } from '../support/mqtt.ts'
import { exchange } from '../support/mqtt-bytes.ts'
import { packetsOf, type Row } from '../support/mqtt-conformance/packets.ts'
import { rowsOf5, statementsOf5 } from '../support/mqtt-conformance/rows-5.ts'
import { rowsOf311, statementsOf311 } from '../support/mqtt-conformance/rows-311.ts'
import { sharedRows } from '../support/mqtt-conformance/shared-rows.ts'
import { checkStatements } from '../support/statements.ts'

const shared311 = sharedRows.map(([what, sent, [ids, answers]]): Row => [ids, what, sent(packetsOf(4)), answers])
const shared5 = sharedRows.map(([what, sent, , [ids, answers]]): Row => [ids, what, sent(packetsOf(5)), answers])

const versions = [
  { name: '3.1.1', level: 4, rows: [...shared311, ...rowsOf311], statements: statementsOf311, storedWithoutPuback: 1 },
  // One of QoS 0 is stored as well as one of QoS 2.
  { name: '5', level: 5, rows: [...shared5, ...rowsOf5], statements: statementsOf5, storedWithoutPuback: 2 },
] as const

for (const { name, level, rows, statements, storedWithoutPuback } of versions) {
  test(`each normative statement of MQTT ${name}`, async t => {
    const { url, journal } = await startListener(t)
    for (const [ids, what, sent, answers] of rows) {
      t.strictSame(await exchange(t, url, level, { sent, answers }), answers, `${ids}: ${what}`)
    }
    const acknowledged = rows.flatMap(([, , , answers]) => answers.filter(answer => /^puback \d+$/.test(answer)))
    t.equal(journal.stored.length, acknowledged.length + storedWithoutPuback)
  })

  test(`none of MQTT ${name} is left out`, async t => checkStatements(t, { ...statements, rows }))
}

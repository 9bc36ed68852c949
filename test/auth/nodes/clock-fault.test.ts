import { test } from 'tap'
import { clockFault, createClockLog } from '../../../auth/nodes/clock-fault.ts'
import type { Log } from '../../../store/log.ts'

test('a clock that is a second off is told, in which direction, once, and again when it is right', async t => {
  t.equal(clockFault(undefined), undefined)
  t.equal(clockFault(1_000), undefined)
  t.equal(clockFault(-1_000), undefined)
  t.equal(clockFault(1_240), 'the clock of this node is 1.2 s ahead of that of PostgreSQL')
  t.equal(clockFault(-61_000), 'the clock of this node is 61.0 s behind that of PostgreSQL')
  const texts: string[] = []
  const record = (level: string) => (_: object, text?: string) => void texts.push(`${level} ${text}`)
  const tell = createClockLog({ warn: record('warn'), info: record('info') } as Log)
  for (const aheadMs of [undefined, 10, 5_000, 6_000, undefined, 20, -2_000]) tell(aheadMs)
  t.strictSame(texts, [
    'warn the clock of this node is 5.0 s ahead of that of PostgreSQL',
    'info the clock of this node agrees with that of PostgreSQL',
    'warn the clock of this node is 2.0 s behind that of PostgreSQL',
  ])
})

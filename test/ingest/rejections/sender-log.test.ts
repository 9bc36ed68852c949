import { test } from 'tap'
import { createSenderLog } from '../../../ingest/rejections/sender-log.ts'

test('a line a minute for each sender, and for a bounded number of them', async t => {
  let nowMs = 0
  const lines: string[] = []
  const push = (_fields: object, text: string) => void lines.push(text)
  const tell = createSenderLog({ warn: push, error: push } as never, () => nowMs)
  const linesOf = (...keys: string[]) => {
    lines.length = 0
    for (const key of keys) tell(key, 'warn', {}, key)
    return [...lines]
  }
  t.strictSame(linesOf('a', 'a', 'b'), ['a', 'b'])
  nowMs = 59_999
  t.strictSame(linesOf('a', 'c'), ['c'])
  nowMs = 60_000
  t.strictSame(linesOf('a', 'b', 'c'), ['a', 'b'])
  nowMs = 200_000
  const many = Array.from({ length: 1500 }, (_, index) => `sender ${index}`)
  t.strictSame(linesOf(...many), many.slice(0, 1000), 'no more than a thousand a minute')
  t.strictSame(linesOf('a'), [])
  nowMs = 260_000
  t.strictSame(linesOf('a', ...many.slice(0, 5)), ['a', ...many.slice(0, 5)])
})

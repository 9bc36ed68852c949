import { test } from 'tap'
import { detachBuffers } from '../../../store/limits/detach-buffers.ts'

test('what is detached has no length any more, nor has what lies in the same memory', async t => {
  const column = new Float64Array(1000)
  const part = column.subarray(10, 20)
  const other = new Float64Array(5)
  detachBuffers([column, part])
  t.strictSame([column.length, part.length, other.length], [0, 0, 5])
  detachBuffers([column])
  t.equal(column.length, 0, 'a second time changes nothing')
})

test("memory that threads share stays, and so does that of Node's pool, in which others lie too", async t => {
  const shared = new Float64Array(new SharedArrayBuffer(80))
  const [short, other] = [Buffer.from('short'), Buffer.from('other')]
  detachBuffers([shared, short])
  t.strictSame([shared.length, short.toString(), other.toString()], [10, 'short', 'other'])
})

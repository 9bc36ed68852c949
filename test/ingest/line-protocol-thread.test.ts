/** The thread that reads line protocol: what it knows of names, and what becomes of rows when it has forgotten that. */

import t from 'tap'
import { defaultLineNames, type LineNames } from '../../ingest/formats/line-protocol-names.ts'
import { createLineThread } from '../../ingest/import/line-protocol-thread.ts'
import type { ReadLinesTask } from '../../ingest/import/line-protocol-worker.ts'
import { defaultRanges } from '../../ingest/reading.ts'

const nowMs = Date.UTC(2026, 5, 1)
const thread = createLineThread()
t.teardown(() => thread.close())
const lines = 'w,device=a temperature=1 1767225600000\nw,device=b temperature=2 1767225600000\n'

async function read(names: LineNames = defaultLineNames, more: Partial<ReadLinesTask> = {}) {
  const result = await thread.read({
    names,
    precision: 'ms',
    ranges: defaultRanges,
    nowMs,
    aheadMsMax: 300_000,
    deviceDefault: undefined,
    rejectsMax: 10,
    body: Uint8Array.from(Buffer.from(lines)),
    isGzip: false,
    bodyBytesMax: 1e6,
    isInTexts: false,
    ...more,
  })
  if (result.kind !== 'read') throw new Error(result.kind)
  return result
}

const devices = ['a', 'b'].map((name, index) => ({ name, number: index + 7, symbol: `${name}-symbol`, authSeq: 3 }))
const unknown = { code: 'DEVICE_UNKNOWN', reason: 'there is none' } as const

async function encode({ rows, names, generation }: Awaited<ReturnType<typeof read>>, resolved: typeof devices) {
  const times = { receiptUs: nowMs * 1000, earliestMs: undefined }
  const { records, count } = await thread.encode(resolved, { rows, names, generation, ...times, rejectsMax: 10 })
  return { count, bytes: Buffer.from(records) }
}

t.test('names are told as texts until they are resolved, and as numbers afterwards', async t => {
  const first = await read()
  t.equal(first.names.parts.text, 'ab')
  t.equal(first.names.known, undefined)
  await encode(first, [devices[0], unknown] as unknown as typeof devices)
  const second = await read()
  t.equal(second.names.parts.text, 'b', 'what stands for nothing is told again')
  t.strictSame([...(second.names.known?.numbers ?? [])], [7, 0])
  t.strictSame(second.names.known?.authSeqs[0], 3)
  await encode(second, devices)
  const third = await read()
  t.equal(third.names.parts.text, '')
  t.strictSame([...(third.names.known?.numbers ?? [])], [7, 8])
})

t.test('the records are the same, whether names are known, told as texts, or forgotten in between', async t => {
  const inTexts = await encode(await read(defaultLineNames, { isInTexts: true }), devices)
  t.equal(inTexts.count, 2)
  const known = await read()
  t.ok(known.names.known)
  t.strictSame(await encode(known, devices), inTexts)
  const forgotten = await read()
  t.ok(forgotten.names.known)
  const other = await read({ ...defaultLineNames, unknownFields: 'ignore' })
  t.not(other.generation, forgotten.generation)
  t.strictSame(await encode(forgotten, devices), inTexts)
})

t.test('a name whose device has changed is told as a text from then on', async t => {
  await encode(await read(), devices)
  const { names, generation } = await read()
  const places = [names.known?.places[0] ?? -1]
  await read(defaultLineNames, { isInTexts: true, changed: { places, generation } })
  const again = await read()
  t.equal(again.names.parts.text, 'a')
  t.strictSame([...(again.names.known?.numbers ?? [])], [0, 8])
})

/** A JSON array as lines: what comes out of it, wherever its pieces are cut. */

import fc from 'fast-check'
import t from 'tap'
import { ArrayLines } from '../../ingest/formats/json-array.ts'
import { runs } from '../support/runs.ts'

/** The lines, or undefined for what is no array or not a whole one. */
function linesOf(pieces: readonly Uint8Array[]): string[] | undefined {
  const elements = new ArrayLines()
  let text = ''
  for (const piece of pieces) {
    const lines = elements.take(piece)
    if (lines === undefined) return undefined
    text += Buffer.from(lines).toString('latin1')
  }
  if (!elements.isComplete()) return undefined
  return Buffer.from(text, 'latin1').toString().split('\n').slice(0, -1)
}

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map(place => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

t.test('each element becomes the line that has it, however it is laid out and cut', async t => {
  const anyValues = fc.array(fc.jsonValue(), { maxLength: 8 })
  const anyLayout = fc.record({ indent: fc.constantFrom(undefined, 2, '\t'), hasMark: fc.boolean() })
  const anyPlaces = fc.array(fc.nat(), { maxLength: 12 })
  const property = fc.property(anyValues, anyLayout, anyPlaces, (values, { indent, hasMark }, places) => {
    const bytes = Buffer.from(`${hasMark ? '\ufeff' : ''}${JSON.stringify(values, null, indent)}\r\n `)
    const found = linesOf(cutAt(bytes, places))?.map(line => JSON.parse(line))
    t.strictSame(found, JSON.parse(JSON.stringify(values)))
  })
  fc.assert(property, runs(60, 300))
})

t.test('any bytes are read without a throw, cut at every byte alike, and no line is longer than the body', async () => {
  const part = fc.constantFrom(...'[|]|{|}|"|\\|,|\n| |1|null|{"a":1}|\ufeff|\u0001'.split('|'))
  const texts = fc.array(part, { maxLength: 20 }).map(parts => Buffer.from(parts.join('')))
  const bodies = fc.oneof(texts, fc.uint8Array({ maxLength: 60 }))
  const property = fc.property(bodies, body => {
    const whole = linesOf([body])
    const byteByByte = linesOf(Array.from(body, (_, at) => body.subarray(at, at + 1)))
    const isSame = JSON.stringify(whole) === JSON.stringify(byteByByte)
    return isSame && (whole ?? []).join('\n').length <= body.length
  })
  fc.assert(property, runs(200, 2000))
})

t.test('an array that JSON does not have is none, and one with a bad element has that line', async t => {
  const lines = (text: string) => linesOf([Buffer.from(text)])
  for (const text of '| |[|[1|[1,|[1,]|[,]|[,1]|{}|"[]"|[]]|[] 1|\ufeff\ufeff[]|1'.split('|')) {
    t.equal(lines(text), undefined, JSON.stringify(text))
  }
  const isJson = (line: string) => {
    try {
      JSON.parse(line)
      return true
    } catch {
      return false
    }
  }
  const judged = (text: string) => lines(text)?.map(isJson)
  t.strictSame(lines('[]'), [])
  t.strictSame(judged('[1,tru,"a\nb",{"a":\n1},[1},2]'), [true, false, false, true, false, true])
  t.strictSame(judged('[{"a":"]},[\\""},3]'), [true, true])
})

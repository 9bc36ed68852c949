/** Points of stations as lines of CSV and NDJSON. */

import fc from 'fast-check'
import t from 'tap'
import { readChunk } from '../../../ingest/formats/chunk.ts'
import { createCsvReader, readCsvHeader } from '../../../ingest/formats/csv.ts'
import { encodeRows } from '../../../ingest/formats/encode.ts'
import type { LineReader } from '../../../ingest/formats/lines.ts'
import { createNdjsonReader } from '../../../ingest/formats/ndjson.ts'
import type { DecimalMark } from '../../../ingest/formats/number.ts'
import { rowKindOf } from '../../../ingest/formats/row-kinds.ts'
import { readRecord } from '../../../ingest/journal/record.ts'
import { points } from '../../../ingest/points-table.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { runs } from '../../support/runs.ts'

const nowMs = Date.UTC(2026, 5, 1)
const header = 'timestamp,sn,parameter,unit,value'
const kind = rowKindOf('points')
const check = kind.createCheck({ ranges: defaultRanges, aheadMsMax: 300_000 })

function csvReader(headerLine = header, decimal?: DecimalMark): LineReader {
  const read = readCsvHeader(headerLine, kind.columns)
  if (!read.ok) throw new Error(read.reason)
  return createCsvReader({ ...read.layout, decimal }, kind.columns)
}

function readLines(bytes: Buffer, readLine: LineReader) {
  return readChunk(bytes, { kind, readLine, check, firstLine: 1, nowMs, lineBytesMax: 200, rejectsMax: 1000 })
}

/** The contents of the records. Each name is a separate series. */
function recordsOf(text: string, readLine = csvReader()) {
  const { rows, names, rejects } = readLines(Buffer.from(text), readLine)
  const seriesOf = (index: number) => ({ number: index + 1, symbol: names.parts(index)[2] ?? '' })
  const resolved = Array.from({ length: names.count }, (_, index) => seriesOf(index))
  const { records, count } = encodeRows(kind, rows, { names, resolved, nowMs, rejectsMax: 10 })
  const view = new DataView(records.buffer, 0, records.length)
  const found: object[] = []
  for (let offset = 0; offset < records.length; offset += view.getUint16(offset, true)) {
    const { series, timeUs, values, symbols } = readRecord(points, view, offset)
    const { value, stored_at: storedAt } = values
    found.push({ names: names.parts(series - 1), timeUs, value, storedAt, symbols })
  }
  t.equal(found.length, count)
  return { found, rejects }
}

const ndjsonOf = (fields: object) => recordsOf(JSON.stringify(fields), createNdjsonReader(kind.columns))

t.test('the same point in every form gives the same record', async t => {
  const timestamp = '2026-05-30T02:20:00'
  const timeUs = Date.parse(`${timestamp}Z`) * 1000
  const expected = [{ names: ['IN-1', 'pm25', 'ugm3'], timeUs, value: 12.5, storedAt: nowMs * 1000, symbols: ['ugm3'] }]
  const fields = { timestamp, sn: 'IN-1', parameter: 'pm25', unit: 'ugm3', value: 12.5 }
  t.strictSame(ndjsonOf(fields), { found: expected, rejects: [] })
  t.strictSame(ndjsonOf({ ...fields, id: 7, value_15min: null }).found, expected)
  const plain = [timestamp, `${timestamp}Z`, `${timestamp}.000Z`, `${timestamp}.000`, `"${timestamp}"`]
  const others =
    '2026-05-30 02:20|2026-05-30T02:20Z|2026-05-30T07:50:00+05:30|2026-05-30 07:50+0530|2026-05-30t02:20:00z'
  for (const time of [...plain, ...others.split('|')]) {
    t.strictSame(recordsOf(`${time},IN-1,pm25,ugm3,12.5`), { found: expected, rejects: [] }, time)
  }
  const otherOrder = csvReader('value,note,sn,parameter,timestamp,unit')
  t.strictSame(recordsOf(`12.5,x,IN-1,pm25,${timestamp},ugm3`, otherOrder), { found: expected, rejects: [] })
  const semicolons = csvReader(header.replaceAll(',', ';'), 'comma')
  t.strictSame(recordsOf(`${timestamp};IN-1;pm25;ugm3;12,5`, semicolons).found, expected)
})

t.test('a rejected line has a reason, and its station if that was read', async t => {
  const time = '2026-05-30T02:20:00'
  const refuses = (line: string, reason: string | RegExp, sn?: string, code = 'POINT_INVALID') => {
    const { found, rejects } = recordsOf(line, line.startsWith('{') ? createNdjsonReader(kind.columns) : csvReader())
    t.strictSame([found, rejects.length], [[], 1], line)
    t.match(rejects[0], { line: 1, code, reason }, line)
    t.equal(rejects[0]?.sn, sn, line)
  }
  refuses(`${time},IN-1,pm25,ugm3`, 'has 4 cells, but the header has 5', undefined, 'LINE_MALFORMED')
  refuses(`${time},,pm25,ugm3,1`, 'sn is required')
  refuses(`${time},${'s'.repeat(65)},pm25,ugm3,1`, 'sn must be a text of at most 64 characters')
  refuses(`,IN-1,pm25,ugm3,1`, 'timestamp is required', 'IN-1')
  const iso = 'timestamp must be an ISO 8601 time, as 2026-01-31T12:00:00'
  refuses(`1767225600000,IN-1,pm25,ugm3,1`, iso, 'IN-1')
  refuses(`2026-02-30T02:20:00,IN-1,pm25,ugm3,1`, iso, 'IN-1')
  refuses(`{"timestamp":1767225600000,"sn":"IN-1","parameter":"no","unit":"ppb","value":1}`, iso, 'IN-1')
  refuses(`{"timestamp":{"ms":1767225600000},"sn":"IN-1","parameter":"no","unit":"ppb","value":1}`, iso, 'IN-1')
  refuses(`${time}.500,IN-1,pm25,ugm3,1`, 'timestamp must be a whole second', 'IN-1')
  refuses(`1999-12-31T23:59:59,IN-1,pm25,ugm3,1`, 'timestamp must not be before 2000-01-01', 'IN-1')
  refuses(`2026-06-01T00:06:00,IN-1,pm25,ugm3,1`, 'timestamp must not be in the future', 'IN-1')
  refuses(`${time},IN-1,pm25,furlong,x`, /^unit must be one of ppb, ppm, ugm3; value must be a number$/, 'IN-1')
  refuses(`${time},IN-1,,ugm3,`, /^parameter must be a text of 1 to 16 characters; value must be a number$/, 'IN-1')
  refuses(`{"sn":7}`, 'sn must be a text of at most 64 characters')
})

t.test('a header without the required columns of a point is rejected', async t => {
  t.match(readCsvHeader('timestamp,device,temperature,humidity,pressure', kind.columns), {
    ok: false,
    reason: /^the header lacks sn, parameter, unit, value;.* it should name timestamp,sn,parameter,unit,value$/,
  })
})

t.test('any bytes are parsed without a throw, with each line accepted or rejected', async () => {
  const usual = '|2026-01-01T00:00:00|2026-01-01|IN-1|pm25|ugm3|ppb|1.5|"|\r|\0'.split('|')
  const cell = fc.oneof(fc.constantFrom(...usual), fc.string({ maxLength: 6 }))
  const line = fc.array(cell, { minLength: 4, maxLength: 6 }).map(cells => cells.join(','))
  const lines = fc.array(line, { maxLength: 12 }).map(all => Buffer.from(all.join('\n')))
  const bytes = fc.uint8Array({ maxLength: 300 }).map(array => Buffer.from(array))
  const property = fc.property(fc.oneof(lines, bytes), fc.boolean(), (body, isCsv) => {
    const { rows, rejected } = readLines(body, isCsv ? csvReader() : createNdjsonReader(kind.columns))
    const all = body.toString('latin1').split('\n')
    return rows.count + rejected === all.filter(text => text.replace(/\r$/, '') !== '').length
  })
  fc.assert(property, runs(60, 500))
})

t.test('a value outside the range of its parameter is rejected, in each unit', async t => {
  const reasonsOf = (parameter: string, unit: string, values: readonly number[]) => {
    const lines = values.map(value => `2026-05-30T02:20:00,IN-1,${parameter},${unit},${value}`)
    const { found, rejects } = recordsOf(`${lines.join('\n')}\n`)
    return [found.length, ...rejects.map(reject => reject.reason)]
  }
  for (const parameter of ['so2', 'o3', 'no2', 'no', 'co', 'pm1', 'pm25', 'pm10']) {
    for (const unit of ['ppb', 'ppm', 'ugm3']) {
      const outside = reasonsOf(parameter, unit, [-999, -9999, 1e9, -600, 1])
      t.match(outside, [1, /value/, /value/, /value/, /value/], `${parameter} in ${unit}`)
    }
  }
  t.strictSame(reasonsOf('pm25', 'ugm3', [65_535, 10_000])[0], 1)
  t.match(reasonsOf('no2', 'ppb', [65_535])[1], /must be from .* to 20000 ppb for no2/)
  t.match(reasonsOf('no2', 'ppm', [65_535])[1], /to 20 ppm for no2/)
  t.match(reasonsOf('no2', 'ugm3', [65_535])[1], /to 37640 ugm3 for no2/)
  t.match(reasonsOf('co', 'ppb', [65_535])[0], 1, 'carbon monoxide may have it')
})

/** Lines of CSV and NDJSON: accepted lines, and reasons of rejected ones. */

import fc from 'fast-check'
import t from 'tap'
import { readChunk } from '../../../ingest/formats/chunk.ts'
import { foreignContent } from '../../../ingest/formats/content.ts'
import { createCsvReader, isMissing, readCsvHeader } from '../../../ingest/formats/csv.ts'
import { DecimalSurvey, noteDecimals } from '../../../ingest/formats/decimal-survey.ts'
import { type LineReader, wholeLines } from '../../../ingest/formats/lines.ts'
import type { NameIndex } from '../../../ingest/formats/name-index.ts'
import { createNdjsonReader } from '../../../ingest/formats/ndjson.ts'
import { type DecimalMark, decimalMarks, readMarkedNumber } from '../../../ingest/formats/number.ts'
import { readingRows, rowKindOf } from '../../../ingest/formats/row-kinds.ts'
import type { Rows } from '../../../ingest/formats/rows.ts'
import { defaultRanges, type Reading } from '../../../ingest/reading.ts'
import { plainTimeText, readZonedTimeText } from '../../../store/time-text.ts'
import { runs } from '../../support/runs.ts'

const nowMs = Date.UTC(2026, 5, 1)
const short = 'timestamp,device,temperature,humidity,pressure'
const header = `${short},battery_voltage,battery_percentage`
const time = '2026-01-01T00:00:00Z'
const kind = rowKindOf('readings')
const check = kind.createCheck({ ranges: defaultRanges, aheadMsMax: 300_000 })
const readHeader = (line: string) => readCsvHeader(line, kind.columns)

function csvReader(headerLine: string, decimal?: DecimalMark): LineReader {
  const read = readHeader(headerLine)
  if (!read.ok) throw new Error(read.reason)
  return createCsvReader({ ...read.layout, decimal }, kind.columns)
}

function readLines(bytes: Buffer, readLine: LineReader, rejectsMax = 1000) {
  const result = readChunk(bytes, { kind, readLine, check, firstLine: 1, nowMs, lineBytesMax: 200, rejectsMax })
  const readings = Array.from({ length: result.rows.count }, (_, row) => {
    return { line: result.rows.lines[row], device: nameOf(result, row), ...readRow(result.rows, row) }
  })
  return { ...result, readings }
}

function readRow(rows: Rows, row: number): Reading {
  const reading = readingRows.createValues(nowMs)
  readingRows.take(rows.values, row * readingRows.valuesPerRow, rows.timesMs[row] ?? 0, reading)
  return reading
}

function nameOf({ rows, names }: { rows: Rows; names: NameIndex }, row: number): string {
  return names.textOf(rows.names[row] ?? -1)
}

const csv = (text: string, headerLine = header, decimal?: DecimalMark) =>
  readLines(Buffer.from(text), csvReader(headerLine, decimal))
const ndjson = (text: string) => readLines(Buffer.from(text), createNdjsonReader(readingRows.columns))

const noBattery = { battery_voltage: Number.NaN, battery_percentage: Number.NaN }
const kitchen = {
  line: 1,
  device: 'kitchen',
  timestampMs: Date.UTC(2026, 0, 1),
  temperature: 21.5,
  humidity: 40,
  pressure: 1013.2,
  ...noBattery,
}

t.test('CSV: columns may stand in any order, and unknown ones are ignored by name', async t => {
  const gives = (headerLine: string, line: string, expected: object) => {
    t.match(csv(line, headerLine).readings, [expected], headerLine)
  }
  gives('pressure,note,device,humidity,timestamp,temperature', '1013.2,x,kitchen,40,1767225600000,21.5', kitchen)
  gives('Timestamp, Device ,TEMPERATURE,"humidity",pressure', `${time},kitchen,21.5,40,1013.2`, kitchen)
  const line = `${time},kitchen,21.5,40,1013.2,3.7`
  gives(`${short},battery voltage`, line, { ...kitchen, battery_voltage: 3.7 })
  const layout = { columns: [undefined, ...short.split(',')], separator: ',' }
  t.strictSame(readHeader(`note,${short}`), { ok: true, layout, others: ['note'] })
})

t.test('CSV: the header sets the separator, the body the decimal mark', async t => {
  const columns = short.split(',')
  for (const separator of [';', '\t']) {
    const line = (...cells: string[]) => cells.join(separator)
    const gives = (cells: string[], expected: object, decimal: DecimalMark = 'comma') =>
      t.match(csv(line(...cells), columns.join(separator), decimal), expected, line(...cells))
    gives([time, 'kitchen', '21.5', '40', '1,013.2'], { readings: [kitchen], rejected: 0 }, 'point')
    gives([time, 'kitchen', '21,5', '40', '1.013,2'], { readings: [kitchen], rejected: 0 })
    gives([time, '"kitchen"', '21,5', '40', '"1013,2"'], { readings: [kitchen], rejected: 0 })
    gives([time, 'a,b', '-0,5', '40', ''], { readings: [{ device: 'a,b', temperature: -0.5 }] })
    for (const number of ['1.5', '1.01,2', '1,013,2', '1013,2,', ',', '1,5e', '1, 5']) {
      gives([time, 'kitchen', '21,5', '40', number], { readings: [], rejected: 1 })
    }
  }
  t.match(csv(`${time},kitchen,"21,5",40,1013`, short), { readings: [], rejected: 1 })
})

t.test('the decimal mark applies to the whole file', async t => {
  const settled = (cells: string[], hasCommas = false) => {
    const survey = new DecimalSurvey()
    for (const [index, cell] of cells.entries()) survey.note(cell, index + 2)
    const found = survey.settle(hasCommas)
    return found.ok ? found.mark : found.reason
  }
  for (const cells of [['12,345', '21.5'], ['1,234,567'], ['1.234e3']]) t.equal(settled(cells), 'point', cells.join())
  const withCommas = [['12.345', '21,5'], ['12,345', '0,345'], ['12,345', '1234,567'], ['1.234,5']]
  for (const cells of withCommas) t.equal(settled(cells), 'comma', cells.join(' '))
  t.equal(settled(['12', 'x,y', '1.2.3', '192.168.100.200', '']), undefined)
  t.match(settled(['12,345', '40']), /12,345 in line 2 has three decimals or a thousands separator/)
  t.match(settled(['12.345', '40']), /12\.345 in line 2 has three decimals or a thousands separator/)
  t.equal(settled(['12.345', '40'], true), 'point', 'commas separate the cells')
  t.match(settled(['21,5', '21.5']), /a comma in 21,5 in line 2, and a point in 21\.5 in line 3/)
})

t.test('a line with another number of cells does not decide the decimal mark', async t => {
  const layout = { columns: ['timestamp', 'temperature'], separator: ';' } as const
  const settled = (lines: string) => {
    const survey = new DecimalSurvey()
    noteDecimals(survey, Buffer.from(lines), layout, kind.columns, 2)
    return survey.settle(false)
  }
  const open = /^12,345 in line 5 /
  t.match(settled('1;2;21,5\nnonsense\n"1;21,5\n1;12,345\n'), { ok: false, reason: open })
  t.strictSame(settled('\n1;2;21,5\n1;21.5'), { ok: true, mark: 'point' })
})

t.test('a file is read with the mark that it was written with, or not at all', async t => {
  const mark = fc.constantFrom(...decimalMarks)
  const number = fc.record({
    whole: fc.integer({ min: -999_999_999, max: 999_999_999 }),
    digits: fc.stringMatching(/^[0-9]{0,4}$/),
    isGrouped: fc.boolean(),
  })
  const property = fc.property(mark, fc.array(number, { minLength: 1 }), (written, numbers) => {
    const [decimal, group] = written === 'comma' ? [',', '.'] : ['.', ',']
    const cells = numbers.map(({ whole, digits, isGrouped }) => {
      const text = isGrouped ? whole.toLocaleString('en-US').replaceAll(',', group) : String(whole)
      return digits === '' ? text : `${text}${decimal}${digits}`
    })
    const survey = new DecimalSurvey()
    for (const [index, cell] of cells.entries()) survey.note(cell, index)
    const settled = survey.settle(false)
    if (!settled.ok) return
    const values = numbers.map(({ whole, digits }) => Number(`${whole}.${digits}0`))
    const found = cells.map(cell => readMarkedNumber(cell, settled.mark))
    t.strictSame(found, values, cells.join(' '))
  })
  fc.assert(property)
})

t.test('a format other than CSV and NDJSON is rejected with a hint', async t => {
  const tells = (content: string | number[], sentence: RegExp | undefined) => {
    const found = foreignContent(Buffer.from(content as string))
    if (sentence === undefined) t.equal(found, undefined, String(content))
    else t.match(found, sentence, String(content))
  }
  tells('', /empty/)
  tells('\n \n', /empty/)
  tells(' [{"device":"a"}]', /JSON array; send one object a line/)
  tells('weather,room=k temperature=21.5,humidity=4i 1700000000000000000\n', /line protocol/)
  tells('weather temperature=21.5', /line protocol/)
  tells('<?xml version="1.0"?>', /XML/)
  tells([0x1f, 0x8b, 8], /gzip/)
  tells([0x50, 0x4b, 3, 4], /XLSX/)
  tells([0xff, 0xfe, 0x74, 0], /UTF-16/)
  tells([...Buffer.from('timestamp,device', 'utf16le')], /UTF-16 or binary/)
  tells([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], /XLS/)
  tells('{"device":"a"}', undefined)
  tells('timestamp,device,temperature,humidity,pressure\n', undefined)
  tells('timestamp\tdevice', undefined)
})

t.test('CSV: a header that cannot be right is refused with the reason', async t => {
  const refuses = (line: string, reason: RegExp) => t.match(readHeader(line), { ok: false, reason }, line)
  refuses('', /not a line of CSV|lacks/)
  refuses('timestamp,devise,temperature,humidity,pressure', /lacks device/)
  refuses('2026-01-01T00:00:00Z,kitchen,21.5,40,1013.2', /lacks timestamp, device/)
  refuses('timestamp,device,temperature,humidity,pressure,device', /device twice/)
  refuses('timestamp,"device,temperature,humidity,pressure', /not a line of CSV/)
})

t.test('CSV: quotes, line ends, empty cells and every form of time', async t => {
  const gives = (line: string, more: object) => t.match(csv(line).readings, [{ ...kitchen, ...more }], line)
  gives(`${time},kitchen,21.5,40,1013.2,,\r\n`, {})
  gives(`"${time}","kitchen","21.5",40,1013.2,"",""`, {})
  gives(`${time},"a ""b"", c",21.5,40,1013.2,,`, { device: 'a "b", c' })
  gives(`${time},"Küche ""1""",21.5,40,1013.2,,`, { device: 'Küche "1"' })
  gives('2026-01-01T01:00:00+01:00,kitchen,21.5,,,,', { humidity: Number.NaN, pressure: Number.NaN })
  gives('2026-01-01T00:00:00.1239Z,kitchen,21.5,40,1013.2,,', { timestampMs: kitchen.timestampMs + 123 })
  const clamped = { humidity: 100, battery_voltage: 3.7, battery_percentage: 100 }
  gives('1767225600000.9,kitchen,21.5,102,1013.2,3.7,105', clamped)
})

t.test('CSV: a rejected line has a reason, and its device if that was read', async t => {
  const refuses = (line: string, code: string, reason: RegExp, device?: string) => {
    const { readings, rejects, rejected } = csv(line)
    t.strictSame([readings.length, rejected], [0, 1], line)
    t.match(rejects[0], { line: 1, code, reason }, line)
    t.equal(rejects[0]?.device, device, line)
  }
  refuses(`${time},kitchen,21.5,40`, 'LINE_MALFORMED', /4 cells, but the header has 7/)
  refuses(`${time},kitchen,21,5,40,1013,,5`, 'LINE_MALFORMED', /8 cells, but the header has 7/)
  refuses(`${time},"kitchen,21.5,40,1013,,`, 'LINE_MALFORMED', /quotes/)
  refuses(`${time},kit"chen,21.5,40,1013,,`, 'LINE_MALFORMED', /quotes/)
  refuses('x'.repeat(201), 'LINE_TOO_LONG', /200 bytes/)
  refuses(`${time},,21.5,40,1013,,`, 'READING_INVALID', /device is required/)
  refuses(`${time},${'d'.repeat(65)},21.5,40,1013,,`, 'READING_INVALID', /device must have at most 64/)
  const invalid = (line: string, reason: RegExp) => refuses(line, 'READING_INVALID', reason, 'kitchen')
  invalid(',kitchen,21.5,40,1013,,', /timestamp is required/)
  invalid('2026-02-30T00:00:00Z,kitchen,21.5,40,1013,,', /timestamp must be ISO/)
  invalid('2026-01-01T00:00:00,kitchen,21.5,40,1013,,', /with a zone/)
  invalid('1999-12-31T23:59:59Z,kitchen,21.5,40,1013,,', /before 2000/)
  invalid(`${new Date(nowMs + 300_001).toISOString()},kitchen,21.5,40,1013,,`, /future/)
  invalid(`${time},kitchen,,104,,,`, /^humidity must be between 0 and 103$/)
  invalid(`${time},kitchen,warm,40,high,,`, /temperature must be a number.*; pressure must/)
  invalid(`${time},kitchen,,,,,`, /at least one metric/)
  const broken = readLines(Buffer.from(`${time},k\xfc,21.5,40,1013,,`, 'latin1'), csvReader(header))
  t.match(broken.rejects, [{ line: 1, code: 'READING_INVALID', reason: /UTF-8/ }])
})

t.test('CSV: empty cells at the end are not counted, of a line or of the header', async t => {
  t.match(csv(`${time},kitchen,21.5,40,1013.2,, , ,""\n`).readings, [kitchen])
  const shorter = `${short},,`
  for (const end of ['', ',', ',,', ',,,']) {
    t.match(csv(`${time},kitchen,21.5,40,1013.2${end}\n`, shorter).readings, [kitchen], end)
  }
  const { rejects } = csv(`${time},kitchen,21,5,40,1013\n`, shorter)
  t.match(rejects, [{ reason: 'has 6 cells, but the header has 5' }])
})

t.test('CSV: a word in place of a value is a missing value', async t => {
  const missing = ['NA', '#N/A', '\\N', 'NaN', 'null', '--', 'n.d.', 'Err', ' ', '--.-', '—', '#DIV/0!', 'None', '****']
  for (const word of missing) {
    const { readings, rejected } = csv(`2026-01-01T00:00:00Z,kitchen,${word}, 40 ,1013.2,,`)
    t.match([readings, rejected], [[{ temperature: Number.NaN, humidity: 40, pressure: 1013.2 }], 0], word)
  }
  for (const word of ['warm', '1e', 'Infinity', '21 C', '0x10']) {
    t.match(csv(`2026-01-01T00:00:00Z,kitchen,${word},40,1013.2,,`), { readings: [], rejected: 1 }, word)
  }
  fc.assert(fc.property(fc.string(), text => !isMissing(text) || Number.isNaN(Number.parseFloat(text))))
})

t.test('CSV: times may have a blank before the zone or lack separators', async t => {
  const times = ['2026-01-01 00:00:00 UTC', '2026-01-01  00:00 GMT', '2026-01-01 02:00:00 +02:00', '20260101T000000Z']
  for (const time of [...times, '2026/01/01T00:00:00z', '2026/1/1 00:00 UTC', '20251231T2330-0030']) {
    t.match(csv(`${time},kitchen,21.5,40,1013.2,,`).readings, [kitchen], time)
  }
  const wrong = '2026-01-01 00:00:00|2026-01-01 00:00 CET|2026/02/30 00:00 UTC|2026-01-01 00:00 +25:00'
  for (const time of wrong.split('|')) {
    t.match(csv(`${time},kitchen,21.5,40,1013.2,,`).rejects, [{ code: 'READING_INVALID' }], time)
  }
  const moment = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  const zone = fc.constantFrom('Z', ' UTC', ' gmt', ' +00:00', ' UTC-0000')
  const property = fc.property(moment, zone, fc.constantFrom('-', '/'), (date, end, mark) => {
    const iso = date.toISOString().slice(0, 19)
    const [day = '', clock = ''] = iso.split('T')
    const texts = [`${day.replaceAll('-', mark)}  ${clock}${end}`, `${iso.replace(/[-:]/g, '')}${end}`]
    return texts.every(text => readZonedTimeText(plainTimeText(text)) === Date.parse(`${iso}Z`) * 1000)
  })
  fc.assert(property)
  fc.assert(fc.property(fc.string(), text => plainTimeText(plainTimeText(text)) === plainTimeText(text)))
})

t.test('CSV: letters of the compass are degrees in a column of directions', async t => {
  const columns = ['timestamp', 'device', 'temperature', 'Wind Direction', 'note']
  const layout = { columns, separator: ',' } as const
  const readLine = createCsvReader(layout, kind.columns)
  const read = (word: string) => {
    const line = Buffer.from(`2026-01-01T00:00:00Z,kitchen,21.5,${word},NNE`)
    const fields = readLine(line, 0, line.length)
    return typeof fields === 'string' ? fields : fields['Wind Direction']
  }
  const directions = { NNE: 22.5, n: 0, NbE: 11.25, 'North-West': 315, calm: null, 270: 270 }
  for (const [word, degrees] of Object.entries(directions)) t.equal(read(word), degrees, word)
  t.match(read('NO'), /^Wind Direction has an O, which is east in some languages and west in others/)
  t.equal(read('XYZ'), 'XYZ')
})

t.test('NDJSON: the names of the logger API and of the CSV header are both known', async t => {
  const fields = { timestamp: time, device: 'kitchen', temperature: 21.5, humidity: 40, pressure: 1013.2 }
  const gives = (extra: object, expected: object = {}) =>
    t.match(ndjson(JSON.stringify({ ...fields, ...extra })).readings, [{ ...kitchen, ...expected }])
  gives({ timestamp: 1_767_225_600_000, colour: 'red' })
  gives({ pressure: null }, { pressure: Number.NaN })
  gives({ 'battery voltage': 3.7, battery_percentage: 80 }, { battery_voltage: 3.7, battery_percentage: 80 })
  gives({ battery_voltage: 3.7, 'battery voltage': 3.8 }, { battery_voltage: 3.8 })
  gives({ 'battery voltage': 3.8, battery_voltage: 3.7 }, { battery_voltage: 3.7 })
})

t.test('NDJSON: a line that is refused says why', async t => {
  const refuses = (line: string, code: string, reason: RegExp) => {
    t.match(ndjson(line), { rejected: 1, rejects: [{ line: 1, code, reason }] }, line)
  }
  for (const line of ['{"device":"kitchen"', '[1,2]', 'null']) refuses(line, 'LINE_MALFORMED', /not a JSON object/)
  refuses('{"device":17}', 'READING_INVALID', /device must be a text/)
  refuses('{"device":"kitchen","timestamp":0}', 'READING_INVALID', /before 2000/)
  const text = `{"device":"k","timestamp":"${time}","temperature":"21","humidity":1,"pressure":1000}`
  refuses(text, 'READING_INVALID', /temperature must be a number/)
})

/** Text that is often nearly right, so that the properties reach every branch. */
const cell = fc.oneof(
  fc.constantFrom(...'|2026-01-01T00:00:00Z|1767225600000|kitchen|21.5|40|1013|"|"a,b"|-0|é|\r|\0'.split('|')),
  fc.double().map(String),
  fc.string({ maxLength: 6 }),
)
const csvLine = fc.array(cell, { minLength: 5, maxLength: 8 }).map(cells => cells.join(','))
const values = { temperature: fc.double(), humidity: fc.integer({ min: -5, max: 110 }), pressure: fc.constant(1000) }
const reading = fc.record({ timestamp: cell, device: cell, ...values })
const jsonLine = fc.oneof(
  fc.json(),
  fc.string(),
  reading.map(fields => JSON.stringify(fields)),
)
function bodyOf(line: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const anyLine = fc.oneof({ weight: 4, arbitrary: line }, fc.constant(''), fc.constant('y'.repeat(250)))
  return fc.array(anyLine, { maxLength: 12 }).map(lines => lines.join('\n'))
}
const bodies = fc.oneof(
  bodyOf(csvLine).map(text => ({ text, format: 'csv' as const })),
  bodyOf(jsonLine).map(text => ({ text, format: 'ndjson' as const })),
)
const readerOf = (format: 'csv' | 'ndjson') =>
  format === 'csv' ? csvReader(header) : createNdjsonReader(readingRows.columns)

t.test('each line that is not empty is either accepted or rejected without a throw', async t => {
  const property = fc.property(bodies, ({ text, format }) => {
    const { lines, readings, rejected } = readLines(Buffer.from(text), readerOf(format))
    const all = text.split('\n')
    const atEnd = text === '' || text.endsWith('\n') ? 1 : 0
    t.equal(lines, all.length - atEnd)
    return readings.length + rejected === all.filter(line => line.replace(/\r$/, '') !== '').length
  })
  fc.assert(property, runs(80, 500))
})

async function inChunks(pieces: Uint8Array[], format: 'csv' | 'ndjson') {
  const readLine = readerOf(format)
  const verdicts: unknown[] = []
  let firstLine = 1
  for await (const chunk of wholeLines(toBody(pieces), { chunkBytes: 256, lineBytesMax: 200 })) {
    const options = { kind, readLine, check, firstLine, nowMs, lineBytesMax: 200, rejectsMax: 1000 }
    const { rows, names, rejects, lines } = readChunk(Buffer.from(chunk), options)
    for (let row = 0; row < rows.count; row++) {
      verdicts.push([rows.lines[row], nameOf({ rows, names }, row), readRow(rows, row)])
    }
    verdicts.push(...rejects)
    firstLine += lines
  }
  return { verdicts: new Set(verdicts.map(verdict => JSON.stringify(verdict))), lines: firstLine - 1 }
}

async function* toBody(pieces: Uint8Array[]) {
  yield* pieces
}

t.test('a body gives the same verdicts wherever its pieces are cut', async t => {
  const anySizes = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 30 })
  const property = fc.asyncProperty(bodies, anySizes, async ({ text, format }, sizes) => {
    const bytes = Buffer.from(text)
    const pieces: Uint8Array[] = []
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      pieces.push(bytes.subarray(at, at + (sizes[turn] ?? bytes.length)))
      at += sizes[turn] ?? bytes.length
    }
    const byteByByte = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1))
    const whole = await inChunks([bytes], format)
    t.strictSame(await inChunks(pieces, format), whole)
    t.strictSame(await inChunks(byteByByte, format), whole)
  })
  await fc.assert(property, runs(15, 150))
})

t.test('a line without end keeps no more memory than the limit', async t => {
  const piece = Buffer.alloc(1000, 'x')
  async function* endless() {
    for (let count = 0; count < 1000; count++) yield piece
    yield Buffer.from('\n2026-01-01T00:00:00Z,kitchen,21.5,40,1013.2,,')
  }
  const chunks: Buffer[] = []
  for await (const chunk of wholeLines(endless(), { chunkBytes: 256, lineBytesMax: 200 }))
    chunks.push(Buffer.from(chunk))
  const { readings, rejects } = readLines(Buffer.concat(chunks), csvReader(header))
  t.match(rejects, [{ line: 1, code: 'LINE_TOO_LONG' }])
  t.match(readings, [{ ...kitchen, line: 2 }])
})

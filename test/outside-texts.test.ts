/** Readers of outside text take time in proportion to its length, for any text. */

import { test } from 'tap'
import { pointFormat } from '../api/air-quality/point-body.ts'
import { readListQuery } from '../api/air-quality/query/list-query.ts'
import { answerOf } from '../api/content-files/answer.ts'
import { readFilters } from '../api/content-files/filters.ts'
import { jsonBlock, renderPage } from '../api/content-files/html/page.ts'
import { negotiate } from '../api/content-files/negotiation.ts'
import { createPage } from '../api/content-files/page-model.ts'
import { linksOf, Query, readPaging } from '../api/content-files/query-string.ts'
import { routedUrl, slashedUrl } from '../api/content-files/requested-path.ts'
import { readBasicCredentials } from '../api/http/credentials.ts'
import { hasTooManyArguments, readDevices } from '../api/http/parameters.ts'
import { acceptedForms } from '../api/http/send-body.ts'
import { readReadingsParameters } from '../api/read/readings-parameters.ts'
import { DeviceName, slugOf } from '../auth/devices/device.ts'
import { readMapping } from '../cli/mapping/mapping.ts'
import { mappingOptions } from '../cli/mapping/mapping-options.ts'
import { TableLines } from '../cli/mapping/table-lines.ts'
import { createTableReader } from '../cli/mapping/table-reader.ts'
import { TableSurvey } from '../cli/mapping/table-survey.ts'
import { createTimeReader } from '../cli/mapping/times.ts'
import { foreignContent } from '../ingest/formats/content.ts'
import { createCsvReader, readCsvHeader, readHeaderAgain } from '../ingest/formats/csv.ts'
import { evidenceIn } from '../ingest/formats/decimal-survey.ts'
import { readLineProtocol } from '../ingest/formats/line-protocol.ts'
import { defaultLineNames } from '../ingest/formats/line-protocol-names.ts'
import { createNdjsonReader } from '../ingest/formats/ndjson.ts'
import { readMarkedNumber, readNumber } from '../ingest/formats/number.ts'
import { readingRows } from '../ingest/formats/row-kinds.ts'
import { readIdempotencyKey } from '../ingest/idempotency/idempotency-key.ts'
import { createReadingCheck, defaultRanges } from '../ingest/reading.ts'
import { unknownCodes } from '../query/content/filters.ts'
import { growthMax, growthOf } from './support/growth.ts'

const path = '/api/v1/contentfiles/'
const check = createReadingCheck({ collectsCustom: true })
const columns = ['timestamp', 'device', 'temperature', 'humidity', 'pressure'] as const
const readCsv = createCsvReader({ columns, separator: ',' }, readingRows.columns)
const readSemicolons = createCsvReader({ columns, separator: ';' }, readingRows.columns)
const readNdjson = createNdjsonReader(readingRows.columns)

/** Texts of one character or of many parts, each with an end that matches nothing. */
const repeated = ['0', '9', 'a', ' ', '%', '%41', '+', ',', ';', '&', '=', '/', '.', '"', '\\', "'", '-', ':', '\t']
const parts = ['a,', 'a=1&', 'a&', ';q=0.1,', 'a/b;c="d",', '1.', '1e', '",', '\\"', 'https://', 'http://(', '(', '[{']
const endings = ['', 'x', '"']

/** Linear cost is about 8 ms, and the cheapest quadratic one 100 ms. */
const scale = { lengthMax: 12_000, negligibleMs: 40 }

function worst(): ((length: number) => string)[] {
  return [...repeated, ...parts].flatMap(part =>
    endings.map(ending => (length: number) => `${part.repeat(Math.ceil(length / part.length))}${ending}`),
  )
}

function showPage(text: string): void {
  const query = new Query(text)
  const answer = answerOf(400, { run_id: [text] })
  const part = { paging: readPaging(query), count: 1_000 }
  linksOf('http://x.example', query, part.paging, part.count)
  const choices = { units: [{ code: 'ocw', name: 'OCW' }], platforms: [] }
  renderPage(createPage({ kind: 'list', method: 'GET', url: `${path}?${text}`, query, answer, choices, part }))
}

const listColumns = { sn: { type: 'text' }, value: { type: 'number' }, timestamp: { type: 'time' } } as const

function readList(text: string): void {
  for (const filter of [text, `sn,like,${text}`, `value,in,${text}`, `timestamp,eq,2020-01-01T00:00:00.${text}`]) {
    readListQuery(
      new URLSearchParams({ filter, sort: filter, page: text, per_page: text, limit: text }),
      listColumns,
      'sn',
    )
  }
}

/** The text as each part of a line, and as a body. */
function readLines(text: string): void {
  const places = [
    text,
    `w,device=${text} temperature=1`,
    `w,device=k ${text}=1`,
    `w,device=k x="${text}`,
    `w x=${text}`,
  ]
  for (const body of [...places, `w,device=k temperature=1 ${text}`, `${text}\n`.repeat(8)]) {
    readLineProtocol(Buffer.from(body), {
      names: { ...defaultLineNames, unknownFields: 'ignore' },
      precision: 'ns',
      deviceDefault: 'k',
      ranges: defaultRanges,
      nowMs: 0,
      aheadMsMax: 0,
      rejectsMax: 10,
    })
  }
}

/** The text as a header, as a line and as a cell. */
function readTable(text: string): void {
  const options = mappingOptions({ preset: 'davis', map: ['device==x'], zone: 'UTC' })
  const lines = [text, '"Date & Time","Temp - °F"', text, `${text},1`, `1/1/2024,${text}`]
  const [table, survey] = [new TableLines(options), new TableSurvey(options)]
  for (const line of lines) {
    const row = table.next(line, 1)
    if (typeof row === 'object') survey.note(row, 1)
  }
  try {
    const reader = createTableReader(options, survey.settle())
    for (const line of lines) reader.read(line, 1)
  } catch {
    // Some texts are ambiguous.
  }
}

function readMap(text: string): void {
  for (const map of [text, `device=${text}`, `device="${text}`, `temperature=a:${text}`]) {
    try {
      readMapping([map])
    } catch {
      // Most texts are not a mapping.
    }
  }
}

const codes = { units: new Set(['ocw']), platforms: new Set(['ocw']) }

const readers: Record<string, (text: string) => void> = {
  'the filters': text => {
    for (const name of ['run_id', 'edx_module_id', 'offered_by'])
      unknownCodes(readFilters(new Query(`${name}=${text}`)).filters, codes)
  },
  'limit and offset': text => readPaging(new Query(`limit=${text}&offset=${text}`)),
  'the links and the page': showPage,
  'a page of JSON': text => jsonBlock(JSON.stringify({ [text]: text, list: [text] }, null, 4)),
  'filter, sort and paging of stations and points': readList,
  'the path': text => routedUrl(`${path}${text}`) + slashedUrl(`${path}${text}`),
  'the number of arguments': text => hasTooManyArguments(`${path}?${text}`),
  'Accept and format': text => negotiate(text, undefined),
  'Accept and format of data points': text => pointFormat(text, null) && pointFormat(undefined, text),
  'Accept-Encoding': text => acceptedForms(text),
  'the parameters of a range': text =>
    readReadingsParameters({ start: text, end: text }, text, 0) &&
    readReadingsParameters({ start: '0', end: '1', step: text }, text, 0) &&
    readReadingsParameters({ start: '0', end: '1' }, text, 0) &&
    readReadingsParameters({ [text]: text }, text, 0),
  'the idempotency key': text =>
    readIdempotencyKey({ 'idempotency-key': text }) && readIdempotencyKey({ 'idempotency-key': `"${text}` }),
  'the credentials': text => readBasicCredentials(['Authorization', `Basic ${text}`]),
  'names of devices in a parameter': text => readDevices([text, text], () => undefined),
  'the name of a new device': text => DeviceName.safeParse(text),
  'the readable part of a symbol': text => slugOf(text),
  'the fields of a reading': text => check({ timestamp: text, temperature: text, [text]: 1 }, 0),
  'a timestamp with many digits': text => check({ timestamp: `2026-01-01T00:00:00.${text}` }, 0),
  'a number of a file': text => readNumber(Buffer.from(text), 0, text.length),
  'the header of a file': text => readCsvHeader(text, readingRows.columns),
  'the kind of a file': text => foreignContent(Buffer.from(text)),
  'a line of CSV': text => readCsv(Buffer.from(`1,d,${text},2,3`), 0, text.length + 8),
  'a line with semicolons': text => readSemicolons(Buffer.from(`1;d;${text};2;3`), 0, text.length + 8),
  'a body of line protocol': readLines,
  'a line of a foreign file': readTable,
  'a time of a foreign file': text => createTimeReader('mdy')(text),
  'the decimal mark of a cell': text => evidenceIn(text) ?? readMarkedNumber(text, 'comma'),
  'a header again': text => readHeaderAgain(text, { columns, separator: ';' }, readingRows.columns),
  'a mapping of columns': readMap,
  'a line of NDJSON': text => readNdjson(Buffer.from(text), 0, text.length),
}

for (const [name, read] of Object.entries(readers)) {
  test(`linear: ${name}`, async t => {
    const slow = worst().filter(inputOf => growthOf(scale, inputOf, read) > growthMax)
    t.strictSame(
      slow.map(inputOf => inputOf(20)),
      [],
    )
  })
}

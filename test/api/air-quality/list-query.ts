import fc from 'fast-check'
import { test } from 'tap'
import { readListQuery } from '../../../api/air-quality/query/list-query.ts'
import { cutPage, metaOf } from '../../../api/air-quality/query/paging.ts'
import { operators } from '../../../query/conditions/select-rows.ts'
import { readTimeText } from '../../../store/time-text.ts'

const columns = {
  id: { type: 'integer' },
  sn: { type: 'text' },
  value: { type: 'number' },
  timestamp: { type: 'time' },
  outdoors: { type: 'boolean' },
} as const

const read = (query: Record<string, string>) => readListQuery(new URLSearchParams(query), columns, 'sn')

test('filter: columns, operators and values are parsed', async t => {
  const gives = (filter: string, ...expected: unknown[]) => {
    const result = read({ filter })
    const conditions = result.ok ? result.value.conditions.map(c => [c.column, c.operator, ...c.values]) : result
    t.strictSame(conditions, expected, filter)
  }
  gives('')
  gives(';;')
  gives('sn,eq,a', ['sn', 'eq', 'a'])
  gives('sn,eq,', ['sn', 'eq', ''])
  gives(';sn,ne,a;;value,ge,1.5;', ['sn', 'ne', 'a'], ['value', 'ge', 1.5])
  gives('value,lt,-1e3', ['value', 'lt', -1000])
  gives('value,in, .5,2.', ['value', 'in', 0.5, 2])
  gives('value,like,1%', ['value', 'like', '1%'])
  gives('id,ge,2.0;id,lt, 1e3', ['id', 'ge', 2], ['id', 'lt', 1000])
  gives('id,like,1.5', ['id', 'like', '1.5'])
  gives('sn,in,a,b,', ['sn', 'in', 'a', 'b', ''])
  gives('outdoors,eq,TRUE;outdoors,in,0,1', ['outdoors', 'eq', true], ['outdoors', 'in', false, true])
  gives('timestamp,ge,2017-01-01', ['timestamp', 'ge', Date.UTC(2017, 0, 1) * 1000])
})

test('filter: a message names the invalid part', async t => {
  const gives = (filter: string, message: string) => {
    t.strictSame(read({ filter }), { ok: false, message }, filter)
  }
  gives('sn,eq,a;valu,eq,1', 'filter "valu,eq,1": unknown column "valu"')
  gives('constructor,eq,1', 'filter "constructor,eq,1": unknown column "constructor"')
  gives('value', 'filter "value": it must be column,operator,value')
  gives('value,eq', 'filter "value,eq": the value is missing')
  gives('value,in', 'filter "value,in": the value is missing')
  gives('value,is,1', 'filter "value,is,1": unknown operator "is"')
  gives('value,EQ,1', 'filter "value,EQ,1": unknown operator "EQ"')
  gives('value,eq,1,2', 'filter "value,eq,1,2": it must have three parts: column,operator,value')
  gives('value,eq,one', 'filter "value,eq,one": the value "one" is no number')
  gives('value,eq,', 'filter "value,eq,": the value "" is no number')
  gives('value,eq,1e999', 'filter "value,eq,1e999": the value "1e999" is no number')
  gives('value,in,1,0x1', 'filter "value,in,1,0x1": the value "0x1" is no number')
  gives('id,eq,1.5', 'filter "id,eq,1.5": the value "1.5" is no whole number')
  gives('id,in,1,2e-1', 'filter "id,in,1,2e-1": the value "2e-1" is no whole number')
  gives('outdoors,eq,yes', 'filter "outdoors,eq,yes": the value "yes" is neither true nor false')
  gives('timestamp,lt,today', 'filter "timestamp,lt,today": the value "today" is no time')
  const long = 'a'.repeat(1001)
  const cut = 'a'.repeat(80)
  gives(`sn,eq,${long}`, `filter "sn,eq,${cut.slice(6)}…": the value "${cut}…" is longer than 1000 characters`)
})

const types = { id: 'integer', sn: 'text', value: 'number', timestamp: 'time', outdoors: 'boolean' } as const
type Type = (typeof types)[keyof typeof types]

/** Some of these texts match a column, others match none. */
const valueText = fc.oneof(
  fc.double().map(String),
  fc.integer().map(String),
  fc.float({ noInteger: true }).map(String),
  fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
  fc.constantFrom('true', 'FALSE', '0', '1'),
  fc.constantFrom('1.0', '1e3', '1.5e0', '-0', '9007199254740993', '1e999', 'NaN', 'Infinity', '0x1', '1_0', '', '.'),
  fc.string({ maxLength: 12 }).filter(text => !/[,;]/.test(text)),
)

/** Decides independently of the parser whether a text is a value of the type. */
const fitsType: Record<Type, (text: string) => boolean> = {
  text: () => true,
  number: text => Number.isFinite(decimalOf(text)),
  integer: text => Number.isInteger(decimalOf(text)),
  time: text => readTimeText(text.trim()) !== undefined,
  boolean: text => ['true', 'false', '1', '0'].includes(text.trim().toLowerCase()),
}

/** `Number` accepts more than decimal digits. Such texts are invalid here. */
function decimalOf(text: string): number {
  return text.trim() === '' || /[^0-9eE.+\s-]/.test(text) ? Number.NaN : Number(text)
}

test("filter: any column, operator and values are accepted by the column's type or rejected with it", async () => {
  const column = fc.constantFrom(...(Object.keys(types) as (keyof typeof types)[]))
  const texts = fc.array(valueText, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(column, fc.constantFrom(...operators), texts, (name, operator, all) => {
      const given = operator === 'in' ? all : all.slice(0, 1)
      const result = read({ filter: `${name},${operator},${given.join(',')}` })
      const fits = fitsType[operator === 'like' ? 'text' : types[name]]
      const wrong = given.find(text => !fits(text))
      if (!result.ok) return wrong !== undefined && result.message.includes(`the value "${wrong}" is n`)
      const [condition] = result.value.conditions
      return wrong === undefined && condition?.values.length === given.length
    }),
    { seed: 20_261_122, numRuns: 3_000 },
  )
})

test('filter and sort have limits', async t => {
  const bounds: [most: number, query: (count: number) => Record<string, string>][] = [
    [50, count => ({ filter: Array(count).fill('sn,eq,a').join(';') })],
    [1000, count => ({ filter: `value,in,${Array(count).fill('1').join(',')}` })],
    [8, count => ({ sort: Array(count).fill('sn').join(';') })],
  ]
  for (const [most, query] of bounds) t.strictSame([read(query(most)).ok, read(query(most + 1)).ok], [true, false])
})

test('sort: columns and directions, ending with a unique column', async t => {
  const gives = (sort: string, expected: unknown) => {
    const result = read({ sort })
    t.strictSame(result.ok ? result.value.order.map(o => `${o.column} ${o.direction}`).join() : result, expected, sort)
  }
  gives('', 'sn asc')
  gives('value', 'value asc,sn asc')
  gives(';value,desc;;timestamp,asc', 'value desc,timestamp asc,sn asc')
  gives('sn,desc;value', 'sn desc,value asc')
  gives('value,desc;value,asc', 'value desc,sn asc')
  gives('valu', { ok: false, message: 'sort "valu": unknown column "valu"' })
  gives('value,up', { ok: false, message: 'sort "value,up": unknown direction "up"' })
  gives('value,', { ok: false, message: 'sort "value,": unknown direction ""' })
  gives('value,asc,sn', { ok: false, message: 'sort "value,asc,sn": it must be column,direction' })
})

test('times are parsed', async t => {
  const gives = (text: string, expected: string | undefined) => {
    const timeUs = readTimeText(text)
    t.equal(timeUs === undefined ? undefined : new Date(timeUs / 1000).toISOString(), expected, text)
  }
  gives('2017-01-01', '2017-01-01T00:00:00.000Z')
  gives('2020-01-01 03:30', '2020-01-01T03:30:00.000Z')
  gives('2020-02-29T03:30:15', '2020-02-29T03:30:15.000Z')
  gives('2020-01-01t03:30:15.25z', '2020-01-01T03:30:15.250Z')
  gives('2016-05-30T07:50:00+05:30', '2016-05-30T02:20:00.000Z')
  gives('2016-05-30T07:50:00 05:30', '2016-05-30T02:20:00.000Z')
  gives('2016-05-30T02:20-0100', '2016-05-30T03:20:00.000Z')
  gives('2016-05-30T02:20+01', '2016-05-30T01:20:00.000Z')
  gives('0001-01-01', '0001-01-01T00:00:00.000Z')
  const days = ['', '2017', '2017-1-1', '2017-02-29', '2017-01-01Z', ' 2017-01-01', '12017-01-01']
  const clocks = ['T24:00', 'T12', 'T12:60', 'T12:00:60', 'T12:00 GMT']
  for (const text of [...days, ...clocks.map(clock => `2017-01-01${clock}`)]) gives(text, undefined)
  t.equal(readTimeText('1970-01-01T00:00:00.1234567Z'), 123_456, 'digits beyond microseconds are cut off')
})

test('page, per_page and limit: a value that is not an integer is ignored', async t => {
  const gives = (query: Record<string, string>, page: number, perPage: number, limit = Number.POSITIVE_INFINITY) => {
    const result = read(query)
    t.strictSame(result.ok && [result.value.paging, result.value.limit], [{ page, perPage }, limit])
  }
  gives({}, 1, 50)
  gives({ page: '3', per_page: '7', limit: '20' }, 3, 7, 20)
  gives({ page: 'x', per_page: '1.5', limit: 'ten' }, 1, 50)
  gives({ page: '', per_page: '', limit: '' }, 1, 50)
  gives({ page: '0', per_page: '0', limit: '0' }, 0, 50)
  gives({ page: '-1', per_page: '-1', limit: '-1' }, -1, 50)
  gives({ page: '+2', per_page: '10000' }, 2, 10_000)
  gives({ per_page: '10001' }, 1, 10_000)
})

test('only an existing page is returned', async t => {
  const rows = [...'abcdefghij']
  const gives = (page: number, limit: number, expected: unknown) => {
    const cut = cutPage(rows, limit, { page, perPage: 4 })
    t.strictSame(cut && `${cut.rows.join('')} of ${cut.total}`, expected, `page ${page}, limit ${limit}`)
  }
  const all = Number.POSITIVE_INFINITY
  gives(1, all, 'abcd of 10')
  gives(3, all, 'ij of 10')
  for (const page of [4, 0, -1, all]) gives(page, all, undefined)
  gives(2, 5, 'e of 5')
  gives(3, 5, undefined)
  t.strictSame(cutPage([], all, { page: 1, perPage: 4 }), { total: 0, rows: [] })
  t.equal(cutPage([], all, { page: 2, perPage: 4 }), undefined)
})

test('meta: links keep the filters and the order of the list', async t => {
  const url = 'https://air.example/api/v1.0/device/'
  const kept = { filter: 'a,eq,b c', sort: undefined, limit: '9' }
  const at = (page: number) => `${url}?page=${page}&per_page=4&filter=a%2Ceq%2Cb+c&limit=9`
  const links = { first_url: at(1), last_url: at(3), next_url: at(3), prev_page: at(1) }
  const given = { url, kept, page: 2, perPage: 4, total: 9 }
  t.strictSame(metaOf(given), { ...links, page: 2, pages: 3, per_page: 4, total: 9 })
  const edge = (page: number, total: number) => {
    const meta = metaOf({ url, kept: {}, page, perPage: 4, total })
    return [meta.prev_page, meta.next_url, meta.last_url, meta.pages]
  }
  const plain = (page: number) => `${url}?page=${page}&per_page=4`
  t.strictSame(edge(1, 8), [null, plain(2), plain(2), 2])
  t.strictSame(edge(2, 8), [plain(1), null, plain(2), 2])
  t.strictSame(edge(1, 0), [null, null, plain(1), 0])
})

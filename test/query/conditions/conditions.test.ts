import fc from 'fast-check'
import { test } from 'tap'
import type { Columns, Condition } from '../../../query/conditions/select-rows.ts'

import { compareTexts, createLike, selectRows } from '../../../query/conditions/select-rows.ts'
import { runs } from '../../support/runs.ts'

test('like: any run, one character, the whole value, case-sensitive, no escape', async t => {
  for (const pattern of ['pm%', 'pm__', '%5', '%m%2%']) t.ok(createLike(pattern)('pm25'), pattern)
  for (const pattern of ['PM%', 'pm', 'pm_', '%2%m%']) t.notOk(createLike(pattern)('pm25'), pattern)
  t.ok(createLike('a\\%')('a\\bc'))
  t.notOk(createLike('a\\_')('a_'))
})

function likeByTable(pattern: string, text: string): boolean {
  let fits = [true, ...[...text].map(() => false)]
  for (const part of pattern) {
    const next = fits.map(() => false)
    for (let at = 0; at < fits.length; at++) {
      if (part === '%') next[at] = fits.slice(0, at + 1).some(Boolean)
      else if (at > 0) next[at] = (fits[at - 1] ?? false) && (part === '_' || part === [...text][at - 1])
    }
    fits = next
  }
  return fits.at(-1) ?? false
}

test('like agrees with its definition on random patterns', async () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_', '😀'), maxLength: 8 })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (a, b) => createLike(a)(b) === likeByTable(a, b)),
    runs(3000, 20_000),
  )
})

test('texts compare as their bytes in UTF-8', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 4 })
  fc.assert(
    fc.property(text, text, (a, b) => {
      return Math.sign(compareTexts(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b))
    }),
    runs(1000, 5000),
  )
})

interface Row {
  name: string
  height: number | null
  outdoors: boolean
}

const columns: Columns<Row> = {
  name: { type: 'text', value: row => row.name },
  height: { type: 'number', value: row => row.height, text: row => `${row.height}.0` },
  outdoors: { type: 'boolean', value: row => row.outdoors },
}

const rows: Row[] = [
  { name: 'b', height: 3, outdoors: true },
  { name: 'a', height: null, outdoors: false },
  { name: 'c', height: 10, outdoors: true },
  { name: 'd', height: 3, outdoors: false },
]

test('conditions combine with AND and never match null', async t => {
  const gives = (conditions: Condition[], names: string) => {
    const found = selectRows(columns, conditions, [], rows)
    t.equal(found.map(({ name }) => name).join(''), names, JSON.stringify(conditions))
  }
  const height = (operator: Condition['operator'], ...values: [number | string, ...number[]]): Condition => {
    return { column: 'height', operator, values }
  }
  gives([], 'bacd')
  gives([height('eq', 3)], 'bd')
  gives([height('ne', 3)], 'c')
  gives([height('ge', 3), height('lt', 10)], 'bd')
  gives([height('gt', 3)], 'c')
  gives([height('le', 3)], 'bd')
  gives([height('in', 10, 4, 3)], 'bcd')
  gives([height('like', '3._')], 'bd')
  gives([height('like', '%')], 'bcd')
  gives([{ column: 'outdoors', operator: 'eq', values: [true] }], 'bc')
  gives([{ column: 'outdoors', operator: 'lt', values: [true] }], 'ad')
  gives([{ column: 'outdoors', operator: 'like', values: ['t%'] }], 'bc')
  gives([{ column: 'name', operator: 'gt', values: ['b'] }, height('eq', 3)], 'd')
})

test('order: by each column in turn, with null at the end in ascending order', async t => {
  const gives = (order: string, names: string) => {
    const parsed = order.split(' ').map(part => {
      const [column = '', direction] = part.split(',')
      return { column, direction: direction === 'desc' ? ('desc' as const) : ('asc' as const) }
    })
    const found = selectRows(columns, [], parsed, rows)
    t.equal(found.map(({ name }) => name).join(''), names, order)
  }
  gives('height', 'bdca')
  gives('height,desc', 'acbd')
  gives('height name,desc', 'dbca')
  gives('outdoors height,desc name', 'adcb')
})

/** The numbers around a part of the list, as Django REST framework shows them. */

import { test } from 'tap'
import { createPager } from '../../../api/content-files/pager.ts'
import { Query } from '../../../api/content-files/query-string.ts'

/** `1 … 4 [5] 6 … 9` */
function numbers(offset: bigint, limit: number, count: number): string | undefined {
  const pager = createPager(new Query(''), { limit, offset }, count)
  const texts = pager?.pages.map(page => {
    if (page === 'gap') return '…'
    return page.isCurrent ? `[${page.number}]` : `${page.number}`
  })
  return texts?.join(' ')
}

test('the first, the last and those around the current page are numbered', async t => {
  const shows = (offset: bigint, count: number, expected: string | undefined) => {
    t.equal(numbers(offset, 10, count), expected, `${offset} of ${count}`)
  }
  shows(0n, 0, undefined)
  shows(0n, 10, undefined)
  shows(0n, 11, '[1] 2')
  shows(10n, 11, '1 [2]')
  shows(0n, 50, '[1] 2 3 4 5')
  shows(20n, 50, '1 2 [3] 4 5')
  shows(0n, 60, '[1] 2 3 … 6')
  shows(30n, 200, '1 2 3 [4] 5 … 20')
  shows(40n, 200, '1 … 4 [5] 6 … 20')
  shows(150n, 200, '1 … 15 [16] 17 … 20')
  shows(160n, 200, '1 … 16 [17] 18 19 20')
  shows(190n, 200, '1 … 18 19 [20]')
  shows(5n, 30, '1 [2] 3 4')
  shows(200n, 200, '1 … 18 19 20')
  shows(10n ** 30n, 15, '1 2')
  shows(7n, 0, '1')
})

test('the numbers lead to parts of the same size, and keep the query', async t => {
  const query = new Query('format=api&limit=5&offset=20&a=%2A')
  const at = (offset: number) => `?a=%2A&format=api&limit=5${offset === 0 ? '' : `&offset=${offset}`}`
  t.strictSame(createPager(query, { limit: 5, offset: 20n }, 40), {
    previous: at(15),
    next: at(25),
    pages: [
      { number: 1, href: at(0), isCurrent: false },
      'gap',
      { number: 4, href: at(15), isCurrent: false },
      { number: 5, href: at(20), isCurrent: true },
      { number: 6, href: at(25), isCurrent: false },
      { number: 7, href: at(30), isCurrent: false },
      { number: 8, href: at(35), isCurrent: false },
    ],
  })
  const past = createPager(query, { limit: 5, offset: 1_000n }, 12)
  t.strictSame(past, {
    previous: at(995),
    next: undefined,
    pages: [0, 5, 10].map((offset, i) => ({ number: i + 1, href: at(offset), isCurrent: false })),
  })
})

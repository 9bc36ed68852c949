/** The numbered pages around a part of the list, with gaps between those that are far apart. */

import type { Pager } from './browsable-page.ts'
import { type Paging, queryAt } from './paging.ts'
import type { Query } from './query-string.ts'

/** Undefined where all files are on one page. */
export function createPager(query: Query, { limit, offset }: Paging, count: number): Pager | undefined {
  if (offset === 0n && count <= limit) return undefined
  const size = BigInt(limit)
  // An offset that is no multiple of the limit makes a page more. One past the end is shown at the end.
  const isPast = offset >= count
  const before = isPast ? Math.max(Math.ceil(count / limit) - 1, 0) : Math.ceil(Number(offset) / limit)
  const last = isPast ? before + 1 : before + Math.ceil((count - Number(offset)) / limit)
  const current = before + 1
  const href = (at: bigint) => `?${queryAt(query, limit, at)}`
  const offsetOf = (page: number) => (isPast ? BigInt(page - 1) * size : offset + BigInt(page - current) * size)
  return {
    previous: offset === 0n ? undefined : href(offset - size),
    next: offset + size >= count ? undefined : href(offset + size),
    pages: shownPages(current, last).map(page => {
      return page === 'gap'
        ? page
        : { number: page, href: href(page === 1 ? 0n : offsetOf(page)), isCurrent: page === current && !isPast }
    }),
  }
}

/** The first, the last, those around the current one, and near an end those between. */
function shownPages(current: number, last: number): (number | 'gap')[] {
  const shown = new Set([1, current - 1, current, current + 1, last])
  if (current <= 4 || last <= 5) shown.add(2).add(3)
  if (current >= last - 3 || last <= 5) shown.add(last - 2).add(last - 1)
  const pages = [...shown].filter(page => page >= 1 && page <= last).sort((a, b) => a - b)
  return pages.flatMap((page, i) => (page - (pages[i - 1] ?? 0) > 1 ? ['gap' as const, page] : [page]))
}

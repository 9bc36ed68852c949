/** Pages of the listing, and its changes after imports, unpublications and removals. */

import pg from 'pg'
import t from 'tap'
import { generateContentFiles } from '../../../cli/demo/content-file-generator.ts'
import { startContentFileStore, startListing } from '../../support/content-files.ts'
import { sampleLines } from '../../support/sample-content-files.ts'

const store = await startContentFileStore(t)
const { origin, ask } = await startListing(t, store.postgres)
const other = await startListing(t, store.postgres)
const path = '/api/v1/contentfiles/'

interface Part {
  count: number
  next: string | null
  previous: string | null
  results: { id: number }[]
}

async function read(address: string, by = ask): Promise<Part> {
  const { status, text } = await by(address.replace(origin, ''))
  if (status !== 200) throw new Error(`${address}: ${status} ${text}`)
  return JSON.parse(text) as Part
}

async function walk(from: string, link: 'next' | 'previous'): Promise<{ ids: number[]; last: string }> {
  const ids: number[] = []
  for (let address: string | null = from, last = from; ; last = address) {
    const part: Part = await read(address)
    const page = part.results.map(({ id }) => id)
    ids.push(...(link === 'next' ? page : page.reverse()))
    address = part[link]
    if (address === null) return { ids, last }
  }
}

t.test('a fresh store knows its codes and has no files', async t => {
  t.strictSame(await read(path), { count: 0, next: null, previous: null, results: [] })
  const units = ['mitx', 'ocw', 'bootcamps', 'xpro', 'mitpe', 'see', 'climate']
  const platforms =
    'edx,ocw,oll,mitxonline,bootcamps,xpro,csail,mitpe,see,scc,ctl,whu,susskind,globalalumni,simplilearn,emeritus,' +
    'podcast,youtube,canvas,climate'
  t.equal((await read(`${path}?offered_by=${units}&platform=${platforms}`)).count, 0)
  t.equal((await ask(`${path}?offered_by=new`)).status, 400)
  t.equal((await ask(`${path}1/`)).status, 404)
})

t.test('links lead from the first file to the last and back without a gap', async t => {
  const lines = [...generateContentFiles({ seed: 60, count: 237 })]
  await store.importLines(lines)
  const shown = lines.filter(line => line.published)
  const ordered = shown.toSorted((a, b) => {
    // Texts in this format sort as times do.
    if (a.created_on !== b.created_on) return a.created_on < b.created_on ? 1 : -1
    return b.id - a.id
  })
  const ids = ordered.map(({ id }) => id)
  const forth = await walk(`${path}?limit=50&offset=3`, 'next')
  t.strictSame(forth.ids, ids.slice(3))
  const { ids: back } = await walk(forth.last, 'previous')
  t.strictSame([...new Set(back)].sort(), [...ids].sort())
  const { code } = ordered[0]?.offered_by ?? { code: '' }
  const narrowed = ordered.filter(line => line.offered_by.code === code).map(({ id }) => id)
  t.strictSame((await walk(`${path}?offered_by=${code}&limit=9`, 'next')).ids, narrowed)
  t.equal((await read(`${path}?offset=100000`)).count, ids.length)
})

t.test('every change is seen at once, by every process', async t => {
  const { count } = await read(path)
  await read(path, other.ask)
  const [sample] = sampleLines
  if (sample === undefined) throw new Error('there are samples')
  const line = { ...sample, offered_by: { code: 'fresh', name: 'Fresh', channel_url: null }, run_id: 1_000_001 }
  const sees = async (counted: number, status: number, title?: string) => {
    for (const by of [ask, other.ask]) {
      const part = await read(`${path}?offered_by=fresh`, by)
      t.equal(part.count, counted)
      t.equal(part.results.length, counted)
      const one = await by(`${path}${line.id}/`)
      t.equal(one.status, status)
      if (title !== undefined) t.equal(JSON.parse(one.text).title, title)
    }
  }
  await store.importLines([line])
  await sees(1, 200, String(sample['title']))
  t.equal((await read(path)).count, count + 1)
  await store.importLines([{ ...line, title: 'Another title', run_title: 'Another run title' }])
  await sees(1, 200, 'Another title')
  t.match((await ask(`${path}${line.id}/`)).text, '"run_title":"Another run title"')
  await store.importLines([{ ...line, published: false }])
  await sees(0, 404)
  await store.importLines([line])
  await sees(1, 200)
  await store.postgres.query('DELETE FROM content_files WHERE id = $1', [line.id])
  await sees(0, 404)
  t.equal((await read(path)).count, count)
})

t.test('without PostgreSQL the answer is 503', async t => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 9 })
  t.teardown(() => pool.end())
  const { ask } = await startListing(t, pool)
  const error_type = 'ServiceUnavailable'
  const detail = 'Service temporarily unavailable, try again later.'
  for (const address of [path, `${path}1/`, `${path}?run_id=1`]) {
    const headers = { 'retry-after': '5', allow: 'GET, HEAD, OPTIONS', 'content-type': 'application/json' }
    const answer = await ask(address)
    t.match(answer, { status: 503, headers, text: JSON.stringify({ detail, error_type }) })
  }
  t.match(await ask(`${path}?format=api`), { status: 503, text: new RegExp(error_type) })
  t.equal((await ask(path, {}, 'OPTIONS')).status, 200)
  t.equal((await ask(path, {}, 'POST')).status, 405)
})
